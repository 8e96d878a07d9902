//! OS::Heat::AutoScalingGroup: a group of like resources of any type that grows and shrinks between
//! two bounds.

use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{
    Addressing, Dialect, Member, Pace, attributes, forwarded, scaled, template_with_outputs,
};
use crate::op::OpError;
use crate::property_access::{count, section, text};
use crate::scaling;

pub(super) fn auto_scaling_group() -> ResourceType {
    ResourceType::new("OS::Heat::AutoScalingGroup")
        .about("A group of like resources of any type that grows and shrinks between two bounds.")
        .nested()
        .any_attribute()
        .since("2014.1")
        .props([
            prop("cooldown", Int, "Seconds after a change of size during which further scaling requests are ignored.").updatable(),
            prop("desired_capacity", Int, "Number of members on create and after each update; the minimum at first if omitted.").updatable(),
            prop("max_size", Int, "Largest number of members that the group may have.").required().updatable().min(0),
            prop("min_size", Int, "Smallest number of members that the group may have.").required().updatable().min(0),
            prop("resource", Map, "Definition of a member as in a template, with its type and properties.").required().updatable(),
            prop("rolling_updates", Map, "How members are updated in batches when their definition changes.")
                .updatable()
                .default(map([("max_batch_size", 1), ("min_in_service", 0), ("pause_time", 0)]))
                .members(Pace::props()),
        ])
        .attrs([
            attr("current_size", Int, "Number of members that have not failed.").since("2015.1"),
            attr("outputs", Map, "Map from member name to the value of the attribute named next in the path.").since("2014.2"),
            attr("outputs_list", List, "List of the members' values of the attribute named next in the path.").since("2014.2"),
            attr("refs", List, "List of the reference IDs of the members.").since("7.0.0"),
            attr("refs_map", Map, "Map from member name to its reference ID.").since("7.0.0"),
        ])
        .check(scaling::check_bounds)
        .expands_to(group_template)
        .staged(next_stage)
        .attributes(attributes::scaled)
        .cooldown(scaling::rests)
}

/// The group's stack for validation, with one member; `None` if the group has no members at first.
fn group_template(properties: &Members, siblings: &dyn SiblingDefinitions) -> Option<Expansion> {
    let definition = section(properties, "resource")?;
    text(definition, "type")?;
    let size = count(properties, "desired_capacity").or(count(properties, "min_size"))?;
    let member: Member = ("member".into(), Value::Map(definition.clone().into()));
    let members = [member];
    let outputs = forwarded(Addressing::Scaled, &members, &siblings.own_attributes());
    let template = template_with_outputs(Dialect::Hot, &members, outputs);
    let sample = Some(Sample { shown: 1, total: size });
    (size > 0).then(|| Expansion { sample, ..Expansion::generated(template) })
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    let properties = group.properties;
    let pace = section(properties, "rolling_updates").map(Pace::of);
    let bounds = scaling::bounds(properties);
    let goal = scaled::Goal {
        definition: properties.get("resource").cloned().unwrap_or_default(),
        desired: count(properties, "desired_capacity"),
        initial: bounds.0,
        bounds,
        pace,
        dialect: Dialect::Hot,
    };
    scaled::stage(group, &goal)
}
