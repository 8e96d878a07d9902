//! OS::Neutron::PortPair: the ports through which traffic enters and leaves a service function.

use super::common::rest_spec;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop};

pub(super) fn port_pair() -> ResourceType {
    ResourceType::new("OS::Neutron::PortPair")
        .about("The ports through which traffic enters and leaves a service function.")
        .service(Service::Network)
        .unsupported("7.0.0")
        .props([
            description_prop().updatable(),
            prop("egress", Str, "Port by which traffic leaves the service function, by name or ID.").required().is(PORT).by_name(),
            prop("ingress", Str, "Port by which traffic enters the service function, by name or ID.").required().is(PORT).by_name(),
            name_prop().updatable(),
            prop("service_function_parameters", Map, "Settings of the service function, such as the `correlation` method it understands.").default(map([("correlation", Value::Null)])),
        ])
        .rest(rest_spec("/sfc/port_pairs", "port_pair"))
}
