//! Notifications of the compute service about its volumes.

use serde_json::{Value, json};

use super::super::compute::SERVERS;
use super::super::request::{list, set, text};
use super::super::state::CloudState;
use super::VOLUMES;

/// Reserves a volume for attaching or detaching.
pub(in super::super) fn reserve(state: &mut CloudState, volume: &str, status: &str) {
    state.set(VOLUMES, volume, json!({ "status": status }));
}

/// Marks a volume as attached to a server.
pub(in super::super) fn finish(state: &mut CloudState, volume: &str, server: &str) {
    let row = state.copy(SERVERS, server);
    let entry = list(&row, "_volumes").iter().find(|own| own["id"] == json!(volume)).cloned();
    let Some(entry) = entry else { return };
    let attachment = json!({
        "id": volume, "volume_id": volume, "server_id": server, "attachment_id": entry["attachment_id"],
        "device": entry["device"], "host_name": text(&row, "OS-EXT-SRV-ATTR:host"),
        "attached_at": state.timestamp_micros(),
    });
    state.edit(VOLUMES, volume, |row| {
        let mut attachments = list(row, "attachments").to_vec();
        attachments.retain(|own| own["server_id"] != json!(server));
        attachments.push(attachment);
        set(row, "attachments", attachments);
        set(row, "status", "in-use");
    });
}

/// Releases a volume from a server.
pub(in super::super) fn release(state: &mut CloudState, volume: &str, server: &str) {
    state.edit(VOLUMES, volume, |row| {
        let mut attachments: Vec<Value> = list(row, "attachments").to_vec();
        attachments.retain(|own| own["server_id"] != json!(server));
        let status = if attachments.is_empty() { "available" } else { "in-use" };
        set(row, "attachments", attachments);
        set(row, "status", status);
    });
}
