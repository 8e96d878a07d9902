//! What can go wrong inside, and what the engine is told of it.

use kiln_engine::store::StoreError;

/// Why a piece of work on the database was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(sqlx::Error),
    Damaged { what: String, why: String },
    Keys(crate::keys::KeyError),
}

impl Fault {
    /// Whether the same work may succeed if it is done again at once: another transaction was in its way.
    pub(crate) fn is_conflict(&self) -> bool {
        // Serialization failure and deadlock; MariaDB reports both under the first.
        matches!(self, Fault::Sql(sqlx::Error::Database(error))
            if matches!(error.code().as_deref(), Some("40001" | "40P01")))
    }

    /// Whether there is no room for what was to be written.
    fn is_full(&self) -> bool {
        // SQLite, PostgreSQL, and MariaDB's full disk and full table.
        matches!(self, Fault::Sql(sqlx::Error::Database(error))
            if matches!(error.code().as_deref(), Some("13" | "53100"))
                || error.message().contains("is full"))
    }

    /// Whether a row with the same key is there already.
    pub(crate) fn is_duplicate(&self) -> bool {
        matches!(self, Fault::Sql(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Fault {
        match error {
            sqlx::Error::ColumnDecode { index, source } => Fault::Damaged {
                what: format!("a value in column {index}"),
                why: source.to_string(),
            },
            error => Fault::Sql(error),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        let is_full = fault.is_full();
        match fault {
            Fault::Sql(error) if is_full => StoreError::Unavailable(format!(
                "{error}; nothing is lost, and work goes on as soon as there is room: make some on the \
                 database's disk"
            )),
            Fault::Sql(error) => StoreError::Unavailable(error.to_string()),
            Fault::Damaged { what, why } => StoreError::Damaged { what, why },
            Fault::Keys(error) => StoreError::Unavailable(error.to_string()),
        }
    }
}

/// Does a piece of work again while other transactions are in its way.
macro_rules! persistently {
    ($work:expr) => {{
        let mut tries = 1;
        loop {
            match $work.await {
                Err(fault) if fault.is_conflict() && tries < $crate::fault::TRIES => tries += 1,
                outcome => break outcome,
            }
        }
    }};
}
pub(crate) use persistently;

/// How often a piece of work is tried.
pub(crate) const TRIES: u32 = 20;
