//! Attachments of servers: interfaces and volumes.

use serde_json::{Value, json};

use super::super::network::PORTS;
use super::super::request::{Answer, Refusal, Reply, RequestContext, list, set, strings, text};
use super::super::state::CloudState;
use super::super::table::Obj;
use super::super::volume::{self, VOLUMES};
use super::dialect::{fault, wrong_state};
use super::servers::find;
use super::{SERVERS, build};

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["servers", id, what @ ("os-interface" | "os-volume_attachments"), rest @ ..] = path else {
        return None;
    };
    let row = match find(ctx, id) {
        Ok(row) => row,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(match (method, *what, rest) {
        ("GET", "os-interface", []) => {
            let ports = ctx.state.table(PORTS).with("device_id", id);
            let rows: Vec<Value> = ports.into_iter().map(|port| interface(ctx, port)).collect();
            Ok(Reply::ok(json!({ "interfaceAttachments": rows })))
        }
        ("GET", "os-interface", [port]) => own_port(ctx, id, port)
            .map(|port| Reply::ok(json!({ "interfaceAttachment": interface(ctx, &port) }))),
        ("POST", "os-interface", []) => add_interface(ctx, &row),
        ("DELETE", "os-interface", [port]) => remove_interface(ctx, &row, port),
        ("GET", "os-volume_attachments", []) => {
            let rows: Vec<Value> =
                list(&row, "_volumes").iter().map(|volume| attachment(ctx, id, volume)).collect();
            Ok(Reply::ok(json!({ "volumeAttachments": rows })))
        }
        ("GET", "os-volume_attachments", [volume]) => own_volume(&row, volume)
            .map(|volume| Reply::ok(json!({ "volumeAttachment": attachment(ctx, id, &volume) }))),
        ("POST", "os-volume_attachments", []) => add_volume(ctx, &row),
        ("PUT", "os-volume_attachments", [volume]) => {
            own_volume(&row, volume).map(|_| Reply::empty(202))
        }
        ("DELETE", "os-volume_attachments", [volume]) => remove_volume(ctx, &row, volume),
        _ => return None,
    })
}

fn interface(ctx: &RequestContext<'_>, port: &Obj) -> Value {
    let mut rendered = json!({
        "port_id": port["id"], "net_id": port["network_id"], "mac_addr": port["mac_address"],
        "port_state": port["status"], "fixed_ips": port["fixed_ips"],
    });
    if ctx.version >= 70 {
        rendered["tag"] = port.get("_tag").cloned().unwrap_or_default();
    }
    rendered
}

fn own_port(ctx: &RequestContext<'_>, server: &str, id: &str) -> Result<Obj, Refusal> {
    let port = ctx.state.get(PORTS, id).filter(|port| text(port, "device_id") == server);
    port.cloned()
        .ok_or_else(|| fault(404, format!("Instance {server} does not have a port with id {id}")))
}

fn add_interface(ctx: &mut RequestContext<'_>, row: &Obj) -> Answer {
    let id = text(row, "id").to_owned();
    if !["active", "paused", "stopped"].contains(&text(row, "OS-EXT-STS:vm_state"))
        || !text(row, "OS-EXT-STS:task_state").is_empty()
    {
        return Err(wrong_state("attach_interface", row));
    }
    let wanted = ctx.body["interfaceAttachment"].clone();
    if wanted["port_id"].is_string()
        && (wanted["net_id"].is_string() || wanted["fixed_ips"].is_array())
    {
        return Err(fault(400, "Must not input both network_id and port_id"));
    }
    let port = match (wanted["port_id"].as_str(), wanted["net_id"].as_str()) {
        (Some(port), _) => {
            let found = ctx.state.get(PORTS, port).filter(|row| ctx.owns(row));
            let Some(found) = found else {
                return Err(fault(404, format!("Port id {port} could not be found.")));
            };
            if !text(found, "device_id").is_empty() {
                return Err(fault(400, format!("Port {port} is still in use.")));
            }
            let taken = json!({ "device_id": id, "device_owner": "compute:nova" });
            ctx.state.set(PORTS, port, taken);
            port.to_owned()
        }
        (None, network) => {
            let network = match network {
                Some(network) => network.to_owned(),
                None => only_network(ctx)?,
            };
            build::network_usable(ctx, &network)?;
            let ip = wanted["fixed_ips"][0]["ip_address"].as_str();
            let port = build::new_port(ctx, &id, &network, ip, None)
                .map_err(|refusal| fault(400, refusal.message))?;
            let port = text(&port, "id").to_owned();
            ctx.state.edit(SERVERS, &id, |row| {
                let mut own = strings(row, "_own_ports");
                own.push(port.clone());
                set(row, "_own_ports", own);
            });
            port
        }
    };
    if let Some(tag) = wanted["tag"].as_str() {
        ctx.state.set(PORTS, &port, json!({ "_tag": tag }));
    }
    build::bind(ctx.state, &id, text(row, "OS-EXT-SRV-ATTR:host"));
    let port = ctx.state.copy(PORTS, &port);
    Ok(Reply::ok(json!({ "interfaceAttachment": interface(ctx, &port) })))
}

fn only_network(ctx: &RequestContext<'_>) -> Result<String, Refusal> {
    use super::super::network::NETWORKS;
    let own = ctx.state.table(NETWORKS).with("project_id", &ctx.caller.project);
    match own.as_slice() {
        [one] => Ok(text(one, "id").to_owned()),
        [] => Err(fault(400, "No networks found.")),
        _ => Err(fault(
            400,
            "More than one possible network found. Specify network ID(s) to select which one(s) to connect to.",
        )),
    }
}

