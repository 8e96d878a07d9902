//! Servers: create, list, show, update, metadata, tags, delete.

use serde_json::{Map, Value, json};

use super::super::check::parse_bool;
use super::super::microversioned;
use super::super::network::{FLOATING, GROUPS as SECURITY_GROUPS, NETWORKS, PORTS};
use super::super::query;
use super::super::request::{
    Answer, Refusal, Reply, RequestContext, list, object, set, strings, text,
};
use super::super::schema::Collection;
use super::super::state::Pending;
use super::super::table::Obj;
use super::dialect::{NOVA, fault, wrong_state};
use super::{GROUPS, SERVERS, actions, build, infrastructure, links, render_server};

pub(super) static SERVER: Collection = Collection {
    name: SERVERS,
    path: "servers",
    singular: "server",
    plural: "servers",
    title: "Instance",
    operations: "",
    fields: "name text r \"\"
             project_id text r @project",
    ..Collection::new(&NOVA)
};

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    let ["servers", rest @ ..] = path else { return None };
    Some(match (method, rest) {
        ("POST", []) => build::create(ctx),
        ("GET", []) => list_servers(ctx, false),
        ("GET", ["detail"]) => list_servers(ctx, true),
        ("GET", [id]) => find(ctx, id).and_then(|row| render_server(ctx, row)),
        ("PUT", [id]) => update(ctx, id),
        ("DELETE", [id]) => delete(ctx, id),
        ("POST", [id, "action"]) => actions::serve(ctx, id),
        ("GET", [id, "ips"]) => {
            find(ctx, id).map(|row| Reply::ok(json!({ "addresses": addresses(ctx, &row) })))
        }
        ("GET", [id, "diagnostics"]) => {
            find(ctx, id).map(|_| Reply::ok(json!({ "state": "running" })))
        }
        ("GET", [id, "os-security-groups"]) => {
            find(ctx, id).map(|row| Reply::ok(groups(ctx, &row)))
        }
        ("POST", [id, "remote-consoles"]) => {
            find(ctx, id).map(|row| infrastructure::remote_console(ctx, &row))
        }
        (_, [id, "metadata", key @ ..]) => metadata(ctx, method, id, key.first().copied()),
        (_, [id, "tags", tag @ ..]) => tags(ctx, method, id, tag.first().copied()),
        ("GET", [id, "os-instance-actions"]) => {
            find(ctx, id).map(|_| Reply::ok(json!({ "instanceActions": [] })))
        }
        _ => return None,
    })
}

/// Finds a server by its id, if the caller can see it.
pub(super) fn find(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, Refusal> {
    ctx.find(&SERVER, id)
}

/// Lists the servers that the caller can see and the filters match, newest first.
fn list_servers(ctx: &mut RequestContext<'_>, detailed: bool) -> Answer {
    let request = ctx.request;
    let everybody = ctx.caller.is_admin
        && request.query("all_tenants").is_some_and(|word| parse_bool(word) != Some(false));
    let keeps = |row: &&Obj| {
        let own = everybody || text(row, "project_id") == ctx.caller.project;
        let matches_pattern =
            |field: &str, wanted: &str| text(row, field).contains(wanted.trim_matches(['^', '$']));
        own && request.query.iter().all(|(name, wanted)| match name.as_str() {
            "name" if wanted.starts_with('^') && wanted.ends_with('$') => {
                text(row, "name") == wanted.trim_matches(['^', '$']).replace('\\', "")
            }
            "name" => matches_pattern("name", wanted),
            "status" => text(row, "status").eq_ignore_ascii_case(wanted),
            "flavor" => row["_flavor"]["id"] == json!(wanted),
            "image" => row["_image"] == json!(wanted),
            "key_name" => text(row, "key_name") == wanted,
            "host" => text(row, "OS-EXT-SRV-ATTR:host") == wanted,
            "project_id" | "tenant_id" => text(row, "project_id") == wanted,
            "uuid" => text(row, "id") == wanted,
            "ip" => addresses(ctx, row).to_string().contains(wanted),
            "tags" => {
                wanted.split(',').all(|tag| strings(row, "tags").iter().any(|own| own == tag))
            }
            "tags-any" => {
                wanted.split(',').any(|tag| strings(row, "tags").iter().any(|own| own == tag))
            }
            _ => true,
        })
    };
    let rows: Vec<Obj> = ctx.state.table(SERVERS).iter().rev().filter(keeps).cloned().collect();
    let (rows, next) = query::page(ctx, &SERVER, rows)?;
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| if detailed { Value::from(full(ctx, row)) } else { json!({
                "id": row["id"], "name": row["name"], "links": links(ctx, "servers", text(row, "id")),
            }) })
        .collect();
    let mut body = json!({ "servers": rows });
    if let Some(next) = next {
        body["servers_links"] = json!([{ "rel": "next", "href": next }]);
    }
    Ok(Reply::ok(body))
}

