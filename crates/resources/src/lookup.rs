//! The kinds of objects that properties may name: where their service lists them.
//!
//! A property may give an object's name for its id; a constraint may ask that there is such an object.
//! Both look here.

use crate::op::{Op, OpError};
use kiln_cloud::{Call, Reply, Service, get};
use serde_json::Value as Json;
use std::sync::Arc;

/// Where objects of a kind are.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// What they are called in errors.
    pub called: &'static str,
    service: Service,
    /// The path of all of them.
    path: &'static str,
    /// What stands around one, and around many, in replies; nothing if nothing does.
    one: &'static str,
    many: &'static str,
    /// Where an object has its id and its name.
    id: &'static str,
    name: &'static str,
    /// Whether the list can be narrowed down to a name.
    is_filtered: bool,
    /// Whether ids are UUIDs: then what looks like one is not looked up.
    has_uuids: bool,
}

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

/// Every kind, by the name that constraints know it by.
#[rustfmt::skip]
const KINDS: [(&str, Collection); 57] = {
    use Service::*;
    [
        ("barbican.container", objects("Container", KeyManager, "/containers", "", "containers").with_id("container_ref")),
        ("barbican.secret", objects("Secret", KeyManager, "/secrets", "", "secrets").with_id("secret_ref")),
        ("blazar.reservation", objects("Lease", Reservation, "/leases", "lease", "leases").unfiltered()),
        ("cinder.backup", objects("Volume backup", Volume, "/backups", "backup", "backups")),
        ("cinder.qos_specs", objects("QoS specs", Volume, "/qos-specs", "qos_specs", "qos_specs").unfiltered()),
        ("cinder.snapshot", objects("Volume snapshot", Volume, "/snapshots", "snapshot", "snapshots")),
        ("cinder.volume", objects("Volume", Volume, "/volumes", "volume", "volumes")),
        ("cinder.vtype", objects("Volume type", Volume, "/types", "volume_type", "volume_types").unfiltered()),
        ("designate.zone", objects("Zone", Dns, "/zones", "", "zones")),
        ("glance.image", objects("Image", Image, "/images", "", "images")),
        ("ironic.node", objects("Node", BareMetal, "/nodes", "", "nodes").with_id("uuid").unfiltered()),
        ("ironic.portgroup", objects("Port group", BareMetal, "/portgroups", "", "portgroups").with_id("uuid").unfiltered()),
        ("keystone.domain", objects("KeystoneDomain", Identity, "/domains", "domain", "domains").any_id()),
        ("keystone.group", objects("KeystoneGroup", Identity, "/groups", "group", "groups").any_id()),
        ("keystone.project", objects("KeystoneProject", Identity, "/projects", "project", "projects").any_id()),
        ("keystone.region", objects("KeystoneRegion", Identity, "/regions", "region", "regions").any_id().unfiltered().with_name("id")),
        ("keystone.role", objects("KeystoneRole", Identity, "/roles", "role", "roles").any_id()),
        ("keystone.service", objects("KeystoneService", Identity, "/services", "service", "services").any_id()),
        ("keystone.user", objects("KeystoneUser", Identity, "/users", "user", "users").any_id()),
        ("magnum.cluster_template", objects("Cluster template", ContainerInfra, "/clustertemplates", "", "clustertemplates").with_id("uuid").unfiltered()),
        ("manila.share_network", objects("Share network", Share, "/share-networks/detail", "share_network", "share_networks")),
        ("manila.share_snapshot", objects("Share snapshot", Share, "/snapshots/detail", "snapshot", "snapshots")),
        ("manila.share_type", objects("Share type", Share, "/types", "share_type", "share_types").unfiltered()),
        ("mistral.workflow", objects("Workflow", Workflow, "/workflows", "", "workflows").any_id()),
        ("neutron.address_scope", objects("address scope", Network, "/address-scopes", "address_scope", "address_scopes")),
        ("neutron.floating_ip", objects("floating IP", Network, "/floatingips", "floatingip", "floatingips").with_name("floating_ip_address")),
        ("neutron.floatingip", objects("floating IP", Network, "/floatingips", "floatingip", "floatingips").with_name("floating_ip_address")),
        ("neutron.flow_classifier", objects("flow classifier", Network, "/sfc/flow_classifiers", "flow_classifier", "flow_classifiers")),
        ("neutron.network", objects("network", Network, "/networks", "network", "networks")),
        ("neutron.policy", objects("QoS policy", Network, "/qos/policies", "policy", "policies")),
        ("neutron.port", objects("port", Network, "/ports", "port", "ports")),
        ("neutron.port_chain", objects("port chain", Network, "/sfc/port_chains", "port_chain", "port_chains")),
        ("neutron.port_pair", objects("port pair", Network, "/sfc/port_pairs", "port_pair", "port_pairs")),
        ("neutron.port_pair_group", objects("port pair group", Network, "/sfc/port_pair_groups", "port_pair_group", "port_pair_groups")),
        ("neutron.qos_policy", objects("QoS policy", Network, "/qos/policies", "policy", "policies")),
        ("neutron.router", objects("router", Network, "/routers", "router", "routers")),
        ("neutron.security_group", objects("security group", Network, "/security-groups", "security_group", "security_groups")),
        ("neutron.segment", objects("segment", Network, "/segments", "segment", "segments")),
        ("neutron.subnet", objects("subnet", Network, "/subnets", "subnet", "subnets")),
        ("neutron.subnetpool", objects("subnet pool", Network, "/subnetpools", "subnetpool", "subnetpools")),
        ("neutron.taas.tap_flow", objects("tap flow", Network, "/taas/tap_flows", "tap_flow", "tap_flows")),
        ("neutron.taas.tap_service", objects("tap service", Network, "/taas/tap_services", "tap_service", "tap_services")),
        ("nova.flavor", objects("Flavor", Compute, "/flavors", "flavor", "flavors").any_id().unfiltered()),
        ("nova.host", objects("Host", Compute, "/os-services", "", "services").any_id().unfiltered().with_id("host").with_name("host")),
        ("nova.keypair", objects("Key", Compute, "/os-keypairs", "keypair", "keypairs").any_id().unfiltered()),
        ("nova.server", objects("Server", Compute, "/servers", "server", "servers")),
        ("octavia.availabilityzone", objects("Availability zone", LoadBalancer, "/lbaas/availabilityzones", "availability_zone", "availability_zones").any_id().with_id("name")),
        ("octavia.availabilityzoneprofile", objects("Availability zone profile", LoadBalancer, "/lbaas/availabilityzoneprofiles", "availability_zone_profile", "availability_zone_profiles")),
        ("octavia.flavor", objects("Flavor", LoadBalancer, "/lbaas/flavors", "flavor", "flavors")),
        ("octavia.flavorprofile", objects("Flavor profile", LoadBalancer, "/lbaas/flavorprofiles", "flavorprofile", "flavorprofiles")),
        ("octavia.l7policy", objects("L7 policy", LoadBalancer, "/lbaas/l7policies", "l7policy", "l7policies")),
        ("octavia.listener", objects("Listener", LoadBalancer, "/lbaas/listeners", "listener", "listeners")),
        ("octavia.loadbalancer", objects("Load balancer", LoadBalancer, "/lbaas/loadbalancers", "loadbalancer", "loadbalancers")),
        ("octavia.pool", objects("Pool", LoadBalancer, "/lbaas/pools", "pool", "pools")),
        ("trove.flavor", objects("Flavor", Database, "/flavors", "flavor", "flavors").any_id().unfiltered()),
        ("zaqar.queue", objects("Queue", Messaging, "/queues", "", "queues").any_id().unfiltered().with_id("name")),
        ("zun.container", objects("Container", Container, "/containers", "", "containers").with_id("uuid").unfiltered()),
    ]
};

