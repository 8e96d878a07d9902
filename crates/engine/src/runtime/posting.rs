//! Sending the events of a tree where its user wants them, beside everything else: nothing waits for it.

use super::Inner;
use crate::sinks;
use crate::store::EventRow;
use kiln_cloud::{Call, CallError, Credential, Reply, Transport};
use kiln_template::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How many calls of one tree wait at most; more are not made.
const WAITING: usize = 1000;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long something that was lent is kept for events that are on their way.
pub(super) const GRACE: Duration = Duration::from_secs(60);

/// Where a tree hands in the events that are to be sent.
pub(super) struct Posting {
    queue: mpsc::Sender<Post>,
    /// Whether it was said that calls are not made.
    is_told: bool,
}

/// Calls in somebody's name.
struct Post {
    by: Arc<Credential>,
    calls: Vec<Call>,
    /// Ends with it: whoever has the other side sees that.
    _tried: watch::Sender<()>,
}

impl Posting {
    /// Starts a task that makes the calls one after the other, so that events arrive in their order. It ends after
    /// its last call when this is dropped.
    pub(super) fn start(engine: Arc<Inner>) -> Posting {
        let (queue, mut posts) = mpsc::channel::<Post>(WAITING);
        tokio::spawn(async move {
            let mut outcome = Outcome::default();
            while let Some(post) = posts.recv().await {
                let Post { by, calls, _tried } = post;
                for call in calls {
                    let made =
                        tokio::time::timeout(PATIENCE, engine.transport.send(&by, call)).await;
                    outcome.heard(made.ok());
                }
            }
        });
        Posting { queue, is_told: false }
    }

    /// Has events sent. What it gives ends when that was tried.
    pub(super) fn hand_in(
        &mut self,
        sinks: &[Value],
        events: &[EventRow],
        by: Arc<Credential>,
    ) -> watch::Receiver<()> {
        let (tried, ended) = watch::channel(());
        let post = Post { by, calls: sinks::calls(sinks, events), _tried: tried };
        match self.queue.try_send(post) {
            Ok(()) => self.is_told = false,
            Err(_) if self.is_told => {}
            Err(_) => {
                self.is_told = true;
                tracing::warn!("events are not sent to a queue any more: it takes too few");
            }
        }
        ended
    }
}

/// Sends the events of a tree that this process has no owner of.
pub(crate) async fn post(
    transport: Arc<dyn Transport>,
    sinks: Vec<Value>,
    events: Vec<EventRow>,
    by: Arc<Credential>,
) {
    let mut outcome = Outcome::default();
    for call in sinks::calls(&sinks, &events) {
        outcome.heard(tokio::time::timeout(PATIENCE, transport.send(&by, call)).await.ok());
    }
}

/// Whether the last call went well: what goes wrong is told once, until something goes well again.
#[derive(Default)]
struct Outcome {
    is_bad: bool,
}

impl Outcome {
    fn heard(&mut self, made: Option<Result<Reply, CallError>>) {
        let why = match made {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("the service does not answer".to_owned()),
        };
        if let Some(why) = why.as_ref().filter(|_| !self.is_bad) {
            tracing::warn!("the events of a stack do not reach the queue of its user: {why}");
        }
        self.is_bad = why.is_some();
    }
}
