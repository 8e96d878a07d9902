//! Accounts and containers.

use serde_json::{Value, json};

use super::super::error_style::refuse;
use super::super::request::{Answer, Content, Refusal, Reply, RequestContext, object, set, text};
use super::super::state::format_time;
use super::super::table::Obj;
use super::{
    ACCOUNTS, CONTAINERS, OBJECTS, ObjectPath, container_key, contents, keep, size, timestamp,
    with_headers,
};

pub(super) fn account(ctx: &mut RequestContext<'_>, target: &ObjectPath, method: &str) -> Answer {
    let mut row = ctx.state.copy(ACCOUNTS, &target.account);
    let mut containers = ctx.state.with(CONTAINERS, "project_id", &target.account);
    containers.sort_by(|one, other| text(one, "name").cmp(text(other, "name")));
    match method {
        "POST" if ctx.request.query("bulk-delete").is_some() => bulk_delete(ctx, target),
        "POST" => {
            set(&mut row, "name", target.account.clone());
            keep(ctx, &mut row, "account", &[]);
            ctx.state.put(ACCOUNTS, &target.account, row);
            Ok(Reply::empty(204))
        }
        "GET" | "HEAD" => {
            let mut rows = Vec::new();
            let (mut bytes, mut count) = (0, 0);
            for container in &containers {
                let inside = ObjectPath {
                    account: target.account.clone(),
                    container: text(container, "name").to_owned(),
                    object: String::new(),
                };
                let all = contents(ctx, &inside);
                let own: u64 = all.iter().map(size).sum();
                bytes += own;
                count += all.len();
                rows.push(json!({
                    "name": container["name"], "count": all.len(), "bytes": own, "last_modified": container["made"],
                }));
            }
            let reply = listing(ctx, method, rows)?
                .with("x-account-container-count", containers.len().to_string())
                .with("x-account-object-count", count.to_string())
                .with("x-account-bytes-used", bytes.to_string())
                .with("x-timestamp", timestamp(ctx));
            Ok(with_headers(reply, &row))
        }
        _ => Err(refuse(405, "The method is not allowed for this resource.")),
    }
}

/// Renders a listing as text or JSON, with the requested pagination.
fn listing(ctx: &RequestContext<'_>, method: &str, mut rows: Vec<Value>) -> Result<Reply, Refusal> {
    let request = ctx.request;
    let name = |row: &Value| {
        row["name"].as_str().or(row["subdir"].as_str()).unwrap_or_default().to_owned()
    };
    if let Some(prefix) = request.query("prefix") {
        rows.retain(|row| name(row).starts_with(prefix));
    }
    if let Some(delimiter) = request.query("delimiter").filter(|delimiter| !delimiter.is_empty()) {
        rows = folded(rows, request.query("prefix").unwrap_or_default(), delimiter);
    }
    if let Some(marker) = request.query("marker") {
        rows.retain(|row| name(row).as_str() > marker);
    }
    if let Some(end) = request.query("end_marker") {
        rows.retain(|row| name(row).as_str() < end);
    }
    let limit = request.query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(10_000_usize);
    rows.truncate(limit);
    let wants_json = request.query("format") == Some("json")
        || request.header("accept").is_some_and(|accept| accept.contains("application/json"));
    let body = if wants_json {
        Content::Json(Value::Array(rows.clone()))
    } else {
        let names: String = rows.iter().map(|row| format!("{}\n", name(row))).collect();
        Content::Bytes("text/plain; charset=utf-8".to_owned(), names.into_bytes())
    };
    let empty = rows.is_empty() && !wants_json;
    if method == "HEAD" || empty {
        return Ok(Reply::empty(204));
    }
    Ok(Reply { status: 200, headers: Vec::new(), body })
}

/// Groups the names that have the delimiter after the prefix into one row each.
fn folded(rows: Vec<Value>, prefix: &str, delimiter: &str) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for row in rows {
        let name = row["name"].as_str().unwrap_or_default();
        let rest = name.get(prefix.len()..).unwrap_or_default();
        match rest.find(delimiter) {
            None => kept.push(row),
            Some(at) => {
                let folder = json!({ "subdir": format!("{prefix}{}{delimiter}", &rest[..at]) });
                if kept.last() != Some(&folder) {
                    kept.push(folder);
                }
            }
        }
    }
    kept
}

