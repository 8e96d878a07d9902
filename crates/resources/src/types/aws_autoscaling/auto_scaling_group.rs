//! AWS::AutoScaling::AutoScalingGroup: a group of servers that grows and shrinks between two
//! bounds.

use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, attributes, scaled};
use crate::op::{FailureClass, OpError};
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
            prop("AvailabilityZones", List, "Names of the availability zones in which servers may be placed.").required(),
            prop("Cooldown", Int, "Seconds after a change of size during which further scaling requests are ignored.").updatable(),
            prop("DesiredCapacity", Int, "Number of servers on create and after each update; the minimum at first if omitted.").updatable(),
            prop("HealthCheckGracePeriod", Int, "Seconds that a new server has before its health counts; not supported.").unimplemented(),
            prop("HealthCheckType", Str, "Who judges the health of servers, the compute service or the load balancer; not supported.").unimplemented().one_of(["EC2", "ELB"]),
            prop("InstanceId", Str, "ID of an existing server whose image, flavor and key new servers take over, instead of a launch configuration.").is(SERVER),
            prop("LaunchConfigurationName", Str, "Reference to the launch configuration that new servers are made from.").updatable(),
            prop("LoadBalancerNames", List, "Load balancers of the same stack among which the servers are kept as members."),
            prop("MaxSize", Int, "Largest number of servers that the group may have.").required().updatable(),
            prop("MinSize", Int, "Smallest number of servers that the group may have.").required().updatable(),
            prop("Tags", List, "Tags that every server of the group gets as metadata.").each(key_value()),
            prop("VPCZoneIdentifier", List, "Subnet in which the servers are placed; a list of one at most.").each(item(Str)),
        ])
        .attrs([attr("InstanceList", Str, "Comma-separated addresses of the servers of the group.")])
        .update_policy([prop("AutoScalingRollingUpdate", Map, "How servers are replaced in batches when the launch configuration changes.").members([
            prop("MaxBatchSize", Int, "Largest number of servers that are replaced at the same time.").default(1),
            prop("MinInstancesInService", Int, "Number of servers that must stay in service while others are being replaced.").default(0),
            prop("PauseTime", Str, "Pause between two batches as an ISO 8601 duration, one hour at most.").default("PT0S"),
        ])])
        .staged(next_stage)
        .attributes(attributes::instances)
        .cooldown(scaling::rests)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    if given(group.properties, "LaunchConfigurationName").is_none() {
        let message = "members like an existing server (InstanceId) are not supported yet: use a \
                       launch configuration";
        return Err(OpError::failed(FailureClass::NotSupported, message));
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
