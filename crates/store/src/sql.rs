//! Statements with their values, and values of rows.

use crate::cipher::Cipher;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::table::TableRow;
use futures_util::TryStreamExt;
use kiln_engine::Time;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Any, AnyConnection, Arguments, AssertSqlSafe, Row};
use std::sync::Arc;
use uuid::Uuid;

/// How many bytes of rows are decrypted before other tasks get their turns.
const BYTES_AT_ONCE: usize = 64 << 10;

/// The values of a statement, in the order of its placeholders.
#[derive(Default)]
pub(crate) struct Values(AnyArguments);

impl Values {
    /// A value. Encoding into memory does not fail.
    fn add<'a>(&mut self, value: impl sqlx::Encode<'a, Any> + sqlx::Type<Any>) {
        _ = self.0.add(value);
    }

    pub(crate) fn id(&mut self, id: Uuid) {
        self.add(&id.as_bytes()[..]);
    }

    pub(crate) fn maybe_id(&mut self, id: Option<Uuid>) {
        self.add(id.map(|id| id.as_bytes().to_vec()));
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.add(bytes);
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.add(value);
    }

    pub(crate) fn double(&mut self, value: f64) {
        self.add(value);
    }

    pub(crate) fn small(&mut self, value: i16) {
        self.add(value);
    }

    /// A number that only grows from 0; those beyond the half of the range do not occur.
    pub(crate) fn count(&mut self, value: u64) {
        self.add(i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(crate) fn time(&mut self, time: Time) {
        self.add(time.micros());
    }

    pub(crate) fn maybe_time(&mut self, time: Option<Time>) {
        self.add(time.map(Time::micros));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.add(clean(text));
    }

    pub(crate) fn maybe_text(&mut self, text: Option<&str>) {
        self.add(text.map(clean));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// PostgreSQL's texts cannot hold the character NUL, so none of ours does.
fn clean(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

/// A statement and its values.
pub(crate) struct Statement {
    pub(crate) text: Arc<str>,
    pub(crate) values: Values,
    /// Whether the connection should remember it: not if there are too many of its like.
    pub(crate) is_cached: bool,
}

impl Statement {
    /// A statement that is written with `?` for its values.
    pub(crate) fn new(dialect: Dialect, text: &str) -> Statement {
        Statement {
            text: dialect.statement(text).into(),
            values: Values::default(),
            is_cached: true,
        }
    }

    pub(crate) fn with(mut self, add: impl FnOnce(&mut Values)) -> Statement {
        add(&mut self.values);
        self
    }

    fn query(self) -> sqlx::query::Query<'static, Any, AnyArguments> {
        sqlx::query_with(AssertSqlSafe(self.text), self.values.0).persistent(self.is_cached)
    }

    /// Runs it; gives the number of rows that it touched.
    pub(crate) async fn run(self, connection: &mut AnyConnection) -> Result<u64, DbError> {
        Ok(self.query().execute(connection).await?.rows_affected())
    }

    pub(crate) async fn all(self, connection: &mut AnyConnection) -> Result<Vec<AnyRow>, DbError> {
        Ok(self.query().fetch_all(connection).await?)
    }

    /// All rows that it gives, each made of its values as it comes.
    pub(crate) async fn read<R: TableRow>(
        self,
        connection: &mut AnyConnection,
        cipher: &Cipher,
    ) -> Result<Vec<R>, DbError> {
        let mut stream = self.query().fetch(connection);
        let mut rows = Vec::new();
        let mut weight = 0;
        while let Some(row) = stream.try_next().await? {
            let row = R::read(cipher, &row)?;
            weight += row.weight();
            rows.push(row);
            // Rows may come faster than they are decrypted: others get their turns in between.
            if weight > BYTES_AT_ONCE {
                weight = 0;
                tokio::task::yield_now().await;
            }
        }
        Ok(rows)
    }

    /// The same with the columns that lists show.
    pub(crate) async fn read_listed<R: TableRow>(
        self,
        connection: &mut AnyConnection,
        cipher: &Cipher,
    ) -> Result<Vec<R>, DbError> {
        let mut stream = self.query().fetch(connection);
        let mut rows = Vec::new();
        while let Some(row) = stream.try_next().await? {
            rows.push(R::read_listed(cipher, &row)?);
        }
        Ok(rows)
    }

    pub(crate) async fn first(
        self,
        connection: &mut AnyConnection,
    ) -> Result<Option<AnyRow>, DbError> {
        Ok(self.query().fetch_optional(connection).await?)
    }
}

/// The values of a row, one after the other.
pub(crate) struct Reader<'a> {
    row: &'a AnyRow,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(row: &'a AnyRow) -> Reader<'a> {
        Reader { row, next: 0 }
    }

    /// The values after so many others.
    pub(crate) fn after(row: &'a AnyRow, count: usize) -> Reader<'a> {
        Reader { row, next: count }
    }

    fn value<T: sqlx::Decode<'a, Any> + sqlx::Type<Any>>(&mut self) -> Result<T, DbError> {
        self.next += 1;
        Ok(self.row.try_get(self.next - 1)?)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], DbError> {
        self.value()
    }

    pub(crate) fn id(&mut self) -> Result<Uuid, DbError> {
        let bytes = self.bytes()?;
        uuid_of(bytes)
    }

    pub(crate) fn maybe_id(&mut self) -> Result<Option<Uuid>, DbError> {
        self.value::<Option<&[u8]>>()?.map(uuid_of).transpose()
    }

    pub(crate) fn int(&mut self) -> Result<i64, DbError> {
        self.value()
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>, DbError> {
        self.value()
    }

    pub(crate) fn double(&mut self) -> Result<f64, DbError> {
        self.value()
    }

    pub(crate) fn count(&mut self) -> Result<u64, DbError> {
        count(self.int()?)
    }

    pub(crate) fn maybe_count(&mut self) -> Result<Option<u64>, DbError> {
        let number = self.maybe_int()?;
        number.map(count).transpose()
    }

    pub(crate) fn time(&mut self) -> Result<Time, DbError> {
        Ok(Time::from_micros(self.int()?))
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DbError> {
        self.value()
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<&'a str>, DbError> {
        self.value()
    }
}

fn count(number: i64) -> Result<u64, DbError> {
    u64::try_from(number).map_err(|_| DbError::Damaged {
        what: "a count".to_owned(),
        why: format!("it is {number}"),
    })
}

fn uuid_of(bytes: &[u8]) -> Result<Uuid, DbError> {
    Uuid::from_slice(bytes).map_err(|_| DbError::Damaged {
        what: "an id".to_owned(),
        why: format!("it has {} bytes, not 16", bytes.len()),
    })
}
