//! What happens behind the stack's back shows: outputs and attributes are those of the objects as they are now.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path, update};
use serde_json::{Value as Json, json};

const WHO: Who = Who::Demo;
const STACK: &str = "live";

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net, properties: {name: blue}}
  volume: {type: OS::Cinder::Volume, properties: {size: 1, name: disk}}
  server:
    type: OS::Nova::Server
    properties: {name: host, flavor: m1.small, image: cirros, networks: [{network: private}], metadata: {a: b}}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: OS::Neutron::Net, properties: {name: inner}}}
  text: {type: OS::Heat::Value, properties: {value: constant}}
outputs:
  net: {value: {get_attr: [net, name]}}
  volume: {value: {get_attr: [volume, display_name]}}
  server: {value: {get_attr: [server, name]}}
  inner: {value: {get_attr: [group, name]}}
  text: {value: {get_attr: [text, value]}}
  id: {value: {get_resource: volume}}
";

async fn outputs(kiln: &KilnProcess) -> Json {
    let shown = kiln.ask(WHO, "GET", &path(kiln, WHO, STACK).await, None).await.body;
    let all = shown["stack"]["outputs"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|it| {
            (it["output_key"].as_str().unwrap_or_default().to_owned(), it["output_value"].clone())
        })
        .collect::<serde_json::Map<String, Json>>()
        .into()
}

async fn resource(kiln: &KilnProcess, name: &str) -> Json {
    let path = format!("{}/resources/{name}", path(kiln, WHO, STACK).await);
    kiln.ask(WHO, "GET", &path, None).await.body["resource"].clone()
}

async fn id_of(kiln: &KilnProcess, name: &str) -> String {
    resource(kiln, name).await["physical_resource_id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn outputs_show_objects_as_they_are() {
    let kiln = KilnProcess::start(&[]).await;
    let body = json!({ "template": TEMPLATE, "timeout_mins": 5 });
    let mut new = body.clone();
    new["stack_name"] = STACK.into();
    expect(kiln.ask(WHO, "POST", "/stacks", Some(new)).await, "create").expect("accepted");
    ended(&kiln, WHO, STACK, "CREATE_COMPLETE").await.expect("made");
    let (net, volume, server) =
        (id_of(&kiln, "net").await, id_of(&kiln, "volume").await, id_of(&kiln, "server").await);
    let before = json!({
        "net": "blue", "volume": "disk", "server": "host", "inner": ["inner"],
        "text": "constant", "id": volume,
    });
    assert_eq!(outputs(&kiln).await, before);

    kiln.meddle("network/networks", &net, json!({ "name": "red" })).await;
    kiln.meddle("volume/volumes", &volume, json!({ "name": "tape" })).await;
    kiln.meddle("compute/servers", &server, json!({ "name": "guest" })).await;
    let shown = outputs(&kiln).await;
    assert_eq!((&shown["net"], &shown["volume"]), (&json!("red"), &json!("tape")));
    assert_eq!(shown["server"], "guest");
    // A service that does not answer: what is stored is shown.
    let fault = json!([{ "method": "GET", "path": "*/volumes/*", "kind": { "status": 403 } }]);
    kiln.set_faults(fault).await;
    let shown = outputs(&kiln).await;
    assert_eq!((&shown["net"], &shown["volume"]), (&json!("red"), &json!("disk")));
    kiln.set_faults(json!([])).await;

    // Lists of stacks do not call the cloud, nor do outputs that need nothing of it.
    kiln.cloud(Who::Admin, "DELETE", "/sim/calls", None).await;
    kiln.ask(WHO, "GET", "/stacks", None).await;
    let stack = kiln.ask(WHO, "GET", "/stacks?limit=1", None).await.body["stacks"][0].clone();
    let text = format!("/stacks/{STACK}/{}/outputs/text", stack["id"].as_str().expect("an id"));
    let shown = kiln.ask(WHO, "GET", &text, None).await.body;
    assert_eq!(shown["output"]["output_value"], "constant", "{shown}");
    let calls = kiln.cloud(Who::Admin, "GET", "/sim/calls", None).await.body;
    let calls = calls["calls"].as_array().cloned().unwrap_or_default();
    let is_read = |call: &Json| {
        call.to_string().contains("/volumes/") || call.to_string().contains("/servers/")
    };
    assert!(!calls.iter().any(is_read), "{calls:?}");

    kiln.meddle("network/networks", &net, Json::Null).await;
    kiln.meddle("volume/volumes", &volume, Json::Null).await;
    let shown = outputs(&kiln).await;
    assert_eq!((&shown["net"], &shown["volume"]), (&Json::Null, &Json::Null));
    assert_eq!(shown["id"], volume.as_str());
    for name in ["net", "volume"] {
        let shown = resource(&kiln, name).await;
        let attributes = shown["attributes"].as_object().cloned().unwrap_or_default();
        assert!(!attributes.is_empty() && attributes.values().all(Json::is_null), "{shown}");
    }
    delete(&kiln, WHO, STACK).await.expect("gone");
}

#[tokio::test]
async fn a_server_that_was_changed_behind_our_back_is_corrected_on_request() {
    let kiln = KilnProcess::start(&[]).await;
    let body = json!({ "template": TEMPLATE, "timeout_mins": 5, "converge": true });
    let new = json!({ "template": TEMPLATE, "timeout_mins": 5, "stack_name": STACK });
    expect(kiln.ask(WHO, "POST", "/stacks", Some(new)).await, "create").expect("accepted");
    ended(&kiln, WHO, STACK, "CREATE_COMPLETE").await.expect("made");
    let server = id_of(&kiln, "server").await;
    let path = format!("/compute/v2.1/servers/{server}");
    let changed = json!({ "server": { "name": "guest" } });
    assert_eq!(kiln.cloud(WHO, "PUT", &path, Some(changed)).await.status, 200);
    let metadata = json!({ "metadata": { "c": "d" } });
    let reply = kiln.cloud(WHO, "PUT", &format!("{path}/metadata"), Some(metadata)).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let ports = kiln.cloud(WHO, "GET", &format!("{path}/os-interface"), None).await.body;
    let port = ports["interfaceAttachments"][0]["port_id"].as_str().expect("a port").to_owned();
    let reply = kiln.cloud(WHO, "DELETE", &format!("{path}/os-interface/{port}"), None).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    update(&kiln, WHO, STACK, &body).await.expect("corrected");
    assert_eq!(id_of(&kiln, "server").await, server);
    let shown = kiln.cloud(WHO, "GET", &path, None).await.body["server"].clone();
    assert_eq!(shown["name"], "host");
    assert_eq!(shown["metadata"], json!({ "a": "b" }));
    let ports = kiln.cloud(WHO, "GET", &format!("{path}/os-interface"), None).await.body;
    assert_eq!(ports["interfaceAttachments"].as_array().map(Vec::len), Some(1), "{ports}");
    // Nothing is left to do.
    let changes = kiln.changes().await;
    update(&kiln, WHO, STACK, &body).await.expect("nothing to do");
    assert_eq!(kiln.changes().await, changes);
    delete(&kiln, WHO, STACK).await.expect("gone");
}
