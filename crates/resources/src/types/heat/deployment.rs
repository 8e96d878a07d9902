//! Deployments: a configuration is given to a server, and the resource waits for the server's signal.
//!
//! Each time a new configuration is derived from the one in the template, with values for its inputs and with
//! the address for the signal. It is stored under an id that is durable before the first write. A deployment,
//! whose id is that of the resource, assigns it to the server. The server's signal is recorded in the
//! resource's data before the operation continues.

use super::derive::{self, Source};
use super::mailbox::{self, Mailbox};
use super::outcome::{self, DECLARED, EARLY, OUTPUTS, REASON, STATUS};
use super::signal_transport::SignalTransport;
use super::{collecting, reply_to, stack_user, stored_config};
use crate::behaviour::{OperationKind, SignalStorage, View};
use crate::declare::{ResourceType, Value};
use crate::groups::attributes::incorrect;
use crate::op::{FailureClass, Op, OpError, Watched};
use crate::property_access::{items, open, section, text, word};
use crate::{random, wire};
use kiln_cloud::{CallPath, Service, delete, get, put};
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The entry of the resource's data with the id of the configuration that is being deployed.
const NEXT: &str = "next";
/// The entry of the resource's data with the id of the configuration that the recorded outcome belongs to.
const ASKED: &str = "asked";
/// The entry of the resource's data with the ids of all derived configurations that may still exist.
const CONFIGS: &str = "configs";
/// The entry of the resource's data with the inputs whose change replaces the deployment (`replace_on_change`).
const FIXED: &str = "fixed";

const IN_PROGRESS: &str = "IN_PROGRESS";

/// The reason of a deployment whose operation was stopped.
const CANCELLED: &str = "Deployment cancelled.";

/// The pause between two reads of the deployment: a user can set its status through the API.
const LOOK: Duration = Duration::from_secs(15);

/// Sets the handlers of a deployment.
pub(super) fn doing(kind: ResourceType) -> ResourceType {
    kind.plain_data([ASKED, CONFIGS, "component", DECLARED, OUTPUTS, REASON, STATUS])
        .creates(|op| Box::pin(deploy(op, "CREATE")))
        .updates(|op| Box::pin(deploy(op, "UPDATE")))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Suspend, |op| Box::pin(deploy(op, "SUSPEND")))
        .on(OperationKind::Resume, |op| Box::pin(deploy(op, "RESUME")))
        .on(OperationKind::Cancel, |op| Box::pin(cancel(op)))
        .on(OperationKind::Refresh, |op| Box::pin(read(op)))
        .attributes(attribute)
        .signals_kept_in(SignalStorage::Data)
        .on_signal(outcome::on_signal)
}

/// Deploys the configuration if it is for this action, and waits for the signal.
async fn deploy(op: &mut Op, action: &str) -> Result<(), OpError> {
    let source = source(op).await?;
    if !is_for(op, &source, action) {
        // Nothing is deployed now, so an early signal must not count for a later deployment.
        if op.data(EARLY).is_some() {
            op.set_data(EARLY, Value::Null);
        }
        return Ok(());
    }
    let is_fixed = op.data(ASKED).is_some() && op.context().journal.is_empty();
    if action == "UPDATE" && is_fixed && derive::fixed(op, &source) != op.data(FIXED).cloned() {
        return Err(OpError::Replace);
    }
    let result = hand_over(op, &source, action).await;
    if matches!(&result, Err(OpError::Failed(failure)) if failure.class != outcome::FAILED) {
        return result;
    }
    // The first error is reported; it is the cause.
    let forgotten = forget_former(op).await;
    result.and(forgotten)
}

/// Checks that the user data of the server has the format for software deployments. Servers outside of the stack are
/// as their owners want them: so are those of a group of deployments.
async fn check_server(op: &mut Op) -> Result<(), OpError> {
    let Some(server) = op.nonempty_text("server").map(str::to_owned) else { return Ok(()) };
    let sibling = op.sibling(&server).await?;
    let Some(sibling) = sibling.filter(|it| it.is_in_same_stack) else { return Ok(()) };
    match word(&sibling.properties, "user_data_format") {
        None | Some("SOFTWARE_CONFIG") => Ok(()),
        Some(_) => {
            let message = format!(
                "Resource {}'s property user_data_format should be set to SOFTWARE_CONFIG since there are \
                 software deployments on it.",
                sibling.name
            );
            Err(OpError::failed(FailureClass::StackValidationFailed, message))
        }
    }
}

