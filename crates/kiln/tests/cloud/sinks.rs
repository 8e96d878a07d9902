//! Event sinks: the events of a stack in a queue of its user's.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect};
use serde_json::{Value as Json, json};

/// A client of the queue other than the sender: the service does not show clients their own messages.
const CLIENT: &str = "6b696c6e-0000-4000-8000-000000000002";

/// The messages of a queue, once it has so many.
async fn messages(kiln: &KilnProcess, queue: &str, count: usize) -> Vec<Json> {
    loop {
        let path = format!("/messaging/v2/queues/{queue}/messages?limit={}", count + 1);
        let url = format!("{}{path}", kiln.services());
        let request = kiln.request(Who::Demo, "GET", url).header("Client-ID", CLIENT);
        let reply = request.send().await.expect("an answer");
        let body: Json = reply.json().await.unwrap_or_default();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        if messages.len() >= count {
            return messages;
        }
    }
}

/// The relevant parts of a message.
fn line(message: &Json) -> String {
    let event = &message["body"];
    assert_eq!((&event["type"], &event["version"]), (&json!("os.heat.event"), &json!("0.1")));
    assert_eq!(message["ttl"], 600);
    let part = |name: &str| event["payload"][name].as_str().unwrap_or_default().to_owned();
    let name = part("resource_name");
    // Names of nested stacks end in something random.
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name).to_owned();
    [name, part("resource_type"), part("resource_action"), part("resource_status")].join(" ")
}

const TEMPLATE: &str = "
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: OS::Heat::RandomString, properties: {length: 4}}}
";

#[tokio::test]
async fn every_event_of_a_stack_is_in_the_queue_that_its_user_named() {
    let kiln = KilnProcess::empty(&[]).await;
    let sink = json!({ "type": "zaqar-queue", "target": "mine", "ttl": 600 });
    let environment = json!({ "event_sinks": [sink] });
    let body = json!({ "stack_name": "web", "template": TEMPLATE, "environment": environment });
    let made = kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await;
    expect(made, "create").expect("a stack");
    ended(&kiln, Who::Demo, "web", "CREATE_COMPLETE").await.expect("a stack");
    let created = messages(&kiln, "mine", 8).await;
    let lines: Vec<String> = created.iter().map(line).collect();
    let told = [
        "web OS::Heat::Stack CREATE IN_PROGRESS",
        "group OS::Heat::ResourceGroup CREATE IN_PROGRESS",
        "web-group OS::Heat::Stack CREATE IN_PROGRESS",
        "0 OS::Heat::RandomString CREATE IN_PROGRESS",
        "0 OS::Heat::RandomString CREATE COMPLETE",
        "web-group OS::Heat::Stack CREATE COMPLETE",
        "group OS::Heat::ResourceGroup CREATE COMPLETE",
        "web OS::Heat::Stack CREATE COMPLETE",
    ];
    assert_eq!(lines, told);
    let random = &created[3]["body"]["payload"];
    assert_eq!(random["resource_properties"]["length"], 4);
    let first = &created[0]["body"];
    assert_eq!(first["payload"]["stack_id"], first["payload"]["physical_resource_id"]);
    assert_eq!(first["payload"]["resource_properties"], json!({}));
    // The last one is sent before what the user lent is given back.
    delete(&kiln, Who::Demo, "web").await.expect("deleted");
    let all = messages(&kiln, "mine", 16).await;
    let last = all.last().map(line);
    assert_eq!(last.as_deref(), Some("web OS::Heat::Stack DELETE COMPLETE"));
}
