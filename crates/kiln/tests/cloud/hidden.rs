//! A hidden parameter in names, in properties that services refuse and repeat, and in the inputs of deployments: no
//! response, event, log line or file of the database shows it.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, expect};
use crate::attacks::Target;
use serde_json::{Value as Json, json};

/// The hidden value. It is no part of any other text.
const CANARY: &str = "hunter2SECRETzz";

/// A stack whose objects have hidden names, which some services use as ids.
const NAMES: &str = "
heat_template_version: 2021-04-16
parameters: {p: {type: string, hidden: true}}
resources:
  container: {type: OS::Swift::Container, properties: {name: {get_param: p}}}
  queue: {type: OS::Zaqar::Queue, properties: {name: {get_param: p}}}
  key: {type: OS::Nova::KeyPair, properties: {name: {get_param: p}}}
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def:
        type: OS::Swift::Container
        properties: {name: {list_join: ['-', [member, {get_param: p}]]}}
  value: {type: OS::Heat::Value, properties: {value: {get_attr: [group, refs]}}}
  config:
    type: OS::Heat::SoftwareConfig
    properties: {config: 'true', inputs: [{name: password}, {name: shown, default: default}]}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.tiny
      networks: [{network: private}]
      key_name: {get_resource: key}
      user_data_format: SOFTWARE_CONFIG
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: NO_SIGNAL
      input_values: {password: {get_param: p}, shown: plainly}
";

/// Properties with a value that the service refuses and repeats in its error.
const REFUSED: [(&str, &str); 2] = [
    ("OS::Nova::KeyPair", "{name: {get_param: p}}"),
    ("OS::Cinder::Volume", "{size: 1, availability_zone: {get_param: p}}"),
];

async fn create(kiln: &KilnProcess, name: &str, template: &str) -> (String, String) {
    let sink = json!({ "type": "zaqar-queue", "target": "sink", "ttl": 600 });
    let body = json!({
        "stack_name": name,
        "template": template,
        "parameters": { "p": CANARY },
        "environment": { "event_sinks": [sink] },
    });
    let reply = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    let created = expect(reply, "create").expect("a stack");
    let id = created["stack"]["id"].as_str().expect("an id").to_owned();
    let (status, _) = kiln.rest(Who::Demo, name).await.expect("it is there");
    (format!("/stacks/{name}/{id}"), status)
}

async fn read(kiln: &KilnProcess, path: &str) -> Json {
    let reply = kiln.ask(Who::Demo, "GET", path, None).await;
    assert!(reply.status < 300, "{path}: {}", reply.body);
    assert!(!reply.body.to_string().contains(CANARY), "{path}: {}", reply.body);
    reply.body
}

/// Reads everything that can be read of a stack.
async fn search(kiln: &KilnProcess, stack: &str) {
    for part in ["", "/template", "/environment", "/files", "/outputs", "/export", "/snapshots"] {
        read(kiln, &format!("{stack}{part}")).await;
    }
    read(kiln, "/stacks").await;
    read(kiln, &format!("{stack}/events?nested_depth=3")).await;
    let all = read(kiln, &format!("{stack}/resources?nested_depth=3&with_detail=True")).await;
    for resource in all["resources"].as_array().expect("a list") {
        let name = resource["resource_name"].as_str().expect("a name");
        let links = resource["links"].as_array().expect("links");
        let own = links.iter().find(|it| it["rel"] == "self").expect("a link");
        let url = own["href"].as_str().expect("a URL");
        let path = url.split_once("/stacks/").expect("a path of a stack").1;
        let shown = read(kiln, &format!("/stacks/{path}")).await;
        assert_eq!(shown["resource"]["resource_name"], name);
        let events = read(kiln, &format!("/stacks/{path}/events")).await;
        for event in events["events"].as_array().expect("a list") {
            let id = event["id"].as_str().expect("an id");
            read(kiln, &format!("/stacks/{path}/events/{id}")).await;
        }
    }
}

/// A reader of every response, of the log and of the database looks for a hidden value.
pub(crate) async fn a_hidden_value_is_shown_nowhere(target: &Target) {
    let kiln = &target.kiln;
    let (names, status) = create(kiln, "names", NAMES).await;
    let reason = read(kiln, &names).await["stack"]["stack_status_reason"].clone();
    assert_eq!(status, "CREATE_COMPLETE", "{reason}");
    search(kiln, &names).await;
    let container = read(kiln, &format!("{names}/resources/container")).await;
    assert_eq!(container["resource"]["physical_resource_id"], "******");
    // Inputs that the template hides are shown as stars, and the others as they are.
    let deployments = read(kiln, "/software_deployments").await;
    let inputs = &deployments["software_deployments"][0]["input_values"];
    assert_eq!(inputs, &json!({ "password": "******", "shown": "plainly" }));
    let id = deployments["software_deployments"][0]["id"].as_str().expect("an id");
    read(kiln, &format!("/software_deployments/{id}")).await;
    let configs = read(kiln, "/software_configs").await;
    for config in configs["software_configs"].as_array().expect("a list") {
        let id = config["id"].as_str().expect("an id");
        read(kiln, &format!("/software_configs/{id}")).await;
    }
    // The server that applies it gets the value.
    let server = deployments["software_deployments"][0]["server_id"].as_str().expect("an id");
    let path = format!("/software_deployments/metadata/{server}");
    let metadata = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    assert!(metadata.to_string().contains(CANARY), "{metadata}");

    for (number, (type_name, properties)) in REFUSED.into_iter().enumerate() {
        let template = format!(
            "heat_template_version: 2021-04-16\n\
             parameters: {{p: {{type: string, hidden: true}}}}\n\
             resources: {{r: {{type: '{type_name}', properties: {properties}}}}}\n"
        );
        let (stack, status) = create(kiln, &format!("refused-{number}"), &template).await;
        assert_eq!(status, "CREATE_FAILED", "{type_name}");
        let reason = read(kiln, &stack).await["stack"]["stack_status_reason"].to_string();
        assert!(reason.contains("******"), "{type_name}: {reason}");
        search(kiln, &stack).await;
        delete(kiln, Who::Demo, &format!("refused-{number}")).await.expect("it is deleted");
    }
    target.search(CANARY, "refused-1");
    // What is hidden is still known: the objects are found and removed.
    delete(kiln, Who::Demo, "names").await.expect("it is deleted");
    let left = kiln.objects().await;
    let left: Vec<&String> = left.values().flatten().filter(|id| id.contains(CANARY)).collect();
    assert!(left.is_empty(), "{left:?}");
    let url = format!("{}/messaging/v2/queues/sink/messages?limit=20", kiln.services());
    let sent =
        kiln.request(Who::Demo, "GET", url).header("Client-ID", uuid::Uuid::nil().to_string());
    let sent = sent.send().await.expect("an answer").text().await.expect("a text");
    assert!(!sent.contains(CANARY), "{sent}");
    target.search(CANARY, "refused-1");
}