/// Where objects of a kind are; nothing if nobody knows.
pub fn collection_of(kind: &str) -> Option<&'static Collection> {
    KINDS.binary_search_by_key(&kind, |(kind, _)| kind).ok().map(|at| &KINDS[at].1)
}

/// The names of all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> + Clone {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// Whether a text has the form of a UUID, with or without hyphens.
pub fn is_uuid(text: &str) -> bool {
    let digits = || text.chars().filter(|char| *char != '-');
    digits().count() == 32
        && (text.len() == 32 || text.len() == 36)
        && digits().all(|char| char.is_ascii_hexdigit())
}

impl Collection {
    /// Whether a text can only be an id, so that it need not be looked up.
    pub fn is_id(&self, text: &str) -> bool {
        (self.has_uuids && is_uuid(text))
            || text.starts_with("http://")
            || text.starts_with("https://")
    }

    /// A name without its domain, and the domain: users, groups and projects may have it behind their name.
    pub fn domain_of<'g>(&self, given: &'g str) -> (&'g str, Option<&'g str>) {
        match given.strip_suffix('}').and_then(|it| it.split_once('{')) {
            Some((name, domain)) if self.service == Service::Identity => (name, Some(domain)),
            _ => (given, None),
        }
    }

    /// Lists objects, those of a name among them. A list that is a little old will do.
    pub fn named(&self, name: &str) -> Call {
        let list = get(self.service, self.path).may_be_old();
        match self.is_filtered {
            true => list.query(self.name, name),
            false => list,
        }
    }

    /// Shows the object of an id.
    pub fn by_id(&self, id: &str) -> Call {
        let path = self.path.trim_end_matches("/detail");
        get(self.service, format!("{path}/{id}")).may_be_old()
    }

    /// The ids of those in a list that have a name.
    pub fn ids_in<'r>(&self, list: &'r Reply, name: &str) -> Vec<&'r str> {
        let all = list.body.get(self.many).and_then(Json::as_array).into_iter().flatten();
        // Some services put each object of a list into an envelope of its own.
        let all = all.map(|object| object.get(self.one).unwrap_or(object));
        let fitting = all.filter(|object| object[self.name] == name);
        let id = if self.one == "keypair" { "name" } else { self.id };
        fitting.filter_map(|object| object[id].as_str()).collect()
    }

    /// The id of the one object in a reply.
    pub fn id_in<'r>(&self, reply: &'r Reply) -> Option<&'r str> {
        let object = if self.one.is_empty() { &reply.body } else { &reply.body[self.one] };
        let id = if self.one == "keypair" { "name" } else { self.id };
        object[id].as_str()
    }

    /// What is told if there is none.
    pub fn missing(&self, given: &str) -> String {
        match self.service {
            Service::Network => format!("Unable to find {} with name or id '{given}'", self.called),
            _ => format!("The {} ({given}) could not be found.", self.called),
        }
    }

    /// What is told if there are several.
    pub fn ambiguous(name: &str) -> String {
        format!("Multiple physical resources were found with name ({name}).")
    }
}

