//! What happens on a connection: heads of requests, requests in progress, and bytes that nobody reads.
//!
//! A connection has a deadline at all times but during a request whose response is being received.

use super::connections::{ConnectionLimits, OpenConnection};
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// The activity on a connection.
pub(super) struct Activity {
    connection: OpenConnection,
    phase: Mutex<Phase>,
}

struct Phase {
    /// Whether the connection has no request, and no byte of one has arrived.
    is_idle: bool,
    /// When the head of a request must have arrived; none during a request.
    head_deadline: Option<Instant>,
    /// When the client must have received something.
    write_deadline: Option<Instant>,
}

impl Activity {
    /// The activity on a connection whose first request is to come.
    pub(super) fn new(connection: OpenConnection) -> Arc<Activity> {
        let head_deadline = Some(Instant::now() + connection.limits().header_timeout);
        let phase = Phase { is_idle: false, head_deadline, write_deadline: None };
        Arc::new(Activity { connection, phase: Mutex::new(phase) })
    }

    /// Waits until the connection has to be closed: its time is over, or another needs its place.
    pub(super) async fn must_close(&self) {
        tokio::select! {
            () = self.connection.must_close() => {}
            () = self.is_overdue() => {}
        }
    }

    /// Notes that a request begins, which is in progress until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestInProgress {
        self.connection.begin_request();
        let mut phase = self.phase.lock();
        (phase.is_idle, phase.head_deadline) = (false, None);
        RequestInProgress(self.clone())
    }

    fn limits(&self) -> &ConnectionLimits {
        self.connection.limits()
    }

    async fn is_overdue(&self) {
        let limits = self.limits();
        let interval = limits.header_timeout.min(limits.idle_timeout).min(limits.write_timeout);
        loop {
            let now = Instant::now();
            let deadline = self.deadline();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return;
            }
            // No deadline that is set after this moment is before the end of the shortest limit.
            let next = now + interval;
            tokio::time::sleep_until(deadline.map_or(next, |deadline| deadline.min(next))).await;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let phase = self.phase.lock();
        phase.head_deadline.into_iter().chain(phase.write_deadline).min()
    }

    /// Notes that bytes have arrived.
    fn received(&self) {
        let mut phase = self.phase.lock();
        if phase.is_idle {
            phase.is_idle = false;
            phase.head_deadline = Some(Instant::now() + self.limits().header_timeout);
        }
    }

    /// Notes whether the client takes what is sent to it.
    fn sent<T>(&self, result: Poll<T>) -> Poll<T> {
        let mut phase = self.phase.lock();
        phase.write_deadline = match result {
            Poll::Ready(_) => None,
            Poll::Pending => {
                phase.write_deadline.or_else(|| Some(Instant::now() + self.limits().write_timeout))
            }
        };
        result
    }
}

/// A request in progress: its response has not been sent completely.
pub(super) struct RequestInProgress(Arc<Activity>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let activity = &self.0;
        activity.connection.end_request();
        let mut phase = activity.phase.lock();
        phase.is_idle = true;
        phase.head_deadline = Some(Instant::now() + activity.limits().idle_timeout);
    }
}

/// The body of the response to a request in progress.
pub(super) struct ResponseBody {
    body: Body,
    _request: RequestInProgress,
}

impl ResponseBody {
    /// The body of the response to this request.
    pub(super) fn new(body: Body, request: RequestInProgress) -> ResponseBody {
        ResponseBody { body, _request: request }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How long, and for how many bytes, a client may go on sending after its server has closed the connection. Closing it
/// completely at once would make the system reset it, and the client might never see the response.
const MAX_LINGER: (Duration, usize) = (Duration::from_secs(2), 1 << 20);

/// A stream of bytes whose activity is noted.
pub(super) struct WatchedStream<S> {
    stream: S,
    activity: Arc<Activity>,
    linger: Option<Linger>,
}

/// The end of a connection: what still arrives is dropped.
struct Linger {
    until: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl<S> WatchedStream<S> {
    /// The stream of a connection.
    pub(super) fn new(stream: S, activity: Arc<Activity>) -> WatchedStream<S> {
        WatchedStream { stream, activity, linger: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.received();
        }
        result
    }
}

impl<S: AsyncRead + Unpin> WatchedStream<S> {
    /// Drops what arrives, until the client closes the connection or has had its time.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (time, bytes_left) = MAX_LINGER;
        let linger = self.linger.get_or_insert_with(|| Linger {
            until: Box::pin(tokio::time::sleep(time)),
            bytes_left,
        });
        loop {
            if linger.until.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            let mut bytes = [0; 4096];
            let mut buffer = ReadBuf::new(&mut bytes);
            let result = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let count = buffer.filled().len();
            if result.is_err() || count == 0 || count > linger.bytes_left {
                return Poll::Ready(());
            }
            linger.bytes_left -= count;
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.sent(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.activity.sent(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.activity.sent(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            let result = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.activity.sent(result))?;
        }
        self.poll_linger(context).map(Ok)
    }
}
