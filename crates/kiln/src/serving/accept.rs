//! Accepting connections and serving requests on them, with and without TLS.
//!
//! One connection is accepted at a time and waits until there is a place for it: all others stay in the listen queue of
//! the system meanwhile. A shortage of open files pauses the loop.

use super::activity::{Activity, ResponseBody, WatchedStream};
use super::connections::{ConnectionTable, OpenConnection};
use super::tls::Certificate;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

/// The timeout of TLS handshakes.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a shortage of files is logged.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// A socket with everything that serves its connections.
pub(super) struct Acceptor {
    pub(super) listener: TcpListener,
    /// How connections are encrypted, if they are.
    pub(super) tls: Option<Arc<Certificate>>,
    pub(super) router: Router,
    pub(super) table: Arc<ConnectionTable>,
}

impl Acceptor {
    /// Serves connections until the server stops. Every open connection has a clone of the receiver.
    pub(super) async fn run(self, mut is_stopping: watch::Receiver<bool>) {
        let stopped = is_stopping.clone();
        let serving = pin!(self.accept_all(stopped));
        tokio::select! {
            biased;
            _ = is_stopping.wait_for(|it| *it) => {}
            () = serving => {}
        }
    }

    async fn accept_all(&self, is_stopping: watch::Receiver<bool>) {
        let mut last_logged: Option<Instant> = None;
        loop {
            let (stream, peer) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) if is_of_client(error.kind()) => continue,
                Err(error) => {
                    if last_logged.is_none_or(|last| last.elapsed() >= LOG_INTERVAL) {
                        last_logged = Some(Instant::now());
                        tracing::warn!(
                            %error,
                            "cannot accept connections: the next attempt is in a second; raise the limit \
                             of open files, or lower [kiln] max_connections"
                        );
                    }
                    self.table.make_room().await;
                    continue;
                }
            };
            let Some(connection) = self.table.admit(peer.ip().to_canonical()).await else {
                continue;
            };
            // Responses are small and latency matters.
            _ = stream.set_nodelay(true);
            let tls = self.tls.as_ref().map(|certificate| certificate.acceptor());
            let router = self.router.clone();
            super::spawn(serve(stream, tls, connection, router, is_stopping.clone()));
        }
    }
}

/// Whether an error is about one connection, and not about the socket.
fn is_of_client(error: ErrorKind) -> bool {
    [ErrorKind::ConnectionAborted, ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset]
        .contains(&error)
}

/// Serves a connection until it is closed.
async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    connection: OpenConnection,
    router: Router,
    is_stopping: watch::Receiver<bool>,
) {
    let Some(tls) = tls else { return serve_http(stream, connection, router, is_stopping).await };
    let shaken = tokio::select! {
        biased;
        () = connection.must_close() => return,
        shaken = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)) => shaken,
    };
    if let Ok(Ok(stream)) = shaken {
        serve_http(stream, connection, router, is_stopping).await;
    }
}

async fn serve_http<S>(
    stream: S,
    connection: OpenConnection,
    router: Router,
    mut is_stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let activity = Activity::new(connection);
    let stream = TokioIo::new(WatchedStream::new(stream, activity.clone()));
    let (router, noted) = (TowerToHyperService::new(router), activity.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let in_progress = noted.begin_request();
        let response = router.call(request);
        async move {
            let response = response.await?;
            Ok::<_, std::convert::Infallible>(
                response.map(|body| ResponseBody::new(body, in_progress)),
            )
        }
    });
    let mut http = pin!(http1::Builder::new().serve_connection(stream, service));
    let mut must_close = pin!(activity.must_close());
    let mut has_stopped = false;
    loop {
        tokio::select! {
            biased;
            () = &mut must_close => return,
            _ = is_stopping.wait_for(|it| *it), if !has_stopped => {
                has_stopped = true;
                // A request in progress is finished; the client is told to reconnect after it.
                http.as_mut().graceful_shutdown();
            }
            _ = http.as_mut() => return,
        }
    }
}
