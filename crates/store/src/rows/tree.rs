//! Trees.

use super::column::column;
use super::{NO_ID, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::store::Lease;
use kiln_engine::{EngineId, StackId, Time};

/// A tree: its owner, its queue's and its events' numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(crate) root: StackId,
    pub(crate) project: String,
    /// The root's name, which no other tree of the project has; none once the root is deleted.
    pub(crate) live_name: Option<String>,
    pub(crate) engine: Option<EngineId>,
    pub(crate) fence: u64,
    /// When the lease runs out; without an owner, since when there is none.
    pub(crate) expires: Time,
    pub(crate) has_work: bool,
    pub(crate) last_event: u64,
    pub(crate) last_command: u64,
    /// How many bytes its events have, or had before old ones were dropped.
    pub(crate) event_bytes: u64,
}

impl TreeRow {
    /// Leases the tree to an engine, with a new fence.
    pub(crate) fn lease_to(&mut self, engine: EngineId, until: Time) -> Lease {
        self.engine = Some(engine);
        self.fence += 1;
        self.expires = until;
        Lease { root: self.root, engine, fence: self.fence, until }
    }
}

impl TableRow for TreeRow {
    const TABLE: &'static str = "trees";
    const KEY: &'static [&'static str] = &["root"];
    const COLUMNS: &'static [Column<TreeRow>] = &[
        column!(root),
        column!(project),
        column!(live_name),
        column!(engine),
        Column::plain(
            "owned",
            |row, to| to.small(i16::from(row.engine.is_some())),
            |_, from| from.int().map(drop),
        ),
        column!(fence),
        column!(expires),
        column!(has_work),
        column!(last_event),
        column!(last_command),
        column!(event_bytes),
    ];

    fn blank() -> TreeRow {
        TreeRow {
            root: StackId(NO_ID),
            project: String::new(),
            live_name: None,
            engine: None,
            fence: 0,
            expires: NO_TIME,
            has_work: false,
            last_event: 0,
            last_command: 0,
            event_bytes: 0,
        }
    }

    fn key(&self) -> Vec<u8> {
        self.root.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        0
    }
}
