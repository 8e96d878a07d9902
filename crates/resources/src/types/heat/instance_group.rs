//! OS::Heat::InstanceGroup: a group of a fixed number of like servers from a launch configuration.

use crate::declare::*;
use crate::types::aws_ec2::key_value;

pub(super) fn instance_group() -> ResourceType {
    ResourceType::new("OS::Heat::InstanceGroup")
        .about("A group of a fixed number of like servers from a launch configuration.")
        .nested()
        .props([
            prop("AvailabilityZones", List).required(),
            prop("LaunchConfigurationName", Str).required().updatable(),
            prop("LoadBalancerNames", List),
            prop("Size", Int).required().updatable(),
            prop("Tags", List).each(key_value()),
        ])
        .attrs([attr("InstanceList", Str)])
        .update_policy([prop("RollingUpdate", Map).members([
            prop("MaxBatchSize", Int).default(1),
            prop("MinInstancesInService", Int).default(0),
            prop("PauseTime", Str).default("PT0S"),
        ])])
}
