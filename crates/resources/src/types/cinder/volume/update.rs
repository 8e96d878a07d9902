//! Changing a volume. Some changes need it to be detached; it is attached to its server again afterwards.

use super::calls::{self, action, look, path, set_read_only, status, until_at_rest};
use crate::declare::{Service, Value, map};
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::property_access::{open, text};
use crate::types::cinder::attaching::{self, Attachment};
use crate::wire;
use kiln_cloud::{CallPath, Reply, get, post, put};
use serde_json::{Map, Value as Json, json};

pub(super) async fn update(op: &mut Op) -> Result<(), OpError> {
    change_words(op).await?;
    if op.changes("volume_type") && op.nonempty_text("volume_type").is_some() {
        retype(op).await?;
    }
    let fills = op.changes("backup_id") && op.nonempty_text("backup_id").is_some();
    if fills || (op.changes("read_only") && !op.prop("read_only").is_null()) {
        // Changes that need a detached volume are complete before it is attached again.
        if op.context().journal.step(BACK).is_none() {
            detach(op).await?;
            if op.changes("read_only") && !op.prop("read_only").is_null() {
                set_read_only(op).await?;
            }
            if fills {
                fill(op).await?;
            }
        }
        attach_again(op).await?;
    }
    if op.changes("size") {
        extend(op).await?;
    }
    let reply = op.read(look(op)).await?;
    op.set_remote(wire::value(&reply.body["volume"]));
    Ok(())
}

async fn change_words(op: &mut Op) -> Result<(), OpError> {
    let mut words = Map::new();
    if op.changes("name") {
        let name = op.nonempty_text("name").unwrap_or(&op.context().physical_name);
        words.insert("name".into(), name.into());
    }
    if op.changes("description") {
        words.insert("description".into(), wire::json(op.prop("description")));
    }
    if !words.is_empty() {
        op.call("words", put(Service::Volume, path(op), json!({ "volume": words }))).await?;
    }
    if op.changes("metadata") {
        let metadata = op.section("metadata").into_iter().flatten();
        let metadata: Map<String, Json> =
            metadata.map(|(name, value)| (name.to_string(), wire::json(value))).collect();
        let body = json!({ "metadata": metadata });
        op.call("metadata", put(Service::Volume, path(op).then("/metadata"), body)).await?;
    }
    Ok(())
}

/// Changes the type of the volume without migrating it. Volumes show the names of their types, not the ids.
async fn retype(op: &mut Op) -> Result<(), OpError> {
    let wanted = op.nonempty_text("volume_type").unwrap_or_default().to_owned();
    let types = op.read(get(Service::Volume, "/types").query("is_public", "None")).await?;
    let all = types.body["volume_types"].as_array().into_iter().flatten();
    let mut all = all.filter(|kind| kind["id"] == wanted.as_str());
    let name = all.find_map(|kind| kind["name"].as_str()).unwrap_or(&wanted).to_owned();
    let is_done = |reply: &Reply| reply.text("/volume/volume_type") == Some(&name);
    let now = op.read(look(op)).await?;
    if !is_done(&now) && status(&now) != "retyping" {
        let body = json!({ "os-retype": { "new_type": wanted, "migration_policy": "never" } });
        let call = action(op, body);
        op.call("retype", call).await?;
    }
    let end = until_at_rest(op).await?;
    if is_done(&end) {
        Ok(())
    } else {
        Err(OpError::failed(
            FailureClass::Error,
            format!("The volume did not become one of type {name}"),
        ))
    }
}

/// Extends the volume, whether it is attached or not.
async fn extend(op: &mut Op) -> Result<(), OpError> {
    let whole = |value: &Value| match open(value) {
        Value::Int(number) => number.as_i64(),
        _ => None,
    };
    let Some(size) = whole(op.prop("size")) else { return Ok(()) };
    let now = until_at_rest(op).await?;
    let shown = now.body["volume"]["size"].as_i64().unwrap_or_default();
    if size < shown {
        return Err(OpError::failed(
            FailureClass::NotSupported,
            "Shrinking volume is not supported.",
        ));
    }
    if size == shown {
        return Ok(());
    }
    let call = action(op, json!({ "os-extend": { "new_size": size } }));
    op.call("extend", call).await?;
    let end = until_at_rest(op).await?;
    match end.body["volume"]["size"].as_i64() {
        Some(shown) if shown < size => {
            Err(OpError::failed(FailureClass::Error, "Volume resize failed"))
        }
        _ => Ok(()),
    }
}

/// Restores a backup into the volume.
async fn fill(op: &mut Op) -> Result<(), OpError> {
    let backup = op.nonempty_text("backup_id").unwrap_or_default().to_owned();
    let body = json!({ "restore": { "volume_id": op.id().map_or("", |id| id) } });
    let call = post(Service::Volume, CallPath::from("/backups").id(backup).then("/restore"), body);
    op.call("fill", call.may_be_repeated()).await?;
    calls::until_available(op).await.map(drop)
}

// --- detaching and attaching again ---

/// The entry of the resource's data with the server that the volume is attached to again.
const HOME: &str = "attached_to";

/// The step that attaches the volume again.
const BACK: &str = "attach again";

async fn detach(op: &mut Op) -> Result<(), OpError> {
    if op.data(HOME).is_none() {
        let now = op.read(look(op)).await?;
        let Some(home) = home(op, &now)? else { return Ok(()) };
        let device = home.device.clone().map_or(Value::Null, Value::from);
        op.set_data(HOME, map([("server", Value::from(home.server)), ("device", device)]));
    }
    if let Some(home) = kept_home(op) {
        attaching::detach(op, "detach", &home).await?;
        let call = look(op);
        op.until(call, |reply| match status(reply) {
            "available" => Progress::Ready,
            _ => Progress::NotYet,
        })
        .await?;
    }
    Ok(())
}

async fn attach_again(op: &mut Op) -> Result<(), OpError> {
    if let Some(home) = kept_home(op) {
        attaching::attach(op, BACK, &home).await?;
        op.set_data(HOME, Value::Null);
    }
    Ok(())
}

fn kept_home(op: &Op) -> Option<Attachment> {
    let kept = op.data(HOME)?.as_map()?;
    Some(Attachment {
        server: text(kept, "server")?.to_owned(),
        volume: op.id()?.to_string(),
        device: text(kept, "device").map(str::to_owned),
    })
}

/// The server that the volume is attached to; it is an error if there are several.
fn home(op: &Op, now: &Reply) -> Result<Option<Attachment>, OpError> {
    let all = now.body["volume"]["attachments"].as_array().cloned().unwrap_or_default();
    match all.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(Attachment {
            server: one["server_id"].as_str().unwrap_or_default().to_owned(),
            volume: op.id().map_or("", |id| id).to_owned(),
            device: one["device"].as_str().map(str::to_owned),
        })),
        _ => Err(OpError::failed(
            FailureClass::Error,
            "The volume is attached to several servers: detach it first",
        )),
    }
}
