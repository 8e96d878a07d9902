//! Serving HTTP: sockets, encryption, logs, and stopping.

mod backend;
mod listening;
pub(crate) mod tls;

pub(crate) use backend::Asked;
pub(crate) use listening::{Listening, address, bind, bind_shared, leave, serve, serve_tls, url};

use crate::streams::Failure;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::{Extension, Router};
use kiln_api::{App, Scheme, auth};
use kiln_engine::runtime::now;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tracing_subscriber::EnvFilter;

/// What this machine calls itself.
pub(crate) fn host_name() -> Arc<str> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".into() } else { name.into() }
}

/// What is logged if nothing else is asked for.
const LOGGED: &str = "warn,notification=debug";

/// Logs to standard error from now on: what `KILN_LOG` asks for; else warnings, and notifications if they go there.
pub(crate) fn log(is_json: bool) {
    let filter = EnvFilter::try_from_env("KILN_LOG").unwrap_or_else(|_| EnvFilter::new(LOGGED));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Whoever logs already goes on.
    _ = match is_json {
        true => log.json().try_init(),
        false => log.try_init(),
    };
}

/// Lets as many connections stay open as the system allows: servers that wait for changes have one each.
pub(crate) fn take_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, most) {
        tracing::warn!(%error, "the number of open files stays limited");
    }
}

/// Lets in whoever has a token that an identity service holds for valid.
pub(crate) fn keystone(
    url: &str,
    login: auth::Login,
    settings: auth::Settings,
) -> Result<Arc<auth::Keystone>, Failure> {
    let identity = auth::Identity::new(client()?, url);
    let keystone = Arc::new(auth::Keystone::new(identity, login, settings, Arc::new(now)));
    let watching = keystone.clone();
    tokio::spawn(async move { watching.watch().await });
    Ok(keystone)
}

/// Hears which signatures other processes have answered, and those before this one; from now on again and again.
pub(crate) async fn exchange(app: &Arc<App>) -> Result<JoinHandle<()>, Failure> {
    let heard = app.spent.exchange(&**app.service.store(), now()).await;
    heard.map_err(|error| Failure::usage(format!("the store cannot be read: {error}")))?;
    Ok(tokio::spawn(kiln_api::aws::keep_exchanging(app.clone())))
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

/// The CloudFormation API, as it is reached.
pub(crate) fn cfn(app: Arc<App>, scheme: &'static str) -> Router {
    let router =
        Router::new().fallback(move |request: Request| kiln_api::cfn::answer(app.clone(), request));
    router.layer(Extension(Scheme(scheme)))
}

/// The CloudWatch API, as it is reached.
pub(crate) fn cloudwatch(app: Arc<App>, scheme: &'static str) -> Router {
    let router = Router::new()
        .fallback(move |request: Request| kiln_api::cloudwatch::answer(app.clone(), request));
    router.layer(Extension(Scheme(scheme)))
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
