//! OS::Heat::Stack: a stack of its own, here or in another region or cloud.
//!
//! It is created through the orchestration API like any other object, found by its name, and listed beside the
//! parent stack. The transport chooses the endpoint of the region; other credentials are refused.

use super::addresses;
use crate::behaviour::SnapshotRecord;
use crate::declare::*;
use crate::op::{Failure, FailureClass, Op, OpError, Progress};
use crate::property_access::{given, items, text};
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Reply, delete, get, post, put};
use kiln_template::functions::step_into_attribute;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn stack() -> ResourceType {
    ResourceType::new("OS::Heat::Stack")
        .plain_data([NAME, SEEN, SEEN_AT, LAST_ACTION, "snapshot_id", "snapshot_template", "snapshot_parameters"])
        .about("A stack in another region or another cloud.")
        .service(Service::Orchestration)
        .entity("stacks")
        .checkable()
        .restorable()
        .suspendable()
        .props([
            prop("context", Map, "Where the stack is made and with which credentials; here and as the caller if omitted.").updatable().members([
                prop("ca_cert", Str, "CA certificate in PEM form with which the other cloud's TLS is verified.").updatable().since("12.0.0"),
                prop("credential_secret_id", Str, "ID of the Barbican secret with the credentials for the other cloud.").updatable().since("12.0.0"),
                prop("insecure", Bool, "Whether TLS certificates of the other cloud are accepted without verification.").updatable().default(false).since("12.0.0"),
                prop("region_name", Str, "Name of the region in which the stack is made; a change replaces it."),
            ]),
            prop("parameters", Map, "Values for the parameters of the template.").updatable().default_empty(),
            prop("template", Str, "Text of the template that the stack is made from, usually with `get_file`.").required().updatable(),
            prop("timeout", Int, "Minutes that creating or updating the stack may take before it fails.").updatable(),
        ])
        .attrs([attr("outputs", Map, "Map from the name of each output of the stack to its value."), attr("stack_name", Str, "Name of the stack in its region.")])
        .attributes(|view, name, path| {
            let outputs = || view.remote.as_map().map(outputs).unwrap_or_default();
            Ok((name == "outputs").then(|| step_into_attribute(&outputs(), path)))
        })
        .always_updated()
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(crate::behaviour::OperationKind::Check, |op| Box::pin(act(op, "check")))
        // A check is an action on the stack, and shows in it.
        .on(crate::behaviour::OperationKind::Refresh, |op| Box::pin(read(op)))
        .on(crate::behaviour::OperationKind::Observe, |op| Box::pin(read(op)))
        .on(crate::behaviour::OperationKind::Suspend, |op| Box::pin(act(op, "suspend")))
        .on(crate::behaviour::OperationKind::Resume, |op| Box::pin(act(op, "resume")))
        .copied(|op| Box::pin(copy(op)), |op| Box::pin(forget(op)))
        .restores_with(restore)
        .finder(marker)
}

const SERVICE: Service = Service::Orchestration;

/// The entry of the resource's data with the time of the last action, which distinguishes the next action from
/// it.
const SEEN: &str = "updated_time";

/// The entry of the resource's data with our own time at which the end of the last action was seen, in microseconds.
const SEEN_AT: &str = "seen_at";

/// The member of a reply with the time of the last action in microseconds, which only stacks of the same service have.
const MICROS: &str = "updated_micros";

/// The entry of the resource's data with the last action.
const LAST_ACTION: &str = "last_action";

/// The entry of the resource's data with the name of the stack.
const NAME: &str = "stack_name";

/// The number of reads for which a stack may show its former state after a command.
const LOOKS: u32 = 10;

fn marker(op: &Op) -> Option<Marker> {
    let name = op.context().physical_name.to_string();
    Some(Marker {
        list: there(op, get(SERVICE, "/stacks").query("name", name.clone())),
        objects: "/stacks".into(),
        field: "/stack_name".into(),
        path: CallPath::from("/stacks").id(&name),
        value: name.into(),
        envelope: Some("stack".into()),
        id: "/id".into(),
    })
}

/// A member of the property `context`, such as the region.
fn context(op: &Op, name: &str) -> Option<Arc<str>> {
    let context = op.section("context")?;
    given(context, name)?.as_text().cloned()
}

/// Directs a call to the region of the stack.
fn there(op: &Op, call: Call) -> Call {
    call.in_region(context(op, "region_name"))
}

/// The path of the stack. The name is recorded, because an operation on a snapshot has another physical name.
fn path(op: &Op) -> CallPath {
    let name = op.data(NAME).and_then(Value::as_text).unwrap_or(&op.context().physical_name);
    CallPath::from("/stacks").id(name).id(op.id().map_or("", |id| id))
}

