//! `kiln db`: keeping a database.

use crate::cli::{Database, Db, Purge};
use crate::streams::{Failure, Streams, Verdict};
use kiln_engine::runtime::now;
use kiln_engine::store::{Store, StoreError};
use kiln_store::SqlStore;
use std::time::Duration;

pub(crate) fn run(command: &Db, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    match command {
        Db::Purge(arguments) => wait_for(purge(arguments, streams))?,
        Db::RotateKeys(database) => wait_for(rotate(database, streams))?,
    }
}

/// Runs something that has to wait for others.
pub(crate) fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Usage(format!("no threads: {error}")))?;
    Ok(runtime.block_on(work))
}

/// Opens a database; makes it, and its keys, if they are not there.
pub(crate) async fn open(database: &Database) -> Result<SqlStore, Failure> {
    let opened = SqlStore::open(&database.url, &database.keys).await;
    opened.map_err(|error| Failure::Usage(error.to_string()))
}

/// How many trees go at once.
const TOGETHER: u64 = 20;

async fn purge(arguments: &Purge, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    let store = open(&arguments.database).await?;
    let before = now() - Duration::from_secs(arguments.older_than.saturating_mul(86_400));
    let mut purged = 0;
    loop {
        let count = store
            .purge(before, arguments.project.as_deref(), TOGETHER)
            .await
            .map_err(|error: StoreError| Failure::Usage(error.to_string()))?;
        purged += count;
        if count == 0 {
            break;
        }
    }
    let stacks = if purged == 1 { "stack" } else { "stacks" };
    writeln!(streams.out, "Purged {purged} deleted {stacks}.")?;
    Ok(Verdict::Good)
}

async fn rotate(database: &Database, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    let store = open(database).await?;
    let count = store.rotate().await.map_err(|error| Failure::Usage(error.to_string()))?;
    writeln!(streams.out, "A new key is in use; {count} rows were encrypted anew.")?;
    Ok(Verdict::Good)
}
