//! Whether a process is alive, and whether it can do its work: `/livez` and `/readyz`, for load balancers and monitors.
//!
//! `/healthcheck` is Heat's. The answers here name no address and no secret, because anybody may ask.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use kiln_engine::store::Store;
use kiln_engine::{engines, now};
use kiln_store::SqlStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// The time that the database and the identity service have to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// For how long an answer serves others who ask, too.
const MAX_AGE: Duration = Duration::from_secs(1);

/// What a process needs for its work.
pub(crate) struct Readiness {
    pub(crate) store: Arc<SqlStore>,
    /// The identity service that checks the tokens of callers, if the process serves an API and needs one.
    pub(crate) identity: Option<(reqwest::Client, String)>,
    pub(crate) last: Mutex<Option<(Instant, StatusCode, Value)>>,
}

impl Readiness {
    /// The routes of liveness and readiness.
    pub(crate) fn router(self: Arc<Readiness>) -> Router {
        let ready = move || {
            let readiness = self.clone();
            async move { readiness.answer().await }
        };
        Router::new().route("/livez", get(|| async { "alive\n" })).route("/readyz", get(ready))
    }

    async fn answer(&self) -> Response {
        // Those who ask at the same time share one examination.
        let mut last = self.last.lock().await;
        if last.as_ref().is_none_or(|(when, ..)| when.elapsed() >= MAX_AGE) {
            let (status, report) = self.examine().await;
            *last = Some((Instant::now(), status, report));
        }
        match &*last {
            Some((_, status, report)) => (*status, Json(report.clone())).into_response(),
            None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }

    /// Without its database a process can do nothing, and an API cannot check tokens without the identity service. Engines that are down and
    /// requests that wait are shown only: an API accepts requests all the same, and a load balancer would make it worse.
    async fn examine(&self) -> (StatusCode, Value) {
        let (database, identity) = tokio::join!(self.database(), self.identity());
        let is_ready = database.is_some() && identity != Some(false);
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let answers = |it: bool| if it { "ok" } else { "does not answer" };
        let (engines, lag) = database.unzip();
        let report = json!({
            "ready": is_ready,
            "database": answers(engines.is_some()),
            "identity": identity.map(answers),
            "engines_up": engines,
            "oldest_request_seconds": lag,
        });
        (status, report)
    }

    /// How many engines are up, and for how many seconds the oldest request waits for one; nothing if the database does not answer.
    async fn database(&self) -> Option<(usize, u64)> {
        let read = async {
            self.store.time().await?;
            let up = engines(&*self.store).await?.iter().filter(|engine| engine.is_up).count();
            let oldest = self.store.waiting_commands(1).await?;
            let lag = oldest.first().map_or(0, |row| now().since(row.time).as_secs());
            Ok::<_, kiln_engine::store::StoreError>((up, lag))
        };
        match timeout(TIMEOUT, read).await {
            Ok(Ok(found)) => Some(found),
            Ok(Err(error)) => {
                tracing::warn!(%error, "not ready: the database cannot be used");
                None
            }
            Err(_) => {
                tracing::warn!("not ready: the database does not answer");
                None
            }
        }
    }

    /// Whether the identity service answers; nothing if the process does not need it.
    async fn identity(&self) -> Option<bool> {
        let (client, url) = self.identity.as_ref()?;
        let sent = client.get(url).timeout(TIMEOUT).send().await;
        Some(match sent {
            Ok(reply) if reply.status().is_server_error() => {
                tracing::warn!(
                    status = reply.status().as_u16(),
                    "not ready: the identity service fails"
                );
                false
            }
            Ok(_) => true,
            Err(_) => {
                tracing::warn!("not ready: the identity service does not answer");
                false
            }
        })
    }
}
