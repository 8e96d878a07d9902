//! Masking the texts of rows that earlier versions wrote: these did not look for hidden values in reasons and physical ids.
//!
//! It is done once, when the store is first opened by a version that knows of it, and can be begun again.

use crate::cipher::{BodyKind, Cipher};
use crate::database::{add_setting, setting};
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::rows::Texts;
use crate::sql::{Reader, Statement};
use kiln_engine::store::{StoreError, hidden_in_body};
use kiln_engine::{PhysicalId, ResourceId};
use kiln_template::HiddenTexts;
use sqlx::{AnyConnection, Connection};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The setting that says that it was done.
const MASKED: &str = "texts_masked";

/// How many rows are read at once.
const CHUNK: u64 = 500;

/// The tables with texts.
const TABLES: [(&str, BodyKind); 4] = [
    ("stacks", BodyKind::StackTexts),
    ("resources", BodyKind::ResourceTexts),
    ("events", BodyKind::EventTexts),
    ("snapshots", BodyKind::SnapshotTexts),
];

/// What the resources of each tree hide, by the root's id.
type Hidden = BTreeMap<Vec<u8>, HiddenTexts>;

/// Masks the texts of all rows, unless that was done before.
pub(crate) async fn mask_texts(
    dialect: Dialect,
    connection: &mut AnyConnection,
    cipher: &Cipher,
) -> Result<(), DbError> {
    if setting(dialect, connection, MASKED).await?.is_some() {
        return Ok(());
    }
    let hidden = hidden_texts(dialect, connection, cipher).await?;
    for (table, kind) in TABLES.into_iter().filter(|_| !hidden.is_empty()) {
        let (mut last, mut masked) = (Vec::new(), 0);
        while let Some(rows) = chunk(dialect, connection, (table, "texts"), &last).await? {
            let mut transaction = connection.begin_with(dialect.begin()).await?;
            for row in &rows {
                let Some(hidden) = hidden.get(&row.root) else { continue };
                let Some(resealed) = row.resealed(cipher, kind, hidden)? else { continue };
                // An engine may have written the row meanwhile: then it has masked its texts.
                let update = format!("UPDATE {table} SET texts = ? WHERE id = ? AND texts = ?");
                let update = Statement::new(dialect, &update).with(|values| {
                    values.bytes(&resealed);
                    values.bytes(&row.id);
                    values.bytes(&row.bytes);
                });
                masked += update.run(&mut transaction).await?;
            }
            transaction.commit().await?;
            last = rows.last().map(|row| row.id.clone()).unwrap_or_default();
        }
        tracing::info!(
            table,
            rows = masked,
            "hidden values in reasons and physical ids are masked"
        );
    }
    add_setting(dialect, connection, MASKED, b"1").await
}

/// The texts without what is hidden; `None` if there is nothing to hide.
fn without(hidden: &HiddenTexts, texts: &Texts) -> Option<Texts> {
    let id = texts.physical_id.as_ref();
    let hides_id = id.is_some_and(|id| !id.is_hidden() && hidden.occur_in(id.text()));
    if !hides_id && !hidden.occur_in(&texts.reason) {
        return None;
    }
    let physical_id = match hides_id {
        true => id.map(|id| PhysicalId::hidden(id.text().clone())),
        false => id.cloned(),
    };
    Some(Texts { reason: hidden.mask(&texts.reason).into(), physical_id })
}

/// What the definitions of all resources hide.
async fn hidden_texts(
    dialect: Dialect,
    connection: &mut AnyConnection,
    cipher: &Cipher,
) -> Result<Hidden, DbError> {
    let (mut hidden, mut last) = (Hidden::new(), Vec::new());
    while let Some(rows) = chunk(dialect, connection, ("resources", "body"), &last).await? {
        for Row { id, root, bytes: sealed } in &rows {
            let resource = ResourceId(Uuid::from_slice(id).unwrap_or_default());
            let body = cipher.open(BodyKind::Resource, id, sealed).map_err(StoreError::from);
            match body.and_then(|body| hidden_in_body(&body, resource)) {
                Ok(texts) if texts.is_empty() => {}
                Ok(texts) => hidden.entry(root.clone()).or_default().extend(texts),
                // The row is reported when its tree is read.
                Err(error) => tracing::warn!(%error, "it is not known what a resource hides"),
            }
        }
        last = rows.last().map(|row| row.id.clone()).unwrap_or_default();
    }
    Ok(hidden)
}

/// A row with one of its sealed columns.
struct Row {
    id: Vec<u8>,
    root: Vec<u8>,
    bytes: Vec<u8>,
}

impl Row {
    /// Its texts without what is hidden; `None` if nothing has to be hidden.
    fn resealed(
        &self,
        cipher: &Cipher,
        kind: BodyKind,
        hidden: &HiddenTexts,
    ) -> Result<Option<Vec<u8>>, DbError> {
        match Texts::open(cipher, kind, &self.id, &self.bytes) {
            Ok(texts) => {
                let texts = without(hidden, &texts);
                texts.map(|texts| texts.seal(cipher, kind, &self.id)).transpose()
            }
            // The row is reported when it is read.
            Err(error) => {
                tracing::warn!(%error, "the reason of a row is not masked");
                Ok(None)
            }
        }
    }
}

/// The rows of a table behind one, with a column; `None` if there are none.
async fn chunk(
    dialect: Dialect,
    connection: &mut AnyConnection,
    (table, column): (&str, &str),
    last: &[u8],
) -> Result<Option<Vec<Row>>, DbError> {
    let select = format!("SELECT id, root, {column} FROM {table} WHERE id > ? ORDER BY id LIMIT ?");
    let select = Statement::new(dialect, &select).with(|values| {
        values.bytes(last);
        values.count(CHUNK);
    });
    let rows = select.all(connection).await?;
    let read = |row: &sqlx::any::AnyRow| {
        let mut row = Reader::new(row);
        let mut next = || Ok::<_, DbError>(row.bytes()?.to_vec());
        Ok(Row { id: next()?, root: next()?, bytes: next()? })
    };
    let rows: Result<Vec<Row>, DbError> = rows.iter().map(read).collect();
    Ok(Some(rows?).filter(|rows| !rows.is_empty()))
}
