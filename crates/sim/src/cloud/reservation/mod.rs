//! The reservation service: Blazar, version 1.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Reply, RequestContext, list, object, set, text};
use super::rest;
use super::schema::Collection;
use super::services::Service;

static BLAZAR: ErrorStyle =
    ErrorStyle { form: ErrorForm::ErrorName, missing: "not found", bad: 400 };

const LEASES: &str = "reservation/leases";
const HOSTS: &str = "reservation/hosts";

static COLLECTIONS: &[&Collection] = &[&LEASE, &HOST];

pub(super) static SERVICE: Service = Service {
    prefix: "reservation",
    types: &["reservation"],
    name: "blazar",
    address: "/v1",
    microversions: None,
    dialect: &BLAZAR,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| match path {
        [] => Some((
            300,
            json!({ "versions": [{
            "id": "v1.0", "status": "CURRENT", "links": [{ "rel": "self", "href": format!("{base}/v1") }],
        }] }),
        )),
        _ => None,
    },
    seed: |_| (),
};

static LEASE: Collection = Collection {
    name: LEASES,
    path: "leases",
    plural: "leases",
    title: "Lease",
    by_name: true,
    statuses: (201, 200, 200),
    fields: "name            text cu !
             start_date      text cu !
             end_date        text cu !
             before_end_date text cu null
             reservations    list cu []
             events          list c  []
             status          text r  \"PENDING\"
             degraded        bool r  false
             trust_id        text r  \"\"
             user_id         text r  @user
             project_id      text r  @project",
    make: |ctx, row| {
        if ctx.state.table(LEASES).count("name", text(row, "name")) > 0 {
            return Err(refuse(
                409,
                format!("The lease with name: {} already exists", text(row, "name")),
            ));
        }
        let id = text(row, "id").to_owned();
        let mut reservations = list(row, "reservations").to_vec();
        for one in &mut reservations {
            let kind = one["resource_type"].as_str().unwrap_or_default();
            if !["physical:host", "virtual:instance", "virtual:floatingip"].contains(&kind) {
                return Err(refuse(400, format!("The resource type {kind} is not supported")));
            }
            if kind == "physical:host" && ctx.state.table(HOSTS).len() == 0 {
                return Err(refuse(400, "Not enough hosts available"));
            }
            one["id"] = json!(ctx.state.uuid());
            one["lease_id"] = json!(id);
            one["status"] = json!("active");
            one["resource_id"] = json!(ctx.state.uuid());
        }
        set(row, "reservations", reservations);
        let mut events = list(row, "events").to_vec();
        for (kind, field) in [("start_lease", "start_date"), ("end_lease", "end_date")] {
            let event = json!({
                "id": ctx.state.uuid(), "lease_id": id, "event_type": kind, "time": row[field], "status": "UNDONE",
            });
            events.push(event);
        }
        set(row, "events", events);
        set(row, "created_at", ctx.state.timestamp_seconds().replace('T', " "));
        set(row, "updated_at", Value::Null);
        ctx.state.when_built(LEASES, &id, json!({ "status": "ACTIVE" }));
        Ok(())
    },
    ..Collection::new(&BLAZAR)
};

static HOST: Collection = Collection {
    name: HOSTS,
    path: "os-hosts",
    plural: "hosts",
    title: "Host",
    operations: "LSD",
    statuses: (201, 200, 200),
    fields: "name text r \"\"",
    ..Collection::new(&BLAZAR)
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    let method = ctx.request.method.clone();
    // Requests have no envelope, replies have one.
    let wrapped = |answer: Answer, word: &str| {
        answer.map(|mut reply| {
            if let super::request::Content::Json(body) = &reply.body
                && body.get(format!("{word}s")).is_none()
            {
                reply.body = super::request::Content::Json(json!({ word: body }));
            }
            reply
        })
    };
    match (method.as_str(), path) {
        ("POST", ["os-hosts"]) => create_host(ctx),
        ("PUT", ["os-hosts", id]) => {
            let mut row = ctx.find(&HOST, id)?;
            row.extend(object(ctx.body["values"].clone()));
            row.extend(object(ctx.body.clone()));
            row.remove("values");
            ctx.state.put(HOSTS, id, row.clone());
            Ok(Reply::ok(json!({ "host": row })))
        }
        ("DELETE", [_, _]) => rest::serve(ctx, COLLECTIONS, path)
            .unwrap_or_else(|| Err(refuse(404, "Not Found")))
            .map(|_| Reply::ok(json!({}))),
        (_, [kind, ..]) => {
            let word = if *kind == "leases" { "lease" } else { "host" };
            let answer = rest::serve(ctx, COLLECTIONS, path)
                .unwrap_or_else(|| Err(refuse(404, "Not Found")));
            wrapped(answer, word)
        }
        _ => Err(refuse(404, "Not Found")),
    }
}

fn create_host(ctx: &mut RequestContext<'_>) -> Answer {
    if !ctx.caller.is_admin {
        return Err(refuse(403, "Policy doesn't allow blazar:oshosts:post to be performed."));
    }
    let sent = object(ctx.body.clone());
    let name = text(&sent, "name").to_owned();
    if !super::compute::HOSTS.contains(&name.as_str()) {
        return Err(refuse(404, format!("host '{name}' not found!")));
    }
    if ctx.state.table(HOSTS).count("name", &name) > 0 {
        return Err(refuse(409, format!("host '{name}' already exists!")));
    }
    let id = ctx.state.next_number().to_string();
    let mut row = object(json!({
        "id": id, "hypervisor_hostname": name, "hypervisor_type": "QEMU", "hypervisor_version": 8_000_000,
        "vcpus": 64, "memory_mb": 262_144, "local_gb": 2_048, "cpu_info": "", "service_name": name, "status": null,
        "reservable": true, "trust_id": "", "created_at": ctx.state.timestamp_seconds().replace('T', " "), "updated_at": null,
    }));
    row.extend(sent);
    ctx.state.put(HOSTS, &id, row.clone());
    Ok(Reply::json(201, json!({ "host": row })))
}
