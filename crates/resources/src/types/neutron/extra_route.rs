//! OS::Neutron::ExtraRoute: one static route added to a router.

use super::common::{tie, tied, untied};
use super::routes::{self, Route};
use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};

pub(super) fn extra_route() -> ResourceType {
    ResourceType::new("OS::Neutron::ExtraRoute")
        .about("One static route added to a router.")
        .service(Service::Network)
        .extension("extraroute")
        .unsupported(None)
        .props([
            prop("destination", Str, "Network to be reached by the route, in CIDR notation.")
                .required(),
            prop("nexthop", Str, "Address of the next hop towards the destination.").required(),
            prop("router_id", Str, "Router that gets the route, by name or ID.")
                .required()
                .is(ROUTER),
        ])
        .creates(|op| Box::pin(create(op)))
        .deletes(|op| Box::pin(remove(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let router = op.text("router_id").unwrap_or_default().to_owned();
    let router = lookup::find_id(op, ROUTER, &router).await?;
    let [destination, nexthop] =
        ["destination", "nexthop"].map(|name| op.text(name).unwrap_or_default().to_owned());
    let route = Route { destination, nexthop };
    if routes::is_untried(op) && routes::there(op, &router).await?.contains(&route) {
        return Err(OpError::failed(FailureClass::Error, "Route duplicates an existing route."));
    }
    let id = format!("{router}:{}:{}", route.destination, route.nexthop);
    tie(op, &id, routes::change(&router, "/add_extraroutes", &[route])).await
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = tied(op).await? else { return Ok(()) };
    let route = Route {
        destination: op.text("destination").unwrap_or_default().into(),
        nexthop: op.text("nexthop").unwrap_or_default().into(),
    };
    let router = id.split(':').next().unwrap_or_default();
    op.remove("untie", routes::change(router, "/remove_extraroutes", &[route])).await?;
    untied(op);
    Ok(())
}
