//! How many calls to a service may be in flight at once.
//!
//! A call for one caller waits for one of the regular permits. A call whose reply many callers share has a few permits
//! of its own: it must not wait behind a hundred calls that serve one caller each.

use crate::metrics::Waiting;
use crate::outage::{Gate, Outages, Passage};
use crate::{CallError, HttpRequest, Reply, Service, pass_fence};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How many calls to one service may be in flight by default.
pub const DEFAULT_MAX_CALLS: usize = 100;

/// Which permits a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The regular ones: the reply is for one caller.
    Single,
    /// The reserved ones: many callers wait for the same reply.
    Shared,
}

/// The limits of all services. Clones share their permits.
#[derive(Clone, Debug)]
pub struct CallLimits {
    max_calls: usize,
    permits: Arc<Mutex<Permits>>,
    outages: Outages,
}

/// The free permits by service and lane.
type Permits = HashMap<(Service, Lane), Arc<Semaphore>>;

/// The place of one call in flight; dropping it frees it.
type Permit = OwnedSemaphorePermit;

/// The permission for one call.
#[derive(Debug)]
pub struct Admission {
    permit: Option<Permit>,
    passage: Passage,
}

impl Admission {
    /// Ends the call with its reply, which tells whether the service is down.
    pub fn end(self, reply: &Result<Reply, CallError>) {
        drop(self.permit);
        self.passage.observe(reply, Instant::now());
    }
}

impl CallLimits {
    /// Allows this many calls to each service, and a tenth as many more for shared replies.
    pub fn new(max_calls: usize) -> CallLimits {
        CallLimits {
            max_calls: max_calls.clamp(1, Semaphore::MAX_PERMITS),
            permits: Arc::default(),
            outages: Outages::default(),
        }
    }

    /// Waits until a request of a project may be sent: for a service that is down, as long as the caller has patience,
    /// for a permit, and then, if it changes something, for its fence.
    pub async fn admit(
        &self,
        request: &HttpRequest,
        lane: Lane,
        project: &Arc<str>,
        patience: Duration,
    ) -> Result<Admission, CallError> {
        let gates = Gate::both(request.service, request.region.as_ref(), project);
        let until = Instant::now() + patience;
        loop {
            self.outages.wait_until_open(&gates, until).await?;
            // Nothing that waits for a service has a permit.
            let permit = self.acquire(request.service, lane).await;
            if let Some(passage) = self.outages.pass(&gates, Instant::now()) {
                pass_fence(request).await?;
                return Ok(Admission { permit, passage });
            }
        }
    }

    /// Waits until a login for a project may be sent. It needs no permit, and changes nothing.
    pub(crate) async fn admit_login(
        &self,
        project: &Arc<str>,
        patience: Duration,
    ) -> Result<Admission, CallError> {
        let gates = Gate::both(Service::Identity, None, project);
        let until = Instant::now() + patience;
        loop {
            self.outages.wait_until_open(&gates, until).await?;
            if let Some(passage) = self.outages.pass(&gates, Instant::now()) {
                return Ok(Admission { permit: None, passage });
            }
        }
    }

    /// Waits for a permit.
    async fn acquire(&self, service: Service, lane: Lane) -> Option<Permit> {
        let count = match lane {
            Lane::Single => self.max_calls,
            Lane::Shared => self.max_calls.div_ceil(10),
        };
        let semaphore = {
            let mut permits = self.permits.lock();
            let new = || Arc::new(Semaphore::new(count));
            permits.entry((service, lane)).or_insert_with(new).clone()
        };
        if let Ok(permit) = semaphore.clone().try_acquire_owned() {
            return Some(permit);
        }
        let _waiting = Waiting::new(service);
        // The semaphores are never closed, so there is always a permit in the end.
        semaphore.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A permit, if there is one without waiting.
    fn try_acquire(limits: &CallLimits, service: Service, lane: Lane) -> Option<Permit> {
        match pin!(limits.acquire(service, lane)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => permit,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_full_service_still_answers_what_many_wait_for() {
        let limits = CallLimits::new(2);
        let _taken =
            [(); 2].map(|()| try_acquire(&limits, Service::Network, Lane::Single).unwrap());
        assert!(try_acquire(&limits, Service::Network, Lane::Single).is_none());
        assert!(try_acquire(&limits, Service::Network, Lane::Shared).is_some());
        assert!(try_acquire(&limits, Service::Compute, Lane::Single).is_some());
    }

    #[test]
    fn a_permit_is_free_again_when_its_call_is_over() {
        let limits = CallLimits::new(1);
        let first = try_acquire(&limits, Service::Image, Lane::Shared).unwrap();
        assert!(try_acquire(&limits, Service::Image, Lane::Shared).is_none());
        drop(first);
        assert!(try_acquire(&limits, Service::Image, Lane::Shared).is_some());
    }
}
