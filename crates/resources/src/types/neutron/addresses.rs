//! Fixed addresses that pass from a replaced port to its replacement, and back on a rollback.
//!
//! The network service refuses an address that another port has, so the other port gives it up first.

use crate::op::{Op, OpError};
use kiln_cloud::{CallPath, Service, get, put};
use serde_json::{Value as Json, json};

fn path(port: &str) -> CallPath {
    CallPath::from("/ports").id(port)
}

/// Reads a port; null if it does not exist.
pub(crate) async fn read_port(op: &mut Op, port: &str) -> Result<Json, OpError> {
    match op.read(get(Service::Network, path(port))).await {
        Ok(reply) => Ok(reply.body["port"].clone()),
        Err(stop) if stop.is_not_found() => Ok(Json::Null),
        Err(stop) => Err(stop),
    }
}

/// The ports of a server.
pub(crate) async fn ports_of(op: &mut Op, server: &str) -> Result<Vec<Json>, OpError> {
    let list = op.read(get(Service::Network, "/ports").query("device_id", server)).await?;
    Ok(list.body["ports"].as_array().cloned().unwrap_or_default())
}

/// The entries for the addresses of a port.
pub(crate) fn entries(port: &Json) -> Vec<Json> {
    port["fixed_ips"].as_array().cloned().unwrap_or_default()
}

/// Whether a port has an address.
pub(crate) fn has(port: &Json, address: &str) -> bool {
    entries(port).iter().any(|entry| entry["ip_address"] == address)
}

/// Takes addresses from a port that has them.
pub(crate) async fn give_up(op: &mut Op, port: &Json, addresses: &[String]) -> Result<(), OpError> {
    let is_wanted = |entry: &Json| addresses.iter().any(|it| entry["ip_address"] == it.as_str());
    let (given_up, kept): (Vec<Json>, Vec<Json>) = entries(port).into_iter().partition(is_wanted);
    match port["id"].as_str() {
        Some(id) if !given_up.is_empty() => {
            set(op, &format!("give up addresses of {id}"), id, kept).await
        }
        _ => Ok(()),
    }
}

/// Sets the addresses of a port; a port that does not exist needs none.
pub(crate) async fn set(
    op: &mut Op,
    step: &str,
    port: &str,
    entries: Vec<Json>,
) -> Result<(), OpError> {
    let body = json!({ "port": { "fixed_ips": entries } });
    match op.call(step, put(Service::Network, path(port), body)).await {
        Err(stop) if stop.is_not_found() => Ok(()),
        done => done.map(drop),
    }
}
