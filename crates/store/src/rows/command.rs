//! Commands in the queues of trees.

use super::{NO_ID, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::ids::{CommandId, StackId};
use kiln_engine::store::CommandRow;

/// A command and its position in the queue.
pub(crate) struct QueuedRow {
    pub(crate) number: u64,
    pub(crate) command: CommandRow,
}

impl TableRow for QueuedRow {
    const TABLE: &'static str = "commands";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<QueuedRow>] = &[
        Column::plain(
            "id",
            |row, to| to.id(row.command.id.0),
            |row, from| from.id().map(|it| row.command.id = CommandId(it)),
        ),
        Column::plain(
            "root",
            |row, to| to.id(row.command.root.0),
            |row, from| from.id().map(|it| row.command.root = StackId(it)),
        ),
        Column::plain(
            "number",
            |row, to| to.count(row.number),
            |row, from| from.count().map(|it| row.number = it),
        ),
        Column::plain(
            "time",
            |row, to| to.time(row.command.time),
            |row, from| from.time().map(|it| row.command.time = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| {
                cipher.seal(BodyKind::Command, row.command.id.0.as_bytes(), &row.command.body)
            },
            |row, cipher, sealed| {
                row.command.body =
                    cipher.open(BodyKind::Command, row.command.id.0.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> QueuedRow {
        let (id, root) = (CommandId(NO_ID), StackId(NO_ID));
        let command = CommandRow { id, root, time: NO_TIME, body: Vec::new() };
        QueuedRow { number: 0, command }
    }

    fn key(&self) -> Vec<u8> {
        self.command.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.command.body.len()
    }
}
