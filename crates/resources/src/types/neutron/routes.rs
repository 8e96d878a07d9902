//! Static routes of a router, which several resources share. They are added and removed with calls that leave
//! other routes alone, so concurrent changes do not overwrite each other.

use crate::declare::{Members, Service};
use crate::op::{Op, OpError};
use crate::property_access::{items, open, text};
use kiln_cloud::{Call, CallPath, get, put};
use serde_json::json;

/// A route.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Route {
    pub(super) destination: String,
    pub(super) nexthop: String,
}

/// The routes in properties.
pub(super) fn given(properties: &Members) -> Vec<Route> {
    let routes = items(properties, "routes").iter().filter_map(|route| open(route).as_map());
    let member = |route: &Members, name: &str| text(route, name).unwrap_or_default().to_owned();
    let route = |it: &Members| Route {
        destination: member(it, "destination"),
        nexthop: member(it, "nexthop"),
    };
    routes.map(route).collect()
}

/// Reads the routes of a router.
pub(super) async fn there(op: &mut Op, router: &str) -> Result<Vec<Route>, OpError> {
    let shown = op.read(get(Service::Network, CallPath::from("/routers").id(router))).await?;
    let routes = shown.body["router"]["routes"].as_array().cloned().unwrap_or_default();
    let text =
        |route: &serde_json::Value, name: &str| route[name].as_str().unwrap_or_default().into();
    let route = |it| Route { destination: text(it, "destination"), nexthop: text(it, "nexthop") };
    Ok(routes.iter().map(route).collect())
}

/// Whether this is the first attempt: then existing routes do not belong to the resource.
pub(super) fn is_untried(op: &Op) -> bool {
    op.context().journal.step("tie").is_none() && op.id().is_none()
}

/// The call that adds or removes routes; the service ignores those that exist, or do not exist.
pub(super) fn change(router: &str, action: &'static str, routes: &[Route]) -> Call {
    let routes =
        routes.iter().map(|it| json!({ "destination": it.destination, "nexthop": it.nexthop }));
    let body = json!({ "router": { "routes": routes.collect::<Vec<_>>() } });
    put(Service::Network, CallPath::from("/routers").id(router).then(action), body)
}
