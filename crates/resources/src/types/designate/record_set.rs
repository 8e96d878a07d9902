//! OS::Designate::RecordSet: all records of one name and type in a DNS zone.

use super::common::settled;
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::rest::RestSpec;

pub(super) fn record_set() -> ResourceType {
    ResourceType::new("OS::Designate::RecordSet")
        .about("All records of one name and type in a DNS zone.")
        .service(Service::Dns)
        .entity("recordsets")
        .since("8.0.0")
        .props([
            prop("description", Str).updatable().max_length(160),
            prop("name", Str).max_length(255),
            prop("records", List).required().updatable(),
            prop("ttl", Int).updatable().range(1, 2147483647),
            prop("type", Str).required().one_of([
                "A", "AAAA", "CNAME", "MX", "SRV", "TXT", "SPF", "NS", "PTR", "SSHFP", "SOA",
                "CAA", "CERT", "NAPTR",
            ]),
            prop("zone", Str).required().is("designate.zone"),
        ])
        .rest(
            RestSpec::new(Service::Dns, "/zones/{zone}/recordsets", "")
                .list_envelope("recordsets")
                .finds("zone", "designate.zone")
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
