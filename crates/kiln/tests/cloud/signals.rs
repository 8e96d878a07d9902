//! Guests: servers played by the test, with nothing but what the stack gave them.

use super::guests;
use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path, update};
use serde_json::{Value as Json, json};
use std::process::Command;
use std::time::Duration;

/// Creates a stack.
pub(crate) async fn create(kiln: &KilnProcess, name: &str, template: &str) {
    let body = json!({ "stack_name": name, "template": template });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
}

/// How long something is asked for again and again before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(60);

/// An output of a stack, as soon as it has a value.
pub(crate) async fn output(kiln: &KilnProcess, stack: &str, name: &str) -> Json {
    let known = async {
        loop {
            let path = format!("{}/outputs/{name}", path(kiln, Who::Demo, stack).await);
            let reply = kiln.ask(Who::Demo, "GET", &path, None).await;
            let value = reply.body["output"]["output_value"].clone();
            if !value.is_null() && value != "" && value != json!({}) {
                return value;
            }
        }
    };
    let known = tokio::time::timeout(PATIENCE, known).await;
    known.unwrap_or_else(|_| panic!("{stack} has no output {name}"))
}

/// Runs a command as a guest would, and gives what it prints.
fn sh(command: &str) -> String {
    let out = Command::new("sh").args(["-c", command]).output().expect("a shell");
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Asks with a guest's token.
pub(crate) async fn ask(
    kiln: &KilnProcess,
    token: &str,
    method: &str,
    url: &str,
    body: Option<Json>,
) -> (u16, Json) {
    let mut request = kiln.client().request(method.parse().expect("a method"), url);
    request = request.header("X-Auth-Token", token);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    (status, response.json().await.unwrap_or_default())
}

/// Logs a guest in.
pub(crate) async fn login(kiln: &KilnProcess, known: &Json) -> String {
    let body = json!({ "auth": {
        "identity": { "methods": ["password"], "password": {
            "user": { "id": known["user_id"], "password": known["password"] },
        } },
        "scope": { "project": { "id": known["project_id"] } },
    } });
    let url = format!("{}/auth/tokens", known["auth_url"].as_str().expect("an address"));
    let response = kiln.client().post(url).json(&body).send().await.expect("a login");
    assert_eq!(response.status().as_u16(), 201);
    response.headers()["x-subject-token"].to_str().expect("text").to_owned()
}

/// Deletes a stack, and finds nothing of it.
async fn gone(kiln: &KilnProcess, stack: &str, before: &super::kiln_process::Objects) {
    delete(kiln, Who::Demo, stack).await.expect("deleted");
    assert_eq!(kiln.changed_since(before).await, Vec::<String>::new());
}

const WAITING: &str = "
heat_template_version: 2021-04-16
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  other: {type: OS::Heat::WaitConditionHandle}
  wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, count: 2, timeout: 300}
outputs:
  curl: {value: {get_attr: [handle, curl_cli]}}
  token: {value: {get_attr: [handle, token]}}
  endpoint: {value: {get_attr: [handle, endpoint]}}
  data: {value: {get_attr: [wait, data]}}
";

