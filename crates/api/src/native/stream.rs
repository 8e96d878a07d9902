//! Events as they happen: server-sent events, resumable by the id of the last one seen.
//!
//! The store is polled, so that a client that loses its connection loses no event, and events of other engines appear
//! as well. A stream ends when its stack is no longer in progress.

use super::events::{listed, refreshed};
use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use axum::body::Body;
use kiln_engine::store::{EventQuery, StackRow};
use kiln_engine::{EventId, Metrics, Service, Status};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

/// How often the store is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A keep-alive is sent after this many polls without an event.
const KEEP_ALIVE_POLLS: u32 = 150;

/// How many events are sent at once.
const MAX_EVENTS: u64 = 1000;

pub(crate) async fn events(request: Request) -> Result<Response, Fault> {
    let stack = request.stack().await?;
    let depth = request.query.count("nested_depth")?.unwrap_or(0);
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let marker = request.last_event.as_deref().or(request.query.get("marker"));
    let marker = marker.and_then(|id| Uuid::parse_str(id).ok()).map(EventId);
    let counted = CountedStream::new(request.service().config().metrics.clone());
    let (send, receive) = mpsc::channel(16);
    #[allow(clippy::disallowed_methods, reason = "it ends when the client closes the connection")]
    tokio::spawn(follow(request, stack, depth, marker, send));
    let reader = (receive, counted);
    let body = Body::from_stream(futures_util::stream::unfold(reader, |mut reader| async {
        let text: String = reader.0.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(text), reader))
    }));
    Ok(Response::with_body("text/event-stream", body))
}

/// Counts as a stream that a client is reading, until it is dropped together with the body.
struct CountedStream(Arc<Metrics>);

impl CountedStream {
    fn new(metrics: Arc<Metrics>) -> CountedStream {
        metrics.event_streams.inc();
        CountedStream(metrics)
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        self.0.event_streams.dec();
    }
}

/// Sends events until the stack is no longer in progress, or the client has disconnected.
async fn follow(
    request: Request,
    stack: StackRow,
    depth: usize,
    mut marker: Option<EventId>,
    send: mpsc::Sender<String>,
) {
    let mut idle_polls = 0;
    loop {
        // The state is read before the events: what led to it is among them.
        let Ok((stacks, by_id)) = refreshed(&request, &stack, depth).await else { return };
        let is_idle = stacks.first().is_none_or(|it| it.state.status != Status::InProgress);
        let query = EventQuery { marker, limit: Some(MAX_EVENTS), ..Service::events_of(&stacks) };
        let Ok(events) = request.service().events(&query).await else { return };
        let mut text = String::new();
        for event in &events {
            let Some(of) = by_id.get(&event.stack) else { continue };
            let mut shown = listed(&request, of, event, Some(&stack));
            shown.insert("resource_type".into(), Value::Text(event.kind.clone()));
            let data = print::json(&Value::Map(Arc::new(shown)), Keys::Ordered);
            _ = write!(text, "id: {}\nevent: event\ndata: {data}\n\n", event.id);
            marker = Some(event.id);
        }
        if events.is_empty() {
            if is_idle {
                let state = stacks.first().map(|it| it.state.to_string()).unwrap_or_default();
                _ = send.send(format!("event: rest\ndata: \"{state}\"\n\n")).await;
                return;
            }
            idle_polls += 1;
            if idle_polls % KEEP_ALIVE_POLLS == 0 {
                text.push_str(": still here\n\n");
            }
        }
        if !text.is_empty() && send.send(text).await.is_err() {
            return;
        }
        if send.is_closed() {
            return;
        }
        if events.is_empty() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
