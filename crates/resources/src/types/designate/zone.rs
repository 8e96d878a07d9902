//! OS::Designate::Zone: a DNS zone that the cloud's name servers answer for.

use super::common::settled;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::property_access::text;
use crate::refusals::may_be_given;
use crate::rest::{RestSpec, UpdateMethod};

pub(super) fn zone() -> ResourceType {
    ResourceType::new("OS::Designate::Zone")
        .about("A DNS zone that the cloud's name servers answer for.")
        .service(Service::Dns)
        .entity("zones")
        .since("8.0.0")
        .props([
            prop("attributes", Map).since("24.0.0"),
            prop("description", Str).updatable().max_length(160),
            prop("email", Str).updatable(),
            // The service knows them by the older name.
            prop("masters", List)
                .updatable()
                .replaces("primaries")
                .deprecated("15.0.0")
                .note("Use `primaries`."),
            prop("name", Str).required().max_length(255),
            prop("primaries", List).updatable(),
            prop("ttl", Int).updatable().range(1, 2147483647),
            prop("type", Str).default("PRIMARY").one_of(["PRIMARY", "SECONDARY"]),
        ])
        .attrs([attr("serial", Str)])
        .check(check)
        .rest(
            RestSpec::new(Service::Dns, "/zones", "")
                .list_envelope("zones")
                .unsent(["primaries"])
                .update_method(UpdateMethod::Patch)
                .mark_field("description")
                .marks_then_renames()
                .readiness(settled())
                .adjust_fields(|_, operation, fields| {
                    if operation == OperationKind::Update {
                        // The service takes no empty values.
                        fields.retain(|_, value| !value.is_null() && value != "");
                    }
                }),
        )
}

fn check(members: &Members) -> Result<(), PropertyError> {
    for (kind, wanted) in [("PRIMARY", "email"), ("SECONDARY", "masters")] {
        if text(members, "type") == Some(kind) && !may_be_given(members, wanted) {
            let message = format!("Property {wanted} is required for zone type {kind}");
            return Err(PropertyError::new(message));
        }
    }
    Ok(())
}
