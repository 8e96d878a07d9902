//! `kiln db`: maintenance of the database.

mod backup;
mod state;

use crate::cli::{Database, DbCommand, Purge};
use crate::config::{ConfigFile, DatabaseSettings};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_engine::store::{Store, StoreError};
use kiln_engine::{Time, now};
use kiln_store::{KeyUsage, OpenError, SqlStore};
use std::time::Duration;

pub(crate) fn run(command: &DbCommand, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    match command {
        DbCommand::Backup(arguments) => wait_for(backup::back_up(arguments, streams))?,
        DbCommand::Check(database) => wait_for(state::check(database, streams))?,
        DbCommand::DropKeys(database) => wait_for(drop_keys(database, streams))?,
        DbCommand::Keys(database) => wait_for(keys(database, streams))?,
        DbCommand::Migrate(database) => wait_for(state::migrate(database, streams))?,
        DbCommand::Purge(arguments) => wait_for(purge(arguments, streams))?,
        DbCommand::Restore(arguments) => wait_for(backup::restore(arguments, streams))?,
        DbCommand::RotateKeys(database) => wait_for(rotate(database, streams))?,
        DbCommand::Status(database) => wait_for(state::status(database, streams))?,
    }
}

/// Runs a future on a new runtime.
pub(crate) fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::Usage(format!("cannot start threads: {error}")))?;
    Ok(runtime.block_on(work))
}

/// The database and the key file that the arguments or the configuration name.
fn place(database: &Database) -> Result<DatabaseSettings, CommandError> {
    let configured = DatabaseSettings::from_file(&ConfigFile::load(database.config.as_deref())?)?;
    Ok(DatabaseSettings {
        url: database.url.clone().unwrap_or(configured.url),
        keys: database.keys.clone().unwrap_or(configured.keys),
    })
}

/// Opens the database of a server. Neither a database nor a key file is created: in the wrong directory, a command
/// would otherwise report success about a database that nobody uses.
pub(super) async fn open(database: &Database) -> Result<SqlStore, CommandError> {
    let DatabaseSettings { url, keys } = place(database)?;
    SqlStore::open_existing(&url, &keys).await.map_err(|error| {
        let is_default = database.config.is_none() && database.url.is_none();
        match error {
            OpenError::Absent(_) if is_default => CommandError::Usage(format!(
                "{error}; --config FILE names the configuration of the server"
            )),
            error => CommandError::Usage(error.to_string()),
        }
    })
}

/// Opens the database that a configuration names, if it exists.
pub(crate) async fn open_of(file: &ConfigFile) -> Result<SqlStore, CommandError> {
    let DatabaseSettings { url, keys } = DatabaseSettings::from_file(file)?;
    let opened = SqlStore::open_existing(&url, &keys).await;
    opened.map_err(|error| CommandError::usage(error.to_string()))
}

/// The number of trees that are purged in one transaction.
const TREES_PER_BATCH: u64 = 20;

async fn purge(arguments: &Purge, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let store = open(&arguments.database).await?;
    let before = now() - Duration::from_secs(arguments.older_than.saturating_mul(86_400));
    purge_before(&store, before, arguments.project.as_deref(), TREES_PER_BATCH, streams).await
}

/// Purges the stacks of a project, or of all, that were deleted before a point in time.
pub(crate) async fn purge_before(
    store: &SqlStore,
    before: Time,
    project: Option<&str>,
    batch_size: u64,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let mut purged = 0;
    loop {
        let count = store.purge(before, project, batch_size.max(1)).await.map_err(failed)?;
        purged += count;
        if count == 0 {
            break;
        }
    }
    let stacks = if purged == 1 { "stack" } else { "stacks" };
    writeln!(streams.out, "Purged {purged} deleted {stacks}.")?;
    Ok(Verdict::Good)
}

async fn rotate(database: &Database, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let store = open(database).await?;
    let count = store.rotate().await.map_err(failed)?;
    writeln!(
        streams.out,
        "A new key is in use; {} again.",
        rows(count, "was encrypted", "were encrypted")
    )?;
    list(&store.key_usage().await.map_err(failed)?, streams)
}

async fn keys(database: &Database, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let store = open(database).await?;
    list(&store.key_usage().await.map_err(failed)?, streams)
}

/// Prints the keys, the newest last.
fn list(keys: &[KeyUsage], streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    for key in keys {
        let state = match key {
            KeyUsage { is_known: false, .. } => {
                "missing from the key file: restore it from a backup"
            }
            KeyUsage { encrypts: true, .. } => "encrypts new data",
            KeyUsage { rows: 0, .. } => "unused: `kiln db drop-keys` removes it",
            _ => "still needed: `kiln db rotate-keys` encrypts these rows again",
        };
        writeln!(streams.out, "Key {}: {}; {state}.", key.id, rows(key.rows, "", ""))?;
    }
    Ok(Verdict::of(keys.iter().all(|key| key.is_known)))
}

async fn drop_keys(
    database: &Database,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let store = open(database).await?;
    let dropped = store.drop_unused_keys().await.map_err(failed)?;
    if dropped.is_empty() {
        writeln!(streams.out, "Every key is in use; none was dropped.")?;
        return Ok(Verdict::Good);
    }
    for id in dropped {
        writeln!(streams.out, "Dropped key {id}; backups from before its rotation need it.")?;
    }
    Ok(Verdict::Good)
}

/// A number of rows, with a verb.
fn rows(count: u64, one: &str, many: &str) -> String {
    let (noun, verb) = if count == 1 { ("row", one) } else { ("rows", many) };
    format!("{count} {noun} {verb}").trim_end().to_owned()
}

pub(crate) fn failed(error: StoreError) -> CommandError {
    CommandError::Usage(error.to_string())
}