/// Renders a server for clients.
pub(super) fn full(ctx: &RequestContext<'_>, row: &Obj) -> Obj {
    let mut rendered = row.clone();
    rendered.retain(|name, _| !name.starts_with('_'));
    let id = text(row, "id").to_owned();
    let project = rendered.remove("project_id").unwrap_or_default();
    set(&mut rendered, "tenant_id", project);
    set(&mut rendered, "links", links(ctx, "servers", &id));
    set(&mut rendered, "addresses", addresses(ctx, row));
    let image = match row["_image"].as_str() {
        Some(image) => {
            let link = format!("{}{}/images/{image}", ctx.request.base, ctx.request.service);
            json!({ "id": image, "links": [{ "rel": "bookmark", "href": link }] })
        }
        None => json!(""),
    };
    set(&mut rendered, "image", image);
    set(&mut rendered, "flavor", flavor(ctx, &row["_flavor"]));
    let names: Vec<Value> =
        groups_of(ctx, row).iter().map(|group| json!({ "name": group["name"] })).collect();
    if !names.is_empty() {
        set(&mut rendered, "security_groups", names);
    }
    let volumes: Vec<Value> = list(row, "_volumes")
        .iter()
        .map(|volume| if ctx.version >= 3 { json!({ "id": volume["id"], "delete_on_termination": volume["delete_on_termination"] }) } else { json!({ "id": volume["id"] }) })
        .collect();
    set(&mut rendered, "os-extended-volumes:volumes_attached", volumes);
    by_version(ctx, row, &mut rendered);
    rendered
}

/// Removes fields that the requested microversion does not have.
fn by_version(ctx: &RequestContext<'_>, row: &Obj, rendered: &mut Obj) {
    let since = [
        (3, "OS-EXT-SRV-ATTR:hostname"),
        (3, "OS-EXT-SRV-ATTR:user_data"),
        (9, "locked"),
        (16, "host_status"),
        (19, "description"),
        (26, "tags"),
        (63, "trusted_image_certificates"),
        (71, "server_groups"),
        (73, "locked_reason"),
        (96, "pinned_availability_zone"),
    ];
    for (version, name) in since {
        if ctx.version < version {
            rendered.remove(name);
        }
    }
    if ctx.version >= 71 {
        let members = ctx.state.table(GROUPS).with("members", text(row, "id"));
        let ids: Vec<&Value> = members.iter().map(|group| &group["id"]).collect();
        let ids = json!(ids);
        set(rendered, "server_groups", ids);
    }
    if !ctx.caller.is_admin {
        rendered.retain(|name, _| {
            let hostname = name == "OS-EXT-SRV-ATTR:hostname" && ctx.version >= 90;
            hostname || !name.starts_with("OS-EXT-SRV-ATTR:")
        });
        rendered.remove("host_status");
    }
}

fn flavor(ctx: &RequestContext<'_>, flavor: &Value) -> Value {
    if ctx.version >= 47 {
        return json!({
            "original_name": flavor["name"], "vcpus": flavor["vcpus"], "ram": flavor["ram"], "disk": flavor["disk"],
            "ephemeral": flavor["OS-FLV-EXT-DATA:ephemeral"], "swap": flavor["swap"], "extra_specs": flavor["_specs"],
        });
    }
    let id = flavor["id"].as_str().unwrap_or_default();
    let link = format!("{}{}/flavors/{id}", ctx.request.base, ctx.request.service);
    json!({ "id": id, "links": [{ "rel": "bookmark", "href": link }] })
}

