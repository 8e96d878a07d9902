//! Extensions, agents, availability zones, quotas, automatically allocated topologies, and trunks.

use serde_json::{Map, Value, json};

use super::super::dialect::Dialect;
use super::super::request::{Answer, Refusal, Reply, RequestContext, flag, object, set, text};
use super::super::rest;
use super::super::schema::Collection;
use super::super::table::Obj;
use super::dialect::{Neutron, refusal};
use super::{NETWORKS, PORTS, internal};

/// The extensions, by alias.
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "address-group", "address-scope", "agent", "allowed-address-pairs", "auto-allocated-topology",
    "availability_zone", "availability_zone_filter", "binding", "binding-extended", "default-subnetpools",
    "dhcp_agent_scheduler", "dns-domain-ports", "dns-integration", "dvr", "empty-string-filtering", "expose-port-forwarding-in-fip",
    "ext-gw-mode", "external-net", "extra_dhcp_opt", "extraroute", "extraroute-atomic", "filter-validation",
    "fip-port-details", "flavors", "floating-ip-port-forwarding", "fwaas", "fwaas_v2", "gateway-device", "ip-substring-filtering",
    "ip_allocation", "l2-gateway", "l2-gateway-connection", "l2_adjacency", "l3-ha", "l3_agent_scheduler",
    "metering", "metering_source_and_destination_fields", "multi-provider", "net-mtu", "net-mtu-writable",
    "network-gateway", "network-ip-availability", "network_availability_zone", "pagination", "port-numa-affinity-policy",
    "port-security", "project-id", "provider", "qos", "qos-bw-limit-direction", "qos-bw-minimum-ingress", "qos-default",
    "qos-fip", "qos-pps", "qos-pps-minimum", "qos-rule-type-details", "qos-rules-alias", "quota_details", "quotas",
    "rbac-address-scope", "rbac-policies", "rbac-security-groups", "rbac-subnetpool", "revision-if-match", "router",
    "router_availability_zone", "security-group", "security-groups-remote-address-group", "segment", "segments-peer-subnet-host-routes",
    "service-type", "sfc", "shared-security-groups", "sorting", "standard-attr-description", "standard-attr-revisions",
    "standard-attr-segment", "standard-attr-tag", "standard-attr-timestamp", "stateful-security-group", "subnet-dns-publish-fixed-ip",
    "subnet-service-types", "subnet_allocation", "subnetpool-prefix-ops", "taas", "tag", "tag-ext", "trunk", "trunk-details",
    "uplink-status-propagation", "vlan-transparent", "vpn-endpoint-groups", "vpnaas",
];

/// The agents: type, topic, binary.
const AGENTS: &[(&str, &str, &str)] = &[
    ("Open vSwitch agent", "N/A", "neutron-openvswitch-agent"),
    ("DHCP agent", "dhcp_agent", "neutron-dhcp-agent"),
    ("L3 agent", "l3_agent", "neutron-l3-agent"),
    ("Metadata agent", "N/A", "neutron-metadata-agent"),
];

