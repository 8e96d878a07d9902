//! Resources.

use super::column::{body_column, column, status_column};
use super::texts::{HasTexts, Texts, texts_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
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
        column!(created),
        column!(updated),
        body_column!(Resource, body),
        texts_column(),
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

impl HasTexts for ResourceRow {
    const TEXTS: BodyKind = BodyKind::ResourceTexts;

    fn texts(&self) -> Texts {
        Texts { reason: self.reason.clone(), physical_id: self.physical_id.clone() }
    }

    fn set_texts(&mut self, texts: Texts) {
        (self.reason, self.physical_id) = (texts.reason, texts.physical_id);
    }
}
