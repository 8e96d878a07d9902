//! The engines that have reported themselves.

use super::{RequestError, Service};
use crate::ids::EngineId;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::record::Record;
use crate::record::v1::EngineBody;
use crate::runtime::now;
use crate::store::{Store, StoreError};
use crate::time::Time;
use std::sync::Arc;
use std::time::Duration;

/// How often an engine reports itself: one that died is seen to be down after two default leases.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// After how many reports an engine looks for those that have not reported themselves for long.
const REPORTS_PER_LOOK: u32 = 60;

/// An engine.
#[derive(Clone, Debug)]
pub struct EngineView {
    /// The id of the engine.
    pub id: EngineId,
    /// The host that the engine runs on.
    pub host: Arc<str>,
    /// When it started.
    pub started: Time,
    /// When the engine last reported itself.
    pub reported: Time,
    /// Whether the last report is recent.
    pub is_up: bool,
}

impl Service {
    /// Reports the engine of this process, again and again.
    pub async fn report_engine(self, host: Arc<str>) {
        let Some(engine) = &self.engine else { return };
        let (id, started) = (engine.id(), now());
        let mut reports = 0_u32;
        loop {
            let row = ObjectRow {
                id: id.0,
                kind: ObjectKind::Engine,
                project: "".into(),
                subject: host.clone(),
                uses: None,
                created: started,
                updated: Some(now()),
                body: EngineBody {}.encode(),
            };
            if let Err(error) = self.store.put_object(row).await {
                tracing::warn!(%error, "could not report the engine: retrying");
            }
            if reports.is_multiple_of(REPORTS_PER_LOOK) {
                self.remove_stale_engines().await;
            }
            reports = reports.wrapping_add(1);
            tokio::time::sleep(REPORT_INTERVAL).await;
        }
    }

    /// Removes engines that have not reported themselves for a day.
    async fn remove_stale_engines(&self) {
        let rows = match self.store.objects(&ObjectQuery::new(ObjectKind::Engine)).await {
            Ok(rows) => rows,
            Err(error) => return tracing::warn!(%error, "could not read the engines"),
        };
        let old = now() - Duration::from_secs(86_400);
        for row in rows.iter().filter(|row| row.updated.is_none_or(|reported| reported < old)) {
            self.drop_engine(row.id).await;
        }
    }

    /// Removes the engine of this process, which stops.
    pub async fn remove_engine(&self) {
        if let Some(engine) = &self.engine {
            self.drop_engine(engine.id().0).await;
        }
    }

    async fn drop_engine(&self, id: uuid::Uuid) {
        if let Err(error) = self.store.drop_object(ObjectKind::Engine, id).await {
            tracing::warn!(engine = %id, %error, "could not remove an engine from the list");
        }
    }

    /// The engines that have reported themselves.
    pub async fn engines(&self) -> Result<Vec<EngineView>, RequestError> {
        Ok(engines(&*self.store).await?)
    }
}

/// The engines that have reported themselves in a store.
pub async fn engines(store: &dyn Store) -> Result<Vec<EngineView>, StoreError> {
    let rows = store.objects(&ObjectQuery::new(ObjectKind::Engine)).await?;
    let recent = now() - 2 * REPORT_INTERVAL;
    let view = |row: ObjectRow| {
        let reported = row.updated.unwrap_or(row.created);
        EngineView {
            id: EngineId(row.id),
            host: row.subject,
            started: row.created,
            reported,
            is_up: reported >= recent,
        }
    };
    Ok(rows.into_iter().map(view).collect())
}
