//! Images: create, upload, share, update, delete.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use sha2::Sha512;

use super::super::check::parse_bool;
use super::super::dialect::Dialect;
use super::super::patch::{self, Change};
use super::super::query;
use super::super::request::{
    Answer, Content, Refusal, Reply, RequestContext, flag, object, set, strings, text,
};
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::{Glance, refuse};
use super::{IMAGES, blank, owns, render, sees};
use crate::python;

pub(super) static IMAGE: Collection = Collection {
    name: IMAGES,
    path: "images",
    plural: "images",
    title: "Image",
    operations: "",
    index: &["owner"],
    fields: "name text r \"\"",
    is_shared: |ctx, row| sees(ctx, row),
    ..Collection::new(&Glance)
};

/// Fields that clients cannot set.
const READ_ONLY: &[&str] = &[
    "checksum",
    "created_at",
    "direct_url",
    "file",
    "os_hash_algo",
    "os_hash_value",
    "schema",
    "self",
    "size",
    "status",
    "stores",
    "updated_at",
    "virtual_size",
];

const CONTAINERS: &[&str] = &["aki", "ami", "ari", "bare", "compressed", "docker", "ova", "ovf"];
const DISKS: &[&str] =
    &["aki", "ami", "ari", "gpt", "iso", "ploop", "qcow2", "raw", "vdi", "vhd", "vhdx", "vmdk"];

pub(super) fn serve(ctx: &mut RequestContext<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("POST", ["images"]) => create(ctx),
        ("GET", ["images"]) => list_images(ctx),
        ("GET" | "HEAD", ["images", id]) => find(ctx, id).map(|row| Reply::ok(render(&row))),
        ("PATCH", ["images", id]) => update(ctx, id),
        ("DELETE", ["images", id]) => delete(ctx, id),
        ("PUT", ["images", id, "file" | "stage"]) => upload(ctx, id),
        ("GET", ["images", id, "file"]) => download(ctx, id),
        ("POST", ["images", id, "import"]) => import(ctx, id),
        ("POST", ["images", id, "actions", word]) => switch(ctx, id, word),
        (_, ["images", id, "tags", tag]) => tag_one(ctx, method, id, tag),
        (_, ["images", id, "members", rest @ ..]) => {
            members(ctx, method, id, rest.first().copied())
        }
        ("GET", ["info", "import"]) => Ok(Reply::ok(json!({ "import-methods": {
            "description": "Import methods available.", "type": "array",
            "value": ["glance-direct", "web-download", "copy-image"],
        } }))),
        ("GET", ["info", "stores"]) => {
            Ok(Reply::ok(json!({ "stores": [{ "id": "file", "default": "true" }] })))
        }
        ("GET", ["schemas", word @ ("image" | "images" | "member" | "members")]) => {
            Ok(Reply::ok(schema(word)))
        }
        _ => return None,
    })
}

/// Returns the JSON schema of images: the properties that are not strings, and the read-only ones.
fn schema(word: &str) -> Value {
    let mut properties = Obj::new();
    let texts = ["container_format", "disk_format", "id", "name", "owner", "visibility"];
    for name in texts.iter().chain(READ_ONLY) {
        set(
            &mut properties,
            name,
            json!({ "type": ["null", "string"], "readOnly": READ_ONLY.contains(name) }),
        );
    }
    for (names, kind) in [
        (["min_disk", "min_ram", "size", "virtual_size"].as_slice(), "integer"),
        (["os_hidden", "protected"].as_slice(), "boolean"),
        (["tags"].as_slice(), "array"),
    ] {
        for name in names {
            let fixed = READ_ONLY.contains(name);
            set(&mut properties, name, json!({ "type": ["null", kind], "readOnly": fixed }));
        }
    }
    json!({ "name": word, "properties": properties, "additionalProperties": { "type": "string" } })
}

fn find(ctx: &RequestContext<'_>, id: &str) -> Result<Obj, Refusal> {
    let row = ctx.state.get(IMAGES, id).filter(|row| sees(ctx, row));
    row.cloned().ok_or_else(|| refuse(404, format!("No image found with ID {id}")))
}

fn own(ctx: &RequestContext<'_>, id: &str, action: &str) -> Result<Obj, Refusal> {
    let row = find(ctx, id)?;
    if owns(ctx, &row) {
        return Ok(row);
    }
    Err(Glance.forbidden(&IMAGE, action))
}

