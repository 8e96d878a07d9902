//! The events of stacks.

use super::names::{arn, stack};
use super::stacks::of_project;
use crate::aws::{AwsFault, Code, Params};
use crate::native::show::members;
use crate::request::{Request, moment};
use kiln_engine::store::{EventQuery, EventRow, StackQuery, StackRow};
use kiln_engine::{EventId, Service, Status};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;
use uuid::Uuid;

/// How many events a page has: as many as a stack keeps, unless an operator keeps more.
const PAGE: usize = 1000;

/// A page with so many bytes ends early.
const PAGE_BYTES: usize = 4 << 20;

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
    let (mut shown, mut bytes, mut read) = (Vec::new(), 0, 0);
    for event in &events {
        if bytes > PAGE_BYTES {
            break;
        }
        read += 1;
        let Some(stack) = by_id.get(&event.stack) else { continue };
        let event = with_properties(request.service(), event).await?;
        let value = event_value(stack, &event);
        bytes += value.byte_size();
        shown.push(value);
    }
    let mut result = members([("StackEvents", Value::list(shown))]);
    let last = events[..read].last().filter(|_| read < events.len() || events.len() == PAGE);
    result.extend(last.map(|last| ("NextToken".into(), Value::from(last.id.to_string()))));
    Ok(Value::Map(Arc::new(result)))
}

/// An event of a list with its properties, which are kept with the beginning of an action.
async fn with_properties(service: &Service, event: &EventRow) -> Result<EventRow, AwsFault> {
    let whole = match event.state.status {
        Status::InProgress => {
            service.event(event.stack, &event.resource, &event.id.to_string()).await?
        }
        _ => None,
    };
    Ok(whole.unwrap_or_else(|| event.clone()))
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
        ("StackName", Value::Text(stack.summary.name.clone())),
        ("Timestamp", moment(event.time)),
        ("ResourceStatus", event.state.to_string().into()),
    ])
}
