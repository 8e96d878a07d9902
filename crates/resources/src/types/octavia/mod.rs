//! Load balancers: `OS::Octavia::*`.

use crate::declare::ResourceType;

mod availability_zone;
mod availability_zone_profile;
mod common;
mod flavor;
mod flavor_profile;
mod health_monitor;
mod l7_policy;
mod l7_rule;
mod listener;
mod load_balancer;
mod pool;
mod pool_member;
mod quota;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        availability_zone::availability_zone(),
        availability_zone_profile::availability_zone_profile(),
        flavor::flavor(),
        flavor_profile::flavor_profile(),
        health_monitor::health_monitor(),
        l7_policy::l7_policy(),
        l7_rule::l7_rule(),
        listener::listener(),
        load_balancer::load_balancer(),
        pool::pool(),
        pool_member::pool_member(),
        quota::quota(),
    ]
}
