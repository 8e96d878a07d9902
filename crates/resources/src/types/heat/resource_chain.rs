//! OS::Heat::ResourceChain: resources of different types made one after the other with the same
//! properties.

use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{
    Addressing, Dialect, Member, attributes, forwarded, template, template_with_outputs,
};
use crate::op::OpError;
use crate::property_access::{given, items};
use std::sync::Arc;

pub(super) fn resource_chain() -> ResourceType {
    ResourceType::new("OS::Heat::ResourceChain")
        .about("Resources of different types made one after the other with the same properties.")
        .nested()
        .any_attribute()
        .since("6.0.0")
        .props([
            prop(
                "concurrent",
                Bool,
                "Whether all resources are made at the same time instead of one after the other.",
            )
            .default(false),
            prop(
                "resource_properties",
                Map,
                "Properties that are given to every resource of the chain.",
            ),
            prop("resources", List, "Types of the resources, in the order in which they are made.")
                .required()
                .updatable(),
        ])
        .attrs([
            attr(
                "attributes",
                Map,
                "Map from member name to the value of the attribute named next in the path.",
            ),
            attr("refs", List, "List of the reference IDs of the members."),
        ])
        .expands_to(chain_template)
        .staged(next_stage)
        .attributes(attributes::numbered)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    let template = members_template(group.properties);
    Ok(Stage { template, is_last: true, ..Stage::default() })
}

/// The chain's stack for validation; `None` if a type is not known.
fn chain_template(properties: &Members, siblings: &dyn SiblingDefinitions) -> Option<Expansion> {
    let is_known = items(properties, "resources").iter().all(|kind| kind.as_text().is_some());
    let expand = || {
        let members = members(properties);
        let outputs = forwarded(Addressing::Numbered, &members, &siblings.own_attributes());
        let template = template_with_outputs(Dialect::Hot, &members, outputs);
        let expansion = Expansion::generated(template);
        Expansion { reports_types: true, ..expansion }
    };
    is_known.then(expand)
}

fn members_template(properties: &Members) -> Value {
    template(Dialect::Hot, &members(properties))
}

fn members(properties: &Members) -> Vec<Member> {
    let types = items(properties, "resources").iter().enumerate();
    types.map(|(at, kind)| (at.to_string().into(), member(properties, kind, at))).collect()
}

/// The definition of a member. It depends on the member before it, unless the chain is concurrent.
fn member(properties: &Members, kind: &Value, at: usize) -> Value {
    let mut definition: Members = [("type".into(), kind.clone())].into_iter().collect();
    if let Some(given) = given(properties, "resource_properties") {
        definition.insert("properties".into(), given.clone());
    }
    let concurrent = properties.get("concurrent").is_some_and(Value::is_truthy);
    if let Some(before) = at.checked_sub(1).filter(|_| !concurrent) {
        let before: Arc<str> = before.to_string().into();
        definition.insert("depends_on".into(), list([Value::Text(before)]));
    }
    Value::Map(definition.into())
}
