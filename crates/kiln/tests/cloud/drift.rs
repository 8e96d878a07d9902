//! Drift: objects that others change. An update that is to converge finds and corrects it, any other update ignores it.

use super::kiln_process::{KilnProcess, Who};
use super::life::{check, delete, ended, expect, path, update};
use serde_json::{Value as Json, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/types");

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net, properties: {name: blue}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}}
  scope: {type: OS::Neutron::AddressScope, properties: {name: scope}}
  ours: {type: Acme::Network::AddressScope, properties: {name: ours, shared: false}}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: OS::Neutron::Net, properties: {name: inner}}}
";

const STACK: &str = "drift";
const NETWORKS: &str = "/network/v2.0/networks";
const SCOPES: &str = "/network/v2.0/address-scopes";

fn request(converge: bool) -> Json {
    json!({ "template": TEMPLATE, "timeout_mins": 2, "converge": converge })
}

#[tokio::test]
async fn what_was_changed_behind_our_back_is_mended_on_request() {
    let kiln = KilnProcess::start(&["--plugin-dir", FOLDER]).await;
    let who = Who::Admin;
    let before = kiln.objects().await;
    let new = json!({ "template": TEMPLATE, "timeout_mins": 2, "stack_name": STACK });
    expect(kiln.ask(who, "POST", "/stacks", Some(new)).await, "create").expect("accepted");
    ended(&kiln, who, STACK, "CREATE_COMPLETE").await.expect("made");
    let (net, scope, ours) = tamper(&kiln).await;

    // This update does not read the objects, so it finds no drift.
    update(&kiln, who, STACK, &request(false)).await.expect("nothing to do");
    check_drift(&kiln, &net, &ours).await;
    assert_eq!(fates(&kiln, false).await, json!([["group"], [], 4]));
    assert_eq!(fates(&kiln, true).await, json!([["group", "net", "ours"], ["scope"], 1]));
    check_drift(&kiln, &net, &ours).await;

    update(&kiln, who, STACK, &request(true)).await.expect("fixed");
    let shown = kiln.cloud(who, "GET", &format!("{NETWORKS}/{net}"), None).await.body;
    assert_eq!(shown["network"]["name"], "blue");
    assert_eq!(shown["network"]["admin_state_up"], true);
    let shown = kiln.cloud(who, "GET", &format!("{SCOPES}/{ours}"), None).await.body;
    assert_eq!(shown["address_scope"]["shared"], false);
    assert_ne!(found(&kiln, SCOPES, "address_scopes", "scope").await, scope);
    found(&kiln, NETWORKS, "networks", "inner").await;

    // Objects without drift stay unchanged, however often they are read.
    let changes = kiln.changes().await;
    update(&kiln, who, STACK, &request(true)).await.expect("nothing to do");
    assert_eq!(kiln.changes().await, changes);
    check(&kiln, who, STACK).await.expect("well");
    assert_eq!(reason(&kiln, "ours").await, "state changed");

    // A check tells what is other than it should be, and mends nothing.
    let body = json!({ "address_scope": { "shared": true } });
    kiln.cloud(who, "PUT", &format!("{SCOPES}/{ours}"), Some(body)).await;
    check(&kiln, who, STACK).await.expect("all there");
    let told = reason(&kiln, "ours").await;
    assert!(told.starts_with("Changed behind the stack's back: shared. Next: "), "{told}");
    delete(&kiln, who, STACK).await.expect("gone");
    assert_eq!(kiln.changed_since(&before).await, [""; 0]);
}

/// Changes two objects and one in a nested stack, and removes another; gives the ids of those outside.
async fn tamper(kiln: &KilnProcess) -> (String, String, String) {
    let who = Who::Admin;
    let net = found(kiln, NETWORKS, "networks", "blue").await;
    let inner = found(kiln, NETWORKS, "networks", "inner").await;
    let scope = found(kiln, SCOPES, "address_scopes", "scope").await;
    let ours = found(kiln, SCOPES, "address_scopes", "ours").await;
    let body = json!({ "network": { "name": "red", "admin_state_up": false } });
    for id in [&net, &inner] {
        let reply = kiln.cloud(who, "PUT", &format!("{NETWORKS}/{id}"), Some(body.clone())).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    let body = json!({ "address_scope": { "shared": true } });
    let reply = kiln.cloud(who, "PUT", &format!("{SCOPES}/{ours}"), Some(body)).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let reply = kiln.cloud(who, "DELETE", &format!("{SCOPES}/{scope}"), None).await;
    assert_eq!(reply.status, 204, "{}", reply.body);
    (net, scope, ours)
}

async fn found(kiln: &KilnProcess, path: &str, many: &str, name: &str) -> String {
    let reply = kiln.cloud(Who::Admin, "GET", path, None).await;
    let all = reply.body[many].as_array().cloned().unwrap_or_default();
    let object = all.iter().find(|object| object["name"] == name).expect("an object");
    object["id"].as_str().expect("an id").to_owned()
}

/// Why a resource is in its state.
async fn reason(kiln: &KilnProcess, name: &str) -> String {
    let path = format!("{}/resources/{name}", path(kiln, Who::Admin, STACK).await);
    let shown = kiln.ask(Who::Admin, "GET", &path, None).await.body;
    shown["resource"]["resource_status_reason"].as_str().unwrap_or_default().to_owned()
}

/// Everything is still as it was changed.
async fn check_drift(kiln: &KilnProcess, net: &str, ours: &str) {
    let shown = kiln.cloud(Who::Admin, "GET", &format!("{NETWORKS}/{net}"), None).await.body;
    assert_eq!(shown["network"]["name"], "red");
    let shown = kiln.cloud(Who::Admin, "GET", &format!("{SCOPES}/{ours}"), None).await.body;
    assert_eq!(shown["address_scope"]["shared"], true);
}

/// The resources that an update would change, those that it would replace, and how many would stay.
async fn fates(kiln: &KilnProcess, converge: bool) -> Json {
    let path = format!("{}/preview", path(kiln, Who::Admin, STACK).await);
    let reply = kiln.ask(Who::Admin, "PUT", &path, Some(request(converge))).await;
    let changes = expect(reply, "preview").expect("a preview")["resource_changes"].clone();
    let names = |fate: &str| -> Vec<String> {
        let all = changes[fate].as_array().cloned().unwrap_or_default();
        let mut names: Vec<String> =
            all.iter().filter_map(|it| it["resource_name"].as_str().map(str::to_owned)).collect();
        names.sort();
        names
    };
    json!([names("updated"), names("replaced"), names("unchanged").len()])
}
