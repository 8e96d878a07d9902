//! The older tools themselves, unmodified, in the place of ours: what they ask and send is what they always did.

use super::deployments::{DEPLOYING, parameters};
use super::inside::{Inside, change, comes_to, create, gone, output, user_data};
use crate::clients::clients;
use crate::cloud::kiln_process::KilnProcess;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the tools; `None` if the test is run by hand without them.
fn tools() -> Option<PathBuf> {
    let tools = clients()?.with_file_name("guest-tools");
    assert!(tools.join("bin/os-collect-config").exists(), "dev/clients makes {}", tools.display());
    Some(tools.join("bin"))
}

/// A server with the tools in it: collecting, applying and refreshing is theirs, carrying out is ours.
fn inside(tools: &Path) -> Inside {
    let inside = Inside::installed();
    let part = "usr/libexec/os-refresh-config/configure.d/20-os-apply-config";
    std::fs::remove_file(inside.directory.path().join(part)).expect("our part");
    let root = inside.directory.path().display().to_string();
    let templates = format!("{root}/usr/libexec/os-apply-config/templates");
    let script = format!(
        "#!/bin/sh\nexec {}/os-apply-config --templates {templates} --output {root} \
         --fallback-metadata {root}/var/lib/heat-cfntools/cfn-init-data\n",
        tools.display()
    );
    inside.directory.put(part, script.as_bytes());
    let made =
        Command::new("chmod").args(["+x", part]).current_dir(inside.directory.path()).status();
    assert!(made.expect("chmod").success());
    inside
}

/// Their collecting, told that the server is a folder.
fn collecting(inside: &Inside, tools: &Path) -> Command {
    let root = inside.directory.path().display().to_string();
    let mut command = inside.command(&tools.join("os-collect-config"));
    let base = "/usr/libexec/os-refresh-config";
    command.env("PATH", format!("{}:{root}/usr/bin:/usr/bin:/bin", tools.display()));
    // With any other one it fails where there is no American English.
    command.env("LC_ALL", "C");
    command.env("OS_REFRESH_CONFIG_BASE_DIR", format!("{root}{base}"));
    command.args(["--config-file", &format!("{root}/etc/os-collect-config.conf")]);
    command.args(["--cachedir", &format!("{root}/var/lib/os-collect-config")]);
    command.args(["--backup-cachedir", &format!("{root}/var/run/os-collect-config")]);
    command.args(["--heat_local-path", &format!("{root}/var/lib/heat-cfntools/cfn-init-data")]);
    command.args(["--local-path", &format!("{root}/var/lib/os-collect-config/local-data")]);
    command.args(["--ec2-metadata-url", "http://127.0.0.1:1/", "--polling-interval", "1"]);
    command.args(["-c", &format!("os-refresh-config --lockfile {root}/lock")]);
    command
}

async fn lives(transport: &str, signal: &str) {
    let Some(tools) = tools() else { return };
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "deploy", DEPLOYING, &parameters(transport, signal, json!({}))).await;
    let mut inside = inside(&tools);
    inside.boot(&user_data(&kiln, "deploy", "server").await);
    let command = collecting(&inside, &tools);
    inside.start(command);
    comes_to(&kiln, "deploy", "CREATE_COMPLETE", &inside).await;
    assert_eq!(output(&kiln, "deploy", "result").await, "hello-done");
    let other = parameters(transport, signal, json!({ "word": "bye" }));
    change(&kiln, "deploy", DEPLOYING, &other, &inside).await.expect("it ran again");
    assert_eq!(output(&kiln, "deploy", "result").await, "bye-done");
    drop(inside);
    gone(&kiln, "deploy", &before).await;
}

#[tokio::test]
async fn the_original_collects_from_the_api() {
    lives("POLL_SERVER_HEAT", "HEAT_SIGNAL").await;
}

