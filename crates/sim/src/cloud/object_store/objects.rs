//! Objects: bytes under a name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::super::ask::{Answer, Content, Reply, Turn, int, object, set, text};
use super::super::forms::refuse;
use super::super::world::moment;
use super::{
    CONTAINERS, OBJECTS, Place, container_key, header, keep, object_key, stamp, with_headers,
};

/// Headers of an object beyond its metadata.
const HEADERS: &[&str] = &[
    "content-encoding",
    "content-disposition",
    "x-object-manifest",
    "x-delete-at",
    "x-static-large-object",
];

pub(super) fn serve(turn: &mut Turn<'_>, place: &Place, method: &str) -> Answer {
    if turn.world.get(CONTAINERS, &container_key(place)).is_none() {
        return Err(refuse(404, "The resource could not be found."));
    }
    let key = object_key(place);
    let seconds = turn.now() / 1_000_000;
    let there = turn.world.get(OBJECTS, &key).cloned();
    let there = there.filter(|row| int(row, "ends") == 0 || int(row, "ends") > seconds);
    let missing = || refuse(404, "The resource could not be found.");
    match method {
        "PUT" => put(turn, place, &key),
        "POST" => {
            let mut row = there.ok_or_else(missing)?;
            // What is not said again is forgotten.
            let old = row.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
            let stay = old.into_iter().filter(|(name, _)| !name.starts_with("x-object-meta-"));
            let stay: serde_json::Map<String, Value> = stay.collect();
            set(&mut row, "headers", stay);
            keep(turn, &mut row, "object", HEADERS);
            expiry(turn, &mut row);
            turn.world.put(OBJECTS, &key, row);
            Ok(Reply::empty(202))
        }
        "DELETE" => {
            there.ok_or_else(missing)?;
            turn.world.remove(OBJECTS, &key);
            restore(turn, place, &key);
            Ok(Reply::empty(204))
        }
        "GET" | "HEAD" => {
            let row = there.ok_or_else(missing)?;
            let bytes = STANDARD.decode(text(&row, "data")).unwrap_or_default();
            let etag = text(&row, "hash").to_owned();
            if turn.ask.header("if-none-match").is_some_and(|tag| tag.trim_matches('"') == etag) {
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

fn put(turn: &mut Turn<'_>, place: &Place, key: &str) -> Answer {
    let mut bytes = turn.ask.bytes.clone();
    let mut kind = turn.ask.header("content-type").unwrap_or("application/octet-stream").to_owned();
    if let Some(from) = turn.ask.header("x-copy-from") {
        let from = super::super::http::decode(from.trim_start_matches('/'));
        let source = turn.world.copy(OBJECTS, &format!("{}/{from}", place.account));
        if source.is_empty() {
            return Err(refuse(404, "The resource could not be found."));
        }
        bytes = STANDARD.decode(text(&source, "data")).unwrap_or_default();
        kind = text(&source, "content_type").to_owned();
    }
    let hash: String = Md5::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut row = object(json!({
        "name": place.object, "project_id": place.account, "container": container_key(place),
        "bytes": bytes.len(), "hash": hash, "content_type": kind, "data": STANDARD.encode(&bytes), "headers": {},
        "stamp": stamp(turn), "made": moment(turn.now(), "%Y-%m-%dT%H:%M:%S.%6f"),
        "modified": moment(turn.now(), "%a, %d %b %Y %H:%M:%S GMT"),
    }));
    keep(turn, &mut row, "object", HEADERS);
    expiry(turn, &mut row);
    archive(turn, place, key);
    turn.world.put(OBJECTS, key, row);
    let modified = moment(turn.now(), "%a, %d %b %Y %H:%M:%S GMT");
    Ok(Reply::empty(201).with("etag", hash).with("last-modified", modified))
}

/// Where the container of an object keeps what its objects held before: nothing if it does not.
fn versions(turn: &Turn<'_>, place: &Place) -> Option<Place> {
    let container = turn.world.copy(CONTAINERS, &container_key(place));
    let location = header(&container, "x-versions-location");
    let container = location.split('/').next().filter(|it| !it.is_empty())?.to_owned();
    let object = format!("{:03x}{}/", place.object.len(), place.object);
    Some(Place { account: place.account.clone(), container, object })
}

/// Keeps what an object held before it is written anew.
fn archive(turn: &mut Turn<'_>, place: &Place, key: &str) {
    let Some(mut version) = versions(turn, place) else { return };
    let Some(mut row) = turn.world.get(OBJECTS, key).cloned() else { return };
    version.object.push_str(text(&row, "stamp"));
    let stamp = turn.world.get(OBJECTS, &object_key(&version)).is_some();
    if stamp {
        // Two writes within the smallest time there is.
        version.object.push('0');
    }
    set(&mut row, "name", version.object.as_str());
    set(&mut row, "container", container_key(&version));
    turn.world.put(OBJECTS, &object_key(&version), row);
}

/// Puts what an object held before into the place of what was removed.
fn restore(turn: &mut Turn<'_>, place: &Place, key: &str) {
    let Some(version) = versions(turn, place) else { return };
    let kept = super::contents(turn, &version);
    let last = kept.into_iter().rfind(|row| text(row, "name").starts_with(&version.object));
    let Some(mut row) = last else { return };
    let name = text(&row, "name").to_owned();
    turn.world.remove(OBJECTS, &object_key(&Place { object: name, ..version }));
    set(&mut row, "name", place.object.as_str());
    set(&mut row, "container", container_key(place));
    turn.world.put(OBJECTS, key, row);
}

/// When the object is to be gone.
fn expiry(turn: &Turn<'_>, row: &mut super::Obj) {
    let number = |name: &str| turn.ask.header(name).and_then(|text| text.parse::<i64>().ok());
    let after = number("x-delete-after").map(|seconds| turn.now() / 1_000_000 + seconds);
    if let Some(ends) = number("x-delete-at").or(after) {
        set(row, "ends", ends);
    }
}
