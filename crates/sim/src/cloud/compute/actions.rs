//! What can be done with a server: `POST /servers/{id}/action`.

use serde_json::{Value, json};

use super::super::ask::{Answer, Refusal, Reply, Turn, object, set, text, words};
use super::super::image;
use super::super::network::PORTS;
use super::super::table::Obj;
use super::super::world::{Pending, World};
use super::dialect::{fault, wrong_state};
use super::servers::{find, full, remove};
use super::{FLAVORS, SERVERS, action, build, flavors};

/// Actions that only change the state: name, states they are possible in, state while they last, and state after them.
#[rustfmt::skip]
const SIMPLE: &[(&str, &str, &[&str], &str, &str)] = &[
    ("os-start",  "start",    &["stopped"],                                 "powering-on",    "ACTIVE"),
    ("os-stop",   "stop",     &["active", "error"],                         "powering-off",   "SHUTOFF"),
    ("pause",     "pause",    &["active"],                                  "pausing",        "PAUSED"),
    ("rescue",    "rescue",   &["active", "stopped", "error"],              "rescuing",       "RESCUE"),
    ("resume",    "resume",   &["suspended"],                               "resuming",       "ACTIVE"),
    ("shelve",    "shelve",   &["active", "stopped", "paused", "suspended"], "shelving",      "SHELVED_OFFLOADED"),
    ("suspend",   "suspend",  &["active"],                                  "suspending",     "SUSPENDED"),
    ("unpause",   "unpause",  &["paused"],                                  "unpausing",      "ACTIVE"),
    ("unrescue",  "unrescue", &["rescued"],                                 "unrescuing",     "ACTIVE"),
    ("unshelve",  "unshelve", &["shelved_offloaded", "shelved"],            "unshelving",     "ACTIVE"),
];

/// Status, state of the machine, state of its power.
const STATES: &[(&str, &str, i64)] = &[
    ("ACTIVE", "active", 1),
    ("ERROR", "error", 0),
    ("PAUSED", "paused", 3),
    ("RESCUE", "rescued", 1),
    ("SHELVED_OFFLOADED", "shelved_offloaded", 4),
    ("SHUTOFF", "stopped", 4),
    ("SUSPENDED", "suspended", 4),
    ("VERIFY_RESIZE", "resized", 1),
];

fn state(status: &str) -> Value {
    let (_, machine, power) = STATES.iter().find(|(own, ..)| *own == status).unwrap_or(&STATES[0]);
    json!({
        "status": status, "OS-EXT-STS:vm_state": machine, "OS-EXT-STS:power_state": power,
        "OS-EXT-STS:task_state": null,
    })
}

/// The state of a server that is ready again.
fn after(world: &mut World, id: &str, status: &str) {
    world.when_built(SERVERS, id, state(status));
}

fn must_be(action: &str, row: &Obj, states: &[&str]) -> Result<(), Refusal> {
    let busy = !text(row, "OS-EXT-STS:task_state").is_empty();
    if !busy && states.contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Ok(());
    }
    Err(wrong_state(action, row))
}

