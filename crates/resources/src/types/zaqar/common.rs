//! The common parts of subscriptions to queues.

use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest::{self, RestSpec, UpdateMethod};
use kiln_cloud::post;
use serde_json::Value as Json;

/// Subscriptions. A queue has one per subscriber, and the service lists twenty at most.
pub(super) fn rest_spec() -> RestSpec {
    RestSpec::new(Service::Messaging, "/queues/{queue_name}/subscriptions", "")
        .list_envelope("subscriptions")
        .unique(["subscriber"])
        .list_suffix("?limit=20")
        .update_method(UpdateMethod::Patch)
        .deleted_at_once()
}

/// Creates a subscription with these fields.
pub(super) async fn create(
    op: &mut Op,
    fields: serde_json::Map<String, Json>,
) -> Result<(), OpError> {
    if op.id().is_none() {
        let Some(spec) = op.rest_spec() else { return Ok(()) };
        let path = rest::collection(op, &spec);
        let reply = op.call("create", post(Service::Messaging, path, fields.into())).await?;
        // The id has another name in the reply than in the list.
        let id = reply.text("/subscription_id").or_else(|| reply.text("/id"));
        op.set_id(id.unwrap_or_default());
    }
    rest::until_ready(op).await
}
