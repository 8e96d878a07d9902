//! OS::Heat::CWLiteAlarm: an alarm in CloudWatch terms that the service itself keeps.
//!
//! The orchestration service stores the rule under an id that is durable before the first write, so a write can
//! be repeated. Guests use a name that is known before the resource is created and stays the same after a
//! replacement.

use crate::behaviour::{OperationKind, View};
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::{items, open};
use crate::types::aws_cloudwatch::{STATISTICS, any_alarm};
use crate::{random, wire};
use kiln_cloud::{CallPath, delete, get, put};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn cw_lite_alarm() -> ResourceType {
    ResourceType::new("OS::Heat::CWLiteAlarm")
        .about("An alarm in CloudWatch terms that the service itself keeps.")
        .checkable()
        .suspendable()
        .deprecated("2014.2")
        .hidden("5.0.0")
        .note(
            "Use OS::Aodh::GnocchiAggregationByResourcesAlarm where there is an alarming service.",
        )
        .still_supported()
        // A server may refer to the alarm that scales its own group; without an early reference that would be a
        // cycle.
        .reference_known_early()
        .with(any_alarm)
        .props([
            prop("AlarmActions", List, "References to resources that are signalled when the alarm fires, usually scaling policies.").updatable(),
            prop("Dimensions", List, "Dimension names and values that reported data must have to be counted."),
            prop("InsufficientDataActions", List, "References to resources that are signalled when no data have been reported.").updatable(),
            prop("MetricName", Str, "Name of the metric that servers report, such as with `cfn-push-stats`.").required(),
            prop("Namespace", Str, "CloudWatch namespace of the metric."),
            prop("OKActions", List, "References to resources that are signalled when the alarm is back to normal.").updatable(),
            prop("Period", Str, "Seconds over which reported data are combined into one statistic.").required().updatable(),
            prop("Statistic", Str, "What is computed from the data of a period.").required().updatable().one_of(STATISTICS),
            ])
        .creates(|op| Box::pin(create(op)))
        .updates(|op| Box::pin(keep(op)))
        .deletes(|op| Box::pin(remove(op)))
        .on(OperationKind::Check, |op| Box::pin(check(op)))
        .on(OperationKind::Suspend, |op| Box::pin(wake(op, false)))
        .on(OperationKind::Resume, |op| Box::pin(wake(op, true)))
        .reference(|view: &View<'_>| name(view.physical_name).into())
}

/// The name of the alarm: `<stack>-<resource>`, without the random suffix of the physical name.
fn name(physical_name: &str) -> &str {
    physical_name.rsplit_once('-').map_or(physical_name, |(name, _)| name)
}

fn path(id: &str) -> CallPath {
    CallPath::from("/watch_rules").id(id)
}

async fn create(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let id = random::uuid(op).await?.to_string();
        op.set_id(id);
    }
    keep(op).await
}

/// Writes the rule.
async fn keep(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    let properties = op.context().properties.clone();
    let given = properties.iter().filter(|(_, value)| !value.is_null());
    let rule: Fields<String, Json> =
        given.map(|(name, value)| (name.to_string(), wire::json(open(value)))).collect();
    let mut resources = Fields::new();
    for list in ["AlarmActions", "OKActions", "InsufficientDataActions"] {
        for action in items(&properties, list).iter().filter_map(|item| open(item).as_text()) {
            if let Some(sibling) = op.sibling(action).await? {
                resources.insert(action.to_string(), (*sibling.name).into());
            }
        }
    }
    let body = json!({
        "name": name(&op.context().physical_name),
        "rule": rule,
        "resources": resources,
    });
    op.call("keep", put(Service::Orchestration, path(&id), body)).await.map(drop)
}

async fn wake(op: &mut Op, is_awake: bool) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    let call = put(Service::Orchestration, path(&id), json!({ "is_awake": is_awake }));
    op.call("wake", call).await.map(drop)
}

async fn check(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.read(get(Service::Orchestration, path(&id))).await.map(drop)
}

async fn remove(op: &mut Op) -> Result<(), OpError> {
    let Some(id) = op.id().cloned() else { return Ok(()) };
    op.remove("delete", delete(Service::Orchestration, path(&id))).await?;
    op.clear_id();
    Ok(())
}
