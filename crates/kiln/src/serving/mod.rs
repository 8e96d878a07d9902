//! Serving HTTP: sockets, TLS, logs, and shutdown.

mod accept;
mod activity;
mod backend;
mod connections;
mod environment_watch;
mod file_watch;
mod listening;
pub(crate) mod log;
#[cfg(feature = "otlp")]
mod otlp;
mod policy_watch;
mod readiness;
mod service_manager;
pub(crate) mod tls;

pub(crate) use backend::HttpBackend;
pub(crate) use connections::{ConnectionLimits, ConnectionTable, max_connections, max_per_address};
pub(crate) use environment_watch::WatchedEnvironment;
pub(crate) use file_watch::FileWatch;
pub(crate) use listening::{HttpServer, address, bind_shared, leave, serve};
#[cfg(feature = "dev")]
pub(crate) use listening::{bind, url};
pub(crate) use policy_watch::WatchedPolicy;
pub(crate) use readiness::Readiness;
pub(crate) use service_manager::ServiceManager;

use crate::stdio::CommandError;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::{Extension, Router};
use kiln_api::{App, Scheme, auth};
use kiln_cloud::Tls;
use kiln_engine::now;
use kiln_engine::store::StoreError;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

/// The program and its version, with the commit that it was built from if the build knew it (`KILN_COMMIT`).
pub(crate) const REVISION: &str = concat!("kiln ", env!("KILN_VERSION"));

/// The host name of this machine.
pub(crate) fn host_name() -> Arc<str> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".into() } else { name.into() }
}

/// Raises the limit of open files to the maximum: every guest that polls for changes has a connection. The result is how
/// many files the process may open.
pub(crate) fn raise_file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, most) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files).unwrap_or(usize::MAX)
}

/// Starts a task of the process: one that runs until the process ends, or that its caller waits for.
#[allow(clippy::disallowed_methods, reason = "the binary owns the tasks that libraries describe")]
pub(crate) fn spawn<F>(task: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(task)
}

/// Authenticates callers by tokens of the identity service.
pub(crate) fn keystone(
    url: &str,
    tls: &Tls,
    login: auth::Login,
    settings: auth::Settings,
) -> Result<Arc<auth::Keystone>, CommandError> {
    let identity = auth::IdentityClient::new(client(tls)?, url);
    let keystone = Arc::new(auth::Keystone::new(identity, login, settings, Arc::new(now)));
    let watching = keystone.clone();
    spawn(async move { watching.watch().await });
    Ok(keystone)
}

/// Synchronises the used signatures with other processes, now and at intervals.
pub(crate) async fn exchange(app: &Arc<App>) -> Result<JoinHandle<()>, StoreError> {
    app.replay_guard.sync(&**app.service.store(), now()).await?;
    Ok(spawn(kiln_api::aws::keep_syncing(app.clone())))
}

/// An HTTP client.
pub(crate) fn client(tls: &Tls) -> Result<reqwest::Client, CommandError> {
    let client = tls.configure(kiln_cloud::client_builder()).and_then(|client| client.build());
    client.map_err(|error| CommandError::usage(format!("cannot create an HTTP client: {error}")))
}

/// The metrics, for Prometheus.
pub(crate) fn metrics(app: &App) -> Router {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let mut registry = Registry::default();
    app.metrics.register(&mut registry);
    kiln_cloud::metrics::register(&mut registry);
    app.service.config().metrics.register(&mut registry);
    let registry = Arc::new(registry);
    let text = move || {
        let mut text = String::new();
        // Writing to a string does not fail.
        _ = encode(&mut text, &registry);
        async move { ([(CONTENT_TYPE, OPEN_METRICS)], text) }
    };
    Router::new().route("/metrics", axum::routing::get(text))
}

/// The native API.
pub(crate) fn native(app: Arc<App>) -> Router {
    Router::new().fallback(move |request| kiln_api::answer(app.clone(), request))
}

/// The CloudFormation API behind this scheme.
pub(crate) fn cfn(app: Arc<App>, scheme: &'static str) -> Router {
    let router =
        Router::new().fallback(move |request: Request| kiln_api::cfn::answer(app.clone(), request));
    router.layer(Extension(Scheme(scheme)))
}

/// The CloudWatch API behind this scheme.
pub(crate) fn cloudwatch(app: Arc<App>, scheme: &'static str) -> Router {
    let router = Router::new()
        .fallback(move |request: Request| kiln_api::cloudwatch::answer(app.clone(), request));
    router.layer(Extension(Scheme(scheme)))
}

/// The signals that stop the process, SIGINT and SIGTERM, and the one that asks it to read its files again, SIGHUP.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    pub(crate) fn new() -> Result<StopSignals, CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::usage(format!("cannot listen for signals: {error}"))
        };
        Ok(StopSignals {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            hang_up: signal(SignalKind::hangup()).map_err(failed)?,
        })
    }

    /// Waits for a signal to stop.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for a signal to stop; calls `reload` at every signal to read the files again.
    pub(crate) async fn asked_or(&mut self, reload: impl Fn()) {
        loop {
            tokio::select! {
                biased;
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hang_up.recv() => reload(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The crates that register metrics.
    const CRATES: [&str; 3] = ["api", "cloud", "engine"];

    fn read(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap()
    }

    /// The names under which a crate registers its metrics. A registry leaves out counters with labels that have not
    /// counted yet, so the names are those in the code.
    fn registered(name: &str) -> Vec<String> {
        let code = read(&format!("crates/{name}/src/metrics.rs"));
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        let literals = code.split('"').skip(1).step_by(2);
        let is_name = |it: &&str| {
            it.strip_prefix("kiln_")
                .is_some_and(|it| it.chars().all(|it| it.is_ascii_lowercase() || it == '_'))
        };
        literals.filter(is_name).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_for_operators_has_a_row_for_every_metric() {
        let registered: BTreeSet<String> = CRATES.into_iter().flat_map(registered).collect();
        let page = read("docs/operating.md");
        let documented: BTreeSet<String> = page
            .lines()
            .filter(|line| line.split('|').count() == 6)
            .filter_map(|line| line.strip_prefix("| `kiln_")?.split_once('`'))
            .map(|(name, _)| format!("kiln_{name}"))
            .collect();
        assert!(registered.len() > 20, "{registered:?}");
        assert_eq!(documented, registered);
    }
}
