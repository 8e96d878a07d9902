//! The resources of a stack without their bodies: all that a list of them shows.

use crate::database::SqlStore;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::read::LAST_EVENT;
use crate::rows;
use crate::sql::Reader;
use crate::table::{Column, TableRow};
use kiln_engine::store::ResourceRow;
use kiln_engine::{ResourceId, StackId, Time};
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
const PACKED: &str =
    "hex(id), number, name, kind, action, status, reason, physical_id, created, updated";

/// A row as SQLite packs it.
type Packed<'r> = (
    Cow<'r, str>,
    u64,
    Cow<'r, str>,
    Cow<'r, str>,
    Cow<'r, str>,
    Cow<'r, str>,
    Cow<'r, str>,
    Option<Cow<'r, str>>,
    i64,
    i64,
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
            rows.into_iter().map(|row| unpacked(root, row)).collect();
        Ok((resources?, last_event))
    }
}

/// A resource of a root stack of which nothing else is known.
fn lean(root: StackId) -> ResourceRow {
    ResourceRow { stack: root, root, ..ResourceRow::blank() }
}

fn unpacked(root: StackId, row: Packed<'_>) -> Result<ResourceRow, DbError> {
    let (id, number, name, kind, action, status, reason, physical_id, created, updated) = row;
    let damaged = || DbError::Damaged {
        what: format!("a resource of stack {root}"),
        why: format!("{id} is no id"),
    };
    Ok(ResourceRow {
        id: ResourceId(Uuid::parse_str(&id).map_err(|_| damaged())?),
        number,
        name: name.into(),
        kind: kind.into(),
        state: rows::state_named(&action, &status)?,
        reason: reason.into(),
        physical_id: physical_id.map(Into::into),
        created: Time::from_micros(created),
        updated: Time::from_micros(updated),
        ..lean(root)
    })
}
