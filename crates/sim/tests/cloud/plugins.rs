//! The collections of Neutron's plugins: every collection is created, found, updated and deleted.

use serde_json::{Value, json};

use super::test_cloud::TestCloud;

const V2: &str = "/network/v2.0";

/// Creates an object, calls a function with its id, then updates and deletes it.
#[track_caller]
fn exercise(cloud: &TestCloud, path: &str, one: &str, fields: Value, between: impl Fn(&str)) {
    let many = cloud.admin(&format!("GET {V2}/{path}"), Value::Null).has(200).body;
    assert!(many.as_object().unwrap().values().next().unwrap().is_array(), "{many}");
    let made = cloud.admin(&format!("POST {V2}/{path}"), json!({ one: fields })).has(201).body;
    let id = made[one]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let shown = cloud.admin(&format!("GET {V2}/{path}/{id}"), Value::Null).has(200).body;
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&shown[one][name], value, "{path} {name}");
    }
    between(&id);
    cloud.admin(&format!("DELETE {V2}/{path}/{id}"), Value::Null).has(204);
    cloud.admin(&format!("GET {V2}/{path}/{id}"), Value::Null).has(404);
}

fn plain(cloud: &TestCloud, path: &str, one: &str, fields: Value) {
    exercise(cloud, path, one, fields, |_| {});
}

fn private(cloud: &TestCloud) -> (String, String) {
    let net = cloud.get(&format!("{V2}/networks?name=private"));
    let net = &net["networks"][0];
    (net["id"].as_str().unwrap().to_owned(), net["subnets"][0].as_str().unwrap().to_owned())
}

fn port(cloud: &TestCloud) -> String {
    cloud.make(&format!("{V2}/ports"), "port", json!({ "network_id": private(cloud).0 }))
}

#[test]
fn policies_of_quality_have_rules() {
    let cloud = TestCloud::new();
    exercise(&cloud, "qos/policies", "policy", json!({ "name": "q" }), |policy| {
        let rules = |kind: &str| format!("qos/policies/{policy}/{kind}");
        for (kind, one, fields) in [
            ("bandwidth_limit_rules", "bandwidth_limit_rule", json!({ "max_kbps": 10 })),
            ("dscp_marking_rules", "dscp_marking_rule", json!({ "dscp_mark": 8 })),
            ("minimum_bandwidth_rules", "minimum_bandwidth_rule", json!({ "min_kbps": 10 })),
            ("minimum_packet_rate_rules", "minimum_packet_rate_rule", json!({ "min_kpps": 10 })),
            ("packet_rate_limit_rules", "packet_rate_limit_rule", json!({ "max_kpps": 10 })),
        ] {
            exercise(&cloud, &rules(kind), one, fields.clone(), |id| {
                let body = json!({ one: fields });
                cloud.admin(&format!("POST {V2}/{}", rules(kind)), body.clone()).has(409);
                cloud.admin(&format!("PUT {V2}/{}/{id}", rules(kind)), body).has(200);
                let shown =
                    cloud.admin(&format!("GET {V2}/qos/policies/{policy}"), Value::Null).body;
                assert_eq!(shown["policy"]["rules"][0]["id"], json!(id));
            });
        }
        let net = json!({ "network": { "qos_policy_id": policy } });
        let net = cloud.admin(&format!("POST {V2}/networks"), net).has(201).body;
        let id = net["network"]["id"].as_str().unwrap();
        cloud.admin(&format!("DELETE {V2}/qos/policies/{policy}"), Value::Null).neutron(
            409,
            "QosPolicyInUse",
            &format!("QoS Policy {policy} is used by network {id}."),
        );
        cloud.admin(&format!("DELETE {V2}/networks/{id}"), Value::Null).has(204);
    });
    cloud.admin(&format!("GET {V2}/qos/policies/nope/dscp_marking_rules"), Value::Null).has(404);
}