fn create(ctx: &mut RequestContext<'_>) -> Answer {
    let Some(sent) = ctx.body.as_object().cloned() else {
        return Err(refuse(400, "Malformed JSON in request body."));
    };
    let id = match sent.get("id").and_then(Value::as_str) {
        Some(id) if ctx.state.get(IMAGES, id).is_some() => {
            return Err(refuse(409, format!("Image ID {id} already exists!")));
        }
        Some(id) => id.to_owned(),
        None => ctx.state.uuid(),
    };
    let project = ctx.caller.project.clone();
    let mut row = blank(ctx.state, &id, "", &project, "shared");
    for field in ["name", "container_format", "disk_format"] {
        set(&mut row, field, Value::Null);
    }
    for (name, value) in sent {
        assign(ctx, &mut row, &name, value)?;
    }
    ctx.state.put(IMAGES, &id, row.clone());
    let location = format!("{}{}/v2/images/{id}", ctx.request.base, ctx.request.service);
    Ok(Reply::json(201, render(&row))
        .with("location", location)
        .with("openstack-image-import-methods", "glance-direct,web-download,copy-image"))
}

/// Sets one property after validating it.
fn assign(
    ctx: &RequestContext<'_>,
    row: &mut Obj,
    name: &str,
    value: Value,
) -> Result<(), Refusal> {
    let wrong = |reason: &str| {
        Err(refuse(400, format!("Provided object does not match schema 'image': {reason}")))
    };
    let rendered = python::repr(&value);
    if READ_ONLY.contains(&name) {
        return Err(refuse(403, format!("Attribute '{name}' is read-only.")));
    }
    match name {
        "visibility" => {
            let known = ["community", "public", "private", "shared"];
            if !value.as_str().is_some_and(|word| known.contains(&word)) {
                return wrong(&format!(
                    "{rendered} is not one of ['community', 'public', 'private', 'shared']"
                ));
            }
            if value == json!("public") && !ctx.caller.is_admin {
                return Err(refuse(
                    403,
                    "You are not authorized to complete publicize_image action.",
                ));
            }
        }
        "container_format" | "disk_format" => {
            let known = if name == "disk_format" { DISKS } else { CONTAINERS };
            if !value.is_null() && !value.as_str().is_some_and(|word| known.contains(&word)) {
                let listed = crate::python::repr_list(known);
                return wrong(&format!("{rendered} is not one of [None, {}", &listed[1..]));
            }
        }
        "min_disk" | "min_ram" if !value.is_i64() && !value.is_u64() => {
            return wrong(&format!("{rendered} is not of type 'integer'"));
        }
        "protected" | "os_hidden" if !value.is_boolean() => {
            return wrong(&format!("{rendered} is not of type 'boolean'"));
        }
        "tags" if !value.is_array() => return wrong(&format!("{rendered} is not of type 'array'")),
        "min_disk" | "min_ram" | "protected" | "os_hidden" | "tags" => {}
        "owner" if !ctx.caller.is_admin && value != json!(ctx.caller.project) => {
            return Err(refuse(
                403,
                "You are not permitted to create images owned by someone else.",
            ));
        }
        "owner" => set(row, "project_id", value.clone()),
        "name" | "id" if value.is_string() || value.is_null() => {}
        _ if value.is_string() => {}
        _ => return wrong(&format!("{rendered} is not of type 'string'")),
    }
    set(row, name, value);
    Ok(())
}

fn list_images(ctx: &mut RequestContext<'_>) -> Answer {
    let request = ctx.request;
    let number =
        |row: &Obj, field: &str| row.get(field).and_then(Value::as_i64).unwrap_or_default();
    let keeps = |row: &&Obj| {
        let status = request.query("member_status").unwrap_or("accepted");
        let mine = row["_members"][&ctx.caller.project]
            .as_str()
            .is_some_and(|own| own == status || status == "all");
        let asked = request.query("visibility");
        let open = text(row, "visibility") == "public"
            || (asked == Some("community") && text(row, "visibility") == "community");
        let seen = ctx.caller.is_admin || text(row, "owner") == ctx.caller.project || open || mine;
        seen && request.query.iter().all(|(name, wanted)| match name.as_str() {
            "limit" | "marker" | "sort" | "sort_key" | "sort_dir" | "member_status" => true,
            "tag" => strings(row, "tags").iter().any(|tag| tag == wanted),
            "visibility" if wanted == "all" => true,
            "size_min" => wanted.parse::<i64>().is_ok_and(|least| number(row, "size") >= least),
            "size_max" => wanted.parse::<i64>().is_ok_and(|most| number(row, "size") <= most),
            "protected" | "os_hidden" => parse_bool(wanted) == Some(flag(row, name)),
            "name" | "id" | "status" if wanted.starts_with("in:") => {
                wanted[3..].split(',').any(|word| word.trim_matches('"') == text(row, name))
            }
            _ => match row.get(name) {
                Some(Value::String(own)) => own == wanted,
                Some(other) => wanted.parse::<i64>().ok() == other.as_i64(),
                None => false,
            },
        })
    };
    let rows: Vec<Obj> = ctx.state.table(IMAGES).iter().rev().filter(keeps).cloned().collect();
    let (rows, next) = query::page(ctx, &IMAGE, rows)?;
    let first = format!("/v2/images{}", if request.query.is_empty() { "" } else { "?" });
    let rows: Vec<Value> = rows.iter().map(render).collect();
    let mut body = json!({ "images": rows, "first": first, "schema": "/v2/schemas/images" });
    if let Some((_, query)) = next.as_deref().and_then(|next| next.split_once('?')) {
        body["next"] = json!(format!("/v2/images?{query}"));
    }
    Ok(Reply::ok(body))
}

