//! Groups of servers behind a balancer: what its server is told when they come and go.

use super::kiln_process::{KilnProcess, Who};
use super::life::{delete, ended, expect, path, update};
use crate::guests::inside::Inside;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

/// The servers report to the alarm by which their group grows: it is named before it is there.
const TEMPLATE: &str = "
heat_template_version: 2021-04-16
parameters:
  LbImageId: {type: string, default: cirros}
  LbFlavor: {type: string, default: m1.tiny}
  fixed: {type: number, default: 1}
resources:
  alone: {type: AWS::EC2::Instance, properties: {ImageId: cirros, InstanceType: m1.tiny}}
  lb:
    type: AWS::ElasticLoadBalancing::LoadBalancer
    properties:
      AvailabilityZones: [nova]
      Instances: [{get_resource: alone}]
      Listeners: [{LoadBalancerPort: 80, InstancePort: 8080, Protocol: HTTP}]
  launch:
    type: AWS::AutoScaling::LaunchConfiguration
    properties:
      ImageId: cirros
      InstanceType: m1.tiny
      UserData: {list_join: [' ', ['#!/bin/sh\\ncfn-push-stats --watch', {get_resource: busy}]]}
  group:
    type: AWS::AutoScaling::AutoScalingGroup
    properties:
      AvailabilityZones: [nova]
      LaunchConfigurationName: {get_resource: launch}
      MinSize: 1
      MaxSize: 3
      Cooldown: 0
      LoadBalancerNames: [{get_resource: lb}]
  others:
    type: OS::Heat::InstanceGroup
    properties:
      AvailabilityZones: [nova]
      LaunchConfigurationName: {get_resource: launch}
      Size: {get_param: fixed}
      LoadBalancerNames: [lb]
  up:
    type: AWS::AutoScaling::ScalingPolicy
    properties: {AutoScalingGroupName: {get_resource: group}, AdjustmentType: ChangeInCapacity, ScalingAdjustment: 2}
  down:
    type: AWS::AutoScaling::ScalingPolicy
    properties: {AutoScalingGroupName: {get_resource: group}, AdjustmentType: ChangeInCapacity, ScalingAdjustment: -1}
  busy:
    type: OS::Heat::CWLiteAlarm
    properties:
      MetricName: CPUUtilization
      Statistic: Average
      Period: 60
      EvaluationPeriods: 1
      Threshold: 90
      ComparisonOperator: GreaterThanThreshold
      AlarmActions: [{get_resource: up}]
";

/// How long something is asked for again and again before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(90);

/// The ids of the stack's servers, but for the balancer's own.
async fn servers(kiln: &KilnProcess) -> BTreeSet<String> {
    let path = format!("{}/resources?nested_depth=2", path(kiln, Who::Demo, "web").await);
    let all = kiln.ask(Who::Demo, "GET", &path, None).await.body["resources"].clone();
    let is_server = |it: &&Json| {
        let kind = it["resource_type"].as_str().unwrap_or_default();
        ["AWS::EC2::Instance", "OS::Heat::ScaledResource"].contains(&kind)
            && it["resource_name"] != "LB_instance"
    };
    let servers = all.as_array().into_iter().flatten().filter(is_server);
    servers.filter_map(|it| Some(it["physical_resource_id"].as_str()?.to_owned())).collect()
}

/// The addresses of servers.
async fn addresses(kiln: &KilnProcess, servers: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for server in servers {
        let path = format!("/compute/v2.1/servers/{server}");
        let shown = kiln.cloud(Who::Demo, "GET", &path, None).await.body;
        let networks = shown["server"]["addresses"].as_object().cloned().unwrap_or_default();
        let first = networks.values().find_map(|it| it[0]["addr"].as_str());
        found.extend(first.map(str::to_owned));
    }
    found
}

/// The path of the load balancer's server.
async fn balancer(kiln: &KilnProcess) -> String {
    let stack = path(kiln, Who::Demo, "web").await;
    let lb = kiln.ask(Who::Demo, "GET", &format!("{stack}/resources/lb"), None).await.body;
    let id = lb["resource"]["physical_resource_id"].as_str().expect("a nested stack").to_owned();
    let inner = kiln.ask(Who::Demo, "GET", &format!("/stacks/{id}"), None).await.body;
    let name = inner["stack"]["stack_name"].as_str().expect("a name");
    format!("/stacks/{name}/{id}/resources/LB_instance")
}

/// The addresses that the balancer's server is told.
async fn balanced(kiln: &KilnProcess) -> BTreeSet<String> {
    let path = format!("{}/metadata", balancer(kiln).await);
    let told = kiln.ask(Who::Demo, "GET", &path, None).await.body;
    let files = &told["metadata"]["AWS::CloudFormation::Init"]["config"]["files"];
    assert_eq!(files["/etc/cfn/cfn-credentials"]["content"], "******", "a secret");
    members(files["/etc/haproxy/haproxy.cfg"]["content"].as_str().expect("a configuration"))
}

/// The members in a configuration.
fn members(configuration: &str) -> BTreeSet<String> {
    let lines = configuration.lines().filter_map(|line| line.trim().strip_prefix("server "));
    let address = |line: &str| line.split([' ', ':']).nth(1).expect("an address").to_owned();
    lines.map(address).collect()
}

