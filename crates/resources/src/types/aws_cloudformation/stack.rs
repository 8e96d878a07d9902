//! AWS::CloudFormation::Stack: a nested stack made from a template at a URL.

use crate::behaviour::{Group, Stage, View};
use crate::declare::*;
use crate::op::OpError;
use crate::property_access::{given, seconds, section, text};
use kiln_template::functions::{Fault, step_into_attribute};
use std::time::Duration;

pub(super) fn stack() -> ResourceType {
    ResourceType::new("AWS::CloudFormation::Stack")
        .about("A nested stack made from a template at a URL.")
        .nested()
        .any_attribute()
        .props([
            prop("Parameters", Map, "Values for the parameters of the nested template.")
                .updatable(),
            prop("TemplateURL", Str, "URL of the template that the nested stack is made from.")
                .required()
                .updatable(),
            prop(
                "TimeoutInMinutes",
                Int,
                "Minutes that creating or updating the nested stack may take before it fails.",
            )
            .updatable(),
        ])
        .expands_to(|properties, _| {
            let url = text(properties, "TemplateURL")?.into();
            Some(Expansion::file(url, parameters(properties)))
        })
        .staged(next_stage)
        .reference(reference)
        .attributes(attribute)
}

fn next_stage(group: &mut Group<'_>) -> Result<Stage, OpError> {
    Ok(Stage {
        file: text(group.properties, "TemplateURL").map(Into::into),
        parameters: parameters(group.properties),
        timeout: timeout(group.properties),
        is_last: true,
        ..Stage::default()
    })
}

fn parameters(properties: &Members) -> Members {
    section(properties, "Parameters").cloned().unwrap_or_default()
}

fn timeout(properties: &Members) -> Option<Duration> {
    let minutes = seconds(given(properties, "TimeoutInMinutes")?);
    Some(minutes.saturating_mul(60)).filter(|length| !length.is_zero())
}

fn reference(view: &View<'_>) -> Value {
    let Some(child) = view.nested else { return view.name.into() };
    match child.output("OS::stack_id") {
        Some(Ok(value)) => value,
        _ => child.arn().into(),
    }
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let output = name.strip_prefix("Outputs.");
    match output.and_then(|output| view.nested?.output(output)) {
        Some(value) => Ok(Some(step_into_attribute(&value?, path))),
        None => Err(Fault::new(format!(
            "The Referenced Attribute ({} {name}) is incorrect.",
            view.name
        ))),
    }
}
