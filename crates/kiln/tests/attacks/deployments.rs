//! Deployments of one project on the servers of another, over every transport to a server.

use super::signatures::{Key, Version, now};
use crate::cloud::kiln_process::{KilnProcess, Who};
use crate::cloud::life::{delete, ended, path, update};
use crate::cloud::signals::{ask, create, login, output};
use crate::cloud::users::User;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// How long a server polls for a new configuration.
const PATIENCE: Duration = Duration::from_secs(60);

/// The script of the attacker.
const FORGED: &str = "echo forged";

/// A server for each transport, each with a deployment.
const VICTIM: &str = "
heat_template_version: 2021-04-16
resources:
  script: {type: OS::Heat::SoftwareConfig, properties: {group: script, config: echo first}}
  heat: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
  cfn: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_CFN}}
  object: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_TEMP_URL}}
  queue: {type: OS::Heat::DeployedServer, properties: {software_config_transport: ZAQAR_MESSAGE}}
  on_heat: {type: OS::Heat::SoftwareDeployment, properties: {config: {get_resource: script}, server: {get_resource: heat}, signal_transport: NO_SIGNAL}}
  on_cfn: {type: OS::Heat::SoftwareDeployment, properties: {config: {get_resource: script}, server: {get_resource: cfn}, signal_transport: NO_SIGNAL}}
  on_object: {type: OS::Heat::SoftwareDeployment, properties: {config: {get_resource: script}, server: {get_resource: object}, signal_transport: NO_SIGNAL}}
  on_queue: {type: OS::Heat::SoftwareDeployment, properties: {config: {get_resource: script}, server: {get_resource: queue}, signal_transport: NO_SIGNAL}}
outputs:
  heat: {value: {get_attr: [heat, os_collect_config]}}
  cfn: {value: {get_attr: [cfn, os_collect_config]}}
  object: {value: {get_attr: [object, os_collect_config]}}
  queue: {value: {get_attr: [queue, os_collect_config]}}
";

const SERVERS: [&str; 4] = ["heat", "cfn", "object", "queue"];

/// A configuration and a deployment of it by an attacker; the status of the second request, and its body.
async fn deploy(kiln: &KilnProcess, user: &User, server: &str, more: Json) -> (u16, Json) {
    let config = json!({ "name": "forged", "group": "script", "config": FORGED });
    let made = user.ask(kiln, "POST", "/software_configs", Some(config)).await.body;
    let mut body = json!({
        "server_id": server, "config_id": made["software_config"]["id"],
        "action": "CREATE", "status": "IN_PROGRESS",
    });
    let more = more.as_object().expect("fields").clone();
    body.as_object_mut().expect("fields").extend(more);
    let reply = user.ask(kiln, "POST", "/software_deployments", Some(body)).await;
    (reply.status, reply.body)
}

/// What a server reads, with the credentials that it has.
async fn read(kiln: &KilnProcess, stack: &str, server: &str, known: &Json) -> String {
    let text = |value: &Json| value.as_str().expect("a text").to_owned();
    match server {
        "heat" => {
            let known = &known["heat"];
            let token = login(kiln, known).await;
            let project = text(&known["project_id"]);
            let url = format!("{}/{project}{stack}/resources/heat/metadata", kiln.orchestration());
            ask(kiln, &token, "GET", &url, None).await.1.to_string()
        }
        "cfn" => {
            let known = &known["cfn"];
            let key = Key {
                access: text(&known["access_key_id"]),
                secret: text(&known["secret_access_key"]),
            };
            let parameters = [
                ("Action", "DescribeStackResource"),
                ("StackName", &text(&known["stack_name"])),
                ("LogicalResourceId", "cfn"),
                ("Timestamp", &now()),
            ];
            key.send(kiln, Version::Two, &parameters).await.1
        }
        "object" => {
            let url = text(&known["request"]["metadata_url"]);
            let reply = kiln.client().get(url).send().await.expect("an answer");
            reply.text().await.expect("a text")
        }
        _ => {
            let known = &known["zaqar"];
            let token = login(kiln, known).await;
            let queue = text(&known["queue_id"]);
            let url = format!("{}/messaging/v2/queues/{queue}/messages?echo=true", kiln.services());
            let request = kiln.client().get(url).header("X-Auth-Token", token);
            let request = request.header("Client-ID", uuid::Uuid::nil().to_string());
            request.send().await.expect("an answer").text().await.expect("a text")
        }
    }
}

