//! Stacks: listed, shown, made, changed, ended.

use super::change_sets::{no_stack, reviewed_stack};
use super::names::{Named, arn, arn_of, existing_stack, live_stack, stack};
use super::stack_request::{new_stack, patch, stack_input, template};
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::{environment, members, wrapped};
use crate::request::{Request, moment};
use kiln_engine::store::{StackQuery, StackRow};
use kiln_engine::{ErrorType, OutputView, StackRequest, StackView, TemplateSource, TreePart};
use kiln_template::{Limits, Members, Sources, Value, print, read};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The stacks of the caller's project.
pub(super) async fn of_project(
    request: &Request,
    more: StackQuery,
) -> Result<Vec<StackRow>, AwsFault> {
    let project = Some(request.caller.project_id.as_str().into());
    let query = StackQuery { project, descending: true, ..more };
    Ok(request.service().list(&request.requester(), query, false, false).await?.stacks)
}

pub(super) async fn list(request: Request, _: Params) -> Result<Value, AwsFault> {
    let stacks = of_project(&request, StackQuery::default()).await?;
    let shown = stacks.iter().map(|stack| {
        Value::map([
            ("CreationTime", moment(stack.summary.created)),
            ("LastUpdatedTime", stack.summary.updated.map(moment).unwrap_or_default()),
            ("StackId", arn(stack).into()),
            ("StackName", Value::Text(stack.summary.name.clone())),
            ("StackStatusReason", Value::Text(stack.summary.reason.clone())),
            ("StackStatus", stack.summary.state.to_string().into()),
            ("DeletionTime", stack.summary.deleted.map(moment).unwrap_or_default()),
        ])
    });
    Ok(wrapped("StackSummaries", Value::list(shown)))
}

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    let requester = request.requester();
    let stacks = match params.get("StackName") {
        Some(name) => match existing_stack(&request, &params).await? {
            Some(stack) => vec![stack],
            // Tools of AWS wait for this fault, or for a stack that a change set is to create.
            None => {
                let known = Named::read(name).map_or(name, |named| named.stack);
                let reviewed = request.service().reviewed_stacks(&requester, Some(known)).await?;
                let found = reviewed.first().ok_or_else(|| no_stack(name))?;
                let shown = [reviewed_stack(&request, found)];
                return Ok(wrapped("Stacks", Value::list(shown)));
            }
        },
        None => of_project(&request, StackQuery::default()).await?,
    };
    let mut shown = Vec::with_capacity(stacks.len());
    for stack in &stacks {
        let show = |stack: &StackRow, seen: &StackView<'_>| Ok(described(&request, stack, seen));
        // A list of stacks does not call the cloud.
        let read = match stacks.len() {
            1 => request.read_outputs(stack, show).await,
            _ => request.read_stack(stack, TreePart::Outputs, show).await,
        };
        match read {
            Ok(stack) => shown.push(stack),
            // The stack was deleted while the others were read.
            Err(fault) if stacks.len() > 1 && fault.error_type == ErrorType::EntityNotFound => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    if params.get("StackName").is_none() {
        let reviewed = request.service().reviewed_stacks(&requester, None).await?;
        shown.extend(reviewed.iter().map(|it| reviewed_stack(&request, it)));
    }
    Ok(wrapped("Stacks", Value::list(shown)))
}

fn described(request: &Request, stack: &StackRow, seen: &StackView<'_>) -> Value {
    let settings = seen.settings();
    let parameters = seen.parameters().into_iter().map(|(name, value)| {
        Value::map([("ParameterKey", Value::Text(name)), ("ParameterValue", value.into())])
    });
    let timeout = settings.timeout.map(|it| Value::from((it.as_secs() / 60) as i64));
    let mut shown = members([
        ("Capabilities", Value::list([])),
        ("CreationTime", moment(stack.summary.created)),
        ("Description", seen.description().unwrap_or_else(|| "No description".into())),
        ("DisableRollback", (!settings.is_rolled_back.unwrap_or(false)).into()),
        ("NotificationARNs", Value::list([])),
        ("Parameters", Value::list(parameters)),
        ("StackId", arn(stack).into()),
        ("StackName", Value::Text(stack.summary.name.clone())),
        ("StackStatusReason", Value::Text(stack.summary.reason.clone())),
        ("TimeoutInMinutes", timeout.unwrap_or_default()),
    ]);
    shown.extend(stack.summary.updated.map(|time| ("LastUpdatedTime".into(), moment(time))));
    let outputs = match stack.summary.deleted {
        None => seen.outputs(),
        Some(_) => Vec::new(),
    };
    shown.extend(members([
        ("StackStatus", stack.summary.state.to_string().into()),
        ("Outputs", Value::list(outputs.iter().map(|it| output(request, it)))),
    ]));
    Value::Map(Arc::new(shown))
}

fn output(request: &Request, output: &OutputView) -> Value {
    let value = output.value.as_ref().map(|value| request.visible_output(value));
    let value = value.unwrap_or_default();
    Value::map([
        ("Description", output.description.clone()),
        ("OutputKey", Value::Text(output.name.clone())),
        ("OutputValue", without_colons(&value)),
    ])
}

/// A value whose member names are valid names of XML elements.
fn without_colons(value: &Value) -> Value {
    match value {
        Value::Map(inner) => {
            let renamed = inner
                .iter()
                .map(|(name, value)| (Arc::from(name.replace(':', ".")), without_colons(value)));
            Value::Map(Arc::new(renamed.collect::<Members>()))
        }
        other => other.clone(),
    }
}

pub(super) async fn create(request: Request, params: Params) -> Result<Value, AwsFault> {
    let name = params.need("StackName")?;
    let mut stack_request = new_stack(&request, &params).await?;
    stack_request.settings.is_rolled_back.get_or_insert(false);
    let id = request.service().create(&request.requester(), name, stack_request).await?;
    let arn = arn_of(&request.caller.project_id, name, &id.to_string());
    Ok(wrapped("StackId", arn.into()))
}

pub(super) async fn update(request: Request, params: Params) -> Result<Value, AwsFault> {
    let stack = live_stack(&request, &params).await?;
    let input = stack_input(&request, &params).await?;
    let patch = patch(&request, &stack, &input).await?;
    request.service().update(&request.requester(), &stack, input.request, &patch).await?;
    Ok(wrapped("StackId", arn(&stack).into()))
}

pub(super) async fn cancel_update(request: Request, params: Params) -> Result<Value, AwsFault> {
    let stack = live_stack(&request, &params).await?;
    request.service().cancel(&stack, true).await?;
    Ok(Value::Map(Arc::default()))
}

pub(super) async fn delete(request: Request, params: Params) -> Result<Value, AwsFault> {
    let requester = request.requester();
    let found = existing_stack(&request, &params).await?;
    let name = params.need("StackName")?;
    let name = Named::read(name).map_or(name, |named| named.stack);
    let name = found.as_ref().map_or(name, |stack| &stack.summary.name);
    // The change sets of a stack go with it, and with them a stack that was only to be created.
    let sets = request.service().change_sets(&requester, name).await?;
    match &found {
        Some(stack) => request.service().delete(stack).await?,
        None if sets.is_empty() => _ = stack(&request, &params).await?,
        None => {}
    }
    for set in &sets {
        request.service().delete_change_set(set.id).await?;
    }
    Ok("".into())
}

pub(super) async fn get_template(request: Request, params: Params) -> Result<Value, AwsFault> {
    let stack = stack(&request, &params).await?;
    let template =
        request.read_stack(&stack, TreePart::Stack, |_, seen| Ok(seen.template())).await?;
    Ok(wrapped("TemplateBody", template))
}

/// The parameters and the types of a template, or of the template of a stack.
pub(super) async fn summary(request: Request, params: Params) -> Result<Value, AwsFault> {
    let template = match params.get("StackName") {
        Some(name) => {
            let stack = existing_stack(&request, &params).await?.ok_or_else(|| no_stack(name))?;
            request.read_stack(&stack, TreePart::Stack, |_, seen| Ok(seen.template())).await?
        }
        None => {
            let text = template(&request, &params).await?;
            let file = Sources::new().add("template", text.clone());
            let (node, _) = read::read(file, &text, &Limits::default());
            node.map(|node| Value::from(&node)).unwrap_or_default()
        }
    };
    Ok(summarised(&template))
}

/// What a template declares. Names of members are those of either language.
fn summarised(template: &Value) -> Value {
    let member = |value: &Value, names: [&str; 2]| {
        let found = value.as_map().and_then(|it| names.into_iter().find_map(|name| it.get(name)));
        found.cloned()
    };
    let section = |names: [&str; 2]| member(template, names).unwrap_or_default();
    let parameters = section(["Parameters", "parameters"]);
    let parameters = parameters.as_map().into_iter().flatten().map(|(name, definition)| {
        let hidden = member(definition, ["NoEcho", "hidden"]).is_some_and(|it| it.is_truthy());
        let mut shown = members([
            ("ParameterKey", Value::Text(name.clone())),
            ("ParameterType", member(definition, ["Type", "type"]).unwrap_or_default()),
            ("NoEcho", hidden.into()),
        ]);
        let default = member(definition, ["Default", "default"]).filter(|_| !hidden);
        shown.extend(default.map(|it| ("DefaultValue".into(), print::plain(&it).into())));
        let about = member(definition, ["Description", "description"]);
        shown.extend(about.map(|it| ("Description".into(), it)));
        Value::Map(Arc::new(shown))
    });
    let resources = section(["Resources", "resources"]);
    let types = resources.as_map().into_iter().flatten();
    let types: BTreeSet<String> = types
        .filter_map(|(_, it)| Some(member(it, ["Type", "type"])?.as_text()?.to_string()))
        .collect();
    Value::map([
        ("Description", section(["Description", "description"])),
        ("Parameters", Value::list(parameters)),
        ("ResourceTypes", Value::list(types.into_iter().map(Value::from))),
        ("Capabilities", Value::list([])),
    ])
}

pub(super) async fn validate(request: Request, params: Params) -> Result<Value, AwsFault> {
    let template = TemplateSource::Text(template(&request, &params).await?);
    let stack_request = StackRequest { template, ..StackRequest::default() };
    let report = match request.service().validate(&request.requester(), &stack_request).await {
        Ok((report, _)) => report,
        // Heat answers with the message in place of a description; tools of AWS expect a fault.
        Err(refusal) if !refusal.findings.is_empty() => {
            return Err(AwsFault::new(Code::ValidationError, refusal.message.unwrap_or_default()));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let described = report.describe();
    let part = |name: &str| described.as_map().and_then(|it| it.get(name)).cloned();
    let parameters = part("Parameters").unwrap_or_default();
    let parameters = parameters.as_map().into_iter().flatten().map(|(name, parameter)| {
        let field = |name: &str| parameter.as_map().and_then(|it| it.get(name)).cloned();
        Value::map([
            ("ParameterKey", Value::Text(name.clone())),
            ("DefaultValue", field("Default").unwrap_or_else(|| "".into())),
            ("Description", field("Description").unwrap_or_else(|| "".into())),
            ("NoEcho", field("NoEcho").unwrap_or_else(|| "false".into())),
        ])
    });
    Ok(Value::map([
        ("Description", part("Description").unwrap_or_default()),
        ("Parameters", Value::list(parameters)),
        ("Environment", environment(&part("Environment").unwrap_or_default())),
    ]))
}
