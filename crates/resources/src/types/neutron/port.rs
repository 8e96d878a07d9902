//! OS::Neutron::Port: a point on a network to which a server or another device is connected.

use super::addresses;
use super::common::{
    VALUE_SPECS, adjust_fields, built, further_fields, keep, object, reset, tagged,
};
use super::fragments::{
    admin_state_up_attr, network_id_prop, network_prop, port_settings, tags, tenant_id_attr,
};
use crate::behaviour::{DefinitionChange, OperationKind, View};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::property_access::{open, text, word};
use crate::refusals::{conflict, is_given};
use crate::rest;
use crate::types::fragments::{name_attr, name_prop, status_attr};
use crate::wire;
use kiln_cloud::{CallPath, get};
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn port() -> ResourceType {
    ResourceType::new("OS::Neutron::Port")
        .plain_data(["network", "subnets", FIXED_IPS])
        .about("A point on a network to which a server or another device is connected.")
        .service(Service::Network)
        .entity("port")
        .detects_drift()
        .with(tags)
        .props(port_settings())
        .props([
            prop("device_id", Str, "ID of the server or other device that uses the port.").updatable().default_empty(),
            prop("device_owner", Str, "What kind of device uses the port, such as `network:dhcp`.").updatable().default_empty(),
            prop("dns_name", Str, "Host name under which the port is published in DNS.").updatable().is(DNS_NAME).since("7.0.0"),
            prop("fixed_ips", List, "Addresses of the port; chosen from the network's subnets if omitted.").updatable().each(record([
                prop("ip_address", Str, "Particular address to give the port; chosen from the subnet if omitted.").is(IP_ADDR),
                prop("subnet", Str, "Subnet that the address is taken from, by name or ID.")
                    .is(SUBNET)
                    .by_name()
                    .replaces("subnet_id")
                    .since("2014.2"),
                prop("subnet_id", Str, "ID of the subnet that the address is taken from.")
                    .is(SUBNET)
                    .deprecated("2014.2 ")
                    .hidden("5.0.0")
                    .note("Use `subnet`."),
            ])),
            name_prop().updatable(),
            network_prop("Network that the port is on, by name or ID."),
            network_id_prop("ID of the network that the port is on."),
            prop("replacement_policy", Str, "Whether every stack update replaces the port (`REPLACE_ALWAYS`) or only one that must (`AUTO`).")
                .updatable()
                .default("AUTO")
                .one_of(["REPLACE_ALWAYS", "AUTO"])
                .since("2014.2")
                .deprecated("6.0.0")
                .hidden("9.0.0"),
            prop("security_groups", List, "IDs or names of the security groups of the port; the project's default group if omitted.").updatable(),
        ])
        .attrs([
            admin_state_up_attr(),
            attr("allowed_address_pairs", List, "Further addresses from which the port may send."),
            attr("device_id", Str, "ID of the device that uses the port, if any."),
            attr("device_owner", Str, "What kind of device uses the port."),
            attr("dns_assignment", Map, "Host name and full domain name that internal DNS has for each address.").since("7.0.0"),
            attr("fixed_ips", List, "Addresses of the port, each with the ID of its subnet."),
            attr("mac_address", Str, "MAC address of the port."),
            name_attr(),
            attr("network", Map, "The port's network with all its fields, such as `mtu`.").since("11.0.0"),
            attr("network_id", Str, "ID of the network that the port is on."),
            attr("port_security_enabled", Bool, "Whether security groups and anti-spoofing filters apply.").since("5.0.0"),
            attr("propagate_uplink_status", Bool, "Whether the state of the physical uplink is passed on.").since("15.0.0"),
            attr("qos_policy_id", Str, "ID of the port's own quality-of-service policy, if any.").since("6.0.0"),
            attr("security_groups", List, "IDs of the security groups in force on the port."),
            status_attr(),
            attr("subnets", List, "Subnets of the port's addresses, each with all its fields."),
            tenant_id_attr(),
        ])
        .check(|members| {
            further_fields(members)?;
            if is_given(members, "fixed_ips") && is_given(members, "no_fixed_ips") {
Err(conflict(&["fixed_ips", "no_fixed_ips"]))
} else {
Ok(())
}
        })
        .replaced_if(is_replaced)
        .restored_on_rollback()
        .attributes(surroundings)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(
            tagged("/ports", "port").unsent([VALUE_SPECS])
                .field("network", "network_id")
                .field("fixed_ips.subnet", "subnet_id")
                .field("qos_policy", "qos_policy_id")
                .unsent(["network_id", "no_fixed_ips", "replacement_policy"])
                .finds("qos_policy", QOS_POLICY)
                .finds("security_groups", SECURITY_GROUP)
                .readiness(built())
                .adjust_fields(fields),
        )
}

