//! Sending the events of a tree where its user wants them, beside everything else: nothing waits for it.

use super::Inner;
use crate::event_sinks;
use crate::store::EventRow;
use kiln_cloud::{Call, CallError, Credential, Reply, Transport};
use kiln_template::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How many calls of one tree wait at most; more are not made.
const MAX_WAITING: usize = 1000;

/// How long a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long something that was lent is kept for events that are on their way.
pub(super) const DELIVERY_GRACE: Duration = Duration::from_secs(60);

/// Where a tree hands in the events that are to be sent.
pub(super) struct EventSinkPoster {
    queue: mpsc::Sender<PostRequest>,
    /// Whether it was said that calls are not made.
    is_warned: bool,
}

/// Calls in somebody's name.
struct PostRequest {
    credential: Arc<Credential>,
    calls: Vec<Call>,
    /// Ends with it: whoever has the other side sees that.
    _done: watch::Sender<()>,
}

impl EventSinkPoster {
    /// Starts a task that makes the calls one after the other, so that events arrive in their order. It ends after
    /// its last call when this is dropped.
    pub(super) fn start(engine: Arc<Inner>) -> EventSinkPoster {
        let (queue, mut posts) = mpsc::channel::<PostRequest>(MAX_WAITING);
        tokio::spawn(async move {
            let mut failures = FailureLog::default();
            while let Some(post) = posts.recv().await {
                let PostRequest { credential, calls, _done } = post;
                for call in calls {
                    let made = tokio::time::timeout(
                        CALL_TIMEOUT,
                        engine.transport.send(&credential, call),
                    )
                    .await;
                    failures.record(made.ok());
                }
            }
        });
        EventSinkPoster { queue, is_warned: false }
    }

    /// Has events sent. What it gives ends when that was done.
    pub(super) fn post(
        &mut self,
        sinks: &[Value],
        events: &[EventRow],
        credential: Arc<Credential>,
    ) -> watch::Receiver<()> {
        let (done, ended) = watch::channel(());
        let post =
            PostRequest { credential, calls: event_sinks::calls(sinks, events), _done: done };
        match self.queue.try_send(post) {
            Ok(()) => self.is_warned = false,
            Err(_) if self.is_warned => {}
            Err(_) => {
                self.is_warned = true;
                tracing::warn!("events are not sent to a queue any more: it takes too few");
            }
        }
        ended
    }
}

/// Sends the events of a tree that this process has no owner of.
pub(crate) async fn post_events(
    transport: Arc<dyn Transport>,
    sinks: Vec<Value>,
    events: Vec<EventRow>,
    credential: Arc<Credential>,
) {
    let mut failures = FailureLog::default();
    for call in event_sinks::calls(&sinks, &events) {
        failures.record(
            tokio::time::timeout(CALL_TIMEOUT, transport.send(&credential, call)).await.ok(),
        );
    }
}

/// Whether the last call went well: what goes wrong is told once, until something goes well again.
#[derive(Default)]
struct FailureLog {
    is_failing: bool,
}

impl FailureLog {
    fn record(&mut self, made: Option<Result<Reply, CallError>>) {
        let why = match made {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("the service does not answer".to_owned()),
        };
        if let Some(why) = why.as_ref().filter(|_| !self.is_failing) {
            tracing::warn!("the events of a stack do not reach the queue of its user: {why}");
        }
        self.is_failing = why.is_some();
    }
}