#[test]
fn plugins_keep_what_they_are_given() {
    let cloud = TestCloud::new();
    let port = port(&cloud);
    let (net, subnet) = private(&cloud);
    let router = cloud.get(&format!("{V2}/routers"))["routers"][0]["id"].clone();
    plain(&cloud, "address-scopes", "address_scope", json!({ "name": "a", "ip_version": 4 }));
    plain(&cloud, "address-groups", "address_group", json!({ "name": "a" }));
    plain(&cloud, "segments", "segment", json!({ "network_id": net, "network_type": "vxlan" }));
    plain(&cloud, "subnetpools", "subnetpool", json!({ "name": "p", "prefixes": ["10.9.0.0/16"] }));
    exercise(
        &cloud,
        "metering/metering-labels",
        "metering_label",
        json!({ "name": "l" }),
        |label| {
            let rule = json!({ "metering_label_id": label, "remote_ip_prefix": "10.0.0.0/8" });
            plain(&cloud, "metering/metering-label-rules", "metering_label_rule", rule);
        },
    );
    exercise(
        &cloud,
        "fw/firewall_rules",
        "firewall_rule",
        json!({ "protocol": "tcp", "action": "allow" }),
        |rule| {
            let policy = json!({ "firewall_rules": [rule] });
            exercise(&cloud, "fw/firewall_policies", "firewall_policy", policy, |policy| {
                cloud.admin(&format!("DELETE {V2}/fw/firewall_rules/{rule}"), Value::Null).has(409);
                let fields = json!({ "firewall_policy_id": policy });
                exercise(&cloud, "fw/firewalls", "firewall", fields, |firewall| {
                    let status = || {
                        let shown =
                            cloud.admin(&format!("GET {V2}/fw/firewalls/{firewall}"), Value::Null);
                        shown.body["firewall"]["status"].clone()
                    };
                    assert_eq!(status(), "PENDING_CREATE");
                    cloud.later(11);
                    assert_eq!(status(), "ACTIVE");
                });
                let path = format!("PUT {V2}/fw/firewall_policies/{policy}/remove_rule");
                cloud.admin(&path, json!({ "firewall_rule_id": rule })).has(200);
            });
        },
    );
    plain(&cloud, "fwaas/firewall_groups", "firewall_group", json!({ "name": "g" }));
    let vpn = json!({ "router_id": router, "subnet_id": subnet });
    exercise(&cloud, "vpn/vpnservices", "vpnservice", vpn, |vpn| {
        exercise(&cloud, "vpn/ikepolicies", "ikepolicy", json!({ "name": "i" }), |ike| {
            exercise(&cloud, "vpn/ipsecpolicies", "ipsecpolicy", json!({ "name": "i" }), |ipsec| {
                let fields = json!({
                    "vpnservice_id": vpn, "ikepolicy_id": ike, "ipsecpolicy_id": ipsec, "psk": "s",
                    "peer_address": "192.0.2.1", "peer_id": "192.0.2.1", "peer_cidrs": ["10.7.0.0/24"],
                });
                exercise(
                    &cloud,
                    "vpn/ipsec-site-connections",
                    "ipsec_site_connection",
                    fields,
                    |_| {
                        cloud
                            .admin(&format!("DELETE {V2}/vpn/ikepolicies/{ike}"), Value::Null)
                            .has(409);
                        cloud.later(11);
                    },
                );
            });
        });
    });
    let pair = json!({ "ingress": port, "egress": port });
    exercise(&cloud, "sfc/port_pairs", "port_pair", pair, |pair| {
        exercise(
            &cloud,
            "sfc/port_pair_groups",
            "port_pair_group",
            json!({ "port_pairs": [pair] }),
            |group| {
                cloud.admin(&format!("DELETE {V2}/sfc/port_pairs/{pair}"), Value::Null).has(409);
                plain(
                    &cloud,
                    "sfc/port_chains",
                    "port_chain",
                    json!({ "port_pair_groups": [group] }),
                );
            },
        );
    });
    plain(&cloud, "sfc/flow_classifiers", "flow_classifier", json!({ "protocol": "tcp" }));
    exercise(&cloud, "taas/tap_services", "tap_service", json!({ "port_id": port }), |service| {
        let flow = json!({ "tap_service_id": service, "source_port": port, "direction": "BOTH" });
        plain(&cloud, "taas/tap_flows", "tap_flow", flow);
    });
    exercise(&cloud, "l2-gateways", "l2_gateway", json!({ "devices": [] }), |gateway| {
        let fields = json!({ "l2_gateway_id": gateway, "network_id": net });
        plain(&cloud, "l2-gateway-connections", "l2_gateway_connection", fields);
    });
    exercise(&cloud, "network-gateways", "network_gateway", json!({ "devices": [] }), |gateway| {
        let path = |action: &str| format!("PUT {V2}/network-gateways/{gateway}/{action}_network");
        let link = json!({ "network_id": net, "segmentation_type": "vlan", "segmentation_id": 5 });
        cloud.admin(&path("connect"), link.clone()).has(200);
        cloud.admin(&format!("DELETE {V2}/network-gateways/{gateway}"), Value::Null).has(409);
        cloud.admin(&path("disconnect"), link.clone()).has(200);
        cloud.admin(&path("disconnect"), link).has(404);
    });
}

