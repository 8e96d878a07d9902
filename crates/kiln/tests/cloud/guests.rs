//! Guests inside the servers: when a stack waits for a signal of one, the signal is sent as a guest's agent would.

use super::kiln_process::{KilnProcess, Who};
use super::signals::login;
use serde_json::{Value as Json, json};

/// How often a guest polls for work.
const LOOKS: usize = 1_000;

/// A signal is repeated after so many polls.
const NOW_AND_THEN: usize = 20;

/// Hears of an event, and does what the stack waits for.
pub(crate) async fn hear(kiln: &KilnProcess, who: Who, event: &Json) {
    let status = event["resource_status"].as_str().unwrap_or_default();
    if !status.ends_with("_IN_PROGRESS") {
        return;
    }
    match event["resource_type"].as_str().unwrap_or_default() {
        "AWS::CloudFormation::WaitCondition" | "OS::Heat::WaitCondition" => {
            are_ready(kiln, who, event).await;
        }
        "OS::Heat::SoftwareDeployment" | "OS::Heat::StructuredDeployment" => {
            is_deployed(kiln, who, event).await;
        }
        "OS::Heat::SwiftSignal" => are_ready(kiln, who, event).await,
        _ => {}
    }
}

/// Tells every handle of the stacks around it that a server is ready, as often as it is waited for.
async fn are_ready(kiln: &KilnProcess, who: Who, event: &Json) {
    if !is_under_way(&resource(kiln, who, event).await) {
        return;
    }
    let shown = kiln.send(who, "GET", link(event, "self"), None).await.body;
    let properties = &shown["event"]["resource_properties"];
    let count = ["count", "Count"].iter().find_map(|name| number(&properties[*name])).unwrap_or(1);
    let list = format!("{}/resources?nested_depth=9", link(event, "root_stack"));
    let all = kiln.send(who, "GET", list, None).await.body;
    for handle in all["resources"].as_array().into_iter().flatten() {
        for number in 1..=count {
            tell(kiln, who, handle, number).await;
        }
    }
}

async fn tell(kiln: &KilnProcess, who: Who, handle: &Json, number: u64) {
    let id = number.to_string();
    if handle["resource_type"] == "OS::Heat::SwiftSignalHandle" {
        let shown = kiln.send(who, "GET", link(handle, "self"), None).await.body;
        if let Some(url) = shown["resource"]["attributes"]["endpoint"].as_str() {
            let letter = json!({ "id": id, "data": "up" });
            let left = kiln.client().put(url).body(letter.to_string()).send().await;
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
    match queue(kiln, who, handle).await {
        Some(known) => leave(kiln, &known, &said).await,
        None => signal(kiln, who, &link(handle, "self"), said).await,
    }
}

/// The queue of a handle, if its guest signals by way of a queue.
async fn queue(kiln: &KilnProcess, who: Who, handle: &Json) -> Option<Json> {
    let shown = kiln.send(who, "GET", link(handle, "self"), None).await.body;
    let told = shown["resource"]["attributes"]["signal"].as_str()?;
    let known: Json = serde_json::from_str(told).ok()?;
    known["queue_id"].is_string().then_some(known)
}

/// Leaves a letter in the queue that a guest was told of.
pub(crate) async fn leave(kiln: &KilnProcess, known: &Json, letter: &Json) {
    let token = login(kiln, known).await;
    let queue = known["queue_id"].as_str().expect("a queue");
    let url = format!("{}/messaging/v2/queues/{queue}/messages", kiln.services());
    let body = json!({ "messages": [{ "body": letter, "ttl": 60 }] });
    let request = kiln.client().post(&url).header("X-Auth-Token", &token).json(&body);
    let id = "6b696c6e-0000-4000-8000-000000000001";
    let sent = request.header("Client-ID", id).send().await.expect("an answer");
    assert_eq!(sent.status().as_u16(), 201);
}

/// Tells a deployment that it went well, now and then until it has heard: one that is not there yet hears nothing.
async fn is_deployed(kiln: &KilnProcess, who: Who, event: &Json) {
    for look in 0..LOOKS {
        let resource = resource(kiln, who, event).await;
        if !is_under_way(&resource) {
            return;
        }
        if look % NOW_AND_THEN == 0 {
            let said = json!({ "deploy_status_code": 0, "deploy_stdout": "", "deploy_stderr": "" });
            match queue_of_deployment(kiln, who, &resource).await {
                Some(known) => leave(kiln, &known, &said).await,
                None => signal(kiln, who, &link(event, "resource"), said).await,
            }
        }
    }
}

/// The queue of a deployment, if its server signals by way of a queue.
async fn queue_of_deployment(kiln: &KilnProcess, who: Who, resource: &Json) -> Option<Json> {
    let deployment = resource["physical_resource_id"].as_str().filter(|id| !id.is_empty())?;
    let path = format!("/software_deployments/{deployment}");
    let config = kiln.ask(who, "GET", &path, None).await.body;
    let config = config["software_deployment"]["config_id"].as_str()?.to_owned();
    let config = kiln.ask(who, "GET", &format!("/software_configs/{config}"), None).await.body;
    let inputs = config["software_config"]["inputs"].as_array()?;
    let told = |input: &Json| {
        let name = input["name"].as_str()?.strip_prefix("deploy_")?;
        Some((name.to_owned(), input["value"].clone()))
    };
    let known: Json = Json::Object(inputs.iter().filter_map(told).collect());
    known["queue_id"].is_string().then_some(known)
}

async fn signal(kiln: &KilnProcess, who: Who, resource: &str, said: Json) {
    let reply = kiln.send(who, "POST", format!("{resource}/signal"), Some(said)).await;
    // A resource that is being deleted may be gone by now.
    let is_heard = reply.status < 300 || reply.status == 404;
    assert!(is_heard, "{resource} cannot be signalled: {}", reply.body);
}

/// The resource of an event, as it is now.
async fn resource(kiln: &KilnProcess, who: Who, event: &Json) -> Json {
    let reply = kiln.send(who, "GET", link(event, "resource"), None).await;
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
