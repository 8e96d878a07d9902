//! Load balancers in AWS terms: `AWS::ElasticLoadBalancing::*`.

use crate::declare::ResourceType;

mod haproxy;
mod load_balancer;
mod server;

/// The type of the balancers that groups of servers can name.
pub(crate) const LOAD_BALANCER: &str = "AWS::ElasticLoadBalancing::LoadBalancer";

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![load_balancer::load_balancer()]
}
