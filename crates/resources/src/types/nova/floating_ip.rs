//! OS::Nova::FloatingIP: a floating IP address taken through the compute service.

use crate::behaviour::View;
use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::rest::{self, RestSpec};
use kiln_cloud::{get, post};
use kiln_template::functions::{Fault, step_into_attribute};
use serde_json::json;

pub(super) fn floating_ip() -> ResourceType {
    ResourceType::new("OS::Nova::FloatingIP")
        .about("A floating IP address taken through the compute service.")
        .since("2014.1")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Neutron::FloatingIP.")
        .props([prop(
            "pool",
            Str,
            "Name or ID of the external network that the address is from; the only one if omitted.",
        )])
        .attrs([
            attr("ip", Str, "Floating IP address that was allocated."),
            attr("pool", Str, "External network that the address is from."),
        ])
        .creates(|op| Box::pin(create(op)))
        .rest(
            RestSpec::new(Service::Network, "/floatingips", "floatingip")
                .unsent(["pool"])
                .mark_field("description")
                .marks_then_renames(),
        )
        .attributes(attribute)
}

/// Allocates an address from the network in the template, or from the only external network.
async fn create(op: &mut Op) -> Result<(), OpError> {
    let network = match op.nonempty_text("pool").map(str::to_owned) {
        Some(pool) => lookup::find_id(op, NETWORK, &pool).await?.to_string(),
        None => only_pool(op).await?,
    };
    let body = json!({ "floatingip": {
        "floating_network_id": network,
        "description": rest::label(op),
    }});
    let made = op.call("create", post(Service::Network, "/floatingips", body)).await?;
    let Some(id) = made.text("/floatingip/id").map(str::to_owned) else {
        return Err(OpError::failed(
            FailureClass::Error,
            "the service did not say which address it gave",
        ));
    };
    op.set_id(id);
    rest::until_ready(op).await?;
    rest::unmark(op).await
}

async fn only_pool(op: &mut Op) -> Result<String, OpError> {
    let list = get(Service::Network, "/networks").query("router:external", "true");
    let list = op.read(list).await?;
    let ids: Vec<&str> = list.body["networks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|network| network["id"].as_str())
        .collect();
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => Err(OpError::failed(
            FailureClass::NotFound,
            "no network leads outside. Next: ask for one, or name it in pool",
        )),
        _ => Err(OpError::failed(
            FailureClass::Error,
            "several networks lead outside. Next: name one in pool",
        )),
    }
}

fn attribute(view: &View<'_>, name: &str, path: &[Value]) -> Result<Option<Value>, Fault> {
    let shown = view.remote.as_map();
    let shown = |field: &str| shown.and_then(|shown| shown.get(field)).cloned();
    let answer = match name {
        "ip" => shown("floating_ip_address"),
        "pool" => match view.properties.get("pool").filter(|pool| !pool.is_null()) {
            Some(pool) => Some(pool.clone()),
            None => shown("floating_network_id"),
        },
        _ => return Ok(None),
    };
    Ok(Some(step_into_attribute(&answer.unwrap_or_default(), path)))
}
