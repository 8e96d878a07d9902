//! OS::Manila::SecurityService: the directory service against which users of shares are
//! authenticated.

use crate::declare::*;
use crate::rest::RestSpec;

pub(super) fn security_service() -> ResourceType {
    ResourceType::new("OS::Manila::SecurityService")
        .about("The directory service against which users of shares are authenticated.")
        .service(Service::Share)
        .entity("security_services")
        .since("5.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("dns_ip", Str).updatable(),
            prop("domain", Str).updatable(),
            prop("name", Str).updatable(),
            prop("password", Str).updatable(),
            prop("server", Str).updatable(),
            prop("type", Str).required().one_of(["ldap", "kerberos", "active_directory"]),
            prop("user", Str).updatable(),
        ])
        .rest(
            RestSpec::new(Service::Share, "/security-services", "security_service")
                .list_suffix("/detail")
                .mark_field("description")
                .marks_then_renames(),
        )
}
