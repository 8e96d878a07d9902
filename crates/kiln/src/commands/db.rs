//! `kiln db`: maintenance of the database.

use crate::cli::{Database, DbCommand, Purge};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_engine::now;
use kiln_engine::store::{Store, StoreError};
use kiln_store::SqlStore;
use std::time::Duration;

pub(crate) fn run(command: &DbCommand, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    match command {
        DbCommand::Purge(arguments) => wait_for(purge(arguments, streams))?,
        DbCommand::RotateKeys(database) => wait_for(rotate(database, streams))?,
    }
}

/// Runs a future on a new runtime.
pub(crate) fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::Usage(format!("cannot start threads: {error}")))?;
    Ok(runtime.block_on(work))
}

/// Opens a database; creates it and its keys if they do not exist.
pub(crate) async fn open(database: &Database) -> Result<SqlStore, CommandError> {
    let opened = SqlStore::open(&database.url, &database.keys).await;
    opened.map_err(|error| CommandError::Usage(error.to_string()))
}

/// The number of trees that are purged in one transaction.
const TREES_PER_BATCH: u64 = 20;

async fn purge(arguments: &Purge, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let store = open(&arguments.database).await?;
    let before = now() - Duration::from_secs(arguments.older_than.saturating_mul(86_400));
    let mut purged = 0;
    loop {
        let count = store
            .purge(before, arguments.project.as_deref(), TREES_PER_BATCH)
            .await
            .map_err(|error: StoreError| CommandError::Usage(error.to_string()))?;
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
    let count = store.rotate().await.map_err(|error| CommandError::Usage(error.to_string()))?;
    writeln!(streams.out, "A new key is in use; {count} rows were encrypted again.")?;
    Ok(Verdict::Good)
}
