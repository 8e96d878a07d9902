//! Somebody inside the servers: when a stack waits for word from one, it is given, as a guest's agent would.

use super::signals::login;
use super::world::{Who, World};
use serde_json::{Value as Json, json};

/// How often somebody looks whether there is something to be done.
const LOOKS: usize = 1_000;

/// Something is said again after so many looks.
const NOW_AND_THEN: usize = 20;

/// Hears of an event, and does what the stack waits for.
pub(crate) async fn hear(world: &World, who: Who, event: &Json) {
    let status = event["resource_status"].as_str().unwrap_or_default();
    if !status.ends_with("_IN_PROGRESS") {
        return;
    }
    match event["resource_type"].as_str().unwrap_or_default() {
        "AWS::CloudFormation::WaitCondition" | "OS::Heat::WaitCondition" => {
            are_ready(world, who, event).await;
        }
        "OS::Heat::SoftwareDeployment" | "OS::Heat::StructuredDeployment" => {
            is_deployed(world, who, event).await;
        }
        "OS::Heat::SwiftSignal" => are_ready(world, who, event).await,
        _ => {}
    }
}

/// Tells every handle of the stacks around it that a server is ready, as often as it is waited for.
async fn are_ready(world: &World, who: Who, event: &Json) {
    if !is_under_way(&resource(world, who, event).await) {
        return;
    }
    let shown = world.send(who, "GET", link(event, "self"), None).await.body;
    let properties = &shown["event"]["resource_properties"];
    let count = ["count", "Count"].iter().find_map(|name| number(&properties[*name])).unwrap_or(1);
    let list = format!("{}/resources?nested_depth=9", link(event, "root_stack"));
    let all = world.send(who, "GET", list, None).await.body;
    for handle in all["resources"].as_array().into_iter().flatten() {
        for number in 1..=count {
            tell(world, who, handle, number).await;
        }
    }
}

async fn tell(world: &World, who: Who, handle: &Json, number: u64) {
    let id = number.to_string();
    if handle["resource_type"] == "OS::Heat::SwiftSignalHandle" {
        let shown = world.send(who, "GET", link(handle, "self"), None).await.body;
        if let Some(url) = shown["resource"]["attributes"]["endpoint"].as_str() {
            let letter = json!({ "id": id, "data": "up" });
            let left = world.client().put(url).body(letter.to_string()).send().await;
            assert_eq!(left.expect("an answer").status().as_u16(), 201, "{url}");
        }
        return;
    }
    let said = match handle["resource_type"].as_str().unwrap_or_default() {
        "OS::Heat::WaitConditionHandle" => {
            json!({ "status": "SUCCESS", "reason": "ready", "data": "up", "id": id })
        }
        "AWS::CloudFormation::WaitConditionHandle" | "OS::Heat::UpdateWaitConditionHandle" => {
            json!({ "Status": "SUCCESS", "Reason": "ready", "Data": "up", "UniqueId": id })
        }
        _ => return,
    };
    match queue(world, who, handle).await {
        Some(known) => leave(world, &known, &said).await,
        None => signal(world, who, &link(handle, "self"), said).await,
    }
}

/// What a handle tells its guest, if it wants to be told by way of a queue.
async fn queue(world: &World, who: Who, handle: &Json) -> Option<Json> {
    let shown = world.send(who, "GET", link(handle, "self"), None).await.body;
    let told = shown["resource"]["attributes"]["signal"].as_str()?;
    let known: Json = serde_json::from_str(told).ok()?;
    known["queue_id"].is_string().then_some(known)
}

/// Leaves a letter in the queue that a guest was told of.
pub(crate) async fn leave(world: &World, known: &Json, letter: &Json) {
    let token = login(world, known).await;
    let queue = known["queue_id"].as_str().expect("a queue");
    let url = format!("{}/messaging/v2/queues/{queue}/messages", world.services());
    let body = json!({ "messages": [{ "body": letter, "ttl": 60 }] });
    let request = world.client().post(&url).header("X-Auth-Token", &token).json(&body);
    let id = "6b696c6e-0000-4000-8000-000000000001";
    let sent = request.header("Client-ID", id).send().await.expect("an answer");
    assert_eq!(sent.status().as_u16(), 201);
}

/// Tells a deployment that it went well, now and then until it has heard: one that is not there yet hears nothing.
async fn is_deployed(world: &World, who: Who, event: &Json) {
    for look in 0..LOOKS {
        let resource = resource(world, who, event).await;
        if !is_under_way(&resource) {
            return;
        }
        if look % NOW_AND_THEN == 0 {
            let said = json!({ "deploy_status_code": 0, "deploy_stdout": "", "deploy_stderr": "" });
            match queue_of_deployment(world, who, &resource).await {
                Some(known) => leave(world, &known, &said).await,
                None => signal(world, who, &link(event, "resource"), said).await,
            }
        }
    }
}

/// What the configuration of a deployment tells the server, if it wants to be told by way of a queue.
async fn queue_of_deployment(world: &World, who: Who, resource: &Json) -> Option<Json> {
    let deployment = resource["physical_resource_id"].as_str().filter(|id| !id.is_empty())?;
    let path = format!("/software_deployments/{deployment}");
    let config = world.ask(who, "GET", &path, None).await.body;
    let config = config["software_deployment"]["config_id"].as_str()?.to_owned();
    let config = world.ask(who, "GET", &format!("/software_configs/{config}"), None).await.body;
    let inputs = config["software_config"]["inputs"].as_array()?;
    let told = |input: &Json| {
        let name = input["name"].as_str()?.strip_prefix("deploy_")?;
        Some((name.to_owned(), input["value"].clone()))
    };
    let known: Json = Json::Object(inputs.iter().filter_map(told).collect());
    known["queue_id"].is_string().then_some(known)
}

async fn signal(world: &World, who: Who, resource: &str, said: Json) {
    let reply = world.send(who, "POST", format!("{resource}/signal"), Some(said)).await;
    // What is being deleted may be gone by now.
    let is_heard = reply.status < 300 || reply.status == 404;
    assert!(is_heard, "{resource} cannot be signalled: {}", reply.body);
}

/// The resource of an event, as it is now.
async fn resource(world: &World, who: Who, event: &Json) -> Json {
    let reply = world.send(who, "GET", link(event, "resource"), None).await;
    reply.body["resource"].clone()
}

fn is_under_way(resource: &Json) -> bool {
    resource["resource_status"].as_str().is_some_and(|status| status.ends_with("_IN_PROGRESS"))
}

fn link(of: &Json, what: &str) -> String {
    let mut links = of["links"].as_array().into_iter().flatten();
    let found = links.find(|link| link["rel"] == what);
    found.and_then(|link| link["href"].as_str()).unwrap_or_default().to_owned()
}

/// A number, which templates also write as a text.
fn number(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
