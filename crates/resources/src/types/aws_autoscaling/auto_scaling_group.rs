//! AWS::AutoScaling::AutoScalingGroup: a group of servers that grows and shrinks between two
//! bounds.

use super::launch_configuration::no_server_as_model;
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, scaled};
use crate::op::OpError;
use crate::property_access::{count, items, section};
use crate::refusals::{is_given, may_be_given};
use crate::scaling;
use crate::types::heat::instances::{
    self, launch_configuration_prop, rolling_update_props, server_group,
};
use kiln_template::codes;

pub(super) fn auto_scaling_group() -> ResourceType {
    ResourceType::new("AWS::AutoScaling::AutoScalingGroup")
        .about("A group of servers that grows and shrinks between two bounds.")
        .nested()
        .with(server_group)
        .since("2014.1")
        .props([
            prop("Cooldown", Int, "Seconds after a change of size during which further scaling requests are ignored.").updatable(),
            prop("DesiredCapacity", Int, "Number of servers on create and after each update; the minimum at first if omitted.").updatable(),
            prop("HealthCheckGracePeriod", Int, "Seconds that a new server has before its health counts; not supported.").unimplemented(),
            prop("HealthCheckType", Str, "Who judges the health of servers, the compute service or the load balancer; not supported.").unimplemented().one_of(["EC2", "ELB"]),
            prop("InstanceId", Str, "ID of an existing server whose image, flavor and key new servers take over, instead of a launch configuration.").is(SERVER),
            launch_configuration_prop(),
            prop("MaxSize", Int, "Largest number of servers that the group may have.").required().updatable(),
            prop("MinSize", Int, "Smallest number of servers that the group may have.").required().updatable(),
            prop("VPCZoneIdentifier", List, "Subnet in which the servers are placed; a list of one at most.").each(item(Str)),
        ])
        .update_policy([prop("AutoScalingRollingUpdate", Map, "How servers are replaced in batches when the launch configuration changes.").members(rolling_update_props())])
        .check(check)
        .check_with_siblings(instances::check_configuration)
        .expands_to(|properties, siblings| {
            let size = count(properties, "DesiredCapacity").filter(|size| *size > 0);
            let size = size.or_else(|| count(properties, "MinSize"))?;
            instances::expansion(properties, siblings, size)
        })
        .staged(next_stage)
        .cooldown(scaling::rests)
}

fn check(properties: &Members) -> Result<(), PropertyError> {
    scaling::check_bounds(properties)?;
    if items(properties, "VPCZoneIdentifier").len() > 1 {
        let message = "Anything other than one VPCZoneIdentifier is not supported.";
        return Err(PropertyError { code: &codes::NOT_SUPPORTED, ..PropertyError::new(message) });
    }
    let sources = ["InstanceId", "LaunchConfigurationName"];
    let given = sources.iter().filter(|name| is_given(properties, name)).count();
    let possible = sources.iter().filter(|name| may_be_given(properties, name)).count();
    if given > 1 || possible == 0 {
        let message = "Either 'InstanceId' or 'LaunchConfigurationName' must be provided.";
        return Err(PropertyError::new(message));
    }
    no_server_as_model(properties)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
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
