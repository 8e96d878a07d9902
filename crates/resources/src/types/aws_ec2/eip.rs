//! AWS::EC2::EIP: a floating IP address, optionally tied to a server.

use crate::declare::*;

pub(super) fn eip() -> ResourceType {
    ResourceType::new("AWS::EC2::EIP")
        .about("A floating IP address, optionally tied to a server.")
        .service(Service::Compute)
        .props([
            prop("Domain", Str)
                .one_of(["vpc"])
                .deprecated("9.0.0")
                .note("Every address is of the VPC kind; leave it out."),
            prop("InstanceId", Str).updatable().is("nova.server"),
        ])
        .attrs([attr("AllocationId", Str)])
}
