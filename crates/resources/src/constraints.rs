//! The named checks that a property or parameter may ask for with `custom_constraint`.
//!
//! What a check does is said elsewhere: those with a dot in their name ask a service of the cloud,
//! the others look at the value alone.

use crate::lookup::kinds::*;
use kiln_template::Offline;
use kiln_template::schema::Name;

/// The checks that need no cloud, at a time in seconds since 1970; the others count as passed.
pub fn offline(now: i64) -> Offline {
    Offline::new(now).with_deferred(&NAMES)
}

/// The name of a custom constraint. A constraint with a dot in its name is also a kind of object in the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CustomConstraint(&'static str);

impl CustomConstraint {
    /// A constraint by the name that templates use.
    pub(crate) const fn new(name: &'static str) -> CustomConstraint {
        CustomConstraint(name)
    }

    /// The name that templates use.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl From<CustomConstraint> for Name {
    fn from(constraint: CustomConstraint) -> Name {
        Name::Borrowed(constraint.0)
    }
}

/// A cron expression.
pub const CRON_EXPRESSION: CustomConstraint = CustomConstraint::new("cron_expression");
/// A DNS domain, with a dot at its end.
pub const DNS_DOMAIN: CustomConstraint = CustomConstraint::new("dns_domain");
/// A DNS name.
pub const DNS_NAME: CustomConstraint = CustomConstraint::new("dns_name");
/// A time in the future.
pub const EXPIRATION: CustomConstraint = CustomConstraint::new("expiration");
/// An IP address.
pub const IP_ADDR: CustomConstraint = CustomConstraint::new("ip_addr");
/// An IP address or a CIDR.
pub const IP_OR_CIDR: CustomConstraint = CustomConstraint::new("ip_or_cidr");
/// A time in the form of ISO 8601.
pub const ISO_8601: CustomConstraint = CustomConstraint::new("iso_8601");
/// A string with a JSON document.
pub const JSON_STRING: CustomConstraint = CustomConstraint::new("json_string");
/// A MAC address.
pub const MAC_ADDR: CustomConstraint = CustomConstraint::new("mac_addr");
/// A CIDR.
pub const NET_CIDR: CustomConstraint = CustomConstraint::new("net_cidr");
/// A listener of the retired LBaaS.
pub const LBAAS_LISTENER: CustomConstraint = CustomConstraint::new("neutron.lbaas.listener");
/// A load balancer of the retired LBaaS.
pub const LBAAS_LOAD_BALANCER: CustomConstraint =
    CustomConstraint::new("neutron.lbaas.loadbalancer");
/// A pool of the retired LBaaS.
pub const LBAAS_POOL: CustomConstraint = CustomConstraint::new("neutron.lbaas.pool");
/// A provider of the retired LBaaS.
pub const LBAAS_PROVIDER: CustomConstraint = CustomConstraint::new("neutron.lbaas.provider");
/// A network of the retired nova-network.
pub const NOVA_NETWORK: CustomConstraint = CustomConstraint::new("nova.network");
/// A DNS name without a dot at its end.
pub const REL_DNS_NAME: CustomConstraint = CustomConstraint::new("rel_dns_name");
/// The constraint of test resources.
pub const TEST_CONSTR: CustomConstraint = CustomConstraint::new("test_constr");
/// A time zone.
pub const TIMEZONE: CustomConstraint = CustomConstraint::new("timezone");

/// The names of all constraints, in order.
pub const NAMES: [&str; 70] = [
    SECRET_CONTAINER.0,
    SECRET.0,
    RESERVATION.0,
    VOLUME_BACKUP.0,
    QOS_SPECS.0,
    VOLUME_SNAPSHOT.0,
    VOLUME.0,
    VOLUME_TYPE.0,
    CRON_EXPRESSION.0,
    ZONE.0,
    DNS_DOMAIN.0,
    DNS_NAME.0,
    EXPIRATION.0,
    IMAGE.0,
    IP_ADDR.0,
    IP_OR_CIDR.0,
    NODE.0,
    PORT_GROUP.0,
    ISO_8601.0,
    JSON_STRING.0,
    DOMAIN.0,
    GROUP.0,
    PROJECT.0,
    REGION.0,
    ROLE.0,
    IDENTITY_SERVICE.0,
    USER.0,
    MAC_ADDR.0,
    CLUSTER_TEMPLATE.0,
    SHARE_NETWORK.0,
    SHARE_SNAPSHOT.0,
    SHARE_TYPE.0,
    WORKFLOW.0,
    NET_CIDR.0,
    ADDRESS_SCOPE.0,
    FLOW_CLASSIFIER.0,
    LBAAS_LISTENER.0,
    LBAAS_LOAD_BALANCER.0,
    LBAAS_POOL.0,
    LBAAS_PROVIDER.0,
    NETWORK.0,
    PORT.0,
    PORT_PAIR.0,
    PORT_PAIR_GROUP.0,
    QOS_POLICY.0,
    ROUTER.0,
    SECURITY_GROUP.0,
    SEGMENT.0,
    SUBNET.0,
    SUBNET_POOL.0,
    TAP_FLOW.0,
    TAP_SERVICE.0,
    FLAVOR.0,
    HOST.0,
    KEY_PAIR.0,
    NOVA_NETWORK.0,
    SERVER.0,
    LB_AVAILABILITY_ZONE.0,
    LB_AVAILABILITY_ZONE_PROFILE.0,
    LB_FLAVOR.0,
    LB_FLAVOR_PROFILE.0,
    L7_POLICY.0,
    LISTENER.0,
    LOAD_BALANCER.0,
    POOL.0,
    REL_DNS_NAME.0,
    TEST_CONSTR.0,
    TIMEZONE.0,
    DATABASE_FLAVOR.0,
    QUEUE.0,
];

/// Whether there is a check of this name.
pub fn is_known(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}
