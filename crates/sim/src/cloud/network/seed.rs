//! What a new cloud has: a network outside, and for the project `demo` a private one behind a router.

use serde_json::{Value, json};

use super::super::ask::{Ask, Turn, Who, object, text};
use super::super::rest;
use super::super::schema::Collection;
use super::super::table::Obj;
use super::super::world::World;
use super::{networks::NETWORK, routers::ROUTER, subnets::SUBNET};
use crate::identity::project_id;

pub(super) fn sow(world: &mut World) {
    let admin = project_id("admin");
    let demo = project_id("demo");
    let public = add(
        world,
        &NETWORK,
        &admin,
        json!({
            "name": "public", "router:external": true, "is_default": true, "mtu": 1500,
            "provider:network_type": "flat", "provider:physical_network": "public",
        }),
    );
    add(
        world,
        &SUBNET,
        &admin,
        json!({
            "name": "public-subnet", "network_id": public, "ip_version": 4, "cidr": "172.24.4.0/24",
            "gateway_ip": "172.24.4.1", "enable_dhcp": false,
        }),
    );
    let private = add(world, &NETWORK, &demo, json!({ "name": "private" }));
    let subnet = add(
        world,
        &SUBNET,
        &demo,
        json!({
            "name": "private-subnet", "network_id": private, "ip_version": 4, "cidr": "10.0.0.0/26",
            "gateway_ip": "10.0.0.1",
        }),
    );
    let gateway = json!({ "network_id": public });
    let router =
        add(world, &ROUTER, &demo, json!({ "name": "router1", "external_gateway_info": gateway }));
    let router = world.copy(super::ROUTERS, &router);
    // There is nothing that could be in the way of the first interface.
    let _ = with_turn(world, &demo, |turn| super::routers::join(turn, &router, &subnet));
    let pool = json!({
        "name": "shared-default-subnetpool-v4", "prefixes": ["10.64.0.0/12"], "default_prefixlen": 26,
        "shared": true, "is_default": true,
    });
    add(world, &super::policies::POOL, &admin, pool);
}

/// Adds an object for a project and gives its id.
fn add(world: &mut World, of: &'static Collection, project: &str, sent: Value) -> String {
    with_turn(world, project, |turn| {
        let mut sent: Obj = object(sent);
        sent.insert("project_id".to_owned(), json!(project));
        rest::create(turn, of, &sent).map(|row| text(&row, "id").to_owned()).unwrap_or_default()
    })
}

/// Acts as an administrator of the project.
pub(in super::super) fn with_turn<T>(
    world: &mut World,
    project: &str,
    act: impl FnOnce(&mut Turn<'_>) -> T,
) -> T {
    let ask = Ask {
        method: "PUT".to_owned(),
        service: String::new(),
        path: Vec::new(),
        query: Vec::new(),
        headers: Default::default(),
        bytes: Vec::new(),
        base: String::new(),
    };
    let who = Who { user: String::new(), project: project.to_owned(), is_admin: true };
    act(&mut Turn { world, ask: &ask, who, body: json!({}), version: 0 })
}
