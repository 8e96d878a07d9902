//! OS::Cinder::Quota: the limits on volumes, snapshots and backups of a project.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::types::quotas::{self, limit, project_prop};
use kiln_cloud::get;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Cinder::Quota")
        .about("The limits on volumes, snapshots and backups of a project.")
        .service(Service::Volume)
        .extension("os-quota-sets")
        .entity("quotas")
        .since("7.0.0")
        .props([
            limit(
                "backup_gigabytes",
                "Total size in GiB that backups may have; -1 means unlimited.",
            )
            .since("16.0.0"),
            limit("backups", "Largest number of volume backups; -1 means unlimited.")
                .since("16.0.0"),
            limit(
                "gigabytes",
                "Total size in GiB that volumes and snapshots may have; -1 means unlimited.",
            ),
            project_prop(),
            limit("snapshots", "Largest number of volume snapshots; -1 means unlimited."),
            limit("volumes", "Largest number of volumes; -1 means unlimited."),
        ])
        .check(quotas::check)
        .creates(|op| Box::pin(set(op)))
        .updates(|op| Box::pin(set(op)))
        .deletes(|op| Box::pin(quotas::reset(op, Service::Volume)))
        .on(OperationKind::Check, |op| Box::pin(quotas::read(op, Service::Volume)))
}

async fn set(op: &mut Op) -> Result<(), OpError> {
    check_use(op).await?;
    let call = quotas::setting(op, Service::Volume);
    quotas::set(op, call).await
}

/// Refuses a limit below the current usage.
async fn check_use(op: &mut Op) -> Result<(), OpError> {
    let shown = op.read(get(Service::Volume, quotas::path(op)).query("usage", "True")).await?;
    for (name, limit) in op.context().properties.iter() {
        let used = shown.body[quotas::ENVELOPE][&**name]["in_use"].as_i64().unwrap_or_default();
        if quotas::is_below(limit, used) {
            let message = format!("The limit on {name} is below what is in use: {used}");
            return Err(OpError::failed(FailureClass::ValueError, message));
        }
    }
    Ok(())
}
