//! The actions on a server: `POST /servers/{id}/action`.

use serde_json::{Value, json};

use super::super::image;
use super::super::network::PORTS;
use super::super::request::{Answer, Refusal, Reply, RequestContext, object, set, strings, text};
use super::super::state::{CloudState, Pending};
use super::super::table::Obj;
use super::dialect::{fault, wrong_state};
use super::servers::{find, full, remove};
use super::{FLAVORS, SERVERS, action, build, flavors};

/// Actions that only change the status: name, permitted statuses, task state meanwhile, and status afterwards.
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

/// Status, VM state, power state.
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

fn status_fields(status: &str) -> Value {
    let (_, machine, power) = STATES.iter().find(|(own, ..)| *own == status).unwrap_or(&STATES[0]);
    json!({
        "status": status, "OS-EXT-STS:vm_state": machine, "OS-EXT-STS:power_state": power,
        "OS-EXT-STS:task_state": null,
    })
}

/// Schedules the status of a server that is ready again.
fn after(state: &mut CloudState, id: &str, status: &str) {
    state.when_built(SERVERS, id, status_fields(status));
}

fn must_be(action: &str, row: &Obj, states: &[&str]) -> Result<(), Refusal> {
    let busy = !text(row, "OS-EXT-STS:task_state").is_empty();
    if !busy && states.contains(&text(row, "OS-EXT-STS:vm_state")) {
        return Ok(());
    }
    Err(wrong_state(action, row))
}

pub(super) fn serve(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, id)?;
    let Some((name, what)) = action(&ctx.body) else {
        return Err(fault(400, "Malformed request body"));
    };
    if let Some((_, word, states, task, status)) = SIMPLE.iter().find(|(own, ..)| *own == name) {
        must_be(word, &row, states)?;
        ctx.state.set(SERVERS, id, json!({ "OS-EXT-STS:task_state": task }));
        after(ctx.state, id, status);
        return Ok(Reply::empty(202));
    }
    match name.as_str() {
        "reboot" => reboot(ctx, id, &row, &what),
        "resize" => resize(ctx, id, &row, &what),
        "confirmResize" => confirm(ctx, id, &row),
        "revertResize" => revert(ctx, id, &row),
        "rebuild" => rebuild(ctx, id, &row, &what),
        "changePassword" => {
            must_be("changePassword", &row, &["active"])?;
            Ok(Reply::empty(202))
        }
        "createImage" => create_image(ctx, id, &row, &what),
        "createBackup" => create_image(ctx, id, &row, &what),
        "forceDelete" => {
            remove(ctx, id);
            Ok(Reply::empty(202))
        }
        "restore" => Err(wrong_state("restore", &row)),
        "lock" | "unlock" => {
            let reason = what["locked_reason"].clone();
            ctx.state.set(
                SERVERS,
                id,
                json!({ "locked": name == "lock", "locked_reason": reason }),
            );
            Ok(Reply::empty(202))
        }
        "os-getConsoleOutput" => Ok(Reply::ok(json!({ "output": "cirros login: \n" }))),
        "os-getVNCConsole" | "os-getSPICEConsole" | "os-getSerialConsole" | "os-getRDPConsole" => {
            let kind = what["type"].clone();
            let url = format!("{}/console?token={}", ctx.request.base, ctx.state.random.hex(32));
            Ok(Reply::ok(json!({ "console": { "type": kind, "url": url } })))
        }
        "addSecurityGroup" | "removeSecurityGroup" => {
            security_group(ctx, id, &what, name == "addSecurityGroup")
        }
        "os-resetState" if ctx.caller.is_admin => {
            let wanted = if what["state"] == json!("active") { "ACTIVE" } else { "ERROR" };
            ctx.state.set(SERVERS, id, status_fields(wanted));
            Ok(Reply::empty(202))
        }
        "migrate" | "os-migrateLive" if ctx.caller.is_admin => Ok(Reply::empty(202)),
        other => Err(fault(400, format!("There is no such action: {other}"))),
    }
}

fn reboot(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let hard = what["type"] == json!("HARD");
    let states: &[&str] =
        if hard { &["active", "stopped", "paused", "suspended", "error"] } else { &["active"] };
    must_be("reboot", row, states)?;
    let (status, task) =
        if hard { ("HARD_REBOOT", "rebooting_hard") } else { ("REBOOT", "rebooting") };
    ctx.state.set(SERVERS, id, json!({ "status": status, "OS-EXT-STS:task_state": task }));
    after(ctx.state, id, "ACTIVE");
    Ok(Reply::empty(202))
}

fn resize(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let wanted = what["flavorRef"].as_str().unwrap_or_default();
    let wanted = wanted.rsplit('/').next().unwrap_or_default();
    let flavor = ctx.state.get(FLAVORS, wanted).filter(|row| flavors::may_use(ctx, row)).cloned();
    let Some(flavor) = flavor else {
        return Err(fault(400, format!("Flavor {wanted} could not be found.")));
    };
    if row["_flavor"]["id"] == flavor["id"] {
        return Err(fault(400, "When resizing, instances must change flavor!"));
    }
    must_be("resize", row, &["active", "stopped"])?;
    ctx.state.set(
        SERVERS,
        id,
        json!({
            "status": "RESIZE", "OS-EXT-STS:task_state": "resize_prep", "_flavor_after": flavor,
            "_status_before": row["status"],
        }),
    );
    ctx.state.step_when_built("compute/resized", id);
    Ok(Reply::empty(202))
}

