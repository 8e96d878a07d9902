//! Resources.

use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::ids::{ResourceId, StackId};
use kiln_engine::store::ResourceRow;
use std::sync::Arc;

impl TableRow for ResourceRow {
    const TABLE: &'static str = "resources";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<ResourceRow>] = &[
        Column::plain(
            "id",
            |row, to| to.id(row.id.0),
            |row, from| from.id().map(|it| row.id = ResourceId(it)),
        ),
        Column::plain(
            "stack",
            |row, to| to.id(row.stack.0),
            |row, from| from.id().map(|it| row.stack = StackId(it)),
        ),
        Column::plain(
            "root",
            |row, to| to.id(row.root.0),
            |row, from| from.id().map(|it| row.root = StackId(it)),
        ),
        Column::plain(
            "number",
            |row, to| to.count(row.number),
            |row, from| from.count().map(|it| row.number = it),
        ),
        Column::plain(
            "name",
            |row, to| to.text(&row.name),
            |row, from| from.text().map(|it| row.name = it.into()),
        ),
        Column::plain(
            "kind",
            |row, to| to.text(&row.kind),
            |row, from| from.text().map(|it| row.kind = it.into()),
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
            "physical_id",
            |row, to| to.maybe_text(row.physical_id.as_deref()),
            |row, from| from.maybe_text().map(|it| row.physical_id = it.map(Into::into)),
        ),
        Column::plain(
            "created",
            |row, to| to.time(row.created),
            |row, from| from.time().map(|it| row.created = it),
        ),
        Column::plain(
            "updated",
            |row, to| to.time(row.updated),
            |row, from| from.time().map(|it| row.updated = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Resource, row.id.0.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Resource, row.id.0.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> ResourceRow {
        ResourceRow {
            id: ResourceId(NO_ID),
            stack: StackId(NO_ID),
            root: StackId(NO_ID),
            number: 0,
            name: Arc::default(),
            kind: Arc::default(),
            state: NO_STATE,
            reason: Arc::default(),
            physical_id: None,
            created: NO_TIME,
            updated: NO_TIME,
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
