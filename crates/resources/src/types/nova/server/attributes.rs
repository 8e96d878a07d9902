//! The attributes of a server, as pure functions of the last replies of the services.

use super::look::part;
use crate::behaviour::View;
use crate::declare::{Members, Value, list, map};
use crate::property_access::{items, text};
use crate::types::heat::collecting;
use kiln_template::functions::{Fault, step_into_attribute};
use std::sync::Arc;

/// Reads an attribute of a server; `None` if there is no such attribute.
pub(super) fn attribute(
    view: &View<'_>,
    name: &str,
    path: &[Value],
) -> Result<Option<Value>, Fault> {
    let empty = Members::new();
    let server = part(view.remote, "server").and_then(Value::as_map).unwrap_or(&empty);
    let answer = match name {
        "show" => {
            let mut shown = server.clone();
            shown.insert("os_collect_config".into(), collecting::told(view));
            Value::Map(Arc::new(shown))
        }
        "addresses" => addresses(view.remote),
        "networks" => networks(view.remote),
        "first_address" => first_address(view.remote).unwrap_or("").into(),
        "instance_name" => server.get("OS-EXT-SRV-ATTR:instance_name").cloned().unwrap_or_default(),
        "name" | "accessIPv4" | "accessIPv6" | "tags" => field(server, name),
        "console_urls" => console_urls(view.physical_id.unwrap_or_default()),
        "os_collect_config" => collecting::told(view),
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer, path)))
}

fn field(server: &Members, name: &str) -> Value {
    server.get(name).cloned().unwrap_or_else(|| "".into())
}

/// The attribute `console_urls`. The URLs expire soon, so each value names the command that creates one.
fn console_urls(id: &str) -> Value {
    const KINDS: [&str; 6] = ["novnc", "rdp-html5", "serial", "spice-html5", "webmks", "xvpvnc"];
    map(KINDS.map(|kind| (kind, Value::from(format!(
        "Addresses of consoles end soon and are not kept. Next: openstack console url show {id}"
    )))))
}

/// The objects of a kind in the recorded replies of the network service.
fn objects<'v>(shown: &'v Value, kind: &str) -> impl Iterator<Item = &'v Members> {
    let all = part(shown, kind).and_then(Value::as_list).unwrap_or_default();
    all.iter().filter_map(Value::as_map)
}

fn by_id<'v>(shown: &'v Value, kind: &str, id: &str) -> Option<&'v Members> {
    objects(shown, kind).find(|object| text(object, "id") == Some(id))
}

/// The attribute `addresses`: the addresses of each network, under its name and its id.
pub(crate) fn addresses(shown: &Value) -> Value {
    let mut networks: Vec<(String, Vec<Value>)> = Vec::new();
    let mut put = |key: &str, entry: Value| match networks.iter_mut().find(|it| it.0 == key) {
        Some((_, entries)) => entries.push(entry),
        None => networks.push((key.to_owned(), vec![entry])),
    };
    for port in objects(shown, "ports") {
        let network = text(port, "network_id").unwrap_or_default();
        let name = by_id(shown, "networks", network).and_then(|it| text(it, "name"));
        let keys: Vec<&str> =
            name.filter(|name| *name != network).into_iter().chain([network]).collect();
        for fixed in items(port, "fixed_ips").iter().filter_map(Value::as_map) {
            let address = text(fixed, "ip_address").unwrap_or_default();
            for entry in entries(shown, port, fixed, address) {
                keys.iter().for_each(|key| put(key, entry.clone()));
            }
        }
    }
    Value::map(networks.iter().map(|(key, entries)| (key.as_str(), list(entries.clone()))))
}

/// The entries for a fixed address: its floating IPs, and the address itself.
fn entries(shown: &Value, port: &Members, fixed: &Members, address: &str) -> Vec<Value> {
    let network = text(port, "network_id").unwrap_or_default();
    let whole = |kind: &str, id: &str| match by_id(shown, kind, id) {
        Some(object) => Value::Map(Arc::new(object.clone())),
        None => Value::Null,
    };
    let subnets = items(port, "fixed_ips").iter().filter_map(|fixed| {
        let id = text(fixed.as_map()?, "subnet_id")?;
        by_id(shown, "subnets", id).map(|it| Value::Map(Arc::new(it.clone())))
    });
    let subnets = list(subnets.collect::<Vec<_>>());
    let entry = |address: &str, kind: &str, port_id: Value| {
        let version = if address.contains(':') { 6 } else { 4 };
        map([
            ("addr", address.into()),
            ("OS-EXT-IPS-MAC:mac_addr", port.get("mac_address").cloned().unwrap_or_default()),
            ("OS-EXT-IPS:type", kind.into()),
            ("port", port_id),
            // A list of one number, as in Heat.
            ("version", list([Value::from(version)])),
            ("subnets", subnets.clone()),
            ("network", whole("networks", network)),
        ])
    };
    let leads_here = |floating: &&Members| {
        text(floating, "port_id") == text(port, "id")
            && text(floating, "fixed_ip_address") == text(fixed, "ip_address")
    };
    let floating = objects(shown, "floatingips").filter(leads_here);
    let mut all: Vec<Value> = floating
        .filter_map(|it| text(it, "floating_ip_address"))
        .map(|address| entry(address, "floating", Value::Null))
        .collect();
    all.push(entry(address, "fixed", port.get("id").cloned().unwrap_or_default()));
    all
}

/// The attribute `networks`: the addresses of each network as text, under its name and its id.
pub(crate) fn networks(shown: &Value) -> Value {
    let server = part(shown, "server").and_then(Value::as_map);
    let told = server.and_then(|it| it.get("addresses")).and_then(Value::as_map);
    let mut all: Vec<(String, Value)> = Vec::new();
    for (name, entries) in told.into_iter().flatten() {
        let entries = entries.as_list().unwrap_or_default();
        let bare = entries.iter().filter_map(|it| it.as_map()?.get("addr").cloned());
        let bare = list(bare.collect::<Vec<_>>());
        all.push((name.to_string(), bare.clone()));
        let network = objects(shown, "networks").find(|it| text(it, "name") == Some(name));
        if let Some(id) = network.and_then(|it| text(it, "id")) {
            all.push((id.to_owned(), bare));
        }
    }
    Value::map(all.iter().map(|(name, bare)| (name.as_str(), bare.clone())))
}

/// The first address on the network whose name comes last.
pub(crate) fn first_address(shown: &Value) -> Option<&str> {
    let server = part(shown, "server")?.as_map()?;
    let told = server.get("addresses")?.as_map()?;
    let (_, entries) = told.iter().max_by(|a, b| a.0.cmp(b.0))?;
    let first = entries.as_list()?.first()?.as_map()?;
    text(first, "addr")
}
