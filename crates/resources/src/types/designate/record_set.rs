//! OS::Designate::RecordSet: all records of one name and type in a DNS zone.

use super::common::{omit_empty, settled};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::rest::{self, RestSpec};
use crate::types::fragments::description_prop;
use kiln_cloud::{CallPath, get};

pub(super) fn record_set() -> ResourceType {
    ResourceType::new("OS::Designate::RecordSet")
        .about("All records of one name and type in a DNS zone.")
        .service(Service::Dns)
        .entity("recordsets")
        .since("8.0.0")
        .props([
            description_prop().updatable().max_length(160),
            prop("name", Str, "Fully qualified domain name of the records, ending with a dot.")
                .max_length(255),
            prop("records", List, "Values of the records, in the form that their type asks for.")
                .required()
                .updatable(),
            prop(
                "ttl",
                Int,
                "Seconds for which resolvers may cache the records; the zone's value if omitted.",
            )
            .updatable()
            .range(1, 2147483647),
            prop("type", Str, "DNS record type, such as `A`, `CNAME` or `MX`.").required().one_of(
                [
                    "A", "AAAA", "CNAME", "MX", "SRV", "TXT", "SPF", "NS", "PTR", "SSHFP", "SOA",
                    "CAA", "CERT", "NAPTR",
                ],
            ),
            prop("zone", Str, "Zone that the records belong to, by name or ID.")
                .required()
                .is(ZONE),
        ])
        .creates(|op| Box::pin(create(op)))
        .rest(
            RestSpec::new(Service::Dns, "/zones/{zone}/recordsets", "")
                .unsent(["name"])
                .list_envelope("recordsets")
                .finds("zone", ZONE)
                .mark_field("description")
                .marks_then_renames()
                .readiness(settled())
                .adjust_fields(omit_empty),
        )
}

/// Creates the records. If the template gives them no name, they get one in the zone.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields = rest::new_fields(op, &spec);
    let name = match op.nonempty_text("name") {
        Some(name) => name.to_owned(),
        None => {
            let zone = CallPath::from("/zones").id(op.text("zone").unwrap_or_default());
            let zone = op.read(get(Service::Dns, zone)).await?;
            format!("{}.{}", op.context().physical_name, zone.text("/name").unwrap_or_default())
        }
    };
    fields.insert("name".into(), name.into());
    rest::create_with(op, fields).await
}
