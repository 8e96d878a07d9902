//! The networks of a server: the request to the compute service, and internal ports.
//!
//! An *internal* port is created for an entry of `networks` without a port. It has a mark in its description,
//! is recorded in the resource's data, and is deleted with the server.

use crate::declare::{Members, QOS_POLICY, SECURITY_GROUP, Value};
use crate::lookup;
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::property_access::{given, items, open, section, word};
use crate::types::neutron::addresses;
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Service, delete, get, post, put};
use kiln_template::print;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// An entry of the property `networks`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) network: Option<String>,
    pub(crate) port: Option<String>,
    pub(crate) subnet: Option<String>,
    pub(crate) fixed_ip: Option<String>,
    pub(crate) floating_ip: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) allocate: Option<String>,
    pub(crate) extra: Option<Arc<Members>>,
}

/// The entries in properties.
pub(super) fn entries(properties: &Members) -> Vec<Entry> {
    let all = items(properties, "networks").iter().filter_map(|entry| open(entry).as_map());
    all.map(|entry| {
        let own = |name: &str| word(entry, name).map(str::to_owned);
        Entry {
            network: own("network").or_else(|| own("uuid")),
            port: own("port"),
            subnet: own("subnet"),
            fixed_ip: own("fixed_ip"),
            floating_ip: own("floating_ip"),
            tag: own("tag"),
            allocate: own("allocate_network"),
            extra: section(entry, "port_extra_properties").map(|it| Arc::new(it.clone())),
        }
    })
    .collect()
}

/// The networks of a new server, as in the request to the compute service.
pub(crate) async fn of_new(op: &mut Op, entries: &[Entry]) -> Result<Json, OpError> {
    match entries.first() {
        None => return Ok("auto".into()),
        Some(Entry { allocate: Some(how), .. }) => return Ok(how.as_str().into()),
        Some(_) => {}
    }
    take_ports(op, entries).await?;
    let mut all = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let port = match &entry.port {
            None if entry.subnet.is_some() || entry.extra.is_some() => {
                Some(make_port(op, at, entry).await?)
            }
            given => given.as_deref().map(Arc::from),
        };
        let mut network = Map::new();
        let mut put = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                network.insert(name.into(), value.into());
            }
        };
        put("port", port.as_deref());
        put("tag", entry.tag.as_deref());
        if entry.port.is_some() || port.is_none() {
            put("uuid", entry.network.as_deref());
        }
        if port.is_none() {
            put("fixed_ip", entry.fixed_ip.as_deref());
        }
        if let (Some(port), Some(_)) = (&port, &entry.floating_ip) {
            lead_floating_ip(op, &format!("floating ip {at}"), entry, Some(port)).await?;
        }
        all.push(Json::Object(network));
    }
    Ok(all.into())
}

/// Takes the ports and the addresses in the template from the server that this one replaces, or from the replacement on a
/// rollback.
pub(super) async fn take_ports(op: &mut Op, entries: &[Entry]) -> Result<(), OpError> {
    if op.context().is_replacement {
        take_addresses(op, entries).await?;
    }
    let Some(from) = op.context().predecessor.clone() else { return Ok(()) };
    for port in entries.iter().filter_map(|entry| entry.port.as_ref()) {
        let look = get(Service::Network, CallPath::from("/ports").id(port));
        let shown = op.read(look.clone()).await?;
        if shown.text("/port/device_id") != Some(&from) {
            continue;
        }
        let call = delete(
            Service::Compute,
            CallPath::from("/servers").id(&from).then("/os-interface").id(port),
        );
        op.remove(&format!("free {port}"), call).await?;
        op.until(look, |reply| match reply.text("/port/device_id") {
            Some(device) if device == &*from => Progress::NotYet,
            _ => Progress::Ready,
        })
        .await?;
    }
    Ok(())
}

/// Has the ports of another server give up the addresses in the template, and gives them to the server's own ports, if it
/// has any: on a rollback, these have given up their addresses before.
async fn take_addresses(op: &mut Op, wanted: &[Entry]) -> Result<(), OpError> {
    let wanted = wanted.iter().filter(|entry| entry.port.is_none() && entry.fixed_ip.is_some());
    let wanted: Vec<&Entry> = wanted.collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = wanted.iter().filter_map(|entry| entry.fixed_ip.clone()).collect();
    if let Some(from) = op.context().predecessor.clone() {
        for port in addresses::ports_of(op, &from).await? {
            addresses::give_up(op, &port, &all).await?;
        }
    }
    let Some(id) = op.id().cloned() else { return Ok(()) };
    let mut own = addresses::ports_of(op, &id).await?;
    own.retain(|port| addresses::entries(port).is_empty());
    for entry in wanted {
        let is_on_network = |port: &Json| {
            entry.network.as_ref().is_none_or(|network| port["network_id"] == network.as_str())
        };
        let Some(at) = own.iter().position(is_on_network) else { continue };
        let port = own.remove(at);
        let mut address = json!({ "ip_address": entry.fixed_ip });
        if let Some(subnet) = &entry.subnet {
            address["subnet_id"] = subnet.as_str().into();
        }
        let port = port["id"].as_str().unwrap_or_default();
        addresses::set(op, &format!("take address of {port} back"), port, vec![address]).await?;
    }
    Ok(())
}

