//! OS::Zaqar::Queue: a queue of messages.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{open, section};
use crate::wire;
use kiln_cloud::{CallPath, delete, get, patch, put};
use serde_json::{Value as Json, json};

pub(super) fn queue() -> ResourceType {
    ResourceType::new("OS::Zaqar::Queue")
        .about("A queue of messages.")
        .service(Service::Messaging)
        .name_limit(64)
        .since("2014.2")
        .props([prop("metadata", Map, "Keys and values kept with the queue, including reserved ones such as `_max_messages_post_size`.").updatable(), prop("name", Str, "Name of the queue; made from the stack and resource names if omitted.").max_length(64)])
        .attrs([
            attr("href", None, "URL of the queue in the messaging service."),
            attr("queue_id", None, "Name of the queue, which is also its ID.").uncached().since("2014.1").deprecated("2015.1").hidden("6.0.0"),
        ])
        .plain_data([SHARED])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/queues").id_or_url(op.id().map_or("", |id| id))
}

/// The entry of the resource's data that says that the queue existed before: it is used, and not deleted.
const SHARED: &str = "shared";

/// The status of the reply if the queue existed already.
const EXISTED: u16 = 204;

/// Creates the queue. Its name is its id, so a repeated call creates no second queue.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let name = op.text("name").unwrap_or(&op.context().physical_name).to_owned();
    op.set_id(name);
    let metadata = match wire::json(op.prop("metadata")) {
        Json::Null => json!({}),
        metadata => metadata,
    };
    let created = op.call("create", put(Service::Messaging, path(op), metadata)).await?;
    if created.status == EXISTED && op.nonempty_text("name").is_some() {
        if op.may_be_done("create") {
            op.clear_id();
            return Err(OpError::failed(
                FailureClass::Conflict,
                "A call was lost, and there is a queue of this name: nothing tells whether it existed before. Next: delete \
                 it if it is not needed, or choose another name, and update the stack.",
            ));
        }
        op.set_data(SHARED, true);
    }
    look(op).await
}

/// Replaces the metadata with a JSON patch.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let (before, after) =
        (op.context().previous_properties.clone(), op.context().properties.clone());
    let empty = Members::new();
    let had = section(&before, "metadata").unwrap_or(&empty);
    let wanted = section(&after, "metadata").unwrap_or(&empty);
    let place = |name: &str| format!("/metadata/{}", name.replace('~', "~0").replace('/', "~1"));
    let gone = had.keys().filter(|name| !wanted.contains_key(&***name));
    let gone = gone.map(|name| json!({ "op": "remove", "path": place(name) }));
    let new = wanted.iter().filter(|(name, value)| had.get(&***name) != Some(value));
    let new = new.map(|(name, value)| {
        json!({ "op": "add", "path": place(name), "value": wire::json(open(value)) })
    });
    let changes: Vec<Json> = gone.chain(new).collect();
    if !changes.is_empty() {
        let call = patch(Service::Messaging, path(op), changes.into())
            .header("Content-Type", "application/openstack-messaging-v2.0-json-patch");
        op.call("change", call).await?;
    }
    look(op).await
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    if let Some(name) = op.id().cloned() {
        let reply = op.read(get(Service::Messaging, path(op))).await?;
        let address = reply.address().unwrap_or_default();
        op.set_remote(map([
            ("href", Value::from(address)),
            ("metadata", wire::value(&reply.body)),
            ("queue_id", Value::Text(name)),
        ]));
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let is_shared = op.data(SHARED).is_some();
    if op.id().is_some() && !is_shared {
        op.remove("delete", delete(Service::Messaging, path(op))).await?;
    }
    op.clear_id();
    Ok(())
}
