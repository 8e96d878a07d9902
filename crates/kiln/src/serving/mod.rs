//! Serving HTTP: sockets, encryption, logs, and stopping.

mod backend;
pub(crate) mod tls;

pub(crate) use backend::Asked;

use crate::streams::Failure;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::serve::{Listener, ListenerExt};
use kiln_api::{App, auth};
use kiln_engine::runtime::now;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tracing_subscriber::EnvFilter;

/// How long requests under way are waited for when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// A socket on a host; port 0 is any free one. `option` is what the port is chosen with.
pub(crate) async fn bind(host: &str, port: u16, option: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind((host, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::usage(format!(
            "port {port} of {host} is taken: choose another with {option}, or any that is free with \
             --free-ports"
        )),
        _ => Failure::usage(format!("cannot listen on {host}:{port}: {error}")),
    })
}

/// Where a socket is.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(|error| Failure::usage(format!("no address: {error}")))
}

/// Where a socket is reached.
pub(crate) fn url(listener: &TcpListener) -> Result<String, Failure> {
    Ok(format!("http://{}", address(listener)?))
}

/// What this machine calls itself.
pub(crate) fn host_name() -> Arc<str> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".into() } else { name.into() }
}

/// Logs to standard error from now on: what `KILN_LOG` asks for, and warnings in any case.
pub(crate) fn log(is_json: bool) {
    let filter = EnvFilter::try_from_env("KILN_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Whoever logs already goes on.
    _ = match is_json {
        true => log.json().try_init(),
        false => log.try_init(),
    };
}

/// Something that is served.
pub(crate) struct Listening {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Listening {
    /// Takes no more requests, and waits for those under way.
    pub(crate) async fn stop(self) {
        _ = self.stop.send(());
        _ = tokio::time::timeout(GRACE, self.task).await;
    }
}

/// Serves a router on a socket.
pub(crate) fn serve(listener: TcpListener, router: Router) -> Listening {
    serve_on(
        listener.tap_io(|stream| {
            // Answers are small and wanted at once.
            _ = stream.set_nodelay(true);
        }),
        router,
    )
}

/// Serves a router on a socket, encrypted.
pub(crate) fn serve_tls(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
) -> Result<Listening, Failure> {
    let listener = tls::Tls::listen(listener, acceptor);
    let listener = listener.map_err(|error| Failure::usage(format!("no address: {error}")))?;
    Ok(serve_on(listener, router))
}

fn serve_on<L>(listener: L, router: Router) -> Listening
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let serving = axum::serve(listener, router).with_graceful_shutdown(async {
            _ = stopped.await;
        });
        _ = serving.await;
    });
    Listening { stop, task }
}

/// Lets in whoever has a token that an identity service holds for valid.
pub(crate) fn keystone(
    url: &str,
    login: auth::Login,
    settings: auth::Settings,
) -> Result<Arc<auth::Keystone>, Failure> {
    let settings =
        auth::Settings { auth_url: auth::AuthUrl::fixed(format!("{url}/v3")), ..settings };
    let identity = auth::Identity::new(client()?, url);
    let keystone = Arc::new(auth::Keystone::new(identity, login, settings, Arc::new(now)));
    let watching = keystone.clone();
    tokio::spawn(async move { watching.watch().await });
    Ok(keystone)
}

/// What makes requests.
pub(crate) fn client() -> Result<reqwest::Client, Failure> {
    let client = kiln_cloud::client_builder().build();
    client.map_err(|error| Failure::usage(format!("HTTP cannot be used: {error}")))
}

/// What is counted, for Prometheus.
pub(crate) fn metrics(app: Arc<App>) -> Router {
    let text = move || {
        let text = app.metrics.text();
        async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/metrics", axum::routing::get(text))
}

/// The native API.
pub(crate) fn native(app: Arc<App>) -> Router {
    Router::new().fallback(move |request| kiln_api::answer(app.clone(), request))
}

/// The CloudFormation API.
pub(crate) fn cfn(app: Arc<App>) -> Router {
    Router::new().fallback(move |request| kiln_api::cfn::answer(app.clone(), request))
}

/// What stops the process: Ctrl-C, or a polite signal.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    pub(crate) fn new() -> Result<Stop, Failure> {
        let failed = |error: std::io::Error| {
            Failure::usage(format!("signals cannot be listened to on this system: {error}"))
        };
        Ok(Stop {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
        })
    }

    /// Waits until the process is asked to stop.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
