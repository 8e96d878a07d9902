//! The bare metal service: Ironic, version 1 with its microversions: nodes, ports, groups of ports.

use serde_json::{Value, json};

use super::ask::{Answer, Reply, Turn, set, text};
use super::forms::{Form, Words, refuse};
use super::query;
use super::rest;
use super::schema::{Collection, plain};
use super::services::{Microversions, Service};

static IRONIC: Words = Words { form: Form::ErrorMessage, missing: "could not be found.", bad: 400 };

const NODES: &str = "baremetal/nodes";
const PORTS: &str = "baremetal/ports";
const GROUPS: &str = "baremetal/portgroups";

static COLLECTIONS: &[&Collection] = &[&NODE, &PORT, &GROUP];

pub(super) static SERVICE: Service = Service {
    prefix: "baremetal",
    types: &["baremetal"],
    name: "ironic",
    address: "",
    microversions: Some(Microversions {
        name: "baremetal",
        major: 1,
        oldest: 1,
        newest: 93,
        old_header: Some("x-openstack-ironic-api-version"),
    }),
    dialect: &IRONIC,
    collections: &[COLLECTIONS],
    serve,
    versions: |base, path| {
        let row = json!({
            "id": "v1", "status": "CURRENT", "min_version": "1.1", "version": "1.93",
            "links": [{ "rel": "self", "href": format!("{base}/v1/") }],
        });
        match path {
            [] => Some((
                200,
                json!({ "name": "OpenStack Ironic API", "description": "Ironic.", "versions": [row], "default_version": row }),
            )),
            ["v1"] => Some((200, json!({ "id": "v1", "version": row, "links": row["links"] }))),
            _ => None,
        }
    },
    sow: |_| (),
};

const fn metal() -> Collection {
    Collection {
        key: "uuid",
        by_name: true,
        update_method: "PATCH",
        admin_only: true,
        ..plain(&IRONIC)
    }
}

static NODE: Collection = Collection {
    name: NODES,
    path: "nodes",
    many: "nodes",
    title: "Node",
    fields: "name            text cu null
             driver          text cu !
             driver_info     map  cu {}
             properties      map  cu {}
             extra           map  cu {}
             resource_class  text cu null
             chassis_uuid    text cu null
             network_interface text cu null
             power_state     text r  null
             provision_state text r  \"enroll\"
             maintenance     bool r  false
             instance_uuid   text r  null",
    make: |turn, row| {
        set(row, "created_at", turn.world.stamp());
        Ok(())
    },
    remove: |turn, row| {
        for table in [PORTS, GROUPS] {
            for child in turn.world.with(table, "node_uuid", text(row, "uuid")) {
                turn.world.remove(table, text(&child, "uuid"));
            }
        }
        Ok(())
    },
    ..metal()
};

static PORT: Collection = Collection {
    name: PORTS,
    path: "ports",
    many: "ports",
    title: "Port",
    index: &["address"],
    fields: "address               mac  cu !
             node_uuid             ref:baremetal/nodes cu !
             portgroup_uuid        ref:baremetal/portgroups cu null
             local_link_connection map  cu {}
             pxe_enabled           bool cu true
             physical_network      text cu null
             is_smartnic           bool cu false
             extra                 map  cu {}
             name                  text cu null
             description           text cu null
             internal_info         map  r  {}",
    make: |turn, row| {
        let address = text(row, "address").to_lowercase();
        if turn.world.table(PORTS).count("address", &address) > 0 {
            return Err(refuse(409, format!("A port with MAC address {address} already exists.")));
        }
        set(row, "address", address);
        set(row, "created_at", turn.world.stamp());
        set(row, "updated_at", Value::Null);
        Ok(())
    },
    ..metal()
};

static GROUP: Collection = Collection {
    name: GROUPS,
    path: "portgroups",
    many: "portgroups",
    title: "Portgroup",
    fields: "name       text cu null
             address    mac  cu null
             node_uuid  ref:baremetal/nodes cu !
             mode       text cu \"active-backup\"
             properties map  cu {}
             extra      map  cu {}
             standalone_ports_supported bool cu true",
    remove: |turn, row| {
        if turn.world.table(PORTS).count("portgroup_uuid", text(row, "uuid")) > 0 {
            return Err(refuse(400, format!("Portgroup {} is not empty.", text(row, "uuid"))));
        }
        Ok(())
    },
    ..metal()
};

fn serve(turn: &mut Turn<'_>) -> Answer {
    let parts = turn.ask.parts();
    let ["v1", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    if !turn.who.is_admin {
        return Err(refuse(403, "Access was denied to the following resource: baremetal"));
    }
    match (turn.ask.method.as_str(), path) {
        ("GET", [kind, "detail"]) => {
            let of = COLLECTIONS
                .iter()
                .find(|of| of.path == *kind)
                .copied()
                .ok_or_else(|| refuse(404, "Not Found"))?;
            let rows = query::rows(turn, of, &[])?;
            Ok(Reply::ok(json!({ of.many: rows })))
        }
        ("GET", ["drivers"]) => Ok(Reply::ok(
            json!({ "drivers": [{ "name": "fake-hardware", "hosts": ["controller"] }] }),
        )),
        _ => rest::serve(turn, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not Found"))),
    }
}