#[tokio::test]
async fn the_original_collects_from_the_cloudformation_api() {
    lives("POLL_SERVER_CFN", "CFN_SIGNAL").await;
}

#[tokio::test]
async fn the_original_collects_from_the_object_store() {
    lives("POLL_TEMP_URL", "TEMP_URL_SIGNAL").await;
}

const OLDER: &str = r#"
heat_template_version: 2021-04-16
resources:
  policy: {type: OS::Heat::AccessPolicy, properties: {AllowedResources: [server]}}
  user: {type: AWS::IAM::User, properties: {Policies: [{get_resource: policy}]}}
  key: {type: AWS::IAM::AccessKey, properties: {UserName: {get_resource: user}}}
  handle: {type: AWS::CloudFormation::WaitConditionHandle, depends_on: [server, key]}
  server:
    type: OS::Heat::Value
    metadata:
      AWS::CloudFormation::Init:
        config:
          files: {/var/lib/app: {content: configured, mode: '000640'}}
    properties: {value: x}
  wait:
    type: AWS::CloudFormation::WaitCondition
    properties: {Handle: {get_resource: handle}, Count: 1, Timeout: 300}
outputs:
  id: {value: {get_resource: key}}
  secret: {value: {get_attr: [key, SecretAccessKey]}}
  url: {value: {get_resource: handle}}
  data: {value: {get_attr: [wait, Data]}}
"#;

/// The tools write to fixed paths of the system, so they get a root of their own.
const ROOM: &str = r#"
set -e
for folder in /var/lib /var/cache /var/log; do mount -t tmpfs none $folder; done
mkdir /var/lib/heat-cfntools
printf '[Boto]\nis_secure = 0\ncfn_region_name = heat\ncfn_region_endpoint = 127.0.0.1\n' > /var/lib/heat-cfntools/cfn-boto-cfg
printf %s "$CFN" > /var/lib/heat-cfntools/cfn-metadata-server
printf '{"uuid": "me"}' > /var/lib/heat-cfntools/nova_meta.json
cfn-get-metadata -s older -r server --access-key "$KEY" --secret-key "$SECRET"
cfn-init -s older -r server --access-key "$KEY" --secret-key "$SECRET"
cfn-signal -e 0 -d "$(cat /var/lib/app)" "$URL"
"#;

#[tokio::test]
async fn the_originals_of_the_older_tools_configure_and_signal() {
    let Some(tools) = tools() else { return };
    let is_possible =
        Command::new(tools.join("python")).args(["-c", "import boto.cloudformation"]).output();
    if !is_possible.expect("Python").status.success() {
        // Said by the tools themselves: their library needs Python 3.11 or older.
        eprintln!("skipped: boto 2 does not run on this Python");
        return;
    }
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    create(&kiln, "older", OLDER, &json!({})).await;
    let mut known = Vec::new();
    // The address comes last of all: once it is there, so is the rest.
    for (name, variable) in [("url", "URL"), ("id", "KEY"), ("secret", "SECRET")] {
        let told = async {
            loop {
                let value = output(&kiln, "older", name).await;
                match value.as_str() {
                    Some(text)
                        if !text.is_empty() && (name != "url" || text.starts_with("http")) =>
                    {
                        return text.to_owned();
                    }
                    _ => {}
                }
            }
        };
        let told = tokio::time::timeout(super::inside::PATIENCE, told).await.expect("an output");
        known.push((variable, told));
    }
    let cfn = kiln.cloudformation().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", ROOM]).envs(known).env("CFN", cfn);
    command.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", tools.display()));
    let ran = command.output().expect("a room of its own");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    assert!(out.contains(r#"{"AWS::CloudFormation::Init":"#), "{out}");
    let inside = Inside::installed();
    comes_to(&kiln, "older", "CREATE_COMPLETE", &inside).await;
    assert_eq!(output(&kiln, "older", "data").await, r#"{"me": "configured"}"#);
    gone(&kiln, "older", &before).await;
}
