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
        .props([prop("extra_capability", Map, "Further properties of the host by which leases can choose it, as keys with values."), prop("name", Str, "Host name of the hypervisor that is made reservable.").required()])
        .attrs([
            attr("cpu_info", Map, "Model, features and topology of the processors of the host."),
            attr("created_at", Str, "Time at which the host was made reservable."),
            attr("extra_capability", Map, "Further properties by which leases can choose the host, as given in the template."),
            attr("hypervisor_hostname", Str, "Host name of the hypervisor in the compute service."),
            attr("hypervisor_type", Str, "Kind of hypervisor that runs on the host, such as `QEMU`."),
            attr("hypervisor_version", Int, "Version of the hypervisor software, as a number."),
            attr("local_gb", Int, "Size of the local disk of the host in GiB."),
            attr("memory_mb", Int, "Memory of the host in MiB."),
            attr("reservable", Bool, "Whether new leases may include the host."),
            attr("service_name", Str, "Name of the compute service on the host."),
            attr("status", Str, "State of the host in the reservation service."),
            attr("trust_id", Str, "ID of the trust with which the reservation service acts on the host."),
            attr("updated_at", Str, "Time of the last change to the host."),
            attr("vcpus", Int, "Number of virtual CPUs that the host offers."),
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

/// Finds the host by its name: the service has each host once.
fn by_name(op: &Op) -> Option<Marker> {
    Some(Marker {
        list: get(Service::Reservation, "/os-hosts"),
        objects: "/hosts".into(),
        field: "/hypervisor_hostname".into(),
        value: op.text("name")?.into(),
        envelope: Some("host".into()),
        path: "/os-hosts".into(),
        id: "/id".into(),
    })
}
