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
            prop("cores", Int).updatable().min(-1),
            prop("fixed_ips", Int).updatable().min(-1),
            prop("floating_ips", Int).updatable().min(-1),
            prop("injected_file_content_bytes", Int)
                .updatable()
                .min(-1)
                .deprecated("14.0.0")
                .note("The compute API has no such limit since microversion 2.57."),
            prop("injected_file_path_bytes", Int)
                .updatable()
                .min(-1)
                .deprecated("14.0.0")
                .note("The compute API has no such limit since microversion 2.57."),
            prop("injected_files", Int)
                .updatable()
                .min(-1)
                .deprecated("14.0.0")
                .note("The compute API has no such limit since microversion 2.57."),
            prop("instances", Int).updatable().min(-1),
            prop("key_pairs", Int).updatable().min(-1),
            prop("metadata_items", Int).updatable().min(-1),
            prop("project", Str).required().is("keystone.project").by_name(),
            prop("ram", Int).updatable().min(-1),
            prop("security_group_rules", Int).updatable().min(-1),
            prop("security_groups", Int).updatable().min(-1),
            prop("server_group_members", Int).updatable().min(-1),
            prop("server_groups", Int).updatable().min(-1),
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
