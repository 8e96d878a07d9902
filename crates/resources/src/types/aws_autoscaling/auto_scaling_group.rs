//! AWS::AutoScaling::AutoScalingGroup: a group of servers that grows and shrinks between two
//! bounds.

use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, attributes, scaled};
use crate::op::OpError;
use crate::property_access::{count, given, section};
use crate::scaling;
use crate::types::aws_ec2::key_value;
use crate::types::heat::instances;

pub(super) fn auto_scaling_group() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::AutoScalingGroup")
        .about("A group of servers that grows and shrinks between two bounds.")
        .nested()
        .since("2014.1")
        .props([
            prop("AvailabilityZones", List).required(),
            prop("Cooldown", Int).updatable(),
            prop("DesiredCapacity", Int).updatable(),
            prop("HealthCheckGracePeriod", Int).unimplemented(),
            prop("HealthCheckType", Str).unimplemented().one_of(["EC2", "ELB"]),
            prop("InstanceId", Str).is("nova.server"),
            prop("LaunchConfigurationName", Str).updatable(),
            prop("LoadBalancerNames", List),
            prop("MaxSize", Int).required().updatable(),
            prop("MinSize", Int).required().updatable(),
            prop("Tags", List).each(key_value()),
            prop("VPCZoneIdentifier", List).each(item(Str)),
        ])
        .attrs([attr("InstanceList", Str)])
        .update_policy([prop("AutoScalingRollingUpdate", Map).members([
            prop("MaxBatchSize", Int).default(1),
            prop("MinInstancesInService", Int).default(0),
            prop("PauseTime", Str).default("PT0S"),
        ])])
        .staged(next_stage)
        .attributes(attributes::instances)
        .cooldown(scaling::rests)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    if given(group.properties, "LaunchConfigurationName").is_none() {
        let message = "members like an existing server (InstanceId) are not supported yet: use a \
                       launch configuration";
        return Err(OpError::failed("NotSupported", message));
    }
    instances::check_balancers(group)?;
    let policy = section(group.update_policy, "AutoScalingRollingUpdate");
    let bounds = scaling::bounds(group.properties);
    let goal = scaled::Goal {
        definition: instances::member(group, "metering.AutoScalingGroupName")?,
        desired: count(group.properties, "DesiredCapacity"),
        initial: bounds.0,
        bounds,
        pace: policy.map(instances::pace).transpose()?,
        dialect: Dialect::Cfn,
    };
    Ok(instances::aliased(scaled::stage(group, &goal)?))
}
