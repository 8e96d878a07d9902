//! OS::Cinder::QoSAssociation: the tie between a set of quality-of-service values and volume types.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{items, open, text};
use kiln_cloud::{CallPath, get};
use kiln_template::print;

pub(super) fn qos_association() -> ResourceType {
    ResourceType::new("OS::Cinder::QoSAssociation")
        .about("The tie between a set of quality-of-service values and volume types.")
        .service(Service::Volume)
        .extension("qos-specs")
        .since("8.0.0")
        .props([
            prop("qos_specs", Str, "Name or ID of the quality-of-service specification.")
                .required()
                .is(QOS_SPECS)
                .by_name(),
            prop(
                "volume_types",
                List,
                "Names or IDs of the volume types to which the specification applies.",
            )
            .required()
            .updatable()
            .each(item(Str).is(VOLUME_TYPE).by_name()),
        ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

fn kinds(members: &Members) -> Vec<String> {
    items(members, "volume_types").iter().map(|kind| print::plain(open(kind))).collect()
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let specs = op.nonempty_text("qos_specs").unwrap_or_default().to_owned();
    for kind in kinds(&op.context().properties) {
        tie(op, &specs, &kind).await?;
    }
    let name = op.context().physical_name.clone();
    op.set_id(name);
    Ok(())
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let specs = op.nonempty_text("qos_specs").unwrap_or_default().to_owned();
    let (old, new) = (kinds(&op.context().previous_properties), kinds(&op.context().properties));
    for kind in old.iter().filter(|kind| !new.contains(kind)) {
        untie(op, &specs, kind).await?;
    }
    for kind in new.iter().filter(|kind| !old.contains(kind)) {
        tie(op, &specs, kind).await?;
    }
    Ok(())
}

async fn tie(op: &mut Op, specs: &str, kind: &str) -> Result<(), OpError> {
    // The service makes these changes on GET. They can be repeated.
    let call = get(Service::Volume, CallPath::from("/qos-specs").id(specs).then("/associate"));
    op.call(&format!("tie {kind}"), call.query("vol_type_id", kind)).await.map(drop)
}

async fn untie(op: &mut Op, specs: &str, kind: &str) -> Result<(), OpError> {
    let call = get(Service::Volume, CallPath::from("/qos-specs").id(specs).then("/disassociate"));
    op.remove(&format!("untie {kind}"), call.query("vol_type_id", kind)).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    // The objects may be deleted by now, and their associations with them, so names that are not found are
    // skipped.
    let properties = op.context().properties.clone();
    let specs = text(&properties, "qos_specs").unwrap_or_default();
    if let Some(specs) = found(op, QOS_SPECS, specs).await? {
        for kind in kinds(&properties) {
            if let Some(kind) = found(op, VOLUME_TYPE, &kind).await? {
                untie(op, &specs, &kind).await?;
            }
        }
    }
    op.clear_id();
    Ok(())
}

async fn found(op: &mut Op, kind: CustomConstraint, name: &str) -> Result<Option<String>, OpError> {
    match lookup::find_id(op, kind, name).await {
        Ok(id) => Ok(Some(id.to_string())),
        Err(OpError::Failed(it)) if it.class == FailureClass::EntityNotFound => Ok(None),
        Err(stop) => Err(stop),
    }
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let specs = op.nonempty_text("qos_specs").unwrap_or_default().to_owned();
    if let Some(specs) = found(op, QOS_SPECS, &specs).await? {
        return op
            .read(get(Service::Volume, CallPath::from("/qos-specs").id(specs)))
            .await
            .map(drop);
    }
    Err(OpError::failed(
        FailureClass::EntityNotFound,
        format!("The QoS specs ({specs}) could not be found."),
    ))
}
