//! Networks and all that belongs to them: `OS::Neutron::*`.

use crate::declare::ResourceType;

pub(crate) use common::differs;
pub(crate) use fragments::port_settings;
pub(crate) use router_gateway::gateway;
pub(crate) use security_group::{have_rules, push};

mod address_scope;
pub(crate) mod addresses;
mod common;
mod extra_route;
mod extra_route_set;
mod firewall;
mod firewall_policy;
mod firewall_rule;
mod floating_ip;
mod floating_ip_association;
mod floating_ip_port_forward;
mod flow_classifier;
mod fragments;
mod health_monitor;
mod ike_policy;
mod ipsec_policy;
mod ipsec_site_connection;
mod l2_gateway;
mod l2_gateway_connection;
mod lbaas_health_monitor;
mod lbaas_l7_policy;
mod lbaas_l7_rule;
mod lbaas_listener;
mod lbaas_load_balancer;
mod lbaas_pool;
mod lbaas_pool_member;
mod load_balancer;
mod metering_label;
mod metering_rule;
mod net;
mod network_gateway;
mod pool;
mod pool_member;
mod port;
mod port_chain;
mod port_pair;
mod port_pair_group;
mod prefixes;
mod provider_net;
mod qos_bandwidth_limit_rule;
mod qos_dscp_marking_rule;
mod qos_minimum_bandwidth_rule;
mod qos_minimum_packet_rate_rule;
mod qos_policy;
mod quota;
mod rbac_policy;
mod router;
mod router_gateway;
mod router_interface;
mod routes;
mod security_group;
mod security_group_rule;
mod segment;
mod subnet;
mod subnet_pool;
mod taas_tap_flow;
mod taas_tap_service;
mod trunk;
mod vpn_service;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        address_scope::address_scope(),
        extra_route::extra_route(),
        extra_route_set::extra_route_set(),
        firewall::firewall(),
        firewall_policy::firewall_policy(),
        firewall_rule::firewall_rule(),
        floating_ip::floating_ip(),
        floating_ip_association::floating_ip_association(),
        floating_ip_port_forward::floating_ip_port_forward(),
        flow_classifier::flow_classifier(),
        health_monitor::health_monitor(),
        ike_policy::ike_policy(),
        ipsec_policy::ipsec_policy(),
        ipsec_site_connection::ipsec_site_connection(),
        l2_gateway::l2_gateway(),
        l2_gateway_connection::l2_gateway_connection(),
        lbaas_health_monitor::lbaas_health_monitor(),
        lbaas_l7_policy::lbaas_l7_policy(),
        lbaas_l7_rule::lbaas_l7_rule(),
        lbaas_listener::lbaas_listener(),
        lbaas_load_balancer::lbaas_load_balancer(),
        lbaas_pool::lbaas_pool(),
        lbaas_pool_member::lbaas_pool_member(),
        load_balancer::load_balancer(),
        metering_label::metering_label(),
        metering_rule::metering_rule(),
        net::net(),
        network_gateway::network_gateway(),
        pool::pool(),
        pool_member::pool_member(),
        port::port(),
        port_chain::port_chain(),
        port_pair::port_pair(),
        port_pair_group::port_pair_group(),
        provider_net::provider_net(),
        qos_bandwidth_limit_rule::qos_bandwidth_limit_rule(),
        qos_dscp_marking_rule::qos_dscp_marking_rule(),
        qos_minimum_bandwidth_rule::qos_minimum_bandwidth_rule(),
        qos_minimum_packet_rate_rule::qos_minimum_packet_rate_rule(),
        qos_policy::qos_policy(),
        quota::quota(),
        rbac_policy::rbac_policy(),
        router::router(),
        router_gateway::router_gateway(),
        router_interface::router_interface(),
        security_group::security_group(),
        security_group_rule::security_group_rule(),
        segment::segment(),
        subnet::subnet(),
        subnet_pool::subnet_pool(),
        taas_tap_flow::taas_tap_flow(),
        taas_tap_service::taas_tap_service(),
        trunk::trunk(),
        vpn_service::vpn_service(),
    ]
}
