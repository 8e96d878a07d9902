//! The block devices of a new server.

use serde_json::{Value, json};

use super::super::image::IMAGES;
use super::super::microversioned::fault;
use super::super::request::{Refusal, RequestContext, object, text};
use super::super::table::Obj;
use super::{SNAPSHOTS, VOLUMES, volumes};

/// Validates the block devices of a request. A server without an image needs a bootable one.
pub(in super::super) fn devices(
    ctx: &RequestContext<'_>,
    sent: &Obj,
    image: Option<&Obj>,
) -> Result<Vec<Value>, Refusal> {
    let mut devices = match sent.get("block_device_mapping_v2").and_then(Value::as_array) {
        Some(devices) => devices.clone(),
        None => old_form(sent),
    };
    let boots = |device: &Value| {
        device["boot_index"].as_i64() == Some(0) || device["boot_index"] == json!("0")
    };
    if image.is_none() && !devices.iter().any(boots) {
        let message = "Invalid imageRef provided.";
        let none = devices.is_empty();
        return Err(fault(
            400,
            if none {
                message
            } else {
                "Block Device Mapping is Invalid: Boot sequence for the instance and image/block device mapping combination is not valid."
            },
        ));
    }
    for device in &mut devices {
        check(ctx, device)?;
    }
    Ok(devices)
}

fn old_form(sent: &Obj) -> Vec<Value> {
    let old =
        sent.get("block_device_mapping").and_then(Value::as_array).cloned().unwrap_or_default();
    old.into_iter()
        .map(|mut device| {
            let boots = device["device_name"].as_str().is_some_and(|name| name.ends_with("vda"));
            let source = if device["snapshot_id"].is_string() { "snapshot" } else { "volume" };
            let id = if source == "snapshot" {
                device["snapshot_id"].clone()
            } else {
                device["volume_id"].clone()
            };
            device["source_type"] = json!(source);
            device["destination_type"] = json!("volume");
            device["uuid"] = id;
            device["boot_index"] = json!(if boots { 0 } else { -1 });
            device
        })
        .collect()
}

fn check(ctx: &RequestContext<'_>, device: &Value) -> Result<(), Refusal> {
    let id = device["uuid"].as_str().unwrap_or_default();
    let failed = |kind: &str| {
        Err(fault(400, format!("Block Device Mapping is Invalid: failed to get {kind} {id}.")))
    };
    match device["source_type"].as_str().unwrap_or_default() {
        "volume" => {
            let found = ctx.state.get(VOLUMES, id).filter(|row| ctx.owns(row));
            let Some(found) = found else { return failed("volume") };
            if text(found, "status") != "available" {
                let message = format!(
                    "Invalid volume: Volume {id} status must be available to reserve, but the current status is {}.",
                    text(found, "status")
                );
                return Err(fault(400, message));
            }
            if device["boot_index"].as_i64() == Some(0) && text(found, "bootable") != "true" {
                return Err(fault(400, format!("Block Device {id} is not bootable.")));
            }
            Ok(())
        }
        "snapshot" => match ctx.state.get(SNAPSHOTS, id).filter(|row| ctx.owns(row)) {
            Some(_) => Ok(()),
            None => failed("snapshot"),
        },
        "image" => match ctx.state.get(IMAGES, id) {
            Some(_) => Ok(()),
            None => failed("image"),
        },
        "blank" => Ok(()),
        other => Err(fault(400, format!("Block Device Mapping is Invalid: source_type '{other}'"))),
    }
}

/// Claims the volumes that the request names and creates the others. Local disks are not recorded.
pub(in super::super) fn claim(
    ctx: &mut RequestContext<'_>,
    server: &str,
    devices: &[Value],
) -> Vec<Value> {
    let mut claimed = Vec::new();
    let mut letter = b'b';
    for device in devices {
        let boots = device["boot_index"].as_i64() == Some(0);
        let size = device["volume_size"].clone();
        let (id, source) =
            (device["uuid"].clone(), device["source_type"].as_str().unwrap_or_default());
        if device["destination_type"] == json!("local") {
            continue;
        }
        let volume = match source {
            "volume" => id.as_str().unwrap_or_default().to_owned(),
            _ => {
                let mut sent =
                    json!({ "size": size, "volume_type": device["volume_type"], "name": "" });
                match source {
                    "image" => sent["imageRef"] = id,
                    "snapshot" => sent["snapshot_id"] = id,
                    _ => {}
                }
                match volumes::internal(ctx, sent) {
                    Ok(row) => text(&row, "id").to_owned(),
                    Err(_) => continue,
                }
            }
        };
        let name = if boots { b'a' } else { letter };
        if !boots {
            letter += 1;
        }
        let device_name = device["device_name"].as_str().map(str::to_owned);
        let device_name = device_name
            .map(|name| if name.starts_with('/') { name } else { format!("/dev/{name}") });
        let device_name = device_name.unwrap_or_else(|| format!("/dev/vd{}", char::from(name)));
        ctx.state.set(VOLUMES, &volume, json!({ "status": "reserved" }));
        let ends = device["delete_on_termination"] == json!(true);
        claimed.push(Value::from(object(json!({
            "id": volume, "device": device_name, "attachment_id": ctx.state.uuid(), "delete_on_termination": ends,
            "server_id": server,
        }))));
    }
    claimed
}
