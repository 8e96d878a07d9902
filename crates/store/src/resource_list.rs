//! The resources of a stack without their bodies: all that a list of them shows.

use crate::database::SqlStore;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::read::LAST_EVENT;
use crate::rows::{self, HasTexts, Texts};
use crate::sql::Reader;
use crate::table::{Column, TableRow};
use kiln_engine::store::ResourceRow;
use kiln_engine::{ResourceId, ResourceSummary, StackId, Time};
use sqlx::AnyConnection;
use std::borrow::Cow;
use uuid::Uuid;

/// The columns that the rows of a list do not need: those are known, or are large.
const LEFT_OUT: [&str; 3] = ["stack", "root", "body"];

/// The columns of a row that lists show.
fn listed() -> impl Iterator<Item = &'static Column<ResourceRow>> {
    ResourceRow::COLUMNS.iter().filter(|column| !LEFT_OUT.contains(&column.name))
}

/// The columns that SQLite packs into JSON, in the order of [`Packed`].
const PACKED: &str = "hex(id), number, name, kind, action, status, created, updated, hex(texts)";

/// A row as SQLite packs it.
type Packed<'r> = (
    Cow<'r, str>,
    u64,
    Cow<'r, str>,
    Cow<'r, str>,
    Cow<'r, str>,
    Cow<'r, str>,
    i64,
    i64,
    Cow<'r, str>,
);

impl SqlStore {
    /// The resources of a root stack without their bodies, and the number of its tree's last event.
    pub(crate) async fn lean_resources(
        &self,
        root: StackId,
    ) -> Result<(Vec<ResourceRow>, u64), DbError> {
        let mut reader = self.reader().await?;
        let (mut resources, seen) = match self.dialect {
            Dialect::Sqlite => self.packed_resources(&mut reader, root).await?,
            _ => self.plain_resources(&mut reader, root).await?,
        };
        resources.sort_by_key(|row| row.number);
        let last_event = match seen {
            Some(last_event) => last_event,
            None => self.last_event(&mut reader, root).await?.unwrap_or(0),
        };
        Ok((resources, last_event))
    }

    async fn plain_resources(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
    ) -> Result<(Vec<ResourceRow>, Option<u64>), DbError> {
        let columns = listed().map(|column| column.name).collect::<Vec<_>>().join(", ");
        let select = format!("SELECT {columns}, {LAST_EVENT} FROM resources WHERE stack = ?");
        let select = self.statement(&select).with(|values| {
            values.id(root.0);
            values.id(root.0);
        });
        let rows = select.all(connection).await?;
        let mut last_event = None;
        let mut resources = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut reader = Reader::new(row);
            let mut resource = lean(root);
            for column in listed() {
                column.read(&mut resource, &self.cipher, &mut reader)?;
            }
            resources.push(resource);
            last_event = Some(reader.count()?);
        }
        Ok((resources, last_event))
    }

    /// The same from SQLite, in one row: every row is handed from its thread to ours by itself, which costs
    /// more than reading it.
    async fn packed_resources(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
    ) -> Result<(Vec<ResourceRow>, Option<u64>), DbError> {
        let select = format!(
            "SELECT {LAST_EVENT}, json_group_array(json_array({PACKED})) FROM resources WHERE stack = ?"
        );
        let select = self.statement(&select).with(|values| {
            values.id(root.0);
            values.id(root.0);
        });
        let Some(row) = select.first(connection).await? else { return Ok((Vec::new(), None)) };
        let mut row = Reader::new(&row);
        let last_event = row.maybe_count()?;
        let rows: Vec<Packed<'_>> = serde_json::from_str(row.text()?).map_err(|error| {
            let what = format!("the resources of stack {root}");
            DbError::Damaged { what, why: error.to_string() }
        })?;
        let resources: Result<_, DbError> =
            rows.into_iter().map(|row| self.unpacked(root, row)).collect();
        Ok((resources?, last_event))
    }

    fn unpacked(&self, root: StackId, row: Packed<'_>) -> Result<ResourceRow, DbError> {
        let (id, number, name, kind, action, status, created, updated, texts) = row;
        let damaged = |why: &str| DbError::Damaged {
            what: format!("a resource of stack {root}"),
            why: why.to_owned(),
        };
        let id = Uuid::parse_str(&id).map_err(|_| damaged(&format!("{id} is no id")))?;
        let mut row = ResourceRow {
            id: ResourceId(id),
            number,
            summary: ResourceSummary {
                updated: Time::from_micros(updated),
                ..ResourceSummary::new(
                    name.into(),
                    kind.into(),
                    rows::state_named(&action, &status)?,
                    Time::from_micros(created),
                )
            },
            ..lean(root)
        };
        let sealed = bytes(&texts).ok_or_else(|| damaged("its texts are cut short"))?;
        let texts = Texts::open(&self.cipher, ResourceRow::TEXTS, &row.key(), &sealed)?;
        row.set_texts(texts);
        Ok(row)
    }
}

/// The bytes that a text spells in hexadecimal digits.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// A resource of a root stack of which nothing else is known.
fn lean(root: StackId) -> ResourceRow {
    ResourceRow { stack: root, root, ..ResourceRow::blank() }
}