/// The id of an object that is given by its id or its name.
pub async fn find_id(op: &mut Op, kind: &str, given: &str) -> Result<Arc<str>, OpError> {
    let Some(objects) = collection_of(kind) else { return Ok(given.into()) };
    let (name, domain) = objects.domain_of(given);
    if objects.is_id(name) {
        return Ok(given.into());
    }
    let mut list = objects.named(name);
    if let Some(domain) = domain {
        let domain = Box::pin(find_id(op, "keystone.domain", domain)).await?;
        list = list.query("domain_id", &*domain);
    }
    let reply = op.read(list.clone()).await?;
    match objects.ids_in(&reply, name).as_slice() {
        [id] => return Ok((*id).into()),
        [] => {}
        _ => {
            return Err(OpError::failed(
                "PhysicalResourceNameAmbiguity",
                Collection::ambiguous(given),
            ));
        }
    }
    match op.read(objects.by_id(name)).await {
        Ok(reply) => return Ok(objects.id_in(&reply).unwrap_or(name).into()),
        Err(stop) if stop.is_not_found() => {}
        Err(stop) => return Err(stop),
    }
    // It may have come since the list was made.
    let reply = op.read(list.now()).await?;
    match objects.ids_in(&reply, name).first() {
        Some(id) => Ok((*id).into()),
        None => {
            let missing = OpError::failed("EntityNotFound", objects.missing(given));
            Err(missing.advise("name one that is there, and update the stack"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_order_and_uuids_are_known() {
        assert!(KINDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(is_uuid("0f1b7c1e-8f6e-4b7e-9c7e-0123456789ab"));
        assert!(is_uuid("0f1b7c1e8f6e4b7e9c7e0123456789ab"));
        assert!(!is_uuid("web"));
        assert!(!is_uuid("0f1b7c1e8f6e4b7e9c7e0123456789abcdef"));
    }

    #[test]
    fn people_may_have_their_domain_behind_their_name() {
        let split = |kind| collection_of(kind).map(|objects| objects.domain_of("ann{east}"));
        assert_eq!(split("keystone.user"), Some(("ann", Some("east"))));
        assert_eq!(split("nova.server"), Some(("ann{east}", None)));
    }

    #[test]
    fn every_constraint_that_asks_the_cloud_knows_where() {
        // There are no such objects any more: their services are gone.
        let gone = ["nova.network", "neutron.lbaas"];
        for name in crate::constraints::NAMES.iter().filter(|name| name.contains('.')) {
            assert!(
                collection_of(name).is_some() || gone.iter().any(|it| name.starts_with(it)),
                "{name}"
            );
        }
    }
}
