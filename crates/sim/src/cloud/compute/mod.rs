//! The compute service: Nova, version 2.1 with its microversions.

mod actions;
mod attach;
mod build;
mod dialect;
mod flavors;
mod groups;
mod infrastructure;
mod keypairs;
mod servers;
mod tenant_usage;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::request::{Answer, Refusal, Reply, RequestContext, text};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service, Step};
use super::state::CloudState;
use super::table::Obj;

pub(super) use self::dialect::NOVA;

pub(super) const AGGREGATES: &str = "compute/aggregates";
pub(super) const FLAVORS: &str = "compute/flavors";
pub(super) const KEYPAIRS: &str = "compute/keypairs";
pub(super) const SERVERS: &str = "compute/servers";
pub(super) const GROUPS: &str = "compute/server_groups";

static COLLECTIONS: &[&Collection] =
    &[&flavors::FLAVOR, &groups::AGGREGATE, &groups::GROUP, &keypairs::KEYPAIR, &servers::SERVER];

pub(super) static SERVICE: Service = Service {
    prefix: "compute",
    types: &["compute"],
    name: "nova",
    address: "/v2.1",
    microversions: Some(
        Microversions::new("compute", 2, 1, 96).or_header("x-openstack-nova-api-version"),
    ),
    dialect: &NOVA,
    collections: &[COLLECTIONS],
    serve,
    versions,
    seed: |state| {
        flavors::seed(state);
        keypairs::seed(state);
    },
};

/// The delayed steps of servers.
pub(super) static STEPS: &[Step] = &[
    ("compute/attached", attach::attached),
    ("compute/built", build::built),
    ("compute/detached", attach::detached),
    ("compute/failed", build::failed),
    ("compute/gone", build::gone),
    ("compute/resized", actions::resized),
    ("compute/reverted", actions::reverted),
];

fn versions(base: &str, path: &[&str]) -> Option<(u16, Value)> {
    let version = json!({
        "id": "v2.1", "status": "CURRENT", "version": "2.96", "min_version": "2.1", "updated": "2013-07-23T11:33:21Z",
        "links": [{ "rel": "self", "href": format!("{base}/v2.1/") }],
    });
    match path {
        [] => Some((200, json!({ "versions": [version] }))),
        ["v2.1"] => {
            let mut full = version;
            let kind = "application/vnd.openstack.compute+json;version=2.1";
            full["media-types"] = json!([{ "base": "application/json", "type": kind }]);
            Some((200, json!({ "version": full })))
        }
        _ => None,
    }
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2.1", path @ ..] = parts.as_slice() else { return Err(nothing()) };
    // The path may begin with the project, as older versions required.
    let path = match path {
        [project, rest @ ..] if *project == ctx.caller.project => rest,
        path => path,
    };
    let method = ctx.request.method.clone();
    let method = if method == "HEAD" { "GET" } else { method.as_str() };
    let special = servers::serve(ctx, method, path)
        .or_else(|| attach::serve(ctx, method, path))
        .or_else(|| flavors::serve(ctx, method, path))
        .or_else(|| keypairs::serve(ctx, method, path))
        .or_else(|| groups::serve(ctx, method, path))
        .or_else(|| infrastructure::serve(ctx, method, path))
        .or_else(|| tenant_usage::serve(ctx, method, path));
    special.or_else(|| rest::serve(ctx, COLLECTIONS, path)).unwrap_or_else(|| Err(nothing()))
}

fn nothing() -> Refusal {
    NOVA.generic(404, "The resource could not be found.")
}

/// Returns the links of an object, with the version and without.
fn links(ctx: &RequestContext<'_>, collection: &str, id: &str) -> Value {
    let base = format!("{}{}", ctx.request.base, ctx.request.service);
    json!([
        { "rel": "self", "href": format!("{base}/v2.1/{collection}/{id}") },
        { "rel": "bookmark", "href": format!("{base}/{collection}/{id}") },
    ])
}

/// The hosts on which servers run.
pub(super) const HOSTS: &[&str] = &["compute-1", "compute-2"];

/// Answers with a server in its envelope.
fn render_server(ctx: &RequestContext<'_>, row: Obj) -> Answer {
    Ok(Reply::ok(json!({ "server": servers::full(ctx, &row) })))
}

/// The quotas for servers, with their defaults.
pub(super) const QUOTAS: &[(&str, i64)] = &[
    ("instances", 10),
    ("cores", 20),
    ("ram", 51_200),
    ("metadata_items", 128),
    ("key_pairs", 100),
    ("server_groups", 10),
    ("server_group_members", 10),
    ("injected_files", 5),
    ("injected_file_content_bytes", 10_240),
    ("injected_file_path_bytes", 255),
    ("fixed_ips", -1),
    ("floating_ips", -1),
    ("security_groups", -1),
    ("security_group_rules", -1),
];

/// Counts the servers, cores and memory of a project.
pub(super) fn usage(state: &CloudState, project: &str) -> (i64, i64, i64) {
    let mut used = (0, 0, 0);
    for server in state.table(SERVERS).with("project_id", project) {
        let flavor = &server["_flavor"];
        used.0 += 1;
        used.1 += flavor["vcpus"].as_i64().unwrap_or_default();
        used.2 += flavor["ram"].as_i64().unwrap_or_default();
    }
    used
}

/// Returns the quota of a project.
pub(super) fn limit(state: &CloudState, project: &str, name: &str) -> i64 {
    let usual = QUOTAS.iter().find(|(own, _)| *own == name).map_or(-1, |(_, usual)| *usual);
    state.quota("compute", project, name, usual)
}

/// Returns the name and the value of the action in a body.
fn action(body: &Value) -> Option<(String, Value)> {
    let (name, value) = body.as_object()?.iter().next()?;
    Some((name.clone(), value.clone()))
}

/// Reports whether a row belongs to the calling user.
fn is_own(ctx: &RequestContext<'_>, row: &Obj) -> bool {
    ctx.caller.is_admin || text(row, "user_id") == ctx.caller.user
}
