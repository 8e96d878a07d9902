//! OS::Designate::Zone: a DNS zone that the cloud's name servers answer for.

use super::common::{omit_empty, settled};
use crate::declare::*;
use crate::property_access::text;
use crate::refusals::may_be_given;
use crate::rest::{RestSpec, UpdateMethod};
use crate::types::fragments::description_prop;

pub(super) fn zone() -> ResourceType {
    ResourceType::new("OS::Designate::Zone")
        .about("A DNS zone that the cloud's name servers answer for.")
        .service(Service::Dns)
        .entity("zones")
        .since("8.0.0")
        .props([
            prop("attributes", Map, "Key-value pairs that help the service choose a pool of name servers.").since("24.0.0"),
            description_prop().updatable().max_length(160),
            prop("email", Str, "Address of the person responsible for the zone; needed for a primary one.").updatable(),
            // The service only has the older name.
            prop("masters", List, "Addresses of the servers that a secondary zone is transferred from.")
                .updatable()
                .replaces("primaries")
                .deprecated("15.0.0")
                .note("Use `primaries`."),
            prop("name", Str, "Domain name of the zone, ending with a dot.").required().max_length(255),
            prop("primaries", List, "Addresses of the servers that a secondary zone is transferred from.").updatable(),
            prop("ttl", Int, "Seconds for which resolvers may cache records that give no time themselves.").updatable().range(1, 2147483647),
            prop("type", Str, "Whether records are kept here (`PRIMARY`) or transferred from elsewhere (`SECONDARY`).").default("PRIMARY").one_of(["PRIMARY", "SECONDARY"]),
        ])
        .attrs([attr("serial", Str, "Serial number of the zone's current contents.")])
        .check(check)
        .rest(
            RestSpec::new(Service::Dns, "/zones", "")
                .list_envelope("zones")
                .unsent(["primaries"])
                .update_method(UpdateMethod::Patch)
                .mark_field("description")
                .marks_then_renames()
                .readiness(settled())
                .adjust_fields(omit_empty),
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
