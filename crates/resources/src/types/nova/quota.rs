//! OS::Nova::Quota: the limits on servers, processors, memory and other compute objects of a
//! project.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::types::quotas::{self, limit, project_prop};
use kiln_cloud::Call;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Nova::Quota")
        .about("The limits on servers, processors, memory and other compute objects of a project.")
        .service(Service::Compute)
        .entity("quotas")
        .since("8.0.0")
        .props([
            limit(
                "cores",
                "Largest number of virtual CPUs of all servers together; -1 means unlimited.",
            ),
            limit(
                "fixed_ips",
                "Largest number of fixed IP addresses of all servers; -1 means unlimited.",
            ),
            limit("floating_ips", "Largest number of floating IP addresses; -1 means unlimited."),
            limit(
                "injected_file_content_bytes",
                "Largest size in bytes of a file injected into a server; -1 means unlimited.",
            )
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            limit(
                "injected_file_path_bytes",
                "Longest path in bytes of a file injected into a server; -1 means unlimited.",
            )
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            limit(
                "injected_files",
                "Largest number of files injected into a server; -1 means unlimited.",
            )
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            limit("instances", "Largest number of servers; -1 means unlimited."),
            limit("key_pairs", "Largest number of key pairs per user; -1 means unlimited."),
            limit(
                "metadata_items",
                "Largest number of metadata entries per server; -1 means unlimited.",
            ),
            project_prop(),
            limit("ram", "Memory in MiB of all servers together; -1 means unlimited."),
            limit(
                "security_group_rules",
                "Largest number of rules per security group; -1 means unlimited.",
            ),
            limit("security_groups", "Largest number of security groups; -1 means unlimited."),
            limit(
                "server_group_members",
                "Largest number of servers in a server group; -1 means unlimited.",
            ),
            limit("server_groups", "Largest number of server groups; -1 means unlimited."),
        ])
        .check(quotas::check)
        .creates(|op| Box::pin(set(op)))
        .updates(|op| Box::pin(set(op)))
        .deletes(|op| Box::pin(quotas::reset(op, Service::Compute)))
        .on(OperationKind::Check, |op| Box::pin(quotas::read(op, Service::Compute)))
}

/// The last microversion with limits that later ones have removed, and these limits.
const OLDER: [(&str, &[&str]); 2] = [
    ("2.35", &["fixed_ips", "floating_ips", "security_group_rules", "security_groups"]),
    ("2.56", &["injected_file_content_bytes", "injected_file_path_bytes", "injected_files"]),
];

fn versioned(op: &Op, call: Call) -> Call {
    let is_given = |names: &[&str]| names.iter().any(|name| !op.prop(name).is_null());
    match OLDER.iter().find(|(_, names)| is_given(names)) {
        Some((version, _)) => call.microversion(*version),
        None => call,
    }
}

async fn set(op: &mut Op) -> Result<(), OpError> {
    let call = versioned(op, quotas::setting(op, Service::Compute));
    quotas::set(op, call).await
}
