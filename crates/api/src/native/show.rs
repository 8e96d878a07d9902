//! Stacks and resources as clients see them.

use crate::request::{Request, link, moment};
use kiln_engine::store::StackRow;
use kiln_engine::{Action, OutputView, PhysicalId, ResourceView, StackView, Status};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// The members of a stack in a list.
pub(crate) fn listed(request: &Request, stack: &StackRow) -> Members {
    let mut shown = beginning(request, stack, "".into());
    let tags = if stack.summary.tags.is_empty() { Value::Null } else { tags(stack) };
    shown.extend(end(stack, tags));
    shown
}

fn beginning(request: &Request, stack: &StackRow, description: Value) -> Members {
    let time = |time: Option<_>| time.map(moment).unwrap_or_default();
    members([
        ("id", stack.id.to_string().into()),
        ("links", Value::list([link("self", request.stack_url(stack))])),
        ("stack_name", Value::Text(stack.summary.name.clone())),
        ("description", description),
        ("stack_status", stack.summary.state.to_string().into()),
        ("stack_status_reason", Value::Text(stack.summary.reason.clone())),
        ("creation_time", moment(stack.summary.created)),
        ("updated_time", time(stack.summary.updated)),
        ("deletion_time", time(stack.summary.deleted)),
    ])
}

fn end(stack: &StackRow, tags: Value) -> Members {
    let parent = stack.parent.map(|parent| Value::from(parent.to_string()));
    let owner = match &*stack.user_name {
        "" => Value::Null,
        name => name.into(),
    };
    members([
        ("stack_owner", owner),
        ("parent", parent.unwrap_or_default()),
        ("stack_user_project_id", Value::Text(stack.project.clone())),
        ("tags", tags),
    ])
}

/// Everything that is shown of a stack, in the order in which clients print it.
pub(crate) fn detailed(
    request: &Request,
    stack: &StackRow,
    view: &StackView<'_>,
    with_outputs: bool,
) -> Members {
    let description = view.description().unwrap_or_else(|| "No description".into());
    let mut shown = beginning(request, stack, description.clone());
    let settings = view.settings();
    let timeout = settings.timeout.map(|it| Value::from((it.as_secs() / 60) as i64));
    shown.extend(members([
        ("notification_topics", Value::list([])),
        ("template_description", description),
        ("parameters", texts(view.parameters())),
    ]));
    let is_gone = stack.summary.state.is(Action::Delete, Status::Complete);
    if with_outputs && !is_gone {
        let outputs = view.outputs();
        shown.insert("outputs".into(), Value::list(outputs.iter().map(|it| output(request, it))));
    }
    shown.extend(members([
        ("capabilities", Value::list([])),
        ("disable_rollback", (!settings.is_rolled_back.unwrap_or(false)).into()),
        ("timeout_mins", timeout.unwrap_or_default()),
    ]));
    shown.extend(end(stack, tags(stack)));
    if let Some(users) = view.users() {
        shown.insert("stack_user_project_id".into(), Value::Text(users.clone()));
    }
    shown
}

fn tags(stack: &StackRow) -> Value {
    Value::list(stack.summary.tags.iter().cloned().map(Value::Text))
}

/// Texts by their names.
pub(crate) fn texts(texts: impl IntoIterator<Item = (Arc<str>, String)>) -> Value {
    Value::map(texts.into_iter().map(|(name, text)| (name, Value::from(text))))
}

/// An output with its value.
pub(crate) fn output(request: &Request, output: &OutputView) -> Value {
    let mut shown = members([
        ("output_key", Value::Text(output.name.clone())),
        ("description", output.description.clone()),
    ]);
    match &output.value {
        Ok(value) => _ = shown.insert("output_value".into(), request.visible_output(value)),
        Err(message) => {
            shown.insert("output_value".into(), Value::Null);
            shown.insert("output_error".into(), message.as_str().into());
        }
    }
    Value::Map(Arc::new(shown))
}

/// A resource of a stack.
pub(crate) fn resource(
    request: &Request,
    stack: &StackRow,
    view: &StackView<'_>,
    resource: &ResourceView,
) -> Members {
    let url = request.url(&stack.project, view.name(), &view.id().to_string());
    let own =
        format!("{url}/resources/{}", crate::query::percent::encode_path(&resource.summary.name));
    let mut links = vec![link("self", own), link("stack", url)];
    if let Some((name, id)) = &resource.nested {
        links.push(link("nested", request.url(&stack.project, name, &id.to_string())));
    }
    let physical =
        resource.summary.physical_id.as_ref().map_or_else(|| "".into(), PhysicalId::value);
    let required_by = resource.required_by.iter().cloned().map(Value::Text);
    let mut shown = members([
        ("updated_time", moment(resource.summary.updated)),
        ("creation_time", moment(resource.summary.created)),
        ("logical_resource_id", Value::Text(resource.summary.name.clone())),
        ("resource_name", Value::Text(resource.summary.name.clone())),
        ("physical_resource_id", physical),
        ("resource_status", resource.summary.state.to_string().into()),
        ("resource_status_reason", Value::Text(resource.summary.reason.clone())),
        ("resource_type", Value::Text(resource.summary.type_name.clone())),
        ("links", Value::list(links)),
        ("required_by", Value::list(required_by)),
    ]);
    if let Some(holder) = view.parent_resource() {
        shown.insert("parent_resource".into(), Value::Text(holder.clone()));
    }
    shown
}

/// The details of a resource, which are shown on demand.
pub(crate) fn details(
    request: &Request,
    view: &StackView<'_>,
    resource: &ResourceView,
    wanted: &[Arc<str>],
) -> Members {
    let description = resource.description.clone().map_or_else(|| "".into(), Value::Text);
    let attributes = view.attributes(resource, wanted, request.may_have_credentials());
    members([("description", description), ("attributes", attributes)])
}

/// A stack as one document, in the order in which clients print it.
pub(crate) fn document(document: &Value) -> Value {
    const ORDER: [&str; 7] = ["name", "id", "action", "environment", "files", "status", "template"];
    let mut shown = in_order(document, &ORDER);
    if let Some(environment) = document.as_map().and_then(|it| it.get("environment")) {
        let environment = self::environment(environment);
        shown.insert("environment".into(), environment);
    }
    Value::Map(Arc::new(shown))
}

/// An environment, in the order in which clients print it.
pub(crate) fn environment(environment: &Value) -> Value {
    const ORDER: [&str; 3] = ["resource_registry", "parameters", "parameter_defaults"];
    Value::Map(Arc::new(in_order(environment, &ORDER)))
}

/// The members of a map: some in this order, the others behind.
fn in_order(value: &Value, order: &[&str]) -> Members {
    let all = value.as_map().cloned().unwrap_or_default();
    let first = order.iter().filter_map(|name| all.get_key_value(*name));
    let mut ordered: Members = first.map(|(name, it)| (name.clone(), it.clone())).collect();
    ordered.extend(all);
    ordered
}

/// Members of a map.
pub(crate) fn members<const N: usize>(parts: [(&str, Value); N]) -> Members {
    parts.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// A map with one member.
pub(crate) fn wrapped(name: &str, value: Value) -> Value {
    Value::map([(name, value)])
}
