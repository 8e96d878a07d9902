//! A bell that rings when something happens to a stack: the stream of its events.
//!
//! It only says that it is time to look again, so nothing depends on it: a service without streams is
//! looked at from time to time, and so is one whose stream breaks.

use super::heat::{Heat, Query, StackId};
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A stream that ended is not opened again before this.
const REST: Duration = Duration::from_millis(500);

/// A bell.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    stream: Option<Response>,
    /// Whether there is none, or nobody wants one.
    is_mute: bool,
}

impl Bell {
    /// One that never rings.
    pub(crate) fn mute() -> Bell {
        Bell { stream: None, is_mute: true }
    }

    /// Waits until something happens to a stack after an event, but no longer than a while.
    pub(crate) async fn wait(
        &mut self,
        heat: &Heat,
        stack: &StackId,
        query: Query,
        marker: Option<&str>,
        longest: Duration,
    ) {
        let end = Instant::now() + longest;
        if !self.is_mute && self.stream.is_none() {
            self.stream = heat.session.stream(&stack.path(&["events"]), &query, marker).await;
            self.is_mute = self.stream.is_none();
        }
        let Some(stream) = &mut self.stream else { return sleep_until(end).await };
        loop {
            let chunk = tokio::select! {
                biased;
                chunk = stream.chunk() => chunk,
                () = sleep_until(end) => return,
            };
            match chunk {
                // A line that begins with a colon is a sign of life.
                Ok(Some(bytes)) if bytes.starts_with(b":") => {}
                Ok(Some(bytes)) if bytes.starts_with(b"event: rest") => break,
                Ok(Some(_)) => return,
                Ok(None) | Err(_) => break,
            }
        }
        self.stream = None;
        sleep_until(end.min(Instant::now() + REST)).await;
    }
}