// --- floating IPs ---

/// Associates a floating IP with a port, or disassociates it.
pub(super) async fn lead_floating_ip(
    op: &mut Op,
    step: &str,
    entry: &Entry,
    port: Option<&str>,
) -> Result<(), OpError> {
    let Some(id) = &entry.floating_ip else { return Ok(()) };
    let mut body = json!({ "port_id": port });
    if let (Some(_), Some(address)) = (port, &entry.fixed_ip) {
        body["fixed_ip_address"] = address.as_str().into();
    }
    let call =
        put(Service::Network, CallPath::from("/floatingips").id(id), json!({ "floatingip": body }));
    match op.call(step, call).await {
        // A floating IP that does not exist is not associated.
        Err(stop) if port.is_none() && stop.is_not_found() => Ok(()),
        done => done.map(drop),
    }
}

// --- internal ports ---

/// The entry of the resource's data with the ids of internal ports, as JSON text like in Heat.
pub(super) const INTERNAL: &str = "internal_ports";
/// The entry of the resource's data with the number of internal ports so far, and the numbers of those in
/// creation.
pub(super) const COUNT: &str = "ports_made";
pub(super) const NUMBERS: &str = "port_numbers";

/// The ids of the internal ports.
pub(super) fn internal(op: &Op) -> Vec<String> {
    let kept = op.data(INTERNAL).and_then(Value::as_text);
    let all: Option<Json> = kept.and_then(|text| serde_json::from_str(text).ok());
    let all = all.as_ref().and_then(Json::as_array).into_iter().flatten();
    all.filter_map(|port| Some(port["id"].as_str()?.to_owned())).collect()
}

fn set_internal(op: &mut Op, ports: &[String]) {
    let all: Vec<Json> = ports.iter().map(|id| json!({ "id": id })).collect();
    op.set_data(INTERNAL, Json::from(all).to_string());
}

/// Resets the numbers of the ports in creation, unless the operation continues after an interruption.
pub(crate) fn begin_ports(op: &mut Op) {
    if op.context().journal.is_empty() {
        op.set_data(NUMBERS, Value::Null);
    }
}

/// The number of the port for an entry. It stays the same after an interruption, and no other port of the
/// server ever had it.
fn number(op: &mut Op, at: usize) -> i64 {
    let key = at.to_string();
    let known = op.data(NUMBERS).and_then(Value::as_map).cloned().unwrap_or_default();
    let whole = |value: &Value| match value {
        Value::Int(number) => number.as_i64(),
        _ => None,
    };
    if let Some(number) = known.get(&*key).and_then(whole) {
        return number;
    }
    let number = op.data(COUNT).and_then(whole).unwrap_or_default();
    let mut numbers = known;
    numbers.insert(key.into(), number.into());
    op.set_data(COUNT, number + 1);
    op.set_data(NUMBERS, Value::Map(Arc::new(numbers)));
    number
}

fn marker(op: &Op, number: i64) -> Marker {
    let label = format!("kiln {} port {number}", op.context().physical_name);
    Marker {
        list: get(Service::Network, "/ports").query("description", label.clone()),
        objects: "/ports".into(),
        field: "/description".into(),
        value: label.into(),
        envelope: Some("port".into()),
        path: "/ports".into(),
        id: "/id".into(),
    }
}

/// Creates an internal port for an entry, and records it.
pub(super) async fn make_port(op: &mut Op, at: usize, entry: &Entry) -> Result<Arc<str>, OpError> {
    let number = number(op, at);
    let marker = marker(op, number);
    let mut port = fields(op, entry).await?;
    port.insert("name".into(), format!("{}-port-{at}", op.context().resource).into());
    port.insert("description".into(), marker.value.clone());
    let call = post(Service::Network, "/ports", json!({ "port": port })).marker(marker);
    let (_, id) = op.create_side_object(&format!("port {at}"), call).await?;
    let mut ports = internal(op);
    if !ports.iter().any(|port| **port == *id) {
        ports.push(id.to_string());
        set_internal(op, &ports);
    }
    Ok(id)
}

