//! The lease of a tree as the engine that holds it knows it: the fence in front of the cloud.
//!
//! Another engine may claim the tree as soon as the lease has expired by the store's clock. Nothing tells this engine:
//! it may have slept, or its database may be out of reach. So a call that changes something is sent only if the lease,
//! as it was last renewed, goes on for a while. Otherwise the call waits until the lease was renewed, or is lost.

use super::now;
use crate::store::Lease;
use crate::time::Time;
use async_trait::async_trait;
use kiln_cloud::Fence;
use std::time::Duration;
use tokio::sync::watch;

/// The part of a lease before its end in which no call is sent any more: for differences of clocks, and for the time
/// that it takes to send a call.
const MARGIN: u32 = 10;

/// The lease of a tree that this engine owns.
pub(crate) struct HeldLease {
    lease: Lease,
    margin: Duration,
    /// When it ends unless it is renewed; `None` if it was lost.
    end: watch::Sender<Option<Time>>,
}

impl HeldLease {
    pub(crate) fn new(lease: Lease, duration: Duration) -> HeldLease {
        let end = watch::Sender::new(Some(lease.until));
        HeldLease { lease, margin: duration / MARGIN, end }
    }

    /// The fence in the store: it grows with each owner of the tree.
    pub(crate) fn fence(&self) -> u64 {
        self.lease.fence
    }

    /// Takes over the outcome of a renewal; returns whether the lease is still held.
    pub(crate) fn renew(&self, renewed: Option<&Lease>) -> bool {
        match renewed.filter(|renewed| renewed.fence == self.lease.fence) {
            Some(renewed) => self.end.send_modify(|end| *end = end.map(|_| renewed.until)),
            None => self.lose(),
        }
        self.end.borrow().is_some()
    }

    /// The tree is no longer this engine's.
    pub(crate) fn lose(&self) {
        self.end.send_replace(None);
    }
}

#[async_trait]
impl Fence for HeldLease {
    async fn is_open(&self) -> bool {
        let mut end = self.end.subscribe();
        let decided = |end: &Option<Time>| end.is_none_or(|end| now() + self.margin < end);
        end.wait_for(decided).await.is_ok_and(|end| end.is_some())
    }
}
