//! The kinds of objects that properties may name, and the collection in which a service lists each of them.
//!
//! A kind is a constant, named once here: a property says `.is(NETWORK)` or `.finds(NETWORK)`.

use super::Collection;
use crate::constraints::CustomConstraint;
use kiln_cloud::Service;

/// A container of secrets.
pub const SECRET_CONTAINER: CustomConstraint = CustomConstraint::new("barbican.container");
/// A secret.
pub const SECRET: CustomConstraint = CustomConstraint::new("barbican.secret");
/// A lease of reserved hosts.
pub const RESERVATION: CustomConstraint = CustomConstraint::new("blazar.reservation");
/// A backup of a volume.
pub const VOLUME_BACKUP: CustomConstraint = CustomConstraint::new("cinder.backup");
/// QoS specifications of volumes.
pub const QOS_SPECS: CustomConstraint = CustomConstraint::new("cinder.qos_specs");
/// A snapshot of a volume.
pub const VOLUME_SNAPSHOT: CustomConstraint = CustomConstraint::new("cinder.snapshot");
/// A volume.
pub const VOLUME: CustomConstraint = CustomConstraint::new("cinder.volume");
/// A volume type.
pub const VOLUME_TYPE: CustomConstraint = CustomConstraint::new("cinder.vtype");
/// A DNS zone.
pub const ZONE: CustomConstraint = CustomConstraint::new("designate.zone");
/// An image.
pub const IMAGE: CustomConstraint = CustomConstraint::new("glance.image");
/// A bare metal node.
pub const NODE: CustomConstraint = CustomConstraint::new("ironic.node");
/// A port group of a bare metal node.
pub const PORT_GROUP: CustomConstraint = CustomConstraint::new("ironic.portgroup");
/// A domain of the identity service.
pub const DOMAIN: CustomConstraint = CustomConstraint::new("keystone.domain");
/// A group of users.
pub const GROUP: CustomConstraint = CustomConstraint::new("keystone.group");
/// A project.
pub const PROJECT: CustomConstraint = CustomConstraint::new("keystone.project");
/// A region.
pub const REGION: CustomConstraint = CustomConstraint::new("keystone.region");
/// A role.
pub const ROLE: CustomConstraint = CustomConstraint::new("keystone.role");
/// A service of the catalogue.
pub const IDENTITY_SERVICE: CustomConstraint = CustomConstraint::new("keystone.service");
/// A user.
pub const USER: CustomConstraint = CustomConstraint::new("keystone.user");
/// A template of container clusters.
pub const CLUSTER_TEMPLATE: CustomConstraint = CustomConstraint::new("magnum.cluster_template");
/// A share network.
pub const SHARE_NETWORK: CustomConstraint = CustomConstraint::new("manila.share_network");
/// A snapshot of a share.
pub const SHARE_SNAPSHOT: CustomConstraint = CustomConstraint::new("manila.share_snapshot");
/// A share type.
pub const SHARE_TYPE: CustomConstraint = CustomConstraint::new("manila.share_type");
/// A workflow.
pub const WORKFLOW: CustomConstraint = CustomConstraint::new("mistral.workflow");
/// An address scope.
pub const ADDRESS_SCOPE: CustomConstraint = CustomConstraint::new("neutron.address_scope");
/// A floating IP.
pub const FLOATING_IP: CustomConstraint = CustomConstraint::new("neutron.floating_ip");
/// A floating IP, by the name that RBAC policies use.
pub const FLOATINGIP: CustomConstraint = CustomConstraint::new("neutron.floatingip");
/// A flow classifier.
pub const FLOW_CLASSIFIER: CustomConstraint = CustomConstraint::new("neutron.flow_classifier");
/// A network.
pub const NETWORK: CustomConstraint = CustomConstraint::new("neutron.network");
/// A QoS policy, by the name that RBAC policies use.
pub const RBAC_QOS_POLICY: CustomConstraint = CustomConstraint::new("neutron.policy");
/// A port.
pub const PORT: CustomConstraint = CustomConstraint::new("neutron.port");
/// A port chain.
pub const PORT_CHAIN: CustomConstraint = CustomConstraint::new("neutron.port_chain");
/// A port pair.
pub const PORT_PAIR: CustomConstraint = CustomConstraint::new("neutron.port_pair");
/// A group of port pairs.
pub const PORT_PAIR_GROUP: CustomConstraint = CustomConstraint::new("neutron.port_pair_group");
/// A QoS policy.
pub const QOS_POLICY: CustomConstraint = CustomConstraint::new("neutron.qos_policy");
/// A router.
pub const ROUTER: CustomConstraint = CustomConstraint::new("neutron.router");
/// A security group.
pub const SECURITY_GROUP: CustomConstraint = CustomConstraint::new("neutron.security_group");
/// A segment of a network.
pub const SEGMENT: CustomConstraint = CustomConstraint::new("neutron.segment");
/// A subnet.
pub const SUBNET: CustomConstraint = CustomConstraint::new("neutron.subnet");
/// A subnet pool.
pub const SUBNET_POOL: CustomConstraint = CustomConstraint::new("neutron.subnetpool");
/// A tap flow.
pub const TAP_FLOW: CustomConstraint = CustomConstraint::new("neutron.taas.tap_flow");
/// A tap service.
pub const TAP_SERVICE: CustomConstraint = CustomConstraint::new("neutron.taas.tap_service");
/// A flavor of servers.
pub const FLAVOR: CustomConstraint = CustomConstraint::new("nova.flavor");
/// A compute host.
pub const HOST: CustomConstraint = CustomConstraint::new("nova.host");
/// A key pair.
pub const KEY_PAIR: CustomConstraint = CustomConstraint::new("nova.keypair");
/// A server.
pub const SERVER: CustomConstraint = CustomConstraint::new("nova.server");
/// An availability zone of load balancers.
pub const LB_AVAILABILITY_ZONE: CustomConstraint =
    CustomConstraint::new("octavia.availabilityzone");
