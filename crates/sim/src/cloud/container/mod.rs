//! The container service: Zun, version 1 with its microversions.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::network::{self, PORTS, internal, ports::PORT};
use super::request::{
    Answer, Done, Refusal, Reply, RequestContext, list, object, set, strings, text,
};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service, Step};
use super::state::CloudState;
use super::table::Obj;
use super::versions;

static ZUN: ErrorStyle =
    ErrorStyle { form: ErrorForm::Errors, missing: "could not be found.", bad: 400 };

const CONTAINERS: &str = "container/containers";

static COLLECTIONS: &[&Collection] = &[&CONTAINER];

pub(super) static SERVICE: Service = Service {
    prefix: "container",
    types: &["container"],
    name: "zun",
    address: "/v1",
    microversions: Some(Microversions::new("container", 1, 1, 40)),
    dialect: &ZUN,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| {
        versions::microversioned(
            base,
            path,
            "1.40",
            |version| json!({ "name": "OpenStack Zun API", "versions": [version], "default_version": version }),
        )
    },
    seed: |_| (),
};

pub(super) static STEPS: &[Step] = &[("container/gone", gone)];

static CONTAINER: Collection = Collection {
    name: CONTAINERS,
    path: "containers",
    plural: "containers",
    title: "Container",
    key: "uuid",
    by_name: true,
    update_method: "PATCH",
    statuses: (202, 200, 204),
    lingers: true,
    quota: Some(("containers", 40)),
    fields: "name              text cu null
             image             text c  !
             image_driver      text c  null
             image_pull_policy text c  null
             command           any  c  []
             entrypoint        any  c  null
             cpu               number cu null
             memory            any  cu null
             disk              int  c  null
             environment       map  c  {}
             workdir           text c  null
             labels            map  c  {}
             restart_policy    map  c  {}
             interactive       any  c  false
             tty               any  c  false
             hints             map  c  {}
             nets              list c  []
             security_groups   list c  []
             mounts            list c  []
             runtime           text c  null
             hostname          text c  null
             auto_remove       any  c  false
             auto_heal         any  c  false
             run               any  c  -
             availability_zone text c  null
             healthcheck       map  c  {}
             exposed_ports     map  c  null
             privileged        any  c  false
             host              text r  null
             status            text r  \"Creating\"
             status_reason     text r  null
             status_detail     text r  null
             task_state        text r  null
             addresses         map  r  {}
             ports             list r  []
             project_id        text r  @project
             user_id           text r  @user
             _own_ports        list r  []",
    make,
    remove: |ctx, row| {
        let force = ["force", "stop"].iter().any(|word| {
            ctx.request.query(word).is_some_and(|yes| !yes.eq_ignore_ascii_case("false"))
        });
        let status = text(row, "status");
        if status == "Running" && !force {
            let message =
                format!("Cannot delete container {} in Running state.", text(row, "uuid"));
            return Err(refuse(409, message));
        }
        let id = text(row, "uuid");
        ctx.state.set(CONTAINERS, id, json!({ "status": "Deleting" }));
        ctx.state.step_when_built("container/gone", id);
        Ok(())
    },
    show,
    ..Collection::new(&ZUN)
};

fn make(ctx: &mut RequestContext<'_>, row: &mut Obj) -> Done {
    let id = text(row, "uuid").to_owned();
    if row["name"].is_null() {
        set(row, "name", format!("container-{}", &id[..8]));
    }
    let wanted = list(row, "nets").to_vec();
    let mut own = Vec::new();
    for net in wanted {
        if let Some(port) = join(ctx, &id, &net)? {
            own.push(port);
        }
    }
    set(row, "_own_ports", own);
    row.remove("nets");
    let run = ctx.request.query("run").is_some_and(|word| word.eq_ignore_ascii_case("true"))
        || row.remove("run").is_some_and(|run| run == json!(true) || run == json!("true"));
    let status = match (ctx.state.fail_builds, run) {
        (true, _) => "Error",
        (false, true) => "Running",
        (false, false) => "Created",
    };
    let reason = if status == "Error" { json!("No valid host was found.") } else { Value::Null };
    ctx.state.when_built(
        CONTAINERS,
        &id,
        json!({ "status": status, "status_reason": reason, "host": "compute-1" }),
    );
    Ok(())
}

/// Attaches the container to a network or a port; returns the port if it was created for the container.
fn join(ctx: &mut RequestContext<'_>, id: &str, net: &Value) -> Result<Option<String>, Refusal> {
    if let Some(port) = net["port"].as_str() {
        if ctx.state.get(PORTS, port).is_none() {
            return Err(refuse(400, format!("Port {port} could not be found.")));
        }
        ctx.state.set(
            PORTS,
            port,
            json!({ "device_id": id, "device_owner": "compute:kuryr", "status": "ACTIVE" }),
        );
        return Ok(None);
    }
    let network = net["network"].as_str().unwrap_or_default();
    let mut sent =
        json!({ "network_id": network, "device_id": id, "device_owner": "compute:kuryr" });
    let ip = net["v4-fixed-ip"].as_str().or(net["fixed_ip"].as_str()).filter(|ip| !ip.is_empty());
    if let Some(ip) = ip {
        sent["fixed_ips"] = json!([{ "ip_address": ip }]);
    }
    let project = ctx.caller.project.clone();
    let port =
        internal(ctx, &PORT, sent, &project).map_err(|failed| refuse(400, failed.message))?;
    Ok(Some(text(&port, "id").to_owned()))
}

