//! OS::Octavia::Quota: the limits on load balancing objects of a project.

use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::refusals::one_of;
use crate::wire;
use kiln_cloud::{delete, get, put};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Octavia::Quota")
        .about("The limits on load balancing objects of a project.")
        .service(Service::LoadBalancer)
        .entity("quotas")
        .since("14.0.0")
        .props([
            prop(
                "healthmonitor",
                Int,
                "Most health monitors that the project may have; -1 lifts the limit.",
            )
            .updatable()
            .min(-1),
            prop("listener", Int, "Most listeners that the project may have; -1 lifts the limit.")
                .updatable()
                .min(-1),
            prop(
                "loadbalancer",
                Int,
                "Most load balancers that the project may have; -1 lifts the limit.",
            )
            .updatable()
            .min(-1),
            prop("member", Int, "Most pool members that the project may have; -1 lifts the limit.")
                .updatable()
                .min(-1),
            prop("pool", Int, "Most pools that the project may have; -1 lifts the limit.")
                .updatable()
                .min(-1),
            prop("project", Str, "Project that the limits apply to, by name or ID.")
                .required()
                .is(PROJECT)
                .by_name(),
        ])
        .check(|members| one_of(members, &LIMITS))
        .creates(|op| Box::pin(set(op)))
        .updates(|op| Box::pin(set(op)))
        .deletes(|op| Box::pin(reset(op)))
}

const LIMITS: [&str; 5] = ["healthmonitor", "listener", "loadbalancer", "member", "pool"];

/// The limits have no id of their own: they are found by their project.
async fn path(op: &mut Op) -> Result<String, OpError> {
    let project = op.text("project").unwrap_or_default().to_owned();
    let project = lookup::find_id(op, PROJECT, &project).await?;
    Ok(format!("/lbaas/quotas/{project}"))
}

async fn set(op: &mut Op) -> Result<(), OpError> {
    let limits = LIMITS.into_iter().map(|name| (name.to_owned(), wire::json(op.prop(name))));
    let limits: Fields<String, Json> = limits.filter(|(_, limit)| !limit.is_null()).collect();
    let path = path(op).await?;
    op.call("set", put(Service::LoadBalancer, path.clone(), json!({ "quota": limits }))).await?;
    op.set_id(op.context().physical_name.clone());
    let shown = op.read(get(Service::LoadBalancer, path)).await?;
    op.set_remote(wire::value(&shown.body["quota"]));
    Ok(())
}

async fn reset(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        match path(op).await {
            Ok(path) => op.remove("reset", delete(Service::LoadBalancer, path)).await?,
            // A project that is gone has no limits.
            Err(OpError::Failed(failure)) if failure.class == FailureClass::EntityNotFound => {}
            Err(stop) => return Err(stop),
        }
        op.clear_id();
    }
    Ok(())
}
