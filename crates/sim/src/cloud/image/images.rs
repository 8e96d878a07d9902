//! Images: made, filled, shared, changed, removed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use sha2::Sha512;

use super::super::ask::{Answer, Content, Refusal, Reply, Turn, flag, object, set, text, words};
use super::super::check::truth;
use super::super::dialect::{Dialect, python};
use super::super::patch::{self, Change};
use super::super::query;
use super::super::schema::{Collection, plain};
use super::super::table::Obj;
use super::super::world::World;
use super::dialect::{Glance, refuse};
use super::{IMAGES, blank, owns, sees, shown};

pub(super) static IMAGE: Collection = Collection {
    name: IMAGES,
    path: "images",
    many: "images",
    title: "Image",
    verbs: "",
    index: &["owner"],
    fields: "name text r \"\"",
    is_shared: |turn, row| sees(turn, row),
    ..plain(&Glance)
};

/// Fields that nobody sets.
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

pub(super) fn serve(turn: &mut Turn<'_>, method: &str, path: &[&str]) -> Option<Answer> {
    Some(match (method, path) {
        ("POST", ["images"]) => create(turn),
        ("GET", ["images"]) => listed(turn),
        ("GET" | "HEAD", ["images", id]) => find(turn, id).map(|row| Reply::ok(shown(&row))),
        ("PATCH", ["images", id]) => update(turn, id),
        ("DELETE", ["images", id]) => delete(turn, id),
        ("PUT", ["images", id, "file" | "stage"]) => upload(turn, id),
        ("GET", ["images", id, "file"]) => download(turn, id),
        ("POST", ["images", id, "import"]) => import(turn, id),
        ("POST", ["images", id, "actions", word]) => switch(turn, id, word),
        (_, ["images", id, "tags", tag]) => tag_one(turn, method, id, tag),
        (_, ["images", id, "members", rest @ ..]) => {
            members(turn, method, id, rest.first().copied())
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

/// What clients hold images against: the properties that are no texts, and those that nobody sets.
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

fn find(turn: &Turn<'_>, id: &str) -> Result<Obj, Refusal> {
    let row = turn.world.get(IMAGES, id).filter(|row| sees(turn, row));
    row.cloned().ok_or_else(|| refuse(404, format!("No image found with ID {id}")))
}

fn own(turn: &Turn<'_>, id: &str, action: &str) -> Result<Obj, Refusal> {
    let row = find(turn, id)?;
    if owns(turn, &row) {
        return Ok(row);
    }
    Err(Glance.forbidden(&IMAGE, action))
}

fn create(turn: &mut Turn<'_>) -> Answer {
    let Some(sent) = turn.body.as_object().cloned() else {
        return Err(refuse(400, "Malformed JSON in request body."));
    };
    let id = match sent.get("id").and_then(Value::as_str) {
        Some(id) if turn.world.get(IMAGES, id).is_some() => {
            return Err(refuse(409, format!("Image ID {id} already exists!")));
        }
        Some(id) => id.to_owned(),
        None => turn.world.uuid(),
    };
    let project = turn.who.project.clone();
    let mut row = blank(turn.world, &id, "", &project, "shared");
    for field in ["name", "container_format", "disk_format"] {
        set(&mut row, field, Value::Null);
    }
    for (name, value) in sent {
        assign(turn, &mut row, &name, value)?;
    }
    turn.world.put(IMAGES, &id, row.clone());
    let location = format!("{}{}/v2/images/{id}", turn.ask.base, turn.ask.service);
    Ok(Reply::json(201, shown(&row))
        .with("location", location)
        .with("openstack-image-import-methods", "glance-direct,web-download,copy-image"))
}

/// Sets one property, if it can be set to this.
fn assign(turn: &Turn<'_>, row: &mut Obj, name: &str, value: Value) -> Result<(), Refusal> {
    let wrong = |reason: &str| {
        Err(refuse(400, format!("Provided object does not match schema 'image': {reason}")))
    };
    let shown = python(&value);
    if READ_ONLY.contains(&name) {
        return Err(refuse(403, format!("Attribute '{name}' is read-only.")));
    }
    match name {
        "visibility" => {
            let known = ["community", "public", "private", "shared"];
            if !value.as_str().is_some_and(|word| known.contains(&word)) {
                return wrong(&format!(
                    "{shown} is not one of ['community', 'public', 'private', 'shared']"
                ));
            }
            if value == json!("public") && !turn.who.is_admin {
                return Err(refuse(
                    403,
                    "You are not authorized to complete publicize_image action.",
                ));
            }
        }
        "container_format" | "disk_format" => {
            let known = if name == "disk_format" { DISKS } else { CONTAINERS };
            if !value.is_null() && !value.as_str().is_some_and(|word| known.contains(&word)) {
                let listed = super::super::dialect::python_list(known);
                return wrong(&format!("{shown} is not one of [None, {}", &listed[1..]));
            }
        }
        "min_disk" | "min_ram" if !value.is_i64() && !value.is_u64() => {
            return wrong(&format!("{shown} is not of type 'integer'"));
        }
        "protected" | "os_hidden" if !value.is_boolean() => {
            return wrong(&format!("{shown} is not of type 'boolean'"));
        }
        "tags" if !value.is_array() => return wrong(&format!("{shown} is not of type 'array'")),
        "min_disk" | "min_ram" | "protected" | "os_hidden" | "tags" => {}
        "owner" if !turn.who.is_admin && value != json!(turn.who.project) => {
            return Err(refuse(
                403,
                "You are not permitted to create images owned by someone else.",
            ));
        }
        "owner" => set(row, "project_id", value.clone()),
        "name" | "id" if value.is_string() || value.is_null() => {}
        _ if value.is_string() => {}
        _ => return wrong(&format!("{shown} is not of type 'string'")),
    }
    set(row, name, value);
    Ok(())
}

fn listed(turn: &mut Turn<'_>) -> Answer {
    let ask = turn.ask;
    let number =
        |row: &Obj, field: &str| row.get(field).and_then(Value::as_i64).unwrap_or_default();
    let keeps = |row: &&Obj| {
        let status = ask.query("member_status").unwrap_or("accepted");
        let mine = row["_members"][&turn.who.project]
            .as_str()
            .is_some_and(|own| own == status || status == "all");
        let asked = ask.query("visibility");
        let open = text(row, "visibility") == "public"
            || (asked == Some("community") && text(row, "visibility") == "community");
        let seen = turn.who.is_admin || text(row, "owner") == turn.who.project || open || mine;
        seen && ask.query.iter().all(|(name, wanted)| match name.as_str() {
            "limit" | "marker" | "sort" | "sort_key" | "sort_dir" | "member_status" => true,
            "tag" => words(row, "tags").iter().any(|tag| tag == wanted),
            "visibility" if wanted == "all" => true,
            "size_min" => wanted.parse::<i64>().is_ok_and(|least| number(row, "size") >= least),
            "size_max" => wanted.parse::<i64>().is_ok_and(|most| number(row, "size") <= most),
            "protected" | "os_hidden" => truth(wanted) == Some(flag(row, name)),
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
    let rows: Vec<Obj> = turn.world.table(IMAGES).iter().rev().filter(keeps).cloned().collect();
    let (rows, next) = query::page(turn, &IMAGE, rows)?;
    let first = format!("/v2/images{}", if ask.query.is_empty() { "" } else { "?" });
    let rows: Vec<Value> = rows.iter().map(shown).collect();
    let mut body = json!({ "images": rows, "first": first, "schema": "/v2/schemas/images" });
    if let Some((_, query)) = next.as_deref().and_then(|next| next.split_once('?')) {
        body["next"] = json!(format!("/v2/images?{query}"));
    }
    Ok(Reply::ok(body))
}

fn update(turn: &mut Turn<'_>, id: &str) -> Answer {
    let mut row = own(turn, id, "modify_image")?;
    let body = serde_json::from_slice(&turn.ask.bytes).unwrap_or(Value::Null);
    for change in patch::read(&body).map_err(|reason| refuse(400, reason))? {
        match change {
            Change::Set(name, value) => assign(turn, &mut row, &name, value)?,
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
    let stamp = turn.world.stamp();
    set(&mut row, "updated_at", stamp);
    turn.world.put(IMAGES, id, row.clone());
    Ok(Reply::ok(shown(&row)))
}

fn delete(turn: &mut Turn<'_>, id: &str) -> Answer {
    let missing = |refusal: Refusal| match refusal.status {
        404 => refuse(404, format!("Failed to find image {id} to delete")),
        _ => refusal,
    };
    let row = own(turn, id, "delete_image").map_err(missing)?;
    if flag(&row, "protected") {
        return Err(refuse(403, format!("Image {id} is protected and cannot be deleted.")));
    }
    turn.world.remove(IMAGES, id);
    Ok(Reply::empty(204))
}

/// Puts bytes into an image.
pub(super) fn fill(world: &mut World, id: &str, bytes: &[u8]) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (sum, hash) = (Md5::digest(bytes), Sha512::digest(bytes));
    let stamp = world.stamp();
    world.set(IMAGES, id, json!({
        "status": "active", "size": bytes.len(), "checksum": hex(&sum), "os_hash_algo": "sha512",
        "os_hash_value": hex(&hash), "updated_at": stamp, "_data": STANDARD.encode(bytes),
    }));
}

/// What a request to import or to snapshot promised is there.
pub(super) fn imported(world: &mut World, id: &str) {
    let row = world.copy(IMAGES, id);
    if !["queued", "importing", "saving", "uploading"].contains(&text(&row, "status")) {
        return;
    }
    if text(&row, "_source").contains("/fail") {
        world.set(IMAGES, id, json!({ "status": "queued", "os_glance_failed_import": "file" }));
        return;
    }
    let bytes = format!("what {} holds", text(&row, "_source"));
    fill(world, id, bytes.as_bytes());
    world.edit(IMAGES, id, |row| {
        row.remove("os_glance_importing_to_stores");
    });
}

fn upload(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = own(turn, id, "upload_image")?;
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
    let bytes = turn.ask.bytes.clone();
    fill(turn.world, id, &bytes);
    Ok(Reply::empty(204))
}

fn download(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = find(turn, id)?;
    if text(&row, "status") == "deactivated" && !turn.who.is_admin {
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

fn import(turn: &mut Turn<'_>, id: &str) -> Answer {
    let row = own(turn, id, "import_image")?;
    let how = turn.body["method"]["name"].as_str().unwrap_or_default().to_owned();
    let uri = turn.body["method"]["uri"].as_str().unwrap_or_default().to_owned();
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
    turn.world.set(IMAGES, id, Value::from(fields));
    turn.world.step_when_built("image/imported", id);
    Ok(Reply::empty(202))
}

fn switch(turn: &mut Turn<'_>, id: &str, word: &str) -> Answer {
    let row = own(turn, id, word)?;
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
    turn.world.set(IMAGES, id, json!({ "status": to }));
    Ok(Reply::empty(204))
}

fn tag_one(turn: &mut Turn<'_>, method: &str, id: &str, tag: &str) -> Answer {
    let row = own(turn, id, "modify_image")?;
    let mut tags = words(&row, "tags");
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
    turn.world.set(IMAGES, id, json!({ "tags": tags }));
    Ok(Reply::empty(204))
}

fn members(turn: &mut Turn<'_>, method: &str, id: &str, member: Option<&str>) -> Answer {
    let row = find(turn, id)?;
    let stamp = turn.world.stamp();
    let mut all = row["_members"].as_object().cloned().unwrap_or_default();
    let entry = |project: &str, status: &Value| {
        json!({
            "image_id": id, "member_id": project, "status": status, "created_at": stamp, "updated_at": stamp,
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
            own(turn, id, "add_member")?;
            if text(&row, "visibility") != "shared" {
                return Err(refuse(403, "Only shared images have members."));
            }
            let Some(member) = turn.body["member"].as_str().map(str::to_owned) else {
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
            let status = turn.body["status"].clone();
            *all.get_mut(member).ok_or_else(|| absent(member))? = status.clone();
            Reply::ok(entry(member, &status))
        }
        ("DELETE", Some(member)) => {
            own(turn, id, "delete_member")?;
            all.remove(member).ok_or_else(|| absent(member))?;
            Reply::empty(204)
        }
        _ => return Err(refuse(405, "Method not allowed")),
    };
    turn.world.set(IMAGES, id, json!({ "_members": all }));
    Ok(reply)
}
