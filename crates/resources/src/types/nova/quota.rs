//! OS::Nova::Quota: the limits on servers, processors, memory and other compute objects of a
//! project.

use crate::declare::*;

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
}