/// Returns the addresses of a server by network name; a floating address follows its fixed address.
pub(super) fn addresses(ctx: &RequestContext<'_>, row: &Obj) -> Value {
    let mut by_network: Map<String, Value> = Map::new();
    // The addresses of a server are unknown until it is built.
    if text(row, "status") == "BUILD" {
        return Value::from(by_network);
    }
    for port in ctx.state.table(PORTS).with("device_id", text(row, "id")) {
        let network = ctx.state.get(NETWORKS, text(port, "network_id"));
        let name = network.map(|network| text(network, "name")).unwrap_or_default();
        let entry = |address: &Value, kind: &str| {
            let version =
                if address.as_str().is_some_and(|text| text.contains(':')) { 6 } else { 4 };
            json!({
                "addr": address, "version": version, "OS-EXT-IPS:type": kind,
                "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
            })
        };
        let rows = by_network.entry(name).or_insert_with(|| json!([]));
        let Value::Array(rows) = rows else { continue };
        for ip in list(port, "fixed_ips") {
            rows.push(entry(&ip["ip_address"], "fixed"));
            for floating in ctx.state.table(FLOATING).with("port_id", text(port, "id")) {
                if floating["fixed_ip_address"] == ip["ip_address"] {
                    rows.push(entry(&floating["floating_ip_address"], "floating"));
                }
            }
        }
    }
    Value::from(by_network)
}

fn groups_of(ctx: &RequestContext<'_>, row: &Obj) -> Vec<Obj> {
    let mut ids: Vec<String> = Vec::new();
    for port in ctx.state.table(PORTS).with("device_id", text(row, "id")) {
        ids.extend(strings(port, "security_groups"));
    }
    ids.sort_unstable();
    ids.dedup();
    ids.iter().filter_map(|id| ctx.state.get(SECURITY_GROUPS, id).cloned()).collect()
}

fn groups(ctx: &RequestContext<'_>, row: &Obj) -> Value {
    let rows: Vec<Value> = groups_of(ctx, row)
        .iter()
        .map(|group| {
            json!({
                "id": group["id"], "name": group["name"], "description": group["description"],
                "tenant_id": group["project_id"], "rules": [],
            })
        })
        .collect();
    json!({ "security_groups": rows })
}

fn update(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let mut row = find(ctx, id)?;
    let sent = ctx.sent(&SERVER)?;
    let known =
        ["name", "accessIPv4", "accessIPv6", "description", "hostname", "OS-DCF:diskConfig"];
    for (name, value) in &sent {
        if !known.contains(&name.as_str()) {
            return Err(microversioned::unknown("server", &[name], &sent));
        }
        let field = if name == "hostname" { "OS-EXT-SRV-ATTR:hostname" } else { name };
        set(&mut row, field, value.clone());
    }
    let timestamp = ctx.state.timestamp();
    set(&mut row, "updated", timestamp);
    ctx.state.put(SERVERS, id, row.clone());
    render_server(ctx, row)
}

/// Schedules the deletion of a server. A second request reports that the deletion is in progress.
fn delete(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, id)?;
    if text(&row, "OS-EXT-STS:task_state") == "deleting" {
        return Ok(Reply::empty(204));
    }
    if row.get("locked") == Some(&json!(true)) && !ctx.caller.is_admin {
        return Err(fault(409, format!("Instance {id} is locked")));
    }
    remove(ctx, id);
    Ok(Reply::empty(204))
}

/// Schedules the removal of a server.
pub(super) fn remove(ctx: &mut RequestContext<'_>, id: &str) {
    ctx.state.set(SERVERS, id, json!({ "OS-EXT-STS:task_state": "deleting" }));
    let gone = Pending::Step { name: "compute/gone".to_owned(), key: id.to_owned() };
    let delay = ctx.state.build_time;
    ctx.state.schedule(delay, gone);
}

