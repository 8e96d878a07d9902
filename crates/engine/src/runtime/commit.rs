//! One task that commits the batches of all trees, as many at once as have come together.

use super::spawn;
use crate::ids::StackId;
use crate::metrics::Metrics;
use crate::store::{Batch, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Where trees submit their batches.
#[derive(Clone)]
pub(crate) struct Committer {
    queue: mpsc::Sender<Request>,
}

type Request = (Batch, oneshot::Sender<bool>);

/// How many batches go into one commit at most.
const MAX_BATCHES: usize = 1000;

/// The first pause before a refused commit is tried again, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(5);

/// How many trees a log line names at most.
const MAX_LOGGED_TREES: usize = 10;

impl Committer {
    /// Starts the task.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        metrics: Arc<Metrics>,
    ) -> (Committer, JoinHandle<()>) {
        let (queue, requests) = mpsc::channel(MAX_BATCHES);
        (Committer { queue }, spawn("commit", commit_all(store, metrics, requests)))
    }

    /// Submits a batch. Once the batch is durable, the receiver gets whether the tree still belonged to
    /// the owner that wrote it. That may take long: a commit that the store refuses is tried until it succeeds.
    pub(crate) async fn submit(&self, batch: Batch) -> oneshot::Receiver<bool> {
        let (done, answer) = oneshot::channel();
        // If the task has ended, the receiver sees the end of its channel.
        _ = self.queue.send((batch, done)).await;
        answer
    }
}

async fn commit_all(
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    mut requests: mpsc::Receiver<Request>,
) {
    while let Some(first) = requests.recv().await {
        let (mut batches, mut waiting) = (vec![first.0], vec![first.1]);
        while batches.len() < MAX_BATCHES
            && let Ok((batch, done)) = requests.try_recv()
        {
            batches.push(batch);
            waiting.push(done);
        }
        let written = commit(&*store, &metrics, &batches).await;
        for (done, is_written) in waiting.into_iter().zip(written) {
            // A tree that was released meanwhile does not wait for the result.
            _ = done.send(is_written);
        }
    }
}

/// Commits batches, however often the store refuses: nothing is written and nothing is lost until then, but no
/// tree continues either.
async fn commit(store: &dyn Store, metrics: &Metrics, batches: &[Batch]) -> Vec<bool> {
    let (mut pause, mut attempts) = (FIRST_RETRY, 0u32);
    loop {
        let started = Instant::now();
        match store.commit(batches).await {
            Ok(written) => {
                let took = started.elapsed();
                metrics.count_commit(batches.len(), took);
                let rows: usize = batches.iter().map(rows).sum();
                let millis = took.as_millis() as u64;
                tracing::debug!(batches = batches.len(), rows, millis, "committed");
                if attempts > 0 {
                    tracing::warn!(attempts, "the store commits again");
                }
                return written;
            }
            Err(error) => {
                attempts += 1;
                metrics.commits_failed.inc();
                let trees = logged_trees(batches);
                let (count, retry_millis) = (batches.len(), pause.as_millis() as u64);
                tracing::warn!(
                    %error, attempts, count, trees, retry_millis,
                    "the store refused a commit: retrying, these trees do not continue until then"
                );
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_RETRY);
            }
        }
    }
}

/// The number of rows that a batch writes or drops.
fn rows(batch: &Batch) -> usize {
    batch.contents.len()
        + batch.recipes.len()
        + batch.dropped_recipes.len()
        + batch.stacks.len()
        + batch.resources.len()
        + batch.dropped_resources.len()
        + batch.snapshots.len()
        + batch.dropped_snapshots.len()
        + batch.events.len()
        + batch.done.len()
}

/// The ids of the first trees of a commit, for a log line.
fn logged_trees(batches: &[Batch]) -> String {
    let ids = batches.iter().take(MAX_LOGGED_TREES).map(|batch| batch.root);
    let ids: Vec<String> = ids.map(|root: StackId| root.to_string()).collect();
    let more = if batches.len() > MAX_LOGGED_TREES { ", …" } else { "" };
    format!("{}{more}", ids.join(", "))
}
