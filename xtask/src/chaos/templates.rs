//! The stacks of the workload. Each shows the parameter `v` in its output `probe`.

use serde_json::{Value, json};

/// A kind of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A network with a subnet, a port and a router.
    Networks,
    /// A server with a volume that has the name of another user's volume.
    Server,
    /// A group of nested stacks.
    Group,
    /// Two levels of nested stacks.
    Nested,
    /// A condition that waits for signals.
    Waiting,
    /// A group that grows by signals.
    Scaling,
    /// A software deployment that waits for its server.
    Deployment,
}

pub(super) const KINDS: [Kind; 7] = [
    Kind::Networks,
    Kind::Server,
    Kind::Group,
    Kind::Nested,
    Kind::Waiting,
    Kind::Scaling,
    Kind::Deployment,
];

/// How many signals a wait condition waits for.
pub(super) const SIGNALS: usize = 4;

const HEAD: &str = "\
heat_template_version: 2021-04-16
parameters:
  v: {type: string}
  count: {type: number, default: 2}
resources:
  shown: {type: OS::Heat::Value, properties: {value: {get_param: v}}}
";

const OUTPUTS: &str = "\
outputs:
  probe: {value: {get_attr: [shown, value]}}
";

const NETWORKS: &str = "
  net: {type: OS::Neutron::Net, properties: {tags: [{get_param: v}]}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.1.0.0/24, tags: [{get_param: v}]}}
  port:
    type: OS::Neutron::Port
    depends_on: subnet
    properties: {network: {get_resource: net}, name: {list_join: ['-', [port, {get_param: v}]]}}
  router: {type: OS::Neutron::Router}
  interface:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
";

/// The name of a volume of another user, and of one volume in each of these stacks.
pub(super) const FOREIGN: &str = "data";

const SERVER: &str = "
  key: {type: OS::Nova::KeyPair, properties: {name: {list_join: ['-', [{get_param: 'OS::stack_name'}, {get_param: v}]]}}}
  volume: {type: OS::Cinder::Volume, properties: {name: data, size: 1, metadata: {v: {get_param: v}}}}
  unnamed: {type: OS::Cinder::Volume, properties: {size: 1}}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      networks: [{network: private}]
      metadata: {v: {get_param: v}}
  attachment:
    type: OS::Cinder::VolumeAttachment
    properties: {instance_uuid: {get_resource: server}, volume_id: {get_resource: volume}}
";

const GROUP: &str = "
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: child.yaml, properties: {v: {get_param: v}}}
";

const NESTED: &str = "
  middle: {type: middle.yaml, properties: {v: {get_param: v}, count: {get_param: count}}}
  net: {type: OS::Neutron::Net, depends_on: middle}
";

const WAITING: &str = "
  handle: {type: OS::Heat::WaitConditionHandle}
  net: {type: OS::Neutron::Net, properties: {tags: [{get_param: v}]}}
  wait:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, count: 4, timeout: 1800}
";

const WAITING_OUTPUT: &str = "
  data: {value: {get_attr: [wait, data]}}
";

const SCALING: &str = "
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 50
      resource: {type: OS::Neutron::Net}
  policy:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
      cooldown: 0
  net: {type: OS::Neutron::Net, properties: {tags: [{get_param: v}]}}
";

const SCALING_OUTPUT: &str = "
  size: {value: {get_attr: [group, current_size]}}
";

const DEPLOYMENT: &str = "
  config: {type: OS::Heat::SoftwareConfig, properties: {group: script, config: echo}}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.small
      networks: [{network: private}]
      user_data_format: SOFTWARE_CONFIG
      software_config_transport: POLL_SERVER_HEAT
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: HEAT_SIGNAL
";

/// A resource that fails, so that an update is rolled back.
const FAILING: &str = "
  early: {type: OS::Neutron::Net}
  fails: {type: OS::Heat::TestResource, depends_on: [early, shown], properties: {fail: true, wait_secs: 1}}
";

const CHILD: &str = "\
heat_template_version: 2021-04-16
parameters: {v: {type: string}}
resources:
  net: {type: OS::Neutron::Net, properties: {tags: [{get_param: v}]}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.2.0.0/24}}
";

const MIDDLE: &str = "\
heat_template_version: 2021-04-16
parameters: {v: {type: string}, count: {type: number}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: child.yaml, properties: {v: {get_param: v}}}
  secret: {type: OS::Heat::RandomString}
";

impl Kind {
    fn resources(self) -> &'static str {
        match self {
            Kind::Networks => NETWORKS,
            Kind::Server => SERVER,
            Kind::Group => GROUP,
            Kind::Nested => NESTED,
            Kind::Waiting => WAITING,
            Kind::Scaling => SCALING,
            Kind::Deployment => DEPLOYMENT,
        }
    }

    /// The body of a create or an update to a value; perhaps with a resource that fails.
    pub(super) fn body(self, v: u64, count: u64, fails: bool) -> Value {
        let mut template = HEAD.to_owned() + self.resources();
        if fails {
            template.push_str(FAILING);
        }
        template.push_str(OUTPUTS);
        match self {
            Kind::Waiting => template.push_str(WAITING_OUTPUT),
            Kind::Scaling => template.push_str(SCALING_OUTPUT),
            _ => {}
        }
        let files = match self {
            Kind::Group => json!({ "child.yaml": CHILD }),
            Kind::Nested => json!({ "child.yaml": CHILD, "middle.yaml": MIDDLE }),
            _ => json!({}),
        };
        json!({
            "template": template,
            "files": files,
            "parameters": { "v": v.to_string(), "count": count },
            "disable_rollback": !fails,
            "timeout_mins": 30,
        })
    }
}
