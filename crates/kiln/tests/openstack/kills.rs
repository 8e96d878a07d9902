//! The real program with a real Neutron and a real Nova: killed, again and again, on the way up and on the way down.

use crate::cloud::kiln_process::{KilnProcess, Objects, Who};
use crate::cloud::life::{delete, expect, path};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write;

const STACK: &str = "killed";
const KILLS: usize = 20;
/// The next process need not wait long for the leases of the killed one; but a busy Nova may carry out a request of the
/// killed process half a minute later.
const AGAIN: &[&str] = &["--lease", "2", "--quiet", "60"];

/// Thirty resources: 6 of the network's ground, 8 ports, 8 servers, 4 floating addresses, 4 networks more.
fn template() -> String {
    let mut text = String::from(
        "heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.77.0.0/24}}
  router: {type: OS::Neutron::Router, properties: {external_gateway_info: {network: public}}}
  interface: {type: OS::Neutron::RouterInterface, properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}}
  doors: {type: OS::Neutron::SecurityGroup, properties: {rules: [{protocol: icmp}]}}
  group: {type: OS::Nova::ServerGroup, properties: {policies: [soft-anti-affinity]}}
",
    );
    for n in 0..8 {
        _ = writeln!(
            text,
            "  p{n}: {{type: OS::Neutron::Port, properties: {{network: {{get_resource: net}}, fixed_ips: [{{subnet: \
             {{get_resource: subnet}}}}], security_groups: [{{get_resource: doors}}]}}}}\n  \
             s{n}: {{type: OS::Nova::Server, properties: {{image: cirros, flavor: m1.tiny, networks: [{{port: \
             {{get_resource: p{n}}}}}], scheduler_hints: {{group: {{get_resource: group}}}}}}}}"
        );
    }
    for n in 0..4 {
        _ = writeln!(
            text,
            "  a{n}: {{type: OS::Neutron::FloatingIP, depends_on: interface, properties: {{floating_network: public, \
             port_id: {{get_resource: p{n}}}}}}}\n  n{n}: {{type: OS::Neutron::Net, depends_on: s{n}}}"
        );
    }
    text
}

/// Kills the program every few events, until it was killed often enough or the stack is at rest.
async fn kill_often(kiln: &mut KilnProcess, stack: &str, kills: &mut usize, until: usize) {
    let mut next = 2;
    while *kills < until {
        let Some(seen) = kiln.events_until(Who::Demo, stack, next).await else { return };
        kiln.kill_and_start(AGAIN);
        *kills += 1;
        next = seen + 1 + *kills % 5;
    }
}

/// The ids in the cloud that were not there before.
fn new_ids<'o>(before: &Objects, now: &'o Objects, name: &str) -> BTreeSet<&'o str> {
    let none = BTreeSet::new();
    let before = before.get(name).unwrap_or(&none);
    now.get(name)
        .into_iter()
        .flatten()
        .filter(|id| !before.contains(*id))
        .map(String::as_str)
        .collect()
}

/// The books and the cloud say the same, object by object.
async fn compare(kiln: &KilnProcess, before: &Objects) {
    let now = kiln.objects().await;
    let reply = kiln.ask(Who::Demo, "GET", &format!("/stacks/{STACK}/resources"), None).await;
    let resources = reply.body["resources"].as_array().expect("resources");
    assert_eq!(resources.len(), 30);
    let of = |kind: &str| -> BTreeSet<&str> {
        let those = resources.iter().filter(|it| it["resource_type"] == kind);
        those.filter_map(|it| it["physical_resource_id"].as_str()).collect()
    };
    for (kind, collection) in [
        ("OS::Neutron::FloatingIP", "network.floatingips"),
        ("OS::Neutron::Net", "network.networks"),
        ("OS::Neutron::Router", "network.routers"),
        ("OS::Neutron::SecurityGroup", "network.security_groups"),
        ("OS::Neutron::Subnet", "network.subnets"),
        ("OS::Nova::Server", "compute.servers"),
        ("OS::Nova::ServerGroup", "compute.server_groups"),
    ] {
        assert_eq!(new_ids(before, &now, collection), of(kind), "{kind}");
    }
    let ports = kiln.listed(Who::Demo, "network", "/v2.0/ports", "ports").await;
    let ours = ports.iter().filter(|it| it["device_owner"] == "compute:nova");
    let ours: BTreeSet<&str> = ours.filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ours, of("OS::Neutron::Port"));
    // Besides: the router's port inside, its port outside, and one for each floating address.
    assert_eq!(new_ids(before, &now, "network.ports").len(), 8 + 2 + 4);
    assert_eq!(new_ids(before, &now, "placement.allocations"), of("OS::Nova::Server"));
}

#[tokio::test]
async fn nothing_is_lost_and_nothing_is_there_twice_in_neutron_and_nova() {
    let Some(mut kiln) = KilnProcess::on_openstack().await else { return };
    kiln.kill_and_start(AGAIN);
    let before = kiln.objects().await;
    let mut kills = 0;
    // A stack that is at rest sooner than it was killed often enough lives once more.
    while kills < KILLS {
        live_once(&mut kiln, &before, &mut kills).await;
    }
    println!("killed {kills} times");
}

/// Creates the stack and deletes it, and kills the program on both ways.
async fn live_once(kiln: &mut KilnProcess, before: &Objects, kills: &mut usize) {
    let body: Json = json!({ "stack_name": STACK, "template": template(), "timeout_mins": 30 });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    let stack = path(kiln, Who::Demo, STACK).await;
    kill_often(kiln, &stack, kills, KILLS / 2).await;
    let (status, reason) = kiln.rest(Who::Demo, STACK).await.expect("a stack");
    assert_eq!(status, "CREATE_COMPLETE", "{reason}");
    compare(kiln, before).await;

    expect(kiln.ask(Who::Demo, "DELETE", &stack, None).await, "delete").expect("a deletion");
    kill_often(kiln, &stack, kills, KILLS).await;
    let ended = kiln.rest(Who::Demo, stack.trim_start_matches("/stacks/")).await;
    assert!(ended.is_none_or(|(status, _)| status == "DELETE_COMPLETE"));
    assert_eq!(delete(kiln, Who::Demo, STACK).await, Ok(()));
    assert_eq!(kiln.changed_since(before).await, Vec::<String>::new());
}
