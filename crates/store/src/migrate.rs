//! Migrations: numbered files, each run once, also if two processes start at the same time.

use crate::database::{OpenError, add_setting, execute, load_keys, setting};
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::seal_texts::seal_texts;
use crate::sql::{Reader, Statement};
use sqlx::{AnyConnection, Connection};
use std::path::Path;

/// All migrations, the first first. Each can be begun again: MariaDB cannot take back half of one.
const MIGRATIONS: [&str; 7] = [
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_snapshots.sql"),
    include_str!("migrations/0003_objects.sql"),
    include_str!("migrations/0004_alarms.sql"),
    include_str!("migrations/0005_texts.sql"),
    include_str!("migrations/0006_plain_texts.sql"),
    include_str!("migrations/0007_event_bytes.sql"),
];

/// The migration before which the plain texts are sealed.
const DROPS_PLAIN_TEXTS: i64 = 6;

/// PostgreSQL's lock for migrations: any number that others are unlikely to use.
const LOCK: i64 = 0x6b69_6c6e;

/// The number of the newest schema.
pub(crate) fn newest() -> i64 {
    MIGRATIONS.len() as i64
}

/// Brings the tables up to date. The key file is needed for the rows of earlier versions.
pub(crate) async fn run(
    dialect: Dialect,
    connection: &mut AnyConnection,
    key_file: &Path,
) -> Result<(), OpenError> {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres => {
            let begin = connection.begin_with(dialect.begin()).await;
            let mut transaction = begin.map_err(DbError::from)?;
            if dialect == Dialect::Postgres {
                let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
                execute(&mut transaction, lock).await?;
            }
            let is_changed = apply(dialect, &mut transaction, key_file).await?;
            if dialect == Dialect::Sqlite && is_changed {
                // It is due until it was done: this process may end before.
                add_setting(dialect, &mut transaction, WIPE_DUE, b"1").await?;
            }
            transaction.commit().await.map_err(DbError::from)?;
            if dialect == Dialect::Sqlite
                && setting(dialect, connection, WIPE_DUE).await?.is_some()
                && wipe(connection).await
            {
                let delete = Statement::new(dialect, "DELETE FROM settings WHERE name = ?");
                delete.with(|values| values.text(WIPE_DUE)).run(connection).await?;
            }
        }
        Dialect::Mariadb => {
            // Definitions end transactions there, so the lock is the connection's.
            let name = "CONCAT('kiln.', MD5(DATABASE()))";
            let lock = Statement::new(dialect, &format!("SELECT GET_LOCK({name}, 60)"));
            let got = lock.first(connection).await?;
            let got = got.map(|row| Reader::new(&row).maybe_int()).transpose()?.flatten();
            if got != Some(1) {
                let why = "another process has been changing its tables for a minute; try again";
                return Err(OpenError::Database(why.into()));
            }
            let applied = apply(dialect, connection, key_file).await;
            execute(connection, format!("DO RELEASE_LOCK({name})")).await?;
            applied?;
        }
    }
    Ok(())
}

/// The setting of a SQLite file that has yet to be written anew.
const WIPE_DUE: &str = "wipe_due";

/// Writes a SQLite file anew: pages that are free now still hold what a migration dropped, and so does the journal. Returns
/// whether that was done.
async fn wipe(connection: &mut AnyConnection) -> bool {
    let mut is_done = true;
    for statement in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
        if let Err(error) = execute(connection, statement.to_owned()).await {
            tracing::warn!(%error, statement, "what a migration dropped may still be in the file: it is written anew at the next start");
            is_done = false;
        }
    }
    is_done
}

/// Applies the migrations that are missing; whether an existing database was changed.
async fn apply(
    dialect: Dialect,
    connection: &mut AnyConnection,
    key_file: &Path,
) -> Result<bool, OpenError> {
    let (id, options) = ("number BIGINT NOT NULL PRIMARY KEY", dialect.ddl().table_options);
    execute(connection, format!("CREATE TABLE IF NOT EXISTS migrations ({id}) {options}")).await?;
    let done = Statement::new(dialect, "SELECT COALESCE(MAX(number), 0) FROM migrations");
    let done = done.first(connection).await?;
    let done = done.map(|row| Reader::new(&row).int()).transpose()?.unwrap_or(0);
    let known = newest();
    if done > known {
        return Err(OpenError::Newer { found: done, known });
    }
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > done) {
        // A new database is no news; the migration of an existing one is.
        if done == 0 {
            tracing::debug!(number, ?dialect, "a migration of the new database begins");
        } else {
            tracing::info!(number, ?dialect, "a migration of the database begins");
        }
        if number == DROPS_PLAIN_TEXTS && done > 0 {
            let cipher = load_keys(dialect, connection, key_file).await?;
            seal_texts(dialect, connection, &cipher).await?;
        }
        for statement in statements(dialect, migration) {
            execute(connection, statement).await?;
        }
        let insert = Statement::new(dialect, "INSERT INTO migrations (number) VALUES (?)");
        insert.with(|values| values.int(number)).run(connection).await?;
    }
    Ok(0 < done && done < known)
}

/// The statements of a migration, in the words of the database.
fn statements(dialect: Dialect, migration: &str) -> Vec<String> {
    let code = |line: &str| line.split("--").next().unwrap_or_default().trim_end().to_owned();
    let text = migration.lines().map(code).collect::<Vec<_>>().join("\n");
    let text = dialect.ddl().fill(&text);
    text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
