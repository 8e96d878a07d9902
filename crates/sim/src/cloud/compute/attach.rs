//! What is attached to servers: interfaces and volumes.

use serde_json::{Value, json};

use super::super::ask::{Answer, Refusal, Reply, Turn, list, set, text, words};
use super::super::network::PORTS;
use super::super::table::Obj;
use super::super::volume::{self, VOLUMES};
use super::super::world::World;
use super::dialect::{fault, wrong_state};
use super::servers::find;
use super::{SERVERS, build};

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["servers", id, what @ ("os-interface" | "os-volume_attachments"), rest @ ..] = path else {
        return None;
    };
    let row = match find(turn, id) {
        Ok(row) => row,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match (method, *what, rest) {
        ("GET", "os-interface", []) => {
            let ports = turn.world.table(PORTS).with("device_id", id);
            let rows: Vec<Value> = ports.into_iter().map(|port| interface(turn, port)).collect();
            Ok(Reply::ok(json!({ "interfaceAttachments": rows })))
        }
        ("GET", "os-interface", [port]) => own_port(turn, id, port)
            .map(|port| Reply::ok(json!({ "interfaceAttachment": interface(turn, &port) }))),
        ("POST", "os-interface", []) => add_interface(turn, &row),
        ("DELETE", "os-interface", [port]) => remove_interface(turn, &row, port),
        ("GET", "os-volume_attachments", []) => {
            let rows: Vec<Value> =
                list(&row, "_volumes").iter().map(|volume| attachment(turn, id, volume)).collect();
            Ok(Reply::ok(json!({ "volumeAttachments": rows })))
        }
        ("GET", "os-volume_attachments", [volume]) => own_volume(&row, volume)
            .map(|volume| Reply::ok(json!({ "volumeAttachment": attachment(turn, id, &volume) }))),
        ("POST", "os-volume_attachments", []) => add_volume(turn, &row),
        ("PUT", "os-volume_attachments", [volume]) => {
            own_volume(&row, volume).map(|_| Reply::empty(202))
        }
        ("DELETE", "os-volume_attachments", [volume]) => remove_volume(turn, &row, volume),
        _ => return None,
    })
}

fn interface(turn: &Turn<'_>, port: &Obj) -> Value {
    let mut shown = json!({
        "port_id": port["id"], "net_id": port["network_id"], "mac_addr": port["mac_address"],
        "port_state": port["status"], "fixed_ips": port["fixed_ips"],
    });
    if turn.version >= 70 {
        shown["tag"] = port.get("_tag").cloned().unwrap_or_default();
    }
    shown
}

fn own_port(turn: &Turn<'_>, server: &str, id: &str) -> Result<Obj, Refusal> {
    let port = turn.world.get(PORTS, id).filter(|port| text(port, "device_id") == server);
    port.cloned()
        .ok_or_else(|| fault(404, format!("Instance {server} does not have a port with id {id}")))
}

fn add_interface(turn: &mut Turn<'_>, row: &Obj) -> Answer {
    let id = text(row, "id").to_owned();
    if !["active", "paused", "stopped"].contains(&text(row, "OS-EXT-STS:vm_state"))
        || !text(row, "OS-EXT-STS:task_state").is_empty()
    {
        return Err(wrong_state("attach_interface", row));
    }
    let wish = turn.body["interfaceAttachment"].clone();
    if wish["port_id"].is_string() && (wish["net_id"].is_string() || wish["fixed_ips"].is_array()) {
        return Err(fault(400, "Must not input both network_id and port_id"));
    }
    let port = match (wish["port_id"].as_str(), wish["net_id"].as_str()) {
        (Some(port), _) => {
            let found = turn.world.get(PORTS, port).filter(|row| turn.owns(row));
            let Some(found) = found else {
                return Err(fault(404, format!("Port id {port} could not be found.")));
            };
            if !text(found, "device_id").is_empty() {
                return Err(fault(400, format!("Port {port} is still in use.")));
            }
            let taken = json!({ "device_id": id, "device_owner": "compute:nova" });
            turn.world.set(PORTS, port, taken);
            port.to_owned()
        }
        (None, network) => {
            let network = match network {
                Some(network) => network.to_owned(),
                None => only_network(turn)?,
            };
            build::network_usable(turn, &network)?;
            let ip = wish["fixed_ips"][0]["ip_address"].as_str();
            let port = build::new_port(turn, &id, &network, ip, None)
                .map_err(|refusal| fault(400, refusal.message))?;
            let port = text(&port, "id").to_owned();
            turn.world.edit(SERVERS, &id, |row| {
                let mut own = words(row, "_own_ports");
                own.push(port.clone());
                set(row, "_own_ports", own);
            });
            port
        }
    };
    if let Some(tag) = wish["tag"].as_str() {
        turn.world.set(PORTS, &port, json!({ "_tag": tag }));
    }
    build::bind(turn.world, &id, text(row, "OS-EXT-SRV-ATTR:host"));
    let port = turn.world.copy(PORTS, &port);
    Ok(Reply::ok(json!({ "interfaceAttachment": interface(turn, &port) })))
}

fn only_network(turn: &Turn<'_>) -> Result<String, Refusal> {
    use super::super::network::NETWORKS;
    let own = turn.world.table(NETWORKS).with("project_id", &turn.who.project);
    match own.as_slice() {
        [one] => Ok(text(one, "id").to_owned()),
        [] => Err(fault(400, "No networks found.")),
        _ => Err(fault(
            400,
            "More than one possible network found. Specify network ID(s) to select which one(s) to connect to.",
        )),
    }
}

