//! Tables, and the statements that write and read many rows of them at once.
//!
//! Rows go in chunks of fixed sizes, so that a connection meets few different statements and keeps them
//! prepared.

use crate::cipher::Cipher;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::sql::{Reader, Statement, Values};
use parking_lot::Mutex;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// A column: its name, and how its value goes into the table and comes out of it.
pub(crate) struct Column<R: 'static> {
    pub(crate) name: &'static str,
    access: Access<R>,
}

/// How the value of a column is written and read.
enum Access<R: 'static> {
    /// A value as it is.
    Plain { write: fn(&R, &mut Values), read: fn(&mut R, &mut Reader<'_>) -> Result<(), DbError> },
    /// Bytes that need the keys.
    Sealed {
        write: fn(&R, &Cipher) -> Result<Vec<u8>, DbError>,
        read: fn(&mut R, &Cipher, &[u8]) -> Result<(), DbError>,
    },
}

impl<R> Column<R> {
    /// A column with a value as it is.
    pub(crate) const fn plain(
        name: &'static str,
        write: fn(&R, &mut Values),
        read: fn(&mut R, &mut Reader<'_>) -> Result<(), DbError>,
    ) -> Column<R> {
        Column { name, access: Access::Plain { write, read } }
    }

    /// A column with bytes that need the keys. It comes after the id that its bytes are bound to.
    pub(crate) const fn sealed(
        name: &'static str,
        write: fn(&R, &Cipher) -> Result<Vec<u8>, DbError>,
        read: fn(&mut R, &Cipher, &[u8]) -> Result<(), DbError>,
    ) -> Column<R> {
        Column { name, access: Access::Sealed { write, read } }
    }

    fn write(&self, row: &R, cipher: &Cipher, values: &mut Values) -> Result<(), DbError> {
        match &self.access {
            Access::Plain { write, .. } => write(row, values),
            Access::Sealed { write, .. } => values.bytes(&write(row, cipher)?),
        }
        Ok(())
    }

    /// Sets the part of a row that the column holds.
    pub(crate) fn read(
        &self,
        row: &mut R,
        cipher: &Cipher,
        reader: &mut Reader<'_>,
    ) -> Result<(), DbError> {
        match &self.access {
            Access::Plain { read, .. } => read(row, reader),
            Access::Sealed { read, .. } => read(row, cipher, reader.bytes()?),
        }
    }
}

/// The column with everything that lists do not show.
const BODY: &str = "body";

/// A row of a table.
pub(crate) trait TableRow: Sized + Sync + 'static {
    /// The name of the table.
    const TABLE: &'static str;

    /// The columns that make up the primary key.
    const KEY: &'static [&'static str];

    /// All columns, in the order in which they are written and read.
    const COLUMNS: &'static [Column<Self>];

    /// Whether a row stays as it is once it is written.
    const IS_IMMUTABLE: bool = false;

    /// A row before its columns are read.
    fn blank() -> Self;

    /// The primary key, which no other row has.
    fn key(&self) -> Vec<u8>;

    /// About how many bytes it takes beyond its small columns.
    fn weight(&self) -> usize;

    /// Its values, in the order of the columns.
    fn write(&self, cipher: &Cipher, values: &mut Values) -> Result<(), DbError> {
        Self::COLUMNS.iter().try_for_each(|column| column.write(self, cipher, values))
    }

    /// The row that has these values.
    fn read(cipher: &Cipher, row: &AnyRow) -> Result<Self, DbError> {
        let mut reader = Reader::new(row);
        let mut row = Self::blank();
        for column in Self::COLUMNS {
            column.read(&mut row, cipher, &mut reader)?;
        }
        Ok(row)
    }

    /// The columns that lists show: all but the body.
    fn listed() -> impl Iterator<Item = &'static Column<Self>> {
        Self::COLUMNS.iter().filter(|column| column.name != BODY)
    }

    /// The row that has these values of the columns that lists show.
    fn read_listed(cipher: &Cipher, row: &AnyRow) -> Result<Self, DbError> {
        let mut reader = Reader::new(row);
        let mut row = Self::blank();
        for column in Self::listed() {
            column.read(&mut row, cipher, &mut reader)?;
        }
        Ok(row)
    }

    /// The names of the columns that lists show, for a statement.
    fn listed_names() -> String {
        Self::listed().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }

    /// The names of the columns, for a statement.
    fn column_names() -> String {
        Self::COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }

    /// A plain insertion of a row, which fails if there is one with its key.
    fn insertion() -> String {
        let (names, count) = (Self::column_names(), Self::COLUMNS.len());
        format!("INSERT INTO {} ({names}) VALUES ({})", Self::TABLE, placeholders(count))
    }
}

/// How many rows go into one statement.
const CHUNKS: [usize; 6] = [128, 32, 8, 4, 2, 1];
/// How many bytes go into one statement, if it has more than one row: MariaDB takes 16 MB by default.
const CHUNK_BYTES: usize = 4 << 20;
/// About how many bytes a row takes with its places in indexes, beyond what is large in it.
const ROW_BYTES: usize = 400;
/// How many ids go into one statement.
const ID_CHUNKS: [usize; 3] = [1, 10, 100];

/// Writes statements, and remembers the long ones.
#[derive(Debug)]
pub(crate) struct Tables {
    dialect: Dialect,
    upserts: Mutex<BTreeMap<(&'static str, usize), Arc<str>>>,
    /// About how many bytes were written since it was last asked.
    written: AtomicU64,
    /// How many bytes the values of a statement may have.
    max_bytes: Option<usize>,
}

impl Tables {
    pub(crate) fn new(dialect: Dialect, max_bytes: Option<usize>) -> Tables {
        Tables { dialect, upserts: Mutex::default(), written: AtomicU64::new(0), max_bytes }
    }

