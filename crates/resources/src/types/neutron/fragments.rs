//! Parts that the declarations of several network types share.

use super::common::VALUE_SPECS;
use crate::declare::*;
use crate::types::fragments::{admin_state_up_prop, tags_prop};

/// Whether all projects may use the object.
pub(super) fn shared_prop() -> Prop {
    prop("shared", Bool, "Whether all projects may use the object, not only its owner.")
}

/// Fields of the request for extensions that have no properties.
pub(super) fn value_specs_prop() -> Prop {
    prop(
        VALUE_SPECS,
        Map,
        "Further fields for the request, for extensions without properties of their own.",
    )
}

/// The network of an object.
pub(super) fn network_prop(description: &'static str) -> Prop {
    prop("network", Str, description)
        .required()
        .is(NETWORK)
        .by_name()
        .replaces("network_id")
        .since("2014.2")
}

/// The older property for the network of an object, which has only ids.
pub(super) fn network_id_prop(description: &'static str) -> Prop {
    prop("network_id", Str, description)
        .is(NETWORK)
        .deprecated("2014.2")
        .hidden("5.0.0")
        .note("Use `network`.")
}

/// The older property for the subnet of an object, which has only ids.
pub(super) fn subnet_id_prop(description: &'static str) -> Prop {
    prop("subnet_id", Str, description)
        .is(SUBNET)
        .deprecated("2014.2")
        .hidden("5.0.0")
        .note("Use `subnet`.")
}

/// The quality-of-service policy of a rule.
pub(super) fn qos_policy_prop() -> Prop {
    prop("policy", Str, "Quality-of-service policy that the rule belongs to, by name or ID.")
        .required()
        .is(QOS_POLICY)
}

/// How long the keys of a VPN connection are used.
pub(super) fn lifetime_prop() -> Prop {
    prop("lifetime", Map, "How long a security association lasts before keys are renegotiated.")
        .members([
            prop("units", Str, "What the lifetime is counted in: `seconds` or `kilobytes`.")
                .default("seconds")
                .one_of(["seconds", "kilobytes"]),
            prop("value", Int, "Length of the lifetime in the chosen unit.").default(3600),
        ])
}

/// The group for the key exchange of a VPN connection.
pub(super) fn pfs_prop() -> Prop {
    prop("pfs", Str, "Diffie-Hellman group of the key exchange, for perfect forward secrecy.")
        .default("group5")
        .one_of(KEY_GROUPS)
}

/// An item of a list of routes.
pub(super) fn route() -> Prop {
    record([
        prop("destination", Str, "Network to be reached by the route, in CIDR notation.")
            .required()
            .is(NET_CIDR),
        prop("nexthop", Str, "Address of the next hop towards the destination.")
            .required()
            .is(IP_ADDR),
    ])
}

/// The traffic that a rule of a security group permits, except for its protocol.
pub(super) fn traffic_props() -> [Prop; 5] {
    [
        prop(
            "direction",
            Str,
            "Traffic that the rule permits: to the port (`ingress`) or from it (`egress`).",
        )
        .default("ingress")
        .one_of(["ingress", "egress"]),
        prop("ethertype", Str, "IP version of the permitted traffic, `IPv4` or `IPv6`.")
            .default("IPv4")
            .one_of(["IPv4", "IPv6"]),
        prop("port_range_max", Int, "Last permitted port, or the ICMP code.").range(0, 65535),
        prop("port_range_min", Int, "First permitted port, or the ICMP type.").range(0, 65535),
        prop(
            "remote_ip_prefix",
            Str,
            "Addresses of the other side, in CIDR notation; any if omitted.",
        )
        .is(NET_CIDR),
    ]
}

/// The description of the object in its service.
pub(super) fn description_attr() -> Attr {
    attr("description", Str, "Description that the service has on record.")
}

/// The project that owns the object.
pub(super) fn tenant_id_attr() -> Attr {
    attr("tenant_id", Str, "ID of the project that owns the object.")
}

/// Whether the object is in operation.
pub(super) fn admin_state_up_attr() -> Attr {
    attr("admin_state_up", Str, "Whether the object is administratively up.")
}

/// Whether all projects may use the object.
pub(super) fn shared_attr() -> Attr {
    attr("shared", Str, "Whether all projects may use the object.")
}