fn remove_interface(ctx: &mut RequestContext<'_>, row: &Obj, port: &str) -> Answer {
    let id = text(row, "id");
    if !["active", "paused", "stopped"].contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Err(wrong_state("detach_interface", row));
    }
    own_port(ctx, id, port)?;
    ctx.state.step_when_built("compute/detached", &format!("{id}/port/{port}"));
    Ok(Reply::empty(202))
}

fn attachment(ctx: &RequestContext<'_>, server: &str, volume: &Value) -> Value {
    let mut rendered = json!({
        "id": volume["id"], "volumeId": volume["id"], "serverId": server, "device": volume["device"],
    });
    if ctx.version >= 70 {
        rendered["tag"] = Value::Null;
    }
    if ctx.version >= 79 {
        rendered["delete_on_termination"] = volume["delete_on_termination"].clone();
    }
    if ctx.version >= 89 {
        rendered["attachment_id"] = volume["attachment_id"].clone();
        rendered["bdm_uuid"] = volume["attachment_id"].clone();
        if let Some(rendered) = rendered.as_object_mut() {
            rendered.remove("id");
        }
    }
    rendered
}

fn own_volume(row: &Obj, id: &str) -> Result<Value, Refusal> {
    let found = list(row, "_volumes").iter().find(|volume| volume["id"] == json!(id)).cloned();
    found.ok_or_else(|| {
        let server = text(row, "id");
        fault(404, format!("Instance {server} is not attached to volume {id}"))
    })
}

fn add_volume(ctx: &mut RequestContext<'_>, row: &Obj) -> Answer {
    let id = text(row, "id").to_owned();
    let wanted = ctx.body["volumeAttachment"].clone();
    let volume = wanted["volumeId"].as_str().unwrap_or_default().to_owned();
    let states = ["active", "paused", "stopped", "suspended", "resized", "soft-delete"];
    if !states.contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Err(wrong_state("attach_volume", row));
    }
    let found = ctx.state.get(VOLUMES, &volume).filter(|row| ctx.owns(row)).cloned();
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
    let device = match wanted["device"].as_str() {
        Some(device) => device.to_owned(),
        None => next_device(row),
    };
    let entry = json!({
        "id": volume, "device": device, "attachment_id": ctx.state.uuid(),
        "delete_on_termination": wanted["delete_on_termination"].as_bool().unwrap_or(false),
    });
    ctx.state.edit(SERVERS, &id, |row| {
        let mut volumes = list(row, "_volumes").to_vec();
        volumes.push(entry.clone());
        set(row, "_volumes", volumes);
    });
    volume::attach::reserve(ctx.state, &volume, "attaching");
    ctx.state.step_when_built("compute/attached", &format!("{id}/{volume}"));
    Ok(Reply::ok(json!({ "volumeAttachment": attachment(ctx, &id, &entry) })))
}

/// Returns the next free device name.
fn next_device(row: &Obj) -> String {
    let taken: Vec<&Value> = list(row, "_volumes").iter().map(|volume| &volume["device"]).collect();
    let names = (b'b'..=b'z').map(|letter| format!("/dev/vd{}", char::from(letter)));
    names.into_iter().find(|name| !taken.contains(&&json!(name))).unwrap_or_default()
}

/// Finishes the attachment of a volume.
pub(super) fn attached(state: &mut CloudState, key: &str) {
    if let Some((server, volume)) = key.split_once('/') {
        volume::attach::finish(state, volume, server);
    }
}

fn remove_volume(ctx: &mut RequestContext<'_>, row: &Obj, volume: &str) -> Answer {
    let id = text(row, "id");
    let entry = own_volume(row, volume)?;
    if entry["device"] == json!("/dev/vda")
        && text(row, "OS-EXT-STS:vm_state") != "shelved_offloaded"
    {
        return Err(fault(403, "Cannot detach a root device volume"));
    }
    let found = ctx.state.copy(VOLUMES, volume);
    let status = text(&found, "status");
    if !found.is_empty() && status != "in-use" {
        let message = "Invalid volume: Invalid input received: Invalid volume: Unable to detach volume. Volume status \
                       must be 'in-use' and attach_status must be 'attached' to detach. (HTTP 400)";
        return Err(fault(400, message));
    }
    volume::attach::reserve(ctx.state, volume, "detaching");
    ctx.state.step_when_built("compute/detached", &format!("{id}/volume/{volume}"));
    Ok(Reply::empty(202))
}

/// Finishes the detachment of a port or a volume.
pub(super) fn detached(state: &mut CloudState, key: &str) {
    let mut parts = key.splitn(3, '/');
    let (Some(server), Some(kind), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let row = state.copy(SERVERS, server);
    if kind == "port" {
        let own = strings(&row, "_own_ports");
        if state.get(PORTS, id).is_some_and(|port| text(port, "device_id") == server) {
            build::release_port(state, id, own.iter().any(|port| port == id));
        }
        return;
    }
    state.edit(SERVERS, server, |row| {
        let mut volumes = list(row, "_volumes").to_vec();
        volumes.retain(|volume| volume["id"] != json!(id));
        set(row, "_volumes", volumes);
    });
    volume::attach::release(state, id, server);
}
