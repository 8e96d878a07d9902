//! Commands in the queues of trees.

use super::column::{body_column, column};
use super::{NO_ID, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::store::CommandRow;
use kiln_engine::{CommandId, StackId};

/// A command and its position in the queue.
pub(crate) struct QueuedRow {
    pub(crate) number: u64,
    pub(crate) command: CommandRow,
}

impl TableRow for QueuedRow {
    const TABLE: &'static str = "commands";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<QueuedRow>] = &[
        column!("id", command.id),
        column!("root", command.root),
        column!(number),
        column!("time", command.time),
        body_column!(Command, command.body),
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
