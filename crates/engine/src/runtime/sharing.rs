//! Sharing the trees that have work fairly among the engines.
//!
//! An engine that has more than its part hands some over: trees of which no call is under way, so that nobody has to find
//! out what became of it. Afterwards it takes no more for a while, so that the others come first.

use super::{Engine, Message, now};
use crate::ids::EngineId;
use crate::objects::{ObjectKind, ObjectQuery};
use crate::service::REPORT_INTERVAL;
use crate::store::StoreError;
use crate::wakeup::Wakeup;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How many trees more than its part an engine keeps: moving a tree costs more than a few more of them.
const SLACK: u64 = 2;

/// How often an engine compares itself with the others.
const INTERVAL: Duration = Duration::from_secs(2);

/// For how many scans an engine that handed trees over leaves trees to others.
const SCANS_LEFT_TO_OTHERS: usize = 4;

impl Engine {
    /// Hands trees over to engines that have fewer, again and again.
    pub(super) async fn share_trees(self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            match self.surplus().await {
                Ok(0) => {}
                Ok(surplus) => self.hand_over(surplus),
                Err(error) => {
                    tracing::warn!(%error, "could not compare with other engines: retrying")
                }
            }
        }
    }

    /// How many trees with work this engine has beyond its part.
    async fn surplus(&self) -> Result<usize, StoreError> {
        let id = self.id();
        let store = &self.inner.store;
        let recent = now() - 2 * REPORT_INTERVAL;
        let rows = store.objects(&ObjectQuery::new(ObjectKind::Engine)).await?;
        let is_up = |row: &&crate::objects::ObjectRow| {
            row.updated.is_some_and(|reported| reported >= recent)
        };
        let mut up: BTreeSet<EngineId> =
            rows.iter().filter(is_up).map(|row| EngineId(row.id)).collect();
        up.insert(id);
        if up.len() == 1 {
            return Ok(0);
        }
        let owned = store.owned_trees().await?;
        let own = owned.iter().find(|(engine, _)| *engine == id).map_or(0, |(_, count)| *count);
        let total: u64 = owned.iter().map(|(_, count)| *count).sum();
        Ok(usize::try_from(surplus(own, total, up.len() as u64)).unwrap_or(0))
    }

    /// Asks so many trees to let go of this engine, which those do of which no call is under way.
    fn hand_over(&self, surplus: usize) {
        self.inner.scans_to_skip.store(SCANS_LEFT_TO_OTHERS, Ordering::Relaxed);
        let trees = self.trees();
        let busy = trees.values().filter(|tree| tree.status.borrow().is_busy);
        let asked = busy.take(surplus).filter(|tree| tree.inbox.send(Message::HandOver).is_ok());
        let asked = asked.count();
        drop(trees);
        tracing::info!(trees = asked, "trees are handed over to engines that have fewer");
        self.inner.config.wakeups.send(Wakeup::Anything);
    }

    /// Whether this engine leaves trees without an owner to others now.
    pub(super) fn leaves_trees_to_others(&self) -> bool {
        let skip = |left: usize| left.checked_sub(1);
        self.inner.scans_to_skip.fetch_update(Ordering::Relaxed, Ordering::Relaxed, skip).is_ok()
    }
}

/// How many trees an engine has beyond its part, if it is worth the move.
fn surplus(own: u64, total: u64, engines: u64) -> u64 {
    let part = total.div_ceil(engines.max(1));
    let surplus = own.saturating_sub(part);
    if surplus > SLACK.max(part / 4) { surplus } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::surplus;

    #[test]
    fn an_engine_keeps_its_part_and_a_little_more() {
        assert_eq!(surplus(30, 30, 1), 0);
        assert_eq!(surplus(30, 30, 2), 15);
        assert_eq!(surplus(10, 30, 3), 0);
        assert_eq!(surplus(12, 30, 3), 0, "two more are not worth the move");
        assert_eq!(surplus(120, 300, 3), 0, "nor is a quarter");
        assert_eq!(surplus(140, 300, 3), 40);
        assert_eq!(surplus(3, 3, 3), 0);
    }
}
