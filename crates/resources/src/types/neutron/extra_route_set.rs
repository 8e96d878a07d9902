//! OS::Neutron::ExtraRouteSet: a set of static routes added to a router as one.

use super::common::{tie, tied, untied};
use super::fragments::route;
use super::routes::{self, Route};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup;
use crate::op::{Compared, FailureClass, Op, OpError};
use std::sync::Arc;

pub(super) fn extra_route_set() -> ResourceType {
    ResourceType::new("OS::Neutron::ExtraRouteSet")
        .about("A set of static routes added to a router as one.")
        .service(Service::Network)
        .extension("extraroute-atomic")
        .since("14.0.0")
        .props([
            prop("router", Str, "Router that gets the routes, by name or ID.")
                .required()
                .is(ROUTER),
            prop("routes", List, "Static routes that the router has on behalf of this resource.")
                .updatable()
                .default_empty()
                .each(route()),
        ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
        .observes(&["routes"], |op| Box::pin(observe(op)))
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let router = op.text("router").unwrap_or_default().to_owned();
    let router = lookup::find_id(op, ROUTER, &router).await?;
    let routes = routes::given(&op.context().properties);
    if routes::is_untried(op) {
        refuse_known(op, &router, &routes).await?;
    }
    tie(op, &router, routes::change(&router, "/add_extraroutes", &routes)).await
}

/// Refuses routes that the router has already: a deletion of the resource would remove them.
async fn refuse_known(op: &mut Op, router: &str, routes: &[Route]) -> Result<(), OpError> {
    let there = routes::there(op, router).await?;
    match routes.iter().find(|route| there.contains(route)) {
        None => Ok(()),
        Some(Route { destination, nexthop }) => {
            let route = format!("router={router},destination={destination},nexthop={nexthop}");
            let message = format!("The physical resource for ({route}) exists.");
            Err(OpError::failed(FailureClass::PhysicalResourceExists, message))
        }
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let router = op.id().cloned().unwrap_or_default();
    let (before, after) =
        (routes::given(&op.context().previous_properties), routes::given(&op.context().properties));
    let only = |one: &[Route], other: &[Route]| -> Vec<Route> {
        one.iter().filter(|route| !other.contains(route)).cloned().collect()
    };
    let (gone, new) = (only(&before, &after), only(&after, &before));
    // After a failed update, some of the routes may be those of the resource.
    if op.context().journal.step("add").is_none() && !op.context().is_half_done {
        refuse_known(op, &router, &new).await?;
    }
    if !gone.is_empty() {
        op.call("remove", routes::change(&router, "/remove_extraroutes", &gone)).await?;
    }
    if !new.is_empty() {
        op.call("add", routes::change(&router, "/add_extraroutes", &new)).await?;
    }
    Ok(())
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(router) = tied(op).await? else { return Ok(()) };
    let routes = routes::given(&op.context().properties);
    op.remove("untie", routes::change(&router, "/remove_extraroutes", &routes)).await?;
    untied(op);
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let router: Arc<str> = op.id().cloned().unwrap_or_default();
    let there = routes::there(op, &router).await?;
    match routes::given(&op.context().properties).iter().find(|it| !there.contains(it)) {
        None => Ok(()),
        Some(route) => {
            let message = format!("the router has no route to {} any more", route.destination);
            Err(OpError::failed(FailureClass::NotFound, message))
        }
    }
}

/// Compares the routes of the router with those of the definition; it may have others, too.
async fn observe(op: &mut Op) -> Result<(), OpError> {
    let router: Arc<str> = op.id().cloned().unwrap_or_default();
    let there = routes::there(op, &router).await?;
    let wanted = routes::given(&op.context().properties);
    let mut compared = Compared::default();
    if wanted.iter().all(|route| there.contains(route)) {
        compared.same.push("routes".into());
    } else {
        let found = wanted.iter().filter(|route| there.contains(route)).map(|route| {
            map([
                ("destination", Value::from(route.destination.as_str())),
                ("nexthop", Value::from(route.nexthop.as_str())),
            ])
        });
        compared.drifted.insert("routes".into(), list(found.collect::<Vec<_>>()));
    }
    op.set_compared(compared);
    Ok(())
}
