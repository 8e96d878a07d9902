//! OS::Octavia::Quota: the limits on load balancing objects of a project.

use crate::declare::*;
use crate::lookup;
use crate::op::{FailureClass, Op, OpError};
use crate::types::quotas::{self, limit, project_prop};
use crate::wire;
use kiln_cloud::{CallPath, delete, get, put};
use serde_json::json;

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Octavia::Quota")
        .about("The limits on load balancing objects of a project.")
        .service(Service::LoadBalancer)
        .entity("quotas")
        .since("14.0.0")
        .props([
            limit(
                "healthmonitor",
                "Most health monitors that the project may have; -1 lifts the limit.",
            ),
            limit("listener", "Most listeners that the project may have; -1 lifts the limit."),
            limit(
                "loadbalancer",
                "Most load balancers that the project may have; -1 lifts the limit.",
            ),
            limit("member", "Most pool members that the project may have; -1 lifts the limit."),
            limit("pool", "Most pools that the project may have; -1 lifts the limit."),
            project_prop(),
        ])
        .check(quotas::check)
        .creates(|op| Box::pin(set(op)))
        .updates(|op| Box::pin(set(op)))
        .deletes(|op| Box::pin(reset(op)))
}

/// The path of the limits, which contains the id of the project.
async fn path(op: &mut Op) -> Result<CallPath, OpError> {
    let project = op.text("project").unwrap_or_default().to_owned();
    let project = lookup::find_id(op, PROJECT, &project).await?;
    Ok(CallPath::from("/lbaas/quotas").id(project))
}

async fn set(op: &mut Op) -> Result<(), OpError> {
    let path = path(op).await?;
    let body = json!({ "quota": quotas::limits(op) });
    op.call("set", put(Service::LoadBalancer, path.clone(), body)).await?;
    op.set_id(op.context().physical_name.clone());
    let shown = op.read(get(Service::LoadBalancer, path)).await?;
    op.set_remote(wire::value(&shown.body["quota"]));
    Ok(())
}

async fn reset(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_some() {
        match path(op).await {
            Ok(path) => op.remove("reset", delete(Service::LoadBalancer, path)).await?,
            // A deleted project has no limits.
            Err(OpError::Failed(failure)) if failure.class == FailureClass::EntityNotFound => {}
            Err(stop) => return Err(stop),
        }
        op.clear_id();
    }
    Ok(())
}
