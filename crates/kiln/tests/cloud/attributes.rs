//! What `resource show` and outputs say of resources, as a real Heat does on a real cloud.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path};
use serde_json::{Value as Json, json};

const STACK: &str = "attributes";

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
resources:
  vpc: {type: AWS::EC2::VPC, properties: {CidrBlock: 10.0.0.0/16}}
  subnet: {type: AWS::EC2::Subnet, properties: {VpcId: {get_resource: vpc}, CidrBlock: 10.0.1.0/24, AvailabilityZone: nova}}
  nic: {type: AWS::EC2::NetworkInterface, properties: {SubnetId: {get_resource: subnet}}}
  instance:
    type: AWS::EC2::Instance
    properties: {ImageId: cirros, InstanceType: m1.tiny, NetworkInterfaces: [{get_resource: nic}]}
  config:
    type: OS::Heat::SoftwareConfig
    properties: {inputs: [{name: a}, {name: b, replace_on_change: true}], outputs: [{name: c}]}
  volume: {type: OS::Cinder::Volume, properties: {size: 1}}
  server: {type: OS::Nova::Server, properties: {image: cirros, flavor: m1.tiny, networks: [{network: private}]}}
outputs:
  vpc: {value: {get_attr: [vpc, show]}}
  description: {value: {get_attr: [volume, display_description]}}
  multiattach: {value: {get_attr: [volume, multiattach]}}
  snapshot: {value: {get_attr: [volume, snapshot_id]}}
";

async fn shown(kiln: &KilnProcess, resource: &str) -> Json {
    let path = path(kiln, Who::Demo, STACK).await;
    kiln.ask(Who::Demo, "GET", &format!("{path}/resources/{resource}"), None).await.body["resource"]
        ["attributes"]
        .clone()
}

fn names(attributes: &Json) -> Vec<&str> {
    attributes.as_object().expect("a map").keys().map(String::as_str).collect()
}

#[tokio::test]
async fn attributes_are_those_of_heat() {
    let kiln = KilnProcess::start(&[]).await;
    let new = json!({ "template": TEMPLATE, "timeout_mins": 2, "stack_name": STACK });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(new)).await, "create").expect("accepted");
    ended(&kiln, Who::Demo, STACK, "CREATE_COMPLETE").await.expect("made");

    // AWS's types have AWS's attributes alone.
    assert_eq!(shown(&kiln, "vpc").await, json!({}));
    assert_eq!(shown(&kiln, "subnet").await, json!({ "AvailabilityZone": "nova" }));
    assert_eq!(names(&shown(&kiln, "nic").await), ["PrivateIpAddress"]);
    let expected = ["AvailabilityZone", "PrivateDnsName", "PrivateIp", "PublicDnsName", "PublicIp"];
    assert_eq!(names(&shown(&kiln, "instance").await), expected);
    assert_eq!(shown(&kiln, "server").await["os_collect_config"], json!({}));

    let config = shown(&kiln, "config").await;
    assert!(config["creation_time"].is_string(), "{config}");
    let plain = json!({ "name": "a", "type": "String", "description": "" });
    let fixed =
        json!({ "name": "b", "type": "String", "description": "", "replace_on_change": true });
    assert_eq!(config["inputs"], json!([plain, fixed]));
    let output = json!({ "name": "c", "type": "String", "description": "", "error_output": false });
    assert_eq!(config["outputs"], json!([output]));

    let stack = kiln.ask(Who::Demo, "GET", &format!("/stacks/{STACK}"), None).await.body;
    let output = |name: &str| {
        let outputs = stack["stack"]["outputs"].as_array().expect("outputs");
        outputs.iter().find(|it| it["output_key"] == name).expect(name)["output_value"].clone()
    };
    assert_eq!(output("vpc"), Json::Null);
    assert_eq!(output("description"), Json::Null);
    assert_eq!(output("multiattach"), "False");
    assert_eq!(output("snapshot"), "None");
    delete(&kiln, Who::Demo, STACK).await.expect("gone");
}
