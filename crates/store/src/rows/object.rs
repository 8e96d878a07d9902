//! Objects that are kept beside stacks.

use super::{NO_ID, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::objects::{ObjectKind, ObjectRow};
use kiln_engine::time::Time;
use std::sync::Arc;

impl TableRow for ObjectRow {
    const TABLE: &'static str = "objects";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<ObjectRow>] = &[
        Column::plain("id", |row, to| to.id(row.id), |row, from| from.id().map(|it| row.id = it)),
        Column::plain(
            "kind",
            |row, to| to.text(row.kind.name()),
            |row, from| {
                super::known(from, "kind of object", ObjectKind::parse).map(|it| row.kind = it)
            },
        ),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "subject",
            |row, to| to.text(&row.subject),
            |row, from| from.text().map(|it| row.subject = it.into()),
        ),
        Column::plain(
            "uses",
            |row, to| to.maybe_id(row.uses),
            |row, from| from.maybe_id().map(|it| row.uses = it),
        ),
        Column::plain(
            "created",
            |row, to| to.time(row.created),
            |row, from| from.time().map(|it| row.created = it),
        ),
        Column::plain(
            "updated",
            |row, to| to.maybe_time(row.updated),
            |row, from| from.maybe_int().map(|it| row.updated = it.map(Time::from_micros)),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Object, row.id.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Object, row.id.as_bytes(), sealed)?;
                Ok(())
            },
        ),
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
