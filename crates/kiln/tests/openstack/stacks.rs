//! Stacks on a real OpenStack are created, updated in place and by replacement, fail, and are deleted.

use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::life::{check, delete, ended, expect, path, update};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const NETWORKS: &str = include_str!("networks.yaml");
const SERVERS: &str = include_str!("servers.yaml");
const FAILING: &str = include_str!("failing.yaml");

/// A request for a stack that is not rolled back.
fn request(template: &str) -> Json {
    json!({ "template": template, "timeout_mins": 10 })
}

async fn create(kiln: &KilnProcess, who: Who, stack: &str, mut body: Json) -> Result<(), String> {
    body["stack_name"] = stack.into();
    expect(kiln.ask(who, "POST", "/stacks", Some(body)).await, "create").map(drop)
}

/// The physical id of each resource of a stack.
async fn ids(kiln: &KilnProcess, stack: &str) -> BTreeMap<String, String> {
    let reply = kiln.ask(Who::Demo, "GET", &format!("/stacks/{stack}/resources"), None).await;
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let all = reply.body["resources"].as_array().cloned().unwrap_or_default();
    all.iter().map(|it| (text(&it["resource_name"]), text(&it["physical_resource_id"]))).collect()
}

/// The resources that are other objects now.
async fn replaced(
    kiln: &KilnProcess,
    stack: &str,
    before: &BTreeMap<String, String>,
) -> Vec<String> {
    let now = ids(kiln, stack).await;
    now.into_iter().filter(|(name, id)| before.get(name) != Some(id)).map(|it| it.0).collect()
}

/// An object of the cloud.
async fn shown(kiln: &KilnProcess, kind: &str, path: &str, one: &str) -> Json {
    let reply = kiln.service(Who::Demo, "GET", kind, path).await;
    assert_eq!(reply.status, 200, "{kind}{path}: {}", reply.body);
    reply.body[one].clone()
}

/// Has a stack live; whatever happens, it is deleted, and nothing may be left.
async fn leaves_nothing<F>(kiln: &KilnProcess, who: Who, stack: &str, live: F)
where
    F: Future<Output = Result<(), String>>,
{
    let before = kiln.objects().await;
    let lived = live.await;
    let deleted = delete(kiln, who, stack).await;
    assert_eq!((lived, deleted), (Ok(()), Ok(())));
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

/// Compares two values and returns an error. A panic would leave the stack of the test behind.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, not {expected:?}")),
    }
}

#[tokio::test]
async fn networks_change_in_place_and_by_replacement() {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let (kiln, stack) = (&kiln, "networks");
    leaves_nothing(kiln, Who::Demo, stack, async {
        create(kiln, Who::Demo, stack, request(NETWORKS)).await?;
        ended(kiln, Who::Demo, stack, "CREATE_COMPLETE").await?;
        let first = ids(kiln, stack).await;

        let changed = NETWORKS
            .replace("name: first", "name: second")
            .replace("dns_nameservers: [192.0.2.1]", "dns_nameservers: [192.0.2.1, 192.0.2.2]")
            .replace(
                "port_range_min: 22, port_range_max: 22",
                "port_range_min: 80, port_range_max: 81",
            );
        update(kiln, Who::Demo, stack, &request(&changed)).await?;
        same("replaced", replaced(kiln, stack, &first).await, vec![])?;
        let port = shown(kiln, "network", &format!("/v2.0/ports/{}", first["port"]), "port").await;
        same("name", &port["name"], &json!("second"))?;
        let path = format!("/v2.0/subnets/{}", first["subnet"]);
        let subnet = shown(kiln, "network", &path, "subnet").await;
        same("servers", &subnet["dns_nameservers"], &json!(["192.0.2.1", "192.0.2.2"]))?;

        let replacing = changed.replace("cidr: 10.42.0.0/24", "cidr: 10.43.0.0/24");
        update(kiln, Who::Demo, stack, &request(&replacing)).await?;
        let others = vec!["side_interface".to_owned(), "side_subnet".to_owned()];
        same("replaced", replaced(kiln, stack, &first).await, others)?;
        let path = format!("/v2.0/ports/{}", first["side_port"]);
        let port = shown(kiln, "network", &path, "port").await;
        let address = port["fixed_ips"][0]["ip_address"].as_str().unwrap_or_default();
        same("moved", address.starts_with("10.43.0."), true)?;
        check(kiln, Who::Demo, stack).await
    })
    .await;
}

