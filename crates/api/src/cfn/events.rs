//! The events of stacks.

use super::names::{arn, stack};
use super::stacks::of_project;
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::members;
use crate::request::{Request, moment};
use kiln_engine::store::{EventQuery, EventRow, StackQuery, StackRow};
use kiln_engine::{EventId, Service};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;
use uuid::Uuid;

/// How many events a page has: as many as a stack keeps, unless an operator keeps more.
const PAGE: usize = 1000;

pub(super) async fn describe(request: Request, params: Params) -> Result<Value, AwsFault> {
    let stacks = match params.get("StackName") {
        Some(_) => vec![stack(&request, &params).await?],
        None => of_project(&request, StackQuery { nested: true, ..StackQuery::default() }).await?,
    };
    let marker = match params.get("NextToken").map(Uuid::parse_str) {
        None => None,
        Some(Ok(id)) => Some(EventId(id)),
        Some(Err(_)) => return Err(AwsFault::bare(Code::InvalidNextToken)),
    };
    let query = EventQuery {
        descending: true,
        marker,
        limit: Some(PAGE as u64),
        ..Service::events_of(&stacks)
    };
    let events =
        if stacks.is_empty() { Vec::new() } else { request.service().events(&query).await? };
    let by_id = Service::by_id(&stacks);
    let shown =
        events.iter().filter_map(|event| Some(event_value(by_id.get(&event.stack)?, event)));
    let mut result = members([("StackEvents", Value::list(shown))]);
    let last = events.last().filter(|_| events.len() == PAGE);
    result.extend(last.map(|last| ("NextToken".into(), Value::from(last.id.to_string()))));
    Ok(Value::Map(Arc::new(result)))
}

fn event_value(stack: &StackRow, event: &EventRow) -> Value {
    let properties = print::json(&event.properties(), Keys::Ordered);
    Value::map([
        ("EventId", Value::from(event.id.to_string())),
        ("LogicalResourceId", Value::Text(event.resource.clone())),
        ("PhysicalResourceId", Value::Text(event.physical_id.clone())),
        ("ResourceProperties", properties.into()),
        ("ResourceStatusReason", Value::Text(event.reason.clone())),
        ("ResourceType", Value::Text(event.kind.clone())),
        ("StackId", arn(stack).into()),
        ("StackName", Value::Text(stack.name.clone())),
        ("Timestamp", moment(event.time)),
        ("ResourceStatus", event.state.to_string().into()),
    ])
}
