//! OS::Neutron::RouterGateway: the connection of a router to an external network.

use super::common::{tie, tied, untied};
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use kiln_cloud::{Call, CallPath, get, put};
use serde_json::{Value as Json, json};

pub(super) fn router_gateway() -> ResourceType {
    ResourceType::new("OS::Neutron::RouterGateway")
        .about("The connection of a router to an external network.")
        .service(Service::Network)
        .deprecated("2014.1")
        .hidden("5.0.0")
        .note("Use the property `external_gateway_info` of OS::Neutron::Router.")
        .props([
            prop("network", Str, "External network to connect to, by name or ID.")
                .is(NETWORK)
                .by_name()
                .replaces("network_id"),
            prop("network_id", Str, "ID of the external network to connect to.")
                .is(NETWORK)
                .deprecated("2014.2")
                .hidden("9.0.0")
                .note("Use `network`."),
            prop("router_id", Str, "ID of the router that is connected.").required().is(ROUTER),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let router = op.text("router_id").unwrap_or_default().to_owned();
    let router = lookup::find_id(op, ROUTER, &router).await?;
    let network = op.text("network").unwrap_or_default().to_owned();
    let call = gateway(&router, json!({ "network_id": network }));
    tie(op, &format!("{router}:{network}"), call).await
}

/// Removes the gateway, unless the router has another one by now.
async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = tied(op).await? else { return Ok(()) };
    let (router, network) = id.split_once(':').unwrap_or((&id, ""));
    let shown = match op.read(get(Service::Network, CallPath::from("/routers").id(router))).await {
        Err(stop) if stop.is_not_found() => None,
        shown => Some(shown?),
    };
    let is_ours = |it: kiln_cloud::Reply| {
        it.text("/router/external_gateway_info/network_id") == Some(network)
    };
    if shown.is_some_and(is_ours) {
        op.remove("untie", gateway(router, json!({}))).await?;
    }
    untied(op);
    Ok(())
}

/// The call that sets a router's gateway.
pub(crate) fn gateway(router: &str, info: Json) -> Call {
    let body = json!({ "router": { "external_gateway_info": info } });
    put(Service::Network, CallPath::from("/routers").id(router), body)
}
