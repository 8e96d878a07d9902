//! OS::Heat::InstanceGroup: a group of a fixed number of like servers from a launch configuration.

use super::instances;
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, attributes, scaled};
use crate::op::OpError;
use crate::property_access::{count, section};
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
        .staged(next_stage)
        .attributes(attributes::instances)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    instances::check_balancers(group)?;
    let pace = section(group.update_policy, "RollingUpdate").map(instances::pace).transpose()?;
    let size = count(group.properties, "Size");
    let goal = scaled::Goal {
        definition: instances::member(group, "metering.groupname")?,
        desired: size,
        initial: 0,
        bounds: (0, usize::MAX),
        pace,
        dialect: Dialect::Cfn,
    };
    Ok(instances::aliased(scaled::stage(group, &goal)?))
}
