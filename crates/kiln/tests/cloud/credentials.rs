//! Credentials that stacks make for their servers: no document hands in those of others, and readers do not see them.

use super::kiln_process::{KilnProcess, Reply, Who};
use super::life::{delete, ended, expect, path, update};
use super::users::User;
use serde_json::{Value as Json, json};

const USER: &str = "{heat_template_version: 2021-04-16, resources: {u: {type: AWS::IAM::User}}}";

const USER_WITH_KEY: &str = "
heat_template_version: 2021-04-16
resources:
  u: {type: AWS::IAM::User}
  k: {type: AWS::IAM::AccessKey, properties: {UserName: {get_resource: u}}}
";

async fn create(kiln: &KilnProcess, who: Who, name: &str, template: &str) {
    let body = json!({ "stack_name": name, "template": template });
    expect(kiln.ask(who, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(kiln, who, name, "CREATE_COMPLETE").await.expect("created");
}

/// Adopts a stack of one resource, and waits for it.
async fn adopt(kiln: &KilnProcess, name: &str, (resource, data): (&str, Json)) {
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": { resource: { "type": data["type"] } },
    });
    let document = json!({
        "name": name,
        "action": "CREATE",
        "status": "COMPLETE",
        "environment": {},
        "template": template,
        "resources": { resource: data },
    });
    let body = json!({ "stack_name": name, "adopt_stack_data": document.to_string() });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "adopt").expect("a stack");
    ended(kiln, Who::Demo, name, "ADOPT_COMPLETE").await.expect("adopted");
}

async fn physical_id(kiln: &KilnProcess, who: Who, stack: &str, resource: &str) -> String {
    let url = format!("{}/resources/{resource}", path(kiln, who, stack).await);
    let shown = kiln.ask(who, "GET", &url, None).await.body;
    shown["resource"]["physical_resource_id"].as_str().expect("an id").to_owned()
}

async fn suspend(kiln: &KilnProcess, stack: &str) {
    let actions = format!("{}/actions", path(kiln, Who::Demo, stack).await);
    let asked = kiln.ask(Who::Demo, "POST", &actions, Some(json!({ "suspend": null }))).await;
    expect(asked, "suspend").expect("accepted");
    ended(kiln, Who::Demo, stack, "SUSPEND_COMPLETE").await.expect("suspended");
}

/// Adopted data name the user of another project's stack, or a path to it.
pub(crate) async fn adopted_data_reach_no_users(kiln: &KilnProcess) {
    create(kiln, Who::Admin, "victim", USER).await;
    let user = physical_id(kiln, Who::Admin, "victim", "u").await;
    let shown = kiln.identity(Who::Admin, "GET", &format!("/users/{user}"), None).await.body;
    let project = shown["user"]["default_project_id"].as_str().expect("a project").to_owned();

    let foreign_ids = [user.clone(), format!("../projects/{project}")];
    for (number, id) in foreign_ids.into_iter().enumerate() {
        let name = format!("mallory{number}");
        let data = json!({
            "user_id": id, "user_project": project, "password": "x", "credential_id": "../users",
            "trust_id": "t",
        });
        let resource =
            json!({ "type": "AWS::IAM::User", "resource_id": id, "resource_data": data });
        adopt(kiln, &name, ("u", resource)).await;
        let own = physical_id(kiln, Who::Demo, &name, "u").await;
        assert!(own != id && own != user, "the user is made anew");
        update(kiln, Who::Demo, &name, &json!({ "template": USER_WITH_KEY })).await.expect("a key");
        let keys = kiln.identity(Who::Admin, "GET", "/credentials", None).await.body;
        let keys = keys["credentials"].as_array().expect("keys");
        assert!(keys.iter().any(|key| key["user_id"] == *own), "{keys:?}");
        assert!(!keys.iter().any(|key| key["user_id"] == *user), "{keys:?}");
        suspend(kiln, &name).await;
        let shown = kiln.identity(Who::Admin, "GET", &format!("/users/{own}"), None).await;
        assert_eq!(shown.body["user"]["enabled"], false);
        delete(kiln, Who::Demo, &name).await.expect("deleted");
        let gone = kiln.identity(Who::Admin, "GET", &format!("/users/{own}"), None).await;
        assert_eq!(gone.status, 404, "what the adoption made goes with the stack");
        let shown = kiln.identity(Who::Admin, "GET", &format!("/users/{user}"), None).await;
        assert_eq!(shown.body["user"]["enabled"], true, "{}", shown.body);
        let shown = kiln.identity(Who::Admin, "GET", &format!("/projects/{project}"), None).await;
        assert_eq!(shown.status, 200);
    }
    // An external id is never changed.
    let external = USER.replace("AWS::IAM::User", &format!("AWS::IAM::User, external_id: {user}"));
    create(kiln, Who::Demo, "external", &external).await;
    suspend(kiln, "external").await;
    delete(kiln, Who::Demo, "external").await.expect("deleted");
    let shown = kiln.identity(Who::Admin, "GET", &format!("/users/{user}"), None).await;
    assert_eq!(shown.body["user"]["enabled"], true, "{}", shown.body);
}

