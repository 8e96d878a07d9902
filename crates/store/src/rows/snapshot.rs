//! Snapshots.

use super::column::{body_column, column, status_column};
use super::texts::{HasTexts, Texts, texts_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::store::SnapshotRow;
use kiln_engine::{SnapshotId, StackId};
use std::sync::Arc;

impl TableRow for SnapshotRow {
    const TABLE: &'static str = "snapshots";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<SnapshotRow>] = &[
        column!(id),
        column!(root),
        column!(stack),
        column!(project),
        column!(name),
        column!("action", state.action),
        status_column!(state),
        column!(created),
        body_column!(Snapshot, body),
        texts_column(),
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

impl HasTexts for SnapshotRow {
    const TEXTS: BodyKind = BodyKind::SnapshotTexts;

    fn texts(&self) -> Texts {
        Texts { reason: self.reason.clone(), physical_id: None }
    }

    fn set_texts(&mut self, texts: Texts) {
        self.reason = texts.reason;
    }
}