fn body(op: &Op) -> Result<Json, OpError> {
    if context(op, "credential_secret_id").is_some() {
        let message =
            "stacks with other credentials are not supported yet: leave them out of context";
        return Err(OpError::failed(FailureClass::NotSupported, message));
    }
    let mut body = json!({
        "template": op.text("template"),
        "parameters": wire::json(op.prop("parameters")),
        "disable_rollback": true,
    });
    // The template may refer to files.
    if !op.context().files.is_empty() {
        let files = op.context().files.iter();
        body["files"] = files.map(|(name, text)| (name.to_string(), Json::from(&**text))).collect();
    }
    if !op.prop("timeout").is_null() {
        body["timeout_mins"] = wire::json(op.prop("timeout"));
    }
    Ok(body)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let mut body = body(op)?;
    body["stack_name"] = (*op.context().physical_name).into();
    let call = there(op, post(SERVICE, "/stacks", body));
    let reply = op.call("create", call).await?;
    let Some(id) = reply.text("/stack/id").map(Arc::<str>::from) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which stack it made",
        ));
    };
    let name = op.context().physical_name.clone();
    op.set_data(NAME, &*name);
    op.set_id(id);
    // The stack has tried its own resources again: another stack in its place would do so once more, and each stack inside
    // another one would multiply that.
    until(op, "CREATE").await.map_err(|error| match error {
        OpError::Failed(failure) => OpError::Failed(Failure { is_retryable: false, ..failure }),
        other => other,
    })
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let body = body(op)?;
    outlast(op, "UPDATE").await?;
    let call = there(op, put(SERVICE, path(op), body));
    op.call("update", call).await?;
    until(op, "UPDATE").await
}

async fn act(op: &mut Op, action: &str) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    outlast(op, &action.to_uppercase()).await?;
    // A call with a lost reply may not have reached the stack, so it is repeated.
    for attempt in 0..3 {
        let call = post(SERVICE, path(op).then("/actions"), json!({ action: null }));
        let (call, look) = (there(op, call), there(op, get(SERVICE, path(op))));
        op.call(&format!("{action} {attempt}"), call).await?;
        let shown = op.read(look).await?;
        let status = shown.text("/stack/stack_status").unwrap_or_default();
        if status.starts_with(&action.to_uppercase()) {
            break;
        }
    }
    until(op, &action.to_uppercase()).await
}

/// Waits until the second of the last action has passed, if this one is of the same kind: another service tells the time
/// in seconds, and two actions in one of them would look like one.
async fn outlast(op: &mut Op, action: &str) -> Result<(), OpError> {
    let is_repeated = op.data(LAST_ACTION).is_some_and(|last| *last == action.into());
    match op.data(SEEN_AT).filter(|_| is_repeated).and_then(|at| wire::json(at).as_i64()) {
        Some(at) => op.pause_until(at.saturating_add(1_000_000)).await,
        None => Ok(()),
    }
}

/// Waits until an action on the stack is complete, and keeps the stack for attributes.
async fn until(op: &mut Op, action: &str) -> Result<(), OpError> {
    // Times may have a resolution of one second, but another action than the last one is new at any time.
    let is_repeated = op.data(LAST_ACTION).is_none_or(|last| *last == action.into());
    let seen = op.data(SEEN).filter(|_| is_repeated).cloned();
    let mut looks = 0;
    let look = there(op, get(SERVICE, path(op)));
    let shown = op.until(look, |reply| {
        looks += 1;
        progress(reply, action, seen.as_ref(), looks)
    });
    let shown = shown.await?;
    op.set_data(SEEN, time(&shown));
    op.set_data(LAST_ACTION, action);
    let is_exact = !shown.body["stack"][MICROS].is_null();
    let seen_at = op.from_now(Duration::ZERO);
    op.set_data(SEEN_AT, if is_exact { Value::Null } else { seen_at.into() });
    keep(op, &shown).await
}

/// Reads the stack for its attributes.
async fn read(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let look = there(op, get(SERVICE, path(op)));
    let shown = op.read(look).await?;
    if shown.text("/stack/stack_status") == Some("DELETE_COMPLETE") {
        return Err(OpError::failed(FailureClass::NotFound, "the stack is deleted"));
    }
    keep(op, &shown).await
}

/// Keeps the stack in a reply. A stack of the same service comes without its URL, which begins with the endpoint in the
/// catalogue.
async fn keep(op: &mut Op, reply: &Reply) -> Result<(), OpError> {
    let mut kept = reply.body["stack"].clone();
    let is_own = kept.as_object_mut().is_some_and(|kept| kept.remove(MICROS).is_some());
    if is_own && let Ok(endpoint) = addresses::service(op, "orchestration").await {
        kept["links"] = json!([{ "href": format!("{endpoint}{}", path(op)), "rel": "self" }]);
    }
    op.set_remote(wire::value(&kept));
    Ok(())
}