fn is_replaced(change: &DefinitionChange<'_>) -> bool {
    text(change.after, "replacement_policy") == Some("REPLACE_ALWAYS")
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    // The service chooses addresses unless the request has some, or an empty list.
    if op.items("fixed_ips").is_empty() {
        fields.remove("fixed_ips");
        let is_told = operation == OperationKind::Create
            || op.changes("no_fixed_ips")
            || op.changes("fixed_ips");
        if is_told && op.prop("no_fixed_ips").is_truthy() {
            fields.insert("fixed_ips".into(), json!([]));
        }
    }
    if operation == OperationKind::Update {
        reset(fields, "allowed_address_pairs", json!([]));
        reset(fields, "dns_name", "");
        keep(fields, &["propagate_uplink_status"]);
    }
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        take_addresses(op).await?;
    }
    rest::create(op).await?;
    keep_surroundings(op).await
}

/// Takes the wanted addresses from the port that this one replaces.
async fn take_addresses(op: &mut Op) -> Result<(), OpError> {
    let Some(from) = op.context().predecessor.clone() else { return Ok(()) };
    let entries = op.items("fixed_ips").iter().filter_map(|entry| open(entry).as_map());
    let wanted: Vec<String> =
        entries.filter_map(|entry| Some(word(entry, "ip_address")?.to_owned())).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let replaced = addresses::read_port(op, &from).await?;
    addresses::give_up(op, &replaced, &wanted).await
}

/// The entry of the resource's data with the addresses that the port had after its last create or update.
const FIXED_IPS: &str = "fixed_ips";

/// On a rollback, gives the port the addresses back that its replacement has taken.
async fn take_addresses_back(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned().filter(|_| op.context().is_replacement) else {
        return Ok(());
    };
    let known = op.data(FIXED_IPS).map(wire::json).unwrap_or_default();
    let own = addresses::read_port(op, &id).await?;
    let has = |entry: &Json| addresses::has(&own, entry["ip_address"].as_str().unwrap_or_default());
    let known = known.as_array().cloned().unwrap_or_default().into_iter();
    let missing: Vec<Json> = known.filter(|entry| !has(entry)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let wanted = missing.iter().filter_map(|entry| Some(entry["ip_address"].as_str()?.to_owned()));
    let wanted: Vec<String> = wanted.collect();
    if let Some(from) = op.context().predecessor.clone() {
        let replacement = addresses::read_port(op, &from).await?;
        addresses::give_up(op, &replacement, &wanted).await?;
    }
    let all = addresses::entries(&own).into_iter().chain(missing).collect();
    addresses::set(op, "take addresses back", &id, all).await
}

/// Updates the port. Some fields depend on the current state of the port.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    take_addresses_back(op).await?;
    let mut fields = rest::changed_fields(op, &spec);
    if fields.get("security_groups").is_some_and(Json::is_null) {
        let group = lookup::find_id(op, SECURITY_GROUP, "default").await?;
        fields.insert("security_groups".into(), json!([&*group]));
    }
    if fields.get("port_security_enabled").is_some_and(Json::is_null) {
        let path = CallPath::from("/networks").id(op.text("network").unwrap_or_default());
        let network = op.read(get(Service::Network, path)).await?;
        let usual = network.body["network"]["port_security_enabled"].as_bool().unwrap_or(true);
        fields.insert("port_security_enabled".into(), usual.into());
    }
    if let Some(Json::Object(profile)) = fields.get("binding:profile").cloned() {
        // The binding profile also has members of other services.
        let shown = op.read(get(Service::Network, object(op))).await?;
        let mut merged = shown.body["port"]["binding:profile"].as_object().cloned();
        merged.get_or_insert_default().extend(profile);
        fields.insert("binding:profile".into(), merged.into());
    }
    rest::update_with(op, fields).await?;
    keep_surroundings(op).await
}

/// Keeps the port's network and subnets for attributes.
async fn keep_surroundings(op: &mut Op) -> Result<(), OpError> {
    let port = wire::json(op.remote());
    let network = port["network_id"].as_str().unwrap_or_default();
    let network = look(op, CallPath::from("/networks").id(network), "network").await?;
    op.set_data("network", wire::value(&network));
    op.set_data(FIXED_IPS, wire::value(&port["fixed_ips"]));
    let mut subnets = Vec::new();
    for ip in port["fixed_ips"].as_array().into_iter().flatten() {
        let subnet = ip["subnet_id"].as_str().unwrap_or_default();
        subnets.push(look(op, CallPath::from("/subnets").id(subnet), "subnet").await?);
    }
    op.set_data("subnets", wire::value(&Json::Array(subnets)));
    Ok(())
}

async fn look(op: &mut Op, path: CallPath, one: &str) -> Result<Json, OpError> {
    match op.read(get(Service::Network, path).may_be_old()).await {
        Ok(reply) => Ok(reply.body[one].clone()),
        Err(stop) if stop.is_not_found() => Ok(Json::Null),
        Err(stop) => Err(stop),
    }
}

fn surroundings(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let value = view.data.get(name).unwrap_or(&Value::Null);
    let is_kept = matches!(name, "network" | "subnets");
    Ok(is_kept.then(|| step_into_attribute(value, path)))
}
