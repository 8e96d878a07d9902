//! Objects that are kept beside stacks.

use super::column::{body_column, column};
use super::{NO_ID, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::{ObjectKind, ObjectRow};
use std::sync::Arc;

impl TableRow for ObjectRow {
    const TABLE: &'static str = "objects";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<ObjectRow>] = &[
        column!(id),
        column!(kind),
        column!(project),
        column!(subject),
        column!(uses),
        column!(created),
        column!(updated),
        body_column!(Object, body),
    ];

    fn blank() -> ObjectRow {
        ObjectRow {
            id: NO_ID,
            kind: ObjectKind::Config,
            project: Arc::default(),
            subject: Arc::default(),
            uses: None,
            created: NO_TIME,
            updated: None,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len()
    }
}