/// Handles a request about the service itself; `None` if it is not one.
pub(super) fn serve(
    ctx: &mut RequestContext<'_>,
    path: &[&str],
    collections: &[&[&'static Collection]],
) -> Option<Answer> {
    let method = ctx.request.method.clone();
    Some(match (method.as_str(), path) {
        ("GET", ["extensions"]) => {
            let all: Vec<Value> = EXTENSIONS.iter().map(|alias| extension(alias)).collect();
            Ok(Reply::ok(json!({ "extensions": all })))
        }
        ("GET", ["extensions", alias]) => {
            if EXTENSIONS.contains(alias) {
                Ok(Reply::ok(json!({ "extension": extension(alias) })))
            } else {
                Err(refusal(404, "HTTPNotFound", "Extension with alias does not exist"))
            }
        }
        ("GET", ["availability_zones"]) => {
            let zone =
                |kind: &str| json!({ "name": "nova", "resource": kind, "state": "available" });
            Ok(Reply::ok(json!({ "availability_zones": [zone("network"), zone("router")] })))
        }
        ("GET", ["agents"]) => agents(ctx),
        ("GET", ["agents", id]) => {
            let all = all_agents(ctx);
            match all.iter().find(|agent| agent["id"] == json!(id)) {
                Some(agent) => Ok(Reply::ok(json!({ "agent": agent }))),
                None => {
                    Err(refusal(404, "AgentNotFound", format!("Agent {id} could not be found.")))
                }
            }
        }
        (_, ["agents", agent, "l3-routers", rest @ ..]) => scheduled(ctx, "router", agent, rest),
        (_, ["agents", agent, "dhcp-networks", rest @ ..]) => {
            scheduled(ctx, "network", agent, rest)
        }
        ("GET", ["routers", id, "l3-agents"]) => hosting(ctx, "router", id),
        ("GET", ["networks", id, "dhcp-agents"]) => hosting(ctx, "network", id),
        ("GET", ["qos", "rule-types"]) => Ok(Reply::ok(super::qos::rule_types())),
        (_, ["quotas", rest @ ..]) => quotas(ctx, rest, collections),
        ("GET", ["auto-allocated-topology", project]) => topology(ctx, project),
        ("DELETE", ["auto-allocated-topology", project]) => remove_topology(ctx, project),
        _ => return None,
    })
}

fn extension(alias: &str) -> Value {
    let name = alias.replace(['-', '_'], " ");
    json!({
        "alias": alias, "name": name, "description": format!("The extension {alias}."),
        "updated": "2020-01-01T00:00:00-00:00", "links": [],
    })
}

/// Returns the agents, which run on one host and keep their ids.
fn all_agents(ctx: &mut RequestContext<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for (kind, topic, binary) in AGENTS {
        let note = format!("agent/{binary}");
        if !ctx.state.notes.contains_key(&note) {
            let id = ctx.state.uuid();
            ctx.state.notes.insert(note.clone(), json!(id));
        }
        let timestamp = ctx.state.timestamp().replace('T', " ").replace('Z', "");
        all.push(json!({
            "id": ctx.state.notes[&note], "agent_type": kind, "topic": topic, "binary": binary,
            "host": "compute-1", "alive": true, "admin_state_up": true, "availability_zone": "nova",
            "configurations": {}, "created_at": timestamp, "started_at": timestamp, "heartbeat_timestamp": timestamp,
            "description": null, "resources_synced": null,
        }));
    }
    all
}

fn agents(ctx: &mut RequestContext<'_>) -> Answer {
    if !ctx.caller.is_admin {
        return Ok(Reply::ok(json!({ "agents": [] })));
    }
    let all = all_agents(ctx);
    let says = |agent: &Value| {
        ctx.request.query.iter().all(|(name, wanted)| {
            agent.get(name).is_none_or(|value| match value {
                Value::String(text) => text == wanted,
                Value::Bool(flag) => super::super::check::parse_bool(wanted) == Some(*flag),
                _ => true,
            })
        })
    };
    let kept: Vec<&Value> = all.iter().filter(|agent| says(agent)).collect();
    Ok(Reply::ok(json!({ "agents": kept })))
}

/// Handles the scheduling of routers and networks to agents, which is stored with the router or network.
fn scheduled(ctx: &mut RequestContext<'_>, kind: &str, agent: &str, rest: &[&str]) -> Answer {
    if !ctx.caller.is_admin {
        return Err(refusal(
            403,
            "PolicyNotAuthorized",
            "rule:create_agent is disallowed by policy",
        ));
    }
    if !all_agents(ctx).iter().any(|known| known["id"] == json!(agent)) {
        return Err(refusal(404, "AgentNotFound", format!("Agent {agent} could not be found.")));
    }
    let sent = ctx.body[format!("{kind}_id")].as_str().map(str::to_owned);
    let id = rest.first().map(|id| (*id).to_owned()).or(sent);
    match (ctx.request.method.as_str(), id) {
        ("POST", Some(id)) => {
            let note = format!("scheduled/{kind}/{id}/{agent}");
            if ctx.state.notes.insert(note, json!(true)).is_some() {
                let message =
                    format!("The {kind} {id} has been already hosted by the agent {agent}.");
                return Err(refusal(409, "HostedByAgent", message));
            }
            Ok(Reply::json(201, Value::Null))
        }
        ("DELETE", Some(id)) => {
            let note = format!("scheduled/{kind}/{id}/{agent}");
            match ctx.state.notes.remove(&note) {
                Some(_) => Ok(Reply::empty(204)),
                None => {
                    let message = format!("The {kind} {id} is not hosted by the agent {agent}.");
                    Err(refusal(409, "NotHostedByAgent", message))
                }
            }
        }
        ("GET", None) => {
            let ids: Vec<Value> = ctx
                .state
                .notes
                .keys()
                .filter_map(|note| note.strip_prefix(&format!("scheduled/{kind}/")))
                .filter_map(|rest| rest.strip_suffix(&format!("/{agent}")))
                .map(|id| json!({ "id": id }))
                .collect();
            Ok(Reply::ok(json!({ format!("{kind}s"): ids })))
        }
        _ => Err(Neutron.generic(405, "The method is not allowed for the requested URL.")),
    }
}

fn hosting(ctx: &mut RequestContext<'_>, kind: &str, id: &str) -> Answer {
    let all = all_agents(ctx);
    let hosts = |agent: &&Value| {
        let agent = agent["id"].as_str().unwrap_or_default();
        ctx.state.notes.contains_key(&format!("scheduled/{kind}/{id}/{agent}"))
    };
    let found: Vec<&Value> = all.iter().filter(hosts).collect();
    Ok(Reply::ok(json!({ "agents": found })))
}

fn quotas(
    ctx: &mut RequestContext<'_>,
    rest: &[&str],
    collections: &[&[&'static Collection]],
) -> Answer {
    let known: Vec<(&str, i64, &str)> = collections
        .iter()
        .flat_map(|some| some.iter())
        .filter_map(|collection| {
            collection.quota.map(|(name, usual)| (name, usual, collection.name))
        })
        .chain([("subnetpool", -1, super::POOLS)])
        .collect();
    let own = ctx.caller.project.clone();
    let (project, word) = match rest {
        [] => {
            let none: Vec<Value> = Vec::new();
            return Ok(Reply::ok(json!({ "quotas": none })));
        }
        [project] if *project == "tenant" || *project == "project" => {
            return Ok(Reply::ok(
                json!({ "project": { "project_id": own }, "tenant": { "tenant_id": own } }),
            ));
        }
        [project] => (*project, ""),
        [project, word, ..] => (*project, *word),
    };
    if project != own && !ctx.caller.is_admin {
        return Err(refusal(
            403,
            "AdminRequired",
            "User does not have admin privileges: Cannot get quotas.",
        ));
    }
    match ctx.request.method.as_str() {
        "GET" => {}
        "PUT" if ctx.caller.is_admin => {
            let sent = ctx.body["quota"].as_object().cloned().ok_or_else(no_quota)?;
            for (name, limit) in sent {
                if !known.iter().any(|(own, ..)| *own == name) {
                    let message = format!("Unrecognized attribute(s) '{name}'");
                    return Err(refusal(400, "HTTPBadRequest", message));
                }
                let limit =
                    limit.as_i64().or_else(|| limit.as_str()?.parse().ok()).ok_or_else(no_quota)?;
                ctx.state.set_quota("network", project, &name, limit);
            }
        }
        "DELETE" if ctx.caller.is_admin => {
            ctx.state.reset_quota("network", project);
            return Ok(Reply::empty(204));
        }
        _ => {
            return Err(refusal(
                403,
                "AdminRequired",
                "User does not have admin privileges: quota.",
            ));
        }
    }
    let mut rendered = Map::new();
    for (name, usual, table) in known {
        let limit = match word {
            "default" => ctx.state.default_quota.unwrap_or(usual),
            _ => ctx.state.quota("network", project, name, usual),
        };
        let value = if word.starts_with("details") {
            let used = ctx.state.table(table).count("project_id", project);
            json!({ "limit": limit, "used": used, "reserved": 0 })
        } else {
            json!(limit)
        };
        rendered.insert(name.to_owned(), value);
    }
    Ok(Reply::ok(json!({ "quota": rendered })))
}

fn no_quota() -> Refusal {
    refusal(400, "HTTPBadRequest", "Unable to find 'quota' in request body")
}

const TOPOLOGY: &str = "auto_allocated_network";

fn find_topology(ctx: &RequestContext<'_>, project: &str) -> Option<Obj> {
    let own = ctx.state.table(NETWORKS).with("project_id", project);
    own.into_iter().find(|net| text(net, "name") == TOPOLOGY).cloned()
}

/// Returns the network of the project's automatic topology, creating the topology (network, subnet, router) on first
/// use.
pub(in super::super) fn allocate(
    ctx: &mut RequestContext<'_>,
    project: &str,
) -> Result<String, Refusal> {
    let outside = ctx.state.table(NETWORKS).iter().find(|net| flag(net, "is_default")).cloned();
    let Some(outside) = outside else {
        let message = "Deployment error: No default router:external network.";
        return Err(refusal(409, "AutoAllocationFailure", message));
    };
    if let Some(network) = find_topology(ctx, project) {
        return Ok(text(&network, "id").to_owned());
    }
    let named = json!({ "name": TOPOLOGY });
    let network = internal(ctx, &super::networks::NETWORK, named, project)?;
    let subnet = json!({
        "name": "auto_allocated_subnet_v4", "network_id": network["id"], "ip_version": 4,
        "use_default_subnetpool": true,
    });
    let subnet = internal(ctx, &super::subnets::SUBNET, subnet, project)?;
    let router = json!({
        "name": "auto_allocated_router", "external_gateway_info": { "network_id": outside["id"] },
    });
    let router = internal(ctx, &super::routers::ROUTER, router, project)?;
    super::routers::join(ctx, &router, text(&subnet, "id"))?;
    Ok(text(&network, "id").to_owned())
}

fn topology(ctx: &mut RequestContext<'_>, project: &str) -> Answer {
    let project = match project {
        "null" | "None" => ctx.caller.project.clone(),
        project => project.to_owned(),
    };
    let id = match ctx.request.query("fields") {
        Some("dry-run") => "dry-run=pass".to_owned(),
        _ => allocate(ctx, &project)?,
    };
    let topology = json!({ "id": id, "tenant_id": project, "project_id": project });
    Ok(Reply::ok(json!({ "auto_allocated_topology": topology })))
}

fn remove_topology(ctx: &mut RequestContext<'_>, project: &str) -> Answer {
    let Some(network) = find_topology(ctx, project) else {
        let message = format!("Auto allocated topology for tenant {project} not found.");
        return Err(refusal(404, "AutoAllocatedTopologyNotFound", message));
    };
    for port in ctx.state.with(PORTS, "network_id", text(&network, "id")) {
        if text(&port, "device_owner") == "network:router_interface" {
            let router = text(&port, "device_id").to_owned();
            ctx.state.remove(PORTS, text(&port, "id"));
            rest::delete(ctx, &super::routers::ROUTER, &router)?;
        }
    }
    rest::delete(ctx, &super::networks::NETWORK, text(&network, "id"))?;
    Ok(Reply::empty(204))
}

/// Adds subports to a trunk, removes them, or lists them.
pub(super) fn trunk(ctx: &mut RequestContext<'_>, id: &str, action: &str) -> Option<Answer> {
    let adds = match (ctx.request.method.as_str(), action) {
        ("PUT", "add_subports") => true,
        ("PUT", "remove_subports") => false,
        ("GET", "get_subports") => {
            let found = ctx.find(&super::policies::TRUNK, id);
            return Some(found.map(|row| Reply::ok(json!({ "sub_ports": row["sub_ports"] }))));
        }
        _ => return None,
    };
    Some(change_trunk(ctx, id, adds))
}

fn change_trunk(ctx: &mut RequestContext<'_>, id: &str, adds: bool) -> Answer {
    let collection = &super::policies::TRUNK;
    let mut row = ctx.find(collection, id)?;
    let wanted = ctx.body["sub_ports"].as_array().cloned().unwrap_or_default();
    if adds {
        super::policies::add_subports(ctx, &mut row, &wanted)?;
    } else {
        let mut ports = super::super::request::list(&row, "sub_ports").to_vec();
        for gone in &wanted {
            let at = ports.iter().position(|own| own["port_id"] == gone["port_id"]);
            let port = gone["port_id"].as_str().unwrap_or_default();
            let Some(at) = at else {
                let message = format!("SubPort {port} on trunk {id} could not be found.");
                return Err(refusal(404, "SubPortNotFound", message));
            };
            ports.remove(at);
            ctx.state.set(PORTS, port, json!({ "device_owner": "" }));
        }
        set(&mut row, "sub_ports", ports);
    }
    ctx.state.put(collection.name, id, row.clone());
    Ok(Reply::ok(Value::from(object(json!(rest::render(ctx, collection, row))))))
}