async fn fields(op: &mut Op, entry: &Entry) -> Result<Map<String, Json>, OpError> {
    let mut port = match &entry.extra {
        Some(extra) => settings(op, extra).await?,
        None => Map::new(),
    };
    let network = match (&entry.network, &entry.subnet) {
        (Some(network), _) => network.clone(),
        (None, Some(subnet)) => network_of(op, subnet).await?,
        (None, None) => {
            return Err(OpError::failed(
                FailureClass::ValueError,
                "a port needs a network: give network or subnet",
            ));
        }
    };
    port.insert("network_id".into(), network.into());
    let mut fixed = Map::new();
    for (field, value) in [("ip_address", &entry.fixed_ip), ("subnet_id", &entry.subnet)] {
        if let Some(value) = value {
            fixed.insert(field.into(), value.as_str().into());
        }
    }
    if !fixed.is_empty() {
        port.insert("fixed_ips".into(), json!([fixed]));
    }
    let groups = security_groups(op).await?;
    if !groups.is_empty() {
        port.insert("security_groups".into(), groups.into());
    }
    Ok(port)
}

/// Reads the id of a subnet's network.
async fn network_of(op: &mut Op, subnet: &str) -> Result<String, OpError> {
    let shown =
        op.read(get(Service::Network, CallPath::from("/subnets").id(subnet)).may_be_old()).await?;
    match shown.text("/subnet/network_id") {
        Some(network) => Ok(network.to_owned()),
        None => Err(OpError::failed(
            FailureClass::Error,
            "the service did not say of which network a subnet is",
        )),
    }
}

/// The names or ids of a server's security groups, from native or EC2 properties.
pub(crate) fn group_names(properties: &Members) -> Vec<String> {
    let places = ["security_groups", "SecurityGroups", "SecurityGroupIds"];
    let all = places.into_iter().flat_map(|place| items(properties, place));
    all.map(|group| print::plain(open(group))).collect()
}

/// Finds the ids of the server's security groups.
async fn security_groups(op: &mut Op) -> Result<Vec<Json>, OpError> {
    let given = group_names(&op.context().properties);
    let mut ids = Vec::new();
    for group in given {
        ids.push(Json::from(&*lookup::find_id(op, SECURITY_GROUP, &group).await?));
    }
    Ok(ids)
}

/// The fields of a port from `port_extra_properties`.
pub(super) async fn settings(op: &mut Op, extra: &Members) -> Result<Map<String, Json>, OpError> {
    let mut fields = Map::new();
    for (name, value) in extra.iter().filter(|(_, value)| !value.is_null()) {
        match &**name {
            "value_specs" | "no_fixed_ips" => {}
            "qos_policy" => {
                let policy = print::plain(open(value));
                let id = lookup::find_id(op, QOS_POLICY, &policy).await?;
                fields.insert("qos_policy_id".into(), (*id).into());
            }
            name => _ = fields.insert(name.into(), without_nulls(wire::json(value))),
        }
    }
    if given(extra, "no_fixed_ips").is_some_and(|it| it.equals(&Value::Bool(true))) {
        fields.insert("fixed_ips".into(), json!([]));
    }
    let further = section(extra, "value_specs").into_iter().flatten();
    fields.extend(further.map(|(name, value)| (name.to_string(), wire::json(value))));
    Ok(fields)
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(members.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        other => other,
    }
}

fn removal(port: &str) -> Call {
    delete(Service::Network, CallPath::from("/ports").id(port))
}

/// Deletes a port if it is internal.
pub(super) async fn remove_port(op: &mut Op, port: &str) -> Result<(), OpError> {
    let mut ports = internal(op);
    let Some(at) = ports.iter().position(|known| known == port) else { return Ok(()) };
    op.remove(&format!("remove port {port}"), removal(port)).await?;
    ports.remove(at);
    set_internal(op, &ports);
    Ok(())
}

/// Deletes all internal ports, including those that may not exist.
pub(super) async fn remove_ports(op: &mut Op) -> Result<(), OpError> {
    for port in internal(op) {
        remove_port(op, &port).await?;
    }
    if !op.context().is_doubtful {
        return Ok(());
    }
    let made = match op.data(COUNT) {
        Some(Value::Int(number)) => number.as_i64().unwrap_or_default(),
        _ => 0,
    };
    for number in 0..made {
        let marker = marker(op, number);
        op.remove_copies(&marker).await?;
    }
    Ok(())
}
