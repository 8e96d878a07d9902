//! The event stream of a stack, used to wake up the client.
//!
//! The stream only tells the client when to poll next, so correctness does not depend on it: if a
//! service has no streams, or a stream breaks, the client polls at intervals.

use super::heat::{HeatApi, Query, StackId};
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Wakes the client up when a stack has a new event.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    stream: Option<Response>,
    /// Whether the service has no streams, or the client wants none.
    is_disabled: bool,
}

impl EventStream {
    /// A stream that is never opened.
    pub(crate) fn disabled() -> EventStream {
        EventStream { stream: None, is_disabled: true }
    }

    /// Waits for an event after `marker`, but no longer than `longest`.
    pub(crate) async fn wait(
        &mut self,
        heat: &HeatApi,
        stack: &StackId,
        query: Query,
        marker: Option<&str>,
        longest: Duration,
    ) {
        let end = Instant::now() + longest;
        if !self.is_disabled && self.stream.is_none() {
            self.stream = heat.session.stream(&stack.path(&["events"]), &query, marker).await;
            self.is_disabled = self.stream.is_none();
        }
        let Some(stream) = &mut self.stream else { return sleep_until(end).await };
        loop {
            let chunk = tokio::select! {
                biased;
                chunk = stream.chunk() => chunk,
                () = sleep_until(end) => return,
            };
            match chunk {
                // A line that begins with a colon is a keep-alive.
                Ok(Some(bytes)) if bytes.starts_with(b":") => {}
                Ok(Some(bytes)) if bytes.starts_with(b"event: rest") => break,
                Ok(Some(_)) => return,
                Ok(None) | Err(_) => break,
            }
        }
        // The stack is idle, or the connection broke: a new stream would end at once, too.
        self.stream = None;
        sleep_until(end).await;
    }
}