#[tokio::test]
async fn a_printed_command_signals_a_wait_condition_and_may_do_nothing_else() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "wait", WAITING).await;
    create(&kiln, "foreign", &WAITING.replace("count: 2", "count: 1")).await;
    let curl = output(&kiln, "wait", "curl").await;
    let curl = curl.as_str().expect("a command");
    for number in ["one", "two"] {
        let told = json!({ "status": "SUCCESS", "data": number });
        let printed = sh(&format!("{curl} --silent --data-binary '{told}'"));
        assert!(printed.starts_with("HTTP/1.1 200"), "{printed}");
    }
    ended(&kiln, Who::Demo, "wait", "CREATE_COMPLETE").await.expect("both were heard");
    assert_eq!(output(&kiln, "wait", "data").await, r#"{"1": "one", "2": "two"}"#);

    let token = output(&kiln, "wait", "token").await;
    let (token, text) =
        (token.as_str().expect("a token"), |json: Json| json.as_str().map(str::to_owned));
    let own = text(output(&kiln, "wait", "endpoint").await).expect("an address");
    let foreign = text(output(&kiln, "foreign", "endpoint").await).expect("an address");
    // The address of another stack's handle, and the same from our own project.
    let (root, _) = own.split_once("/stacks/").expect("a stack");
    let (_, rest) = foreign.split_once("/stacks/").expect("a stack");
    let refused = |status: u16| [403, 404].contains(&status);
    for url in [foreign.clone(), format!("{root}/stacks/{rest}")] {
        let (status, body) = ask(&kiln, token, "POST", &url, Some(json!({}))).await;
        assert!(refused(status), "{url}: {status} {body}");
    }
    let base = own.strip_suffix("/signal").expect("a signal");
    let stack = base.split("/resources/").next().expect("a stack");
    for url in [
        base.to_owned(),
        format!("{base}/metadata"),
        stack.to_owned(),
        format!("{root}/stacks"),
        format!("{stack}/template"),
        format!("{stack}/resources"),
    ] {
        let (status, body) = ask(&kiln, token, "GET", &url, None).await;
        assert_eq!(status, 403, "{url}: {body}");
    }
    let (status, _) = ask(&kiln, token, "DELETE", stack, None).await;
    assert_eq!(status, 403);
    delete(&kiln, Who::Demo, "foreign").await.expect("deleted");
    gone(&kiln, "wait", &before).await;
    let (status, _) = ask(&kiln, token, "POST", &own, Some(json!({}))).await;
    assert!([401, 404].contains(&status), "the user is gone, and so is the stack: {status}");
}

const SIGNED: &str = "
heat_template_version: 2021-04-16
resources:
  handle: {type: AWS::CloudFormation::WaitConditionHandle}
  wait:
    type: AWS::CloudFormation::WaitCondition
    properties: {Handle: {get_resource: handle}, Count: 1, Timeout: 300}
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      resource: {type: OS::Heat::RandomString}
  up:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {get_resource: group}
      scaling_adjustment: 1
outputs:
  url: {value: {get_resource: handle}}
  alarm: {value: {get_attr: [up, alarm_url]}}
  size: {value: {get_attr: [group, current_size]}}
  data: {value: {get_attr: [wait, Data]}}
";

