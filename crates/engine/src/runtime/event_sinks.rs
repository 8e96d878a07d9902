//! Sending the events of a tree to the queues that its user named. Nothing waits for that.

use super::{Inner, spawn};
use crate::event_sinks;
use crate::metrics::Metrics;
use crate::store::EventRow;
use kiln_cloud::{Call, CallError, Credential, Reply, Transport};
use kiln_template::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How many requests of one tree wait at most; more are dropped.
const MAX_WAITING: usize = 1000;

/// How long a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a credential is kept for events that are on their way.
pub(super) const DELIVERY_GRACE: Duration = Duration::from_secs(60);

/// Takes the events of a tree that are to be sent.
pub(super) struct EventSinkPoster {
    queue: mpsc::Sender<PostRequest>,
    metrics: Arc<Metrics>,
    /// Whether the loss of events was logged since the last request that was taken.
    is_warned: bool,
}

/// Calls with the credential of a tree.
struct PostRequest {
    credential: Arc<Credential>,
    calls: Vec<Call>,
    /// Dropped with the request: so the receiver learns that the request was tried.
    _done: watch::Sender<()>,
}

impl EventSinkPoster {
    /// Starts a task that makes the calls one after the other, so that events arrive in their order. The task ends
    /// after its last call when the poster is dropped.
    pub(super) fn start(engine: Arc<Inner>) -> EventSinkPoster {
        let (queue, mut requests) = mpsc::channel::<PostRequest>(MAX_WAITING);
        let metrics = engine.config.metrics.clone();
        let mut log = FailureLog::new(metrics.clone());
        spawn("event sinks", async move {
            while let Some(request) = requests.recv().await {
                let PostRequest { credential, calls, _done } = request;
                for call in calls {
                    let call = engine.transport.send(&credential, call);
                    log.record(tokio::time::timeout(CALL_TIMEOUT, call).await.ok());
                }
            }
        });
        EventSinkPoster { queue, metrics, is_warned: false }
    }

    /// Has events sent. The receiver ends when that was tried.
    pub(super) fn post(
        &mut self,
        sinks: &[Value],
        events: &[EventRow],
        credential: Arc<Credential>,
    ) -> watch::Receiver<()> {
        let (done, ended) = watch::channel(());
        let calls = event_sinks::calls(sinks, events);
        let count = calls.len();
        match self.queue.try_send(PostRequest { credential, calls, _done: done }) {
            Ok(()) => self.is_warned = false,
            Err(_) => {
                Metrics::count(&self.metrics.event_sink_calls, "dropped", count);
                if !std::mem::replace(&mut self.is_warned, true) {
                    tracing::warn!(
                        "events of a stack are dropped: the queue of its user is too slow"
                    );
                }
            }
        }
        ended
    }
}

/// Sends the events of a tree that this process does not own.
pub(crate) async fn post_events(
    transport: Arc<dyn Transport>,
    metrics: Arc<Metrics>,
    sinks: Vec<Value>,
    events: Vec<EventRow>,
    credential: Arc<Credential>,
) {
    let mut log = FailureLog::new(metrics);
    for call in event_sinks::calls(&sinks, &events) {
        let call = transport.send(&credential, call);
        log.record(tokio::time::timeout(CALL_TIMEOUT, call).await.ok());
    }
}

/// Logs failures: the first one after a success.
struct FailureLog {
    metrics: Arc<Metrics>,
    is_failing: bool,
}

impl FailureLog {
    fn new(metrics: Arc<Metrics>) -> FailureLog {
        FailureLog { metrics, is_failing: false }
    }

    fn record(&mut self, made: Option<Result<Reply, CallError>>) {
        let error = match made {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("the service does not answer".to_owned()),
        };
        let outcome = if error.is_some() { "failed" } else { "sent" };
        Metrics::count(&self.metrics.event_sink_calls, outcome, 1);
        if let Some(error) = error.as_ref().filter(|_| !self.is_failing) {
            tracing::warn!(error, "could not send the events of a stack to the queue of its user");
        }
        self.is_failing = error.is_some();
    }
}
