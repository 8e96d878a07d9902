//! Resources.

use super::column::{body_column, column, status_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::store::ResourceRow;
use kiln_engine::{ResourceId, StackId};
use std::sync::Arc;

impl TableRow for ResourceRow {
    const TABLE: &'static str = "resources";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<ResourceRow>] = &[
        column!(id),
        column!(stack),
        column!(root),
        column!(number),
        column!(name),
        column!(kind),
        column!("action", state.action),
        status_column!(),
        column!(reason),
        column!(physical_id),
        column!(created),
        column!(updated),
        body_column!(Resource, body),
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
