//! OS::Nova::FloatingIP: a floating IP address taken through the compute service.

use crate::declare::*;

pub(super) fn floating_ip() -> ResourceType {
    ResourceType::new("OS::Nova::FloatingIP")
        .about("A floating IP address taken through the compute service.")
        .since("2014.1")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Neutron::FloatingIP.")
        .props([prop("pool", Str)])
        .attrs([attr("ip", Str), attr("pool", Str)])
}
