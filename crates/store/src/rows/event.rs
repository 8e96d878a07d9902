//! Events.

use super::column::{column, status_column};
use super::texts::{HasTexts, Texts, texts_column};
use super::{NO_ID, NO_STATE, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::store::EventRow;
use kiln_engine::{EventId, PhysicalId, StackId};
use std::sync::Arc;

impl TableRow for EventRow {
    const TABLE: &'static str = "events";
    const KEY: &'static [&'static str] = &["id"];
    const IS_IMMUTABLE: bool = true;
    const COLUMNS: &'static [Column<EventRow>] = &[
        column!(id),
        column!(stack),
        column!(root),
        column!(number),
        column!(time),
        column!(resource),
        column!(kind),
        column!("action", state.action),
        status_column!(state),
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
        texts_column(),
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

impl HasTexts for EventRow {
    const TEXTS: BodyKind = BodyKind::EventTexts;

    fn texts(&self) -> Texts {
        Texts {
            reason: self.reason.clone(),
            physical_id: Some(PhysicalId::new(self.physical_id.clone())),
        }
    }

    fn set_texts(&mut self, texts: Texts) {
        let id = texts.physical_id.map(|id| id.text().clone());
        (self.reason, self.physical_id) = (texts.reason, id.unwrap_or_default());
    }
}