/// Algorithms with which the two ends of a VPN connection authenticate packets.
pub(super) const AUTHENTICATION: [&str; 6] =
    ["sha1", "sha256", "sha384", "sha512", "aes-xcbc", "aes-cmac"];

/// Algorithms that encrypt a VPN connection.
pub(super) const ENCRYPTION: [&str; 25] = [
    "3des",
    "aes-128",
    "aes-192",
    "aes-256",
    "aes-128-ccm-8",
    "aes-192-ccm-8",
    "aes-256-ccm-8",
    "aes-128-ccm-12",
    "aes-192-ccm-12",
    "aes-256-ccm-12",
    "aes-128-ccm-16",
    "aes-192-ccm-16",
    "aes-256-ccm-16",
    "aes-128-gcm-8",
    "aes-192-gcm-8",
    "aes-256-gcm-8",
    "aes-128-gcm-12",
    "aes-192-gcm-12",
    "aes-256-gcm-12",
    "aes-128-gcm-16",
    "aes-192-gcm-16",
    "aes-256-gcm-16",
    "aes-128-ctr",
    "aes-192-ctr",
    "aes-256-ctr",
];

/// Groups for the key exchange of a VPN connection.
const KEY_GROUPS: [&str; 20] = [
    "group2", "group5", "group14", "group15", "group16", "group17", "group18", "group19",
    "group20", "group21", "group22", "group23", "group24", "group25", "group26", "group27",
    "group28", "group29", "group30", "group31",
];

/// Declares the property `tags`.
pub(super) fn tags(kind: ResourceType) -> ResourceType {
    kind.props([tags_prop().updatable().since("9.0.0").each(item(Str))])
}

/// Declares the property `value_specs`.
pub(super) fn value_specs(kind: ResourceType) -> ResourceType {
    kind.props([value_specs_prop().updatable().default_empty()])
}

/// The protocols of a security group rule: numbers and names.
pub(super) fn protocols() -> impl Iterator<Item = Value> {
    const NAMES: [&str; 22] = [
        "ah",
        "dccp",
        "egp",
        "esp",
        "gre",
        "icmp",
        "icmpv6",
        "igmp",
        "ipv6-encap",
        "ipv6-frag",
        "ipv6-icmp",
        "ipv6-nonxt",
        "ipv6-opts",
        "ipv6-route",
        "ospf",
        "pgm",
        "rsvp",
        "sctp",
        "tcp",
        "udp",
        "udplite",
        "vrrp",
    ];
    (0..=255).map(Value::from).chain(NAMES.into_iter().map(Value::from))
}

/// The settings of a port, whether it is a resource or belongs to a server.
pub(crate) fn port_settings() -> [Prop; 9] {
    [
        admin_state_up_prop(),
        prop("allowed_address_pairs", List, "Further addresses from which the port may send, besides its own.").updatable().each(record([
            prop("ip_address", Str, "Allowed IP address, or a block of them in CIDR notation.").required().is(IP_OR_CIDR),
            prop("mac_address", Str, "MAC address that goes with the IP address; the port's own if omitted.").is(MAC_ADDR),
        ])),
        prop("binding:vnic_type", Str, "Kind of virtual network card, such as `normal` or `direct` for SR-IOV.")
            .updatable()
            .default("normal")
            .one_of([
                "normal",
                "direct",
                "macvtap",
                "direct-physical",
                "baremetal",
                "virtio-forwarder",
                "smart-nic",
            ])
            .since("2015.1"),
        prop("mac_address", Str, "MAC address of the port; chosen by the service if omitted.").is(MAC_ADDR),
        prop("no_fixed_ips", Bool, "Whether the port gets no IP addresses at all; excludes `fixed_ips`.").updatable().default(false).since("16.0.0"),
        prop("port_security_enabled", Bool, "Whether security groups and anti-spoofing filters apply to the port; as its network says if omitted.").updatable().since("5.0.0"),
        prop("propagate_uplink_status", Bool, "Whether the port shows its device when the physical uplink goes down or comes up.").updatable().since("15.0.0"),
        prop("qos_policy", Str, "Name or ID of the quality-of-service policy for the port's traffic.").updatable().is(QOS_POLICY).since("6.0.0"),
        value_specs_prop().updatable().default_empty(),
    ]
}
