//! OS::Mistral::Workflow: a workflow of tasks, started by a signal.

use super::definition::definition;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open};
use crate::rest::in_path;
use crate::wire;
use kiln_cloud::{Marker, delete, get, post, put};
use kiln_template::functions::step_into_attribute;
use serde_json::Value as Json;

pub(super) fn workflow() -> ResourceType {
    ResourceType::new("OS::Mistral::Workflow")
        .about("A workflow of tasks, started by a signal.")
        .service(Service::Workflow)
        .entity("workflows")
        .signallable()
        .suspendable()
        .kept_on_failed_check()
        .since("2015.1")
        .props([
            prop("description", Str).updatable(),
            prop("input", Map).updatable(),
            prop("name", Str),
            prop("output", Map).updatable(),
            prop("params", Map).updatable(),
            prop("tags", List).updatable().since("10.0.0"),
            task_defaults(),
            tasks(),
            prop("type", Str).required().updatable().one_of(["direct", "reverse"]),
            prop("use_request_body_as_input", Bool).updatable().since("6.0.0"),
        ])
        .attrs([attr("alarm_url", Str).uncached(), attr("data", Map), attr("executions", List)])
        .attributes(|view, name, path| {
            let value = match name {
                // Where it is signalled comes with the users of stacks.
                "alarm_url" => Value::Null,
                "data" => map([
                    ("name", view.physical_id.map_or(Value::Null, Value::from)),
                    ("input", view.properties.get("input").cloned().unwrap_or_default()),
                ]),
                "executions" => {
                    view.data.get(EXECUTIONS).cloned().unwrap_or_else(|| Value::list([]))
                }
                _ => return Ok(None),
            };
            Ok(Some(step_into_attribute(&value, path)))
        })
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
}

fn task_defaults() -> Prop {
    prop("task_defaults", Map).updatable().since("5.0.0").members([
        prop("concurrency", Int).since("8.0.0"),
        prop("on_complete", List),
        prop("on_error", List),
        prop("on_success", List),
        prop("pause_before", Bool),
        prop("requires", List),
        prop("retry", Map),
        prop("timeout", Int),
        prop("wait_after", Int),
        prop("wait_before", Int),
    ])
}

fn tasks() -> Prop {
    prop("tasks", List).required().updatable().min_length(1).each(record([
        prop("action", Str),
        prop("concurrency", Int).replaces("policies.concurrency").since("8.0.0"),
        prop("description", Str),
        prop("input", Map),
        prop("join", Str).since("6.0.0"),
        prop("keep_result", Bool).since("5.0.0"),
        prop("name", Str).required(),
        prop("on_complete", List),
        prop("on_error", List),
        prop("on_success", List),
        prop("pause_before", Bool).replaces("policies.pause_before").since("5.0.0"),
        prop("policies", Map)
            .dropped()
            .since("2015.1")
            .deprecated("5.0.0")
            .hidden("8.0.0")
            .note("Give the policies as members of the task."),
        prop("publish", Map),
        prop("requires", List),
        prop("retry", Map).replaces("policies.retry").since("5.0.0"),
        prop("target", Str).since("5.0.0"),
        prop("timeout", Int).replaces("policies.timeout").since("5.0.0"),
        prop("wait_after", Int).replaces("policies.wait_after").since("5.0.0"),
        prop("wait_before", Int).replaces("policies.wait_before").since("5.0.0"),
        prop("with_items", Str).since("5.0.0"),
        prop("workflow", Str).is("mistral.workflow"),
    ]))
}

// A signal starts an execution, which needs a call; what hears a signal makes none. Until the engine makes calls for
// signals, nothing comes of one. What is started then goes into the datum below, and goes with the workflow.

/// Where the ids of executions are kept that signals started.
const EXECUTIONS: &str = "executions";

fn path(op: &Op) -> String {
    format!("/workflows/{}", in_path(op.id().map_or("", |id| id)))
}

/// A workflow is known by its name.
fn name(op: &Op) -> String {
    op.text("name").unwrap_or(&op.context().physical_name).to_owned()
}

fn by_name(op: &Op) -> Option<Marker> {
    let name = name(op);
    Some(Marker {
        list: get(Service::Workflow, "/workflows").query("name", name.clone()),
        objects: "/workflows".into(),
        field: "/name".into(),
        value: name.into(),
        envelope: None,
        path: "/workflows/".into(),
        id: "/name".into(),
    })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let name = name(op);
        let text = Json::String(definition(&name, &op.context().properties).to_string());
        let call = post(Service::Workflow, "/workflows", text).header("Content-Type", "text/plain");
        op.call("create", call).await?;
        op.set_id(name);
    }
    look(op).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let text = Json::String(definition(&name(op), &op.context().properties).to_string());
    let call = put(Service::Workflow, "/workflows", text).header("Content-Type", "text/plain");
    op.call("change", call).await?;
    look(op).await
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        let reply = op.read(get(Service::Workflow, path(op))).await?;
        op.set_remote(wire::value(&reply.body));
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let data = op.context().data.clone();
    for id in items(&data, EXECUTIONS).iter().filter_map(|id| open(id).as_text()) {
        let call = delete(Service::Workflow, format!("/executions/{}", in_path(id)));
        op.remove(&format!("forget {id}"), call.query("force", "true")).await?;
    }
    op.remove("delete", delete(Service::Workflow, path(op))).await?;
    op.clear_id();
    Ok(())
}
