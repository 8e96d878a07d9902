//! OS::Cinder::EncryptedVolumeType: the encryption that volumes of a volume type get.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup;
use crate::op::{Compared, FailureClass, Op, OpError};
use crate::wire;
use kiln_cloud::{CallPath, delete, get, post, put};
use serde_json::{Map, Value as Json, json};

pub(super) fn encrypted_volume_type() -> ResourceType {
    ResourceType::new("OS::Cinder::EncryptedVolumeType")
        .about("The encryption that volumes of a volume type get.")
        .service(Service::Volume)
        .extension("encryption")
        .entity("volume_encryption_types")
        .detects_drift()
        .since("5.0.0")
        .props([
            prop(
                "cipher",
                Str,
                "Algorithm and mode of the encryption; the provider's own choice if omitted.",
            )
            .updatable()
            .one_of(["aes-xts-plain64", "aes-cbc-essiv"]),
            prop(
                "control_location",
                Str,
                "Whether the compute service (`front-end`) or the storage (`back-end`) encrypts.",
            )
            .updatable()
            .default("front-end")
            .one_of(["front-end", "back-end"]),
            prop("key_size", Int, "Length of the encryption key in bits, such as 256.").updatable(),
            prop(
                "provider",
                Str,
                "Encryption format, such as `luks`, or class that carries it out.",
            )
            .required()
            .updatable(),
            prop("volume_type", Str, "Name or ID of the volume type whose volumes are encrypted.")
                .required()
                .is(VOLUME_TYPE),
        ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(show(op)))
        .observes(FIELDS, |op| Box::pin(observe(op)))
}

/// The properties that are fields of the encryption.
const FIELDS: &[&str] = &["cipher", "control_location", "key_size", "provider"];

fn path(kind: &str) -> CallPath {
    CallPath::from("/types").id(kind).then("/encryption")
}

fn own_path(op: &Op) -> CallPath {
    path(op.id().map_or("", |id| id))
}

fn fields(op: &Op, with_nulls: bool) -> Map<String, Json> {
    FIELDS
        .iter()
        .copied()
        .filter(|name| with_nulls || !op.prop(name).is_null())
        .map(|name| (name.to_owned(), wire::json(op.prop(name))))
        .collect()
}

/// Creates the encryption. A volume type has one at most, so the id is that of the type.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let kind = op.nonempty_text("volume_type").unwrap_or_default().to_owned();
    let kind = lookup::find_id(op, VOLUME_TYPE, &kind).await?;
    let body = json!({ "encryption": fields(op, false) });
    let call = post(Service::Volume, path(&kind), body).may_be_repeated();
    match op.call("create", call).await {
        // An interrupted attempt may have created it.
        Err(OpError::Failed(it))
            if matches!(it.class, FailureClass::BadRequest | FailureClass::Conflict)
                && is_as_wanted(op, &kind).await? => {}
        done => _ = done?,
    }
    op.set_id(kind);
    show(op).await
}

async fn is_as_wanted(op: &mut Op, kind: &str) -> Result<bool, OpError> {
    let shown = op.read(get(Service::Volume, path(kind))).await?;
    Ok(fields(op, false).iter().all(|(name, value)| shown.body.get(name) == Some(value)))
}

async fn show(op: &mut Op) -> Result<(), OpError> {
    let shown = op.read(get(Service::Volume, own_path(op))).await?;
    if shown.body["encryption_id"].is_null() {
        let message = "The volume type has no encryption any more";
        return Err(OpError::failed(FailureClass::NotFound, message));
    }
    op.set_remote(wire::value(&shown.body));
    Ok(())
}

async fn observe(op: &mut Op) -> Result<(), OpError> {
    show(op).await?;
    let shown = wire::json(op.remote());
    let mut compared = Compared::default();
    for (name, wanted) in fields(op, false) {
        compared.add(&name, &wanted, &shown[&*name]);
    }
    op.set_compared(compared);
    Ok(())
}

/// The path of the encryption; `None` if there is none.
async fn encryption(op: &mut Op) -> Result<Option<CallPath>, OpError> {
    match op.read(get(Service::Volume, own_path(op))).await {
        Ok(shown) => Ok(shown.text("/encryption_id").map(|id| own_path(op).id(id))),
        Err(stop) if stop.is_not_found() => Ok(None),
        Err(stop) => Err(stop),
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    if let Some(path) = encryption(op).await? {
        let body = json!({ "encryption": fields(op, true) });
        op.call("change", put(Service::Volume, path, body)).await?;
    }
    show(op).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    if let Some(path) = encryption(op).await? {
        op.remove("delete", delete(Service::Volume, path)).await?;
    }
    op.clear_id();
    Ok(())
}