    /// The largest row that can be written, roughly.
    pub(crate) fn max_row_bytes(&self) -> Option<usize> {
        self.max_bytes
    }

    /// Whether so many bytes were written; counting begins anew then.
    pub(crate) fn has_written(&self, bytes: u64) -> bool {
        let is_enough = self.written.load(Ordering::Relaxed) >= bytes;
        is_enough && self.written.swap(0, Ordering::Relaxed) >= bytes
    }

    /// Counts rows that are written or dropped.
    pub(crate) fn count(&self, rows: usize, weight: usize) {
        let bytes = (rows * ROW_BYTES + weight) as u64;
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Writes rows over those that are there; of two with the same key, the later.
    pub(crate) async fn write<R: TableRow>(
        &self,
        connection: &mut AnyConnection,
        cipher: &Cipher,
        rows: &[&R],
    ) -> Result<(), DbError> {
        let rows = latest(rows);
        let mut rest = &rows[..];
        let mut next = self.next_chunk(cipher, &mut rest)?;
        while let Some(statement) = next {
            // The next one is made while the database is busy with this one.
            let run = statement.run(connection);
            let (done, made) =
                tokio::join!(biased; run, async { self.next_chunk(cipher, &mut rest) });
            done?;
            next = made?;
        }
        Ok(())
    }

    /// A statement for the next rows, which are taken off.
    fn next_chunk<R: TableRow>(
        &self,
        cipher: &Cipher,
        rows: &mut &[&R],
    ) -> Result<Option<Statement>, DbError> {
        if rows.is_empty() {
            return Ok(None);
        }
        let (chunk, rest) = rows.split_at(chunk_size(rows));
        *rows = rest;
        let mut values = Values::default();
        for row in chunk {
            row.write(cipher, &mut values)?;
        }
        debug_assert_eq!(values.len(), chunk.len() * R::COLUMNS.len());
        let weight = chunk.iter().map(|row| row.weight()).sum();
        if let Some(max) = self.max_bytes.filter(|max| weight > *max) {
            // The server would only close the connection.
            return Err(DbError::Refused(format!(
                "a row of the table {} has {weight} bytes, and the database takes {max}: max_allowed_packet",
                R::TABLE
            )));
        }
        self.count(chunk.len(), weight);
        let text = self.upsert::<R>(chunk.len());
        Ok(Some(Statement { text, values, is_cached: true }))
    }

    fn upsert<R: TableRow>(&self, rows: usize) -> Arc<str> {
        let mut known = self.upserts.lock();
        let make = || {
            let row = format!("({})", placeholders(R::COLUMNS.len()));
            let (name, columns) = (R::TABLE, R::column_names());
            let rows = vec![row; rows].join(", ");
            let (insert, overwrite) = match (R::IS_IMMUTABLE, self.dialect) {
                // A statement that cannot fail half-way needs no journal of its own within the transaction.
                (true, Dialect::Sqlite) => ("INSERT OR IGNORE", String::new()),
                _ => {
                    let columns: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
                    ("INSERT", self.dialect.overwrite(R::KEY, &columns))
                }
            };
            let text = format!("{insert} INTO {name} ({columns}) VALUES {rows}{overwrite}");
            self.dialect.statement(&text).into()
        };
        known.entry((R::TABLE, rows)).or_insert_with(make).clone()
    }

    /// The rows that meet a condition. `rest` is what follows `WHERE`.
    pub(crate) fn select<R: TableRow>(&self, rest: &str) -> Statement {
        let columns = R::column_names();
        let text = format!("SELECT {columns} FROM {} WHERE {rest}", R::TABLE);
        Statement::new(self.dialect, &text)
    }

    /// Statements over a list of ids, a hundred at a time: `text` has `{ids}` where they go.
    pub(crate) fn by_ids<'a>(
        &self,
        text: &'a str,
        ids: &'a [Uuid],
    ) -> impl Iterator<Item = Statement> + Send + use<'a> {
        let dialect = self.dialect;
        ids.chunks(ID_CHUNKS[2]).map(move |chunk| {
            let size = ID_CHUNKS.into_iter().find(|size| *size >= chunk.len());
            let size = size.unwrap_or(chunk.len());
            // The last one is repeated, so that there are few different statements.
            let filled = chunk.iter().chain(chunk.last().into_iter().cycle()).take(size);
            Statement::new(dialect, &text.replace("{ids}", &placeholders(size)))
                .with(|values| filled.for_each(|id| values.id(*id)))
        })
    }
}

/// Placeholders for so many values.
pub(crate) fn placeholders(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// The last row of each key, in the order in which they came. A statement must not meet a row twice.
fn latest<'a, R: TableRow>(rows: &[&'a R]) -> Vec<&'a R> {
    // Most come in the order of their keys, and then none comes twice.
    if rows.is_sorted_by(|a, b| a.key() < b.key()) {
        return rows.to_vec();
    }
    let mut seen = HashSet::with_capacity(rows.len());
    let mut kept: Vec<&R> =
        rows.iter().rev().filter(|row| seen.insert(row.key())).copied().collect();
    kept.reverse();
    kept
}

fn chunk_size<R: TableRow>(rows: &[&R]) -> usize {
    let fits = |size: &usize| {
        let chunk = rows.get(..*size);
        chunk.is_some_and(|rows| rows.iter().map(|row| row.weight()).sum::<usize>() <= CHUNK_BYTES)
    };
    CHUNKS.into_iter().find(fits).unwrap_or(1)
}
