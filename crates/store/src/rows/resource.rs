//! Resources.

use super::column::{body_column, column, status_column};
use super::texts::{HasTexts, Texts, texts_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::store::ResourceRow;
use kiln_engine::{ResourceId, ResourceSummary, StackId};
use std::sync::Arc;

impl TableRow for ResourceRow {
    const TABLE: &'static str = "resources";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<ResourceRow>] = &[
        column!(id),
        column!(stack),
        column!(root),
        column!(number),
        column!("name", summary.name),
        column!("kind", summary.type_name),
        column!("action", summary.state.action),
        status_column!(summary.state),
        column!("created", summary.created),
        column!("updated", summary.updated),
        body_column!(Resource, body),
        texts_column(),
    ];

    fn blank() -> ResourceRow {
        ResourceRow {
            id: ResourceId(NO_ID),
            stack: StackId(NO_ID),
            root: StackId(NO_ID),
            number: 0,
            summary: ResourceSummary::new(Arc::default(), Arc::default(), NO_STATE, NO_TIME),
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.0.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len() + self.summary.reason.len()
    }
}

impl HasTexts for ResourceRow {
    const TEXTS: BodyKind = BodyKind::ResourceTexts;

    fn texts(&self) -> Texts {
        Texts { reason: self.summary.reason.clone(), physical_id: self.summary.physical_id.clone() }
    }

    fn set_texts(&mut self, texts: Texts) {
        (self.summary.reason, self.summary.physical_id) = (texts.reason, texts.physical_id);
    }
}
