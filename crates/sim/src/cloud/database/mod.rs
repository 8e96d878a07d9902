//! The database service: Trove, version 1.0.

use serde_json::{Value, json};

use super::compute::FLAVORS;
use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Refusal, Reply, RequestContext, list, object, set, text};
use super::rest;
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;
use super::versions;

static TROVE: ErrorStyle =
    ErrorStyle { form: ErrorForm::Named, missing: "cannot be found.", bad: 400 };

const INSTANCES: &str = "database/instances";
const CLUSTERS: &str = "database/clusters";

static COLLECTIONS: &[&Collection] = &[&INSTANCE, &CLUSTER];

pub(super) static SERVICE: Service = Service {
    prefix: "database",
    types: &["database"],
    name: "trove",
    address: "/v1.0/%(project_id)s",
    microversions: None,
    dialect: &TROVE,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| {
        let updated = json!({ "updated": "2012-08-01T00:00:00Z" });
        let version = versions::current(base, "v1.0", "v1.0/", updated);
        path.is_empty().then(|| (200, json!({ "versions": [version] })))
    },
    seed: |_| (),
};

static INSTANCE: Collection = Collection {
    name: INSTANCES,
    path: "instances",
    singular: "instance",
    plural: "instances",
    title: "Instance",
    operations: "CLSD",
    statuses: (200, 202, 202),
    lingers: true,
    quota: Some(("instances", 10)),
    fields: "name              text c !
             flavorRef         any  c null
             volume            map  c null
             databases         list c []
             users             list c []
             datastore         map  c {}
             nics              list c []
             replica_of        text c null
             replica_count     int  c null
             restorePoint      map  c null
             availability_zone text c null
             region_name       text c null
             configuration     text c null
             locality          text c null
             access            map  c {}
             modules           list c []
             status            text r \"BUILD\"
             project_id        text r @project",
    make: |ctx, row| {
        let flavor = match row.get("flavorRef") {
            Some(Value::Number(id)) => id.to_string(),
            Some(Value::String(id)) => id.rsplit('/').next().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        if row["replica_of"].is_null() && ctx.state.get(FLAVORS, &flavor).is_none() {
            return Err(refuse(400, format!("Unable to find flavor {flavor}.")));
        }
        let links = json!([{ "rel": "self", "href": format!("{}/compute/v2.1/flavors/{flavor}", ctx.request.base) }]);
        set(row, "flavor", json!({ "id": flavor, "links": links }));
        row.remove("flavorRef");
        let kind = row["datastore"]["type"].as_str().unwrap_or("mysql").to_owned();
        let version = row["datastore"]["version"].as_str().unwrap_or("8.0").to_owned();
        set(row, "datastore", json!({ "type": kind, "version": version }));
        for (from, to) in [("databases", "_databases"), ("users", "_users")] {
            let kept = row.remove(from).unwrap_or_default();
            set(row, to, kept);
        }
        set(row, "created", ctx.state.timestamp_seconds());
        set(row, "updated", ctx.state.timestamp_seconds());
        if row["region_name"].is_null() {
            let region = ctx.state.region.clone();
            set(row, "region_name", region);
        }
        let id = text(row, "id").to_owned();
        let status = if ctx.state.fail_builds { "ERROR" } else { "ACTIVE" };
        let number = ctx.state.next_number() % 200 + 20;
        ctx.state.when_built(INSTANCES, &id, json!({
            "status": status, "ip": [format!("10.0.0.{number}")], "hostname": format!("{id}.example.org"),
        }));
        Ok(())
    },
    remove: |ctx, row| {
        let id = text(row, "id");
        ctx.state.set(INSTANCES, id, json!({ "status": "SHUTDOWN" }));
        ctx.state.remove_when_built(INSTANCES, id);
        Ok(())
    },
    show: |ctx, row| {
        let id = text(row, "id").to_owned();
        let link = format!(
            "{}{}/v1.0/{}/instances/{id}",
            ctx.request.base, ctx.request.service, ctx.caller.project
        );
        set(row, "links", json!([{ "rel": "self", "href": link }]));
        for hidden in ["nics", "restorePoint", "modules", "replica_count", "locality"] {
            row.remove(hidden);
        }
    },
    ..Collection::new(&TROVE)
};

static CLUSTER: Collection = Collection {
    name: CLUSTERS,
    path: "clusters",
    singular: "cluster",
    plural: "clusters",
    title: "Cluster",
    operations: "CLSD",
    statuses: (200, 202, 202),
    lingers: true,
    fields: "name       text c !
             datastore  map  c !
             instances  list c []
             locality   text c null
             task       map  r {\"id\": 2, \"name\": \"BUILDING\", \"description\": \"Building the initial cluster.\"}
             project_id text r @project",
    make: |ctx, row| {
        if list(row, "instances").is_empty() {
            return Err(refuse(400, "The number of instances for your initial cluster must be at least 1."));
        }
        let mut members = list(row, "instances").to_vec();
        for (at, member) in members.iter_mut().enumerate() {
            let id = ctx.state.uuid();
            *member = json!({
                "id": id, "name": format!("{}-member-{}", text(row, "name"), at + 1), "status": "BUILD",
                "flavor": { "id": member["flavorRef"] }, "volume": member["volume"], "type": "member",
            });
        }
        let mut ready = members.clone();
        ready.iter_mut().for_each(|member| member["status"] = json!("ACTIVE"));
        set(row, "instances", members);
        set(row, "created", ctx.state.timestamp_seconds());
        let none = json!({ "id": 1, "name": "NONE", "description": "No tasks for the cluster." });
        ctx.state.when_built(CLUSTERS, text(row, "id"), json!({ "task": none, "instances": ready }));
        Ok(())
    },
    remove: |ctx, row| {
        let task = row["task"]["name"].as_str().unwrap_or_default();
        if !["NONE", "DELETING"].contains(&task) {
            let message = format!("Action can't be performed on cluster while its task is {task}.");
            return Err(refuse(422, message));
        }
        let id = text(row, "id");
        let deleting = json!({ "id": 5, "name": "DELETING", "description": "Deleting the cluster." });
        ctx.state.set(CLUSTERS, id, json!({ "task": deleting }));
        ctx.state.remove_when_built(CLUSTERS, id);
        Ok(())
    },
    ..Collection::new(&TROVE)
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1.0", _, path @ ..] = parts.as_slice() else {
        return Err(refuse(404, "The resource could not be found."));
    };
    let method = ctx.request.method.clone();
    let special = match (method.as_str(), path) {
        ("PUT" | "PATCH", ["instances", id]) => Some(update(ctx, id)),
        ("POST", ["instances", id, "action"]) => Some(act(ctx, id)),
        (_, ["instances", id, kind @ ("databases" | "users"), rest @ ..]) => {
            Some(inside(ctx, &method, id, kind, rest))
        }
        ("GET", ["flavors"]) => Some(Ok(flavors(ctx))),
        ("GET", ["flavors", id]) => Some(match ctx.state.get(FLAVORS, id) {
            Some(row) => Ok(Reply::ok(json!({ "flavor": flavor(row) }))),
            None => Err(refuse(404, format!("Flavor {id} cannot be found."))),
        }),
        ("GET", ["datastores", ..]) => Some(datastores(path)),
        _ => None,
    };
    special
        .or_else(|| rest::serve(ctx, COLLECTIONS, path))
        .unwrap_or_else(|| Err(refuse(404, "The resource could not be found.")))
}

fn flavor(row: &Obj) -> Value {
    json!({ "id": row["id"], "str_id": row["id"], "name": row["name"], "ram": row["ram"], "vcpus": row["vcpus"], "disk": row["disk"] })
}

fn flavors(ctx: &RequestContext<'_>) -> Reply {
    let rows: Vec<Value> = ctx.state.table(FLAVORS).iter().map(flavor).collect();
    Reply::ok(json!({ "flavors": rows }))
}

fn datastores(path: &[&str]) -> Answer {
    let version = json!({ "id": "8.0", "name": "8.0", "active": 1 });
    let store = |name: &str| json!({ "id": name, "name": name, "default_version": "8.0", "versions": [version] });
    match path {
        ["datastores"] => Ok(Reply::ok(
            json!({ "datastores": [store("mysql"), store("mariadb"), store("postgresql"), store("mongodb")] }),
        )),
        ["datastores", name] => Ok(Reply::ok(json!({ "datastore": store(name) }))),
        ["datastores", _, "versions"] => Ok(Reply::ok(json!({ "versions": [version] }))),
        ["datastores", _, "versions", _] => Ok(Reply::ok(json!({ "version": version }))),
        _ => Err(refuse(404, "The resource could not be found.")),
    }
}

/// Finds an instance; one that is not ready is rejected.
fn ready(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, Refusal> {
    let row = ctx.find(&INSTANCE, id)?;
    if text(&row, "status") != "ACTIVE" {
        let message = format!(
            "Instance {id} is not currently available for an action to be performed (status was {}).",
            text(&row, "status")
        );
        return Err(refuse(422, message));
    }
    Ok(row)
}

fn update(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let mut row = ctx.find(&INSTANCE, id)?;
    let sent = ctx.body["instance"].as_object().cloned().unwrap_or_default();
    for name in ["name", "configuration"] {
        if let Some(value) = sent.get(name) {
            set(&mut row, name, value.clone());
        }
    }
    ctx.state.put(INSTANCES, id, row);
    Ok(Reply::empty(202))
}

fn act(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = ready(ctx, id)?;
    let body = ctx.body.clone();
    let (status, after) = if let Some(flavor) = body["resize"]["flavorRef"].as_str() {
        let flavor = flavor.rsplit('/').next().unwrap_or_default();
        if row["flavor"]["id"] == json!(flavor) {
            return Err(refuse(400, "No change was requested in the size of the instance."));
        }
        ("RESIZE", json!({ "status": "ACTIVE", "flavor": { "id": flavor } }))
    } else if let Some(size) = body["resize"]["volume"]["size"].as_i64() {
        if row["volume"]["size"].as_i64().is_some_and(|old| size <= old) {
            return Err(refuse(
                400,
                format!(
                    "The new volume 'size' must be larger than the current volume size of '{}'.",
                    row["volume"]["size"]
                ),
            ));
        }
        ("RESIZE", json!({ "status": "ACTIVE", "volume": { "size": size } }))
    } else if body.get("restart").is_some() {
        ("REBOOT", json!({ "status": "ACTIVE" }))
    } else {
        return Err(refuse(400, "There is no such action."));
    };
    ctx.state.set(INSTANCES, id, json!({ "status": status }));
    ctx.state.when_built(INSTANCES, id, after);
    Ok(Reply::empty(202))
}

/// Handles the databases and users of an instance.
fn inside(
    ctx: &mut RequestContext<'_>,
    method: &str,
    id: &str,
    kind: &str,
    rest: &[&str],
) -> Answer {
    let row = ready(ctx, id)?;
    let field = format!("_{kind}");
    let mut own = list(&row, &field).to_vec();
    let named = |name: &str| own.iter().position(|one| one["name"] == json!(name));
    let missing = |name: &str| refuse(404, format!("{name} cannot be found on the instance."));
    match (method, rest) {
        ("GET", []) => {
            let rows: Vec<Value> = own.iter().map(|one| render(kind, one)).collect();
            return Ok(Reply::ok(json!({ kind: rows })));
        }
        ("GET", [name]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            return Ok(Reply::ok(json!({ kind.trim_end_matches('s'): render(kind, &own[at]) })));
        }
        ("POST", []) => own.extend(ctx.body[kind].as_array().cloned().unwrap_or_default()),
        ("DELETE", [name]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            own.remove(at);
        }
        ("PUT", [name]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            let sent = object(ctx.body["user"].clone());
            for (field, value) in sent {
                own[at][field] = value;
            }
        }
        ("GET", [name, "databases"]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            return Ok(Reply::ok(json!({ "databases": own[at]["databases"] })));
        }
        ("PUT", [name, "databases"]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            let mut granted = own[at]["databases"].as_array().cloned().unwrap_or_default();
            for one in ctx.body["databases"].as_array().cloned().unwrap_or_default() {
                if !granted.contains(&one) {
                    granted.push(one);
                }
            }
            own[at]["databases"] = json!(granted);
        }
        ("DELETE", [name, "databases", database]) => {
            let at = named(name).ok_or_else(|| missing(name))?;
            let mut granted = own[at]["databases"].as_array().cloned().unwrap_or_default();
            granted.retain(|one| one["name"] != json!(database));
            own[at]["databases"] = json!(granted);
        }
        _ => return Err(refuse(405, "Method not allowed")),
    }
    ctx.state.set(INSTANCES, id, json!({ field: own }));
    Ok(Reply::empty(202))
}

/// Renders a database, or a user without the password.
fn render(kind: &str, one: &Value) -> Value {
    match kind {
        "databases" => json!({ "name": one["name"] }),
        _ => {
            let databases = one["databases"].as_array().cloned().unwrap_or_default();
            json!({ "name": one["name"], "host": one["host"].as_str().unwrap_or("%"), "databases": databases })
        }
    }
}
