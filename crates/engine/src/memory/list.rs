//! Lists of the store in memory: what a query asks for, in which order, and which page of it.

use crate::ids::StackId;
use crate::store::{
    EventField, EventQuery, EventRow, StackField, StackQuery, StackRow, StackSort, TagQuery,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// A page of stacks.
pub(super) fn stacks<'a>(
    query: &StackQuery,
    marker: Option<&'a StackRow>,
    all: impl Iterator<Item = &'a StackRow>,
) -> Vec<StackRow> {
    let order = |a: &&StackRow, b: &&StackRow| compare_stacks(query, a, b);
    let asked = all.filter(|stack| asks_for_stack(query, stack));
    page(asked, order, query.descending, marker, query.limit)
}

/// A page of events.
pub(super) fn events<'a>(
    query: &EventQuery,
    marker: Option<&'a EventRow>,
    all: impl Iterator<Item = &'a EventRow>,
) -> Vec<EventRow> {
    let order = |a: &&EventRow, b: &&EventRow| (a.number, a.id).cmp(&(b.number, b.id));
    let wanted: BTreeSet<StackId> = query.stacks.iter().copied().collect();
    let asked = all
        .filter(|event| wanted.contains(&event.stack))
        .filter(|event| query.filters.iter().all(|filter| event_has(event, filter)));
    page(asked, order, query.descending, marker, query.limit)
}

fn page<'a, T: Clone>(
    asked: impl Iterator<Item = &'a T>,
    order: impl Fn(&&T, &&T) -> Ordering,
    descending: bool,
    marker: Option<&'a T>,
    limit: Option<u64>,
) -> Vec<T> {
    let order = |a: &&T, b: &&T| if descending { order(b, a) } else { order(a, b) };
    let behind = |row: &&T| marker.is_none_or(|marker| order(row, &marker) == Ordering::Greater);
    let mut rows: Vec<&T> = asked.filter(behind).collect();
    rows.sort_by(order);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    rows.into_iter().take(limit).cloned().collect()
}

fn compare_stacks(query: &StackQuery, a: &StackRow, b: &StackRow) -> Ordering {
    let by = |key: &StackSort| match key {
        StackSort::Name => a.summary.name.cmp(&b.summary.name),
        StackSort::Status => a.summary.state.status.name().cmp(b.summary.state.status.name()),
        StackSort::Created => a.summary.created.cmp(&b.summary.created),
        StackSort::Updated => a.summary.updated.cmp(&b.summary.updated),
    };
    let keys = if query.sort.is_empty() { &[StackSort::Created][..] } else { &query.sort };
    let order = keys.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
    order.then(a.id.cmp(&b.id))
}

/// Whether a stack is in the list, whatever the page.
pub(super) fn asks_for_stack(query: &StackQuery, stack: &StackRow) -> bool {
    let place = match query.parent {
        Some(parent) => stack.parent == Some(parent),
        None => query.nested || stack.parent.is_none(),
    };
    place
        && (query.deleted || stack.summary.deleted.is_none())
        && query.project.as_ref().is_none_or(|project| *project == stack.project)
        && query.filters.iter().all(|filter| stack_has(stack, filter))
        && has_tags(&stack.summary.tags, &query.tags)
}

fn has_tags(tags: &[Arc<str>], query: &TagQuery) -> bool {
    let has = |tag: &Arc<str>| tags.contains(tag);
    query.all.iter().all(has)
        && (query.any.is_empty() || query.any.iter().any(has))
        && (query.not_all.is_empty() || !query.not_all.iter().all(has))
        && !query.none.iter().any(has)
}

fn stack_has(stack: &StackRow, (field, values): &(StackField, Vec<Arc<str>>)) -> bool {
    let id = |id: Option<StackId>, value: &str| Uuid::parse_str(value).ok() == id.map(|id| id.0);
    values.iter().any(|value| match field {
        StackField::Id => id(Some(stack.id), value),
        StackField::Name => *value == stack.summary.name,
        StackField::Action => **value == *stack.summary.state.action.name(),
        StackField::Status => **value == *stack.summary.state.status.name(),
        StackField::Reason => *value == stack.summary.reason,
        StackField::Project => *value == stack.project,
        StackField::UserName => *value == stack.user_name,
        StackField::Parent => stack.parent.is_some() && id(stack.parent, value),
    })
}

fn event_has(event: &EventRow, (field, values): &(EventField, Vec<Arc<str>>)) -> bool {
    values.iter().any(|value| match field {
        EventField::Id => Uuid::parse_str(value).is_ok_and(|id| id == event.id.0),
        EventField::Resource => *value == event.resource,
        EventField::Kind => *value == event.kind,
        EventField::Action => **value == *event.state.action.name(),
        EventField::Status => **value == *event.state.status.name(),
    })
}