#[tokio::test]
async fn signed_addresses_need_no_token() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "signed", SIGNED).await;
    let mut url = String::new();
    while !url.starts_with("http") {
        url = output(&kiln, "signed", "url").await.as_str().expect("a text").to_owned();
    }
    let put = |url: &str, told: &str| {
        sh(&format!(
            "curl -s -w ' %{{http_code}}' -X PUT -H 'Content-Type:' --data-binary '{told}' '{url}'"
        ))
    };
    let good = r#"{"Status": "SUCCESS", "Reason": "ready", "UniqueId": "a", "Data": "ok"}"#;
    let printed = put(&url, r#"{"Status": "SUCCESS"}"#);
    assert_eq!(
        printed,
        "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidParameterValue</Code><Message>A bad or \
         out-of-range value was supplied:Metadata format invalid</Message></Error></ErrorResponse> 400"
    );
    let tampered = url.replace("/resources/handle", "/resources/other");
    assert!(put(&tampered, good).contains("<Code>AccessDenied</Code>"));
    assert!(put(&url.replace("AWSAccessKeyId=", "AWSAccessKeyId=0"), good).ends_with(" 403"));
    let bare = url.split('?').next().expect("an address");
    assert!(put(bare, good).contains("<Code>IncompleteSignature</Code>"));
    assert_eq!(put(&url, good), "<resource>handle</resource> 200");
    ended(&kiln, Who::Demo, "signed", "CREATE_COMPLETE").await.expect("it was heard");
    assert_eq!(output(&kiln, "signed", "data").await, r#"{"a": "ok"}"#);

    let alarm = output(&kiln, "signed", "alarm").await;
    let alarm = alarm.as_str().expect("an address");
    assert!(put(alarm, "{}").ends_with(" 404"), "it is for POST");
    assert_eq!(sh(&format!("curl -s -w '%{{http_code}}' -X POST -d '{{}}' '{alarm}'")), "200");
    let grown = async { while output(&kiln, "signed", "size").await != 2 {} };
    tokio::time::timeout(PATIENCE, grown).await.expect("the group grows");
    gone(&kiln, "signed", &before).await;
}

const DEPLOYING: &str = concat!(
    "
heat_template_version: 2021-04-16
parameters:
  word: {type: string, default: hello}
resources:
",
    include_str!("../../../../tests/samples/network.yaml"),
    "  config:
    type: OS::Heat::SoftwareConfig
    properties:
      group: script
      config: 'echo $word'
      inputs: [{name: word}]
      outputs: [{name: result}]
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      networks: [{port: {get_resource: port}}]
      user_data_format: SOFTWARE_CONFIG
      software_config_transport: POLL_SERVER_HEAT
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      input_values: {word: {get_param: word}}
outputs:
  collect: {value: {get_attr: [server, os_collect_config]}}
  result: {value: {get_attr: [deployment, result]}}
  said: {value: {get_attr: [deployment, deploy_stdout]}}
"
);

/// The metadata that a guest has to apply, once they differ from those that it applied last.
async fn news(kiln: &KilnProcess, token: &str, url: &str, applied: &Json) -> Json {
    let told = async {
        loop {
            let (status, body) = ask(kiln, token, "GET", url, None).await;
            assert_eq!(status, 200, "{body}");
            let first = body["metadata"]["deployments"][0].clone();
            if !first.is_null() && first["id"] != applied["id"] {
                return first;
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("something to apply")
}

fn input<'d>(deployment: &'d Json, name: &str) -> &'d str {
    let mut inputs = deployment["inputs"].as_array().expect("inputs").iter();
    let input = inputs.find(|input| input["name"] == name);
    input.and_then(|input| input["value"].as_str()).unwrap_or_else(|| panic!("no input {name}"))
}

#[tokio::test]
async fn a_server_applies_what_is_deployed_on_it() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "deploy", DEPLOYING).await;
    let collect = output(&kiln, "deploy", "collect").await;
    assert_eq!(collect["collectors"], json!(["ec2", "heat", "local"]));
    let known = &collect["heat"];
    let token = login(&kiln, known).await;
    let stack = format!(
        "{}/{}/stacks/{}",
        kiln.orchestration(),
        known["project_id"].as_str().expect("a project"),
        known["stack_id"].as_str().expect("a stack")
    );
    let url = format!("{stack}/resources/server/metadata");
    let deployment = news(&kiln, &token, &url, &Json::Null).await;
    assert_eq!(
        (&deployment["group"], &deployment["config"]),
        (&json!("script"), &json!("echo $word"))
    );
    assert_eq!(input(&deployment, "word"), "hello");
    assert_eq!(input(&deployment, "deploy_action"), "CREATE");
    assert_eq!(input(&deployment, "deploy_resource_name"), "deployment");
    let (status, _) = ask(&kiln, &token, "GET", &url.replace("/server/", "/port/"), None).await;
    assert_eq!(status, 403, "it is not its own");

    let answer = json!({ "result": "done", "deploy_stdout": "hello\n", "deploy_status_code": 0 });
    let sent =
        kiln.client().post(input(&deployment, "deploy_signal_id")).json(&answer).send().await;
    assert_eq!(sent.expect("an answer").status().as_u16(), 200);
    ended(&kiln, Who::Demo, "deploy", "CREATE_COMPLETE").await.expect("it was applied");
    assert_eq!(output(&kiln, "deploy", "result").await, "done");
    assert_eq!(output(&kiln, "deploy", "said").await, "hello\n");

    // Another deployment, which fails.
    let change = json!({ "template": DEPLOYING, "parameters": { "word": "bye" } });
    let updating = update(&kiln, Who::Demo, "deploy", &change);
    let applying = async {
        let deployment = news(&kiln, &token, &url, &deployment).await;
        assert_eq!(
            (input(&deployment, "word"), input(&deployment, "deploy_action")),
            ("bye", "UPDATE")
        );
        let answer = json!({ "deploy_status_code": 7, "deploy_stderr": "no such thing\n" });
        let url = input(&deployment, "deploy_signal_id").to_owned();
        kiln.client().post(url).json(&answer).send().await.expect("an answer");
    };
    let (updated, ()) = tokio::join!(updating, applying);
    assert_eq!(
        updated.expect_err("it failed"),
        "UPDATE_FAILED: Resource UPDATE failed: Error: resources.deployment: Deployment to server failed: deploy_status_code : \
         Deployment exited with non-zero status code: 7 (it said: no such thing)"
    );
    gone(&kiln, "deploy", &before).await;
}

