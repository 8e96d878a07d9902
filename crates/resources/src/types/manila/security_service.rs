//! OS::Manila::SecurityService: the directory service against which users of shares are
//! authenticated.

use crate::declare::*;
use crate::rest::RestSpec;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn security_service() -> ResourceType {
    ResourceType::new("OS::Manila::SecurityService")
        .about("The directory service against which users of shares are authenticated.")
        .service(Service::Share)
        .entity("security_services")
        .since("5.0.0")
        .props([
            description_prop().updatable(),
            prop("dns_ip", Str, "Address of the name server used inside the project's network.")
                .updatable(),
            prop("domain", Str, "Domain or realm of the directory service.").updatable(),
            name_prop().updatable(),
            prop("password", Str, "Password of the account in `user`.").updatable(),
            prop("server", Str, "Address or host name of the directory server.").updatable(),
            prop(
                "type",
                Str,
                "Kind of directory service: `ldap`, `kerberos` or `active_directory`.",
            )
            .required()
            .one_of(["ldap", "kerberos", "active_directory"]),
            prop("user", Str, "Account with which share servers sign in to the directory.")
                .updatable(),
        ])
        .rest(
            RestSpec::new(Service::Share, "/security-services", "security_service")
                .list_suffix("/detail")
                .mark_field("description")
                .marks_then_renames(),
        )
}
