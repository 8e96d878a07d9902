//! One task that commits what all trees have to write, as much at once as has come together.

use crate::store::{Batch, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Where trees hand in what they have to write.
#[derive(Clone)]
pub struct Committer {
    queue: mpsc::Sender<Request>,
}

type Request = (Batch, oneshot::Sender<bool>);

/// How many trees' batches go into one commit at most.
const MAX_BATCHES: usize = 1000;

impl Committer {
    /// Starts the task.
    pub fn start(store: Arc<dyn Store>) -> (Committer, JoinHandle<()>) {
        let (queue, requests) = mpsc::channel(MAX_BATCHES);
        (Committer { queue }, tokio::spawn(commit(store, requests)))
    }

    /// Hands in a batch. What it gives says, once that is durable, whether the tree still belongs to
    /// whoever wrote it. That may take long: a store that refuses is asked again until it does not.
    pub async fn submit(&self, batch: Batch) -> oneshot::Receiver<bool> {
        let (done, answer) = oneshot::channel();
        // If nobody takes it, nobody answers either.
        _ = self.queue.send((batch, done)).await;
        answer
    }
}

async fn commit(store: Arc<dyn Store>, mut requests: mpsc::Receiver<Request>) {
    while let Some(first) = requests.recv().await {
        let (mut batches, mut waiting) = (vec![first.0], vec![first.1]);
        while batches.len() < MAX_BATCHES
            && let Ok((batch, done)) = requests.try_recv()
        {
            batches.push(batch);
            waiting.push(done);
        }
        let mut pause = Duration::from_millis(50);
        let written = loop {
            match store.commit(&batches).await {
                Ok(written) => break written,
                // Nothing was written and nothing is lost; nothing goes on either.
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_secs(5));
        };
        for (done, is_written) in waiting.into_iter().zip(written) {
            _ = done.send(is_written);
        }
    }
}
