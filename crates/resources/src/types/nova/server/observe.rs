//! Comparing a server with its definition.

use super::create;
use super::interfaces;
use super::look::{self, status, task};
use super::update::flavor_name;
use crate::op::{Compared, FailureClass, Op, OpError, Progress};
use kiln_cloud::Reply;
use serde_json::{Value as Json, json};

/// The properties that are compared.
pub(super) const COMPARED: &[&str] = &["flavor", "image", "metadata", "name", "networks", "tags"];

/// Reads the server and compares it with the definition.
pub(super) async fn observe(op: &mut Op) -> Result<(), OpError> {
    let Some(shown) = read_healthy(op).await? else { return Ok(()) };
    let server = &shown.body["server"];
    let mut compared = Compared::default();
    if op.nonempty_text("name").is_some() {
        compared.add("name", &create::name(op).into(), &server["name"]);
    }
    compare_metadata(op, server, &mut compared);
    compare_tags(op, server, &mut compared);
    if let Some(image) = op.nonempty_text("image")
        && server["image"]["id"].is_string()
    {
        compared.add("image", &image.into(), &server["image"]["id"]);
    }
    compare_flavor(op, server, &mut compared).await?;
    interfaces::compare(op, &mut compared).await?;
    op.set_compared(compared);
    Ok(())
}

/// Reads a server. It fails as not found if the server is deleted, and as [`OpError::broken`] if it is in error.
pub(crate) async fn read_healthy(op: &mut Op) -> Result<Option<Reply>, OpError> {
    if op.id().is_none() {
        return Ok(None);
    }
    if op.context().is_half_done {
        // What was begun by a failed operation comes to its end first.
        let call = look::look(op);
        look::until(op, call, |reply| match status(reply) {
            "BUILD" | "REBUILD" | "RESIZE" => Progress::NotYet,
            _ => Progress::Ready,
        })
        .await?;
    }
    let shown = look::show(op).await?;
    match status(&shown) {
        _ if task(&shown) == Some("deleting") => {
            Err(OpError::failed(FailureClass::NotFound, "the server is being deleted"))
        }
        "DELETED" | "SOFT_DELETED" => {
            Err(OpError::failed(FailureClass::NotFound, "the server is deleted"))
        }
        "ERROR" => Err(OpError::broken(look::failed(&shown))),
        _ => Ok(Some(shown)),
    }
}

/// The metadata is compared as a whole: an update sets all of it.
fn compare_metadata(op: &Op, server: &Json, compared: &mut Compared) {
    let wanted = create::metadata(op);
    let is_same = wanted == server["metadata"];
    match wanted.as_object().is_none_or(serde_json::Map::is_empty) {
        true if !is_same => {}
        _ if is_same => compared.same.push("metadata".into()),
        _ => {
            _ = compared.drifted.insert("metadata".into(), crate::wire::value(&server["metadata"]))
        }
    }
}

fn compare_tags(op: &Op, server: &Json, compared: &mut Compared) {
    let wanted = create::tag_list(op);
    if server["tags"].is_array() && !wanted.is_empty() {
        compared.add("tags", &wanted.into(), &server["tags"]);
    }
}

/// Servers show the name of their flavor, or its id.
async fn compare_flavor(
    op: &mut Op,
    server: &Json,
    compared: &mut Compared,
) -> Result<(), OpError> {
    let Some(flavor) = op.nonempty_text("flavor").map(str::to_owned) else { return Ok(()) };
    let shown = &server["flavor"];
    let name = match flavor_name(op, &flavor).await {
        Ok(name) => name,
        // A flavor can be deleted while servers use it.
        Err(stop) if stop.is_not_found() => return Ok(()),
        Err(stop) => return Err(stop),
    };
    let is_same = shown["original_name"] == name.as_str()
        || shown["id"] == flavor.as_str()
        || shown["id"] == name.as_str();
    let found = shown.get("original_name").or(shown.get("id")).cloned().unwrap_or_default();
    match is_same {
        true => compared.same.push("flavor".into()),
        false => compared.add("flavor", &json!(flavor), &found),
    }
    Ok(())
}