async fn hand_over(op: &mut Op, source: &Source, action: &str) -> Result<(), OpError> {
    check_server(op).await?;
    let id = next(op).await?;
    let transport = SignalTransport::of(op, SignalTransport::Cfn)?;
    let answer = reply_to::inputs(op, transport, &id).await?;
    let derived = derive::config(op, source, action, transport.name(), answer)?;
    let hidden = derive::hidden(op, source, &derived);
    let body = json!({ "software_config": derived, "hidden": hidden });
    op.call(
        "config",
        put(Service::Orchestration, CallPath::from("/software_configs").id(&id), body),
    )
    .await?;
    let waits = transport != SignalTransport::NoSignal;
    // A signal that arrives after the id is set is recorded.
    if op.id().is_none() {
        let own = random::uuid(op).await?.to_string();
        op.set_id(own);
    }
    ask(op, &id, source, waits);
    let (status, reason) = if waits {
        (IN_PROGRESS, "Deploy data available")
    } else {
        ("COMPLETE", "Not waiting for outputs signal")
    };
    let input_values = match op.prop("input_values") {
        Value::Null => json!({}),
        values => wire::json(values),
    };
    let row = json!({
        "server_id": op.text("server"),
        "config_id": id,
        "action": action,
        "status": status,
        "status_reason": reason,
        "input_values": input_values,
        "output_values": Json::Null,
        "stack_user_project_id": op.stack().users_project.as_deref().unwrap_or(&op.stack().project),
    });
    let hidden = wire::hidden_parts(op.prop("input_values"));
    let hidden: Vec<String> = hidden.iter().map(|part| format!("input_values/{part}")).collect();
    let body = json!({ "software_deployment": row, "hidden": hidden });
    op.call("deployment", put(Service::Orchestration, path(op), body)).await?;
    push(op).await?;
    if waits { wait(op).await } else { Ok(()) }
}

/// The id of the configuration that this operation derives. The id of an unfinished earlier operation is not
/// used again.
async fn next(op: &mut Op) -> Result<String, OpError> {
    // The id is drawn before the first step.
    let is_resumed = !op.context().journal.is_empty();
    if let Some(id) = text(&op.context().data, NEXT).filter(|_| is_resumed) {
        return Ok(id.to_owned());
    }
    let id = random::uuid(op).await?.to_string();
    let mut all: Vec<Value> = items(&op.context().data, CONFIGS).to_vec();
    all.push(id.as_str().into());
    op.set_data(CONFIGS, Value::list(all));
    op.set_data(NEXT, id.as_str());
    Ok(id)
}

/// Accepts signals for this configuration from now on, and discards earlier ones.
fn ask(op: &mut Op, id: &str, source: &Source, waits: bool) {
    if text(&op.context().data, ASKED) == Some(id) {
        return;
    }
    op.set_data(ASKED, id);
    op.set_data(DECLARED, wire::value(&source.outputs));
    op.set_data(OUTPUTS, Value::Null);
    op.set_data(REASON, Value::Null);
    op.set_data(FIXED, derive::fixed(op, source).unwrap_or_default());
    op.set_data(STATUS, if waits { IN_PROGRESS } else { "COMPLETE" });
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/software_deployments").id(op.id().map_or("", |id| id))
}

