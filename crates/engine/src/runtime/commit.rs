//! One task that commits the batches of all trees, as many at once as have come together.
//!
//! The projects take turns: a batch waits for no more than a bounded number of bytes of each other project.

use super::spawn;
use crate::ids::StackId;
use crate::metrics::Metrics;
use crate::store::{Batch, Store, StoreError};
use std::collections::{BTreeMap, VecDeque};
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

/// A batch with the project of its tree, and who waits for the result.
struct Request {
    project: Arc<str>,
    batch: Batch,
    done: oneshot::Sender<Committed>,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    /// It is durable.
    Written,
    /// Nothing was written: the tree belongs to another owner.
    NotOwned,
    /// Nothing was written: the store does not accept the batch, for this reason.
    Refused(Arc<str>),
}

/// How many batches go into one commit at most.
const MAX_BATCHES: usize = 1000;

/// How many bytes of a project go into one commit, if it has more than one batch, and as long as others wait.
const MAX_PROJECT_BYTES: usize = 256 << 10;

/// How many bytes go into one commit, if it has more than one batch.
const MAX_BYTES: usize = 4 << 20;

/// The first pause before a refused commit is tried again, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(5);

/// How often a batch is refused, alone, until its tree is parked: the first refusal may have been another transaction's fault.
const MAX_REFUSALS: u32 = 3;

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

    /// Submits a batch; the receiver gets what became of it. That may take long: while the store is not available, a commit is
    /// tried until it succeeds.
    pub(crate) async fn submit(
        &self,
        project: Arc<str>,
        batch: Batch,
    ) -> oneshot::Receiver<Committed> {
        let (done, answer) = oneshot::channel();
        // If the task has ended, the receiver sees the end of its channel.
        _ = self.queue.send(Request { project, batch, done }).await;
        answer
    }
}

async fn commit_all(
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    mut requests: mpsc::Receiver<Request>,
) {
    let mut queues = Queues::default();
    loop {
        if queues.is_empty() {
            let Some(first) = requests.recv().await else { return };
            queues.push(first);
        }
        while let Ok(request) = requests.try_recv() {
            queues.push(request);
        }
        let (batches, waiting): (Vec<Batch>, Vec<_>) = queues.take().into_iter().unzip();
        let written = commit(&*store, &metrics, &batches).await;
        for (done, committed) in waiting.into_iter().zip(written) {
            // A tree that was released meanwhile does not wait for the result.
            _ = done.send(committed);
        }
    }
}

/// The batches that wait, by project. There are no more than trees, as each tree waits for the one that it submitted.
#[derive(Default)]
struct Queues {
    projects: BTreeMap<Arc<str>, VecDeque<Request>>,
    /// The projects that wait, the next first.
    turns: VecDeque<Arc<str>>,
}

impl Queues {
    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    fn push(&mut self, request: Request) {
        let queue = self.projects.entry(request.project.clone()).or_default();
        if queue.is_empty() {
            self.turns.push_back(request.project.clone());
        }
        queue.push_back(request);
    }

    /// The batches of the next commit: of each project that waits in turn, and as many as fit.
    fn take(&mut self) -> Vec<(Batch, oneshot::Sender<Committed>)> {
        let max_project = if self.turns.len() > 1 { MAX_PROJECT_BYTES } else { MAX_BYTES };
        let (mut taken, mut total) = (Vec::new(), 0);
        for _ in 0..self.turns.len() {
            if taken.len() >= MAX_BATCHES || total >= MAX_BYTES {
                break;
            }
            let Some(project) = self.turns.pop_front() else { break };
            let Some(queue) = self.projects.get_mut(&project) else { continue };
            let mut bytes = 0;
            while taken.len() < MAX_BATCHES
                && (bytes < max_project && total + bytes < MAX_BYTES)
                && let Some(Request { batch, done, .. }) = queue.pop_front()
            {
                bytes += batch.byte_size();
                taken.push((batch, done));
            }
            total += bytes;
            match queue.is_empty() {
                true => _ = self.projects.remove(&project),
                // What is left comes after the others.
                false => self.turns.push_back(project),
            }
        }
        taken
    }
}

