//! OS::Heat::ResourceGroup: a number of like resources made from one definition.

use crate::behaviour::{Group, Stage, View};
use crate::declare::*;
use crate::groups::{
    Addressing, Dialect, Member, Pace, attributes, forwarded, named, split, template_with_outputs,
};
use crate::op::OpError;
use crate::property_access::{count, items, section, text};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use kiln_template::print;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn resource_group() -> ResourceType {
    ResourceType::new("OS::Heat::ResourceGroup")
        .about("A number of like resources made from one definition.")
        .nested()
        .any_attribute()
        .since("2014.1")
        .props([
            prop("count", Int, "Number of members that the group has.").updatable().default(1).min(0),
            prop("index_var", Str, "Text in the properties of the definition that stands for the name of each member.").default("%index%").min_length(3).since("2014.2"),
            prop("removal_policies", List, "Which members go first when the group shrinks, or are replaced when it does not.")
                .updatable()
                .default_empty()
                .since("2015.1")
                .each(record([prop("resource_list", List, "Names or reference IDs of members to be removed.").default_empty()])),
            prop("removal_policies_mode", Str, "Whether members removed earlier stay excluded (`append`) or only those listed now (`update`).")
                .updatable()
                .default("append")
                .one_of(["append", "update"])
                .since("10.0.0"),
            prop("resource_def", Map, "Definition that each member is made from.").required().updatable().members([
                prop("metadata", Map, "Metadata of each member, as in a template.").since("5.0.0"),
                prop("properties", Map, "Properties of each member, as in a template."),
                prop("type", Str, "Resource type of the members.").required(),
            ]),
        ])
        .attrs([
            attr("attributes", Map, "Map from member name to the value of the attribute named next in the path.").since("2014.2"),
            attr("refs", List, "List of the reference IDs of the members."),
            attr("refs_map", Map, "Map from member name to its reference ID.").since("7.0.0"),
            attr("removed_rsrc_list", List, "Names of the members that removal policies have removed.").since("7.0.0"),
        ])
        .update_policy([
            prop("batch_create", Map, "How members are made in batches instead of all at once.").since("5.0.0").members([
                prop("max_batch_size", Int, "Largest number of members that are made at the same time.").default(1).min(1),
                prop("pause_time", Num, "Seconds between two batches of new members.").default(0).min(0),
            ]),
            prop("rolling_update", Map, "How members are updated in batches when their definition changes.").since("5.0.0").members(Pace::props()),
        ])
        .expands_to(group_template)
        .staged(next_stage)
        .attributes(attribute)
}

/// The entry of the resource's data with the names of removed members, which are never used again.
const REMOVED: &str = "name_blacklist";

/// The entry of the resource's data with the members that were removed by their reference, and their names.
const REMOVED_BY_REFERENCE: &str = "removed_by_reference";

/// The group's stack for validation, with the members that [`looked_at`] names.
fn group_template(properties: &Members, siblings: &dyn SiblingDefinitions) -> Option<Expansion> {
    text(section(properties, "resource_def")?, "type")?;
    let asked = siblings.own_attributes();
    let total = count(properties, "count")?;
    let members: Option<Vec<Member>> = looked_at(total, &asked)
        .into_iter()
        .map(|name| {
            let definition = member(properties, &name)?;
            Some((name, definition))
        })
        .collect();
    let members = members?;
    let outputs = forwarded(Addressing::Numbered, &members, &asked);
    let template = template_with_outputs(Dialect::Hot, &members, outputs);
    let expansion = Expansion::generated(template);
    let sample = Some(Sample { shown: members.len(), total });
    Some(Expansion { reports_types: true, sample, ..expansion })
}

/// The members that validation checks: the first one, because all are alike, and those of which attributes are asked.
fn looked_at(count: usize, asked: &[Vec<Value>]) -> BTreeSet<Arc<str>> {
    let number = |asked: &Vec<Value>| {
        let rest = asked.first()?.as_text()?.strip_prefix("resource.")?;
        split(rest, &[]).0.parse().ok()
    };
    let numbers = asked.iter().filter_map(number).chain([0_usize]);
    numbers.filter(|number| *number < count).map(|number| number.to_string().into()).collect()
}

