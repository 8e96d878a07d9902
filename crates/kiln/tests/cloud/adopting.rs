//! Stacks that are abandoned and adopted again, with everything that only the service may know of them.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use serde_json::{Value as Json, json};

const TEMPLATE: &str = "
heat_template_version: 2021-04-16
parameters:
  secret: {type: string, hidden: true}
resources:
  net: {type: OS::Neutron::Net, properties: {name: kept}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.60.0.0/24}}
  port: {type: OS::Neutron::Port, depends_on: subnet, properties: {network: {get_resource: net}}}
  config: {type: OS::Heat::SoftwareConfig, properties: {config: {get_param: secret}, group: script}}
  key: {type: OS::Nova::KeyPair, properties: {name: kept, save_private_key: true}}
  random: {type: OS::Heat::RandomString, properties: {length: 6, character_classes: [{class: digits}]}}
  handle: {type: OS::Heat::WaitConditionHandle}
outputs:
  secret: {value: {get_param: secret}}
  config: {value: {get_attr: [config, config]}}
  private_key: {value: {get_attr: [key, private_key]}}
  random: {value: {get_attr: [random, value]}}
  segments: {value: {get_attr: [net, segments]}}
  port: {value: {get_attr: [port, network, name]}}
";

const SECRET: &str = "c4n4ry-of-adopted-stacks";

async fn outputs(kiln: &KilnProcess, stack: &str) -> Json {
    let path = path(kiln, Who::Demo, stack).await;
    let shown = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    let all = shown["stack"]["outputs"].as_array().expect("outputs").iter();
    let pair = |it: &Json| {
        (it["output_key"].as_str().unwrap_or_default().to_owned(), it["output_value"].clone())
    };
    Json::Object(all.map(pair).collect())
}

async fn ids(kiln: &KilnProcess, stack: &str) -> Json {
    let path = format!("{}/resources", path(kiln, Who::Demo, stack).await);
    let list = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    let all = list["resources"].as_array().expect("resources").iter();
    let named = all.filter(|it| it["resource_name"] != "handle");
    let pair = |it: &Json| {
        let name = it["resource_name"].as_str().unwrap_or_default().to_owned();
        (name, it["physical_resource_id"].clone())
    };
    Json::Object(named.map(pair).collect())
}

/// Creates the stack and abandons it; returns the document, its outputs and the ids of its objects.
async fn abandoned(kiln: &KilnProcess) -> (Json, Json, Json) {
    let parameters = json!({ "secret": SECRET });
    let body = json!({ "stack_name": "kept", "template": TEMPLATE, "parameters": parameters });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(kiln, Who::Demo, "kept", "CREATE_COMPLETE").await.expect("created");
    let (outputs, ids) = (outputs(kiln, "kept").await, ids(kiln, "kept").await);
    let stack = path(kiln, Who::Demo, "kept").await;
    let document = kiln.ask(Who::Demo, "DELETE", &format!("{stack}/abandon"), None).await;
    assert_eq!(document.status, 200, "{}", document.body);
    while kiln.ask(Who::Demo, "GET", "/stacks/kept", None).await.status != 404 {}
    (document.body, outputs, ids)
}

async fn adopt(kiln: &KilnProcess, document: &Json) -> (u16, Json) {
    let body = json!({ "stack_name": "again", "adopt_stack_data": document.to_string() });
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    (reply.status, reply.body)
}