const EARLY: &str = "
heat_template_version: 2021-04-16
resources:
  config: {type: OS::Heat::SoftwareConfig, properties: {outputs: [{name: result}]}}
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties: {config: {get_resource: config}, server: somewhere, signal_transport: TEMP_URL_SIGNAL}
outputs:
  result: {value: {get_attr: [deployment, result]}}
";

/// The creation of the object for the signal takes a while: a signal that comes before its end counts nevertheless.
#[tokio::test]
async fn a_deployment_hears_what_it_is_told_before_it_has_asked() {
    let kiln = KilnProcess::empty(&["--latency", "200"]).await;
    let before = kiln.objects().await;
    create(&kiln, "early", EARLY).await;
    let path = format!("{}/resources/deployment", path(&kiln, Who::Demo, "early").await);
    let body = json!({ "result": "soon", "deploy_status_code": 0 });
    let told = async {
        loop {
            let signal = format!("{path}/signal");
            let reply = kiln.ask(Who::Demo, "POST", &signal, Some(body.clone())).await;
            match reply.status {
                200 => return,
                // It is not there yet, and says so.
                status => assert_eq!(status, 404, "{}", reply.body),
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("the deployment is begun");
    ended(&kiln, Who::Demo, "early", "CREATE_COMPLETE").await.expect("it was heard");
    assert_eq!(output(&kiln, "early", "result").await, "soon");
    gone(&kiln, "early", &before).await;
}

#[tokio::test]
async fn a_signal_that_was_acknowledged_survives_and_counts_once() {
    let state = ["--state", "state"];
    let mut kiln = KilnProcess::empty(&state).await;
    create(&kiln, "killed", &WAITING.replace("count: 2", "count: 3")).await;
    let curl = output(&kiln, "killed", "curl").await;
    let curl = curl.as_str().expect("a command").to_owned();
    let told = |id: &str| {
        let told = json!({ "id": id, "data": id });
        let printed = sh(&format!("{curl} --silent --data-binary '{told}'"));
        assert!(printed.starts_with("HTTP/1.1 200"), "{printed}");
    };
    for (id, again) in [("a", "a"), ("b", "a"), ("c", "b")] {
        told(id);
        kiln.kill(&state);
        told(again);
    }
    ended(&kiln, Who::Demo, "killed", "CREATE_COMPLETE").await.expect("all were heard");
    assert_eq!(output(&kiln, "killed", "data").await, r#"{"a": "a", "b": "b", "c": "c"}"#);
    delete(&kiln, Who::Demo, "killed").await.expect("deleted");
    let left = kiln.objects().await;
    for (kind, count) in [("identity.users", 4), ("identity.projects", 3)] {
        assert_eq!(left[kind].len(), count, "{kind}: {:?}", left[kind]);
    }
}

const LEFT: &str = "
heat_template_version: 2021-04-16
resources:
  swift_handle: {type: OS::Heat::SwiftSignalHandle}
  swift:
    type: OS::Heat::SwiftSignal
    properties: {handle: {get_resource: swift_handle}, count: 2, timeout: 300}
  temp_handle: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: TEMP_URL_SIGNAL}}
  temp:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: temp_handle}, count: 2, timeout: 300}
  queue_handle: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: ZAQAR_SIGNAL}}
  queue:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: queue_handle}, count: 2, timeout: 300}
outputs:
  curl: {value: {get_attr: [swift_handle, curl_cli]}}
  temp_signal: {value: {get_attr: [temp_handle, signal]}}
  queue_signal: {value: {get_attr: [queue_handle, signal]}}
  swift_data: {value: {get_attr: [swift, data]}}
  temp_data: {value: {get_attr: [temp, data]}}
  queue_data: {value: {get_attr: [queue, data]}}
";