/// Waits until so many servers are balanced: all that there are.
async fn until_balanced(kiln: &KilnProcess, count: usize) {
    let reached = async {
        loop {
            let (told, servers) = (balanced(kiln).await, servers(kiln).await);
            if told.len() == count && servers.len() == count {
                return assert_eq!(told, addresses(kiln, &servers).await);
            }
        }
    };
    let is_reached = tokio::time::timeout(PATIENCE, reached).await.is_ok();
    assert!(is_reached, "{:?} of {:?}, not {count}", balanced(kiln).await, servers(kiln).await);
}

async fn signal(kiln: &KilnProcess, policy: &str) {
    let path = format!("{}/resources/{policy}/signal", path(kiln, Who::Demo, "web").await);
    expect(kiln.ask(Who::Demo, "POST", &path, None).await, "signal").expect("it is heard");
}

#[tokio::test]
async fn a_balancer_knows_the_servers_of_the_groups_that_name_it() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    let body = json!({ "stack_name": "web", "template": TEMPLATE });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(&kiln, Who::Demo, "web", "CREATE_COMPLETE").await.expect("created");
    until_balanced(&kiln, 3).await;
    for server in servers(&kiln).await {
        let data = String::from_utf8_lossy(&kiln.user_data(&server).await).into_owned();
        let is_alone = !data.contains("cfn-push-stats --watch");
        assert!(is_alone || data.contains("cfn-push-stats --watch web-busy"), "{data}");
    }

    signal(&kiln, "up").await;
    until_balanced(&kiln, 5).await;
    signal(&kiln, "down").await;
    until_balanced(&kiln, 4).await;
    let body = json!({ "template": TEMPLATE, "parameters": { "fixed": 2 } });
    update(&kiln, Who::Demo, "web", &body).await.expect("updated");
    until_balanced(&kiln, 5).await;
    // A group that goes takes its servers along.
    let (start, end) =
        (TEMPLATE.find("  others:").expect("it"), TEMPLATE.find("  up:").expect("it"));
    let without = format!("{}{}", &TEMPLATE[..start], &TEMPLATE[end..]);
    update(&kiln, Who::Demo, "web", &json!({ "template": without })).await.expect("updated");
    until_balanced(&kiln, 3).await;

    delete(&kiln, Who::Demo, "web").await.expect("deleted");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_group_cannot_name_what_balances_nothing() {
    let kiln = KilnProcess::empty(&[]).await;
    let template = TEMPLATE.replace("LoadBalancerNames: [lb]", "LoadBalancerNames: [launch]");
    let body = json!({ "stack_name": "web", "template": template });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    let failed = ended(&kiln, Who::Demo, "web", "CREATE_COMPLETE").await.expect_err("a failure");
    assert_eq!(
        failed,
        "CREATE_FAILED: Resource CREATE failed: Error: resources.others: Unsupported resource 'launch' in \
         LoadBalancerNames: it is of the type AWS::AutoScaling::LaunchConfiguration; only \
         AWS::ElasticLoadBalancing::LoadBalancer takes members of a group"
    );
    delete(&kiln, Who::Demo, "web").await.expect("deleted");
}

/// A server that has what the balancer's tools call, and a user for whom they do it.
fn equipped() -> Inside {
    let inside = Inside::installed();
    for program in ["dnf", "rpm", "systemctl", "yum"] {
        let name = format!("usr/bin/{program}");
        inside.directory.put(&name, b"#!/bin/sh\nexit 0\n");
        let path = inside.directory.path().join(name);
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a program");
    }
    let me = std::fs::metadata(inside.directory.path()).expect("a folder").uid();
    inside.directory.put("etc/passwd", format!("root:x:{me}:{me}::/root:/bin/sh\n").as_bytes());
    inside
}

#[tokio::test]
async fn the_balancers_server_writes_down_whom_it_balances() {
    let kiln = KilnProcess::empty(&[]).await;
    let before = kiln.objects().await;
    let body = json!({ "stack_name": "web", "template": TEMPLATE });
    expect(kiln.ask(Who::Demo, "POST", "/stacks", Some(body)).await, "create").expect("a stack");
    ended(&kiln, Who::Demo, "web", "CREATE_COMPLETE").await.expect("created");
    let shown = kiln.ask(Who::Demo, "GET", &balancer(&kiln).await, None).await.body;
    let server = shown["resource"]["physical_resource_id"].as_str().expect("a server").to_owned();
    let inside = equipped();
    inside.boot(&kiln.user_data(&server).await);
    let written = || {
        let file = inside.directory.path().join("etc/haproxy/haproxy.cfg");
        members(&std::fs::read_to_string(file).expect("a configuration"))
    };
    let cron = std::fs::read_to_string(inside.directory.path().join("etc/cron.d/cfn-hup"));
    assert!(cron.is_ok_and(|it| it.ends_with("* * * * * root cfn-hup -f\n")));
    // The server was there before the groups were.
    assert_eq!(written().len(), 1);
    inside.run(&["cfn-hup", "-f"]);
    assert_eq!((written(), written().len()), (balanced(&kiln).await, 3));
    signal(&kiln, "up").await;
    until_balanced(&kiln, 5).await;
    inside.run(&["cfn-hup", "-f"]);
    assert_eq!((written(), written().len()), (balanced(&kiln).await, 5));
    delete(&kiln, Who::Demo, "web").await.expect("deleted");
    assert_eq!(kiln.changed_since(&before).await, Vec::<String>::new());
}
