//! Events of stacks.

use super::show::{members, wrapped};
use super::stacks::gone;
use crate::fault::Fault;
use crate::query::percent;
use crate::request::{Request, link, moment};
use crate::response::Response;
use crate::serve::EVENT_STREAM;
use kiln_engine::store::{EventField, EventQuery, EventRow, StackRow};
use kiln_engine::{ErrorType, EventId, Service, StackId};
use kiln_template::{Members, Value};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// The names under which events can be filtered.
const FILTERS: [(&str, EventField); 4] = [
    ("resource_action", EventField::Action),
    ("resource_name", EventField::Resource),
    ("resource_status", EventField::Status),
    ("resource_type", EventField::Kind),
];

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    if request.accept.starts_with(EVENT_STREAM) {
        return super::stream::events(request).await;
    }
    let stack = request.stack().await?;
    let depth = request.query.count("nested_depth")?.unwrap_or(0);
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let stacks = request.service().with_nested(&stack, depth).await?;
    let events = page(&request, &stacks, Vec::new()).await?;
    let by_id: HashMap<StackId, StackRow> =
        stacks.into_iter().map(|stack| (stack.id, stack)).collect();
    let share = request.share();
    let rows = events.into_iter().filter_map(move |event| {
        let of = by_id.get(&event.stack)?;
        let root = (depth > 0).then_some(&stack);
        Some(Value::Map(Arc::new(listed(&request, of, &event, root))))
    });
    Response::list_of(share, "events", rows).await
}

pub(crate) async fn of_resource(request: Request) -> Result<Response, Fault> {
    let stack = request.stack().await?;
    let name = request.part("resource_name");
    let only = vec![(EventField::Resource, vec![Arc::from(name)])];
    let events = page(&request, std::slice::from_ref(&stack), only).await?;
    if events.is_empty() {
        let message = format!("No events found for resource {name}");
        return Err(Fault::new(ErrorType::HttpNotFound, message));
    }
    let share = request.share();
    let shown = move |event: EventRow| Value::Map(Arc::new(listed(&request, &stack, &event, None)));
    Response::list_of(share, "events", events.into_iter().map(shown)).await
}

pub(crate) async fn show(request: Request) -> Result<Response, Fault> {
    let stack = request.stack().await?;
    let (resource, id) = (request.part("resource_name"), request.part("event_id"));
    let event = request.service().event(stack.id, resource, id).await?;
    let event =
        event.ok_or_else(|| Fault::new(ErrorType::HttpNotFound, format!("No event {id} found")))?;
    let mut shown = listed(&request, &stack, &event, None);
    shown.insert("resource_type".into(), Value::Text(event.kind.clone()));
    shown.insert("resource_properties".into(), event.properties());
    Ok(Response::ok(&wrapped("event", Value::Map(Arc::new(shown)))))
}

async fn page(
    request: &Request,
    stacks: &[StackRow],
    only: Vec<(EventField, Vec<Arc<str>>)>,
) -> Result<Vec<EventRow>, Fault> {
    let query = &request.query;
    let mut filters = only;
    for (name, field) in FILTERS {
        let values: Vec<Arc<str>> = query.all(name).map(Arc::from).collect();
        if !values.is_empty() {
            filters.push((field, values));
        }
    }
    let by_type = query.all("sort_keys").any(|key| key == "resource_type");
    let by_time = query.all("sort_keys").any(|key| key == "event_time");
    let descending = match query.get("sort_dir") {
        Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(Fault::bare(ErrorType::ValueError)),
        None => !by_time && !by_type,
    };
    let wanted = EventQuery {
        filters,
        descending,
        marker: query.get("marker").and_then(|id| Uuid::parse_str(id).ok()).map(EventId),
        limit: query.count("limit")?,
        ..Service::events_of(stacks)
    };
    let mut events = request.service().events(&wanted).await?;
    if by_type {
        // The order holds within a page: a client that sorts by type reads all events.
        events.sort_by(|a, b| a.kind.cmp(&b.kind));
        if descending {
            events.reverse();
        }
    }
    Ok(events)
}

/// The members of an event in a list.
pub(crate) fn listed(
    request: &Request,
    stack: &StackRow,
    event: &EventRow,
    root: Option<&StackRow>,
) -> Members {
    let url = request.stack_url(stack);
    let resource = format!("{url}/resources/{}", percent::encode_path(&event.resource));
    let mut links = vec![
        link("self", format!("{resource}/events/{}", event.id)),
        link("resource", resource),
        link("stack", url),
    ];
    links.extend(root.map(|root| link("root_stack", request.stack_url(root))));
    members([
        ("id", event.id.to_string().into()),
        ("links", Value::list(links)),
        ("event_time", moment(event.time)),
        ("logical_resource_id", Value::Text(event.resource.clone())),
        ("resource_name", Value::Text(event.resource.clone())),
        ("physical_resource_id", Value::Text(event.physical_id.clone())),
        ("resource_status", event.state.to_string().into()),
        ("resource_status_reason", Value::Text(event.reason.clone())),
    ])
}

/// The stacks of a stream, with new nested ones.
pub(crate) async fn refreshed(
    request: &Request,
    stack: &StackRow,
    depth: usize,
) -> Result<(Vec<StackRow>, HashMap<StackId, StackRow>), Fault> {
    let current = request.service().stack(&request.requester(), stack.id).await?;
    let current = current.ok_or_else(|| gone(stack))?;
    let stacks = request.service().with_nested(&current, depth).await?;
    let by_id = stacks.iter().map(|stack| (stack.id, stack.clone())).collect();
    Ok((stacks, by_id))
}
