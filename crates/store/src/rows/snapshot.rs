//! Snapshots.

use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::ids::{SnapshotId, StackId};
use kiln_engine::store::SnapshotRow;
use std::sync::Arc;

impl TableRow for SnapshotRow {
    const TABLE: &'static str = "snapshots";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<SnapshotRow>] = &[
        Column::plain(
            "id",
            |row, to| to.id(row.id.0),
            |row, from| from.id().map(|it| row.id = SnapshotId(it)),
        ),
        Column::plain(
            "root",
            |row, to| to.id(row.root.0),
            |row, from| from.id().map(|it| row.root = StackId(it)),
        ),
        Column::plain(
            "stack",
            |row, to| to.id(row.stack.0),
            |row, from| from.id().map(|it| row.stack = StackId(it)),
        ),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "name",
            |row, to| to.maybe_text(row.name.as_deref()),
            |row, from| from.maybe_text().map(|it| row.name = it.map(Into::into)),
        ),
        Column::plain(
            "action",
            |row, to| to.text(row.state.action.name()),
            |row, from| super::action(from).map(|it| row.state.action = it),
        ),
        Column::plain(
            "status",
            |row, to| to.text(row.state.status.name()),
            |row, from| super::status(row.state.action, from).map(|it| row.state.status = it),
        ),
        Column::plain(
            "reason",
            |row, to| to.text(&row.reason),
            |row, from| from.text().map(|it| row.reason = it.into()),
        ),
        Column::plain(
            "created",
            |row, to| to.time(row.created),
            |row, from| from.time().map(|it| row.created = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Snapshot, row.id.0.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Snapshot, row.id.0.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> SnapshotRow {
        SnapshotRow {
            id: SnapshotId(NO_ID),
            root: StackId(NO_ID),
            stack: StackId(NO_ID),
            project: Arc::default(),
            name: None,
            state: NO_STATE,
            reason: Arc::default(),
            created: NO_TIME,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.reason.len()
    }
}
