//! The events of stacks.

use super::{RequestError, Service};
use crate::ids::StackId;
use crate::store::{EventQuery, EventRow, StackQuery, StackRow};
use std::collections::HashMap;

impl Service {
    /// A stack and its nested stacks, down to a depth.
    pub async fn with_nested(
        &self,
        stack: &StackRow,
        depth: usize,
    ) -> Result<Vec<StackRow>, RequestError> {
        let mut stacks = vec![stack.clone()];
        let mut level = vec![stack.id];
        for _ in 0..depth.min(self.config.max_depth + 1) {
            let mut next = Vec::new();
            for parent in level {
                let query =
                    StackQuery { parent: Some(parent), deleted: true, ..StackQuery::default() };
                let children = self.store.stacks(&query).await?;
                next.extend(children.iter().map(|child| child.id));
                stacks.extend(children);
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(stacks)
    }

    /// A page of events.
    pub async fn events(&self, query: &EventQuery) -> Result<Vec<EventRow>, RequestError> {
        match query.limit {
            Some(0) => Ok(Vec::new()),
            _ => Ok(self.store.events(query).await?),
        }
    }

    /// An event of a resource of a stack.
    pub async fn event(
        &self,
        stack: StackId,
        resource: &str,
        id: &str,
    ) -> Result<Option<EventRow>, RequestError> {
        let Ok(id) = uuid::Uuid::parse_str(id) else { return Ok(None) };
        let event = self.store.event(crate::ids::EventId(id)).await?;
        Ok(event.filter(|event| event.stack == stack && &*event.resource == resource))
    }

    /// A query for the events of some stacks.
    pub fn events_of(stacks: &[StackRow]) -> EventQuery {
        EventQuery {
            stacks: stacks.iter().map(|stack| stack.id).collect(),
            filters: Vec::new(),
            descending: false,
            marker: None,
            limit: None,
        }
    }

    /// Stacks by their ids.
    pub fn by_id(stacks: &[StackRow]) -> HashMap<StackId, &StackRow> {
        stacks.iter().map(|stack| (stack.id, stack)).collect()
    }
}
