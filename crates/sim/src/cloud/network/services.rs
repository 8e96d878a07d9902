//! The collections of Neutron's plugins: firewalls, VPNs, service chains, taps and gateways.

use serde_json::{Value, json};

use super::super::request::{Answer, Done, Reply, RequestContext, flag, list, set, text};
use super::super::rest;
use super::super::schema::Collection;
use super::super::table::Obj;
use super::dialect::{Neutron, refusal};

/// The collections of this file.
pub(super) static COLLECTIONS: &[&Collection] = &[
    &ADDRESS_GROUP,
    &ADDRESS_SCOPE,
    &CHAIN,
    &CLASSIFIER,
    &CONNECTION,
    &ENDPOINT_GROUP,
    &FIREWALL,
    &FIREWALL_GROUP,
    &FIREWALL_POLICY,
    &FIREWALL_POLICY_V2,
    &FIREWALL_RULE,
    &FIREWALL_RULE_V2,
    &IKE,
    &IPSEC,
    &L2_CONNECTION,
    &L2_GATEWAY,
    &LABEL,
    &LABEL_RULE,
    &NETWORK_GATEWAY,
    &PAIR,
    &PAIR_GROUP,
    &TAP_FLOW,
    &TAP_SERVICE,
    &VPN,
];

/// Sets a pending status and schedules the final one.
fn pending(ctx: &mut RequestContext<'_>, table: &str, row: &mut Obj, then: &str) {
    set(row, "status", "PENDING_CREATE");
    ctx.state.when_built(table, text(row, "id"), json!({ "status": then }));
}

