//! The network service: Neutron, version 2.0.

/// The fields that almost every object of this service has.
macro_rules! standard {
    () => {
        "
        description     text cu \"\"
        project_id      text c  @project
        tags            list r  []
        revision_number int  r  1
        created_at      text r  @now
        updated_at      text r  @now"
    };
}

mod addresses;
mod dialect;
pub(super) mod extensions;
mod floating;
pub(super) mod groups;
pub(super) mod networks;
mod policies;
pub(super) mod ports;
mod qos;
mod routers;
mod seed;
mod services;
mod subnets;
mod tags;

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::request::{Answer, Refusal, RequestContext, object, set};
use super::rest;
use super::schema::Collection;
use super::services::Service;
use super::table::Obj;

pub(super) use self::dialect::Neutron;

pub(super) const FLOATING: &str = "network/floatingips";
pub(super) const FORWARDS: &str = "network/port_forwardings";
pub(super) const GROUPS: &str = "network/security_groups";
pub(super) const NETWORKS: &str = "network/networks";
pub(super) const POLICIES: &str = "network/policies";
pub(super) const POOLS: &str = "network/subnetpools";
pub(super) const PORTS: &str = "network/ports";
pub(super) const RBAC: &str = "network/rbac_policies";
pub(super) const ROUTERS: &str = "network/routers";
pub(super) const RULES: &str = "network/security_group_rules";
pub(super) const SEGMENTS: &str = "network/segments";
pub(super) const SUBNETS: &str = "network/subnets";
pub(super) const TRUNKS: &str = "network/trunks";

static COLLECTIONS: &[&Collection] = &[
    &floating::FLOATING_IP,
    &floating::FORWARD,
    &groups::GROUP,
    &groups::RULE,
    &networks::NETWORK,
    &policies::POOL,
    &policies::RBAC_POLICY,
    &policies::SEGMENT,
    &policies::TRUNK,
    &ports::PORT,
    &qos::BANDWIDTH,
    &qos::DSCP,
    &qos::MINIMUM_BANDWIDTH,
    &qos::MINIMUM_RATE,
    &qos::POLICY,
    &qos::RATE_LIMIT,
    &routers::ROUTER,
    &subnets::SUBNET,
];

pub(super) static SERVICE: Service = Service {
    prefix: "network",
    types: &["network"],
    name: "neutron",
    address: "",
    microversions: None,
    dialect: &Neutron,
    collections: &[COLLECTIONS, services::COLLECTIONS],
    serve,
    versions,
    seed: seed::seed,
};

fn versions(base: &str, path: &[&str]) -> Option<(u16, Value)> {
    let link = json!({ "href": format!("{base}/v2.0/"), "rel": "self" });
    match path {
        [] => {
            let version = json!({ "id": "v2.0", "status": "CURRENT", "links": [link] });
            Some((200, json!({ "versions": [version] })))
        }
        ["v2.0"] => {
            let name = |collection: &&Collection| !collection.path.contains(['{', '/']);
            let resources: Vec<Value> = COLLECTIONS
                .iter()
                .filter(|collection| name(collection))
                .map(|collection| {
                    json!({
                        "name": collection.singular, "collection": collection.plural,
                        "links": [{ "rel": "self", "href": format!("{base}/v2.0/{}", collection.path) }],
                    })
                })
                .collect();
            Some((200, json!({ "resources": resources })))
        }
        _ => None,
    }
}

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v2.0", path @ ..] = parts.as_slice() else { return Err(nothing()) };
    let path: Vec<&str> =
        path.iter().map(|part| part.strip_suffix(".json").unwrap_or(part)).collect();
    if let ["security-groups" | "ports", ..] = path.as_slice() {
        let project = ctx.caller.project.clone();
        if !project.is_empty() {
            groups::default_of(ctx.state, &project);
        }
    }
    let special = match path.as_slice() {
        ["routers", id, action] => routers::serve(ctx, id, action),
        ["trunks", id, action] => extensions::trunk(ctx, id, action),
        ["network-gateways", id, action] => services::gateway(ctx, id, action),
        [version @ ("fw" | "fwaas"), "firewall_policies", id, action] => {
            services::policy_rule(ctx, version, id, action)
        }
        _ => None,
    };
    let special =
        special.or_else(|| extensions::serve(ctx, &path, &[COLLECTIONS, services::COLLECTIONS]));
    let special = special.or_else(|| tags::serve(ctx, COLLECTIONS, &path));
    special
        .or_else(|| rest::serve(ctx, COLLECTIONS, &path))
        .or_else(|| rest::serve(ctx, services::COLLECTIONS, &path))
        .unwrap_or_else(|| Err(nothing()))
}

fn nothing() -> Refusal {
    Neutron.generic(404, "The resource could not be found.")
}

/// Creates an object for the cloud itself: it belongs to the given project or to no project, and no quota counts it.
pub(super) fn internal(
    ctx: &mut RequestContext<'_>,
    collection: &'static Collection,
    sent: Value,
    project: &str,
) -> Result<Obj, Refusal> {
    let caller = ctx.caller.clone();
    ctx.caller.is_admin = true;
    let mut sent = object(sent);
    set(&mut sent, "project_id", project);
    let made = rest::create(ctx, collection, &sent);
    ctx.caller = caller;
    made
}