/// Waits for the signal of the server, and records the outcome.
async fn wait(op: &mut Op) -> Result<(), OpError> {
    let own = op.id().cloned().unwrap_or_default();
    let mailbox = Mailbox::of(&op.context().data);
    let (mut seen, mut backoff) = (None, super::signals::POLLING);
    let mut pause = backoff.next_pause();
    let told = loop {
        let until = op.from_now(if mailbox.is_some() { pause } else { LOOK });
        match op.watch(&own, seen.as_ref(), until).await? {
            Watched::Changed(data) => {
                let told = |data| outcome::of(data).or_else(|| outcome::early(data));
                if let Some(told) = data.as_map().and_then(told) {
                    break told;
                }
                seen = Some(data);
                continue;
            }
            Watched::TimedOut => {}
            Watched::Missing => {
                return Err(OpError::failed(FailureClass::NotFound, "the deployment is gone"));
            }
        }
        let told = match &mailbox {
            Some(mailbox) => in_mailbox(op, mailbox).await?,
            None => by_hand(op).await?,
        };
        if let Some(told) = told {
            break told;
        }
        pause = backoff.next_pause();
    };
    let row = json!({
        "status": told.status(),
        "status_reason": told.reason,
        "output_values": wire::json(&Value::Map(told.outputs.clone().into())),
    });
    let call = put(Service::Orchestration, path(op), json!({ "software_deployment": row }));
    op.call("result", call).await?;
    op.set_data(EARLY, Value::Null);
    for (name, value) in told.data() {
        op.set_data(name, value);
    }
    if told.is_well { Ok(()) } else { Err(told.failure()) }
}

/// Records that nothing waits for the server's signal any more, so that no agent carries the deployment out.
async fn cancel(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let shown = op.read(get(Service::Orchestration, path(op))).await;
    let is_waiting = match &shown {
        Ok(reply) => reply.text("/software_deployment/status") == Some(IN_PROGRESS),
        Err(stop) if stop.is_not_found() => false,
        Err(_) => return shown.map(drop),
    };
    if !is_waiting {
        return Ok(());
    }
    let row = json!({ "status": "FAILED", "status_reason": CANCELLED });
    let call = put(Service::Orchestration, path(op), json!({ "software_deployment": row }));
    op.call("cancel", call).await?;
    op.set_data(STATUS, "FAILED");
    op.set_data(REASON, CANCELLED);
    push(op).await
}

/// Reads the deployment, which `resource show` prints.
async fn read(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(get(Service::Orchestration, path(op))).await?;
    let shown = wire::value(&reply.body["software_deployment"]);
    op.set_remote(wire::hide_parts(shown, stored_config::hidden_parts(&reply.body)));
    Ok(())
}

/// Reads the signal from the mailbox.
async fn in_mailbox(op: &mut Op, mailbox: &Mailbox) -> Result<Option<outcome::Told>, OpError> {
    let letters = mailbox.letters(op).await?;
    let declared = items(&op.context().data, DECLARED).to_vec();
    Ok(letters.first().map(|letter| outcome::told(&declared, &wire::value(letter))))
}

/// Reads an outcome that a user set in the deployment through the API.
async fn by_hand(op: &mut Op) -> Result<Option<outcome::Told>, OpError> {
    let reply = op.read(get(Service::Orchestration, path(op))).await?;
    let row = &reply.body["software_deployment"];
    let is_well = match row["status"].as_str() {
        Some("COMPLETE") => true,
        Some("FAILED") => false,
        _ => return Ok(None),
    };
    let outputs = wire::value(&row["output_values"]).as_map().cloned().unwrap_or_default();
    let reason = row["status_reason"].as_str().unwrap_or_default().to_owned();
    Ok(Some(outcome::Told { is_well, reason, outputs, code: None }))
}

/// Deletes the configurations that were derived before the last one, and their mailboxes.
async fn forget_former(op: &mut Op) -> Result<(), OpError> {
    let last = text(&op.context().data, ASKED).unwrap_or_default().to_owned();
    let all = items(&op.context().data, CONFIGS).to_vec();
    let all = all.iter().filter_map(|id| id.as_text().cloned());
    for id in all.filter(|id| **id != *last) {
        forget(op, &id).await?;
    }
    op.set_data(CONFIGS, Value::list([last.as_str().into()]));
    op.set_data(NEXT, Value::Null);
    Ok(())
}

async fn forget(op: &mut Op, id: &str) -> Result<(), OpError> {
    let call = delete(Service::Orchestration, CallPath::from("/software_configs").id(id));
    op.remove(&format!("forget {id}"), call).await
}