/// The definition of a member.
fn member(properties: &Members, name: &str) -> Option<Value> {
    let definition = section(properties, "resource_def")?;
    let index_var = text(properties, "index_var")?;
    let given = definition.iter().filter(|(_, value)| !value.is_null());
    Some(Value::map(given.map(|(key, value)| match &**key {
        "properties" => (key.clone(), numbered(value, index_var, name)),
        _ => (key.clone(), value.clone()),
    })))
}

/// A definition with the member's name in place of the index variable; nulls are left out.
fn numbered(value: &Value, index_var: &str, name: &str) -> Value {
    match value {
        Value::Text(text) => text.replace(index_var, name).into(),
        Value::List(items) => Value::list(items.iter().map(|item| numbered(item, index_var, name))),
        Value::Map(members) => Value::map(
            members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), numbered(value, index_var, name))),
        ),
        Value::Secret(secret) => {
            Value::Secret(Secret::new(numbered(secret.expose(), index_var, name)))
        }
        other => other.clone(),
    }
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    let removed = Removed::of(group);
    named::stage(
        group,
        named::Goal {
            size: count(group.properties, "count").unwrap_or(1),
            names: &|size| names(size, &removed.names),
            define: &|name| member(group.properties, name).unwrap_or_default(),
            is_removed: &|name| removed.names.contains(name),
            always_rolls: false,
            data: removed.data(),
        },
    )
}

/// The first numbers that are not names of removed members.
fn names(size: usize, removed: &BTreeSet<Arc<str>>) -> Vec<Arc<str>> {
    let all = (0_u64..).map(|index| Arc::from(index.to_string()));
    all.filter(|name| !removed.contains(name)).take(size).collect()
}

/// The members that the removal policies remove.
struct Removed {
    names: BTreeSet<Arc<str>>,
    by_reference: Members,
}

impl Removed {
    fn of(group: &Group<'_>) -> Removed {
        let before = stored(group.data);
        let references = section(group.data, REMOVED_BY_REFERENCE);
        let is_update = text(group.properties, "removal_policies_mode") == Some("update");
        let names = if is_update { BTreeSet::new() } else { before.clone() };
        let mut removed = Removed { names, by_reference: Members::new() };
        for item in listed(group.properties) {
            let name: Arc<str> = print::plain(item).into();
            let is_member = || group.members.iter().any(|member| member.name == name);
            if before.contains(&name) || group.is_new || is_member() {
                removed.names.insert(name);
                continue;
            }
            let member = group.members.iter().find(|member| member.reference == *item);
            // A deleted member has no reference any more, so the recorded name is used.
            let gone = || references?.get(&name)?.as_text().cloned();
            if let Some(found) = member.map(|member| member.name.clone()).or_else(gone) {
                removed.by_reference.insert(name, Value::Text(found.clone()));
                removed.names.insert(found);
            }
        }
        removed
    }

    fn data(&self) -> Members {
        let names: Vec<&str> = self.names.iter().map(|name| &**name).collect();
        let references = if self.by_reference.is_empty() {
            Value::Null
        } else {
            Value::Map(self.by_reference.clone().into())
        };
        Members::from_iter([
            (REMOVED.into(), names.join(",").into()),
            (REMOVED_BY_REFERENCE.into(), references),
        ])
    }
}

/// The entries of all removal policies.
fn listed(properties: &Members) -> impl Iterator<Item = &Value> {
    let policies = items(properties, "removal_policies").iter().filter_map(Value::as_map);
    policies.flat_map(|policy| items(policy, "resource_list"))
}

fn stored(data: &Members) -> BTreeSet<Arc<str>> {
    let names = text(data, REMOVED).unwrap_or_default().split(',');
    names.filter(|name| !name.is_empty()).map(Arc::from).collect()
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    if name == "removed_rsrc_list" {
        let names = stored(view.data).into_iter().map(Value::Text);
        return Ok(Some(step_into_attribute(&Value::list(names), path)));
    }
    attributes::numbered(view, name, path)
}
