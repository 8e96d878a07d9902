//! The engine's recurring work: claiming trees, delivering commands, renewing leases, pruning.

use super::{Engine, Message, OwnedTree, now};
use crate::ids::StackId;
use crate::store::{Lease, StoreError};
use crate::time::Time;
use crate::wakeup::Wakeup;
use std::collections::HashMap;

/// How many rows are pruned at once.
const PRUNE_ROWS: u64 = 1000;
/// How many deleted trees are purged at once.
const PURGE_TREES: u64 = 20;

impl Engine {
    /// Claims trees that have work and no owner, again and again.
    pub(super) async fn scan_for_work(self) {
        let mut is_alone = self.inner.settings.is_alone;
        let mut listener = self.inner.config.wakeups.listen();
        loop {
            let claimed = match self.leaves_trees_to_others() {
                true => Ok(true),
                false => self.claim_trees(is_alone).await,
            };
            match claimed {
                Ok(is_complete) => {
                    is_alone = false;
                    if !is_complete {
                        continue;
                    }
                }
                Err(error) => tracing::warn!(%error, "could not claim trees: retrying"),
            }
            self.deliver_waiting_commands().await;
            self.inner.scans.send_modify(|count| *count += 1);
            let is_work = |wakeup| matches!(wakeup, Wakeup::Work(_) | Wakeup::Anything);
            listener.wait_for(is_work, self.inner.settings.scan_interval).await;
        }
    }

    /// Claims trees once; returns whether there are no more. An engine that is alone may take every lease,
    /// expired or not.
    async fn claim_trees(&self, is_alone: bool) -> Result<bool, StoreError> {
        let until = now() + self.inner.settings.lease_duration;
        let (expired_at, limit) = if is_alone {
            (Time::NEVER, i32::MAX as usize)
        } else {
            (now(), self.inner.settings.claim_limit)
        };
        let leases = self.inner.store.claim(self.inner.id, expired_at, until, limit).await?;
        let is_complete = leases.len() < limit;
        for lease in leases {
            if let Err(error) = self.load_tree(lease).await {
                // The lease expires, and an engine that can read the tree claims it.
                self.metrics().trees_unreadable.inc();
                tracing::warn!(root = %lease.root, %error, "could not load a tree");
            }
        }
        Ok(is_complete)
    }

    /// Delivers the commands for trees of this engine that were submitted through other processes.
    async fn deliver_waiting_commands(&self) {
        match self.inner.store.commands_for(self.inner.id).await {
            Ok(waiting) => {
                for row in waiting {
                    if !self.deliver_row(&row) {
                        self.try_parked_again(&row).await;
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "could not read the waiting commands: retrying"),
        }
    }

    /// Prunes old events, samples and history, and purges stacks that were deleted long ago.
    pub(super) async fn housekeeping(self) {
        loop {
            let pause = tokio::time::sleep(self.inner.settings.housekeeping_interval);
            tokio::select! {
                () = pause => {}
                () = self.inner.new_events.are_many.notified() => {}
            }
            if let Err(error) = self.prune().await {
                tracing::warn!(%error, "could not prune old records: retrying");
            }
        }
    }

    async fn prune(&self) -> Result<(), StoreError> {
        let (store, config) = (&self.inner.store, &self.inner.config);
        if let Some(keep) = config.max_events {
            while store.prune_events(keep, PRUNE_ROWS).await? == PRUNE_ROWS {}
        }
        let max_bytes = config.max_event_bytes;
        while store.prune_event_bytes(max_bytes, PRUNE_ROWS).await? == PRUNE_ROWS {}
        if let Some(age) = config.deleted_stack_retention {
            while store.purge(now() - age, None, PURGE_TREES).await? == PURGE_TREES {}
        }
        let samples = now() - config.metric_retention;
        let history = now() - config.alarm_history_retention;
        while store.prune_metrics(samples, history, PRUNE_ROWS).await? == PRUNE_ROWS {}
        Ok(())
    }

    /// Renews the leases of this engine, and gives up the trees whose lease was lost.
    pub(super) async fn renew_leases(self) {
        loop {
            tokio::time::sleep(self.inner.settings.lease_duration / 3).await;
            // A tree that is claimed from now on has a lease that is long enough.
            let owned = |(root, owned): (&StackId, &OwnedTree)| {
                (*root, owned.lease.clone(), owned.inbox.clone())
            };
            let owned: Vec<_> = self.trees().iter().map(owned).collect();
            let until = now() + self.inner.settings.lease_duration;
            let leases = match self.inner.store.renew(self.inner.id, until).await {
                Ok(leases) => leases,
                Err(error) => {
                    tracing::warn!(%error, "could not renew the leases: retrying");
                    continue;
                }
            };
            self.metrics().leases_held.set(i64::try_from(leases.len()).unwrap_or(i64::MAX));
            let leases: HashMap<StackId, Lease> =
                leases.into_iter().map(|lease| (lease.root, lease)).collect();
            for (root, lease, inbox) in owned {
                if lease.renew(leases.get(&root)) {
                    continue;
                }
                // A task that is releasing its tree has no lease either, and no inbox.
                if inbox.send(Message::Release).is_ok() {
                    self.metrics().leases_lost.inc();
                    tracing::warn!(%root, "the lease of a tree was lost: another engine may own it");
                }
            }
        }
    }
}
