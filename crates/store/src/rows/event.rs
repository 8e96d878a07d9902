//! Events.

use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::ids::{EventId, StackId};
use kiln_engine::store::EventRow;
use std::sync::Arc;

impl TableRow for EventRow {
    const TABLE: &'static str = "events";
    const KEY: &'static [&'static str] = &["id"];
    const IS_IMMUTABLE: bool = true;
    const COLUMNS: &'static [Column<EventRow>] = &[
        Column::plain(
            "id",
            |row, to| to.id(row.id.0),
            |row, from| from.id().map(|it| row.id = EventId(it)),
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
            "time",
            |row, to| to.time(row.time),
            |row, from| from.time().map(|it| row.time = it),
        ),
        Column::plain(
            "resource",
            |row, to| to.text(&row.resource),
            |row, from| from.text().map(|it| row.resource = it.into()),
        ),
        Column::plain(
            "kind",
            |row, to| to.text(&row.kind),
            |row, from| from.text().map(|it| row.kind = it.into()),
        ),
        Column::plain(
            "physical_id",
            |row, to| to.text(&row.physical_id),
            |row, from| from.text().map(|it| row.physical_id = it.into()),
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
        // Most events have no body, and then there is nothing to hide.
        Column::sealed(
            "body",
            |row, cipher| match row.body.as_slice() {
                [] => Ok(Vec::new()),
                body => cipher.seal(BodyKind::Event, row.id.0.as_bytes(), body),
            },
            |row, cipher, sealed| {
                if !sealed.is_empty() {
                    row.body = cipher.open(BodyKind::Event, row.id.0.as_bytes(), sealed)?;
                }
                Ok(())
            },
        ),
    ];

    fn blank() -> EventRow {
        EventRow {
            id: EventId(NO_ID),
            stack: StackId(NO_ID),
            root: StackId(NO_ID),
            number: 0,
            time: NO_TIME,
            resource: Arc::default(),
            kind: Arc::default(),
            physical_id: Arc::default(),
            state: NO_STATE,
            reason: Arc::default(),
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
