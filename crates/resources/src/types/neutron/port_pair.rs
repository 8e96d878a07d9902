//! OS::Neutron::PortPair: the ports through which traffic enters and leaves a service function.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn port_pair() -> ResourceType {
    ResourceType::new("OS::Neutron::PortPair")
        .about("The ports through which traffic enters and leaves a service function.")
        .service(Service::Network)
        .unsupported("7.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("egress", Str).required().is("neutron.port").by_name(),
            prop("ingress", Str).required().is("neutron.port").by_name(),
            prop("name", Str).updatable(),
            prop("service_function_parameters", Map).default(map([("correlation", Value::Null)])),
        ])
        .rest(rest_spec("/sfc/port_pairs", "port_pair"))
}
