//! Load balancers in AWS terms: `AWS::ElasticLoadBalancing::*`.

use crate::declare::ResourceType;

mod haproxy;
mod load_balancer;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![load_balancer::load_balancer()]
}
