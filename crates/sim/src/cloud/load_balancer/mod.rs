//! The load balancing service: Octavia, version 2.
//!
//! Every change below a load balancer makes it immutable for the build time, during which no other change below it is
//! accepted.

mod collections;
mod tree;

use serde_json::{Map, Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::request::{Answer, Reply, RequestContext};
use super::rest;
use super::schema::Collection;
use super::services::{Service, Step};

pub(super) static OCTAVIA: ErrorStyle =
    ErrorStyle { form: ErrorForm::Faultstring, missing: "not found.", bad: 400 };

pub(super) const BALANCERS: &str = "load-balancer/loadbalancers";
pub(super) const LISTENERS: &str = "load-balancer/listeners";
pub(super) const MEMBERS: &str = "load-balancer/members";
pub(super) const MONITORS: &str = "load-balancer/healthmonitors";
pub(super) const POLICIES: &str = "load-balancer/l7policies";
pub(super) const POOLS: &str = "load-balancer/pools";
pub(super) const RULES: &str = "load-balancer/l7rules";

static COLLECTIONS: &[&Collection] = &[
    &collections::BALANCER,
    &collections::FLAVOR,
    &collections::FLAVOR_PROFILE,
    &collections::LISTENER,
    &collections::MEMBER,
    &collections::MONITOR,
    &collections::POLICY,
    &collections::POOL,
    &collections::RULE,
    &collections::ZONE,
    &collections::ZONE_PROFILE,
];

pub(super) static SERVICE: Service = Service {
    prefix: "load-balancer",
    types: &["load-balancer"],
    name: "octavia",
    address: "",
    microversions: None,
    dialect: &OCTAVIA,
    collections: &[COLLECTIONS],
    serve,
    versions,
    seed: |_| (),
};

pub(super) static STEPS: &[Step] =
    &[("load-balancer/settled", tree::settled), ("load-balancer/gone", tree::gone)];

fn versions(base: &str, path: &[&str]) -> Option<(u16, Value)> {
    if !path.is_empty() {
        return None;
    }
    let row = |minor: u32| {
        json!({
            "id": format!("v2.{minor}"), "status": if minor == 27 { "CURRENT" } else { "SUPPORTED" },
            "updated": "2023-01-01T00:00:00Z", "links": [{ "rel": "self", "href": format!("{base}/v2") }],
        })
    };
    let rows: Vec<Value> = (0..=27).map(row).collect();
    Some((200, json!({ "versions": rows })))
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let path = match parts.as_slice() {
        ["v2", "lbaas", path @ ..] | ["v2.0", "lbaas", path @ ..] => path,
        _ => return Err(refuse(404, "The resource could not be found.")),
    };
    let method = ctx.request.method.clone();
    let special = match (method.as_str(), path) {
        ("GET", ["providers"]) => Some(Ok(Reply::ok(json!({ "providers": [
            { "name": "amphora", "description": "The Octavia Amphora driver." },
            { "name": "octavia", "description": "Deprecated alias of the Octavia Amphora driver." },
        ] })))),
        ("DELETE", ["loadbalancers", id]) => Some(tree::delete_balancer(ctx, id)),
        ("GET", ["loadbalancers", id, "status" | "statuses"]) => Some(tree::status(ctx, id)),
        ("GET", ["loadbalancers" | "listeners", _, "stats"]) => {
            Some(Ok(Reply::ok(json!({ "stats": {
            "active_connections": 0, "bytes_in": 0, "bytes_out": 0, "request_errors": 0, "total_connections": 0,
        } }))))
        }
        ("PUT", ["loadbalancers", id, "failover"]) => {
            let id = (*id).to_owned();
            Some(tree::touch(ctx, &id).map(|()| Reply::empty(202)))
        }
        ("PUT", ["pools", id, "members"]) => Some(tree::replace_members(ctx, id)),
        (_, ["quotas", rest @ ..]) => Some(quotas(ctx, &method, rest)),
        _ => None,
    };
    special
        .or_else(|| rest::serve(ctx, COLLECTIONS, path))
        .unwrap_or_else(|| Err(refuse(404, "The resource could not be found.")))
}

const QUOTAS: &[(&str, &str)] = &[
    ("load_balancer", BALANCERS),
    ("listener", LISTENERS),
    ("pool", POOLS),
    ("member", MEMBERS),
    ("health_monitor", MONITORS),
    ("l7policy", POLICIES),
    ("l7rule", RULES),
];

fn quotas(ctx: &mut RequestContext<'_>, method: &str, rest: &[&str]) -> Answer {
    let project = rest.first().copied().unwrap_or_default().to_owned();
    if !ctx.caller.is_admin && (method != "GET" || project != ctx.caller.project) {
        return Err(refuse(403, "Policy does not allow this request to be performed."));
    }
    match method {
        "PUT" => {
            let sent = ctx.body["quota"].as_object().cloned().unwrap_or_default();
            for (name, limit) in sent {
                let name = match name.as_str() {
                    "loadbalancer" => "load_balancer",
                    "healthmonitor" => "health_monitor",
                    other => other,
                };
                if !QUOTAS.iter().any(|(own, _)| *own == name) {
                    return Err(refuse(
                        400,
                        format!("Unknown attribute for argument quota: {name}"),
                    ));
                }
                ctx.state.set_quota("load-balancer", &project, name, limit.as_i64().unwrap_or(-1));
            }
        }
        "DELETE" => {
            ctx.state.reset_quota("load-balancer", &project);
            return Ok(Reply::empty(204));
        }
        _ => {}
    }
    let mut rendered = Map::new();
    for (name, _) in QUOTAS {
        let limit = match project.as_str() {
            "defaults" => -1,
            project => ctx.state.quota("load-balancer", project, name, -1),
        };
        rendered.insert((*name).to_owned(), json!(limit));
        let old = name
            .replace("load_balancer", "loadbalancer")
            .replace("health_monitor", "healthmonitor");
        rendered.insert(old, json!(limit));
    }
    Ok(Reply::json(if method == "PUT" { 202 } else { 200 }, json!({ "quota": rendered })))
}
