//! What stacks do on a real OpenStack: come to be, change in place and by replacement, fail, and go.

use crate::cloud::life::{check, delete, ended, expect, path, update};
use crate::cloud::world::{Who, World};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const NETWORKS: &str = include_str!("networks.yaml");
const SERVERS: &str = include_str!("servers.yaml");
const FAILING: &str = include_str!("failing.yaml");

/// A request for a stack that is not rolled back.
fn request(template: &str) -> Json {
    json!({ "template": template, "timeout_mins": 10 })
}

async fn create(world: &World, who: Who, stack: &str, mut body: Json) -> Result<(), String> {
    body["stack_name"] = stack.into();
    expect(world.ask(who, "POST", "/stacks", Some(body)).await, "create").map(drop)
}

/// The physical id of each resource of a stack.
async fn ids(world: &World, stack: &str) -> BTreeMap<String, String> {
    let reply = world.ask(Who::Demo, "GET", &format!("/stacks/{stack}/resources"), None).await;
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let all = reply.body["resources"].as_array().cloned().unwrap_or_default();
    all.iter().map(|it| (text(&it["resource_name"]), text(&it["physical_resource_id"]))).collect()
}

/// The resources that are other objects now.
async fn replaced(world: &World, stack: &str, before: &BTreeMap<String, String>) -> Vec<String> {
    let now = ids(world, stack).await;
    now.into_iter().filter(|(name, id)| before.get(name) != Some(id)).map(|it| it.0).collect()
}

/// An object of the cloud.
async fn shown(world: &World, kind: &str, path: &str, one: &str) -> Json {
    let reply = world.service(Who::Demo, "GET", kind, path).await;
    assert_eq!(reply.status, 200, "{kind}{path}: {}", reply.body);
    reply.body[one].clone()
}

/// Has a stack live; whatever happens, it is deleted, and nothing may be left.
async fn leaves_nothing<F>(world: &World, who: Who, stack: &str, live: F)
where
    F: Future<Output = Result<(), String>>,
{
    let before = world.objects().await;
    let lived = live.await;
    let deleted = delete(world, who, stack).await;
    assert_eq!((lived, deleted), (Ok(()), Ok(())));
    assert_eq!(world.changed_since(&before).await, Vec::<String>::new());
}

/// What should be so. A test that ended here would leave its stack behind.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, not {expected:?}")),
    }
}

#[tokio::test]
async fn networks_change_in_place_and_by_replacement() {
    let Some(world) = World::on_openstack().await else { return };
    let (world, stack) = (&world, "networks");
    leaves_nothing(world, Who::Demo, stack, async {
        create(world, Who::Demo, stack, request(NETWORKS)).await?;
        ended(world, Who::Demo, stack, "CREATE_COMPLETE").await?;
        let first = ids(world, stack).await;

        let changed = NETWORKS
            .replace("name: first", "name: second")
            .replace("dns_nameservers: [192.0.2.1]", "dns_nameservers: [192.0.2.1, 192.0.2.2]")
            .replace(
                "port_range_min: 22, port_range_max: 22",
                "port_range_min: 80, port_range_max: 81",
            );
        update(world, Who::Demo, stack, &request(&changed)).await?;
        same("replaced", replaced(world, stack, &first).await, vec![])?;
        let port = shown(world, "network", &format!("/v2.0/ports/{}", first["port"]), "port").await;
        same("name", &port["name"], &json!("second"))?;
        let path = format!("/v2.0/subnets/{}", first["subnet"]);
        let subnet = shown(world, "network", &path, "subnet").await;
        same("servers", &subnet["dns_nameservers"], &json!(["192.0.2.1", "192.0.2.2"]))?;

        let replacing = changed.replace("cidr: 10.42.0.0/24", "cidr: 10.43.0.0/24");
        update(world, Who::Demo, stack, &request(&replacing)).await?;
        let others = vec!["side_interface".to_owned(), "side_subnet".to_owned()];
        same("replaced", replaced(world, stack, &first).await, others)?;
        let path = format!("/v2.0/ports/{}", first["side_port"]);
        let port = shown(world, "network", &path, "port").await;
        let address = port["fixed_ips"][0]["ip_address"].as_str().unwrap_or_default();
        same("moved", address.starts_with("10.43.0."), true)?;
        check(world, Who::Demo, stack).await
    })
    .await;
}