/// Rejects the removal of an object that another table refers to; `{id}` in the message stands for its id.
fn unused(
    ctx: &RequestContext<'_>,
    row: &Obj,
    (table, field): (&str, &'static str),
    error_type: &str,
    message: &str,
) -> Done {
    let id = text(row, "id");
    if ctx.state.table(table).count(field, id) == 0 {
        return Ok(());
    }
    Err(refusal(409, error_type, message.replace("{id}", id)))
}

static ADDRESS_SCOPE: Collection = Collection {
    name: "network/address_scopes",
    path: "address-scopes",
    singular: "address_scope",
    plural: "address_scopes",
    title: "AddressScope",
    fields: "name       text cu \"\"
             ip_version enum:4|6 c !
             shared     bool cua false
             project_id text c @project",
    is_shared: |ctx, row| flag(row, "shared") || super::networks::is_granted(ctx, row),
    remove: |ctx, row| {
        let message = "Unable to complete operation on address scope {id}. There are one or more subnet pools in use on the \
             address scope.";
        unused(ctx, row, (super::POOLS, "address_scope_id"), "AddressScopeInUse", message)
    },
    ..Collection::new(&Neutron)
};

static ADDRESS_GROUP: Collection = Collection {
    name: "network/address_groups",
    path: "address-groups",
    singular: "address_group",
    plural: "address_groups",
    title: "AddressGroup",
    fields: concat!("name text cu \"\"\n addresses list c []\n shared bool r false", standard!()),
    ..Collection::new(&Neutron)
};

static LABEL: Collection = Collection {
    name: "network/metering_labels",
    path: "metering/metering-labels",
    singular: "metering_label",
    plural: "metering_labels",
    title: "MeteringLabel",
    operations: "CLSD",
    admin_only: true,
    fields: "name        text c \"\"
             description text c \"\"
             shared      bool c false
             project_id  text c @project",
    remove: |ctx, row| {
        for rule in ctx.state.with(LABEL_RULE.name, "metering_label_id", text(row, "id")) {
            ctx.state.remove(LABEL_RULE.name, text(&rule, "id"));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

static LABEL_RULE: Collection = Collection {
    name: "network/metering_label_rules",
    path: "metering/metering-label-rules",
    singular: "metering_label_rule",
    plural: "metering_label_rules",
    title: "MeteringLabelRule",
    operations: "CLSD",
    admin_only: true,
    fields: "metering_label_id     ref:network/metering_labels c !
             direction             enum:ingress|egress c \"ingress\"
             remote_ip_prefix      cidr c null
             source_ip_prefix      cidr c null
             destination_ip_prefix cidr c null
             excluded              bool c false",
    ..Collection::new(&Neutron)
};

static FIREWALL: Collection = Collection {
    name: "network/firewalls",
    path: "fw/firewalls",
    singular: "firewall",
    plural: "firewalls",
    title: "Firewall",
    fields: "name               text cu \"\"
             description        text cu \"\"
             admin_state_up     bool cu true
             shared             bool cua false
             firewall_policy_id ref:network/firewall_policies cu !
             router_ids         list cu []
             status             text r  \"PENDING_CREATE\"
             project_id         text c  @project",
    make: |ctx, row| {
        pending(ctx, FIREWALL.name, row, "ACTIVE");
        Ok(())
    },
    change: |ctx, old, new, _| {
        if text(old, "status").starts_with("PENDING") {
            let message = format!(
                "Operation cannot be performed since associated Firewall {} is in {}.",
                text(old, "id"),
                text(old, "status")
            );
            return Err(refusal(409, "FirewallInPendingState", message));
        }
        set(new, "status", "PENDING_UPDATE");
        ctx.state.when_built(FIREWALL.name, text(old, "id"), json!({ "status": "ACTIVE" }));
        Ok(())
    },
    ..Collection::new(&Neutron)
};

const FIREWALL_POLICY_FIELDS: &str = "
    name           text cu \"\"
    description    text cu \"\"
    shared         bool cua false
    audited        bool cu false
    firewall_rules list cu []
    project_id     text c  @project";

const FIREWALL_RULE_FIELDS: &str = "
    name                   text cu \"\"
    description            text cu \"\"
    shared                 bool cua false
    protocol               text cu null
    source_ip_address      text cu null
    destination_ip_address text cu null
    source_port            any  cu null
    destination_port       any  cu null
    action                 enum:allow|deny|reject cu \"deny\"
    enabled                bool cu true
    ip_version             enum:4|6 cu 4
    firewall_policy_id     text r  null
    position               int  r  null
    project_id             text c  @project";

/// Rejects a policy with rules that do not exist.
fn rules_exist(ctx: &RequestContext<'_>, policy: &Obj, rules: &str) -> Done {
    for id in list(policy, "firewall_rules").iter().filter_map(Value::as_str) {
        if ctx.state.get(rules, id).is_none() {
            let message = format!("Firewall Rule {id} could not be found.");
            return Err(refusal(404, "FirewallRuleNotFound", message));
        }
    }
    Ok(())
}

fn rule_unused(ctx: &RequestContext<'_>, policies: &str, row: &Obj) -> Done {
    let message = "Firewall rule {id} is being used.";
    unused(ctx, row, (policies, "firewall_rules"), "FirewallRuleInUse", message)
}

static FIREWALL_POLICY: Collection = Collection {
    name: "network/firewall_policies",
    path: "fw/firewall_policies",
    singular: "firewall_policy",
    plural: "firewall_policies",
    title: "FirewallPolicy",
    index: &["firewall_rules"],
    fields: FIREWALL_POLICY_FIELDS,
    make: |ctx, row| rules_exist(ctx, row, FIREWALL_RULE.name),
    change: |ctx, _, row, _| rules_exist(ctx, row, FIREWALL_RULE.name),
    remove: |ctx, row| {
        let message = "Firewall Policy {id} is being used.";
        unused(ctx, row, (FIREWALL.name, "firewall_policy_id"), "FirewallPolicyInUse", message)
    },
    ..Collection::new(&Neutron)
};

static FIREWALL_RULE: Collection = Collection {
    name: "network/firewall_rules",
    path: "fw/firewall_rules",
    singular: "firewall_rule",
    plural: "firewall_rules",
    title: "FirewallRule",
    fields: FIREWALL_RULE_FIELDS,
    remove: |ctx, row| rule_unused(ctx, FIREWALL_POLICY.name, row),
    ..Collection::new(&Neutron)
};

static FIREWALL_GROUP: Collection = Collection {
    name: "network/firewall_groups",
    path: "fwaas/firewall_groups",
    singular: "firewall_group",
    plural: "firewall_groups",
    title: "FirewallGroup",
    fields: "name                       text cu \"\"
             description                text cu \"\"
             admin_state_up             bool cu true
             shared                     bool cua false
             ingress_firewall_policy_id ref:network/fwaas_policies cu null
             egress_firewall_policy_id  ref:network/fwaas_policies cu null
             ports                      list cu []
             status                     text r  \"INACTIVE\"
             project_id                 text c  @project",
    ..Collection::new(&Neutron)
};

static FIREWALL_POLICY_V2: Collection = Collection {
    name: "network/fwaas_policies",
    path: "fwaas/firewall_policies",
    singular: "firewall_policy",
    plural: "firewall_policies",
    title: "FirewallPolicy",
    index: &["firewall_rules"],
    fields: FIREWALL_POLICY_FIELDS,
    make: |ctx, row| rules_exist(ctx, row, FIREWALL_RULE_V2.name),
    change: |ctx, _, row, _| rules_exist(ctx, row, FIREWALL_RULE_V2.name),
    ..Collection::new(&Neutron)
};

static FIREWALL_RULE_V2: Collection = Collection {
    name: "network/fwaas_rules",
    path: "fwaas/firewall_rules",
    singular: "firewall_rule",
    plural: "firewall_rules",
    title: "FirewallRule",
    fields: FIREWALL_RULE_FIELDS,
    remove: |ctx, row| rule_unused(ctx, FIREWALL_POLICY_V2.name, row),
    ..Collection::new(&Neutron)
};

static VPN: Collection = Collection {
    name: "network/vpnservices",
    path: "vpn/vpnservices",
    singular: "vpnservice",
    plural: "vpnservices",
    title: "VPNService",
    fields: "name           text cu \"\"
             description    text cu \"\"
             subnet_id      ref:network/subnets c null
             router_id      ref:network/routers c !
             admin_state_up bool cu true
             flavor_id      text c  null
             external_v4_ip text r  null
             external_v6_ip text r  null
             status         text r  \"PENDING_CREATE\"
             project_id     text c  @project",
    remove: |ctx, row| {
        let message = "VPNService {id} is still in use";
        unused(ctx, row, (CONNECTION.name, "vpnservice_id"), "VPNServiceInUse", message)
    },
    ..Collection::new(&Neutron)
};

static CONNECTION: Collection = Collection {
    name: "network/ipsec_site_connections",
    path: "vpn/ipsec-site-connections",
    singular: "ipsec_site_connection",
    plural: "ipsec_site_connections",
    title: "IPsecSiteConnection",
    fields: "name              text cu \"\"
             description       text cu \"\"
             peer_address      text cu !
             peer_id           text cu !
             local_id          text cu \"\"
             peer_cidrs        list cu []
             local_ep_group_id ref:network/endpoint_groups cu null
             peer_ep_group_id  ref:network/endpoint_groups cu null
             route_mode        text r  \"static\"
             mtu               int  cu 1500
             initiator         enum:bi-directional|response-only cu \"bi-directional\"
             auth_mode         text r  \"psk\"
             psk               text cu !
             dpd               map  cu {}
             admin_state_up    bool cu true
             vpnservice_id     ref:network/vpnservices c !
             ikepolicy_id      ref:network/ikepolicies c !
             ipsecpolicy_id    ref:network/ipsecpolicies c !
             status            text r  \"PENDING_CREATE\"
             project_id        text c  @project",
    make: |ctx, row| {
        let mut dpd = json!({ "action": "hold", "interval": 30, "timeout": 120 });
        for (name, value) in row["dpd"].as_object().cloned().unwrap_or_default() {
            dpd[name] = value;
        }
        set(row, "dpd", dpd);
        pending(ctx, CONNECTION.name, row, "ACTIVE");
        let service = text(row, "vpnservice_id").to_owned();
        ctx.state.when_built(VPN.name, &service, json!({ "status": "ACTIVE" }));
        Ok(())
    },
    ..Collection::new(&Neutron)
};

static ENDPOINT_GROUP: Collection = Collection {
    name: "network/endpoint_groups",
    path: "vpn/endpoint-groups",
    singular: "endpoint_group",
    plural: "endpoint_groups",
    title: "VPNEndpointGroup",
    fields: "name        text cu \"\"
             description text cu \"\"
             type        enum:subnet|cidr|network|vlan|router c !
             endpoints   list c !
             project_id  text c @project",
    ..Collection::new(&Neutron)
};

static IKE: Collection = Collection {
    name: "network/ikepolicies",
    path: "vpn/ikepolicies",
    singular: "ikepolicy",
    plural: "ikepolicies",
    title: "IKEPolicy",
    fields: "name                    text cu \"\"
             description             text cu \"\"
             auth_algorithm          text cu \"sha1\"
             encryption_algorithm    text cu \"aes-128\"
             phase1_negotiation_mode text cu \"main\"
             ike_version             enum:v1|v2 cu \"v1\"
             lifetime                map  cu {\"units\": \"seconds\", \"value\": 3600}
             pfs                     text cu \"group5\"
             project_id              text c  @project",
    remove: |ctx, row| {
        let message = "IKEPolicy {id} is in use by existing IPsecSiteConnection and can't be updated or deleted";
        unused(ctx, row, (CONNECTION.name, "ikepolicy_id"), "IKEPolicyInUse", message)
    },
    ..Collection::new(&Neutron)
};

static IPSEC: Collection = Collection {
    name: "network/ipsecpolicies",
    path: "vpn/ipsecpolicies",
    singular: "ipsecpolicy",
    plural: "ipsecpolicies",
    title: "IPsecPolicy",
    fields: "name                 text cu \"\"
             description          text cu \"\"
             transform_protocol   text cu \"esp\"
             encapsulation_mode   text cu \"tunnel\"
             auth_algorithm       text cu \"sha1\"
             encryption_algorithm text cu \"aes-128\"
             lifetime             map  cu {\"units\": \"seconds\", \"value\": 3600}
             pfs                  text cu \"group5\"
             project_id           text c  @project",
    remove: |ctx, row| {
        let message = "IPsecPolicy {id} is in use by existing IPsecSiteConnection and can't be updated or deleted";
        unused(ctx, row, (CONNECTION.name, "ipsecpolicy_id"), "IPsecPolicyInUse", message)
    },
    ..Collection::new(&Neutron)
};

static PAIR: Collection = Collection {
    name: "network/port_pairs",
    path: "sfc/port_pairs",
    singular: "port_pair",
    plural: "port_pairs",
    title: "PortPair",
    fields: "name                        text cu \"\"
             description                 text cu \"\"
             ingress                     ref:network/ports c !
             egress                      ref:network/ports c !
             service_function_parameters map  c {}
             project_id                  text c @project",
    remove: |ctx, row| {
        let message = "Port Pair {id} in use.";
        unused(ctx, row, (PAIR_GROUP.name, "port_pairs"), "PortPairInUse", message)
    },
    ..Collection::new(&Neutron)
};

static PAIR_GROUP: Collection = Collection {
    name: "network/port_pair_groups",
    path: "sfc/port_pair_groups",
    singular: "port_pair_group",
    plural: "port_pair_groups",
    title: "PortPairGroup",
    index: &["port_pairs"],
    fields: "name                       text cu \"\"
             description                text cu \"\"
             port_pairs                 list cu []
             port_pair_group_parameters map  c  {}
             tap_enabled                bool c  false
             group_id                   int  r  0
             is_tap                     bool r  false
             project_id                 text c  @project",
    remove: |ctx, row| {
        let message = "Port Pair Group {id} in use.";
        unused(ctx, row, (CHAIN.name, "port_pair_groups"), "PortPairGroupInUse", message)
    },
    ..Collection::new(&Neutron)
};

static CHAIN: Collection = Collection {
    name: "network/port_chains",
    path: "sfc/port_chains",
    singular: "port_chain",
    plural: "port_chains",
    title: "PortChain",
    index: &["port_pair_groups", "flow_classifiers"],
    fields: "name             text cu \"\"
             description      text cu \"\"
             port_pair_groups list cu !
             flow_classifiers list cu []
             chain_parameters map  c  {\"correlation\": \"mpls\", \"symmetric\": false}
             chain_id         int  c  0
             project_id       text c  @project",
    ..Collection::new(&Neutron)
};

static CLASSIFIER: Collection = Collection {
    name: "network/flow_classifiers",
    path: "sfc/flow_classifiers",
    singular: "flow_classifier",
    plural: "flow_classifiers",
    title: "FlowClassifier",
    fields: "name                       text cu \"\"
             description                text cu \"\"
             ethertype                  enum:IPv4|IPv6 c \"IPv4\"
             protocol                   text c null
             source_port_range_min      int  c null
             source_port_range_max      int  c null
             destination_port_range_min int  c null
             destination_port_range_max int  c null
             source_ip_prefix           cidr c null
             destination_ip_prefix      cidr c null
             logical_source_port        ref:network/ports c null
             logical_destination_port   ref:network/ports c null
             l7_parameters              map  c {}
             project_id                 text c @project",
    remove: |ctx, row| {
        let message = "Flow Classifier {id} in use.";
        unused(ctx, row, (CHAIN.name, "flow_classifiers"), "FlowClassifierInUse", message)
    },
    ..Collection::new(&Neutron)
};

static TAP_SERVICE: Collection = Collection {
    name: "network/tap_services",
    path: "taas/tap_services",
    singular: "tap_service",
    plural: "tap_services",
    title: "TapService",
    fields: "name        text cu \"\"
             description text cu \"\"
             port_id     ref:network/ports c !
             status      text r  \"DOWN\"
             project_id  text c  @project",
    make: |ctx, row| {
        ctx.state.when_built(TAP_SERVICE.name, text(row, "id"), json!({ "status": "ACTIVE" }));
        Ok(())
    },
    remove: |ctx, row| {
        for flow in ctx.state.with(TAP_FLOW.name, "tap_service_id", text(row, "id")) {
            ctx.state.remove(TAP_FLOW.name, text(&flow, "id"));
        }
        Ok(())
    },
    ..Collection::new(&Neutron)
};

static TAP_FLOW: Collection = Collection {
    name: "network/tap_flows",
    path: "taas/tap_flows",
    singular: "tap_flow",
    plural: "tap_flows",
    title: "TapFlow",
    fields: "name           text cu \"\"
             description    text cu \"\"
             tap_service_id ref:network/tap_services c !
             source_port    ref:network/ports c !
             direction      enum:IN|OUT|BOTH c !
             vlan_filter    text c  null
             status         text r  \"DOWN\"
             project_id     text c  @project",
    make: |ctx, row| {
        ctx.state.when_built(TAP_FLOW.name, text(row, "id"), json!({ "status": "ACTIVE" }));
        Ok(())
    },
    ..Collection::new(&Neutron)
};

static L2_GATEWAY: Collection = Collection {
    name: "network/l2_gateways",
    path: "l2-gateways",
    singular: "l2_gateway",
    plural: "l2_gateways",
    title: "L2Gateway",
    fields: "name       text cu \"\"
             devices    list c  !
             project_id text c  @project",
    remove: |ctx, row| {
        let message =
            "L2 Gateway '{id}' still has active mappings with one or more neutron networks.";
        unused(ctx, row, (L2_CONNECTION.name, "l2_gateway_id"), "L2GatewayInUse", message)
    },
    ..Collection::new(&Neutron)
};

static L2_CONNECTION: Collection = Collection {
    name: "network/l2_gateway_connections",
    path: "l2-gateway-connections",
    singular: "l2_gateway_connection",
    plural: "l2_gateway_connections",
    title: "L2GatewayConnection",
    operations: "CLSD",
    fields: "l2_gateway_id   ref:network/l2_gateways c !
             network_id      ref:network/networks c !
             segmentation_id any  c -
             project_id      text c @project",
    ..Collection::new(&Neutron)
};

static NETWORK_GATEWAY: Collection = Collection {
    name: "network/network_gateways",
    path: "network-gateways",
    singular: "network_gateway",
    plural: "network_gateways",
    title: "NetworkGateway",
    fields: "name       text cu \"\"
             devices    list c  !
             default    bool r  false
             ports      list r  []
             project_id text c  @project",
    remove: |_, row| {
        if list(row, "ports").is_empty() {
            return Ok(());
        }
        let message = format!(
            "Network Gateway '{}' still has active mappings with one or more neutron networks.",
            text(row, "id")
        );
        Err(refusal(409, "GatewayInUse", message))
    },
    ..Collection::new(&Neutron)
};

/// Connects a network to a gateway or disconnects it.
pub(super) fn gateway(ctx: &mut RequestContext<'_>, id: &str, action: &str) -> Option<Answer> {
    let connects = match action {
        "connect_network" => true,
        "disconnect_network" => false,
        _ => return None,
    };
    Some(connect(ctx, id, connects))
}

fn connect(ctx: &mut RequestContext<'_>, id: &str, connects: bool) -> Answer {
    let mut row = ctx.find(&NETWORK_GATEWAY, id)?;
    let wanted = ctx.body.clone();
    let network = wanted["network_id"].as_str().unwrap_or_default();
    ctx.find(&super::networks::NETWORK, network)?;
    let mut ports = list(&row, "ports").to_vec();
    let same = |port: &Value| {
        ["network_id", "segmentation_type", "segmentation_id"]
            .iter()
            .all(|name| port[*name] == wanted[*name])
    };
    let there = ports.iter().position(same);
    match (connects, there) {
        (true, Some(_)) => {
            let message = format!("The specified mapping already exists on network gateway {id}.");
            return Err(refusal(409, "GatewayConnectionInUse", message));
        }
        (true, None) => {
            let mut port = wanted.clone();
            port["port_id"] = json!(ctx.state.uuid());
            ports.push(port);
        }
        (false, Some(at)) => drop(ports.remove(at)),
        (false, None) => {
            let message = format!("The connection was not found on the network gateway '{id}'.");
            return Err(refusal(404, "GatewayConnectionNotFound", message));
        }
    }
    let info = ports.last().cloned().unwrap_or_default();
    set(&mut row, "ports", ports);
    ctx.state.put(NETWORK_GATEWAY.name, id, row);
    Ok(Reply::ok(json!({ "connection_info": info })))
}

/// Inserts a rule into a firewall policy or removes it.
pub(super) fn policy_rule(
    ctx: &mut RequestContext<'_>,
    version: &str,
    id: &str,
    action: &str,
) -> Option<Answer> {
    let collection = if version == "fw" { &FIREWALL_POLICY } else { &FIREWALL_POLICY_V2 };
    let rule = ctx.body["firewall_rule_id"].clone();
    let policy = match ctx.find(collection, id) {
        Ok(policy) => policy,
        Err(refusal) => return Some(Err(refusal)),
    };
    let mut rules = list(&policy, "firewall_rules").to_vec();
    let place = |field: &str| {
        let near = &ctx.body[field];
        rules.iter().position(|own| own == near)
    };
    match action {
        "insert_rule" => {
            let before = place("insert_before");
            let after = place("insert_after").map(|at| at + 1);
            rules.insert(before.or(after).unwrap_or(0), rule);
        }
        "remove_rule" => rules.retain(|own| *own != rule),
        _ => return None,
    }
    let sent = super::super::request::object(json!({ "firewall_rules": rules }));
    let changed = rest::update(ctx, collection, id, &sent);
    Some(changed.map(|row| Reply::ok(Value::from(rest::render(ctx, collection, row)))))
}
