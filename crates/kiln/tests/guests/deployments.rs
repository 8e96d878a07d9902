//! Deployments from the template to the script and back, over every transport.

use super::inside::{Inside, change, comes_to, create, gone, output, program, user_data};
use crate::cloud::kiln_process::KilnProcess;
use serde_json::{Value as Json, json};

pub(crate) const DEPLOYING: &str = concat!(
    r#"
heat_template_version: 2021-04-16
parameters:
  transport: {type: string}
  signal: {type: string}
  word: {type: string, default: hello}
  status: {type: string, default: '0'}
resources:
"#,
    include_str!("../../../../tests/samples/network.yaml"),
    r#"  config:
    type: OS::Heat::SoftwareConfig
    properties:
      group: script
      inputs: [{name: word}, {name: status}]
      outputs: [{name: result}]
      config: |
        #!/bin/sh
        echo "says $word"
        echo "trouble" >&2
        printf %s "$word-done" > "$heat_outputs_path.result"
        exit $status
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      networks: [{port: {get_resource: port}}]
      user_data_format: SOFTWARE_CONFIG
      software_config_transport: {get_param: transport}
  first:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: {get_param: signal}
      input_values: {word: first}
  deployment:
    type: OS::Heat::SoftwareDeployment
    depends_on: first
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: {get_param: signal}
      input_values: {word: {get_param: word}, status: {get_param: status}}
outputs:
  result: {value: {get_attr: [deployment, result]}}
  said: {value: {get_attr: [deployment, deploy_stdout]}}
"#
);

/// The agent that runs inside.
#[derive(Clone, Copy)]
enum Runs {
    /// One process for everything.
    Agent,
    /// The tools, by their older names.
    Links,
}

pub(crate) fn parameters(transport: &str, signal: &str, more: Json) -> Json {
    let mut all = json!({ "transport": transport, "signal": signal });
    for (name, value) in more.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    all
}

/// The settings of both agents beside those of the stack: there is no compute service to ask.
const SETTINGS: [&str; 4] =
    ["--polling-interval", "1", "--ec2-metadata-url", "http://127.0.0.1:1/"];

async fn lives(transport: &str, signal: &str, runs: Runs) {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "deploy", DEPLOYING, &parameters(transport, signal, json!({}))).await;
    let mut inside = Inside::installed();
    inside.boot(&user_data(&kiln, "deploy", "server").await);
    let mut command = match runs {
        Runs::Agent => {
            let mut command = inside.command(&program());
            command.arg("agent");
            command
        }
        Runs::Links => inside.command(&inside.directory.path().join("usr/bin/os-collect-config")),
    };
    command.args(SETTINGS);
    inside.start(command);
    comes_to(&kiln, "deploy", "CREATE_COMPLETE", &inside).await;
    assert_eq!(output(&kiln, "deploy", "result").await, "hello-done");
    assert_eq!(output(&kiln, "deploy", "said").await, "says hello\n");

    let other = parameters(transport, signal, json!({ "word": "bye" }));
    change(&kiln, "deploy", DEPLOYING, &other, &inside).await.expect("it ran again");
    assert_eq!(output(&kiln, "deploy", "result").await, "bye-done");

    let failing = parameters(transport, signal, json!({ "word": "bye", "status": "3" }));
    let why = change(&kiln, "deploy", DEPLOYING, &failing, &inside).await.expect_err("it fails");
    assert!(
        why.contains("Deployment exited with non-zero status code: 3") && why.contains("trouble"),
        "{why}"
    );
    drop(inside);
    gone(&kiln, "deploy", &before).await;
}

#[tokio::test]
async fn metadata_from_the_api_and_signals_to_it() {
    lives("POLL_SERVER_HEAT", "HEAT_SIGNAL", Runs::Agent).await;
}

#[tokio::test]
async fn metadata_from_the_api_and_signals_to_signed_addresses_by_the_older_names() {
    lives("POLL_SERVER_HEAT", "CFN_SIGNAL", Runs::Links).await;
}

#[tokio::test]
async fn metadata_and_signals_in_the_object_store() {
    lives("POLL_TEMP_URL", "TEMP_URL_SIGNAL", Runs::Agent).await;
}

#[tokio::test]
async fn metadata_and_signals_in_the_object_store_by_the_older_names() {
    lives("POLL_TEMP_URL", "TEMP_URL_SIGNAL", Runs::Links).await;
}

#[tokio::test]
async fn metadata_and_signals_in_queues() {
    lives("ZAQAR_MESSAGE", "ZAQAR_SIGNAL", Runs::Agent).await;
}

#[tokio::test]
async fn metadata_from_the_cloudformation_api() {
    lives("POLL_SERVER_CFN", "CFN_SIGNAL", Runs::Agent).await;
}

#[tokio::test]
async fn metadata_from_the_cloudformation_api_by_the_older_names() {
    lives("POLL_SERVER_CFN", "CFN_SIGNAL", Runs::Links).await;
}