#[tokio::test]
async fn an_adopted_stack_has_the_objects_and_secrets_of_the_abandoned_one() {
    let kiln = KilnProcess::empty(&[]).await;
    let (document, former, ids_before) = abandoned(&kiln).await;
    assert!(!document.to_string().contains(SECRET));
    let key = former["private_key"].as_str().expect("a key");
    assert!(!document.to_string().contains(&key[..40]), "{document}");
    for (name, resource) in document["resources"].as_object().expect("resources") {
        for (entry, value) in resource["resource_data"].as_object().expect("data") {
            assert!(value.is_string(), "Heat stores nothing but text: {name} {entry} {value}");
        }
    }

    let (status, body) = adopt(&kiln, &document).await;
    assert_eq!(status, 201, "{body}");
    ended(&kiln, Who::Demo, "again", "ADOPT_COMPLETE").await.expect("adopted");
    assert_eq!(ids(&kiln, "again").await, ids_before);
    assert_eq!(outputs(&kiln, "again").await, former);
    delete(&kiln, Who::Demo, "again").await.expect("deleted");
    for (resource, url) in [("net", "/network/v2.0/networks"), ("port", "/network/v2.0/ports")] {
        let id = ids_before[resource].as_str().expect("an id");
        let gone = kiln.cloud(Who::Demo, "GET", &format!("{url}/{id}"), None).await;
        assert_eq!(gone.status, 404, "{resource}");
    }
}

/// What is sealed for one object opens nothing of another.
#[tokio::test]
async fn sealed_data_of_a_resource_belong_to_its_object() {
    let kiln = KilnProcess::empty(&[]).await;
    let (document, _, _) = abandoned(&kiln).await;
    for (field, value) in [
        ("resource_id", json!("other")),
        ("type", json!("OS::Heat::RandomString")),
        ("sealed", document["resources"]["config"]["sealed"].clone()),
    ] {
        let mut altered = document.clone();
        altered["resources"]["key"][field] = value;
        let (status, body) = adopt(&kiln, &altered).await;
        assert_eq!(status, 400, "{field}: {body}");
        let message = body["error"]["message"].as_str().expect("a message");
        assert!(message.contains("/sealed cannot be opened"), "{field}: {message}");
    }
    // Without it, the key pair is adopted, and its private key is not known.
    let mut without = document.clone();
    without["resources"]["key"].as_object_mut().expect("a key").remove("sealed");
    let (status, body) = adopt(&kiln, &without).await;
    assert_eq!(status, 201, "{body}");
    ended(&kiln, Who::Demo, "again", "ADOPT_COMPLETE").await.expect("adopted");
    assert_eq!(outputs(&kiln, "again").await["private_key"], "");
    delete(&kiln, Who::Demo, "again").await.expect("deleted");
}

/// What an adoption has made goes when it is rolled back, also inside nested stacks.
#[tokio::test]
async fn a_failed_adoption_leaves_nothing_that_it_made() {
    let kiln = KilnProcess::empty(&[]).await;
    let nested = "
heat_template_version: 2021-04-16
resources:
  inner: {type: OS::Heat::SoftwareConfig, properties: {config: inner}}
";
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "config": { "type": "OS::Heat::SoftwareConfig", "properties": { "config": "outer" } },
            "nested": { "type": "nested.yaml" },
            "net": { "type": "OS::Neutron::Net", "depends_on": ["config", "nested"] },
        },
    });
    let config = json!({ "type": "OS::Heat::SoftwareConfig", "resource_id": "x" });
    let document = json!({
        "name": "again", "action": "CREATE", "status": "COMPLETE", "environment": {},
        "template": template, "files": { "nested.yaml": nested },
        "resources": {
            "config": config,
            "nested": { "type": "nested.yaml", "resource_id": "y", "resources": { "inner": config } },
            "net": { "type": "OS::Neutron::Net" },
        },
    });
    let body = json!({
        "stack_name": "again", "adopt_stack_data": document.to_string(), "disable_rollback": false,
    });
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    ended(&kiln, Who::Demo, "again", "ROLLBACK_COMPLETE").await.expect("rolled back");
    let path = format!("{}/events?nested_depth=2", path(&kiln, Who::Demo, "again").await);
    let events = kiln.ask(Who::Demo, "GET", &path, None).await.body.to_string();
    assert!(events.contains("\"inner\""), "the nested stack was adopted: {events}");
    let left = kiln.ask(Who::Demo, "GET", "/software_configs", None).await.body;
    assert_eq!(left["software_configs"], json!([]));
    delete(&kiln, Who::Demo, "again").await.expect("deleted");
}
