//! How many calls to a service may be under way at once.
//!
//! Whoever asks for themselves waits for a place among as many as are allowed. What is asked once for many has a few
//! places beside those: everybody waits for it, so it must not stand in line behind a hundred who each want something else.

use super::lock;
use crate::Service;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// For whom a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum For {
    /// For one who wants it.
    One,
    /// For all who want the same.
    Many,
}

/// The places of all services.
pub(super) struct Budgets {
    calls: usize,
    places: Mutex<HashMap<(Service, For), Arc<Semaphore>>>,
}

impl Budgets {
    /// So many calls to each service, and a tenth as many for what is asked once for many.
    pub(super) fn new(calls: usize) -> Budgets {
        Budgets { calls: calls.clamp(1, Semaphore::MAX_PERMITS), places: Mutex::default() }
    }

    /// A place for a call, as long as it is kept; nothing if there are no bounds any more.
    pub(super) async fn place(&self, service: Service, whom: For) -> Option<OwnedSemaphorePermit> {
        let count = match whom {
            For::One => self.calls,
            For::Many => self.calls.div_ceil(10),
        };
        let places = lock(&self.places)
            .entry((service, whom))
            .or_insert_with(|| Arc::new(Semaphore::new(count)))
            .clone();
        places.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A place, if there is one right now.
    fn now(budgets: &Budgets, service: Service, whom: For) -> Option<OwnedSemaphorePermit> {
        match pin!(budgets.place(service, whom)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => place,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_full_service_still_answers_what_many_wait_for() {
        let budgets = Budgets::new(2);
        let _taken = [(); 2].map(|()| now(&budgets, Service::Network, For::One).unwrap());
        assert!(now(&budgets, Service::Network, For::One).is_none());
        assert!(now(&budgets, Service::Network, For::Many).is_some());
        assert!(now(&budgets, Service::Compute, For::One).is_some());
    }

    #[test]
    fn a_place_is_free_again_when_its_call_is_over() {
        let budgets = Budgets::new(1);
        let first = now(&budgets, Service::Image, For::Many).unwrap();
        assert!(now(&budgets, Service::Image, For::Many).is_none());
        drop(first);
        assert!(now(&budgets, Service::Image, For::Many).is_some());
    }
}
