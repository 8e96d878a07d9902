//! The common parts of software configurations and deployments.

use super::deployment;
use super::signal_transport::SignalTransport;
use crate::behaviour::{Group, Stage};
use crate::declare::*;
use crate::groups::{attributes, named};
use crate::op::OpError;
use crate::property_access::{open, section};
use kiln_template::Unknown;

const VALUE_TYPES: [&str; 5] = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"];

/// Declares what every configuration has besides its content: inputs, outputs, and options for its tool.
pub(super) fn any_config(kind: ResourceType) -> ResourceType {
    kind.service(Service::Orchestration).entity("software_configs").props([
        prop("inputs", List, "Values that the configuration needs when it is deployed.").each(
            record([
                prop("default", Any, "Value of the input if a deployment gives none."),
                prop("description", Str, "Free text that describes the input."),
                prop("name", Str, "Name of the input by which deployments give its value.")
                    .required(),
                prop(
                    "replace_on_change",
                    Bool,
                    "Whether another value replaces a deployment instead of updating it.",
                )
                .default(false),
                prop("type", Str, "Data type of the input's value.")
                    .default("String")
                    .one_of(VALUE_TYPES),
            ]),
        ),
        prop(
            "options",
            Map,
            "Settings for the tool that applies the configuration, as keys with values.",
        ),
        prop("outputs", List, "Values that the configuration reports after it has been applied.")
            .each(record([
                prop("description", Str, "Free text that describes the output."),
                prop(
                    "error_output",
                    Bool,
                    "Whether the deployment counts as failed when this output is reported.",
                )
                .default(false),
                prop(
                    "name",
                    Str,
                    "Name of the output, by which it becomes an attribute of deployments.",
                )
                .required(),
                prop("type", Str, "Data type of the output's value.")
                    .default("String")
                    .one_of(VALUE_TYPES),
            ])),
    ])
}

/// Declares a deployment: a configuration for one server, whose outputs are attributes.
pub(super) fn a_deployment(kind: ResourceType) -> ResourceType {
    kind.service(Service::Orchestration)
        .entity("software_deployments")
        .any_attribute()
        .always_signallable()
        .suspendable()
        .with(what_to_deploy)
        .props([prop(
            "server",
            Str,
            "ID of the server or deployed server on which the configuration is applied.",
        )
        .required()])
        .attrs([
            attr(
                "deploy_status_code",
                Str,
                "Exit status of the tool that applied the configuration; 0 means success.",
            ),
            attr("deploy_stderr", Str, "Text that the tool wrote to standard error."),
            attr("deploy_stdout", Str, "Text that the tool wrote to standard output."),
        ])
        .check_with_siblings(check_server)
        .with(deployment::doing)
}

/// Refuses a deployment to a server of the stack whose user data has another format.
fn check_server(
    properties: &Members,
    siblings: &dyn SiblingDefinitions,
) -> Result<(), PropertyError> {
    let name = match properties.get("server").map(open) {
        Some(Value::Unknown(Unknown::Reference(name)) | Value::Text(name)) => name,
        _ => return Ok(()),
    };
    let format = siblings.property(name, "user_data_format");
    match format.as_ref().map(open).and_then(Value::as_text).map(|format| &**format) {
        None | Some("SOFTWARE_CONFIG") => Ok(()),
        Some(_) => Err(PropertyError::new(format!(
            "Resource {name}'s property user_data_format should be set to SOFTWARE_CONFIG since there are \
             software deployments on it."
        ))),
    }
}

/// Declares a group of deployments: a configuration for several servers, in batches if the policy has them.
pub(super) fn deployment_group(kind: ResourceType) -> ResourceType {
    kind.nested()
        .any_attribute()
        .with(what_to_deploy)
        .props([prop(
            "servers",
            Map,
            "Map from a name for each deployment to the ID of its server.",
        )
        .required()
        .updatable()])
        .attrs([
            attr(
                "deploy_status_codes",
                Map,
                "Map from deployment name to the exit status of the tool.",
            ),
            attr(
                "deploy_stderrs",
                Map,
                "Map from deployment name to what the tool wrote to standard error.",
            ),
            attr(
                "deploy_stdouts",
                Map,
                "Map from deployment name to what the tool wrote to standard output.",
            ),
        ])
        .update_policy(["batch_create", "rolling_update"].map(|section| {
            prop(section, Map, "How deployments are batched in this phase of the group's life.")
                .since("7.0.0")
                .members([
                    prop(
                        "max_batch_size",
                        Int,
                        "Largest number of servers that are deployed to at the same time.",
                    )
                    .default(1)
                    .min(1),
                    prop("pause_time", Num, "Seconds between two batches of deployments.")
                        .default(0)
                        .min(0),
                ])
        }))
        .attributes(attributes::deployments)
}

/// Computes the next template of a group of deployments, which has a deployment for each server.
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

/// Declares the properties that say how inputs are replaced in a structured configuration.
pub(super) fn structured(kind: ResourceType) -> ResourceType {
    kind.props([
        prop(
            "input_key",
            Str,
            "Key of the one-entry maps in the configuration that are replaced by input values.",
        )
        .default("get_input"),
        prop(
            "input_values_validate",
            Str,
            "Whether a missing input becomes null (`LAX`) or makes the deployment fail (`STRICT`).",
        )
        .default("LAX")
        .one_of(["LAX", "STRICT"]),
    ])
}

fn what_to_deploy(kind: ResourceType) -> ResourceType {
    kind.props([
        prop("actions", List, "Actions of the stack on which the configuration is applied.")
            .updatable()
            .default(list(["CREATE", "UPDATE"]))
            .one_of(["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"]),
        prop("config", Str, "ID of the software config that is applied; an empty one if omitted.")
            .updatable(),
        prop("input_values", Map, "Values of the configuration's inputs, by name.").updatable(),
        prop(
            "name",
            Str,
            "Name under which the server sees the deployment; the config's own if omitted.",
        )
        .updatable(),
        prop(
            "signal_transport",
            Str,
            "How the server reports the outcome. With `NO_SIGNAL` the deployment is complete without a report.",
        )
        .default(SignalTransport::Cfn.name())
        .one_of(SignalTransport::OF_DEPLOYMENTS.map(SignalTransport::name)),
    ])
}
