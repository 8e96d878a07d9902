//! OS::Mistral::Workflow: a workflow of tasks, started by a signal.

use super::definition::definition;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, section, text};
use crate::refusals::{exclusive, is_given, may_be_given, needs, one_of};
use crate::types::fragments::{description_prop, tags_prop};
use crate::wire;
use kiln_cloud::{CallPath, Marker, delete, get, post, put};
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
            description_prop().updatable(),
            prop("input", Map, "Names of the workflow's inputs, with their default values.").updatable(),
            prop("name", Str, "Name that identifies the workflow; made from the stack and resource names if omitted."),
            prop("output", Map, "Values that the workflow returns, mostly given as YAQL or Jinja expressions.").updatable(),
            prop("params", Map, "Parameters for executions, such as `task_name` for workflows of type `reverse`.").updatable(),
            tags_prop().updatable().since("10.0.0"),
            task_defaults(),
            tasks(),
            prop("type", Str, "What orders the tasks: their transitions (`direct`) or their dependencies (`reverse`).").required().updatable().one_of(["direct", "reverse"]),
            prop("use_request_body_as_input", Bool, "Whether a signal's whole body is the input, rather than its `input` and `params` members.").updatable().since("6.0.0"),
        ])
        .attrs([attr("alarm_url", Str, "Signed URL to which an alarm can post in order to start the workflow.").uncached(), attr("data", Map, "Map with the workflow's name and its declared input."), attr("executions", List, "Executions that signals to the resource have started.")])
        .attributes(|view, name, path| {
            let value = match name {
                // The workflow has no stack user, and so no signed URL.
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
        .check_with_siblings(check)
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
}

fn check(properties: &Members, siblings: &dyn SiblingDefinitions) -> Result<(), PropertyError> {
    let kind = text(properties, "type");
    let refuse = |path: &str, message: &str| {
        // Heat puts these parts together itself.
        let path = format!("{}.properties.{path}", siblings.own_name());
        Err(PropertyError::new(format!("Mistral resource validation error: : {path}: : {message}")))
    };
    let task_name = section(properties, "params").map(|params| may_be_given(params, "task_name"));
    let has_params = may_be_given(properties, "params");
    if kind == Some("reverse") && !task_name.unwrap_or(has_params) {
        let message = "'task_name' is not assigned in 'params' in case of reverse type workflow.";
        return refuse("params", message);
    }
    for task in items(properties, "tasks").iter().filter_map(Value::as_map) {
        exclusive(task, "workflow", "action")?;
        one_of(task, &["workflow", "action"])?;
        if kind == Some("direct") && is_given(task, "requires") {
            let name = text(task, "name").unwrap_or_default();
            let message = format!(
                "task {name} contains property 'requires' in case of direct workflow. Only reverse \
                 workflows can contain property 'requires'."
            );
            return refuse(&format!("tasks.{name}.requires"), &message);
        }
        needs(task, "concurrency", "with_items")?;
    }
    Ok(())
}

fn task_defaults() -> Prop {
    prop("task_defaults", Map, "Settings that apply to all tasks without their own.")
        .updatable()
        .since("5.0.0")
        .members([
            prop(
                "concurrency",
                Int,
                "Usual limit on actions of a `with_items` task that run at once.",
            )
            .since("8.0.0"),
            prop(
                "on_complete",
                List,
                "Tasks that normally follow a task, whether it succeeded or not.",
            ),
            prop("on_error", List, "Tasks that normally follow a failed task."),
            prop("on_success", List, "Tasks that normally follow a successful task."),
            prop(
                "pause_before",
                Bool,
                "Whether the workflow normally pauses before each task until it is resumed.",
            ),
            prop(
                "requires",
                List,
                "Tasks that normally must be finished before a task; for `reverse` workflows.",
            ),
            prop(
                "retry",
                Map,
                "Usual retries of a failing task, with members such as `count` and `delay`.",
            ),
            prop("timeout", Int, "Seconds after which an unfinished task normally fails."),
            prop(
                "wait_after",
                Int,
                "Seconds that normally pass after a task before the next one starts.",
            ),
            prop("wait_before", Int, "Seconds that normally pass before a task starts."),
        ])
}

fn tasks() -> Prop {
    prop("tasks", List, "Steps of the workflow.").required().updatable().min_length(1).each(record(
        [
            prop(
                "action",
                Str,
                "Action that the task performs, such as `std.http`; excludes `workflow`.",
            ),
            prop("concurrency", Int, "Most actions of a `with_items` task that run at once.")
                .replaces("policies.concurrency")
                .since("8.0.0"),
            description_prop(),
            prop("input", Map, "Input values for the action or workflow of the task."),
            prop(
                "join",
                Str,
                "How many preceding branches the task waits for: `all`, `one` or a number.",
            )
            .since("6.0.0"),
            prop(
                "keep_result",
                Bool,
                "Whether the result stays in the execution's context; `false` saves space.",
            )
            .since("5.0.0"),
            prop("name", Str, "Name of the task, unique within the workflow.").required(),
            prop("on_complete", List, "Tasks that follow, whether this one succeeded or not."),
            prop("on_error", List, "Tasks that follow if this one failed."),
            prop("on_success", List, "Tasks that follow if this one succeeded."),
            prop(
                "pause_before",
                Bool,
                "Whether the workflow pauses before the task until it is resumed.",
            )
            .replaces("policies.pause_before")
            .since("5.0.0"),
            prop(
                "policies",
                Map,
                "Execution policies of the task, such as `retry` and `timeout`, in one map.",
            )
            .dropped()
            .since("2015.1")
            .deprecated("5.0.0")
            .hidden("8.0.0")
            .note("Give the policies as members of the task."),
            prop(
                "publish",
                Map,
                "Variables to set from the task's result, for later tasks to read.",
            ),
            prop(
                "requires",
                List,
                "Tasks that must be finished before this one; for `reverse` workflows.",
            ),
            prop(
                "retry",
                Map,
                "Retries if the task fails, with members such as `count` and `delay`.",
            )
            .replaces("policies.retry")
            .since("5.0.0"),
            prop("target", Str, "Name of the Mistral executor that should run the task's action.")
                .since("5.0.0"),
            prop("timeout", Int, "Seconds after which the unfinished task fails.")
                .replaces("policies.timeout")
                .since("5.0.0"),
            prop("wait_after", Int, "Seconds to wait after the task before the next one starts.")
                .replaces("policies.wait_after")
                .since("5.0.0"),
            prop("wait_before", Int, "Seconds to wait before the task starts.")
                .replaces("policies.wait_before")
                .since("5.0.0"),
            prop(
                "with_items",
                Str,
                "Loop such as `host in <% $.hosts %>`, which performs the action once per item.",
            )
            .since("5.0.0"),
            prop(
                "workflow",
                Str,
                "Workflow to run as this task, by name or ID; excludes `action`.",
            )
            .is(WORKFLOW),
        ],
    ))
}

// In Heat a signal starts an execution. Signal handlers make no calls here, so that is missing: a signal is ignored. The
// entry below is for the ids of such executions, which would be deleted with the workflow.

/// The entry of the resource's data with the ids of executions that signals started.
const EXECUTIONS: &str = "executions";

fn path(op: &Op) -> CallPath {
    CallPath::from("/workflows").id_or_url(op.id().map_or("", |id| id))
}

/// The name of the workflow, which identifies it.
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
        path: "/workflows".into(),
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
        let call = delete(Service::Workflow, CallPath::from("/executions").id_or_url(id));
        op.remove(&format!("forget {id}"), call.query("force", "true")).await?;
    }
    op.remove("delete", delete(Service::Workflow, path(op))).await?;
    op.clear_id();
    Ok(())
}