fn remove_interface(turn: &mut Turn<'_>, row: &Obj, port: &str) -> Answer {
    let id = text(row, "id");
    if !["active", "paused", "stopped"].contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Err(wrong_state("detach_interface", row));
    }
    own_port(turn, id, port)?;
    turn.world.step_when_built("compute/detached", &format!("{id}/port/{port}"));
    Ok(Reply::empty(202))
}

fn attachment(turn: &Turn<'_>, server: &str, volume: &Value) -> Value {
    let mut shown = json!({
        "id": volume["id"], "volumeId": volume["id"], "serverId": server, "device": volume["device"],
    });
    if turn.version >= 70 {
        shown["tag"] = Value::Null;
    }
    if turn.version >= 79 {
        shown["delete_on_termination"] = volume["delete_on_termination"].clone();
    }
    if turn.version >= 89 {
        shown["attachment_id"] = volume["attachment_id"].clone();
        shown["bdm_uuid"] = volume["attachment_id"].clone();
        if let Some(shown) = shown.as_object_mut() {
            shown.remove("id");
        }
    }
    shown
}

fn own_volume(row: &Obj, id: &str) -> Result<Value, Refusal> {
    let found = list(row, "_volumes").iter().find(|volume| volume["id"] == json!(id)).cloned();
    found.ok_or_else(|| {
        let server = text(row, "id");
        fault(404, format!("Instance {server} is not attached to volume {id}"))
    })
}

fn add_volume(turn: &mut Turn<'_>, row: &Obj) -> Answer {
    let id = text(row, "id").to_owned();
    let wish = turn.body["volumeAttachment"].clone();
    let volume = wish["volumeId"].as_str().unwrap_or_default().to_owned();
    let states = ["active", "paused", "stopped", "suspended", "resized", "soft-delete"];
    if !states.contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Err(wrong_state("attach_volume", row));
    }
    let found = turn.world.get(VOLUMES, &volume).filter(|row| turn.owns(row)).cloned();
    let Some(found) = found else {
        return Err(fault(404, format!("Volume {volume} could not be found.")));
    };
    if own_volume(row, &volume).is_ok() {
        let message =
            format!("Invalid volume: volume {volume} is already attached to instances: {id}");
        return Err(fault(400, message));
    }
    let shared = found.get("multiattach") == Some(&json!(true));
    let status = text(&found, "status");
    if status != "available" && !(shared && status == "in-use") {
        let message = format!(
            "Invalid volume: Invalid input received: Invalid volume: Volume {volume} status must be available or \
             downloading to reserve, but the current status is {status}. (HTTP 400)"
        );
        return Err(fault(400, message));
    }
    let device = match wish["device"].as_str() {
        Some(device) => device.to_owned(),
        None => next_device(row),
    };
    let entry = json!({
        "id": volume, "device": device, "attachment_id": turn.world.uuid(),
        "delete_on_termination": wish["delete_on_termination"].as_bool().unwrap_or(false),
    });
    turn.world.edit(SERVERS, &id, |row| {
        let mut volumes = list(row, "_volumes").to_vec();
        volumes.push(entry.clone());
        set(row, "_volumes", volumes);
    });
    volume::attach::reserve(turn.world, &volume, "attaching");
    turn.world.step_when_built("compute/attached", &format!("{id}/{volume}"));
    Ok(Reply::ok(json!({ "volumeAttachment": attachment(turn, &id, &entry) })))
}

/// The next free name of a disk.
fn next_device(row: &Obj) -> String {
    let taken: Vec<&Value> = list(row, "_volumes").iter().map(|volume| &volume["device"]).collect();
    let names = (b'b'..=b'z').map(|letter| format!("/dev/vd{}", char::from(letter)));
    names.into_iter().find(|name| !taken.contains(&&json!(name))).unwrap_or_default()
}

/// The volume is attached.
pub(super) fn attached(world: &mut World, key: &str) {
    if let Some((server, volume)) = key.split_once('/') {
        volume::attach::finish(world, volume, server);
    }
}

fn remove_volume(turn: &mut Turn<'_>, row: &Obj, volume: &str) -> Answer {
    let id = text(row, "id");
    let entry = own_volume(row, volume)?;
    if entry["device"] == json!("/dev/vda")
        && text(row, "OS-EXT-STS:vm_state") != "shelved_offloaded"
    {
        return Err(fault(403, "Cannot detach a root device volume"));
    }
    let found = turn.world.copy(VOLUMES, volume);
    let status = text(&found, "status");
    if !found.is_empty() && status != "in-use" {
        let message = "Invalid volume: Invalid input received: Invalid volume: Unable to detach volume. Volume status \
                       must be 'in-use' and attach_status must be 'attached' to detach. (HTTP 400)";
        return Err(fault(400, message));
    }
    volume::attach::reserve(turn.world, volume, "detaching");
    turn.world.step_when_built("compute/detached", &format!("{id}/volume/{volume}"));
    Ok(Reply::empty(202))
}

/// The port or the volume is free again.
pub(super) fn detached(world: &mut World, key: &str) {
    let mut parts = key.splitn(3, '/');
    let (Some(server), Some(kind), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let row = world.copy(SERVERS, server);
    if kind == "port" {
        let own = words(&row, "_own_ports");
        if world.get(PORTS, id).is_some_and(|port| text(port, "device_id") == server) {
            build::release_port(world, id, own.iter().any(|port| port == id));
        }
        return;
    }
    world.edit(SERVERS, server, |row| {
        let mut volumes = list(row, "_volumes").to_vec();
        volumes.retain(|volume| volume["id"] != json!(id));
        set(row, "_volumes", volumes);
    });
    volume::attach::release(world, id, server);
}
