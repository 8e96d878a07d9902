//! What the compute service tells about volumes: they are wanted, attached, free.

use serde_json::{Value, json};

use super::super::ask::{list, set, text};
use super::super::compute::SERVERS;
use super::super::world::World;
use super::VOLUMES;

/// The volume is on its way to a server or from it.
pub(in super::super) fn reserve(world: &mut World, volume: &str, status: &str) {
    world.set(VOLUMES, volume, json!({ "status": status }));
}

/// The volume is at its server.
pub(in super::super) fn finish(world: &mut World, volume: &str, server: &str) {
    let row = world.copy(SERVERS, server);
    let entry = list(&row, "_volumes").iter().find(|own| own["id"] == json!(volume)).cloned();
    let Some(entry) = entry else { return };
    let attachment = json!({
        "id": volume, "volume_id": volume, "server_id": server, "attachment_id": entry["attachment_id"],
        "device": entry["device"], "host_name": text(&row, "OS-EXT-SRV-ATTR:host"),
        "attached_at": world.stamp_micros(),
    });
    world.edit(VOLUMES, volume, |row| {
        let mut attachments = list(row, "attachments").to_vec();
        attachments.retain(|own| own["server_id"] != json!(server));
        attachments.push(attachment);
        set(row, "attachments", attachments);
        set(row, "status", "in-use");
    });
}

/// The volume is free of this server.
pub(in super::super) fn release(world: &mut World, volume: &str, server: &str) {
    world.edit(VOLUMES, volume, |row| {
        let mut attachments: Vec<Value> = list(row, "attachments").to_vec();
        attachments.retain(|own| own["server_id"] != json!(server));
        let status = if attachments.is_empty() { "available" } else { "in-use" };
        set(row, "attachments", attachments);
        set(row, "status", status);
    });
}
