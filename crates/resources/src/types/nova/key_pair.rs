//! OS::Nova::KeyPair: a key pair for logging in to servers.
//!
//! Kiln generates the pair if the template has no public key, because newer compute services do not.

use super::ssh;
use crate::behaviour::{OperationKind, View};
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Reply, delete, get, post};
use kiln_template::Secret;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Value as Json, json};

pub(super) fn key_pair() -> ResourceType {
    ResourceType::new("OS::Nova::KeyPair")
        .plain_data([NUMBER, PUBLIC, USER_ID])
        .about("A key pair for logging in to servers.")
        .service(Service::Compute)
        .entity("keypairs")
        .checkable()
        .since("2014.1")
        .props([
            prop("name", Str, "Name under which servers refer to the key pair.")
                .required()
                .length(1, 255),
            prop("public_key", Str, "Public key to import; a new pair is generated if omitted."),
            prop(
                "save_private_key",
                Bool,
                "Whether the private half of a generated pair is kept and readable as attribute.",
            )
            .default(false),
            prop("type", Str, "Kind of key, `ssh` or an X.509 certificate for Windows servers.")
                .one_of(["ssh", "x509"])
                .since("8.0.0"),
            prop(
                "user",
                Str,
                "Name or ID of the user who gets the key pair; the caller if omitted.",
            )
            .is(USER)
            .by_name()
            .since("9.0.0"),
        ])
        .attrs([
            attr("private_key", Str, "Private half of a generated pair, if it was kept.")
                .uncached(),
            attr("public_key", Str, "Public half of the pair, which is put on servers."),
        ])
        .finder(marker)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(come_back(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(show(op)))
        .restored_on_rollback()
        .attributes(attribute)
}

const PATH: &str = "/os-keypairs";

/// The entries of the resource's data: both halves of a generated pair, and the number by which the service
/// distinguishes key pairs of the same name.
const PUBLIC: &str = "public_key";
const PRIVATE: &str = "private_key";
const NUMBER: &str = "number";
const USER_ID: &str = "user";

/// The step that deletes the key pair that has the name now.
const ROOM: &str = "make room";

fn name(op: &Op) -> String {
    op.nonempty_text("name").unwrap_or_default().to_owned()
}

/// Directs a call to the key pairs of the user in the template. The user's id is recorded, because the name may
/// be gone later.
fn for_user(op: &Op, call: Call) -> Call {
    let kept = op.data(USER_ID).and_then(Value::as_text).map(|id| id.to_string());
    match kept.or_else(|| op.nonempty_text("user").map(str::to_owned)) {
        Some(user) => call.query("user_id", user),
        None => call,
    }
}

fn look(op: &Op) -> Call {
    for_user(op, get(Service::Compute, CallPath::from(PATH).id(name(op))))
}

/// Finds a generated key pair by its public key, others by their name.
fn marker(op: &Op) -> Option<Marker> {
    let made = op.data(PUBLIC).and_then(Value::as_text).map(|key| key.to_string());
    let (field, value) = match made {
        Some(key) => ("/keypair/public_key", key),
        None => ("/keypair/name", name(op)),
    };
    Some(Marker {
        list: for_user(op, get(Service::Compute, PATH)),
        objects: "/keypairs".into(),
        field: field.into(),
        value: value.into(),
        envelope: None,
        path: CallPath::from(PATH),
        id: "/keypair/name".into(),
    })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if let Some(user) = op.nonempty_text("user").map(str::to_owned) {
        op.set_data(USER_ID, user);
    }
    // Names are unique, so the replaced key pair is deleted first.
    if op.context().predecessor.as_deref() == Some(&*name(op)) {
        let old = for_user(op, delete(Service::Compute, CallPath::from(PATH).id(name(op))));
        op.remove(ROOM, old).await?;
    }
    make_pair(op).await?;
    let body = json!({ "keypair": fields(op) });
    let made = op.call("create", post(Service::Compute, PATH, body)).await?;
    op.set_id(name(op));
    keep_private_key(op, &made)?;
    op.set_data(NUMBER, Value::Null);
    show(op).await
}

/// Generates a pair if the template has no public key and there is none in the resource's data.
async fn make_pair(op: &mut Op) -> Result<(), OpError> {
    let is_given = op.nonempty_text("public_key").is_some() || op.data(PUBLIC).is_some();
    if is_given || op.nonempty_text("type") == Some("x509") {
        return Ok(());
    }
    let random = op.random(ssh::BYTES).await?;
    let Some(pair) = ssh::key_pair(&random, "Generated-by-Kiln") else {
        return Err(OpError::failed(
            FailureClass::InternalError,
            "there was not enough randomness for a key",
        ));
    };
    if saves(op) {
        op.set_data(PRIVATE, Value::Secret(Secret::new(pair.private.into())));
    }
    op.set_data(PUBLIC, pair.public);
    Ok(())
}

fn saves(op: &Op) -> bool {
    op.prop("save_private_key").equals(&Value::Bool(true))
}

fn fields(op: &Op) -> Json {
    let mut fields = json!({ "name": name(op) });
    let made = op.data(PUBLIC).and_then(Value::as_text).map(|key| key.to_string());
    if let Some(key) = op.nonempty_text("public_key").map(|key| key.trim().to_owned()).or(made) {
        fields["public_key"] = key.into();
    }
    for (property, field) in [("type", "type"), ("user", "user_id")] {
        if let Some(text) = op.nonempty_text(property) {
            fields[field] = text.into();
        }
    }
    fields
}

/// Records the private key of a certificate, which the service generates and returns once.
fn keep_private_key(op: &mut Op, made: &Reply) -> Result<(), OpError> {
    let is_ours = op.nonempty_text("public_key").is_some() || op.data(PUBLIC).is_some();
    if is_ours || !saves(op) || op.data(PRIVATE).is_some() {
        return Ok(());
    }
    match made.text("/keypair/private_key") {
        Some(key) => {
            op.set_data(PRIVATE, Value::Secret(Secret::new(key.into())));
            Ok(())
        }
        None => Err(OpError::broken("the reply with the private key was lost")),
    }
}

async fn show(op: &mut Op) -> Result<(), OpError> {
    let shown = op.read(look(op)).await?;
    let pair = &shown.body["keypair"];
    let is_new = op.data(NUMBER).is_none();
    if is_new && pair["id"].is_number() {
        op.set_data(NUMBER, pair["id"].to_string());
    }
    op.set_remote(wire::value(pair));
    Ok(())
}

/// Creates the key pair again on a rollback, if the replacement has taken its name.
async fn come_back(op: &mut Op) -> Result<(), OpError> {
    let journal = &op.context().journal;
    let is_begun = [ROOM, "create"].iter().any(|step| journal.step(step).is_some());
    if is_begun || is_ours(op).await? != Some(true) {
        // The one that has the name now is not this resource's.
        op.clear_id();
        return create(op).await;
    }
    show(op).await
}

/// Whether the key pair of this name belongs to the resource; `None` if there is none.
async fn is_ours(op: &mut Op) -> Result<Option<bool>, OpError> {
    match op.read(look(op)).await {
        Ok(shown) => {
            let number = Value::from(shown.body["keypair"]["id"].to_string());
            Ok(Some(op.data(NUMBER).is_none_or(|known| known.equals(&number))))
        }
        Err(stop) if stop.is_not_found() => Ok(None),
        Err(stop) => Err(stop),
    }
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    if is_ours(op).await? == Some(true) {
        let call = delete(Service::Compute, CallPath::from(PATH).id(name(op)));
        let call = for_user(op, call);
        op.remove("delete", call).await?;
    }
    op.clear_id();
    Ok(())
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let answer = match name {
        "private_key" => view.data.get(PRIVATE).cloned().unwrap_or_else(|| "".into()),
        "public_key" => {
            let given = view.properties.get("public_key").filter(|key| !key.is_null());
            given.or_else(|| view.data.get(PUBLIC)).cloned().unwrap_or_else(|| {
                let shown = view.remote.as_map().and_then(|shown| shown.get("public_key"));
                shown.cloned().unwrap_or_default()
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}
