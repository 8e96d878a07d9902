//! Changing a server, step by step.

use super::look::{self, action, look, path, progress_to, status, task};
use super::networks::entries;
use super::{create, interfaces};
use crate::behaviour::DefinitionChange;
use crate::op::{Op, OpError, Progress};
use crate::property_access::{text, word};
use crate::types::heat::collecting;
use kiln_cloud::{CallPath, Reply, Service, get, put};
use serde_json::{Value as Json, json};

/// Whether a change replaces the server although each property is updatable.
pub(super) fn needs_another(change: &DefinitionChange<'_>) -> bool {
    let changes = |name: &str| change.changed.iter().any(|changed| &**changed == name);
    let replaces = |policy: &str| text(change.after, policy) == Some("REPLACE");
    let has_image = word(change.before, "image").is_some() && word(change.after, "image").is_some();
    (changes("flavor") && replaces("flavor_update_policy"))
        || (changes("image") && (replaces("image_update_policy") || !has_image))
        || (changes("user_data") && replaces("user_data_update_policy"))
}

/// Changes the server.
pub(super) async fn update(op: &mut Op) -> Result<(), OpError> {
    if op.nonempty_text("user_data_format") == Some("SOFTWARE_CONFIG") {
        collecting::change(op, &["ec2"]).await?;
    }
    change_words(op).await?;
    // A rollback gives the ports and addresses to the former server again.
    let restored_on_rollback = op.context().is_replacement
        && entries(&op.context().properties)
            .iter()
            .any(|entry| entry.port.is_some() || entry.fixed_ip.is_some());
    if op.changes("networks") || restored_on_rollback {
        interfaces::update(op).await?;
    }
    if op.changes("flavor") {
        let flavor = op.nonempty_text("flavor").unwrap_or_default().to_owned();
        resize(op, &flavor).await?;
    }
    let rebuilds =
        op.changes("user_data") && op.nonempty_text("user_data_update_policy") == Some("REBUILD");
    if op.changes("image") || rebuilds {
        rebuild(op, rebuilds).await?;
    }
    look::show(op).await.map(drop)
}

/// Changes name, metadata, tags and password, for which the server keeps running.
async fn change_words(op: &mut Op) -> Result<(), OpError> {
    if op.changes("name") {
        let body = json!({ "server": { "name": create::name(op) } });
        op.call("name", put(Service::Compute, path(op), body)).await?;
    }
    if op.changes("metadata") {
        let body = json!({ "metadata": create::metadata(op) });
        op.call("metadata", put(Service::Compute, path(op).then("/metadata"), body)).await?;
    }
    if op.changes("tags") {
        let call = create::tags(op);
        op.call("tags", call).await?;
    }
    if op.changes("admin_pass") && !op.changes("image") {
        let password = op.nonempty_text("admin_pass").unwrap_or_default();
        let call = action(op, json!({ "changePassword": { "adminPass": password } }));
        op.call("password", call).await?;
    }
    Ok(())
}

/// Resizes a server to another flavor.
pub(crate) async fn resize(op: &mut Op, flavor: &str) -> Result<(), OpError> {
    let name = flavor_name(op, flavor).await?;
    let has_flavor = |reply: &Reply| {
        let shown = &reply.body["server"]["flavor"];
        shown["original_name"] == name.as_str() || shown["id"] == flavor
    };
    let now = op.read(look(op)).await?;
    let is_under_way = matches!(status(&now), "RESIZE" | "VERIFY_RESIZE");
    if !is_under_way && !has_flavor(&now) {
        let call = action(op, json!({ "resize": { "flavorRef": flavor } }));
        op.call("resize", call).await?;
    }
    let call = look(op);
    let resized = look::until(op, call, |reply| match status(reply) {
        "VERIFY_RESIZE" => Progress::Ready,
        // The service may be configured to confirm a resize by itself.
        "ACTIVE" | "SHUTOFF" if has_flavor(reply) && task(reply).is_none() => Progress::Ready,
        "RESIZE" => Progress::NotYet,
        "ACTIVE" | "SHUTOFF" if task(reply).is_some() => Progress::NotYet,
        // No host has room for the flavor, so the server keeps its own.
        same @ ("ACTIVE" | "SHUTOFF") => Progress::Failed(format!(
            "Resizing to '{flavor}' failed, status '{same}' - Unknown status {same} due to \"Unknown\""
        )),
        other => Progress::Failed(format!(
            "Went to status {other} due to \"Resizing to '{flavor}' failed: {}\"",
            look::fault(reply).0
        )),
    })
    .await?;
    if status(&resized) == "VERIFY_RESIZE" {
        let call = action(op, json!({ "confirmResize": null }));
        match op.call("confirm", call).await {
            // An interrupted attempt confirmed the resize.
            Err(stop) if stop.is_conflict() => {}
            done => _ = done?,
        }
    }
    let call = look(op);
    look::until(op, call, |reply| match status(reply) {
        // The server was off before the resize.
        "SHUTOFF" if task(reply).is_none() => Progress::Ready,
        _ => progress_to(reply, "ACTIVE"),
    })
    .await
    .map(drop)
}

/// Reads the name of a flavor, because servers show the name and not the id.
pub(super) async fn flavor_name(op: &mut Op, flavor: &str) -> Result<String, OpError> {
    let shown =
        op.read(get(Service::Compute, CallPath::from("/flavors").id(flavor)).may_be_old()).await?;
    Ok(shown.text("/flavor/name").unwrap_or(flavor).to_owned())
}

/// Rebuilds the server, which replaces its disk.
async fn rebuild(op: &mut Op, with_user_data: bool) -> Result<(), OpError> {
    let mut body = json!({
        "imageRef": op.nonempty_text("image"),
        "metadata": create::metadata(op),
    });
    if op.nonempty_text("image_update_policy") == Some("REBUILD_PRESERVE_EPHEMERAL") {
        body["preserve_ephemeral"] = true.into();
    }
    if let Some(password) = op.nonempty_text("admin_pass") {
        body["adminPass"] = password.into();
    }
    if with_user_data {
        body["user_data"] = create::own_user_data(op).await?.map_or(Json::Null, Json::from);
    }
    let files = create::files(op);
    let mut call = action(op, Json::Null);
    if !files.is_empty() {
        body["personality"] = files.into();
        call = call.microversion("2.56");
    }
    call.request.body = Some(json!({ "rebuild": body }));
    op.call("rebuild", call).await?;
    let call = look(op);
    look::until(op, call, |reply| match status(reply) {
        "REBUILD" => Progress::NotYet,
        "ERROR" => {
            let why = look::fault(reply).0;
            Progress::Failed(format!(
                "Went to status ERROR due to \"Rebuilding server failed: {why}\""
            ))
        }
        _ => Progress::Ready,
    })
    .await
    .map(drop)
}
