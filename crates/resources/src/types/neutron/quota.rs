//! OS::Neutron::Quota: the limits on networks, ports, routers and other network objects of a
//! project.

use super::common::{tie, tied, untied};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::lookup;
use crate::op::{Op, OpError};
use crate::types::quotas::{self, limit, project_prop};
use crate::wire;
use kiln_cloud::{CallPath, delete, get, put};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn quota() -> ResourceType {
    ResourceType::new("OS::Neutron::Quota")
        .plain_data([PROJECT_ID])
        .about("The limits on networks, ports, routers and other network objects of a project.")
        .service(Service::Network)
        .extension("quotas")
        .since("8.0.0")
        .props([
            limit("floatingip", "Most floating IPs that the project may have; -1 lifts the limit."),
            limit("network", "Most networks that the project may have; -1 lifts the limit."),
            limit("port", "Most ports that the project may have; -1 lifts the limit."),
            project_prop(),
            limit(
                "rbac_policy",
                "Most RBAC policies that the project may have; -1 lifts the limit.",
            )
            .since("12.0.0"),
            limit("router", "Most routers that the project may have; -1 lifts the limit."),
            limit(
                "security_group",
                "Most security groups that the project may have; -1 lifts the limit.",
            ),
            limit(
                "security_group_rule",
                "Most security group rules that the project may have; -1 lifts the limit.",
            ),
            limit("subnet", "Most subnets that the project may have; -1 lifts the limit."),
            limit("subnetpool", "Most subnet pools that the project may have; -1 lifts the limit.")
                .since("12.0.0"),
        ])
        .check(quotas::check)
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(update(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
}

/// The entry of the resource's data with the id of the project: its name may be gone when the limits are reset.
const PROJECT_ID: &str = "project";

fn path(op: &Op) -> CallPath {
    let kept = op.data(PROJECT_ID).and_then(Value::as_text).map(|id| &**id);
    CallPath::from("/quotas").id(kept.or_else(|| op.text("project")).unwrap_or_default())
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    let project = op.text("project").unwrap_or_default().to_owned();
    op.set_data(PROJECT_ID, project.as_str());
    let call = put(Service::Network, path(op), json!({ "quota": quotas::limits(op) }));
    let id = op.context().physical_name.clone();
    tie(op, &id, call).await
}

/// Updates the limits. A limit that the template has no more is set to the default of the service.
async fn update(op: &mut Op) -> Result<(), OpError> {
    let mut limits = Fields::new();
    for name in op.context().changed.clone().iter() {
        limits.insert(name.to_string(), wire::json(op.prop(name)));
    }
    if limits.values().any(Json::is_null) {
        let usual = op.read(get(Service::Network, path(op).then("/default"))).await?;
        for (name, limit) in limits.iter_mut().filter(|(_, limit)| limit.is_null()) {
            *limit = usual.body["quota"][name].clone();
        }
    }
    let call = put(Service::Network, path(op), json!({ "quota": limits }));
    op.call("change", call).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    if tied(op).await?.is_some() {
        if op.data(PROJECT_ID).is_none() {
            let name = op.text("project").unwrap_or_default().to_owned();
            let id = lookup::find_id(op, PROJECT, &name).await?;
            op.set_data(PROJECT_ID, &*id);
        }
        op.remove("delete", delete(Service::Network, path(op))).await?;
        untied(op);
    }
    Ok(())
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    op.read(get(Service::Network, path(op))).await.map(drop)
}
