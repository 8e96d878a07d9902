//! Objects of the object store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::super::error_style::refuse;
use super::super::request::{Answer, Content, Reply, RequestContext, int, object, set, text};
use super::super::state::format_time;
use super::{
    CONTAINERS, OBJECTS, ObjectPath, container_key, header, keep, object_key, timestamp,
    with_headers,
};

/// The headers of an object besides its metadata.
const HEADERS: &[&str] = &[
    "content-encoding",
    "content-disposition",
    "x-object-manifest",
    "x-delete-at",
    "x-static-large-object",
];

pub(super) fn serve(ctx: &mut RequestContext<'_>, target: &ObjectPath, method: &str) -> Answer {
    if ctx.state.get(CONTAINERS, &container_key(target)).is_none() {
        return Err(refuse(404, "The resource could not be found."));
    }
    let key = object_key(target);
    let seconds = ctx.now() / 1_000_000;
    let there = ctx.state.get(OBJECTS, &key).cloned();
    let there = there.filter(|row| int(row, "ends") == 0 || int(row, "ends") > seconds);
    let missing = || refuse(404, "The resource could not be found.");
    match method {
        "PUT" => put(ctx, target, &key),
        "POST" => {
            let mut row = there.ok_or_else(missing)?;
            // Metadata that the request does not repeat is removed.
            let old = row.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
            let stay = old.into_iter().filter(|(name, _)| !name.starts_with("x-object-meta-"));
            let stay: serde_json::Map<String, Value> = stay.collect();
            set(&mut row, "headers", stay);
            keep(ctx, &mut row, "object", HEADERS);
            expiry(ctx, &mut row);
            ctx.state.put(OBJECTS, &key, row);
            Ok(Reply::empty(202))
        }
        "DELETE" => {
            there.ok_or_else(missing)?;
            ctx.state.remove(OBJECTS, &key);
            restore(ctx, target, &key);
            Ok(Reply::empty(204))
        }
        "GET" | "HEAD" => {
            let row = there.ok_or_else(missing)?;
            let bytes = STANDARD.decode(text(&row, "data")).unwrap_or_default();
            let etag = text(&row, "hash").to_owned();
            if ctx.request.header("if-none-match").is_some_and(|tag| tag.trim_matches('"') == etag)
            {
                return Ok(Reply::empty(304));
            }
            let kind = text(&row, "content_type").to_owned();
            let reply =
                Reply { status: 200, headers: Vec::new(), body: Content::Bytes(kind, bytes) };
            let reply = reply
                .with("etag", etag)
                .with("last-modified", text(&row, "modified"))
                .with("x-timestamp", text(&row, "stamp"))
                .with("accept-ranges", "bytes");
            Ok(with_headers(reply, &row))
        }
        _ => Err(refuse(405, "The method is not allowed for this resource.")),
    }
}

fn put(ctx: &mut RequestContext<'_>, target: &ObjectPath, key: &str) -> Answer {
    let mut bytes = ctx.request.bytes.clone();
    let mut kind =
        ctx.request.header("content-type").unwrap_or("application/octet-stream").to_owned();
    if let Some(from) = ctx.request.header("x-copy-from") {
        let from = super::super::http::decode(from.trim_start_matches('/'));
        let source = ctx.state.copy(OBJECTS, &format!("{}/{from}", target.account));
        if source.is_empty() {
            return Err(refuse(404, "The resource could not be found."));
        }
        bytes = STANDARD.decode(text(&source, "data")).unwrap_or_default();
        kind = text(&source, "content_type").to_owned();
    }
    let hash = hex::encode(Md5::digest(&bytes));
    let mut row = object(json!({
        "name": target.object, "project_id": target.account, "container": container_key(target),
        "bytes": bytes.len(), "hash": hash, "content_type": kind, "data": STANDARD.encode(&bytes), "headers": {},
        "stamp": timestamp(ctx), "made": format_time(ctx.now(), "%Y-%m-%dT%H:%M:%S.%6f"),
        "modified": format_time(ctx.now(), "%a, %d %b %Y %H:%M:%S GMT"),
    }));
    keep(ctx, &mut row, "object", HEADERS);
    expiry(ctx, &mut row);
    archive(ctx, target, key);
    ctx.state.put(OBJECTS, key, row);
    let modified = format_time(ctx.now(), "%a, %d %b %Y %H:%M:%S GMT");
    Ok(Reply::empty(201).with("etag", hash).with("last-modified", modified))
}

/// Returns the location of the old versions of an object, if its container keeps them.
fn versions(ctx: &RequestContext<'_>, target: &ObjectPath) -> Option<ObjectPath> {
    let container = ctx.state.copy(CONTAINERS, &container_key(target));
    let location = header(&container, "x-versions-location");
    let container = location.split('/').next().filter(|it| !it.is_empty())?.to_owned();
    let object = format!("{:03x}{}/", target.object.len(), target.object);
    Some(ObjectPath { account: target.account.clone(), container, object })
}

/// Archives the current version of an object before it is overwritten.
fn archive(ctx: &mut RequestContext<'_>, target: &ObjectPath, key: &str) {
    let Some(mut version) = versions(ctx, target) else { return };
    let Some(mut row) = ctx.state.get(OBJECTS, key).cloned() else { return };
    version.object.push_str(text(&row, "stamp"));
    let timestamp = ctx.state.get(OBJECTS, &object_key(&version)).is_some();
    if timestamp {
        // Two versions have the same timestamp.
        version.object.push('0');
    }
    set(&mut row, "name", version.object.as_str());
    set(&mut row, "container", container_key(&version));
    ctx.state.put(OBJECTS, &object_key(&version), row);
}

/// Restores the previous version of a deleted object.
fn restore(ctx: &mut RequestContext<'_>, target: &ObjectPath, key: &str) {
    let Some(version) = versions(ctx, target) else { return };
    let kept = super::contents(ctx, &version);
    let last = kept.into_iter().rfind(|row| text(row, "name").starts_with(&version.object));
    let Some(mut row) = last else { return };
    let name = text(&row, "name").to_owned();
    ctx.state.remove(OBJECTS, &object_key(&ObjectPath { object: name, ..version }));
    set(&mut row, "name", target.object.as_str());
    set(&mut row, "container", container_key(target));
    ctx.state.put(OBJECTS, key, row);
}

/// Sets the expiry of an object.
fn expiry(ctx: &RequestContext<'_>, row: &mut super::Obj) {
    let number = |name: &str| ctx.request.header(name).and_then(|text| text.parse::<i64>().ok());
    let after = number("x-delete-after").map(|seconds| ctx.now() / 1_000_000 + seconds);
    if let Some(ends) = number("x-delete-at").or(after) {
        set(row, "ends", ends);
    }
}