/// A profile of availability zones of load balancers.
pub const LB_AVAILABILITY_ZONE_PROFILE: CustomConstraint =
    CustomConstraint::new("octavia.availabilityzoneprofile");
/// A flavor of load balancers.
pub const LB_FLAVOR: CustomConstraint = CustomConstraint::new("octavia.flavor");
/// A profile of flavors of load balancers.
pub const LB_FLAVOR_PROFILE: CustomConstraint = CustomConstraint::new("octavia.flavorprofile");
/// A layer 7 policy.
pub const L7_POLICY: CustomConstraint = CustomConstraint::new("octavia.l7policy");
/// A listener of a load balancer.
pub const LISTENER: CustomConstraint = CustomConstraint::new("octavia.listener");
/// A load balancer.
pub const LOAD_BALANCER: CustomConstraint = CustomConstraint::new("octavia.loadbalancer");
/// A pool of a load balancer.
pub const POOL: CustomConstraint = CustomConstraint::new("octavia.pool");
/// A flavor of database instances.
pub const DATABASE_FLAVOR: CustomConstraint = CustomConstraint::new("trove.flavor");
/// A queue.
pub const QUEUE: CustomConstraint = CustomConstraint::new("zaqar.queue");
/// A container.
pub const CONTAINER: CustomConstraint = CustomConstraint::new("zun.container");

const fn objects(
    called: &'static str,
    service: Service,
    path: &'static str,
    one: &'static str,
    many: &'static str,
) -> Collection {
    let (id, name) = ("id", "name");
    Collection { called, service, path, one, many, id, name, is_filtered: true, has_uuids: true }
}

impl Collection {
    /// Their ids are texts of any form.
    const fn any_id(self) -> Collection {
        Collection { has_uuids: false, ..self }
    }

    /// Their list cannot be narrowed down.
    const fn unfiltered(self) -> Collection {
        Collection { is_filtered: false, ..self }
    }

    /// Their ids are elsewhere.
    const fn with_id(self, id: &'static str) -> Collection {
        Collection { id, ..self }
    }

    /// Their names are elsewhere.
    const fn with_name(self, name: &'static str) -> Collection {
        Collection { name, ..self }
    }
}

