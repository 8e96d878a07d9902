//! The networks of a new cloud: an external network, and a private network with a router for the project `demo`.

use serde_json::{Value, json};

use super::super::request::{Caller, Request, RequestContext, object, text};
use super::super::rest;
use super::super::schema::Collection;
use super::super::state::CloudState;
use super::super::table::Obj;
use super::{networks::NETWORK, routers::ROUTER, subnets::SUBNET};
use crate::identity::project_id;

pub(super) fn seed(state: &mut CloudState) {
    let admin = project_id("admin");
    let demo = project_id("demo");
    let public = add(
        state,
        &NETWORK,
        &admin,
        json!({
            "name": "public", "router:external": true, "is_default": true, "mtu": 1500,
            "provider:network_type": "flat", "provider:physical_network": "public",
        }),
    );
    add(
        state,
        &SUBNET,
        &admin,
        json!({
            "name": "public-subnet", "network_id": public, "ip_version": 4, "cidr": "172.24.4.0/24",
            "gateway_ip": "172.24.4.1", "enable_dhcp": false,
        }),
    );
    let private = add(state, &NETWORK, &demo, json!({ "name": "private" }));
    let subnet = add(
        state,
        &SUBNET,
        &demo,
        json!({
            "name": "private-subnet", "network_id": private, "ip_version": 4, "cidr": "10.0.0.0/26",
            "gateway_ip": "10.0.0.1",
        }),
    );
    let gateway = json!({ "network_id": public });
    let router =
        add(state, &ROUTER, &demo, json!({ "name": "router1", "external_gateway_info": gateway }));
    let router = state.copy(super::ROUTERS, &router);
    // No other interface can conflict with the first one.
    let _ = with_context(state, &demo, |ctx| super::routers::join(ctx, &router, &subnet));
    let pool = json!({
        "name": "shared-default-subnetpool-v4", "prefixes": ["10.64.0.0/12"], "default_prefixlen": 26,
        "shared": true, "is_default": true,
    });
    add(state, &super::policies::POOL, &admin, pool);
}

/// Creates an object for a project and returns its id.
fn add(
    state: &mut CloudState,
    collection: &'static Collection,
    project: &str,
    sent: Value,
) -> String {
    with_context(state, project, |ctx| {
        let mut sent: Obj = object(sent);
        sent.insert("project_id".to_owned(), json!(project));
        rest::create(ctx, collection, &sent)
            .map(|row| text(&row, "id").to_owned())
            .unwrap_or_default()
    })
}

/// Calls a function as an administrator of the project.
pub(in super::super) fn with_context<T>(
    state: &mut CloudState,
    project: &str,
    act: impl FnOnce(&mut RequestContext<'_>) -> T,
) -> T {
    let request = Request {
        method: "PUT".to_owned(),
        service: String::new(),
        path: Vec::new(),
        query: Vec::new(),
        headers: Default::default(),
        bytes: Vec::new(),
        base: String::new(),
    };
    let caller = Caller { user: String::new(), project: project.to_owned(), is_admin: true };
    act(&mut RequestContext { state, request: &request, caller, body: json!({}), version: 0 })
}
