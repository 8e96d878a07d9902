//! The named checks that a property or parameter may ask for with `custom_constraint`.
//!
//! What a check does is said elsewhere: those with a dot in their name ask a service of the cloud,
//! the others look at the value alone.

use kiln_template::constraint::Offline;

/// The checks that need no cloud, at a time in seconds since 1970; the others count as passed.
pub fn offline(now: i64) -> Offline {
    Offline::new(now).with_deferred(&NAMES)
}

/// The names of all checks, in order.
pub const NAMES: [&str; 70] = [
    "barbican.container",
    "barbican.secret",
    "blazar.reservation",
    "cinder.backup",
    "cinder.qos_specs",
    "cinder.snapshot",
    "cinder.volume",
    "cinder.vtype",
    "cron_expression",
    "designate.zone",
    "dns_domain",
    "dns_name",
    "expiration",
    "glance.image",
    "ip_addr",
    "ip_or_cidr",
    "ironic.node",
    "ironic.portgroup",
    "iso_8601",
    "json_string",
    "keystone.domain",
    "keystone.group",
    "keystone.project",
    "keystone.region",
    "keystone.role",
    "keystone.service",
    "keystone.user",
    "mac_addr",
    "magnum.cluster_template",
    "manila.share_network",
    "manila.share_snapshot",
    "manila.share_type",
    "mistral.workflow",
    "net_cidr",
    "neutron.address_scope",
    "neutron.flow_classifier",
    "neutron.lbaas.listener",
    "neutron.lbaas.loadbalancer",
    "neutron.lbaas.pool",
    "neutron.lbaas.provider",
    "neutron.network",
    "neutron.port",
    "neutron.port_pair",
    "neutron.port_pair_group",
    "neutron.qos_policy",
    "neutron.router",
    "neutron.security_group",
    "neutron.segment",
    "neutron.subnet",
    "neutron.subnetpool",
    "neutron.taas.tap_flow",
    "neutron.taas.tap_service",
    "nova.flavor",
    "nova.host",
    "nova.keypair",
    "nova.network",
    "nova.server",
    "octavia.availabilityzone",
    "octavia.availabilityzoneprofile",
    "octavia.flavor",
    "octavia.flavorprofile",
    "octavia.l7policy",
    "octavia.listener",
    "octavia.loadbalancer",
    "octavia.pool",
    "rel_dns_name",
    "test_constr",
    "timezone",
    "trove.flavor",
    "zaqar.queue",
];

/// Whether there is a check of this name.
pub fn is_known(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}
