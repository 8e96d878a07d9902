//! Sealing the texts of rows that earlier versions wrote: reasons and physical ids were plain then.

use crate::cipher::{BodyKind, Cipher};
use crate::database::execute;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::rows::Texts;
use crate::sql::{Reader, Statement};
use kiln_engine::PhysicalId;
use sqlx::AnyConnection;

/// The tables with texts.
const TABLES: [TextTable; 4] = [
    TextTable { name: "stacks", kind: BodyKind::StackTexts, has_id: false },
    TextTable { name: "resources", kind: BodyKind::ResourceTexts, has_id: true },
    TextTable { name: "events", kind: BodyKind::EventTexts, has_id: true },
    TextTable { name: "snapshots", kind: BodyKind::SnapshotTexts, has_id: false },
];

/// How many rows are sealed at once.
const CHUNK: u64 = 500;

struct TextTable {
    name: &'static str,
    kind: BodyKind,
    /// Whether its rows have physical ids.
    has_id: bool,
}

/// Seals the texts of all rows that have none sealed. It can be begun again.
pub(crate) async fn seal_texts(
    dialect: Dialect,
    connection: &mut AnyConnection,
    cipher: &Cipher,
) -> Result<(), DbError> {
    for table in TABLES {
        // If it was begun before, the plain columns of this table may be gone.
        let open = format!("SELECT id FROM {} WHERE texts IS NULL LIMIT 1", table.name);
        if Statement::new(dialect, &open).first(connection).await?.is_none() {
            continue;
        }
        let (mut last, mut sealed) = (Vec::new(), 0);
        while let Some((next, count)) =
            seal_chunk(dialect, connection, cipher, &table, &last).await?
        {
            last = next;
            sealed += count;
        }
        tracing::info!(
            table = table.name,
            rows = sealed,
            "the reasons and physical ids are encrypted"
        );
    }
    Ok(())
}

/// Seals the rows behind one; gives the last of them and their number.
async fn seal_chunk(
    dialect: Dialect,
    connection: &mut AnyConnection,
    cipher: &Cipher,
    table: &TextTable,
    last: &[u8],
) -> Result<Option<(Vec<u8>, usize)>, DbError> {
    let (name, id) = (table.name, if table.has_id { ", physical_id" } else { "" });
    let select = format!("SELECT id, reason{id} FROM {name} WHERE id > ? ORDER BY id LIMIT ?");
    let select = Statement::new(dialect, &select).with(|values| {
        values.bytes(last);
        values.count(CHUNK);
    });
    let rows = select.all(connection).await?;
    let Some(end) = rows.last() else { return Ok(None) };
    let end = Reader::new(end).bytes()?.to_vec();
    // MariaDB has no transaction around a migration, and would wait for the disk after every row.
    let is_own = dialect == Dialect::Mariadb;
    if is_own {
        execute(connection, "START TRANSACTION".to_owned()).await?;
    }
    for row in &rows {
        let mut row = Reader::new(row);
        let (key, reason) = (row.bytes()?, row.text()?);
        let physical_id = if table.has_id { row.maybe_text()? } else { None };
        let physical_id = physical_id.map(PhysicalId::new);
        let texts = Texts { reason: reason.into(), physical_id }.seal(cipher, table.kind, key)?;
        let reason_key = (table.kind == BodyKind::StackTexts).then(|| cipher.reason_key(reason));
        let more = if reason_key.is_some() { ", reason_key = ?" } else { "" };
        let update = format!("UPDATE {name} SET texts = ?{more} WHERE id = ?");
        let update = Statement::new(dialect, &update).with(|values| {
            values.bytes(&texts);
            reason_key.iter().for_each(|hash| values.bytes(hash));
            values.bytes(key);
        });
        update.run(connection).await?;
    }
    if is_own {
        execute(connection, "COMMIT".to_owned()).await?;
    }
    Ok(Some((end, rows.len())))
}
