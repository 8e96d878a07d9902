//! OS::Nova::HostAggregate: a set of compute hosts with metadata of their own.

use super::common::among_all;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open, section};
use crate::rest::{self, RestSpec};
use crate::wire;
use kiln_cloud::{Call, CallPath, get, post};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};

pub(super) fn host_aggregate() -> ResourceType {
    ResourceType::new("OS::Nova::HostAggregate")
        .about("A set of compute hosts with metadata of their own.")
        .service(Service::Compute)
        .entity("aggregates")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop(
                "availability_zone",
                Str,
                "Name of the availability zone that the hosts make up; users can ask for it.",
            )
            .updatable(),
            prop("hosts", List, "Names of the compute hosts in the aggregate.")
                .updatable()
                .each(item(Str).is(HOST)),
            prop(
                "metadata",
                Map,
                "Keys and values that the scheduler matches against flavors and images.",
            )
            .updatable()
            .default_empty(),
            prop("name", Str, "Name of the aggregate, unique in the cloud.").required().updatable(),
        ])
        .finder(among_all)
        .deletes(|op| Box::pin(remove(op)))
        .rest(
            RestSpec::new(Service::Compute, "/os-aggregates", "aggregate")
                .unsent(["hosts", "metadata"])
                .deleted_at_once()
                .after_write(|op| Box::pin(afterwards(op))),
        )
}

fn path(op: &Op) -> CallPath {
    CallPath::from("/os-aggregates").id(op.id().map_or("", |id| id))
}

fn action(op: &Op, body: Json) -> Call {
    post(Service::Compute, path(op).then("/action"), body).may_be_repeated()
}

fn hosts(members: &Members) -> Vec<String> {
    items(members, "hosts").iter().map(|host| print::plain(open(host))).collect()
}

async fn afterwards(op: &mut Op) -> Result<(), OpError> {
    let context = op.context().clone();
    let metadata = changed_metadata(&context.previous_properties, &context.properties);
    if !metadata.is_empty() {
        let call = action(op, json!({ "set_metadata": { "metadata": metadata } }));
        op.call("metadata", call).await?;
    }
    let (old, new) = (hosts(&context.previous_properties), hosts(&context.properties));
    for host in old.iter().filter(|host| !new.contains(host)) {
        remove_host(op, host).await?;
    }
    for host in new.iter().filter(|host| !old.contains(host)) {
        let call = action(op, json!({ "add_host": { "host": host } }));
        match op.call(&format!("add {host}"), call).await {
            // The host is a member already.
            Err(stop) if stop.is_conflict() && has_host(op, host).await? => {}
            done => _ = done?,
        }
    }
    Ok(())
}

/// The changes of the metadata; null removes a key.
fn changed_metadata(before: &Members, after: &Members) -> Map<String, Json> {
    let empty = Members::new();
    let old = section(before, "metadata").unwrap_or(&empty);
    let new = section(after, "metadata").unwrap_or(&empty);
    let gone =
        old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.to_string(), Json::Null));
    let set = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let text = |value: &Value| match open(value) {
        Value::Text(text) => text.to_string(),
        value => wire::json(value).to_string(),
    };
    gone.chain(set.map(|(key, value)| (key.to_string(), text(value).into()))).collect()
}

async fn has_host(op: &mut Op, host: &str) -> Result<bool, OpError> {
    let shown = op.read(get(Service::Compute, path(op))).await?;
    let hosts = shown.body["aggregate"]["hosts"].as_array();
    Ok(hosts.is_some_and(|hosts| hosts.iter().any(|it| it == host)))
}

async fn remove_host(op: &mut Op, host: &str) -> Result<(), OpError> {
    let call = action(op, json!({ "remove_host": { "host": host } }));
    op.remove(&format!("remove {host}"), call).await
}

/// Removes the hosts and deletes the aggregate: the service refuses to delete one with hosts.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let members = match op.read(get(Service::Compute, path(op))).await {
        Ok(shown) => shown.body["aggregate"]["hosts"].as_array().cloned().unwrap_or_default(),
        Err(stop) if stop.is_not_found() => Vec::new(),
        Err(stop) => return Err(stop),
    };
    for host in members.iter().filter_map(Json::as_str) {
        remove_host(op, host).await?;
    }
    rest::remove(op).await
}
