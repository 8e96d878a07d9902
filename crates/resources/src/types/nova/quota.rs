//! OS::Nova::Quota: the limits on servers, processors, memory and other compute objects of a
//! project.

use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::types::quotas;
use kiln_cloud::Call;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Nova::Quota")
        .about("The limits on servers, processors, memory and other compute objects of a project.")
        .service(Service::Compute)
        .entity("quotas")
        .since("8.0.0")
        .props([
            prop(
                "cores",
                Int,
                "Largest number of virtual CPUs of all servers together; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop(
                "fixed_ips",
                Int,
                "Largest number of fixed IP addresses of all servers; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop(
                "floating_ips",
                Int,
                "Largest number of floating IP addresses; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop(
                "injected_file_content_bytes",
                Int,
                "Largest size in bytes of a file injected into a server; -1 means unlimited.",
            )
            .updatable()
            .min(-1)
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            prop(
                "injected_file_path_bytes",
                Int,
                "Longest path in bytes of a file injected into a server; -1 means unlimited.",
            )
            .updatable()
            .min(-1)
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            prop(
                "injected_files",
                Int,
                "Largest number of files injected into a server; -1 means unlimited.",
            )
            .updatable()
            .min(-1)
            .deprecated("14.0.0")
            .note("The compute API has no such limit since microversion 2.57."),
            prop("instances", Int, "Largest number of servers; -1 means unlimited.")
                .updatable()
                .min(-1),
            prop("key_pairs", Int, "Largest number of key pairs per user; -1 means unlimited.")
                .updatable()
                .min(-1),
            prop(
                "metadata_items",
                Int,
                "Largest number of metadata entries per server; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop("project", Str, "Name or ID of the project that the limits apply to.")
                .required()
                .is(PROJECT)
                .by_name(),
            prop("ram", Int, "Memory in MiB of all servers together; -1 means unlimited.")
                .updatable()
                .min(-1),
            prop(
                "security_group_rules",
                Int,
                "Largest number of rules per security group; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop("security_groups", Int, "Largest number of security groups; -1 means unlimited.")
                .updatable()
                .min(-1),
            prop(
                "server_group_members",
                Int,
                "Largest number of servers in a server group; -1 means unlimited.",
            )
            .updatable()
            .min(-1),
            prop("server_groups", Int, "Largest number of server groups; -1 means unlimited.")
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

/// The limits that later versions of the API do not know, and the last version that does.
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
    let call = versioned(op, quotas::setting(op, Service::Compute, PATH, "quota_set"));
    quotas::set(op, call, "quota_set").await
}

async fn reset(op: &mut Op) -> Result<(), OpError> {
    quotas::reset(op, Service::Compute, PATH).await
}

async fn look(op: &mut Op) -> Result<(), OpError> {
    quotas::look(op, Service::Compute, PATH, "quota_set").await
}
