//! OS::Mistral::ExternalResource: an object that workflows create, update and delete.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup::is_uuid;
use crate::op::{Op, OpError, Progress};
use crate::property_access::{items, open, section, text};
use crate::random;
use crate::wire;
use kiln_cloud::{CallPath, Marker, Reply, get, post};
use kiln_template::functions::step_into_attribute;
use serde_json::{Value as Json, json};

pub(super) fn external_resource() -> ResourceType {
    ResourceType::new("OS::Mistral::ExternalResource")
        .plain_data([EXECUTION, OUTPUTS])
        .about("An object that workflows create, update and delete.")
        .service(Service::Workflow)
        .entity("executions")
        .suspendable()
        .since("9.0.0")
        .props([
            actions(),
            prop(
                "always_update",
                Bool,
                "Whether the update workflow runs on every stack update, even without changes.",
            )
            .default(false),
            prop("description", Str, "Text attached to the workflow executions.")
                .default("Heat managed"),
            prop("input", Map, "Input values for all of the workflows.")
                .updatable()
                .default_empty(),
            prop(
                "replace_on_change_inputs",
                List,
                "Names of inputs whose change replaces the resource instead of updating it.",
            )
            .default_empty(),
        ])
        .attrs([attr("output", Map, "Output of all workflow runs so far, merged into one map.")])
        .replaced_if(|change| {
            let part = |members: &Members, name: &str| {
                section(members, "input").and_then(|input| input.get(name)).cloned()
            };
            let named = items(change.after, "replace_on_change_inputs").iter();
            let mut named = named.filter_map(|name| open(name).as_text());
            named.any(|name| part(change.before, name) != part(change.after, name))
        })
        .attributes(|view, name, path| {
            let outputs = view.data.get(OUTPUTS).cloned().unwrap_or_else(|| Value::map::<&str>([]));
            Ok((name == "output").then(|| step_into_attribute(&outputs, path)))
        })
        .creates(|op| Box::pin(run(op, "CREATE")))
        .updates(|op| Box::pin(run(op, "UPDATE")))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Suspend, |op| Box::pin(run(op, "SUSPEND")))
        .on(OperationKind::Resume, |op| Box::pin(run(op, "RESUME")))
}

fn actions() -> Prop {
    let actions = ["CREATE", "DELETE", "RESUME", "SUSPEND", "UPDATE"];
    prop("actions", Map, "Workflows that carry out the resource's life cycle.").required().members(
        actions.map(|action| {
            prop(
                action,
                Map,
                "Workflow for this stage of the life cycle; nothing happens then if omitted.",
            )
            .members([
                prop("params", Map, "Execution parameters for the workflow, such as its `env`.")
                    .default_empty(),
                prop("workflow", Str, "Name or ID of the workflow to run.").required().is(WORKFLOW),
            ])
        }),
    )
}

/// The entry of the resource's data with the outputs of all workflows.
const OUTPUTS: &str = "outputs";

/// The entry of the resource's data with the id of the current execution.
const EXECUTION: &str = "execution";

/// Runs the workflow of an action, if the template has one, and records its output.
async fn run(op: &mut Op, action: &str) -> Result<(), OpError> {
    let properties = op.context().properties.clone();
    let task = section(&properties, "actions").and_then(|actions| section(actions, action));
    if let Some(task) = task {
        let id = begin(op, action, task).await?;
        let look = get(Service::Workflow, CallPath::from("/executions").id(&id));
        let ended = op.until(look, progress).await?;
        keep(op, &id, &ended);
    }
    if action == "CREATE" && op.id().is_none() {
        op.set_id(op.context().physical_name.clone());
    }
    Ok(())
}

/// Starts an execution. Kiln chooses the id, so a repeated call does not start another.
async fn begin(op: &mut Op, action: &str, task: &Members) -> Result<String, OpError> {
    let under_way = op.data(EXECUTION).and_then(Value::as_text).map(|id| id.to_string());
    let id = match under_way {
        Some(id) => id,
        None => {
            let id = random::uuid(op).await?.to_string();
            op.set_data(EXECUTION, id.as_str());
            id
        }
    };
    let workflow = text(task, "workflow").unwrap_or_default();
    let field = if is_uuid(workflow) { "workflow_id" } else { "workflow_name" };
    let mut params = match task.get("params").map(wire::json) {
        Some(params) if params.is_object() => params,
        _ => json!({}),
    };
    if !params["env"].is_object() {
        params["env"] = json!({});
    }
    if let Some(outputs) = op.data(OUTPUTS) {
        params["env"]["heat_extresource_data"] = wire::json(outputs);
    }
    let body = json!({
        "id": id,
        field: workflow,
        "description": op.text("description"),
        "input": wire::json(op.prop("input")),
        "params": params,
    });
    let marker = Marker {
        list: get(Service::Workflow, "/executions").query("id", id.clone()),
        objects: "/executions".into(),
        field: "/id".into(),
        value: id.clone().into(),
        envelope: None,
        path: "/executions".into(),
        id: "/id".into(),
    };
    op.call(action, post(Service::Workflow, "/executions", body).marker(marker)).await?;
    Ok(id)
}

fn progress(reply: &Reply) -> Progress {
    let state = reply.text("/state").unwrap_or_default();
    let why = reply.text("/state_info").filter(|why| !why.is_empty()).unwrap_or("Unknown");
    match state {
        "SUCCESS" => Progress::Ready,
        "IDLE" | "RUNNING" | "PAUSED" => Progress::NotYet,
        "ERROR" | "CANCELLED" => {
            Progress::Failed(format!("Went to status {state} due to \"{why}\""))
        }
        _ => Progress::Unknown(format!(
            "Mistral execution - Unknown status {state} due to \"{why}\""
        )),
    }
}

/// Records the output of an execution; a `resource_id` in it becomes the resource's id.
fn keep(op: &mut Op, execution: &str, ended: &Reply) {
    let output = match &ended.body["output"] {
        Json::String(text) => serde_json::from_str(text).unwrap_or_default(),
        output => output.clone(),
    };
    let mut outputs = op.data(OUTPUTS).and_then(Value::as_map).cloned().unwrap_or_default();
    outputs.extend(wire::value(&output).as_map().cloned().unwrap_or_default());
    op.set_data(OUTPUTS, Value::Map(outputs.into()));
    op.set_data(EXECUTION, Value::Null);
    op.set_remote(wire::value(&ended.body));
    match output["resource_id"].as_str() {
        Some(id) => op.set_id(id),
        None if op.id().is_none() => op.set_id(execution),
        None => {}
    }
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        run(op, "DELETE").await?;
        op.clear_id();
    }
    Ok(())
}