fn update(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let mut row = own(ctx, id, "modify_image")?;
    let body = serde_json::from_slice(&ctx.request.bytes).unwrap_or(Value::Null);
    for change in patch::read(&body).map_err(|reason| refuse(400, reason))? {
        match change {
            Change::Set(name, value) => assign(ctx, &mut row, &name, value)?,
            Change::Remove(name) => {
                if READ_ONLY.contains(&name.as_str())
                    || ["name", "visibility", "tags", "protected"].contains(&name.as_str())
                {
                    return Err(refuse(403, format!("Property '{name}' may not be removed.")));
                }
                if row.remove(&name).is_none() {
                    return Err(refuse(409, format!("Property {name} does not exist.")));
                }
            }
        }
    }
    let timestamp = ctx.state.timestamp();
    set(&mut row, "updated_at", timestamp);
    ctx.state.put(IMAGES, id, row.clone());
    Ok(Reply::ok(render(&row)))
}

fn delete(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let missing = |refusal: Refusal| match refusal.status {
        404 => refuse(404, format!("Failed to find image {id} to delete")),
        _ => refusal,
    };
    let row = own(ctx, id, "delete_image").map_err(missing)?;
    if flag(&row, "protected") {
        return Err(refuse(403, format!("Image {id} is protected and cannot be deleted.")));
    }
    ctx.state.remove(IMAGES, id);
    Ok(Reply::empty(204))
}

/// Stores the data of an image.
pub(super) fn fill(state: &mut CloudState, id: &str, bytes: &[u8]) {
    let (sum, hash) = (hex::encode(Md5::digest(bytes)), hex::encode(Sha512::digest(bytes)));
    let timestamp = state.timestamp();
    state.set(
        IMAGES,
        id,
        json!({
            "status": "active", "size": bytes.len(), "checksum": sum, "os_hash_algo": "sha512",
            "os_hash_value": hash, "updated_at": timestamp, "_data": STANDARD.encode(bytes),
        }),
    );
}

/// Finishes an import or a snapshot.
pub(super) fn imported(state: &mut CloudState, id: &str) {
    let row = state.copy(IMAGES, id);
    if !["queued", "importing", "saving", "uploading"].contains(&text(&row, "status")) {
        return;
    }
    if text(&row, "_source").contains("/fail") {
        state.set(IMAGES, id, json!({ "status": "queued", "os_glance_failed_import": "file" }));
        return;
    }
    let bytes = format!("what {} holds", text(&row, "_source"));
    fill(state, id, bytes.as_bytes());
    state.edit(IMAGES, id, |row| {
        row.remove("os_glance_importing_to_stores");
    });
}

fn upload(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = own(ctx, id, "upload_image")?;
    if text(&row, "status") != "queued" {
        let message = format!(
            "Image status transition from {} to saving is not allowed",
            text(&row, "status")
        );
        return Err(refuse(409, message));
    }
    if row["disk_format"].is_null() || row["container_format"].is_null() {
        return Err(refuse(
            400,
            "Properties disk_format, container_format must be set prior to saving data.",
        ));
    }
    let bytes = ctx.request.bytes.clone();
    fill(ctx.state, id, &bytes);
    Ok(Reply::empty(204))
}

fn download(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = find(ctx, id)?;
    if text(&row, "status") == "deactivated" && !ctx.caller.is_admin {
        return Err(refuse(
            403,
            "The requested image has been deactivated. Image data download is forbidden.",
        ));
    }
    let Ok(bytes) = STANDARD.decode(text(&row, "_data")) else { return Ok(Reply::empty(204)) };
    if bytes.is_empty() {
        return Ok(Reply::empty(204));
    }
    let body = Content::Bytes("application/octet-stream".to_owned(), bytes);
    Ok(Reply { status: 200, headers: Vec::new(), body })
}

