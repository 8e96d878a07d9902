//! Software configurations and deployments.

use crate::test_api::{TestApi, signature};
use kiln_engine::Rules;
use serde_json::{Value as Json, json};

async fn send(api: &TestApi, method: &str, path: &str, body: Json) -> (u16, Json) {
    let body = Some(body).filter(|body| !body.is_null());
    let reply = api.send("demo", method, &format!("/demo/{path}"), body).await;
    (reply.status, serde_json::from_str(&reply.text).unwrap_or_default())
}

#[tokio::test]
async fn a_configuration_in_use_stays_and_that_is_not_the_servers_fault() {
    let api = TestApi::new();
    let (_, made) = send(&api, "POST", "software_configs", json!({"name": "c"})).await;
    let id = made["software_config"]["id"].as_str().unwrap().to_owned();
    let body = json!({"config_id": id, "server_id": "s"});
    let (_, made) = send(&api, "POST", "software_deployments", body).await;
    let config = format!("software_configs/{id}");
    let (status, refusal) = send(&api, "DELETE", &config, Json::Null).await;
    assert_eq!((status, &refusal["error"]["type"]), (400, &json!("InvalidRestrictedAction")));
    let deployment = made["software_deployment"]["id"].as_str().unwrap();
    let deployment = format!("software_deployments/{deployment}");
    assert_eq!(send(&api, "DELETE", &deployment, Json::Null).await.0, 204);
    assert_eq!(send(&api, "DELETE", &config, Json::Null).await.0, 204);
}

#[tokio::test]
async fn what_is_no_text_or_no_map_is_refused() {
    let api = TestApi::new();
    for part in ["name", "group"] {
        let (status, _) = send(&api, "POST", "software_configs", json!({part: [1]})).await;
        assert_eq!(status, 400, "{part}");
    }
    let (_, made) = send(&api, "POST", "software_deployments", json!({"server_id": "s"})).await;
    let id = made["software_deployment"]["id"].as_str().unwrap();
    for part in ["input_values", "output_values", "action", "status", "status_reason"] {
        let body = json!({"server_id": "s", part: [1]});
        let (status, _) = send(&api, "POST", "software_deployments", body).await;
        assert_eq!(status, 400, "{part}");
        let path = format!("software_deployments/{id}");
        let (status, _) = send(&api, "PUT", &path, json!({part: [1]})).await;
        assert_eq!(status, 400, "{part}");
    }
}

const CONFIGS: &str = r#"
heat_template_version: 2021-04-16
resources:
  open: {type: OS::Heat::SoftwareConfig, properties: {group: script, config: "echo open"}}
  message:
    type: OS::Heat::MultipartMime
    properties: {parts: [{config: {get_resource: open}}]}
"#;

#[tokio::test]
async fn configurations_of_resources_are_among_all_others_while_there_are_such_resources() {
    let api = TestApi::new();
    let path = api.create("s", CONFIGS).await;
    assert_eq!(api.status(&path).await, "CREATE_COMPLETE");
    let (_, listed) = send(&api, "GET", "software_configs", Json::Null).await;
    let listed = listed["software_configs"].as_array().unwrap().clone();
    let names: Vec<&str> = listed.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().any(|name| name.starts_with("s-open-")), "{names:?}");

    let resource = api.get(&format!("{path}/resources/open")).await.json();
    let id = resource["resource"]["physical_resource_id"].as_str().unwrap().to_owned();
    let (_, shown) = send(&api, "GET", &format!("software_configs/{id}"), Json::Null).await;
    assert_eq!(shown["software_config"]["config"], "echo open");
    assert_eq!(shown["software_config"]["group"], "script");
    let message = api.get(&format!("{path}/resources/message")).await.json();
    let message = message["resource"]["attributes"]["config"].as_str().unwrap().to_owned();
    assert!(message.contains("echo open"), "{message}");

    // A user may delete the configuration before the stack does.
    assert_eq!(send(&api, "DELETE", &format!("software_configs/{id}"), Json::Null).await.0, 204);
    assert_eq!(api.send("demo", "DELETE", &path, None).await.status, 204);
    api.rest(&path).await;
    let (_, left) = send(&api, "GET", "software_configs", Json::Null).await;
    assert_eq!(left["software_configs"], json!([]));
}

#[tokio::test]
async fn configurations_of_an_abandoned_stack_stay() {
    let api = TestApi::new();
    let path = api.create("s", CONFIGS).await;
    assert_eq!(api.send("demo", "DELETE", &format!("{path}/abandon"), None).await.status, 200);
    api.rest(&path).await;
    let (_, left) = send(&api, "GET", "software_configs", Json::Null).await;
    assert_eq!(left["software_configs"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn configurations_of_resources_count_for_the_quota() {
    let api = TestApi::with(Rules { max_configs: Some(1), ..Rules::default() });
    let path = api.create("s", CONFIGS).await;
    let shown = api.get(&path).await.json();
    let reason = shown["stack"]["stack_status_reason"].as_str().unwrap().to_owned();
    let limit = "You have reached the maximum software configs per tenant, 1.";
    assert!(reason.contains(limit), "{reason}");
    let (_, left) = send(&api, "GET", "software_configs", Json::Null).await;
    assert_eq!(left["software_configs"].as_array().unwrap().len(), 1);
}

const LATER: &str = "
heat_template_version: 2021-04-16
resources:
  first: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 3600}}}
  deployment:
    type: OS::Heat::SoftwareDeployment
    depends_on: first
    properties: {server: s1, signal_transport: NO_SIGNAL}
