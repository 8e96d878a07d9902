//! The tutorial's stack (`examples/tutorial.yaml`) on a real OpenStack, through its whole life.

use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::life::{check, delete, ended, expect, path, update};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const STACK: &str = "tutorial";
const TEMPLATE: &str = include_str!("../../../../examples/tutorial.yaml");
const SERVER: &str = include_str!("../../../../examples/tutorial-server.yaml");

/// A port that cannot be created: its address is on no subnet.
const IMPOSSIBLE: &str = "
  impossible:
    type: OS::Neutron::Port
    depends_on: servers
    properties:
      network: {get_resource: network}
      fixed_ips: [{ip_address: 198.51.100.1}]

outputs:
";

fn request(template: &str, count: u64, flavor: &str) -> Json {
    json!({
        "template": template,
        "files": { "tutorial-server.yaml": SERVER },
        "parameters": { "count": count, "flavor": flavor },
        "timeout_mins": 10,
        "disable_rollback": false,
    })
}

/// Name and flavor of each server of the user.
async fn servers(kiln: &KilnProcess) -> BTreeMap<String, String> {
    let found = kiln.listed(Who::Demo, "compute", "/servers/detail", "servers").await;
    let flavors = kiln.listed(Who::Demo, "compute", "/flavors", "flavors").await;
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let flavor = |id: &Json| flavors.iter().find(|it| it["id"] == *id).map(|it| text(&it["name"]));
    found
        .iter()
        .map(|it| (text(&it["name"]), flavor(&it["flavor"]["id"]).unwrap_or_default()))
        .collect()
}

fn expected(count: u64, flavor: &str) -> BTreeMap<String, String> {
    (0..count).map(|n| (format!("{STACK}-{n}"), flavor.to_owned())).collect()
}

/// Whether every server can be reached from outside: the stack says where, and so does the network.
async fn are_reachable(kiln: &KilnProcess, count: usize) -> bool {
    let stack = kiln.ask(Who::Demo, "GET", &path(kiln, Who::Demo, STACK).await, None).await;
    let outputs = stack.body["stack"]["outputs"].as_array().cloned().unwrap_or_default();
    let of = |name: &str| {
        let output = outputs.iter().find(|it| it["output_key"] == name);
        output.and_then(|it| it["output_value"].as_array().cloned()).unwrap_or_default()
    };
    let addresses = kiln.listed(Who::Demo, "network", "/v2.0/floatingips", "floatingips").await;
    let is_known = |(outside, inside): (&Json, &Json)| {
        addresses
            .iter()
            .any(|it| it["floating_ip_address"] == *outside && it["fixed_ip_address"] == *inside)
    };
    let (outside, inside) = (of("addresses"), of("inside"));
    outside.len() == count
        && inside.len() == count
        && addresses.len() == count
        && outside.iter().zip(&inside).all(is_known)
}

#[tokio::test]
async fn the_tutorial_lives_and_leaves_nothing_behind() {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let before = kiln.objects().await;
    let lived = live(&kiln).await;
    let deleted = delete(&kiln, Who::Demo, STACK).await;
    assert_eq!((lived, deleted), (Ok(()), Ok(())));
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

async fn live(kiln: &KilnProcess) -> Result<(), String> {
    let mut body = request(TEMPLATE, 3, "m1.tiny");
    body["stack_name"] = STACK.into();
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create")?;
    ended(kiln, Who::Demo, STACK, "CREATE_COMPLETE").await?;
    assert_eq!(servers(kiln).await, expected(3, "m1.tiny"));
    assert!(are_reachable(kiln, 3).await);

    update(kiln, Who::Demo, STACK, &request(TEMPLATE, 4, "m1.small")).await?;
    assert_eq!(servers(kiln).await, expected(4, "m1.small"));
    assert!(are_reachable(kiln, 4).await);

    let before = kiln.objects().await;
    let impossible = TEMPLATE.replace("\noutputs:\n", IMPOSSIBLE);
    let body = request(&impossible, 2, "m1.tiny");
    let path = path(kiln, Who::Demo, STACK).await;
    expect(kiln.ask(Who::Demo, "PUT", &path, Some(body)).await, "update")?;
    let (status, reason) = kiln.rest(Who::Demo, STACK).await.expect("a stack");
    assert_eq!(status, "ROLLBACK_COMPLETE", "{reason}");
    assert_eq!(servers(kiln).await, expected(4, "m1.small"));
    assert!(are_reachable(kiln, 4).await);
    let after = kiln.objects().await;
    assert_eq!(before["network.networks"], after["network.networks"]);

    update(kiln, Who::Demo, STACK, &request(TEMPLATE, 1, "m1.small")).await?;
    assert_eq!(servers(kiln).await, expected(1, "m1.small"));
    check(kiln, Who::Demo, STACK).await
}