fn import(ctx: &mut RequestContext<'_>, id: &str) -> Answer {
    let row = own(ctx, id, "import_image")?;
    let how = ctx.body["method"]["name"].as_str().unwrap_or_default().to_owned();
    let uri = ctx.body["method"]["uri"].as_str().unwrap_or_default().to_owned();
    if !["glance-direct", "web-download", "copy-image"].contains(&how.as_str()) {
        return Err(refuse(400, format!("Unknown import method name '{how}'.")));
    }
    if how == "web-download" && !uri.starts_with("http") {
        return Err(refuse(400, format!("Invalid import_from URI: {uri}")));
    }
    if text(&row, "status") != "queued" {
        let message =
            format!("Only images in status queued can be imported: {}", text(&row, "status"));
        return Err(refuse(409, message));
    }
    let fields = object(json!({
        "status": "importing", "_source": uri, "os_glance_importing_to_stores": "file",
    }));
    ctx.state.set(IMAGES, id, Value::from(fields));
    ctx.state.step_when_built("image/imported", id);
    Ok(Reply::empty(202))
}

fn switch(ctx: &mut RequestContext<'_>, id: &str, word: &str) -> Answer {
    let row = own(ctx, id, word)?;
    let (from, to) = match word {
        "deactivate" => ("active", "deactivated"),
        "reactivate" => ("deactivated", "active"),
        _ => return Err(refuse(404, "The resource could not be found.")),
    };
    let status = text(&row, "status");
    if status != from && status != to {
        let message = format!("Not allowed to {word} image in status '{status}'");
        return Err(refuse(403, message));
    }
    ctx.state.set(IMAGES, id, json!({ "status": to }));
    Ok(Reply::empty(204))
}

fn tag_one(ctx: &mut RequestContext<'_>, method: &str, id: &str, tag: &str) -> Answer {
    let row = own(ctx, id, "modify_image")?;
    let mut tags = strings(&row, "tags");
    let before = tags.len();
    tags.retain(|known| known != tag);
    match method {
        "PUT" => tags.push(tag.to_owned()),
        "DELETE" if tags.len() == before => {
            return Err(refuse(404, format!("Could not find tag {tag}")));
        }
        "DELETE" => {}
        _ => return Err(refuse(405, "Method not allowed")),
    }
    ctx.state.set(IMAGES, id, json!({ "tags": tags }));
    Ok(Reply::empty(204))
}

fn members(ctx: &mut RequestContext<'_>, method: &str, id: &str, member: Option<&str>) -> Answer {
    let row = find(ctx, id)?;
    let timestamp = ctx.state.timestamp();
    let mut all = row["_members"].as_object().cloned().unwrap_or_default();
    let entry = |project: &str, status: &Value| {
        json!({
            "image_id": id, "member_id": project, "status": status, "created_at": timestamp, "updated_at": timestamp,
            "schema": "/v2/schemas/member",
        })
    };
    let absent = |member: &str| {
        refuse(404, format!("{member} not found in the member list of the image {id}."))
    };
    let reply = match (method, member) {
        ("GET", None) => {
            let rows: Vec<Value> =
                all.iter().map(|(project, status)| entry(project, status)).collect();
            return Ok(Reply::ok(json!({ "members": rows, "schema": "/v2/schemas/members" })));
        }
        ("GET", Some(member)) => {
            let status = all.get(member).ok_or_else(|| absent(member))?;
            return Ok(Reply::ok(entry(member, status)));
        }
        ("POST", None) => {
            own(ctx, id, "add_member")?;
            if text(&row, "visibility") != "shared" {
                return Err(refuse(403, "Only shared images have members."));
            }
            let Some(member) = ctx.body["member"].as_str().map(str::to_owned) else {
                return Err(refuse(400, "Member to be added not specified"));
            };
            if all.insert(member.clone(), json!("pending")).is_some() {
                return Err(refuse(
                    409,
                    format!("Image member {member} already exists for image {id}"),
                ));
            }
            Reply::ok(entry(&member, &json!("pending")))
        }
        ("PUT", Some(member)) => {
            let status = ctx.body["status"].clone();
            *all.get_mut(member).ok_or_else(|| absent(member))? = status.clone();
            Reply::ok(entry(member, &status))
        }
        ("DELETE", Some(member)) => {
            own(ctx, id, "delete_member")?;
            all.remove(member).ok_or_else(|| absent(member))?;
            Reply::empty(204)
        }
        _ => return Err(refuse(405, "Method not allowed")),
    };
    ctx.state.set(IMAGES, id, json!({ "_members": all }));
    Ok(reply)
}
