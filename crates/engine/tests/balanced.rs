//! Groups whose members are balanced: what the balancer is told, whatever becomes of them.

use crate::reader;
use crate::simulation::world::{World, now, recipe};
use kiln_engine::{Action, Command, Recipe, StackSettings, Status, View};
use kiln_template::environment::Environment;
use kiln_template::{Limits, Sources, Value};
use std::sync::Arc;
use std::time::Duration;

const TEMPLATE: &str = "heat_template_version: 2021-04-16
parameters:
  LbImageId: {type: string, default: lb}
  LbFlavor: {type: string, default: '1'}
resources:
  lb:
    type: AWS::ElasticLoadBalancing::LoadBalancer
    properties:
      AvailabilityZones: []
      Listeners: [{InstancePort: 8080, LoadBalancerPort: 80, Protocol: HTTP}]
  config:
    type: AWS::AutoScaling::LaunchConfiguration
    properties: {ImageId: x, InstanceType: 'FLAVOR'}
  group:
    type: AWS::AutoScaling::AutoScalingGroup
    update_policy: {AutoScalingRollingUpdate: {MaxBatchSize: 1}}
    properties:
      AvailabilityZones: []
      LaunchConfigurationName: {get_resource: config}
      MinSize: 1
      MaxSize: 3
      LoadBalancerNames: [{get_resource: lb}]
  more:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
  less:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: change_in_capacity
      scaling_adjustment: -1
";

/// A server is a thing, and its address the thing's id.
const SERVER: &str = "heat_template_version: 2021-04-16
parameters:
  ImageId: {type: string}
  InstanceType: {type: number}
  UserData: {type: string, default: ''}
  Tags: {type: json, default: []}
resources:
  it: {type: Test::Thing, properties: {value: {get_param: ImageId}, size: {get_param: InstanceType}}}
outputs:
  PublicIp: {value: {get_resource: it}}
";

const ENVIRONMENT: &str = "resource_registry:
  AWS::EC2::Instance: server.yaml
";

fn wish(world: &mut World, flavor: &str) -> Arc<Recipe> {
    let file = Sources::new().add("environment", ENVIRONMENT);
    let (environment, problems) = Environment::read(file, ENVIRONMENT, &Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    let template = TEMPLATE.replace("FLAVOR", flavor);
    let plain = recipe(&mut world.rng, &template, &[("server.yaml", SERVER)]);
    let mut whole = Arc::into_inner(plain).unwrap();
    whole.environment = Arc::new(environment);
    Arc::new(whole)
}

fn tell(world: &mut World, command: Command) {
    world.command_at(world.now + Duration::from_secs(1), command);
    world.run();
}

fn update(world: &mut World, flavor: &str) {
    let recipe = wish(world, flavor);
    tell(world, Command::Update { recipe, settings: StackSettings::default() });
}

fn signal(world: &mut World, policy: &str) {
    let (stack, resource) = (world.root, policy.into());
    tell(world, Command::Signal { stack, resource, details: Value::Null });
}

/// The addresses that the balancer's server is told; nothing while the group is not there, or goes.
fn told(world: &World) -> Option<Vec<String>> {
    let view = now(View::open(&reader(&*world.store, &world.config), world.root)).unwrap()?;
    let root = view.root();
    let group = root.resource("group")?.summary.state;
    let is_coming = group.action == Action::Create && group.status != Status::Complete;
    if is_coming || [Action::Init, Action::Delete].contains(&group.action) {
        return None;
    }
    let inside = root.nested(&root.resource("lb")?)?;
    let metadata = inside.metadata(&inside.resource("LB_instance")?);
    let path =
        ["AWS::CloudFormation::Init", "config", "files", "/etc/haproxy/haproxy.cfg", "content"];
    let part = |value: Value, key: &&str| value.as_map().unwrap().get(*key).cloned().unwrap();
    let file = path.iter().fold(metadata, part);
    let lines = file.as_text().unwrap().lines().filter_map(|it| it.trim().strip_prefix("server "));
    let address = |line: &str| line.split_whitespace().nth(1).unwrap().replace(":8080", "");
    let mut addresses: Vec<String> = lines.map(address).collect();
    addresses.sort();
    Some(addresses)
}

/// At no moment is the balancer without servers, or told of one that is gone.
fn flaw(world: &World) -> Option<String> {
    let told = told(world)?;
    // A server that is being replaced in place has a name before it has an id.
    let gone = told.iter().find(|it| *it != "it" && !world.cloud.things.contains_key(*it));
    match (gone, told.is_empty()) {
        (Some(gone), _) => Some(format!("{gone} is balanced, and gone")),
        (None, true) => Some("nobody is balanced".into()),
        (None, false) => None,
    }
}

/// The balancer knows all servers that there are, and no others.
fn check(world: &World, count: usize) {
    let servers = world.cloud.things.iter().filter(|(_, thing)| thing.value != "lb");
    let mut servers: Vec<String> = servers.map(|(id, _)| id.clone()).collect();
    servers.sort();
    assert_eq!(servers.len(), count);
    assert_eq!(told(world), Some(servers));
}

/// A group is made, has its only member changed, grows, has its members changed, and shrinks.
pub fn story(world: &mut World) {
    world.observer = Some(flaw);
    let first = wish(world, "1");
    world.create(first, StackSettings::default());
    world.run();
    check(world, 1);
    update(world, "2");
    check(world, 1);
    signal(world, "more");
    check(world, 2);
    update(world, "3");
    check(world, 2);
    signal(world, "less");
    check(world, 1);
}
