//! A stack in memory.

use super::{Slot, StackKey};
use crate::blueprint::{Blueprint, Recipe};
use crate::ids::{ResourceId, StackId};
use crate::machine::Traversal;
use crate::request_id::RequestId;
use crate::summary::StackSummary;
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A stack.
pub(crate) struct Stack {
    /// The id that users see.
    pub id: StackId,
    /// Its name, state, times and tags.
    pub summary: StackSummary,
    /// The stack and the resource that it is nested in.
    pub parent_resource: Option<(StackKey, Slot)>,
    /// The id of that resource, whose record may go first.
    pub(crate) parent_resource_id: Option<ResourceId>,
    /// How deep it is nested.
    pub depth: usize,
    /// How long an action may take; `None` for the operator's default.
    pub timeout: Option<Duration>,
    /// Whether a failed create or update is rolled back.
    pub is_rolled_back: bool,
    /// Its template, files, environment and parameters.
    pub recipe: Arc<Recipe>,
    /// The recipe before the action in progress, for a rollback.
    pub previous: Option<Arc<Recipe>>,
    /// Its resources, in the order in which they were added.
    pub resources: BTreeMap<u64, Slot>,
    /// The resources of each name; the last one is current.
    pub by_name: IndexMap<Arc<str>, Vec<Slot>>,
    /// How many of its resources have an operation.
    pub(crate) busy: usize,
    pub(crate) blueprint: Option<Arc<Blueprint>>,
    pub(crate) traversal: Option<Box<Traversal>>,
    /// The request that began its last traversal, if that is known; `None` if its parent's began it.
    pub(crate) request: Option<RequestId>,
}

impl Stack {
    /// A stack without resources, at rest.
    pub(crate) fn new(id: StackId, summary: StackSummary, recipe: Arc<Recipe>) -> Stack {
        Stack {
            id,
            summary,
            parent_resource: None,
            parent_resource_id: None,
            depth: 0,
            timeout: None,
            is_rolled_back: false,
            recipe,
            previous: None,
            resources: BTreeMap::new(),
            by_name: IndexMap::new(),
            busy: 0,
            blueprint: None,
            traversal: None,
            request: None,
        }
    }
}
