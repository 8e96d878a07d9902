//! Creating a server.

use super::look::{self, until_is};
use super::user_data::{self, UserData};
use super::{checks, disks, networks};
use crate::declare::Value;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{is_given, open, section};
use crate::rest;
use crate::types::heat::collecting;
use crate::wire;
use kiln_cloud::{Call, Marker, Service, get, post, put};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The name of the server: that of the template, or the physical name.
pub(super) fn name(op: &Op) -> String {
    op.nonempty_text("name").unwrap_or(&op.context().physical_name).to_owned()
}

/// Finds the server by its name if Kiln chose it, else by its description.
pub(super) fn marker(op: &Op) -> Option<Marker> {
    let name = name(op);
    let is_ours = op.nonempty_text("name").is_none();
    // The filter is a regular expression, so a name with special characters is not used in it.
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    let mut list = get(Service::Compute, "/servers/detail");
    if name.chars().all(is_plain) {
        list = list.query("name", name.clone());
    }
    Some(Marker {
        list,
        objects: "/servers".into(),
        field: if is_ours { "/name" } else { "/description" }.into(),
        value: if is_ours { name } else { rest::label(op) }.into(),
        envelope: Some("server".into()),
        path: "/servers".into(),
        id: "/id".into(),
    })
}

/// Creates the server, and waits until it is active.
pub(super) async fn create(op: &mut Op) -> Result<(), OpError> {
    let name = name(op);
    if let Err(why) = checks::boot_source(&op.context().properties, &name) {
        return Err(OpError::failed(FailureClass::StackValidationFailed, why));
    }
    networks::begin_ports(op);
    let entries = networks::entries(&op.context().properties);
    let networks = networks::of_new(op, &entries).await?;
    let call = new_server(op, networks).await?;
    collecting::deliver(op, "deliver").await?;
    let made = op.call("create", call).await?;
    let Some(id) = made.text("/server/id").map(Arc::<str>::from) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which server it made",
        ));
    };
    op.set_id(id);
    let server = until_is(op, "ACTIVE").await?;
    let is_marked = op.nonempty_text("name").is_some();
    if is_marked {
        // The mark has served its purpose, and users would see it.
        let call =
            put(Service::Compute, look::path(op), json!({ "server": { "description": null } }));
        op.call("unmark", call).await?;
    }
    let is_tagged = !op.items("tags").is_empty();
    if is_tagged {
        let call = tags(op);
        op.call("tags", call).await?;
    }
    match is_marked || is_tagged {
        true => look::show(op).await.map(drop),
        false => look::keep(op, server).await.map(drop),
    }
}

async fn new_server(op: &mut Op, networks: Json) -> Result<Call, OpError> {
    let user_data = own_user_data(op).await?;
    let properties = op.context().properties.clone();
    let disks = disks::mapping(&properties);
    let image = if disks::boots_from_volume(&properties) {
        ""
    } else {
        op.nonempty_text("image").unwrap_or("")
    };
    let mut server = json!({
        "name": name(op),
        "imageRef": image,
        "flavorRef": op.nonempty_text("flavor"),
        "networks": networks,
        "metadata": metadata(op),
        "min_count": 1,
        "max_count": 1,
    });
    if op.nonempty_text("name").is_some() {
        server["description"] = rest::label(op).into();
    }
    for (property, field) in [
        ("key_name", "key_name"),
        ("availability_zone", "availability_zone"),
        ("config_drive", "config_drive"),
        ("admin_pass", "adminPass"),
        ("diskConfig", "OS-DCF:diskConfig"),
    ] {
        if is_given(&properties, property) {
            server[field] = wire::json(op.prop(property));
        }
    }
    let groups = networks::group_names(&properties).into_iter();
    let groups: Vec<Json> = groups.map(|group| json!({ "name": group })).collect();
    if !groups.is_empty() {
        server["security_groups"] = groups.into();
    }
    if !disks.is_empty() {
        server["block_device_mapping_v2"] = disks.into();
    }
    if let Some(data) = user_data {
        server["user_data"] = data.into();
    }
    let files = files(op);
    let is_old = !files.is_empty();
    if is_old {
        server["personality"] = files.into();
    }
    let mut body = json!({ "server": server });
    if let Some(hints) = section(&properties, "scheduler_hints").filter(|it| !it.is_empty()) {
        body["os:scheduler_hints"] = wire::json(&Value::Map(Arc::new(hints.clone())));
    }
    // Two servers must not be created with the same port: the deletion of one would delete the port of the
    // other.
    let call = post(Service::Compute, "/servers", body).exclusive();
    // The last microversion that accepts files.
    Ok(if is_old { call.microversion("2.56") } else { call })
}

/// The user data of the server in Base64; `None` if there are none.
pub(super) async fn own_user_data(op: &mut Op) -> Result<Option<String>, OpError> {
    let (format, text) = (
        op.nonempty_text("user_data_format").unwrap_or("HEAT_CFNTOOLS").to_owned(),
        op.nonempty_text("user_data").unwrap_or_default().to_owned(),
    );
    user_data::encoded(op, UserData { format: &format, text: &text, login: None }).await
}

/// The server's metadata. Values that are not text are sent as JSON text.
pub(super) fn metadata(op: &Op) -> Json {
    let mut all = Map::new();
    for (name, value) in op.section("metadata").into_iter().flatten() {
        let text = match open(value) {
            Value::Text(text) => text.to_string(),
            value => wire::json(value).to_string(),
        };
        all.insert(name.to_string(), text.into());
    }
    Json::Object(all)
}

/// The files for the server's disk, from the property `personality`.
pub(super) fn files(op: &Op) -> Vec<Json> {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let files = op.section("personality").into_iter().flatten();
    files
        .map(|(path, content)| {
            json!({ "path": &**path, "contents": engine.encode(print::plain(open(content))) })
        })
        .collect()
}

/// The call that sets the tags.
pub(super) fn tags(op: &Op) -> Call {
    put(Service::Compute, look::path(op).then("/tags"), json!({ "tags": tag_list(op) }))
}

pub(super) fn tag_list(op: &Op) -> Vec<Json> {
    op.items("tags").iter().map(|tag| print::plain(open(tag)).into()).collect()
}