/// Adopted data have a path in place of an id.
pub(crate) async fn a_physical_id_is_no_path(kiln: &KilnProcess) {
    const NET: &str =
        "{heat_template_version: 2021-04-16, resources: {n: {type: OS::Neutron::Net}}}";
    create(kiln, Who::Demo, "other", NET).await;
    let network = physical_id(kiln, Who::Demo, "other", "n").await;
    let id = format!("../networks/{network}");
    let resource = json!({ "type": "OS::Neutron::Net", "resource_id": id, "resource_data": {} });
    adopt(kiln, "paths", ("n", resource)).await;
    let stack = path(kiln, Who::Demo, "paths").await;
    expect(kiln.ask(Who::Demo, "DELETE", &stack, None).await, "delete").expect("accepted");
    let (status, reason) = kiln.rest(Who::Demo, "paths").await.expect("the stack is there");
    assert_eq!(status, "DELETE_FAILED");
    assert!(reason.contains(&format!("{id:?} cannot be the id of an object")), "{reason}");
    assert_eq!(physical_id(kiln, Who::Demo, "other", "n").await, network);
    let url = format!("/network/v2.0/networks/{network}");
    assert_eq!(kiln.cloud(Who::Demo, "GET", &url, None).await.status, 200);
    // The same object with its own id is adopted and deleted.
    let resource =
        json!({ "type": "OS::Neutron::Net", "resource_id": network, "resource_data": {} });
    adopt(kiln, "plain", ("n", resource)).await;
    delete(kiln, Who::Demo, "plain").await.expect("deleted");
    assert_eq!(kiln.cloud(Who::Demo, "GET", &url, None).await.status, 404);
}

const CREDENTIALS: &str = "
heat_template_version: 2021-04-16
resources:
  cfn: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_CFN}}
  heat: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
  object: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_TEMP_URL}}
  queue: {type: OS::Heat::DeployedServer, properties: {software_config_transport: ZAQAR_MESSAGE}}
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 2, resource: {type: OS::Heat::RandomString}}
  policy:
    type: OS::Heat::ScalingPolicy
    properties:
      {adjustment_type: change_in_capacity, scaling_adjustment: 1, auto_scaling_group_id: {get_resource: group}}
  handle: {type: OS::Heat::WaitConditionHandle}
  signed: {type: AWS::CloudFormation::WaitConditionHandle}
  swift: {type: OS::Heat::SwiftSignalHandle}
  told: {type: OS::Heat::Value, properties: {value: {get_attr: [policy, alarm_url]}}}
outputs:
  alarm: {value: {get_attr: [policy, alarm_url]}}
  signed: {value: {get_resource: signed}}
  curl: {value: {get_attr: [handle, curl_cli]}}
  agent: {value: {get_attr: [heat, os_collect_config]}}
";

/// The texts in a value whose members have one of these names, and the part of URLs that is a signature.
fn secrets(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            for (name, value) in members {
                match value {
                    Json::String(text)
                        if matches!(name.as_str(), "password" | "secret_access_key" | "token") =>
                    {
                        found.push(text.clone());
                    }
                    value => secrets(value, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| secrets(item, found)),
        Json::String(text) => {
            for mark in ["Signature=", "temp_url_sig="] {
                let behind = text.split_once(mark).map(|(_, behind)| behind);
                found.extend(behind.and_then(|it| it.split(['&', '\'']).next()).map(str::to_owned));
            }
        }
        _ => {}
    }
}

/// A user with the role reader looks everywhere for passwords, keys and signatures.
pub(crate) async fn a_reader_sees_no_credentials(kiln: &KilnProcess) {
    create(kiln, Who::Demo, "all", CREDENTIALS).await;
    let stack = path(kiln, Who::Demo, "all").await;
    let list = kiln.ask(Who::Demo, "GET", &format!("{stack}/resources"), None).await.body;
    let names = list["resources"].as_array().expect("resources").iter();
    let names: Vec<String> =
        names.map(|it| it["resource_name"].as_str().unwrap_or_default().to_owned()).collect();
    let mut paths = vec![
        stack.clone(),
        format!("{stack}/resources?with_detail=true&nested_depth=3"),
        format!("{stack}/events?nested_depth=3"),
        format!("{stack}/template"),
        format!("{stack}/environment"),
        format!("{stack}/files"),
        "/software_configs".into(),
        "/software_deployments".into(),
    ];
    for name in &names {
        paths.push(format!("{stack}/resources/{name}"));
        paths.push(format!("{stack}/resources/{name}?with_attr=os_collect_config"));
        paths.push(format!("{stack}/resources/{name}/metadata"));
        paths.push(format!("{stack}/resources/{name}/events"));
    }
    let outputs = ["alarm", "signed", "curl", "agent"];
    paths.extend(outputs.map(|name| format!("{stack}/outputs/{name}")));

    // The owner sees all of them.
    let mut known = Vec::new();
    for path in &paths {
        secrets(&kiln.ask(Who::Demo, "GET", path, None).await.body, &mut known);
    }
    known.sort();
    known.dedup();
    known.retain(|secret| !secret.is_empty() && secret != "******");
    assert!(known.len() >= 7, "{known:?}");

    let reader = User::with(kiln, "rita", "reader", kiln.project(Who::Demo)).await;
    for path in &paths {
        let Reply { status, body } = reader.ask(kiln, "GET", path, None).await;
        let text = body.to_string();
        assert!(matches!(status, 200 | 403), "{path}: {status} {text}");
        let seen: Vec<&String> = known.iter().filter(|it| text.contains(it.as_str())).collect();
        assert!(seen.is_empty(), "{path} shows {seen:?}: {text}");
    }

    // An export has none, not even for the owner.
    let export = kiln.ask(Who::Demo, "GET", &format!("{stack}/export"), None).await;
    assert_eq!(export.status, 200, "{}", export.body);
    let text = export.body.to_string();
    let seen: Vec<&String> = known.iter().filter(|it| text.contains(it.as_str())).collect();
    assert!(seen.is_empty(), "{seen:?}: {text}");
    delete(kiln, Who::Demo, "all").await.expect("deleted");
}
