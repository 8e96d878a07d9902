//! Listening sockets, and graceful shutdown.
//!
//! A server that stops drops no request: it accepts no new connections, serves the open ones,
//! asks their clients to reconnect, and only then exits. Another process that listens on the same port
//! serves them then.

use super::accept::Acceptor;
use super::connections::ConnectionTable;
use super::tls::Certificate;
use crate::stdio::CommandError;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The time for which running requests may go on when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// The time for which a server that stops serves open connections, so that clients which send requests
/// often reconnect by themselves: closing a connection while a request is on its way makes it fail.
const FAREWELL: Duration = Duration::from_millis(500);

/// The backlog of connections: after an interruption, all guests reconnect at the same moment.
const WAITING: u32 = 4096;

/// Opens a socket on a host; port 0 is any free one. `option` names the port's option in error messages.
#[cfg(feature = "dev")]
pub(crate) async fn bind(host: &str, port: u16, option: &str) -> Result<TcpListener, CommandError> {
    let bound = TcpListener::bind((host, port)).await.and_then(|listener| {
        // The socket listens already, with a smaller backlog.
        socket2::SockRef::from(&listener).listen(WAITING.cast_signed())?;
        Ok(listener)
    });
    bound.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => CommandError::usage(format!(
            "port {port} of {host} is in use: choose another with {option}, or any free port with \
             --free-ports"
        )),
        _ => cannot_listen(host, port, &error),
    })
}

/// Opens a socket whose port the next process of the same user may open as well, to take over.
pub(crate) async fn bind_shared(
    host: &str,
    port: u16,
    option: &str,
) -> Result<TcpListener, CommandError> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => CommandError::usage(format!(
            "port {port} of {host} is in use by another program: choose another with {option}"
        )),
        _ => cannot_listen(host, port, &error),
    };
    let addresses = lookup_host((host, port)).await.map_err(failed)?;
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in addresses {
        match open_shared(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

fn open_shared(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

fn cannot_listen(host: &str, port: u16, error: &io::Error) -> CommandError {
    CommandError::usage(format!("cannot listen on {host}:{port}: {error}"))
}

/// The address of a socket.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr, CommandError> {
    let failed = |error| CommandError::usage(format!("cannot determine the address: {error}"));
    listener.local_addr().map_err(failed)
}

/// The URL of a socket.
#[cfg(feature = "dev")]
pub(crate) fn url(listener: &TcpListener) -> Result<String, CommandError> {
    Ok(format!("http://{}", address(listener)?))
}

/// A running HTTP server.
pub(crate) struct HttpServer {
    /// Whether the server is stopping.
    leaving: watch::Sender<bool>,
    /// A second handle of the socket, to reject new connections.
    door: Option<OwnedFd>,
    /// Whether connections are closed; each has a receiver.
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// Takes no more requests, and waits for running ones.
    pub(crate) async fn stop(mut self) {
        self.door = None;
        self.leaving.send_replace(true);
        self.stop.send_replace(true);
        let stopped = async {
            _ = self.task.await;
            self.stop.closed().await;
        };
        _ = tokio::time::timeout(GRACE, stopped).await;
    }

    /// Rejects new connections, and closes open ones after their next response.
    fn take_leave(&mut self) {
        self.leaving.send_replace(true);
        if let Some(door) = self.door.take()
            && let Err(error) = turn_away(&door)
        {
            tracing::debug!(%error, "cannot reject new connections during shutdown; some may be reset");
        }
    }
}

/// Hands sockets over to other processes that listen on the same ports, without failed requests.
pub(crate) async fn leave(mut listening: Vec<HttpServer>) {
    if listening.is_empty() {
        return;
    }
    listening.iter_mut().for_each(HttpServer::take_leave);
    tokio::time::sleep(FAREWELL).await;
    for listening in listening {
        listening.stop().await;
    }
}

/// Makes the kernel drop the first packet of every new connection to a socket. The client sends it again a
/// second later, and reaches another process. Open connections are not affected: closing
/// the socket at once would break those that were not accepted yet.
#[cfg(target_os = "linux")]
fn turn_away(door: &OwnedFd) -> io::Result<()> {
    use socket2::SockFilter;
    // The packet filter's instructions: load a byte, mask bits, compare, return the number of bytes to keep.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const IF_EQUAL: u16 = 0x15;
    const KEEP: u16 = 0x06;
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    let filter = [
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(IF_EQUAL, 0, 1, SYN),
        SockFilter::new(KEEP, 0, 0, 0),
        SockFilter::new(KEEP, 0, 0, u32::MAX),
    ];
    socket2::SockRef::from(door).attach_filter(&filter)
}

#[cfg(not(target_os = "linux"))]
fn turn_away(_door: &OwnedFd) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Serves a router on a socket, encrypted if there is a certificate. Its connections are entered in the table.
pub(crate) fn serve(
    listener: TcpListener,
    tls: Option<Arc<Certificate>>,
    router: Router,
    table: &Arc<ConnectionTable>,
) -> HttpServer {
    let door = listener.as_fd().try_clone_to_owned().ok();
    let (leaving, is_leaving) = watch::channel(false);
    let still_here = is_leaving.clone();
    let part = move |response: Response| std::future::ready(parting(response, &is_leaving));
    let router = router.layer(axum::middleware::map_response(part));
    let wait = move |request: Request, next: Next| waited_for(request, next, still_here.clone());
    let router = router.layer(axum::middleware::from_fn(wait));
    let (stop, is_stopping) = watch::channel(false);
    let acceptor = Acceptor { listener, tls, router, table: table.clone() };
    let task = super::spawn(acceptor.run(is_stopping));
    HttpServer { leaving, door, stop, task }
}

/// Long polls do not delay the shutdown: they are answered with 503, and the client retries elsewhere.
async fn waited_for(
    request: Request,
    next: Next,
    mut is_leaving: watch::Receiver<bool>,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    if !query.split('&').any(|it| it.starts_with("wait=") || it.starts_with("Wait=")) {
        return next.run(request).await;
    }
    let left = async move { _ = is_leaving.wait_for(|it| *it).await };
    tokio::select! {
        biased;
        response = next.run(request) => response,
        () = left => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

/// Closes the connection after a response if the server is stopping. An event stream has no end
/// of its own: it is ended then, and its client continues elsewhere after the last event it has seen.
fn parting(mut response: Response, is_leaving: &watch::Receiver<bool>) -> Response {
    if *is_leaving.borrow() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let kind = response.headers().get(CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "text/event-stream") {
        return response;
    }
    let mut is_leaving = is_leaving.clone();
    let left = async move { _ = is_leaving.wait_for(|it| *it).await };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(left))))
}
