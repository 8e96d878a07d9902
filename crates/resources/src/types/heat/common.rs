//! What software configurations and deployments have in common.

use super::deployment;
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{attributes, named};
use crate::op::OpError;
use crate::property_access::section;

const VALUE_TYPES: [&str; 5] = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"];

/// What every configuration has beside its content: inputs, outputs, and options for its tool.
pub(super) fn any_config(kind: ResourceType) -> ResourceType {
    kind.service(Service::Orchestration).entity("software_configs").props([
        prop("inputs", List).each(record([
            prop("default", Any),
            prop("description", Str),
            prop("name", Str).required(),
            prop("replace_on_change", Bool).default(false),
            prop("type", Str).default("String").one_of(VALUE_TYPES),
        ])),
        prop("options", Map),
        prop("outputs", List).each(record([
            prop("description", Str),
            prop("error_output", Bool).default(false),
            prop("name", Str).required(),
            prop("type", Str).default("String").one_of(VALUE_TYPES),
        ])),
    ])
}

/// A configuration applied to one server; its outputs are its attributes.
pub(super) fn a_deployment(kind: ResourceType) -> ResourceType {
    kind.service(Service::Orchestration)
        .entity("software_deployments")
        .any_attribute()
        .always_signallable()
        .suspendable()
        .with(what_to_deploy)
        .props([prop("server", Str).required()])
        .attrs([
            attr("deploy_status_code", Str),
            attr("deploy_stderr", Str),
            attr("deploy_stdout", Str),
        ])
        .with(deployment::doing)
}

/// A configuration applied to several servers, in batches if so wished.
pub(super) fn deployment_group(kind: ResourceType) -> ResourceType {
    kind.nested()
        .any_attribute()
        .with(what_to_deploy)
        .props([prop("servers", Map).required().updatable()])
        .attrs([
            attr("deploy_status_codes", Map),
            attr("deploy_stderrs", Map),
            attr("deploy_stdouts", Map),
        ])
        .update_policy(["batch_create", "rolling_update"].map(|section| {
            prop(section, Map).since("7.0.0").members([
                prop("max_batch_size", Int).default(1).min(1),
                prop("pause_time", Num).default(0).min(0),
            ])
        }))
        .attributes(attributes::deployments)
}

/// What the stack of a group of deployments should be next: a deployment for each server.
pub(super) fn deployments(group: &mut Group<'_>, kind: &'static str) -> Result<Stage, OpError> {
    let empty = Members::new();
    let servers = section(group.properties, "servers").unwrap_or(&empty);
    let shared: Members = group
        .properties
        .iter()
        .filter(|(name, value)| &***name != "servers" && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let define = |name: &str| {
        let mut properties = shared.clone();
        properties.insert("server".into(), servers.get(name).cloned().unwrap_or_default());
        map([("type", Value::from(kind)), ("properties", Value::Map(properties.into()))])
    };
    named::stage(
        group,
        named::Goal {
            size: servers.len(),
            names: &|size| servers.keys().take(size).cloned().collect(),
            define: &define,
            is_removed: &|name| !servers.contains_key(name),
            always_rolls: true,
            data: Members::new(),
        },
    )
}

/// How the inputs of a structured configuration are filled in.
pub(super) fn structured(kind: ResourceType) -> ResourceType {
    kind.props([
        prop("input_key", Str).default("get_input"),
        prop("input_values_validate", Str).default("LAX").one_of(["LAX", "STRICT"]),
    ])
}

fn what_to_deploy(kind: ResourceType) -> ResourceType {
    kind.props([
        prop("actions", List)
            .updatable()
            .default(list(["CREATE", "UPDATE"]))
            .one_of(["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"]),
        prop("config", Str).updatable(),
        prop("input_values", Map).updatable(),
        prop("name", Str).updatable(),
        prop("signal_transport", Str).default("CFN_SIGNAL").one_of([
            "CFN_SIGNAL",
            "TEMP_URL_SIGNAL",
            "HEAT_SIGNAL",
            "NO_SIGNAL",
            "ZAQAR_SIGNAL",
        ]),
    ])
}
