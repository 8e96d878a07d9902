//! OS::Cinder::Quota: the limits on volumes, snapshots and backups of a project.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::types::quotas;
use kiln_cloud::get;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Cinder::Quota")
        .about("The limits on volumes, snapshots and backups of a project.")
        .service(Service::Volume)
        .extension("os-quota-sets")
        .entity("quotas")
        .since("7.0.0")
        .props([
            prop(
                "backup_gigabytes",
                Int,
                "Total size in GiB that backups may have; -1 means unlimited.",
            )
            .updatable()
            .min(-1)
            .since("16.0.0"),
            prop("backups", Int, "Largest number of volume backups; -1 means unlimited.")
                .updatable()
                .min(-1)
                .since("16.0.0"),
            prop(
                "gigabytes",
                Int,
                "Total size in GiB that volumes and snapshots may have; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop("project", Str, "Name or ID of the project that the limits apply to.")
                .required()
                .is(PROJECT)
                .by_name(),
            prop("snapshots", Int, "Largest number of volume snapshots; -1 means unlimited.")
                .updatable()
                .min(-1),
            prop("volumes", Int, "Largest number of volumes; -1 means unlimited.")
                .updatable()
                .min(-1),
        ])
        .check(quotas::check)
        .creates(|op| Box::pin(set(op)))
        .updates(|op| Box::pin(set(op)))
        .deletes(|op| Box::pin(reset(op)))
        .on(OperationKind::Check, |op| Box::pin(look(op)))
}

const PATH: &str = "/os-quota-sets";

async fn set(op: &mut Op) -> Result<(), OpError> {
    check_use(op).await?;
    let call = quotas::setting(op, Service::Volume, PATH, "quota_set");
    quotas::set(op, call, "quota_set").await
}

/// A limit below what is in use already is a mistake.
async fn check_use(op: &mut Op) -> Result<(), OpError> {
    let path = format!("{PATH}/{}", quotas::project(op));
    let shown = op.read(get(Service::Volume, path).query("usage", "True")).await?;
    for (name, limit) in op.context().properties.iter() {
        let used = shown.body["quota_set"][&**name]["in_use"].as_i64().unwrap_or_default();
        if quotas::is_below(limit, used) {
            let message = format!("The limit on {name} is below what is in use: {used}");
            return Err(OpError::failed(FailureClass::ValueError, message));
        }
    }
    Ok(())
}

async fn reset(op: &mut Op) -> Result<(), OpError> {
    quotas::reset(op, Service::Volume, PATH).await
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    quotas::look(op, Service::Volume, PATH, "quota_set").await
}
