//! Dependencies that templates do not spell out: a server depends on the subnets of its network, a floating
//! IP on the router interfaces between its network and its port.
//!
//! They follow from the template alone: two properties mean the same object if they refer to the same
//! resource, or have the same value.

use crate::declare::{Members, ResourceType, Value};
use crate::property_access::open;
use crate::registry::Registry;
use kiln_template::Unknown;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A resource that may have implicit dependencies.
pub struct Candidate {
    /// Its position in the template.
    pub at: usize,
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub kind: &'static ResourceType,
    /// Its properties; references to other resources are unknown values with their names.
    pub properties: Members,
}

/// Whether a type has implicit dependencies, or other types depend on it implicitly.
pub fn matters(types: &Registry, kind: &ResourceType) -> bool {
    let name = kind.name();
    RULES.iter().any(|rule| rule.needer == name || rule.needed == name)
        || name == PORT
        || !kind.implicit_dependencies.is_empty()
        || types.is_needed(name)
}

struct Rule {
    needer: &'static str,
    needed: &'static str,
    holds: fn(&All<'_>, &Candidate, &Candidate) -> bool,
}

const SERVER: &str = "OS::Nova::Server";
const SUBNET: &str = "OS::Neutron::Subnet";
const PORT: &str = "OS::Neutron::Port";
const ROUTER: &str = "OS::Neutron::Router";
const INTERFACE: &str = "OS::Neutron::RouterInterface";
const GATEWAY: &str = "OS::Neutron::RouterGateway";
const FLOATING_IP: &str = "OS::Neutron::FloatingIP";

const fn rule(
    needer: &'static str,
    needed: &'static str,
    holds: fn(&All<'_>, &Candidate, &Candidate) -> bool,
) -> Rule {
    Rule { needer, needed, holds }
}

const RULES: [Rule; 15] = [
    rule(SERVER, SUBNET, |_, server, subnet| is_on_network_of(server, subnet)),
    rule(PORT, SUBNET, |_, port, subnet| same(port, "network", subnet, "network")),
    rule(ROUTER, SUBNET, |_, router, subnet| {
        same(router, "external_gateway_info.network", subnet, "network")
    }),
    rule(GATEWAY, INTERFACE, |_, gateway, face| same(gateway, "router_id", face, "router")),
    rule(GATEWAY, SUBNET, |_, gateway, subnet| same(gateway, "network", subnet, "network")),
    rule(FLOATING_IP, GATEWAY, |_, ip, gateway| same(ip, "floating_network", gateway, "network")),
    rule(FLOATING_IP, ROUTER, |_, ip, router| {
        same(ip, "floating_network", router, "external_gateway_info.network")
    }),
    rule(FLOATING_IP, INTERFACE, |all, ip, face| all.leads_to_port(ip, "port_id", face)),
    rule("OS::Neutron::FloatingIPAssociation", INTERFACE, |all, it, face| {
        all.leads_to_port(it, "port_id", face)
    }),
    rule("OS::Neutron::FloatingIPPortForward", INTERFACE, |all, it, face| {
        all.leads_to_port(it, "internal_port", face)
    }),
    rule("OS::Neutron::ExtraRoute", INTERFACE, |_, route, face| {
        same(route, "router_id", face, "router")
    }),
    rule("OS::Neutron::ExtraRoute", GATEWAY, |_, route, gateway| {
        same(route, "router_id", gateway, "router_id")
    }),
    rule("OS::Neutron::ExtraRouteSet", INTERFACE, |_, route, face| {
        same(route, "router", face, "router")
    }),
    rule("OS::Neutron::ExtraRouteSet", GATEWAY, |_, route, gateway| {
        same(route, "router", gateway, "router_id")
    }),
    rule("AWS::EC2::VPCGatewayAttachment", "AWS::EC2::RouteTable", |_, it, table| {
        same(it, "VpcId", table, "VpcId")
    }),
];

/// The implicit dependencies, as pairs of positions: dependant, dependency.
pub fn needs(candidates: &[Candidate]) -> Vec<(usize, usize)> {
    let by_name = candidates.iter().map(|it| (&*it.name, it)).collect();
    let mut by_kind: BTreeMap<&str, Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        by_kind.entry(candidate.kind.name()).or_default().push(candidate);
    }
    let all = All { by_name };
    let of = |kind: &str| by_kind.get(kind).map(Vec::as_slice).unwrap_or_default();
    let mut found = Vec::new();
    for rule in &RULES {
        for needer in of(rule.needer) {
            let needed = of(rule.needed).iter();
            found.extend(
                needed
                    .filter(|needed| (rule.holds)(&all, needer, needed))
                    .map(|needed| (needer.at, needed.at)),
            );
        }
    }
    for needer in candidates {
        for need in &needer.kind.implicit_dependencies {
            let needed = of(&need.type_name).iter().filter(|needed| needed.at != needer.at);
            let needed =
                needed.filter(|needed| same(needer, &need.property, needed, &need.other_property));
            found.extend(needed.map(|needed| (needer.at, needed.at)));
        }
    }
    found
}

struct All<'c> {
    by_name: BTreeMap<&'c str, &'c Candidate>,
}

