//! OS::Example::Pool: a pool of addresses.

use kiln_cloud::{Call, CallPath, Marker, Reply, delete, get, post, put};
use kiln_resources::declare::*;
use kiln_resources::op::{Op, OpError, Progress};
use kiln_resources::wire;
use serde_json::json;

pub(crate) fn pool() -> ResourceType {
    ResourceType::new("OS::Example::Pool")
        .about("A pool of addresses.")
        .service(Service::Network)
        .props([
            prop("name", Str, "Name of the pool; generated if omitted.").updatable(),
            prop("prefixes", List, "Prefixes that addresses are allocated from.")
                .required()
                .updatable()
                .each(item(Str).is(NET_CIDR)),
            prop("ip_version", Int, "IP version of the addresses.").default(4).one_of([4, 6]),
        ])
        .attrs([
            attr("free", Int, "Number of free addresses.").uncached(),
            attr("status", Str, "Status of the pool."),
        ])
        .finder(by_name)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
}

/// The physical name is unique and known before there is a pool: it is the mark.
fn by_name(op: &Op) -> Option<Marker> {
    Some(Marker {
        list: get(Service::Network, "/pools").query("description", mark(op)),
        objects: "/pools".into(),
        field: "/description".into(),
        value: mark(op).into(),
        envelope: Some("pool".into()),
        path: "/pools".into(),
        id: "/id".into(),
    })
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let body = json!({ "pool": {
        "name": op.text("name").unwrap_or(&op.context().physical_name),
        "description": mark(op),
        "prefixes": wire::json(op.prop("prefixes")),
        "ip_version": wire::json(op.prop("ip_version")),
    }});
    let made = op.call("create", post(Service::Network, "/pools", body)).await?;
    op.set_id(made.text("/pool/id").unwrap_or_default());
    until_ready(op).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let mut changes = serde_json::Map::new();
    for name in ["name", "prefixes"] {
        if op.changes(name) {
            changes.insert(name.into(), wire::json(op.prop(name)));
        }
    }
    op.call("update", put(Service::Network, path(op), json!({ "pool": changes }))).await?;
    until_ready(op).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        let call = delete(Service::Network, path(op));
        op.remove("delete", call).await?;
        op.clear_id();
    }
    Ok(())
}

/// Waits until the service is done with the pool, and keeps what it shows: attributes come from it.
async fn until_ready(op: &mut Op) -> Result<(), OpError> {
    let look: Call = get(Service::Network, path(op));
    let shown = op.until(look, progress).await?;
    op.set_remote(wire::value(&shown.body["pool"]));
    Ok(())
}

fn progress(reply: &Reply) -> Progress {
    match reply.text("/pool/status") {
        Some("ACTIVE") => Progress::Ready,
        Some("ERROR") => Progress::Failed("Went to status ERROR due to \"Unknown\"".into()),
        _ => Progress::NotYet,
    }
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/pools").id(op.id().map_or("", |id| id))
}

/// A user may give two pools one name, so the mark is elsewhere.
fn mark(op: &Op) -> String {
    op.context().physical_name.to_string()
}