#[test]
fn trunks_hold_ports_and_ports_know_it() {
    let cloud = TestCloud::new();
    let (parent, child) = (port(&cloud), port(&cloud));
    let sub = json!([{ "port_id": child, "segmentation_type": "vlan", "segmentation_id": 7 }]);
    let trunk = cloud.make(
        &format!("{V2}/trunks"),
        "trunk",
        json!({ "port_id": parent, "sub_ports": sub }),
    );
    let details = cloud.get(&format!("{V2}/ports/{parent}"))["port"]["trunk_details"].clone();
    assert_eq!(details, json!({ "trunk_id": trunk, "sub_ports": sub }));
    cloud.demo(&format!("DELETE {V2}/ports/{child}"), Value::Null).has(409);
    let path = |action: &str| format!("PUT {V2}/trunks/{trunk}/{action}");
    cloud.demo(&path("add_subports"), json!({ "sub_ports": sub })).has(409);
    cloud.demo(&path("remove_subports"), json!({ "sub_ports": sub })).has(200);
    cloud.demo(&path("remove_subports"), json!({ "sub_ports": sub })).has(404);
    cloud.demo(&path("add_subports"), json!({ "sub_ports": sub })).has(200);
    cloud.demo(&format!("DELETE {V2}/trunks/{trunk}"), Value::Null).has(204);
    cloud.demo(&format!("DELETE {V2}/ports/{child}"), Value::Null).has(204);
}

#[test]
fn forwarded_ports_keep_a_floating_address_from_others() {
    let cloud = TestCloud::new();
    let port = port(&cloud);
    let public = cloud.get(&format!("{V2}/networks?name=public"))["networks"][0]["id"].clone();
    let floating = cloud.make(
        &format!("{V2}/floatingips"),
        "floatingip",
        json!({ "floating_network_id": public }),
    );
    let path = format!("{V2}/floatingips/{floating}/port_forwardings");
    let fields = json!({ "internal_port_id": port, "internal_port": 80, "external_port": 8080, "protocol": "tcp" });
    let id = cloud.make(&path, "port_forwarding", fields.clone());
    cloud.demo(&format!("POST {path}"), json!({ "port_forwarding": fields })).has(400);
    let take = json!({ "floatingip": { "port_id": port } });
    cloud.demo(&format!("PUT {V2}/floatingips/{floating}"), take).has(409);
    let changed = json!({ "port_forwarding": { "external_port": 9090 } });
    cloud.demo(&format!("PUT {path}/{id}"), changed).has(200);
    cloud.demo(&format!("DELETE {path}/{id}"), Value::Null).has(204);
}

#[test]
fn the_service_tells_about_itself() {
    let cloud = TestCloud::new();
    for alias in [
        "router",
        "provider",
        "qos",
        "qos-bw-minimum-ingress",
        "qos-pps-minimum",
        "fwaas",
        "vpnaas",
        "sfc",
        "taas",
        "l2-gateway",
        "network-gateway",
        "trunk",
        "segment",
        "extraroute-atomic",
        "floating-ip-port-forwarding",
    ] {
        cloud.demo(&format!("GET {V2}/extensions/{alias}"), Value::Null).has(200);
    }
    cloud.demo(&format!("GET {V2}/extensions/nope"), Value::Null).has(404);
    let zones = cloud.get(&format!("{V2}/availability_zones"));
    assert_eq!(zones["availability_zones"][0]["name"], "nova");
    let agents =
        cloud.admin(&format!("GET {V2}/agents?agent_type=L3%20agent"), Value::Null).has(200).body;
    let agent = agents["agents"][0]["id"].as_str().unwrap().to_owned();
    let router =
        cloud.get(&format!("{V2}/routers"))["routers"][0]["id"].as_str().unwrap().to_owned();
    cloud
        .admin(&format!("POST {V2}/agents/{agent}/l3-routers"), json!({ "router_id": router }))
        .has(201);
    let hosts =
        cloud.admin(&format!("GET {V2}/routers/{router}/l3-agents"), Value::Null).has(200).body;
    assert_eq!(hosts["agents"][0]["id"], json!(agent));
    cloud.admin(&format!("DELETE {V2}/agents/{agent}/l3-routers/{router}"), Value::Null).has(204);
    let project = cloud.demo_project();
    let quota = json!({ "quota": { "port": 7 } });
    cloud.demo(&format!("PUT {V2}/quotas/{project}"), quota.clone()).has(403);
    cloud.admin(&format!("PUT {V2}/quotas/{project}"), quota).has(200);
    assert_eq!(cloud.get(&format!("{V2}/quotas/{project}"))["quota"]["port"], 7);
    cloud.admin(&format!("DELETE {V2}/quotas/{project}"), Value::Null).has(204);
    assert_eq!(cloud.get(&format!("{V2}/quotas/{project}"))["quota"]["port"], 500);
    let topology = cloud.get(&format!("{V2}/auto-allocated-topology/{project}"));
    let again = cloud.get(&format!("{V2}/auto-allocated-topology/{project}"));
    assert_eq!(topology, again);
    cloud.demo(&format!("DELETE {V2}/auto-allocated-topology/{project}"), Value::Null).has(204);
    cloud.demo(&format!("GET {V2}/nonsense"), Value::Null).has(404);
}
