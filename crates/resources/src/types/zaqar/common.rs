//! What subscriptions to queues have in common.

use crate::declare::*;
use crate::op::{Op, Stop};
use crate::rest::{self, Change, Plain};
use kiln_cloud::post;
use serde_json::Value as Json;

/// Subscriptions: a queue has one of each subscriber. They are listed twenty at a time at most.
pub(super) fn plain() -> Plain {
    Plain::at(Service::Messaging, "/queues/{queue_name}/subscriptions", "")
        .many("subscriptions")
        .unique(["subscriber"])
        .listed("?limit=20")
        .change(Change::Patch)
        .goes_at_once()
}

/// Makes a subscription with these fields.
pub(super) async fn create(op: &mut Op, fields: serde_json::Map<String, Json>) -> Result<(), Stop> {
    if op.id().is_none() {
        let Some(plain) = op.plain() else { return Ok(()) };
        let path = rest::collection(op, &plain);
        let reply = op.call("create", post(Service::Messaging, path, fields.into())).await?;
        // It goes by another name in the reply than in the list.
        let id = reply.text("/subscription_id").or_else(|| reply.text("/id"));
        op.set_id(id.unwrap_or_default());
    }
    rest::until_ready(op).await
}
