//! OS::Manila::ShareNetwork: the network on which share servers offer their shares.

use crate::declare::*;
use crate::lookup::{Collection, is_uuid};
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{items, open};
use crate::refusals::exclusive;
use crate::rest::{self, RestSpec};
use crate::types::fragments::{description_prop, name_prop};
use kiln_cloud::{CallPath, get, post};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn share_network() -> ResourceType {
    ResourceType::new("OS::Manila::ShareNetwork")
        .about("The network on which share servers offer their shares.")
        .service(Service::Share)
        .entity("share_networks")
        .detects_drift()
        .since("5.0.0")
        .props([
            description_prop().updatable(),
            name_prop().updatable(),
            prop(
                "neutron_network",
                Str,
                "Neutron network for the share servers, by name or ID; the subnet's if omitted.",
            )
            .updatable()
            .is(NETWORK)
            .by_name(),
            prop("neutron_subnet", Str, "Neutron subnet for the share servers, by name or ID.")
                .updatable()
                .is(SUBNET)
                .by_name(),
            prop(
                "nova_network",
                Str,
                "ID of a network of the former Nova networking; excludes the Neutron ones.",
            )
            .updatable()
            .hidden("21.0.0")
            .note("Use `neutron_network`."),
            prop(
                "security_services",
                List,
                "Security services that authenticate users on this network, by name or ID.",
            )
            .updatable()
            .default_empty()
            .each(item(Str)),
        ])
        .attrs([
            attr("cidr", Str, "Address block of the network, in CIDR notation."),
            attr("ip_version", Str, "IP version of the network, 4 or 6."),
            attr("network_type", Str, "How the network is realised, such as `vlan` or `vxlan`."),
            attr("segmentation_id", Str, "VLAN or tunnel ID of the network."),
        ])
        .check(|members| {
            exclusive(members, "nova_network", "neutron_network")?;
            exclusive(members, "nova_network", "neutron_subnet")
        })
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .rest(
            RestSpec::new(Service::Share, "/share-networks", "share_network")
                .field("neutron_network", "neutron_net_id")
                .field("neutron_subnet", "neutron_subnet_id")
                .field("nova_network", "nova_net_id")
                .unsent(["security_services"])
                .list_suffix("/detail")
                .mark_field("description")
                .marks_then_renames(),
        )
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields = rest::new_fields(op, &spec);
    complete(op, &mut fields).await?;
    rest::create_with(op, fields).await?;
    secure(op).await
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let Some(spec) = op.rest_spec() else { return Ok(()) };
    let mut fields = rest::changed_fields(op, &spec);
    complete(op, &mut fields).await?;
    rest::update_with(op, fields).await?;
    secure(op).await
}

/// Adds the network of the subnet if the template has only the subnet: the service needs both.
async fn complete(op: &mut Op, fields: &mut Fields<String, Json>) -> Result<(), OpError> {
    let subnet = fields.get("neutron_subnet_id").and_then(Json::as_str).map(str::to_owned);
    if let Some(subnet) = subnet.filter(|_| op.prop("neutron_network").is_null()) {
        let subnet = op.read(get(Service::Network, CallPath::from("/subnets").id(subnet))).await?;
        fields.insert("neutron_net_id".into(), subnet.body["subnet"]["network_id"].clone());
    }
    Ok(())
}

/// Adds the security services in the template, and removes all others.
async fn secure(op: &mut Op) -> Result<(), OpError> {
    let properties = op.context().properties.clone();
    if op.context().previous_properties.get("security_services")
        == properties.get("security_services")
    {
        return Ok(());
    }
    let id = op.id().cloned().unwrap_or_default();
    let list = get(Service::Share, "/security-services/detail");
    let there = op.read(list.clone().query("share_network_id", &*id)).await?.body;
    let mut wanted = Vec::new();
    for given in items(&properties, "security_services").iter().filter_map(|it| open(it).as_text())
    {
        wanted.push(find(op, given).await?);
    }
    let there = there["security_services"].as_array().into_iter().flatten();
    let there: Vec<String> =
        there.filter_map(|service| service["id"].as_str()).map(Into::into).collect();
    let gone = there.iter().filter(|id| !wanted.contains(id)).map(|id| ("remove", id));
    let new = wanted.iter().filter(|id| !there.contains(id)).map(|id| ("add", id));
    for (how, service) in gone.chain(new) {
        let action = format!("{how}_security_service");
        let body = json!({ action: { "security_service_id": service } });
        let path = CallPath::from("/share-networks").id(&id).then("/action");
        let call = post(Service::Share, path, body).may_be_repeated();
        op.add(&format!("{how} {service}"), call).await?;
    }
    Ok(())
}

/// Finds the id of a security service by its id or name.
async fn find(op: &mut Op, given: &str) -> Result<String, OpError> {
    if is_uuid(given) {
        return Ok(given.to_owned());
    }
    let list = get(Service::Share, "/security-services/detail").query("name", given).may_be_old();
    let list = op.read(list).await?.body;
    let all = list["security_services"].as_array().into_iter().flatten();
    let mut named = all.filter(|service| service["name"] == given);
    match (named.next().and_then(|service| service["id"].as_str()), named.next()) {
        (Some(id), None) => Ok(id.to_owned()),
        (None, _) => {
            let message = format!("The Security service ({given}) could not be found.");
            Err(OpError::failed(FailureClass::EntityNotFound, message))
        }
        _ => Err(OpError::failed(
            FailureClass::PhysicalResourceNameAmbiguity,
            Collection::ambiguous(given),
        )),
    }
}