/// Every collection, in the order of the constraints' names.
#[rustfmt::skip]
pub(super) const COLLECTIONS: [(CustomConstraint, Collection); 57] = {
    use Service::*;
    [
        (SECRET_CONTAINER, objects("Container", KeyManager, "/containers", "", "containers").with_id("container_ref")),
        (SECRET, objects("Secret", KeyManager, "/secrets", "", "secrets").with_id("secret_ref")),
        (RESERVATION, objects("Lease", Reservation, "/leases", "lease", "leases").unfiltered()),
        (VOLUME_BACKUP, objects("Volume backup", Volume, "/backups", "backup", "backups")),
        (QOS_SPECS, objects("QoS specs", Volume, "/qos-specs", "qos_specs", "qos_specs").unfiltered()),
        (VOLUME_SNAPSHOT, objects("VolumeSnapshot", Volume, "/snapshots", "snapshot", "snapshots")),
        (VOLUME, objects("Volume", Volume, "/volumes", "volume", "volumes")),
        (VOLUME_TYPE, objects("VolumeType", Volume, "/types", "volume_type", "volume_types").unfiltered()),
        (ZONE, objects("Designate Zone", Dns, "/zones", "", "zones")),
        (IMAGE, objects("Image", Image, "/images", "", "images")),
        (NODE, objects("Node", BareMetal, "/nodes", "", "nodes").with_id("uuid").unfiltered()),
        (PORT_GROUP, objects("Port group", BareMetal, "/portgroups", "", "portgroups").with_id("uuid").unfiltered()),
        (DOMAIN, objects("KeystoneDomain", Identity, "/domains", "domain", "domains").any_id()),
        (GROUP, objects("KeystoneGroup", Identity, "/groups", "group", "groups").any_id()),
        (PROJECT, objects("KeystoneProject", Identity, "/projects", "project", "projects").any_id()),
        (REGION, objects("KeystoneRegion", Identity, "/regions", "region", "regions").any_id().unfiltered().with_name("id")),
        (ROLE, objects("KeystoneRole", Identity, "/roles", "role", "roles").any_id()),
        (IDENTITY_SERVICE, objects("KeystoneService", Identity, "/services", "service", "services").any_id()),
        (USER, objects("KeystoneUser", Identity, "/users", "user", "users").any_id()),
        (CLUSTER_TEMPLATE, objects("Cluster template", ContainerInfra, "/clustertemplates", "", "clustertemplates").with_id("uuid").unfiltered()),
        (SHARE_NETWORK, objects("Share network", Share, "/share-networks/detail", "share_network", "share_networks")),
        (SHARE_SNAPSHOT, objects("Share snapshot", Share, "/snapshots/detail", "snapshot", "snapshots")),
        (SHARE_TYPE, objects("Share type", Share, "/types", "share_type", "share_types").unfiltered()),
        (WORKFLOW, objects("Workflow", Workflow, "/workflows", "", "workflows").any_id()),
        (ADDRESS_SCOPE, objects("address scope", Network, "/address-scopes", "address_scope", "address_scopes")),
        (FLOATING_IP, objects("floating IP", Network, "/floatingips", "floatingip", "floatingips").with_name("floating_ip_address")),
        (FLOATINGIP, objects("floating IP", Network, "/floatingips", "floatingip", "floatingips").with_name("floating_ip_address")),
        (FLOW_CLASSIFIER, objects("flow classifier", Network, "/sfc/flow_classifiers", "flow_classifier", "flow_classifiers")),
        (NETWORK, objects("network", Network, "/networks", "network", "networks")),
        (RBAC_QOS_POLICY, objects("policy", Network, "/qos/policies", "policy", "policies")),
        (PORT, objects("port", Network, "/ports", "port", "ports")),
        (PORT_CHAIN, objects("port chain", Network, "/sfc/port_chains", "port_chain", "port_chains")),
        (PORT_PAIR, objects("port pair", Network, "/sfc/port_pairs", "port_pair", "port_pairs")),
        (PORT_PAIR_GROUP, objects("port pair group", Network, "/sfc/port_pair_groups", "port_pair_group", "port_pair_groups")),
        (QOS_POLICY, objects("policy", Network, "/qos/policies", "policy", "policies")),
        (ROUTER, objects("router", Network, "/routers", "router", "routers")),
        (SECURITY_GROUP, objects("security_group", Network, "/security-groups", "security_group", "security_groups")),
        (SEGMENT, objects("segment", Network, "/segments", "segment", "segments")),
        (SUBNET, objects("subnet", Network, "/subnets", "subnet", "subnets")),
        (SUBNET_POOL, objects("subnet pool", Network, "/subnetpools", "subnetpool", "subnetpools")),
        (TAP_FLOW, objects("tap flow", Network, "/taas/tap_flows", "tap_flow", "tap_flows")),
        (TAP_SERVICE, objects("tap service", Network, "/taas/tap_services", "tap_service", "tap_services")),
        (FLAVOR, objects("Flavor", Compute, "/flavors", "flavor", "flavors").any_id().unfiltered()),
        (HOST, objects("Host", Compute, "/os-services", "", "services").any_id().unfiltered().with_id("host").with_name("host")),
        (KEY_PAIR, objects("Key", Compute, "/os-keypairs", "keypair", "keypairs").any_id().unfiltered()),
        (SERVER, objects("Server", Compute, "/servers", "server", "servers")),
        (LB_AVAILABILITY_ZONE, objects("Availability zone", LoadBalancer, "/lbaas/availabilityzones", "availability_zone", "availability_zones").any_id().with_id("name")),
        (LB_AVAILABILITY_ZONE_PROFILE, objects("Availability zone profile", LoadBalancer, "/lbaas/availabilityzoneprofiles", "availability_zone_profile", "availability_zone_profiles")),
        (LB_FLAVOR, objects("Flavor", LoadBalancer, "/lbaas/flavors", "flavor", "flavors")),
        (LB_FLAVOR_PROFILE, objects("Flavor profile", LoadBalancer, "/lbaas/flavorprofiles", "flavorprofile", "flavorprofiles")),
        (L7_POLICY, objects("L7 policy", LoadBalancer, "/lbaas/l7policies", "l7policy", "l7policies")),
        (LISTENER, objects("Listener", LoadBalancer, "/lbaas/listeners", "listener", "listeners")),
        (LOAD_BALANCER, objects("Load balancer", LoadBalancer, "/lbaas/loadbalancers", "loadbalancer", "loadbalancers")),
        (POOL, objects("Pool", LoadBalancer, "/lbaas/pools", "pool", "pools")),
        (DATABASE_FLAVOR, objects("Flavor", Database, "/flavors", "flavor", "flavors").any_id().unfiltered()),
        (QUEUE, objects("Queue", Messaging, "/queues", "", "queues").any_id().unfiltered().with_id("name")),
        (CONTAINER, objects("Container", Container, "/containers", "", "containers").with_id("uuid").unfiltered()),
    ]
};
