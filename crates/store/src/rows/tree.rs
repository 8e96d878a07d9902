//! Trees.

use super::{NO_ID, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::ids::{EngineId, StackId};
use kiln_engine::store::Lease;
use kiln_engine::time::Time;

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
        Column::plain(
            "root",
            |row, to| to.id(row.root.0),
            |row, from| from.id().map(|it| row.root = StackId(it)),
        ),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "live_name",
            |row, to| to.maybe_text(row.live_name.as_deref()),
            |row, from| from.maybe_text().map(|it| row.live_name = it.map(Into::into)),
        ),
        Column::plain(
            "engine",
            |row, to| to.maybe_id(row.engine.map(|it| it.0)),
            |row, from| from.maybe_id().map(|it| row.engine = it.map(EngineId)),
        ),
        Column::plain(
            "owned",
            |row, to| to.small(i16::from(row.engine.is_some())),
            |_, from| from.int().map(drop),
        ),
        Column::plain(
            "fence",
            |row, to| to.count(row.fence),
            |row, from| from.count().map(|it| row.fence = it),
        ),
        Column::plain(
            "expires",
            |row, to| to.time(row.expires),
            |row, from| from.time().map(|it| row.expires = it),
        ),
        Column::plain(
            "has_work",
            |row, to| to.small(i16::from(row.has_work)),
            |row, from| from.int().map(|it| row.has_work = it != 0),
        ),
        Column::plain(
            "last_event",
            |row, to| to.count(row.last_event),
            |row, from| from.count().map(|it| row.last_event = it),
        ),
        Column::plain(
            "last_command",
            |row, to| to.count(row.last_command),
            |row, from| from.count().map(|it| row.last_command = it),
        ),
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
        }
    }

    fn key(&self) -> Vec<u8> {
        self.root.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        0
    }
}
