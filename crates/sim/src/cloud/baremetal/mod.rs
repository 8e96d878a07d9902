//! The bare metal service: Ironic, version 1 with its microversions. It has nodes, ports and port groups.

use serde_json::{Value, json};

use super::error_style::{ErrorForm, ErrorStyle, refuse};
use super::query;
use super::request::{Answer, Reply, RequestContext, set, text};
use super::rest;
use super::schema::Collection;
use super::services::{Microversions, Service};

static IRONIC: ErrorStyle =
    ErrorStyle { form: ErrorForm::ErrorMessage, missing: "could not be found.", bad: 400 };

const NODES: &str = "baremetal/nodes";
const PORTS: &str = "baremetal/ports";
const GROUPS: &str = "baremetal/portgroups";

static COLLECTIONS: &[&Collection] = &[&NODE, &PORT, &GROUP];

pub(super) static SERVICE: Service = Service {
    prefix: "baremetal",
    types: &["baremetal"],
    name: "ironic",
    address: "",
    microversions: Some(
        Microversions::new("baremetal", 1, 1, 93).or_header("x-openstack-ironic-api-version"),
    ),
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
    seed: |_| (),
};

const fn metal() -> Collection {
    Collection {
        key: "uuid",
        by_name: true,
        update_method: "PATCH",
        admin_only: true,
        ..Collection::new(&IRONIC)
    }
}

static NODE: Collection = Collection {
    name: NODES,
    path: "nodes",
    plural: "nodes",
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
    make: |ctx, row| {
        set(row, "created_at", ctx.state.timestamp());
        Ok(())
    },
    remove: |ctx, row| {
        for table in [PORTS, GROUPS] {
            for child in ctx.state.with(table, "node_uuid", text(row, "uuid")) {
                ctx.state.remove(table, text(&child, "uuid"));
            }
        }
        Ok(())
    },
    ..metal()
};

static PORT: Collection = Collection {
    name: PORTS,
    path: "ports",
    plural: "ports",
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
    make: |ctx, row| {
        let address = text(row, "address").to_lowercase();
        if ctx.state.table(PORTS).count("address", &address) > 0 {
            return Err(refuse(409, format!("A port with MAC address {address} already exists.")));
        }
        set(row, "address", address);
        set(row, "created_at", ctx.state.timestamp());
        set(row, "updated_at", Value::Null);
        Ok(())
    },
    ..metal()
};

static GROUP: Collection = Collection {
    name: GROUPS,
    path: "portgroups",
    plural: "portgroups",
    title: "Portgroup",
    fields: "name       text cu null
             address    mac  cu null
             node_uuid  ref:baremetal/nodes cu !
             mode       text cu \"active-backup\"
             properties map  cu {}
             extra      map  cu {}
             standalone_ports_supported bool cu true",
    remove: |ctx, row| {
        if ctx.state.table(PORTS).count("portgroup_uuid", text(row, "uuid")) > 0 {
            return Err(refuse(400, format!("Portgroup {} is not empty.", text(row, "uuid"))));
        }
        Ok(())
    },
    ..metal()
};

fn serve(ctx: &mut RequestContext<'_>) -> Answer {
    let parts = ctx.request.parts();
    let ["v1", path @ ..] = parts.as_slice() else { return Err(refuse(404, "Not Found")) };
    if !ctx.caller.is_admin {
        return Err(refuse(403, "Access was denied to the following resource: baremetal"));
    }
    match (ctx.request.method.as_str(), path) {
        ("GET", [kind, "detail"]) => {
            let collection = COLLECTIONS
                .iter()
                .find(|collection| collection.path == *kind)
                .copied()
                .ok_or_else(|| refuse(404, "Not Found"))?;
            let rows = query::rows(ctx, collection, &[])?;
            Ok(Reply::ok(json!({ collection.plural: rows })))
        }
        ("GET", ["drivers"]) => Ok(Reply::ok(
            json!({ "drivers": [{ "name": "fake-hardware", "hosts": ["controller"] }] }),
        )),
        _ => rest::serve(ctx, COLLECTIONS, path).unwrap_or_else(|| Err(refuse(404, "Not Found"))),
    }
}
