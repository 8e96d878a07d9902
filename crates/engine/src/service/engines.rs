//! The engines that carry out what is wanted, as far as they have reported of themselves.

use super::{RequestError, Service};
use crate::codec;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::runtime::now;
use crate::time::Time;
use kiln_template::Value;
use std::sync::Arc;
use std::time::Duration;

/// How often an engine tells of itself.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// An engine.
#[derive(Clone, Debug)]
pub struct EngineView {
    /// Its id.
    pub id: String,
    /// The machine that it runs on.
    pub host: Arc<str>,
    /// When it started.
    pub started: Time,
    /// When it last reported of itself.
    pub reported: Time,
    /// Whether it is still there, as far as can be reported.
    pub is_up: bool,
}

impl Service {
    /// Tells of the engine in this process, now and from now on; never ends.
    pub async fn report_engine(self, host: Arc<str>) {
        let Some(engine) = &self.engine else { return };
        let (id, started) = (engine.id(), now());
        loop {
            let row = ObjectRow {
                id: id.0,
                kind: ObjectKind::Engine,
                project: "".into(),
                subject: host.clone(),
                uses: None,
                created: started,
                updated: Some(now()),
                body: codec::encode(&Value::Null),
            };
            if let Err(error) = self.store.put_object(row).await {
                tracing::warn!(%error, "the engine cannot tell of itself");
            }
            self.remove_stale_engines().await;
            tokio::time::sleep(REPORT_INTERVAL).await;
        }
    }

    /// Those that have not reported of themselves for a day are forgotten.
    async fn remove_stale_engines(&self) {
        let Ok(rows) = self.store.objects(&ObjectQuery::new(ObjectKind::Engine)).await else {
            return;
        };
        let old = now() - Duration::from_secs(86_400);
        for row in rows.iter().filter(|row| row.updated.is_none_or(|reported| reported < old)) {
            _ = self.store.drop_object(ObjectKind::Engine, row.id).await;
        }
    }

    /// Forgets the engine in this process: it stops.
    pub async fn remove_engine(&self) {
        if let Some(engine) = &self.engine {
            _ = self.store.drop_object(ObjectKind::Engine, engine.id().0).await;
        }
    }

    /// The engines.
    pub async fn engines(&self) -> Result<Vec<EngineView>, RequestError> {
        let rows = self.store.objects(&ObjectQuery::new(ObjectKind::Engine)).await?;
        let recent = now() - 2 * REPORT_INTERVAL;
        Ok(rows
            .into_iter()
            .map(|row| {
                let reported = row.updated.unwrap_or(row.created);
                EngineView {
                    id: row.id.to_string(),
                    host: row.subject,
                    started: row.created,
                    reported,
                    is_up: reported >= recent,
                }
            })
            .collect())
    }
}
