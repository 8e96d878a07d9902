//! OS::Neutron::Port: a point on a network to which a server or another device is connected.

use super::common::{
    adjust_fields, built, further_fields, keep, object, port_settings, reset, rest_spec, tags,
};
use crate::behaviour::{DefinitionChange, OperationKind, View};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::property_access::{items, text};
use crate::refusals::{conflict, is_given};
use crate::rest;
use crate::wire;
use kiln_cloud::get;
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn port() -> ResourceType {
    ResourceType::new("OS::Neutron::Port")
        .about("A point on a network to which a server or another device is connected.")
        .service(Service::Network)
        .entity("port")
        .detects_drift()
        .with(tags)
        .props(port_settings())
        .props([
            prop("device_id", Str).updatable().default_empty(),
            prop("device_owner", Str).updatable().default_empty(),
            prop("dns_name", Str).updatable().is("dns_name").since("7.0.0"),
            prop("fixed_ips", List).updatable().each(record([
                prop("ip_address", Str).is("ip_addr"),
                prop("subnet", Str)
                    .is("neutron.subnet")
                    .by_name()
                    .replaces("subnet_id")
                    .since("2014.2"),
                prop("subnet_id", Str)
                    .is("neutron.subnet")
                    .deprecated("2014.2 ")
                    .hidden("5.0.0")
                    .note("Use `subnet`."),
            ])),
            prop("name", Str).updatable(),
            prop("network", Str)
                .required()
                .is("neutron.network")
                .by_name()
                .replaces("network_id")
                .since("2014.2"),
            prop("network_id", Str)
                .is("neutron.network")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `network`."),
            prop("replacement_policy", Str)
                .updatable()
                .default("AUTO")
                .one_of(["REPLACE_ALWAYS", "AUTO"])
                .since("2014.2")
                .deprecated("6.0.0")
                .hidden("9.0.0"),
            prop("security_groups", List).updatable(),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("allowed_address_pairs", List),
            attr("device_id", Str),
            attr("device_owner", Str),
            attr("dns_assignment", Map).since("7.0.0"),
            attr("fixed_ips", List),
            attr("mac_address", Str),
            attr("name", Str),
            attr("network", Map).since("11.0.0"),
            attr("network_id", Str),
            attr("port_security_enabled", Bool).since("5.0.0"),
            attr("propagate_uplink_status", Bool).since("15.0.0"),
            attr("qos_policy_id", Str).since("6.0.0"),
            attr("security_groups", List),
            attr("status", Str),
            attr("subnets", List),
            attr("tenant_id", Str),
        ])
        .check(|members| {
            further_fields(members)?;
            match is_given(members, "fixed_ips") && is_given(members, "no_fixed_ips") {
                true => Err(conflict(&["fixed_ips", "no_fixed_ips"])),
                false => Ok(()),
            }
        })
        .replaced_if(is_replaced)
        .attributes(surroundings)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(
            rest_spec("/ports", "port")
                .field("network", "network_id")
                .field("fixed_ips.subnet", "subnet_id")
                .field("qos_policy", "qos_policy_id")
                .unsent(["network_id", "no_fixed_ips", "replacement_policy"])
                .finds("qos_policy", "neutron.qos_policy")
                .finds("security_groups", "neutron.security_group")
                .readiness(built())
                .adjust_fields(fields),
        )
}

fn is_replaced(change: &DefinitionChange<'_>) -> bool {
    text(change.after, "replacement_policy") == Some("REPLACE_ALWAYS")
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    // The service chooses addresses unless it is told which, or that there are to be none.
    if items(&op.context().properties, "fixed_ips").is_empty() {
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
    rest::create(op).await?;
    keep_surroundings(op).await
}

/// Some fields cannot be told without asking what there is.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields = rest::changed_fields(op, &spec);
    if fields.get("security_groups").is_some_and(Json::is_null) {
        let group = lookup::find_id(op, "neutron.security_group", "default").await?;
        fields.insert("security_groups".into(), json!([&*group]));
    }
    if fields.get("port_security_enabled").is_some_and(Json::is_null) {
        let path = format!("/networks/{}", op.text("network").unwrap_or_default());
        let network = op.read(get(Service::Network, path)).await?;
        let usual = network.body["network"]["port_security_enabled"].as_bool().unwrap_or(true);
        fields.insert("port_security_enabled".into(), usual.into());
    }
    if let Some(Json::Object(profile)) = fields.get("binding:profile").cloned() {
        // Others keep things in it too.
        let shown = op.read(get(Service::Network, object(op))).await?;
        let mut merged = shown.body["port"]["binding:profile"].as_object().cloned();
        merged.get_or_insert_default().extend(profile);
        fields.insert("binding:profile".into(), merged.into());
    }
    rest::update_with(op, fields).await?;
    keep_surroundings(op).await
}

/// Keeps what attributes tell of the port's network and subnets.
async fn keep_surroundings(op: &mut Op) -> Result<(), OpError> {
    let port = wire::json(op.remote());
    let network = port["network_id"].as_str().unwrap_or_default();
    let network = look(op, format!("/networks/{network}"), "network").await?;
    op.set_data("network", wire::value(&network));
    let mut subnets = Vec::new();
    for ip in port["fixed_ips"].as_array().into_iter().flatten() {
        let subnet = ip["subnet_id"].as_str().unwrap_or_default();
        subnets.push(look(op, format!("/subnets/{subnet}"), "subnet").await?);
    }
    op.set_data("subnets", wire::value(&Json::Array(subnets)));
    Ok(())
}

async fn look(op: &mut Op, path: String, one: &str) -> Result<Json, OpError> {
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
