//! AWS::EC2::EIPAssociation: the tie between a floating IP address and a server or network
//! interface.

use crate::declare::*;

pub(super) fn eip_association() -> ResourceType {
    ResourceType::new("AWS::EC2::EIPAssociation")
        .about("The tie between a floating IP address and a server or network interface.")
        .service(Service::Compute)
        .props([
            prop("AllocationId", Str).updatable(),
            prop("EIP", Str).updatable().is("ip_addr"),
            prop("InstanceId", Str).updatable().is("nova.server"),
            prop("NetworkInterfaceId", Str).updatable(),
        ])
}
