//! OS::Heat::InstanceGroup: a group of a fixed number of like servers from a launch configuration.

use super::instances::{self, launch_configuration_prop, rolling_update_props, server_group};
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{Dialect, scaled};
use crate::op::OpError;
use crate::property_access::{count, section};

pub(super) fn instance_group() -> ResourceType {
    ResourceType::new("OS::Heat::InstanceGroup")
        .about("A group of a fixed number of like servers from a launch configuration.")
        .nested()
        .with(server_group)
        .props([
            launch_configuration_prop().required(),
            prop("Size", Int, "Number of servers that the group has.").required().updatable(),
        ])
        .update_policy([prop(
            "RollingUpdate",
            Map,
            "How servers are replaced in batches when the launch configuration changes.",
        )
        .members(rolling_update_props())])
        .check_with_siblings(instances::check_configuration)
        .expands_to(|properties, siblings| {
            instances::expansion(properties, siblings, count(properties, "Size")?)
        })
        .staged(next_stage)
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
