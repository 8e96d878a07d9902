//! What network types have in common.

use crate::declare::*;

/// Algorithms by which the two ends of a VPN connection prove who they are.
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
pub(super) const KEY_GROUPS: [&str; 20] = [
    "group2", "group5", "group14", "group15", "group16", "group17", "group18", "group19",
    "group20", "group21", "group22", "group23", "group24", "group25", "group26", "group27",
    "group28", "group29", "group30", "group31",
];

/// Tags on the object.
pub(super) fn tags(kind: ResourceType) -> ResourceType {
    kind.props([prop("tags", List).updatable().since("9.0.0").each(item(Str))])
}

/// Further fields for the request, as the operator's plug-ins want them.
pub(super) fn value_specs(kind: ResourceType) -> ResourceType {
    kind.props([prop("value_specs", Map).updatable().default_empty()])
}

/// What a security group rule may name as its protocol: a number, or one of the names.
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

/// What can be set on every port, whether it is declared or comes with a server.
pub(crate) fn port_settings() -> [Prop; 9] {
    [
        prop("admin_state_up", Bool).updatable().default(true),
        prop("allowed_address_pairs", List).updatable().each(record([
            prop("ip_address", Str).required().is("ip_or_cidr"),
            prop("mac_address", Str).is("mac_addr"),
        ])),
        prop("binding:vnic_type", Str)
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
        prop("mac_address", Str).is("mac_addr"),
        prop("no_fixed_ips", Bool).updatable().default(false).since("16.0.0"),
        prop("port_security_enabled", Bool).updatable().since("5.0.0"),
        prop("propagate_uplink_status", Bool).updatable().since("15.0.0"),
        prop("qos_policy", Str).updatable().is("neutron.qos_policy").since("6.0.0"),
        prop("value_specs", Map).updatable().default_empty(),
    ]
}