fn metadata(ctx: &mut RequestContext<'_>, method: &str, id: &str, key: Option<&str>) -> Answer {
    let row = find(ctx, id)?;
    let mut own = object(row["metadata"].clone());
    let sent = ctx.body["metadata"].as_object().cloned().map(Obj::from);
    let sent_one = ctx.body["meta"].as_object().cloned();
    let absent = || fault(404, "Metadata item was not found");
    if method != "GET" && text(&row, "status") == "BUILD" && method != "POST" {
        return Err(wrong_state("update metadata", &row));
    }
    let reply = match (method, key) {
        ("GET", None) => return Ok(Reply::ok(json!({ "metadata": own }))),
        ("GET", Some(key)) => {
            let value = own.get(key).ok_or_else(absent)?;
            return Ok(Reply::ok(json!({ "meta": { key: value } })));
        }
        ("POST", None) => {
            own.extend(sent.ok_or_else(|| microversioned::missing("", "metadata", &Obj::new()))?);
            Reply::ok(json!({ "metadata": own }))
        }
        ("PUT", None) => {
            own = sent.ok_or_else(|| microversioned::missing("", "metadata", &Obj::new()))?;
            Reply::ok(json!({ "metadata": own }))
        }
        ("PUT", Some(key)) => {
            let sent = sent_one.ok_or_else(|| microversioned::missing("", "meta", &Obj::new()))?;
            let value = sent
                .get(key)
                .cloned()
                .ok_or_else(|| fault(400, "Request body and URI mismatch"))?;
            own.insert(key.to_owned(), value);
            Reply::ok(json!({ "meta": sent }))
        }
        ("DELETE", Some(key)) => {
            own.remove(key).ok_or_else(absent)?;
            Reply::empty(204)
        }
        _ => return Err(fault(405, "The method is not allowed for this resource.")),
    };
    texts_only(&own)?;
    ctx.state.set(SERVERS, id, json!({ "metadata": own }));
    Ok(reply)
}

/// Rejects metadata with values other than strings.
pub(super) fn texts_only(metadata: &Obj) -> Result<(), Refusal> {
    for (name, value) in metadata {
        if !value.is_string() {
            let reason = format!("{} is not of type 'string'", crate::python::repr(value));
            return Err(microversioned::wrong(&format!("metadata.{name}"), value, &reason));
        }
    }
    Ok(())
}

fn tags(ctx: &mut RequestContext<'_>, method: &str, id: &str, tag: Option<&str>) -> Answer {
    if ctx.version < 26 {
        return Err(fault(404, "The resource could not be found."));
    }
    let row = find(ctx, id)?;
    let mut own = strings(&row, "tags");
    let absent = |tag: &str| fault(404, format!("Server {id} has no tag '{tag}'"));
    let reply = match (method, tag) {
        ("GET", None) => return Ok(Reply::ok(json!({ "tags": own }))),
        ("GET", Some(tag)) => {
            let there = own.iter().any(|known| known == tag);
            return if there { Ok(Reply::empty(204)) } else { Err(absent(tag)) };
        }
        ("PUT", None) => {
            let sent = ctx.body["tags"].as_array().cloned();
            let sent = sent.ok_or_else(|| microversioned::missing("", "tags", &Obj::new()))?;
            own = sent.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Reply::ok(json!({ "tags": own }))
        }
        ("DELETE", None) => {
            own.clear();
            Reply::empty(204)
        }
        ("PUT", Some(tag)) => {
            if own.iter().any(|known| known == tag) {
                return Ok(Reply::empty(204));
            }
            own.push(tag.to_owned());
            Reply::empty(201)
        }
        ("DELETE", Some(tag)) => {
            let before = own.len();
            own.retain(|known| known != tag);
            if own.len() == before {
                return Err(absent(tag));
            }
            Reply::empty(204)
        }
        _ => return Err(fault(405, "The method is not allowed for this resource.")),
    };
    own.sort_unstable();
    own.dedup();
    ctx.state.set(SERVERS, id, json!({ "tags": own }));
    Ok(reply)
}