/// Deploys the configuration for `DELETE` if it has that action, and deletes all objects of the deployment.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    // A configuration that was never deployed is not undone.
    if op.data(ASKED).is_some() && is_server_there(op).await? {
        deploy(op, "DELETE").await?;
    }
    if op.id().is_some() {
        op.remove("delete", delete(Service::Orchestration, path(op))).await?;
    }
    let all = items(&op.context().data, CONFIGS).to_vec();
    for id in all.iter().filter_map(|id| id.as_text().cloned()) {
        forget(op, &id).await?;
    }
    if op.id().is_some() {
        push(op).await?;
    }
    mailbox::remove_own(op).await?;
    stack_user::remove_beside(op).await?;
    op.clear_id();
    Ok(())
}

/// Whether the server still exists. It is only read if the configuration has the action `DELETE`.
async fn is_server_there(op: &mut Op) -> Result<bool, OpError> {
    let is_asked = |action: &Value| open(action).as_text().is_some_and(|it| &**it == "DELETE");
    let is_listed = op.items("actions").iter().any(is_asked);
    let is_component = op.data("component").is_some();
    let Some(server) = op.nonempty_text("server").filter(|_| is_listed || is_component) else {
        return Ok(false);
    };
    match op.read(get(Service::Compute, CallPath::from("/servers").id(server))).await {
        Ok(_) => Ok(true),
        Err(stop) if stop.is_not_found() => Ok(false),
        Err(stop) => Err(stop),
    }
}

/// The configuration that the template names; an empty one if it names none.
async fn source(op: &mut Op) -> Result<Source, OpError> {
    let Some(id) = op.nonempty_text("config").map(str::to_owned) else {
        return Ok(Source::default());
    };
    let source = Source::read(&stored_config::whole(op, &id).await?);
    if source.group == derive::COMPONENT && op.data("component").is_none() {
        op.set_data("component", true);
    }
    Ok(source)
}

/// Whether a configuration is for an action.
fn is_for(op: &Op, source: &Source, action: &str) -> bool {
    if source.group == derive::COMPONENT {
        let parts = source.config["configs"].as_array().into_iter().flatten();
        let mut actions = parts.flat_map(|part| part["actions"].as_array().into_iter().flatten());
        return actions.any(|it| it == action);
    }
    let actions = op.items("actions");
    actions.iter().any(|it| open(it).as_text().is_some_and(|it| &**it == action))
}

/// Delivers all deployments of the server, unless the server polls the API.
async fn push(op: &mut Op) -> Result<(), OpError> {
    let Some(server) = op.nonempty_text("server").map(str::to_owned) else { return Ok(()) };
    let Some(sibling) = op.sibling(&server).await? else { return Ok(()) };
    let Some(delivery) = collecting::Delivery::of(&sibling.data) else { return Ok(()) };
    let path = CallPath::from("/software_deployments/metadata").id(&server);
    let (mut sent, mut round): (Option<Json>, usize) = (None, 0);
    loop {
        let all = op.read(get(Service::Orchestration, path.clone())).await?.body["metadata"].take();
        if sent.as_ref() == Some(&all) {
            return Ok(());
        }
        let mut metadata = wire::json(&sibling.metadata);
        metadata["deployments"] = all.clone();
        delivery.deliver(op, &format!("deliver {round}"), &metadata).await?;
        round += 1;
        // Another deployment may have written an older list in the meantime, so the list is read again after
        // each write.
        sent = Some(all);
    }
}

/// Reads an attribute: an output of the server.
fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let outputs = section(view.data, OUTPUTS);
    let told = outputs.and_then(|outputs| outputs.get(name));
    let declared = items(view.data, DECLARED).iter().filter_map(Value::as_map);
    let is_known = || {
        outcome::STANDARD.contains(&name)
            || declared.into_iter().any(|it| word(it, "name") == Some(name))
    };
    match told {
        Some(told) => Ok(Some(step_into_attribute(told, path))),
        None if is_known() => Ok(Some(Value::Null)),
        // `show` is an output like any other, as in Heat.
        None => Err(incorrect(view, name)),
    }
}