#[tokio::test]
async fn signals_are_left_in_objects_and_queues() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "left", LEFT).await;
    let curl = output(&kiln, "left", "curl").await;
    let curl = curl.as_str().expect("a command").to_owned();
    let bad = curl.replace("temp_url_sig=", "temp_url_sig=0");
    assert!(sh(&format!("{bad} --silent --data-binary x")).starts_with("HTTP/1.1 401"));
    let temp: Json = told(output(&kiln, "left", "temp_signal").await);
    let temp = temp["alarm_url"].as_str().expect("an address");
    let queue: Json = told(output(&kiln, "left", "queue_signal").await);
    for number in ["one", "two"] {
        let letter = json!({ "data": number });
        let printed = sh(&format!("{curl} --silent --data-binary '{letter}'"));
        assert!(printed.starts_with("HTTP/1.1 201"), "{printed}");
        let printed = sh(&format!("curl -i -s -X PUT --data-binary '{letter}' '{temp}'"));
        assert!(printed.starts_with("HTTP/1.1 201"), "{printed}");
        guests::leave(&kiln, &queue, &letter).await;
    }
    ended(&kiln, Who::Demo, "left", "CREATE_COMPLETE").await.expect("all were found");
    for name in ["swift_data", "temp_data", "queue_data"] {
        assert_eq!(output(&kiln, "left", name).await, r#"{"1": "one", "2": "two"}"#, "{name}");
    }
    gone(&kiln, "left", &before).await;
}

/// Parses an attribute that is a text with JSON.
fn told(text: Json) -> Json {
    serde_json::from_str(text.as_str().expect("a text")).expect("JSON")
}

const SCALED: &str = "
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 3, cooldown: 0, resource: {type: OS::Heat::RandomString}}
  policy:
    type: OS::Heat::ScalingPolicy
    properties:
      {adjustment_type: change_in_capacity, scaling_adjustment: 1, auto_scaling_group_id: {get_resource: group}}
outputs:
  signal: {value: {get_attr: [policy, signal_url]}}
  size: {value: {get_attr: [group, current_size]}}
";

/// The URL is the owner's, as in Heat: alarms that act for the owner, by a trust, use it.
#[tokio::test]
async fn the_owner_of_a_stack_signals_a_scaling_policy() {
    let kiln = KilnProcess::empty(&[]).await;
    create(&kiln, "scaled", SCALED).await;
    ended(&kiln, Who::Demo, "scaled", "CREATE_COMPLETE").await.expect("created");
    let url = output(&kiln, "scaled", "signal").await;
    let url = url.as_str().expect("an address").to_owned();
    assert!(url.contains(&format!("/v1/{}/stacks/scaled/", kiln.project(Who::Demo))), "{url}");
    let reply = kiln.request(Who::Demo, "POST", url).send().await.expect("a reply");
    assert_eq!(reply.status().as_u16(), 200);
    while output(&kiln, "scaled", "size").await != 2 {}
    delete(&kiln, Who::Demo, "scaled").await.expect("deleted");
}

const ALLOWED: &str = "
heat_template_version: 2021-04-16
parameters:
  hidden: {type: string, default: hunter2, hidden: true}
resources:
  one: {type: OS::Heat::Value, properties: {value: x}, metadata: {secret: {get_param: hidden}}}
  two: {type: OS::Heat::Value, properties: {value: x}, metadata: {a: b}}
  policy: {type: OS::Heat::AccessPolicy, properties: {AllowedResources: [one]}}
  user:
    type: AWS::IAM::User
    properties: {Policies: [{get_resource: policy}], LoginProfile: {Password: correcthorse}}
  collect: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
outputs:
  known: {value: {get_attr: [collect, os_collect_config]}}
";