#[tokio::test]
async fn servers_change_in_place_and_by_replacement() {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let (kiln, stack) = (&kiln, "servers");
    leaves_nothing(kiln, Who::Demo, stack, async {
        create(kiln, Who::Demo, stack, request(SERVERS)).await?;
        ended(kiln, Who::Demo, stack, "CREATE_COMPLETE").await?;
        let first = ids(kiln, stack).await;
        same("attached", attached(kiln, &first).await, vec![first["volume"].clone()])?;

        let changed = SERVERS
            .replace("flavor: m1.tiny", "flavor: m1.small")
            .replace("metadata: {color: red}", "metadata: {color: blue, shape: round}")
            .replace("{size: 1}", "{size: 2}");
        update(kiln, Who::Demo, stack, &request(&changed)).await?;
        same("replaced", replaced(kiln, stack, &first).await, vec![])?;
        let path = format!("/servers/{}", first["server"]);
        let now = shown(kiln, "compute", &path, "server").await;
        same(
            "server",
            (&now["status"], &now["metadata"]["shape"]),
            (&json!("ACTIVE"), &json!("round")),
        )?;
        let path = format!("/volumes/{}", first["volume"]);
        let volume = shown(kiln, "volumev3", &path, "volume").await;
        same("volume", (&volume["size"], &volume["status"]), (&json!(2), &json!("in-use")))?;

        let replacing = changed.replace("user_data: one", "user_data: two");
        update(kiln, Who::Demo, stack, &request(&replacing)).await?;
        let now = ids(kiln, stack).await;
        same("another server", now["server"] != first["server"], true)?;
        same("the same volume", &now["volume"], &first["volume"])?;
        same("attached", attached(kiln, &now).await, vec![now["volume"].clone()])?;
        check(kiln, Who::Demo, stack).await
    })
    .await;
}

/// The volumes of the server.
async fn attached(kiln: &KilnProcess, ids: &BTreeMap<String, String>) -> Vec<String> {
    let path = format!("/servers/{}/os-volume_attachments", ids["server"]);
    let all = shown(kiln, "compute", &path, "volumeAttachments").await;
    let all = all.as_array().into_iter().flatten();
    all.filter_map(|it| it["volumeId"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn what_fails_is_rolled_back_and_says_why() {
    let Some(kiln) = KilnProcess::on_openstack().await else { return };
    let (kiln, stack) = (&kiln, "failing");
    leaves_nothing(kiln, Who::Admin, stack, async {
        let mut body = request(FAILING);
        body["disable_rollback"] = false.into();
        let before = kiln.objects().await;
        create(kiln, Who::Admin, stack, body.clone()).await?;
        ended(kiln, Who::Admin, stack, "ROLLBACK_COMPLETE").await?;
        let path = path(kiln, Who::Admin, stack).await;
        same("told", is_told(kiln, &path, "No valid host was found").await, true)?;
        let after = kiln.objects().await;
        same("networks", after.get("network.networks"), before.get("network.networks"))?;
        same("servers", after.get("compute.servers"), before.get("compute.servers"))?;
        delete(kiln, Who::Admin, stack).await?;

        let good = FAILING.replace("ram: 1000000000", "ram: 512");
        create(kiln, Who::Admin, stack, request(&good)).await?;
        ended(kiln, Who::Admin, stack, "CREATE_COMPLETE").await?;
        let path = self::path(kiln, Who::Admin, stack).await;
        let before = kiln.objects().await;
        body["template"] = (good + IMPOSSIBLE).into();
        expect(kiln.ask(Who::Admin, "PUT", &path, Some(body)).await, "update")?;
        ended(kiln, Who::Admin, stack, "ROLLBACK_COMPLETE").await?;
        same("told", is_told(kiln, &path, "198.51.100.1").await, true)?;
        same("left", kiln.changed_since(&before).await, vec![])?;
        check(kiln, Who::Admin, stack).await
    })
    .await;
}

/// Whether an event of the stack says this.
async fn is_told(kiln: &KilnProcess, path: &str, what: &str) -> bool {
    let reply = kiln.ask(Who::Admin, "GET", &format!("{path}/events"), None).await;
    let events = reply.body["events"].as_array().cloned().unwrap_or_default();
    let says =
        |event: &Json| event["resource_status_reason"].as_str().is_some_and(|it| it.contains(what));
    events.iter().any(says)
}

/// A port with an address that its network has not.
const IMPOSSIBLE: &str = "
  impossible:
    type: OS::Neutron::Port
    depends_on: large
    properties: {network: {get_resource: net}, fixed_ips: [{ip_address: 198.51.100.1}]}
";
