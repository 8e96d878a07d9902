//! What the record of a stack or of a resource, its row and its readers have in common.

use crate::ids::PhysicalId;
use crate::state::State;
use crate::time::Time;
use std::sync::Arc;

/// A stack at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackSummary {
    /// Its name; of a nested stack, the physical name of its parent resource.
    pub name: Arc<str>,
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
}

impl StackSummary {
    /// A stack that is new: neither updated nor deleted, and without tags.
    pub fn new(name: Arc<str>, state: State, created: Time) -> StackSummary {
        let reason = Arc::default();
        StackSummary {
            name,
            state,
            reason,
            created,
            updated: None,
            deleted: None,
            tags: Vec::new(),
        }
    }
}

/// A resource at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSummary {
    /// Its name in the template.
    pub name: Arc<str>,
    /// Its type: in its record, the built-in type that it is of, or the type as written if that is a template; for
    /// readers, the type as written.
    pub type_name: Arc<str>,
    /// The last action, and its status.
    pub state: State,
    /// The reason of the state, as users see it.
    pub reason: Arc<str>,
    /// The id that its service gave to its object.
    pub physical_id: Option<PhysicalId>,
    /// When it was added.
    pub created: Time,
    /// When its state last changed.
    pub updated: Time,
}

impl ResourceSummary {
    /// A resource that is new: it has no object yet.
    pub fn new(
        name: Arc<str>,
        type_name: Arc<str>,
        state: State,
        created: Time,
    ) -> ResourceSummary {
        let (reason, updated) = (Arc::default(), created);
        ResourceSummary { name, type_name, state, reason, physical_id: None, created, updated }
    }
}