/// The time of the last action on a stack, as exactly as the service tells it.
fn time(reply: &Reply) -> String {
    let stack = &reply.body["stack"];
    let exact = stack[MICROS].as_i64().map(|micros| micros.to_string());
    exact.unwrap_or_else(|| stack["updated_time"].as_str().unwrap_or("never").to_owned())
}

/// The outputs of the stack by their names.
fn outputs(stack: &Members) -> Value {
    let all = items(stack, "outputs").iter().filter_map(Value::as_map);
    let values = all.filter_map(|output| {
        let value = output.get("output_value").cloned().unwrap_or_default();
        Some((Arc::<str>::from(text(output, "output_key")?), value))
    });
    Value::map(values)
}

fn progress(reply: &Reply, action: &str, seen: Option<&Value>, looks: u32) -> Progress {
    let status = reply.text("/stack/stack_status").unwrap_or_default();
    let time = Value::from(time(reply));
    let (was, how) = status.split_once('_').unwrap_or((status, ""));
    // The stack may still show the state before the command. Two actions of one kind may have the same time, so after some
    // reads an equal time does not count.
    let is_stale = was != action || seen == Some(&time);
    match how {
        _ if is_stale && looks < LOOKS => Progress::NotYet,
        "COMPLETE" if was == action => Progress::Ready,
        "FAILED" => {
            let why = reply.text("/stack/stack_status_reason").unwrap_or("Unknown");
            Progress::Failed(format!("Went to status {status} due to \"{why}\""))
        }
        "COMPLETE" => Progress::Failed(format!("Went to status {status} due to \"Unknown\"")),
        _ => Progress::NotYet,
    }
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let call = there(op, delete(SERVICE, path(op)));
    op.remove("delete", call).await?;
    let look = there(op, get(SERVICE, path(op)));
    let gone = op.until(look, |reply| match reply.text("/stack/stack_status") {
        Some("DELETE_COMPLETE") => Progress::Ready,
        Some("DELETE_FAILED") => {
            let why = reply.text("/stack/stack_status_reason").unwrap_or("Unknown");
            Progress::Failed(format!("Went to status DELETE_FAILED due to \"{why}\""))
        }
        _ => Progress::NotYet,
    });
    match gone.await {
        Err(OpError::Failed(failure)) if failure.class == FailureClass::NotFound => {}
        ended => ended.map(drop)?,
    }
    op.clear_id();
    Ok(())
}

// --- snapshots ---

fn snapshots(op: &Op) -> Marker {
    let path = path(op).then("/snapshots");
    Marker {
        list: there(op, get(SERVICE, path.clone())),
        objects: "/snapshots".into(),
        field: "/name".into(),
        value: op.copy_name().into(),
        envelope: None,
        path,
        id: "/id".into(),
    }
}

async fn copy(op: &mut Op) -> Result<(), OpError> {
    let marker = snapshots(op);
    let body = json!({ "name": op.copy_name() });
    let call: Call = post(SERVICE, path(op).then("/snapshots"), body);
    let call = there(op, call).marker(marker);
    let id = op.copy("snapshot", call, "/id").await?;
    op.set_data("snapshot_id", &*id);
    let look = there(op, get(SERVICE, path(op).then("/snapshots").id(id)));
    let taken = op.until(look, |reply| match reply.text("/snapshot/status") {
        Some("COMPLETE") => Progress::Ready,
        Some("FAILED") => {
            let why = reply.text("/snapshot/status_reason").unwrap_or("Unknown");
            Progress::Failed(format!("Went to status FAILED due to \"{why}\""))
        }
        _ => Progress::NotYet,
    });
    let taken = taken.await?;
    let data = &taken.body["snapshot"]["data"];
    op.set_data("snapshot_template", data["template"].to_string());
    op.set_data("snapshot_parameters", wire::value(&data["environment"]["parameters"]));
    Ok(())
}

async fn forget(op: &mut Op) -> Result<(), OpError> {
    let marker = snapshots(op);
    match op.remove_copies(&marker).await {
        // The stack does not exist any more, and neither do its snapshots.
        Err(OpError::Failed(failure)) if failure.class == FailureClass::NotFound => Ok(()),
        ended => ended,
    }
}

fn restore(properties: &mut Members, saved: &SnapshotRecord<'_>) {
    for (property, datum) in
        [("template", "snapshot_template"), ("parameters", "snapshot_parameters")]
    {
        if let Some(value) = saved.data.get(datum) {
            properties.insert(property.into(), value.clone());
        }
    }
}
