//! OS::Heat::SoftwareComponent: several configurations, each for some of the actions of a
//! deployment.

use super::common::any_config;
use super::stored_config;
use crate::behaviour::View;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::items;
use kiln_template::functions::Fault;
use std::collections::BTreeSet;

pub(super) fn software_component() -> ResourceType {
    ResourceType::new("OS::Heat::SoftwareComponent")
        .about("Several configurations, each for some of the actions of a deployment.")
        .since("2014.2")
        .with(any_config)
        .props([prop(
            "configs",
            List,
            "Configurations of the component, each for actions of its own.",
        )
        .required()
        .min_length(1)
        .each(record([
            prop("actions", List, "Actions of the stack on which this configuration is applied.")
                .default(list(["CREATE", "UPDATE"]))
                .min_length(1)
                .each(item(Str)),
            prop("config", Str, "Text of the configuration, such as a script."),
            prop(
                "tool",
                Str,
                "Tool on the server that applies the configuration, such as `script` or `ansible`.",
            )
            .required(),
        ]))])
        .attrs([attr("config", Str, "Always null, as a component has several configurations.")])
        .check_with_siblings(check)
        .creates(|op| Box::pin(create(op)))
        .created_on_adopt()
        .deletes(|op| Box::pin(stored_config::remove(op)))
        .attributes(attribute)
}

/// One action has one configuration: nothing says which of two would come first.
fn check(properties: &Members, siblings: &dyn SiblingDefinitions) -> Result<(), PropertyError> {
    let mut actions = BTreeSet::new();
    for config in items(properties, "configs").iter().filter_map(Value::as_map) {
        let own: BTreeSet<_> =
            items(config, "actions").iter().filter_map(Value::as_text).cloned().collect();
        if !own.is_disjoint(&actions) {
            let name = siblings.own_name();
            return Err(PropertyError::new(format!(
                "Defining more than one configuration for the same action in SoftwareComponent \
                 \"{name}\" is not allowed."
            )));
        }
        actions.extend(own);
    }
    Ok(())
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let config = map([("configs", op.prop("configs").clone())]);
    stored_config::store(op, "component".into(), config).await
}

/// Reads an attribute. A component has several configurations, so `config` is null.
fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    match name {
        "config" => Ok(Some(Value::Null)),
        _ => stored_config::attribute(view, name, path),
    }
}
