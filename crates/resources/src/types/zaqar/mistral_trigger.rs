//! OS::Zaqar::MistralTrigger: a subscription that starts a workflow for every message in a queue.

use super::common::{self, rest_spec};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest;
use crate::wire;
use kiln_cloud::{CallPath, Marker, get, patch};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn mistral_trigger() -> ResourceType {
    ResourceType::new("OS::Zaqar::MistralTrigger")
        .plain_data([SUBSCRIBER])
        .about("A subscription that starts a workflow for every message in a queue.")
        .service(Service::Messaging)
        .since("8.0.0")
        .props([
            prop("input", Map, "Input values that each execution of the workflow is started with.").updatable().default_empty(),
            prop("params", Map, "Parameters of the execution, such as `env`, to which the message is added as `notification`.").updatable().default_empty(),
            prop("queue_name", Str, "Name of the queue whose messages start the workflow.").required().is(QUEUE),
            prop("ttl", Int, "Seconds after which the subscription expires, 60 at least.").updatable().default(220367260800).min(60),
            prop("workflow_id", Str, "ID of the Mistral workflow that is started for each message.").required().updatable().is(WORKFLOW),
        ])
        .finder(marker)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(rest_spec())
}

/// The entry of the resource's data with the subscriber: the URL that starts executions.
const SUBSCRIBER: &str = "subscriber";

fn marker(op: &Op) -> Option<Marker> {
    let subscriber = op.data(SUBSCRIBER)?.as_text()?;
    Some(Marker { value: json!({ "subscriber": &**subscriber }), ..rest::marker(op)? })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let fields = fields(op).await?;
    common::create(op, fields).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let fields = fields(op).await?;
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    op.call("change", patch(Service::Messaging, rest::path(op, &spec), fields.into())).await?;
    rest::until_ready(op).await
}

/// The fields of the subscription. The messaging service starts an execution with a trust of the user, and puts
/// the message into its environment.
async fn fields(op: &mut Op) -> Result<Fields<String, Json>, OpError> {
    let workflow = op.text("workflow_id").unwrap_or_default().to_owned();
    let shown =
        op.read(get(Service::Workflow, CallPath::from("/workflows").id_or_url(&workflow))).await?;
    let address = shown.address().unwrap_or_default();
    let root = address.rsplit_once("/workflows/").map_or("", |it| it.0);
    let subscriber = format!("trust+{root}/executions");
    op.set_data(SUBSCRIBER, subscriber.as_str());
    let mut params = wire::json(op.prop("params"));
    if !params.is_object() {
        params = json!({});
    }
    if !params["env"].is_object() {
        params["env"] = json!({});
    }
    params["env"]["notification"] = "$zaqar_message$".into();
    let post_data =
        json!({ "workflow_id": workflow, "input": wire::json(op.prop("input")), "params": params });
    let fields = [
        ("subscriber", subscriber.into()),
        ("ttl", wire::json(op.prop("ttl"))),
        ("options", json!({ "post_data": post_data.to_string() })),
    ];
    Ok(fields.map(|(name, value): (_, Json)| (name.to_owned(), value)).into_iter().collect())
}