/// What a property refers to: a resource of the template, or an object by its name or id.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    Resource(Arc<str>),
    Text(Arc<str>),
}

fn meaning(value: &Value) -> Option<Meaning> {
    match open(value) {
        Value::Text(text) => Some(Meaning::Text(text.clone())),
        Value::Unknown(Unknown::Reference(name)) => Some(Meaning::Resource(name.clone())),
        _ => None,
    }
}

/// What the values at a path refer to; the path goes through all items of a list.
fn meanings(value: &Value, path: &[&str]) -> Vec<Meaning> {
    match (open(value), path) {
        (Value::List(items), path) => items.iter().flat_map(|it| meanings(it, path)).collect(),
        (value, []) => meaning(value).into_iter().collect(),
        (Value::Map(members), [first, rest @ ..]) => {
            members.get(*first).map(|it| meanings(it, rest)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn at(candidate: &Candidate, path: &str) -> Vec<Meaning> {
    let mut parts = path.split('.');
    let first = parts.next().and_then(|first| candidate.properties.get(first));
    first.map(|value| meanings(value, &parts.collect::<Vec<_>>())).unwrap_or_default()
}

fn same(a: &Candidate, a_path: &str, b: &Candidate, b_path: &str) -> bool {
    let b = at(b, b_path);
    at(a, a_path).iter().any(|meaning| b.contains(meaning))
}

/// A server depends on the subnets of its networks; if the networks are not known, on all subnets.
fn is_on_network_of(server: &Candidate, subnet: &Candidate) -> bool {
    let Some(Value::List(networks)) = server.properties.get("networks").map(open) else {
        return false;
    };
    let subnets = at(subnet, "network");
    let given = |entry: &Value, name: &str| meanings(entry, &[name]);
    networks.iter().any(|entry| {
        // A server with a port or a subnet refers to it explicitly.
        let has_own = !given(entry, "port").is_empty() || !given(entry, "subnet").is_empty();
        let networks = given(entry, "network");
        if networks.is_empty() || subnets.is_empty() {
            !has_own
        } else {
            networks.iter().any(|network| subnets.contains(network))
        }
    })
}

impl All<'_> {
    /// Whether a router interface leads to a port: it is on a subnet of one of the port's addresses, or on the
    /// port's network.
    fn leads_to_port(&self, needer: &Candidate, path: &str, interface: &Candidate) -> bool {
        let ports = at(needer, path);
        let ports = ports.iter().filter_map(|port| match port {
            Meaning::Resource(name) => {
                self.by_name.get(&**name).filter(|it| it.kind.name() == PORT)
            }
            Meaning::Text(_) => None,
        });
        let subnets = at(interface, "subnet");
        let network_of = |subnet: &Meaning| match subnet {
            Meaning::Resource(name) => self.by_name.get(&**name).map(|it| at(it, "network")),
            Meaning::Text(_) => None,
        };
        let mut ports = ports;
        ports.any(|port| {
            let addresses = at(port, "fixed_ips.subnet");
            if !addresses.is_empty() {
                return addresses.iter().any(|subnet| subnets.contains(subnet));
            }
            let networks = at(port, "network");
            subnets.iter().any(|subnet| match network_of(subnet) {
                Some(of_subnet) => networks.iter().any(|network| of_subnet.contains(network)),
                // A subnet outside of the template may be on the network.
                None => true,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(at: usize, name: &str, kind: &str, properties: Members) -> Candidate {
        let kind = Registry::builtin().get(kind).expect("a type");
        Candidate { at, name: name.into(), kind, properties }
    }

    fn refer(name: &str) -> Value {
        Value::Unknown(Unknown::Reference(name.into()))
    }

    fn members<const N: usize>(members: [(&str, Value); N]) -> Members {
        members.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }

    #[test]
    fn a_floating_ip_waits_for_the_way_to_its_port() {
        let all = [
            candidate(0, "subnet", SUBNET, members([("network", refer("net"))])),
            candidate(1, "port", PORT, members([("network", refer("net"))])),
            candidate(2, "face", INTERFACE, members([("subnet", refer("subnet"))])),
            candidate(
                3,
                "ip",
                FLOATING_IP,
                members([("port_id", refer("port")), ("floating_network", "public".into())]),
            ),
            candidate(
                4,
                "router",
                ROUTER,
                members([("external_gateway_info", Value::map([("network", "public".into())]))]),
            ),
        ];
        assert_eq!(needs(&all), [(1, 0), (3, 4), (3, 2)]);
    }

    #[test]
    fn a_server_waits_for_the_subnets_of_its_network_alone() {
        let entry = |name: &str| Value::list([Value::map([("network", refer(name))])]);
        let all = [
            candidate(0, "a", SUBNET, members([("network", refer("net"))])),
            candidate(1, "b", SUBNET, members([("network", refer("other"))])),
            candidate(2, "server", SERVER, members([("networks", entry("net"))])),
            candidate(3, "alone", SERVER, Members::new()),
        ];
        assert_eq!(needs(&all), [(2, 0)]);
    }
}
