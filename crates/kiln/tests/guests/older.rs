//! Servers in the older way: a script that calls cfn-init and cfn-signal.

use super::inside::{Inside, comes_to, create, gone, output, user_data};
use crate::cloud::kiln_process::KilnProcess;
use serde_json::json;

const OLDER: &str = concat!(
    r#"
heat_template_version: 2021-04-16
parameters:
  status: {type: string, default: '0'}
resources:
"#,
    include_str!("../../../../tests/samples/network.yaml"),
    r#"  handle: {type: AWS::CloudFormation::WaitConditionHandle}
  server:
    type: OS::Nova::Server
    metadata:
      AWS::CloudFormation::Init:
        config:
          files:
            /etc/app.json: {content: {debug: true}, mode: '000640'}
          commands:
            10_note: {command: {str_replace: {template: exit STATUS, params: {STATUS: {get_param: status}}}}}
    properties:
      image: cirros
      flavor: m1.small
      networks: [{port: {get_resource: port}}]
      user_data_format: HEAT_CFNTOOLS
      user_data:
        str_replace:
          template: |
            #!/bin/sh
            cfn-init -s web -r server
            cfn-signal -e $? -i me -d "$(cat "$KILN_GUEST_ROOT/etc/app.json" | tr -d ' \n')" 'HANDLE'
          params: {HANDLE: {get_resource: handle}}
  wait:
    type: AWS::CloudFormation::WaitCondition
    depends_on: server
    properties: {Handle: {get_resource: handle}, Count: 1, Timeout: 300}
outputs:
  data: {value: {get_attr: [wait, Data]}}
"#
);

#[tokio::test]
async fn a_script_configures_the_server_and_signals() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    for (status, state) in [("0", "CREATE_COMPLETE"), ("5", "CREATE_FAILED")] {
        create(&kiln, "web", OLDER, &json!({ "status": status })).await;
        let inside = Inside::installed();
        inside.boot(&user_data(&kiln, "web", "server").await);
        comes_to(&kiln, "web", state, &inside).await;
        if status == "0" {
            assert_eq!(output(&kiln, "web", "data").await, r#"{"me": "{\"debug\":true}"}"#);
            assert!(
                inside.directory.path().join("var/lib/heat-cfntools/provision-finished").exists()
            );
        }
        gone(&kiln, "web", &before).await;
    }
}