#[tokio::test]
async fn servers_change_in_place_and_by_replacement() {
    let Some(world) = World::on_openstack().await else { return };
    let (world, stack) = (&world, "servers");
    leaves_nothing(world, Who::Demo, stack, async {
        create(world, Who::Demo, stack, request(SERVERS)).await?;
        ended(world, Who::Demo, stack, "CREATE_COMPLETE").await?;
        let first = ids(world, stack).await;
        same("attached", attached(world, &first).await, vec![first["volume"].clone()])?;

        let changed = SERVERS
            .replace("flavor: m1.tiny", "flavor: m1.small")
            .replace("metadata: {color: red}", "metadata: {color: blue, shape: round}")
            .replace("{size: 1}", "{size: 2}");
        update(world, Who::Demo, stack, &request(&changed)).await?;
        same("replaced", replaced(world, stack, &first).await, vec![])?;
        let path = format!("/servers/{}", first["server"]);
        let now = shown(world, "compute", &path, "server").await;
        same(
            "server",
            (&now["status"], &now["metadata"]["shape"]),
            (&json!("ACTIVE"), &json!("round")),
        )?;
        let path = format!("/volumes/{}", first["volume"]);
        let volume = shown(world, "volumev3", &path, "volume").await;
        same("volume", (&volume["size"], &volume["status"]), (&json!(2), &json!("in-use")))?;

        let replacing = changed.replace("user_data: one", "user_data: two");
        update(world, Who::Demo, stack, &request(&replacing)).await?;
        let now = ids(world, stack).await;
        same("another server", now["server"] != first["server"], true)?;
        same("the same volume", &now["volume"], &first["volume"])?;
        same("attached", attached(world, &now).await, vec![now["volume"].clone()])?;
        check(world, Who::Demo, stack).await
    })
    .await;
}

/// The volumes of the server.
async fn attached(world: &World, ids: &BTreeMap<String, String>) -> Vec<String> {
    let path = format!("/servers/{}/os-volume_attachments", ids["server"]);
    let all = shown(world, "compute", &path, "volumeAttachments").await;
    let all = all.as_array().into_iter().flatten();
    all.filter_map(|it| it["volumeId"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn what_fails_is_rolled_back_and_says_why() {
    let Some(world) = World::on_openstack().await else { return };
    let (world, stack) = (&world, "failing");
    leaves_nothing(world, Who::Admin, stack, async {
        let mut body = request(FAILING);
        body["disable_rollback"] = false.into();
        let before = world.objects().await;
        create(world, Who::Admin, stack, body.clone()).await?;
        ended(world, Who::Admin, stack, "ROLLBACK_COMPLETE").await?;
        let path = path(world, Who::Admin, stack).await;
        same("told", is_told(world, &path, "No valid host was found").await, true)?;
        let after = world.objects().await;
        same("networks", after.get("network.networks"), before.get("network.networks"))?;
        same("servers", after.get("compute.servers"), before.get("compute.servers"))?;
        delete(world, Who::Admin, stack).await?;

        let good = FAILING.replace("ram: 1000000000", "ram: 512");
        create(world, Who::Admin, stack, request(&good)).await?;
        ended(world, Who::Admin, stack, "CREATE_COMPLETE").await?;
        let path = self::path(world, Who::Admin, stack).await;
        let before = world.objects().await;
        body["template"] = (good + IMPOSSIBLE).into();
        expect(world.ask(Who::Admin, "PUT", &path, Some(body)).await, "update")?;
        ended(world, Who::Admin, stack, "ROLLBACK_COMPLETE").await?;
        same("told", is_told(world, &path, "198.51.100.1").await, true)?;
        same("left", world.changed_since(&before).await, vec![])?;
        check(world, Who::Admin, stack).await
    })
    .await;
}

/// Whether an event of the stack says this.
async fn is_told(world: &World, path: &str, what: &str) -> bool {
    let reply = world.ask(Who::Admin, "GET", &format!("{path}/events"), None).await;
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
