//! The block storage service: Cinder, version 3 with its microversions.

pub(super) mod attach;
mod backups;
pub(super) mod boot;
mod dialect;
mod quotas;
mod types;
mod volumes;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::query;
use super::request::{Answer, Refusal, Reply, RequestContext, flag, text};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service, Step};

pub(super) use self::dialect::CINDER;

pub(super) const BACKUPS: &str = "volume/backups";
pub(super) const QOS: &str = "volume/qos_specs";
pub(super) const SNAPSHOTS: &str = "volume/snapshots";
pub(super) const TYPES: &str = "volume/types";
pub(super) const VOLUMES: &str = "volume/volumes";

static COLLECTIONS: &[&Collection] =
    &[&backups::BACKUP, &backups::SNAPSHOT, &types::QOS_SPECS, &types::TYPE, &volumes::VOLUME];

pub(super) static SERVICE: Service = Service {
    prefix: "volume",
    types: &["volumev3", "block-storage"],
    name: "cinder",
    address: "/v3/%(project_id)s",
    microversions: Some(Microversions::new("volume", 3, 0, 71)),
    dialect: &CINDER,
    collections: &[COLLECTIONS],
    serve,
    versions,
    seed: types::seed,
};

pub(super) static STEPS: &[Step] = &[("volume/restored", backups::restored)];

fn versions(base: &str, path: &[&str]) -> Option<(u16, Value)> {
    let kind = json!([{ "base": "application/json", "type": "application/vnd.openstack.volume+json;version=3" }]);
    let version = json!({
        "id": "v3.0", "status": "CURRENT", "version": "3.71", "min_version": "3.0", "updated": "2023-08-31T00:00:00Z",
        "links": [{ "rel": "self", "href": format!("{base}/v3/") }], "media-types": kind,
    });
    match path {
        [] => Some((300, json!({ "versions": [version] }))),
        _ => None,
    }
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v3", rest @ ..] = parts.as_slice() else { return Err(nothing()) };
    if rest.is_empty() && ctx.request.method == "GET" {
        // Unlike the list at the root, the document of a version requires authentication.
        let base = format!("{}/{}", ctx.request.base, SERVICE.prefix);
        return Ok(Reply::ok(versions(&base, &[]).map(|it| it.1).unwrap_or_default()));
    }
    let path = match rest {
        [project, rest @ ..] if *project == ctx.caller.project => rest,
        [project, rest @ ..] if super::check::is_uuid(project) => {
            if !ctx.caller.is_admin {
                return Err(CINDER.generic(400, "Malformed request url"));
            }
            rest
        }
        rest => rest,
    };
    let method = ctx.request.method.clone();
    let method = if method == "HEAD" { "GET" } else { method.as_str() };
    let special = volumes::serve(ctx, method, path)
        .or_else(|| backups::serve(ctx, method, path))
        .or_else(|| types::serve(ctx, method, path))
        .or_else(|| quotas::serve(ctx, method, path));
    special.or_else(|| rest::serve(ctx, COLLECTIONS, path)).unwrap_or_else(|| Err(nothing()))
}

fn nothing() -> Refusal {
    CINDER.generic(404, "The resource could not be found.")
}

/// Returns the links of an object.
fn links(ctx: &RequestContext<'_>, collection: &str, id: &str) -> Value {
    let base = format!("{}{}", ctx.request.base, ctx.request.service);
    let project = &ctx.caller.project;
    json!([
        { "rel": "self", "href": format!("{base}/v3/{project}/{collection}/{id}") },
        { "rel": "bookmark", "href": format!("{base}/{project}/{collection}/{id}") },
    ])
}

/// Lists objects, newest first, in full or with their names only.
fn list_collection(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    detailed: bool,
) -> Answer {
    let everybody =
        ctx.caller.is_admin && ctx.request.query("all_tenants").is_some_and(|word| word != "0");
    let mut rows = query::rows(ctx, collection, &[])?;
    let project = ctx.caller.project.clone();
    rows.retain(|row| {
        let owned = ctx
            .state
            .get(collection.name, text(row, "id"))
            .and_then(|row| row.get("project_id").cloned());
        everybody || owned.is_none_or(|owner| owner == json!(project))
    });
    rows.reverse();
    let (rows, next) = query::page(ctx, collection, rows)?;
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|row| if detailed { Value::from(row) } else { json!({ "id": row["id"], "name": row["name"], "links": links(ctx, collection.path, text(&row, "id")) }) })
        .collect();
    let mut body = json!({ collection.plural: rows });
    if let Some(next) = next {
        body[format!("{}_links", collection.plural)] = json!([{ "rel": "next", "href": next }]);
    }
    Ok(Reply::ok(body))
}

/// Handles the metadata of an object: all of it or one key.
fn metadata(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    method: &str,
    id: &str,
    key: Option<&str>,
) -> Answer {
    let row = ctx.find(collection, id)?;
    let mut own = row["metadata"].as_object().cloned().unwrap_or_default();
    let sent = ctx.body["metadata"].as_object().cloned().unwrap_or_default();
    let absent = |key: &str| CINDER.generic(404, &format!("Metadata item {key} was not found."));
    let reply = match (method, key) {
        ("GET", None) => return Ok(Reply::ok(json!({ "metadata": own }))),
        ("GET", Some(key)) => {
            let value = own.get(key).ok_or_else(|| absent(key))?;
            return Ok(Reply::ok(json!({ "meta": { key: value } })));
        }
        ("POST", None) => {
            own.extend(sent);
            Reply::ok(json!({ "metadata": own }))
        }
        ("PUT", None) => {
            own = sent;
            Reply::ok(json!({ "metadata": own }))
        }
        ("PUT", Some(key)) => {
            own.insert(key.to_owned(), ctx.body["meta"][key].clone());
            Reply::ok(json!({ "meta": ctx.body["meta"] }))
        }
        ("DELETE", Some(key)) => {
            own.remove(key).ok_or_else(|| absent(key))?;
            Reply::empty(200)
        }
        _ => return Err(CINDER.generic(405, "The method is not allowed.")),
    };
    ctx.state.set(collection.name, id, json!({ "metadata": own }));
    Ok(reply)
}

/// Reports whether a type is public or accessible to the caller's project.
fn may_use(ctx: &RequestContext<'_>, row: &super::table::Obj) -> bool {
    ctx.caller.is_admin
        || flag(row, "is_public")
        || super::request::strings(row, "_access").contains(&ctx.caller.project)
}
