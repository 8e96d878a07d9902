//! OS::Keystone::Role: a role that users and groups can be assigned.

use super::common::rest_spec;
use crate::declare::*;
use crate::op::Op;
use crate::rest;
use kiln_cloud::Marker;

pub(super) fn role() -> ResourceType {
    ResourceType::new("OS::Keystone::Role")
        .about("A role that users and groups can be assigned.")
        .service(Service::Identity)
        .entity("roles")
        .since("2015.1")
        .props([
            prop(
                "domain",
                Str,
                "Name or ID of the domain that the role is limited to; the whole cloud if omitted.",
            )
            .is(DOMAIN)
            .by_name()
            .since("16.0.0"),
            prop(
                "name",
                Str,
                "Name of the role; made from the stack and resource names if omitted.",
            )
            .updatable(),
        ])
        .finder(marker)
        .rest(rest_spec("/roles", "role").field("domain", "domain_id"))
}

/// Finds the role in its domain; Keystone lists the roles of a domain only with that filter.
fn marker(op: &Op) -> Option<Marker> {
    let mut marker = rest::marker(op)?;
    if let Some(domain) = op.text("domain") {
        marker.list = marker.list.query("domain_id", domain);
    }
    Some(marker)
}
