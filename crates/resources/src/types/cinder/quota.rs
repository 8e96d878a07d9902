//! OS::Cinder::Quota: the limits on volumes, snapshots and backups of a project.

use crate::declare::*;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Cinder::Quota")
        .about("The limits on volumes, snapshots and backups of a project.")
        .service(Service::Volume)
        .extension("os-quota-sets")
        .entity("quotas")
        .since("7.0.0")
        .props([
            prop("backup_gigabytes", Int).updatable().min(-1).since("16.0.0"),
            prop("backups", Int).updatable().min(-1).since("16.0.0"),
            prop("gigabytes", Int).updatable().min(-1),
            prop("project", Str).required().is("keystone.project").by_name(),
            prop("snapshots", Int).updatable().min(-1),
            prop("volumes", Int).updatable().min(-1),
        ])
}
