//! AWS::EC2::InternetGateway: a name for the way out of a VPC, which becomes real once it is
//! attached.

use super::key_value;
use crate::declare::*;

pub(super) fn internet_gateway() -> ResourceType {
    ResourceType::new("AWS::EC2::InternetGateway")
        .about("A name for the way out of a VPC, which becomes real once it is attached.")
        .props([prop("Tags", List, "Key and value labels of the gateway; tags are not supported.")
            .each(key_value().unimplemented())])
        .without_object()
}