/// Commits batches. While the store is not available, nothing is written and nothing is lost, but no tree continues either. If
/// the store does not accept something in them, they are divided until the batch is found that it does not accept.
async fn commit(store: &dyn Store, metrics: &Metrics, batches: &[Batch]) -> Vec<Committed> {
    let (mut pause, mut attempts, mut refusals) = (FIRST_RETRY, 0u32, 0);
    loop {
        let started = Instant::now();
        let error = match store.commit(batches).await {
            Ok(written) => {
                count_commit(metrics, batches, started.elapsed());
                if attempts > 0 {
                    tracing::warn!(attempts, "the store commits again");
                }
                let committed = |is_written| match is_written {
                    true => Committed::Written,
                    false => Committed::NotOwned,
                };
                return written.into_iter().map(committed).collect();
            }
            Err(error) => error,
        };
        attempts += 1;
        metrics.commits_failed.inc();
        let trees = logged_trees(batches);
        if let StoreError::Refused(why) = &error {
            refusals += 1;
            if batches.len() > 1 {
                let count = batches.len();
                tracing::warn!(%error, count, trees, "the store refused a commit: dividing it");
                let (first, second) = batches.split_at(count / 2);
                let mut committed = Box::pin(commit(store, metrics, first)).await;
                committed.extend(Box::pin(commit(store, metrics, second)).await);
                return committed;
            }
            if refusals == MAX_REFUSALS {
                metrics.batches_refused.inc();
                return vec![Committed::Refused(why.to_string().into())];
            }
        }
        let (count, retry_millis) = (batches.len(), pause.as_millis() as u64);
        tracing::warn!(
            %error, attempts, count, trees, retry_millis,
            "the store refused a commit: retrying, these trees do not continue until then"
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_RETRY);
    }
}

fn count_commit(metrics: &Metrics, batches: &[Batch], took: Duration) {
    metrics.count_commit(batches.len(), took);
    let rows: usize = batches.iter().map(rows).sum();
    let millis = took.as_millis() as u64;
    tracing::debug!(batches = batches.len(), rows, millis, "committed");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Content, Hash};

    fn request(project: &str, number: u128, bytes: usize) -> Request {
        let content = Content { hash: Hash([0; 32]), bytes: vec![0; bytes].into() };
        let batch = Batch {
            root: StackId(uuid::Uuid::from_u128(number)),
            fence: 1,
            contents: vec![content],
            recipes: Vec::new(),
            dropped_recipes: Vec::new(),
            stacks: Vec::new(),
            resources: Vec::new(),
            dropped_resources: Vec::new(),
            snapshots: Vec::new(),
            dropped_snapshots: Vec::new(),
            events: Vec::new(),
            done: Vec::new(),
            has_work: false,
        };
        Request { project: project.into(), batch, done: oneshot::channel().0 }
    }

    fn taken(queues: &mut Queues) -> Vec<u128> {
        queues.take().iter().map(|(batch, _)| batch.root.0.as_u128()).collect()
    }

    #[test]
    fn a_batch_waits_for_few_bytes_of_another_project() {
        let mut queues = Queues::default();
        let large = MAX_PROJECT_BYTES / 2 + 1;
        (1..=6).for_each(|number| queues.push(request("hostile", number, large)));
        queues.push(request("honest", 10, 100));
        queues.push(request("honest", 11, 100));
        assert_eq!(taken(&mut queues), [1, 2, 10, 11]);
        queues.push(request("honest", 12, 100));
        assert_eq!(taken(&mut queues), [3, 4, 12]);
        // Nobody else waits.
        assert_eq!(taken(&mut queues), [5, 6]);
        assert!(queues.is_empty());
    }

    #[test]
    fn a_commit_is_bounded_and_a_batch_is_never_divided() {
        let mut queues = Queues::default();
        (1..=3).for_each(|number| queues.push(request("one", number, MAX_BYTES)));
        assert_eq!(taken(&mut queues), [1]);
        assert_eq!(taken(&mut queues), [2]);
        queues.push(request("other", 4, 1));
        assert_eq!(taken(&mut queues), [3]);
        assert_eq!(taken(&mut queues), [4]);
    }
}
