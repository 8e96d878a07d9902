//! A stack in memory.

use super::{Slot, StackKey};
use crate::blueprint::{Blueprint, Recipe};
use crate::ids::{ResourceId, StackId};
use crate::machine::Traversal;
use crate::request_id::RequestId;
use crate::state::State;
use crate::time::Time;
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A stack.
pub(crate) struct Stack {
    /// The id that users see.
    pub id: StackId,
    /// The name; of a nested stack, the physical name of its parent resource.
    pub name: Arc<str>,
    /// The stack and the resource that it is nested in.
    pub parent_resource: Option<(StackKey, Slot)>,
    /// The id of that resource, whose record may go first.
    pub(crate) parent_resource_id: Option<ResourceId>,
    /// How deep it is nested.
    pub depth: usize,
    /// The last action, and its status.
    pub state: State,
    /// The reason of the state, as users see it.
    pub reason: Arc<str>,
    /// When it was created.
    pub created: Time,
    /// When it was last updated.
    pub updated: Option<Time>,
    /// When it was deleted.
    pub deleted: Option<Time>,
    /// Its tags.
    pub tags: Vec<Arc<str>>,
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
