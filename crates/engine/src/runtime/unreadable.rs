//! Trees and commands that this engine cannot read.
//!
//! A tree is shown as failed, with an event that says what to do, and is tried again after a pause that doubles. A tree
//! that a newer version wrote is left to the engines of that version first. The other trees are not affected.

use super::task::spawn;
use super::{Engine, SystemIds, now};
use crate::ids::{EventId, Ids, StackId};
use crate::record::{is_parked, parking_batch};
use crate::store::{Lease, StoreError};
use std::time::Duration;

/// The pause after the first attempt; each one is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

impl Engine {
    /// Deals with a tree that could not be read although its lease is ours.
    pub(super) async fn park(&self, lease: Lease, error: &StoreError) {
        if !matches!(error, StoreError::Damaged { .. } | StoreError::Newer { .. }) {
            return;
        }
        let attempts = self.count_attempt(lease.root);
        let pause = FIRST_PAUSE.saturating_mul(1 << (attempts - 1).min(16)).min(LONGEST_PAUSE);
        tracing::error!(stack = %lease.root, %error, attempts, ?pause, "a stack cannot be read");
        // An engine of a newer version may take the tree when this engine has released it.
        let is_shown = attempts > 1 || matches!(error, StoreError::Damaged { .. });
        if is_shown && let Err(failed) = self.show_as_failed(lease, error).await {
            tracing::error!(stack = %lease.root, error = %failed, "a stack is not shown as failed");
        }
        let engine = self.clone();
        spawn("release an unreadable tree", async move {
            tokio::time::sleep(pause).await;
            if let Err(error) = engine.inner.store.release(lease).await {
                tracing::warn!(stack = %lease.root, %error, "a lease is left to run out");
            }
        });
    }

    fn count_attempt(&self, root: StackId) -> u32 {
        let mut unreadable =
            self.inner.unreadable.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let attempts = unreadable.entry(root).or_default();
        *attempts += 1;
        *attempts
    }

    async fn show_as_failed(&self, lease: Lease, error: &StoreError) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let Some(rows) = store.load_stacks(lease.root).await? else { return Ok(()) };
        let Some(root) = rows.stacks.first().filter(|root| !is_parked(root)) else { return Ok(()) };
        let id = EventId(SystemIds::default().next());
        let batch = parking_batch(root, rows.last_event, lease, error, (id, now()));
        store.commit(&[batch]).await.map(drop)
    }
}