fn show(ctx: &RequestContext<'_>, row: &mut Obj) {
    let mut addresses = serde_json::Map::new();
    for port in ctx.state.table(PORTS).with("device_id", text(row, "uuid")) {
        let entries = addresses.entry(text(port, "network_id")).or_insert_with(|| json!([]));
        let Value::Array(entries) = entries else { continue };
        for ip in list(port, "fixed_ips") {
            let version = if ip["ip_address"].as_str().is_some_and(|text| text.contains(':')) {
                6
            } else {
                4
            };
            entries.push(json!({
                "addr": ip["ip_address"], "version": version, "port": port["id"], "subnet_id": ip["subnet_id"],
                "preserve_on_delete": !strings(row, "_own_ports").iter().any(|id| id == text(port, "id")),
            }));
        }
    }
    set(row, "addresses", addresses);
}

/// Removes a container and releases its ports.
fn gone(state: &mut CloudState, id: &str) {
    let row = state.copy(CONTAINERS, id);
    let own = strings(&row, "_own_ports");
    for port in state.with(PORTS, "device_id", id) {
        release(state, text(&port, "id"), own.iter().any(|own| own == text(&port, "id")));
    }
    state.remove(CONTAINERS, id);
}

fn release(state: &mut CloudState, port: &str, is_own: bool) {
    if is_own {
        network::ports::release_floating(state, port);
        state.remove(PORTS, port);
    } else {
        state.set(PORTS, port, json!({ "device_id": "", "device_owner": "", "status": "DOWN" }));
    }
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", path @ ..] = parts.as_slice() else {
        return Err(refuse(404, "The resource could not be found."));
    };
    let method = ctx.request.method.clone();
    match (method.as_str(), path) {
        ("GET", ["containers", id, "network_list"]) => ctx.find(&CONTAINER, id).map(|row| {
            let ports = ctx.state.table(PORTS).with("device_id", text(&row, "uuid"));
            let rows: Vec<Value> = ports
                .iter()
                .map(|port| json!({ "net_id": port["network_id"], "port_id": port["id"], "fixed_ips": port["fixed_ips"] }))
                .collect();
            Reply::ok(json!({ "networks": rows }))
        }),
        ("POST", ["containers", id, action]) => act(ctx, id, action),
        ("GET", ["images" | "hosts" | "services", ..]) => {
            let word = path.first().copied().unwrap_or_default();
            Ok(Reply::ok(json!({ word: [] })))
        }
        ("GET", ["containers", id, "logs"]) => ctx.find(&CONTAINER, id).map(|_| Reply::ok(json!(""))),
        _ => rest::serve(ctx, COLLECTIONS, path)
            .unwrap_or_else(|| Err(refuse(404, "The resource could not be found."))),
    }
}

fn act(ctx: &mut RequestContext<'_>, id: &str, action: &str) -> Answer {
    let row = ctx.find(&CONTAINER, id)?;
    let id = text(&row, "uuid").to_owned();
    let wrong = || {
        refuse(409, format!("Cannot {action} container {id} in {} state.", text(&row, "status")))
    };
    let (from, to): (&[&str], &str) = match action {
        "start" => (&["Created", "Stopped", "Error"], "Running"),
        "stop" | "kill" => (&["Running"], "Stopped"),
        "reboot" => (&["Running", "Stopped"], "Running"),
        "pause" => (&["Running"], "Paused"),
        "unpause" => (&["Paused"], "Running"),
        "network_attach" | "network_detach" => {
            return networks(ctx, &row, action == "network_attach");
        }
        "rename" | "execute" | "resize" => return Ok(Reply::empty(200)),
        _ => return Err(refuse(404, "The resource could not be found.")),
    };
    if !from.contains(&text(&row, "status")) {
        return Err(wrong());
    }
    ctx.state.when_built(CONTAINERS, &id, json!({ "status": to }));
    Ok(Reply::empty(202))
}

fn networks(ctx: &mut RequestContext<'_>, row: &Obj, attaches: bool) -> Answer {
    let id = text(row, "uuid").to_owned();
    let request = |name: &str| ctx.request.query(name).map(str::to_owned);
    let (net, port, ip) = (request("network"), request("port"), request("fixed_ip"));
    if attaches {
        let wanted = object(json!({ "network": net, "port": port, "fixed_ip": ip }));
        if let Some(port) = join(ctx, &id, &Value::from(wanted))? {
            ctx.state.edit(CONTAINERS, &id, |row| {
                let mut own = strings(row, "_own_ports");
                own.push(port);
                set(row, "_own_ports", own);
            });
        }
        return Ok(Reply::empty(202));
    }
    let own = strings(row, "_own_ports");
    for held in ctx.state.with(PORTS, "device_id", &id) {
        let fits = port.as_deref().is_some_and(|port| text(&held, "id") == port)
            || net.as_deref().is_some_and(|net| text(&held, "network_id") == net);
        if fits {
            release(ctx.state, text(&held, "id"), own.iter().any(|id| id == text(&held, "id")));
        }
    }
    Ok(Reply::empty(202))
}
