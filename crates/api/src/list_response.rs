//! Responses with a list that is written row by row.
//!
//! A short list is sent as one body. A long one is sent in pieces: memory holds one piece and what the next rows are made
//! of, however long the list is. The bytes are the same.

use crate::fault::Fault;
use crate::response::{JSON, Response};
use axum::body::Body;
use futures_util::stream::{self, Stream, StreamExt};
use kiln_engine::WorkShare;
use kiln_template::print::{self, Keys};
use kiln_template::{Members, Value};
use std::pin::Pin;

/// The least number of bytes in a piece, except for the last.
const PIECE: usize = 64 << 10;

/// Rows that are made when they are needed.
type RowStream = Pin<Box<dyn Stream<Item = Result<Value, Fault>> + Send>>;

/// A list that is being written.
struct ListWriter {
    rows: RowStream,
    /// Whose threads print long rows.
    share: WorkShare,
    /// What follows the list.
    end: String,
    /// What is put before the next row.
    separator: &'static str,
    is_finished: bool,
}

impl ListWriter {
    /// Writes rows until the piece is full or the list ends.
    async fn fill(&mut self, piece: &mut String) -> Result<(), Fault> {
        while piece.len() < PIECE && !self.is_finished {
            match self.rows.next().await {
                Some(row) => {
                    let row = row?;
                    let print = || print::json(&row, Keys::Ordered);
                    piece.push_str(self.separator);
                    piece.push_str(&self.share.work_on(row.byte_size(), print).await);
                    self.separator = ", ";
                }
                None => {
                    piece.push_str(&self.end);
                    self.is_finished = true;
                }
            }
        }
        Ok(())
    }
}

impl Response {
    /// Success, with a map as the body: a list under a name, and other members behind it.
    ///
    /// A row that fails before the first piece is complete makes the request fail; later, the response ends early.
    pub(crate) async fn list(
        share: WorkShare,
        name: &str,
        rows: impl Stream<Item = Result<Value, Fault>> + Send + 'static,
        others: Members,
    ) -> Result<Response, Fault> {
        let mut end = String::from("]");
        for (name, value) in &others {
            let (name, value) = (quoted(name), print::json(value, Keys::Ordered));
            end.push_str(&format!(", {name}: {value}"));
        }
        end.push('}');
        let mut writer =
            ListWriter { rows: Box::pin(rows), share, end, separator: "", is_finished: false };
        let mut first = format!("{{{}: [", quoted(name));
        writer.fill(&mut first).await?;
        if writer.is_finished {
            return Ok(Response::with_body(JSON, Body::from(first)));
        }
        let rest = stream::unfold(writer, |mut writer| async {
            if writer.is_finished {
                return None;
            }
            let mut piece = String::new();
            let written = writer.fill(&mut piece).await;
            let written = written.map(|()| piece).map_err(|fault| {
                writer.is_finished = true;
                let message = fault.message.unwrap_or_default();
                tracing::error!(error = message, "a list ends early");
                message
            });
            Some((written, writer))
        });
        let pieces = stream::iter([Ok(first)]).chain(rest);
        Ok(Response::with_body(JSON, Body::from_stream(pieces)))
    }

    /// The same with rows that are at hand.
    pub(crate) async fn list_of(
        share: WorkShare,
        name: &str,
        rows: impl Iterator<Item = Value> + Send + 'static,
    ) -> Result<Response, Fault> {
        Response::list(share, name, stream::iter(rows.map(Ok)), Members::new()).await
    }
}

fn quoted(name: &str) -> String {
    print::json(&Value::from(name), Keys::Ordered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::http::header::CONTENT_LENGTH;
    use kiln_engine::{WorkLimits, WorkPriority, Workers};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn share() -> WorkShare {
        Arc::new(Workers::new(WorkLimits::default(), WorkPriority::default())).share("p")
    }

    fn rows(count: usize) -> impl Iterator<Item = Value> + Send {
        (0..count).map(|at| Value::map([("at", Value::from(at as i64)), ("ä", "x".into())]))
    }

    #[tokio::test]
    async fn the_bytes_are_those_of_the_whole_value() {
        for count in [0, 1, 2, 10_000] {
            let others = Members::from_iter([("count".into(), Value::from(7))]);
            let streamed = stream::iter(rows(count).map(Ok));
            let response = Response::list(share(), "stacks", streamed, others).await.unwrap();
            let body = response.into_response().into_body();
            let bytes = to_bytes(body, usize::MAX).await.unwrap();
            let whole = Value::map([("stacks", Value::list(rows(count))), ("count", 7.into())]);
            assert_eq!(bytes, print::json(&whole, Keys::Ordered).as_bytes(), "{count} rows");
        }
    }

    #[tokio::test]
    async fn rows_are_made_when_they_are_sent() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let rows = (0..1000).map(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Value::from("x".repeat(1000))
        });
        let response = Response::list_of(share(), "rows", rows).await.unwrap().into_response();
        assert!(response.headers().get(CONTENT_LENGTH).is_none());
        assert!(made.load(Ordering::SeqCst) <= PIECE / 1000 + 1, "one piece is made ahead");
    }
}