/// The headers of a container besides its metadata.
const HEADERS: &[&str] = &[
    "x-container-read",
    "x-container-write",
    "x-container-sync-to",
    "x-container-sync-key",
    "x-versions-location",
    "x-history-location",
    "x-storage-policy",
];

pub(super) fn container(ctx: &mut RequestContext<'_>, target: &ObjectPath, method: &str) -> Answer {
    let key = container_key(target);
    let missing = || refuse(404, "The resource could not be found.");
    let there = ctx.state.get(CONTAINERS, &key).cloned();
    match method {
        "PUT" => {
            if target.container.len() > 256 {
                return Err(refuse(
                    400,
                    format!("Container name length of {} longer than 256", target.container.len()),
                ));
            }
            let status = if there.is_some() { 202 } else { 201 };
            let mut row = there.unwrap_or_else(|| new_container(ctx, target));
            keep(ctx, &mut row, "container", HEADERS);
            ctx.state.put(CONTAINERS, &key, row);
            Ok(Reply::empty(status))
        }
        "POST" => {
            let mut row = there.ok_or_else(missing)?;
            keep(ctx, &mut row, "container", HEADERS);
            ctx.state.put(CONTAINERS, &key, row);
            Ok(Reply::empty(204))
        }
        "DELETE" => {
            there.ok_or_else(missing)?;
            if !contents(ctx, target).is_empty() {
                return Err(refuse(
                    409,
                    "There was a conflict when trying to complete your request.",
                ));
            }
            ctx.state.remove(CONTAINERS, &key);
            Ok(Reply::empty(204))
        }
        "GET" | "HEAD" => {
            let row = there.ok_or_else(missing)?;
            let all = contents(ctx, target);
            let bytes: u64 = all.iter().map(size).sum();
            let rows: Vec<Value> = all
                .iter()
                .map(|one| {
                    json!({
                        "name": one["name"], "bytes": one["bytes"], "hash": one["hash"],
                        "content_type": one["content_type"], "last_modified": one["made"],
                    })
                })
                .collect();
            let reply = listing(ctx, method, rows)?
                .with("x-container-object-count", all.len().to_string())
                .with("x-container-bytes-used", bytes.to_string())
                .with("x-timestamp", text(&row, "stamp"))
                .with("x-storage-policy", "Policy-0")
                .with("accept-ranges", "bytes");
            Ok(with_headers(reply, &row))
        }
        _ => Err(refuse(405, "The method is not allowed for this resource.")),
    }
}

fn new_container(ctx: &RequestContext<'_>, target: &ObjectPath) -> Obj {
    object(json!({
        "name": target.container, "project_id": target.account, "headers": {}, "stamp": timestamp(ctx),
        "made": format_time(ctx.now(), "%Y-%m-%dT%H:%M:%S.%6f"),
    }))
}

/// Deletes the objects and the empty containers in a list of names.
fn bulk_delete(ctx: &mut RequestContext<'_>, target: &ObjectPath) -> Answer {
    let names = String::from_utf8_lossy(&ctx.request.bytes).into_owned();
    let (mut gone, mut missing) = (0, 0);
    let mut errors: Vec<Value> = Vec::new();
    for line in names.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let name = super::super::http::decode(line.trim_start_matches('/'));
        let key = format!("{}/{name}", target.account);
        let inside = ObjectPath {
            account: target.account.clone(),
            container: name.clone(),
            object: String::new(),
        };
        if ctx.state.remove(OBJECTS, &key).is_some() {
            gone += 1;
        } else if ctx.state.get(CONTAINERS, &key).is_some() {
            if contents(ctx, &inside).is_empty() {
                ctx.state.remove(CONTAINERS, &key);
                gone += 1;
            } else {
                errors.push(json!([name, "409 Conflict"]));
            }
        } else {
            missing += 1;
        }
    }
    let status = match (errors.is_empty(), gone + missing) {
        (false, _) => "400 Bad Request",
        (true, 0) => "400 Bad Request",
        _ => "200 OK",
    };
    Ok(Reply::ok(json!({
        "Number Deleted": gone, "Number Not Found": missing, "Response Status": status, "Response Body": "",
        "Errors": errors,
    })))
}
