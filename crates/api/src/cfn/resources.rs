//! The resources of stacks.

use super::names::{arn, arn_of_view, stack};
use super::stacks::of_project;
use crate::aws::{AwsFault, Code, Params};
use crate::long_poll;
use crate::native::resources::{server_of, with_metadata};
use crate::native::show::{members, wrapped};
use crate::request::{Request, moment};
use kiln_engine::store::{StackQuery, StackRow};
use kiln_engine::{PhysicalId, RequestError, ResourceView, StackView, TreePart};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// A resource with its metadata and the configurations that its server has to apply. Guests request this: a user of the
/// stack sees its own resource alone.
pub(super) async fn describe_one(request: Request, params: Params) -> Result<Value, AwsFault> {
    let name = params.need("LogicalResourceId")?;
    let stack = stack(&request, &params).await?;
    let show = |stack: &StackRow, _: &StackView<'_>, found: &ResourceView| {
        let mut shown = common(found);
        shown.extend(members([
            ("Description", description(found)),
            ("LastUpdatedTimestamp", moment(found.summary.updated)),
            ("StackId", arn(stack).into()),
            ("StackName", Value::Text(stack.summary.name.clone())),
        ]));
        shown
    };
    let waits = params.get("Wait").and_then(|text| text.parse().ok());
    if let Some(seconds) = waits {
        let read =
            || with_metadata(&request, &stack, name, |_, seen, found| server_of(seen, found));
        let place = (Some((stack.id, stack.root)), name);
        long_poll::wait_for_change(&request, place, params.get("Known"), Some(seconds), read)
            .await?;
    }
    let (mut shown, metadata) = with_metadata(&request, &stack, name, show).await?;
    if waits.is_some() {
        // A client that waits sends this tag to name the metadata it knows.
        shown.insert("MetadataTag".into(), long_poll::tag(&metadata).into());
        shown.insert("MetadataWait".into(), long_poll::MAX_WAIT_SECS.to_string().into());
    }
    shown.insert("Metadata".into(), metadata);
    Ok(wrapped("StackResourceDetail", Value::Map(Arc::new(shown))))
}

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    let only = params.get("LogicalResourceId");
    let show = |stack: &StackRow, seen: &StackView<'_>| {
        let found = seen.resources();
        let wanted = found.iter().filter(|it| only.is_none_or(|name| *it.summary.name == *name));
        Ok(wanted.map(|it| detailed(stack, seen, it)).collect::<Vec<Value>>())
    };
    let shown = match (params.get("StackName"), params.get("PhysicalResourceId")) {
        (Some(_), Some(_)) => {
            let message = "Use `StackName` or `PhysicalResourceId` but not both";
            return Err(AwsFault::new(Code::InvalidParameterCombination, message));
        }
        (None, None) => return Err(AwsFault::missing("StackName or PhysicalResourceId")),
        (Some(_), None) => {
            let stack = stack(&request, &params).await?;
            request.read_stack(&stack, TreePart::Resources, show).await?
        }
        (None, Some(id)) => {
            let stack = holder(&request, id).await?;
            request.read_stack(&stack, TreePart::Resources, show).await?
        }
    };
    Ok(wrapped("StackResources", Value::list(shown)))
}

fn detailed(stack: &StackRow, seen: &StackView<'_>, found: &ResourceView) -> Value {
    let mut shown = common(found);
    shown.extend(members([
        ("Description", description(found)),
        ("StackId", arn_of_view(stack, seen).into()),
        ("StackName", Value::Text(seen.name().clone())),
        ("Timestamp", moment(found.summary.updated)),
    ]));
    Value::Map(Arc::new(shown))
}

/// The stack of the project that has an object. There is no index for it: all stacks are searched.
async fn holder(request: &Request, id: &str) -> Result<StackRow, AwsFault> {
    for stack in of_project(request, StackQuery { nested: true, ..StackQuery::default() }).await? {
        let has = |_: &StackRow, seen: &StackView<'_>| {
            Ok(seen.resources().iter().any(|it| it.has_physical_id(id)))
        };
        // A stack that was deleted in the meantime has no resources.
        if request.read_stack(&stack, TreePart::Resources, has).await.unwrap_or(false) {
            return Ok(stack);
        }
    }
    Err(RequestError::not_found("Resource", id).into())
}

pub(super) async fn list(request: Request, params: Params) -> Result<Value, AwsFault> {
    let stack = stack(&request, &params).await?;
    let show = |_: &StackRow, seen: &StackView<'_>| {
        let shown = seen.resources().into_iter().map(|found| {
            let mut shown = common(&found);
            shown.insert("LastUpdatedTimestamp".into(), moment(found.summary.updated));
            Value::Map(Arc::new(shown))
        });
        Ok(shown.collect::<Vec<Value>>())
    };
    let shown = request.read_stack(&stack, TreePart::Resources, show).await?;
    Ok(wrapped("StackResourceSummaries", Value::list(shown)))
}

/// The members that every response about a resource has.
fn common(found: &ResourceView) -> Members {
    let physical = found.summary.physical_id.as_ref().map_or_else(|| "".into(), PhysicalId::value);
    members([
        ("LogicalResourceId", Value::Text(found.summary.name.clone())),
        ("PhysicalResourceId", physical),
        ("ResourceStatus", found.summary.state.to_string().into()),
        ("ResourceStatusReason", Value::Text(found.summary.reason.clone())),
        ("ResourceType", Value::Text(found.summary.type_name.clone())),
    ])
}

fn description(found: &ResourceView) -> Value {
    found.description.clone().map_or_else(|| "".into(), Value::Text)
}