/// Finishes a resize; the server waits for a confirmation.
pub(super) fn resized(state: &mut CloudState, id: &str) {
    let row = state.copy(SERVERS, id);
    if text(&row, "status") != "RESIZE" {
        return;
    }
    if !build::has_room(&row["_flavor_after"]) {
        // The server keeps its previous status.
        state.set(SERVERS, id, status_fields(text(&row, "_status_before")));
        return;
    }
    let mut fields = object(status_fields("VERIFY_RESIZE"));
    set(&mut fields, "_flavor", row["_flavor_after"].clone());
    set(&mut fields, "_flavor_before", row["_flavor"].clone());
    state.set(SERVERS, id, Value::from(fields));
}

fn confirm(ctx: &mut RequestContext<'_>, id: &str, row: &Obj) -> Answer {
    must_be("confirmResize", row, &["resized"])?;
    let before = match text(row, "_status_before") {
        "" => "ACTIVE",
        status => status,
    };
    ctx.state.set(SERVERS, id, status_fields(before));
    Ok(Reply::empty(204))
}

fn revert(ctx: &mut RequestContext<'_>, id: &str, row: &Obj) -> Answer {
    must_be("revertResize", row, &["resized"])?;
    let busy = json!({ "status": "REVERT_RESIZE", "OS-EXT-STS:task_state": "resize_reverting" });
    ctx.state.set(SERVERS, id, busy);
    ctx.state.step_when_built("compute/reverted", id);
    Ok(Reply::empty(202))
}

/// Finishes the reversal of a resize.
pub(super) fn reverted(state: &mut CloudState, id: &str) {
    let row = state.copy(SERVERS, id);
    if text(&row, "status") != "REVERT_RESIZE" {
        return;
    }
    let mut fields = object(status_fields("ACTIVE"));
    set(&mut fields, "_flavor", row["_flavor_before"].clone());
    state.set(SERVERS, id, Value::from(fields));
}

fn rebuild(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    let image = what["imageRef"].as_str().unwrap_or_default();
    let image = image.rsplit('/').next().unwrap_or_default();
    let flavor = object(row["_flavor"].clone());
    let image = build::usable_image(ctx, image, &flavor)?;
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
    ctx.state.set(SERVERS, id, fields);
    after(ctx.state, id, "ACTIVE");
    let row = ctx.state.copy(SERVERS, id);
    let mut rendered = full(ctx, &row);
    let password = what["adminPass"].as_str().map(str::to_owned);
    let password = password.unwrap_or_else(|| ctx.state.random.hex(12));
    set(&mut rendered, "adminPass", password);
    Ok(Reply::json(202, json!({ "server": rendered })))
}

fn create_image(ctx: &mut RequestContext<'_>, id: &str, row: &Obj, what: &Value) -> Answer {
    must_be("createImage", row, &["active", "stopped", "paused", "suspended", "resized"])?;
    let Some(name) = what["name"].as_str() else {
        return Err(super::super::microversioned::missing(
            "createImage",
            "name",
            &object(what.clone()),
        ));
    };
    let disk = row["_flavor"]["disk"].clone();
    let image = image::snapshot(
        ctx,
        name,
        id,
        row["_image"].as_str().unwrap_or_default(),
        disk,
        &what["metadata"],
    );
    let uploading = json!({ "OS-EXT-STS:task_state": "image_uploading" });
    ctx.state.set(SERVERS, id, uploading);
    let done = Pending::Set {
        table: SERVERS.to_owned(),
        key: id.to_owned(),
        fields: object(json!({ "OS-EXT-STS:task_state": null })),
    };
    ctx.state.schedule(ctx.state.build_time, done);
    if ctx.version >= 45 {
        return Ok(Reply::json(202, json!({ "image_id": image })));
    }
    let location = format!("{}{}/images/{image}", ctx.request.base, ctx.request.service);
    Ok(Reply::empty(202).with("location", location))
}

/// Adds all ports of a server to a security group, or removes them from it.
fn security_group(ctx: &mut RequestContext<'_>, id: &str, what: &Value, adds: bool) -> Answer {
    let name = what["name"].as_str().unwrap_or_default().to_owned();
    let group = build::security_group(ctx, &name).map_err(|refusal| fault(404, refusal.message))?;
    for port in ctx.state.with(PORTS, "device_id", id) {
        let mut groups = strings(&port, "security_groups");
        groups.retain(|own| *own != group);
        if adds {
            groups.push(group.clone());
        }
        ctx.state.set(PORTS, text(&port, "id"), json!({ "security_groups": groups }));
    }
    Ok(Reply::empty(202))
}
