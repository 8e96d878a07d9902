//! How many calls to a service may be under way at once.
//!
//! Whoever asks for themselves waits for a place among as many as are allowed. What is asked once for many has a few
//! places beside those: everybody waits for it, so it must not stand in line behind a hundred who each want something else.

use crate::Service;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many calls to one service may be under way, unless somebody says otherwise.
pub const CALLS: usize = 100;

/// For whom a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum For {
    /// For one who wants it.
    One,
    /// For all who want the same.
    Many,
}

/// The places of all services; clones share them.
#[derive(Clone, Debug)]
pub struct Budgets {
    calls: usize,
    places: Arc<Mutex<Places>>,
}

/// How many may still come in, by service.
type Places = HashMap<(Service, For), Arc<Semaphore>>;

/// A place among the calls to a service; it is free again when this is dropped.
pub type Place = OwnedSemaphorePermit;

impl Budgets {
    /// So many calls to each service, and a tenth as many for what is asked once for many.
    pub fn new(calls: usize) -> Budgets {
        Budgets { calls: calls.clamp(1, Semaphore::MAX_PERMITS), places: Arc::default() }
    }

    /// A place for a call, as long as it is kept; nothing if there are no bounds any more.
    pub async fn place(&self, service: Service, whom: For) -> Option<Place> {
        let count = match whom {
            For::One => self.calls,
            For::Many => self.calls.div_ceil(10),
        };
        let places = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            let free = || Arc::new(Semaphore::new(count));
            places.entry((service, whom)).or_insert_with(free).clone()
        };
        places.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A place, if there is one right now.
    fn now(budgets: &Budgets, service: Service, whom: For) -> Option<Place> {
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