";

#[tokio::test]
async fn a_signal_to_a_deployment_that_is_not_there_yet_is_refused_and_not_lost() {
    let api = TestApi::new();
    let body = json!({"stack_name": "later", "template": LATER});
    let made = api.send("demo", "POST", "/demo/stacks", Some(body)).await;
    let path = made.header("location").split_once("/v1").expect("a path").1.to_owned();
    for (name, kind, message) in [
        ("deployment", "ResourceNotAvailable", "The Resource (deployment) is not available."),
        ("other", "ResourceNotFound", "The Resource (other) could not be found in Stack later."),
    ] {
        let url = format!("{path}/resources/{name}/signal");
        let told = api.send("demo", "POST", &url, Some(json!({"deploy_status_code": 0}))).await;
        let error = told.json()["error"].clone();
        assert_eq!((told.status, &error["type"]), (404, &json!(kind)), "{told:?}");
        assert_eq!(error["message"], message);
        // The same through an address that is signed.
        let id = path.rsplit('/').next().expect("an id");
        let arn = format!("arn%3Aopenstack%3Aheat%3A%3Ademo%3Astacks/later/{id}/resources/{name}");
        let url = format!("/v1/signal/{arn}?{}", signature("demo"));
        let request = axum::http::Request::post(url).body(axum::body::Body::from("{}"));
        let told = api.cfn_raw(request.expect("a request")).await;
        assert_eq!(told.status, 400, "{told:?}");
        assert!(told.text.contains(message), "{told:?}");
    }
}

/// A configuration and a deployment of it to a server, by a user; the status of the second request, and what it answers.
async fn deploy(api: &TestApi, user: &str, more: Json) -> (u16, Json) {
    let config = json!({"name": "forged", "group": "script", "config": "echo forged"});
    let made = api.send(user, "POST", &format!("/{user}/software_configs"), Some(config)).await;
    let mut body = json!({
        "server_id": "s1", "config_id": made.json()["software_config"]["id"],
        "action": "CREATE", "status": "IN_PROGRESS",
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let path = format!("/{user}/software_deployments");
    let reply = api.send(user, "POST", &path, Some(body)).await;
    (reply.status, serde_json::from_str(&reply.text).unwrap_or_default())
}

#[tokio::test]
async fn a_deployment_of_another_project_reaches_no_server() {
    let api = TestApi::new();
    let (status, refusal) = deploy(&api, "other", json!({"stack_user_project_id": "demo"})).await;
    assert_eq!((status, &refusal["error"]["type"]), (403, &json!("Forbidden")));
    // Without that field the request is harmless: only the project that sent it sees the deployment.
    let (status, _) = deploy(&api, "other", json!({})).await;
    assert_eq!(status, 200);
    let (_, seen) = send(&api, "GET", "software_deployments?server_id=s1", Json::Null).await;
    assert_eq!(seen["software_deployments"], json!([]));
    let (_, seen) = send(&api, "GET", "software_deployments/metadata/s1", Json::Null).await;
    assert_eq!(seen["metadata"], json!([]));
    // A stack user reads the deployments of the server that it was created for.
    let seen = api.send("stack-user", "GET", "/demo/software_deployments/metadata/s1", None).await;
    assert_eq!(seen.status, 403);
}

#[tokio::test]
async fn a_deployment_of_the_own_project_reaches_the_server() {
    let api = TestApi::new();
    let (status, _) = deploy(&api, "demo", json!({"stack_user_project_id": "demo"})).await;
    assert_eq!(status, 200);
    let (_, seen) = send(&api, "GET", "software_deployments/metadata/s1", Json::Null).await;
    assert_eq!(seen["metadata"][0]["name"], "forged");
}

const DEPLOYED: &str = "
heat_template_version: 2021-04-16
parameters: {p: {type: string, hidden: true, default: canary}}
resources:
  config:
    type: OS::Heat::SoftwareConfig
    properties: {config: 'true', inputs: [{name: password}, {name: word}]}
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: s1
      signal_transport: NO_SIGNAL
      input_values: {password: {get_param: p}, word: hi}
";

#[tokio::test]
async fn a_deployment_shows_what_the_service_has_of_it() {
    let api = TestApi::new();
    let path = api.create("s", DEPLOYED).await;
    assert_eq!(api.status(&path).await, "CREATE_COMPLETE");
    let shown = api.get(&format!("{path}/resources/deployment")).await;
    assert!(!shown.text.contains("canary"), "{shown:?}");
    let resource = &shown.json()["resource"];
    let id = resource["physical_resource_id"].as_str().unwrap();
    let (_, deployment) =
        send(&api, "GET", &format!("software_deployments/{id}"), json!(null)).await;
    assert_eq!(resource["attributes"], deployment["software_deployment"]);
    assert_eq!(resource["attributes"]["input_values"]["word"], "hi");
    // What changes in the service shows at once.
    let body = json!({"status": "COMPLETE", "status_reason": "by hand"});
    assert_eq!(send(&api, "PUT", &format!("software_deployments/{id}"), body).await.0, 200);
    let shown = api.get(&format!("{path}/resources/deployment")).await.json();
    assert_eq!(shown["resource"]["attributes"]["status_reason"], "by hand");
}
