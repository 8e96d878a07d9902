//! The errors of the store, and how the engine sees them.

use crate::keys::KeyError;
use kiln_engine::store::StoreError;

/// Why a piece of work on the database was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DbError {
    /// The database cannot be reached, or refuses.
    #[error(transparent)]
    Sql(sqlx::Error),
    /// There is no room for what was to be written.
    #[error(
        "{0}; nothing is lost, and work goes on as soon as there is room: make some on the database's disk"
    )]
    Full(#[source] sqlx::Error),
    /// The database works, and does not accept a value: it is too large, or not what a column holds.
    #[error("{0}")]
    Refused(String),
    /// A stored value cannot be understood.
    #[error("{what}: {why}")]
    Damaged { what: String, why: String },
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(KeyError),
}

impl DbError {
    /// Whether the same work may succeed if it is done again at once: another transaction was in its way.
    pub(crate) fn is_conflict(&self) -> bool {
        // Serialization failure and deadlock; MariaDB reports both under the first.
        matches!(self, DbError::Sql(sqlx::Error::Database(error))
            if matches!(error.code().as_deref(), Some("40001" | "40P01")))
    }

    /// Whether a row with the same key is there already.
    pub(crate) fn is_duplicate(&self) -> bool {
        matches!(self, DbError::Sql(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

/// Whether the database does not accept what was to be written, however often it is tried.
fn is_refused(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let Some(code) = error.code() else { return false };
    // SQLite: too large, a constraint, a wrong type. The constraint is in the low byte.
    let sqlite = code
        .parse::<u32>()
        .is_ok_and(|code| code < 10_000 && [18, 19, 20].contains(&(code & 0xff)));
    // PostgreSQL and MariaDB: the classes of wrong data, of constraints, and of limits. MariaDB has no class for a packet
    // that is too large.
    sqlite
        || ["22", "23", "54"].iter().any(|class| code.len() == 5 && code.starts_with(class))
        || error.message().contains("max_allowed_packet")
}

/// Whether a connection failed in a way that passes: the server is not there, or the balancer in front of it closes the connection,
/// or the server starts, ends, or has no place for one more.
pub(crate) fn is_unreachable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => true,
        // PostgreSQL has classes for it; MariaDB tells all of it as errors of the connection.
        sqlx::Error::Database(error) => matches!(
            error.code().as_deref(),
            Some("53300" | "57P01" | "57P02" | "57P03" | "08S01" | "08004")
        ),
        _ => false,
    }
}

/// Whether there is no room for what was to be written.
fn is_full(error: &sqlx::Error) -> bool {
    // SQLite, PostgreSQL, and MariaDB's full disk and full table.
    matches!(error, sqlx::Error::Database(error)
        if matches!(error.code().as_deref(), Some("13" | "53100"))
            || error.message().contains("is full"))
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> DbError {
        match error {
            sqlx::Error::ColumnDecode { index, source } => DbError::Damaged {
                what: format!("a value in column {index}"),
                why: source.to_string(),
            },
            error if is_full(&error) => DbError::Full(error),
            error => DbError::Sql(error),
        }
    }
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> StoreError {
        match error {
            DbError::Damaged { what, why } => StoreError::Damaged { what, why },
            DbError::Refused(why) => StoreError::Refused(why.into()),
            DbError::Sql(error) if is_refused(&error) => StoreError::Refused(Box::new(error)),
            error => StoreError::Unavailable(Box::new(error)),
        }
    }
}

/// Does a piece of work again while other transactions are in its way.
macro_rules! retry_conflicts {
    ($work:expr) => {{
        let mut attempts = 1;
        loop {
            match $work.await {
                Err(error) if error.is_conflict() && attempts < $crate::error::MAX_ATTEMPTS => {
                    tracing::debug!(%error, attempts, "another transaction was in the way");
                    attempts += 1;
                }
                Err(error) if error.is_conflict() => {
                    tracing::warn!(%error, attempts, "other transactions are in the way again and again");
                    break Err(error);
                }
                outcome => break outcome,
            }
        }
    }};
}
pub(crate) use retry_conflicts;

/// How often a piece of work is tried.
pub(crate) const MAX_ATTEMPTS: u32 = 20;
