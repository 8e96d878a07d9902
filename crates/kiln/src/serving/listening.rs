//! Sockets, and how they are opened and given up.
//!
//! A server that takes leave loses nobody: it lets no new connection begin, serves those that have begun,
//! asks their clients to come back over a new one, and only then goes. Whoever listens on the same port
//! by then serves them.

use super::tls;
use crate::streams::Failure;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{Listener, ListenerExt};
use futures_util::StreamExt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// How long requests under way are waited for when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// How long a server that takes leave serves connections that have begun, so that clients which ask
/// often leave by themselves: a connection that is closed while its next request is on the way fails.
const FAREWELL: Duration = Duration::from_millis(500);

/// How many connections may wait to be taken.
const WAITING: u32 = 1024;

/// A socket on a host; port 0 is any free one. `option` is what the port is chosen with.
pub(crate) async fn bind(host: &str, port: u16, option: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind((host, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::usage(format!(
            "port {port} of {host} is taken: choose another with {option}, or any that is free with \
             --free-ports"
        )),
        _ => cannot_listen(host, port, &error),
    })
}

/// A socket on a host whose port the next process of the same user may open as well, to take over.
pub(crate) async fn bind_shared(
    host: &str,
    port: u16,
    option: &str,
) -> Result<TcpListener, Failure> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => Failure::usage(format!(
            "port {port} of {host} is taken by another program: choose another with {option}"
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

fn cannot_listen(host: &str, port: u16, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot listen on {host}:{port}: {error}"))
}

/// Where a socket is.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(no_address)
}

/// Where a socket is reached.
pub(crate) fn url(listener: &TcpListener) -> Result<String, Failure> {
    Ok(format!("http://{}", address(listener)?))
}

fn no_address(error: io::Error) -> Failure {
    Failure::usage(format!("no address: {error}"))
}

/// Something that is served.
pub(crate) struct Listening {
    /// Whether connections are given up.
    leaving: watch::Sender<bool>,
    /// The socket once more, to be told to let nobody in.
    door: Option<OwnedFd>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Takes no more requests, and waits for those under way.
    pub(crate) async fn stop(mut self) {
        self.door = None;
        self.leaving.send_replace(true);
        _ = self.stop.send(());
        _ = tokio::time::timeout(GRACE, self.task).await;
    }

    /// Lets no new connection begin, and ends those there are with their next answers.
    fn take_leave(&mut self) {
        self.leaving.send_replace(true);
        if let Some(door) = self.door.take()
            && let Err(error) = turn_away(&door)
        {
            tracing::debug!(%error, "connections that begin while the server leaves may be cut off");
        }
    }
}

/// Gives sockets up to whoever else listens on the same ports: no client notices.
pub(crate) async fn leave(mut listening: Vec<Listening>) {
    if listening.is_empty() {
        return;
    }
    listening.iter_mut().for_each(Listening::take_leave);
    tokio::time::sleep(FAREWELL).await;
    for listening in listening {
        listening.stop().await;
    }
}

/// Has the system drop the first packet of every new connection to a socket. Its client sends it again a
/// second later, and meets whoever listens then. Connections that have begun are not touched: closing
/// the socket at once would break those that nobody has taken yet.
#[cfg(target_os = "linux")]
fn turn_away(door: &OwnedFd) -> io::Result<()> {
    use socket2::SockFilter;
    // The words of the packet filter: load a byte, keep some bits, compare, end with what to keep.
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

/// Serves a router on a socket.
pub(crate) fn serve(listener: TcpListener, router: Router) -> Listening {
    let door = listener.as_fd().try_clone_to_owned().ok();
    let listener = listener.tap_io(|stream| {
        // Answers are small and wanted at once.
        _ = stream.set_nodelay(true);
    });
    serve_on(listener, door, router)
}

/// Serves a router on a socket, encrypted.
pub(crate) fn serve_tls(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
) -> Result<Listening, Failure> {
    let door = listener.as_fd().try_clone_to_owned().ok();
    let listener = tls::Tls::listen(listener, acceptor).map_err(no_address)?;
    Ok(serve_on(listener, door, router))
}

fn serve_on<L>(listener: L, door: Option<OwnedFd>, router: Router) -> Listening
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let (leaving, is_leaving) = watch::channel(false);
    let still_here = is_leaving.clone();
    let part = move |response: Response| std::future::ready(parting(response, &is_leaving));
    let router = router.layer(axum::middleware::map_response(part));
    let wait = move |request: Request, next: Next| waited_for(request, next, still_here.clone());
    let router = router.layer(axum::middleware::from_fn(wait));
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let serving = axum::serve(listener, router).with_graceful_shutdown(async {
            _ = stopped.await;
        });
        _ = serving.await;
    });
    Listening { leaving, door, stop, task }
}

/// Whoever waits for a change does not keep the server from leaving: they are sent away, and wait elsewhere.
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

/// An answer that is the last one of its connection if the server leaves. A stream of events has no end
/// of its own: it ends then, and its client goes on elsewhere from the last event that it has seen.
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