pub(super) fn serve(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = find(turn, id)?;
    let Some((name, what)) = action(&turn.body) else {
        return Err(fault(400, "Malformed request body"));
    };
    if let Some((_, word, states, task, status)) = SIMPLE.iter().find(|(own, ..)| *own == name) {
        must_be(word, &row, states)?;
        turn.world.set(SERVERS, id, json!({ "OS-EXT-STS:task_state": task }));
        after(turn.world, id, status);
        return Ok(Reply::empty(202));
    }
    match name.as_str() {
        "reboot" => reboot(turn, id, &row, &what),
        "resize" => resize(turn, id, &row, &what),
        "confirmResize" => confirm(turn, id, &row),
        "revertResize" => revert(turn, id, &row),
        "rebuild" => rebuild(turn, id, &row, &what),
        "changePassword" => {
            must_be("changePassword", &row, &["active"])?;
            Ok(Reply::empty(202))
        }
        "createImage" => create_image(turn, id, &row, &what),
        "createBackup" => create_image(turn, id, &row, &what),
        "forceDelete" => {
            remove(turn, id);
            Ok(Reply::empty(202))
        }
        "restore" => Err(wrong_state("restore", &row)),
        "lock" | "unlock" => {
            let reason = what["locked_reason"].clone();
            turn.world.set(
                SERVERS,
                id,
                json!({ "locked": name == "lock", "locked_reason": reason }),
            );
            Ok(Reply::empty(202))
        }
        "os-getConsoleOutput" => Ok(Reply::ok(json!({ "output": "cirros login: \n" }))),
        "os-getVNCConsole" | "os-getSPICEConsole" | "os-getSerialConsole" | "os-getRDPConsole" => {
            let kind = what["type"].clone();
            let url = format!("{}/console?token={}", turn.ask.base, turn.world.random.hex(32));
            Ok(Reply::ok(json!({ "console": { "type": kind, "url": url } })))
        }
        "addSecurityGroup" | "removeSecurityGroup" => {
            security_group(turn, id, &what, name == "addSecurityGroup")
        }
        "os-resetState" if turn.who.is_admin => {
            let wanted = if what["state"] == json!("active") { "ACTIVE" } else { "ERROR" };
            turn.world.set(SERVERS, id, state(wanted));
            Ok(Reply::empty(202))
        }
        "migrate" | "os-migrateLive" if turn.who.is_admin => Ok(Reply::empty(202)),
        other => Err(fault(400, format!("There is no such action: {other}"))),
    }
}

fn reboot(turn: &mut Turn<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let hard = what["type"] == json!("HARD");
    let states: &[&str] =
        if hard { &["active", "stopped", "paused", "suspended", "error"] } else { &["active"] };
    must_be("reboot", row, states)?;
    let (status, task) =
        if hard { ("HARD_REBOOT", "rebooting_hard") } else { ("REBOOT", "rebooting") };
    turn.world.set(SERVERS, id, json!({ "status": status, "OS-EXT-STS:task_state": task }));
    after(turn.world, id, "ACTIVE");
    Ok(Reply::empty(202))
}

fn resize(turn: &mut Turn<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let wanted = what["flavorRef"].as_str().unwrap_or_default();
    let wanted = wanted.rsplit('/').next().unwrap_or_default();
    let flavor = turn.world.get(FLAVORS, wanted).filter(|row| flavors::may_use(turn, row)).cloned();
    let Some(flavor) = flavor else {
        return Err(fault(400, format!("Flavor {wanted} could not be found.")));
    };
    if row["_flavor"]["id"] == flavor["id"] {
        return Err(fault(400, "When resizing, instances must change flavor!"));
    }
    must_be("resize", row, &["active", "stopped"])?;
    turn.world.set(
        SERVERS,
        id,
        json!({
            "status": "RESIZE", "OS-EXT-STS:task_state": "resize_prep", "_flavor_after": flavor,
            "_status_before": row["status"],
        }),
    );
    turn.world.step_when_built("compute/resized", id);
    Ok(Reply::empty(202))
}

/// The server waits for somebody to confirm its new size.
pub(super) fn resized(world: &mut World, id: &str) {
    let row = world.copy(SERVERS, id);
    if text(&row, "status") != "RESIZE" {
        return;
    }
    if !build::has_room(&row["_flavor_after"]) {
        // It goes on as it was.
        world.set(SERVERS, id, state(text(&row, "_status_before")));
        return;
    }
    let mut fields = object(state("VERIFY_RESIZE"));
    set(&mut fields, "_flavor", row["_flavor_after"].clone());
    set(&mut fields, "_flavor_before", row["_flavor"].clone());
    world.set(SERVERS, id, Value::from(fields));
}

fn confirm(turn: &mut Turn<'_>, id: &str, row: &Obj) -> Answer {
    must_be("confirmResize", row, &["resized"])?;
    let before = match text(row, "_status_before") {
        "" => "ACTIVE",
        status => status,
    };
    turn.world.set(SERVERS, id, state(before));
    Ok(Reply::empty(204))
}

