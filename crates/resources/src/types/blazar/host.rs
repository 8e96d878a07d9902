//! OS::Blazar::Host: a compute host that may be reserved.

use crate::declare::*;
use crate::op::Op;
use crate::rest::{RestSpec, UpdateMethod};
use crate::wire;
use kiln_cloud::{Marker, get};
use kiln_template::functions::step_into_attribute;

pub(super) fn host() -> ResourceType {
    ResourceType::new("OS::Blazar::Host")
        .about("A compute host that may be reserved.")
        .service(Service::Reservation)
        .entity("host")
        .since("12.0.0")
        .props([prop("extra_capability", Map), prop("name", Str).required()])
        .attrs([
            attr("cpu_info", Map),
            attr("created_at", Str),
            attr("extra_capability", Map),
            attr("hypervisor_hostname", Str),
            attr("hypervisor_type", Str),
            attr("hypervisor_version", Int),
            attr("local_gb", Int),
            attr("memory_mb", Int),
            attr("reservable", Bool),
            attr("service_name", Str),
            attr("status", Str),
            attr("trust_id", Str),
            attr("updated_at", Str),
            attr("vcpus", Int),
        ])
        .attributes(|view, name, path| {
            if name != "extra_capability" {
                return Ok(None);
            }
            let given = view.properties.get(name).cloned().unwrap_or_default();
            Ok(Some(step_into_attribute(&given, path)))
        })
        .finder(by_name)
        .rest(
            RestSpec::new(Service::Reservation, "/os-hosts", "host")
                .bare_requests()
                .update_method(UpdateMethod::Never)
                .unsent(["extra_capability"])
                .adjust_fields(|op, _, fields| {
                    if let Some(extra) = wire::json(op.prop("extra_capability")).as_object() {
                        fields.extend(extra.clone());
                    }
                }),
        )
}

/// A host can be given once.
fn by_name(op: &Op) -> Option<Marker> {
    Some(Marker {
        list: get(Service::Reservation, "/os-hosts"),
        objects: "/hosts".into(),
        field: "/hypervisor_hostname".into(),
        value: op.text("name")?.into(),
        envelope: Some("host".into()),
        path: "/os-hosts/".into(),
        id: "/id".into(),
    })
}
