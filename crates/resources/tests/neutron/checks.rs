//! Properties that do not go together.

use crate::rest_world::{filled, kind};
use crate::stack::members;

/// A type, properties, and what is told of them; nothing if they are good.
const CHECKS: &[(&str, &str, &str)] = &[
    ("OS::Neutron::Net", r#"{"value_specs": {"a": 1}}"#, ""),
    (
        "OS::Neutron::Net",
        r#"{"value_specs": {"tenant_id": 1, "a": 1, "name": 2}}"#,
        "tenant_id, name not allowed in value_specs",
    ),
    ("OS::Neutron::Subnet", r#"{"cidr": "10.0.0.0/24", "gateway_ip": "auto"}"#, ""),
    (
        "OS::Neutron::Subnet",
        r#"{"cidr": "10.0.0.0/24", "subnetpool": "p"}"#,
        "Cannot define the following properties at the same time: subnetpool, cidr.",
    ),
    (
        "OS::Neutron::Subnet",
        "{}",
        "At least one of the following properties must be specified: subnetpool, cidr.",
    ),
    (
        "OS::Neutron::Subnet",
        r#"{"cidr": "10.0.0.0/24", "prefixlen": 24}"#,
        "Cannot define the following properties at the same time: prefixlen, cidr.",
    ),
    (
        "OS::Neutron::Subnet",
        r#"{"cidr": "10.0.0.0/24", "ipv6_ra_mode": "slaac"}"#,
        "ipv6_ra_mode and ipv6_address_mode are not supported for ipv4.",
    ),
    (
        "OS::Neutron::Subnet",
        r#"{"cidr": "::/64", "ip_version": 6, "ipv6_ra_mode": "slaac", "ipv6_address_mode": "dhcpv6-stateful"}"#,
        "When both ipv6_ra_mode and ipv6_address_mode are set, they must be equal.",
    ),
    (
        "OS::Neutron::Subnet",
        r#"{"cidr": "10.0.0.0/24", "gateway_ip": "x"}"#,
        "Gateway IP address \"x\" is in invalid format.",
    ),
    (
        "OS::Neutron::Port",
        r#"{"fixed_ips": [{"ip_address": "10.0.0.4"}], "no_fixed_ips": true}"#,
        "Cannot define the following properties at the same time: fixed_ips, no_fixed_ips.",
    ),
    (
        "OS::Neutron::Router",
        r#"{"distributed": true, "l3_agent_ids": ["a"]}"#,
        "Cannot define the following properties at the same time: distributed, l3_agent_id/l3_agent_ids.",
    ),
    (
        "OS::Neutron::Router",
        r#"{"distributed": true, "ha": true}"#,
        "Cannot define the following properties at the same time: distributed, ha.",
    ),
    (
        "OS::Neutron::Router",
        r#"{"l3_agent_ids": ["a", "b"]}"#,
        "Non HA routers can only have one L3 agent.",
    ),
    (
        "OS::Neutron::RouterInterface",
        r#"{"subnet": "a", "port": "b"}"#,
        "Cannot define the following properties at the same time: subnet, port.",
    ),
    (
        "OS::Neutron::RouterInterface",
        "{}",
        "At least one of the following properties must be specified: subnet, port.",
    ),
    (
        "OS::Neutron::FloatingIP",
        r#"{"fixed_ip_address": "10.0.0.4"}"#,
        "fixed_ip_address cannot be specified without port_id.",
    ),
    (
        "OS::Neutron::SecurityGroup",
        r#"{"name": "default"}"#,
        "Security groups cannot be assigned the name \"default\".",
    ),
    (
        "OS::Neutron::SecurityGroupRule",
        r#"{"port_range_min": 80, "port_range_max": 22}"#,
        "The minimum port number must be less than or equal to the maximum port number.",
    ),
    (
        "OS::Neutron::SecurityGroupRule",
        r#"{"port_range_min": 8, "port_range_max": 3, "protocol": "icmp"}"#,
        "",
    ),
    (
        "OS::Neutron::Segment",
        r#"{"network_type": "vlan", "segmentation_id": 5}"#,
        "physical_network is required for vlan provider network.",
    ),
    (
        "OS::Neutron::Segment",
        r#"{"network_type": "flat", "physical_network": "p", "segmentation_id": 5}"#,
        "segmentation_id is prohibited for flat provider network.",
    ),
    (
        "OS::Neutron::Segment",
        r#"{"network_type": "vlan", "physical_network": "p", "segmentation_id": 5000}"#,
        "Up to 4094 VLAN network segments can exist on each physical_network.",
    ),
    (
        "OS::Neutron::ProviderNet",
        r#"{"network_type": "flat", "segmentation_id": "5"}"#,
        "segmentation_id not allowed for network types: local, flat",
    ),
    (
        "OS::Neutron::ProviderNet",
        r#"{"network_type": "gre", "physical_network": "p"}"#,
        "physical_network not allowed for network types: vxlan, gre, geneve, flat",
    ),
    (
        "OS::Neutron::SubnetPool",
        r#"{"min_prefixlen": 24, "max_prefixlen": 16}"#,
        "Illegal prefix bounds: max_prefixlen=16, min_prefixlen=24.",
    ),
    (
        "OS::Neutron::SubnetPool",
        r#"{"min_prefixlen": 24, "default_prefixlen": 16}"#,
        "Illegal prefix bounds: min_prefixlen=24, default_prefixlen=16.",
    ),
    (
        "OS::Neutron::RBACPolicy",
        r#"{"action": "access_as_external", "object_type": "qos_policy"}"#,
        "Invalid action \"access_as_external\" for object type qos_policy. Valid actions: access_as_shared",
    ),
    (
        "OS::Neutron::Quota",
        r#"{"project": "p"}"#,
        "At least one of the following properties must be specified: floatingip, network, port, rbac_policy, \
         router, security_group, security_group_rule, subnet, subnetpool.",
    ),
    (
        "OS::Neutron::NetworkGateway",
        r#"{"connections": [{"network": "n", "segmentation_type": "vlan"}]}"#,
        "segmentation_id must be specified for using vlan",
    ),
    (
        "AWS::EC2::EIPAssociation",
        r#"{"InstanceId": "i"}"#,
        "Either 'EIP' or 'AllocationId' must be provided.",
    ),
    (
        "AWS::EC2::EIPAssociation",
        r#"{"EIP": "192.0.2.1", "NetworkInterfaceId": "p"}"#,
        "Must specify 'InstanceId' if you specify 'EIP'.",
    ),
    (
        "AWS::EC2::EIPAssociation",
        r#"{"AllocationId": "a"}"#,
        "At least one of the following properties must be specified: InstanceId, NetworkInterfaceId.",
    ),
];

#[test]
fn properties_that_do_not_go_together_are_refused() {
    for (name, given, told) in CHECKS {
        let kind = kind(name);
        let check = kind.check.unwrap_or_else(|| panic!("{name} checks nothing"));
        let answer = check(&filled(&kind, &members(given))).err();
        let answer = answer.map(|refusal| refusal.message).unwrap_or_default();
        assert_eq!(answer, *told, "{name} {given}");
    }
}