fn revert(turn: &mut Turn<'_>, id: &str, row: &Obj) -> Answer {
    must_be("revertResize", row, &["resized"])?;
    let busy = json!({ "status": "REVERT_RESIZE", "OS-EXT-STS:task_state": "resize_reverting" });
    turn.world.set(SERVERS, id, busy);
    turn.world.step_when_built("compute/reverted", id);
    Ok(Reply::empty(202))
}

/// The server has its old size again.
pub(super) fn reverted(world: &mut World, id: &str) {
    let row = world.copy(SERVERS, id);
    if text(&row, "status") != "REVERT_RESIZE" {
        return;
    }
    let mut fields = object(state("ACTIVE"));
    set(&mut fields, "_flavor", row["_flavor_before"].clone());
    world.set(SERVERS, id, Value::from(fields));
}

fn rebuild(turn: &mut Turn<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let image = what["imageRef"].as_str().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let flavor = object(row["_flavor"].clone());
    let image = build::usable_image(turn, image, &flavor)?;
    must_be("rebuild", row, &["active", "stopped", "error"])?;
    let mut fields = json!({
        "status": "REBUILD", "OS-EXT-STS:task_state": "rebuilding", "_image": image["id"], "progress": 0,
    });
    for (sent, kept) in [
        ("name", "name"),
        ("metadata", "metadata"),
        ("key_name", "key_name"),
        ("user_data", "OS-EXT-SRV-ATTR:user_data"),
        ("description", "description"),
    ] {
        if let Some(value) = what.get(sent) {
            fields[kept] = value.clone();
        }
    }
    turn.world.set(SERVERS, id, fields);
    after(turn.world, id, "ACTIVE");
    let row = turn.world.copy(SERVERS, id);
    let mut shown = full(turn, &row);
    let password = what["adminPass"].as_str().map(str::to_owned);
    let password = password.unwrap_or_else(|| turn.world.random.hex(12));
    set(&mut shown, "adminPass", password);
    Ok(Reply::json(202, json!({ "server": shown })))
}

fn create_image(turn: &mut Turn<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    must_be("createImage", row, &["active", "stopped", "paused", "suspended", "resized"])?;
    let Some(name) = what["name"].as_str() else {
        return Err(super::super::fault_body::missing(
            "createImage",
            "name",
            &object(what.clone()),
        ));
    };
    let disk = row["_flavor"]["disk"].clone();
    let image = image::snapshot(
        turn,
        name,
        id,
        row["_image"].as_str().unwrap_or_default(),
        disk,
        &what["metadata"],
    );
    let uploading = json!({ "OS-EXT-STS:task_state": "image_uploading" });
    turn.world.set(SERVERS, id, uploading);
    let done = Pending::Set {
        table: SERVERS.to_owned(),
        key: id.to_owned(),
        fields: object(json!({ "OS-EXT-STS:task_state": null })),
    };
    turn.world.later(turn.world.build_time, done);
    if turn.version >= 45 {
        return Ok(Reply::json(202, json!({ "image_id": image })));
    }
    let location = format!("{}{}/images/{image}", turn.ask.base, turn.ask.service);
    Ok(Reply::empty(202).with("location", location))
}

/// Puts all ports of a server into a group, or takes them out.
fn security_group(turn: &mut Turn<'_>, id: &str, what: &Value, adds: bool) -> Answer {
    let name = what["name"].as_str().unwrap_or_default().to_owned();
    let group =
        build::security_group(turn, &name).map_err(|refusal| fault(404, refusal.message))?;
    for port in turn.world.with(PORTS, "device_id", id) {
        let mut groups = words(&port, "security_groups");
        groups.retain(|own| *own != group);
        if adds {
            groups.push(group.clone());
        }
        turn.world.set(PORTS, text(&port, "id"), json!({ "security_groups": groups }));
    }
    Ok(Reply::empty(202))
}