/// A member of another project deploys a script on the servers of a stack.
pub(super) async fn foreign_ones_reach_no_server(kiln: &KilnProcess) {
    create(kiln, "victim", VICTIM).await;
    ended(kiln, Who::Demo, "victim", "CREATE_COMPLETE").await.expect("created");
    let stack = path(kiln, Who::Demo, "victim").await;
    let shown = kiln.ask(Who::Demo, "GET", &stack, None).await.body;
    let users = shown["stack"]["stack_user_project_id"].as_str().expect("a project").to_owned();
    let mut ids = Vec::new();
    for server in SERVERS {
        let resource = format!("{stack}/resources/{server}");
        let resource = kiln.ask(Who::Demo, "GET", &resource, None).await.body;
        ids.push(resource["resource"]["physical_resource_id"].as_str().expect("an id").to_owned());
    }

    let mallory = User::member(kiln, "mallory").await;
    for id in &ids {
        for project in [kiln.project(Who::Demo), &users, "unknown"] {
            let fields = json!({ "stack_user_project_id": project });
            let (status, body) = deploy(kiln, &mallory, id, fields.clone()).await;
            assert_eq!((status, &body["error"]["type"]), (403, &json!("Forbidden")), "{body}");
        }
        // A deployment of her own project stays there, even if the field is sent later.
        let (status, body) = deploy(kiln, &mallory, id, json!({})).await;
        assert_eq!(status, 200, "{body}");
        let own = body["software_deployment"]["id"].as_str().expect("an id");
        let fields = json!({ "stack_user_project_id": users, "status": "IN_PROGRESS" });
        mallory.ask(kiln, "PUT", &format!("/software_deployments/{own}"), Some(fields)).await;
    }
    own_users_are_allowed(kiln, &mallory).await;

    // The victim's next change reaches each server, and the attacker's script none of them.
    let change = json!({ "template": VICTIM.replace("echo first", "echo second") });
    update(kiln, Who::Demo, "victim", &change).await.expect("updated");
    for (server, id) in SERVERS.iter().zip(&ids) {
        let known = output(kiln, "victim", server).await;
        let reads = async {
            loop {
                let text = read(kiln, &stack, server, &known).await;
                assert!(!text.contains(FORGED), "{server}: {text}");
                if text.contains("echo second") {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, reads)
            .await
            .unwrap_or_else(|_| panic!("{server}: no change"));
        for path in [
            format!("{stack}/resources/{server}/metadata"),
            format!("/software_deployments/metadata/{id}"),
            format!("/software_deployments?server_id={id}"),
        ] {
            let seen = kiln.ask(Who::Demo, "GET", &path, None).await;
            assert!(
                seen.status == 200 && !seen.body.to_string().contains("forged"),
                "{}",
                seen.body
            );
        }
    }
    delete(kiln, Who::Demo, "victim").await.expect("deleted");
}

/// The project of the users of one's own stack may be named.
async fn own_users_are_allowed(kiln: &KilnProcess, mallory: &User) {
    let template = "
heat_template_version: 2021-04-16
resources:
  s: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
";
    let body = json!({ "stack_name": "own", "template": template });
    assert_eq!(mallory.ask(kiln, "POST", "/stacks", Some(body)).await.status, 201);
    let created = async {
        loop {
            let shown = mallory.ask(kiln, "GET", "/stacks/own", None).await.body;
            if shown["stack"]["stack_status"] == "CREATE_COMPLETE" {
                return shown["stack"]["stack_user_project_id"].clone();
            }
        }
    };
    let users = tokio::time::timeout(PATIENCE, created).await.expect("it is created");
    let fields = json!({ "stack_user_project_id": users });
    let (status, body) = deploy(kiln, mallory, "own-server", fields).await;
    assert_eq!(status, 200, "{body}");
}