#[tokio::test]
async fn a_policy_says_what_a_user_of_a_stack_may_read() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "allowed", ALLOWED).await;
    ended(&kiln, Who::Demo, "allowed", "CREATE_COMPLETE").await.expect("it is made");
    let path = path(&kiln, Who::Demo, "allowed").await;
    let user = kiln.ask(Who::Demo, "GET", &format!("{path}/resources/user"), None).await.body;
    let mut known = output(&kiln, "allowed", "known").await["heat"].clone();
    let project = known["project_id"].as_str().expect("a project").to_owned();
    let shown = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    assert_eq!(shown["stack"]["stack_user_project_id"], project.as_str());
    known["user_id"] = user["resource"]["physical_resource_id"].clone();
    known["password"] = "correcthorse".into();
    let token = login(&kiln, &known).await;
    let root = format!("{}/{project}{path}/resources", kiln.orchestration());
    let (status, body) = ask(&kiln, &token, "GET", &format!("{root}/one/metadata"), None).await;
    assert_eq!((status, &body["metadata"]["secret"]), (200, &json!("hunter2")), "{body}");
    for name in ["two", "user", "collect"] {
        let url = format!("{root}/{name}/metadata");
        let (status, body) = ask(&kiln, &token, "GET", &url, None).await;
        assert_eq!(status, 403, "{name}: {body}");
    }
    gone(&kiln, "allowed", &before).await;
}

const TWO_SERVERS: &str = "
heat_template_version: 2021-04-16
resources:
  own: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
  other: {type: OS::Heat::DeployedServer, properties: {software_config_transport: POLL_SERVER_HEAT}}
  script: {type: OS::Heat::SoftwareConfig, properties: {group: script, config: echo}}
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties: {server: {get_resource: other}, config: {get_resource: script}, signal_transport: HEAT_SIGNAL}
  handle: {type: OS::Heat::WaitConditionHandle}
  wait: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 3600}}
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::None}}
  policy:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
  hooked: {type: OS::Heat::None}
outputs:
  own: {value: {get_attr: [own, os_collect_config]}}
";

/// A guest signals what is not its own, clears a hook, and reads what is deployed on another server.
pub(crate) async fn a_guest_signals_what_it_was_created_for(kiln: &KilnProcess) {
    let body = json!({
        "stack_name": "two", "template": TWO_SERVERS,
        "environment": {"resource_registry": {"resources": {"hooked": {"hooks": "pre-create"}}}},
    });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    let known = output(kiln, "two", "own").await["heat"].clone();
    let token = login(kiln, &known).await;
    let path = path(kiln, Who::Demo, "two").await;
    let project = known["project_id"].as_str().expect("a project");
    let root = format!("{}/{project}{path}/resources", kiln.orchestration());
    let forged = [
        ("hooked", json!({"unset_hook": "pre-create"})),
        ("handle", json!({"status": "SUCCESS", "reason": "forged", "data": "x", "id": "1"})),
        ("policy", json!({})),
        ("deployment", json!({"deploy_status_code": 0, "deploy_stdout": "forged"})),
        ("own", json!({"unset_hook": "pre-create"})),
    ];
    for (resource, details) in forged {
        // The resource may have yet to be created.
        let signalled = async {
            loop {
                let url = format!("{root}/{resource}/signal");
                let (status, body) = ask(kiln, &token, "POST", &url, Some(details.clone())).await;
                if status != 404 {
                    return (status, body);
                }
            }
        };
        let (status, body) = tokio::time::timeout(PATIENCE, signalled).await.expect("an answer");
        assert_eq!(status, 403, "{resource}: {body}");
    }
    for (resource, expected) in [("own", 200), ("other", 403)] {
        let path = format!("{path}/resources/{resource}");
        let shown = kiln.ask(Who::Demo, "GET", &path, None).await.body;
        let server = shown["resource"]["physical_resource_id"].as_str().expect("a server");
        let url =
            format!("{}/{project}/software_deployments/metadata/{server}", kiln.orchestration());
        let (status, body) = ask(kiln, &token, "GET", &url, None).await;
        assert_eq!(status, expected, "{resource}: {body}");
    }
    let stack = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    assert_eq!(stack["stack"]["stack_status"], "CREATE_IN_PROGRESS", "nothing was let go on");
    // The owner of the stack clears the hook.
    let clears = Some(json!({"unset_hook": "pre-create"}));
    let cleared =
        kiln.ask(Who::Demo, "POST", &format!("{path}/resources/hooked/signal"), clears).await;
    assert_eq!(cleared.status, 200, "{:?}", cleared.body);
    delete(kiln, Who::Demo, "two").await.expect("deleted");
}
