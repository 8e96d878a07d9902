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
            prop(
                "AvailabilityZones",
                List,
                "Names of the availability zones in which servers may be placed.",
            )
            .required(),
            prop(
                "LaunchConfigurationName",
                Str,
                "Reference to the launch configuration that new servers are made from.",
            )
            .required()
            .updatable(),
            prop(
                "LoadBalancerNames",
                List,
                "Load balancers of the same stack among which the servers are kept as members.",
            ),
            prop("Size", Int, "Number of servers that the group has.").required().updatable(),
            prop("Tags", List, "Tags that every server of the group gets as metadata.")
                .each(key_value()),
        ])
        .attrs([attr(
            "InstanceList",
            Str,
            "Comma-separated addresses of the servers of the group.",
        )])
        .update_policy([prop(
            "RollingUpdate",
            Map,
            "How servers are replaced in batches when the launch configuration changes.",
        )
        .members([
            prop(
                "MaxBatchSize",
                Int,
                "Largest number of servers that are replaced at the same time.",
            )
            .default(1),
            prop(
                "MinInstancesInService",
                Int,
                "Number of servers that must stay in service while others are being replaced.",
            )
            .default(0),
            prop(
                "PauseTime",
                Str,
                "Pause between two batches as an ISO 8601 duration, one hour at most.",
            )
            .default("PT0S"),
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
