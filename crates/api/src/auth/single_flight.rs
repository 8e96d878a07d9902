//! Concurrent callers that need the same result share one computation. If the caller that computes it is cancelled, the
//! next one computes it.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The computations in progress.
pub(super) struct SingleFlight<K, V> {
    open: Mutex<HashMap<K, Gate<V>>>,
}

/// Locked during the computation; holds the result afterwards.
type Gate<V> = Arc<tokio::sync::Mutex<Option<V>>>;

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> SingleFlight<K, V> {
        SingleFlight { open: Mutex::default() }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> SingleFlight<K, V> {
    /// The result of the work, or of the same work of an earlier caller.
    pub(super) async fn join(&self, key: K, work: impl Future<Output = V>) -> V {
        let gate = self.open().entry(key.clone()).or_default().clone();
        let seat = Seat { in_flight: self, key, gate };
        let mut result = seat.gate.lock().await;
        if let Some(result) = &*result {
            return result.clone();
        }
        let found = work.await;
        *result = Some(found.clone());
        seat.land();
        found
    }

    fn open(&self) -> MutexGuard<'_, HashMap<K, Gate<V>>> {
        self.open.lock()
    }
}

/// A caller's share in a flight. Each holds its gate once, so that the last one can be told.
struct Seat<'a, K: Hash + Eq, V> {
    in_flight: &'a SingleFlight<K, V>,
    key: K,
    gate: Gate<V>,
}

impl<K: Hash + Eq + Clone, V: Clone> Seat<'_, K, V> {
    /// Ends the flight: later callers compute the result again.
    fn land(&self) {
        let mut open = self.in_flight.open();
        if open.get(&self.key).is_some_and(|listed| Arc::ptr_eq(listed, &self.gate)) {
            open.remove(&self.key);
        }
    }
}

impl<K: Hash + Eq, V> Drop for Seat<'_, K, V> {
    fn drop(&mut self) {
        let mut open = self.in_flight.open.lock();
        // The gate is released while the list is locked: of two callers that leave at once, one is the last.
        self.gate = Gate::default();
        if open.get(&self.key).is_some_and(|listed| Arc::strong_count(listed) == 1) {
            open.remove(&self.key);
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Notify;

    #[tokio::test]
    async fn many_who_ask_at_once_ask_once() {
        let in_flight = Arc::new(SingleFlight::<u8, usize>::default());
        let (computed, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let request = || {
            let (in_flight, computed, go) = (in_flight.clone(), computed.clone(), go.clone());
            tokio::spawn(async move {
                let work = async {
                    let number = computed.fetch_add(1, Ordering::SeqCst);
                    go.notified().await;
                    number
                };
                in_flight.join(1, work).await
            })
        };
        let waiting: Vec<_> = (0..10).map(|_| request()).collect();
        while in_flight.open().get(&1).is_none_or(|gate| Arc::strong_count(gate) < 11) {
            tokio::task::yield_now().await;
        }
        go.notify_one();
        for result in waiting {
            assert_eq!(result.await.unwrap(), 0);
        }
        assert!(in_flight.open().is_empty());
        // A later caller computes the result again.
        go.notify_one();
        assert_eq!(request().await.unwrap(), 1);
    }

    #[tokio::test]
    async fn if_the_first_gives_up_the_next_one_asks() {
        let in_flight = Arc::new(SingleFlight::<u8, &str>::default());
        let first = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.join(1, std::future::pending()).await }
        });
        while in_flight.open().is_empty() {
            tokio::task::yield_now().await;
        }
        let second = tokio::spawn({
            let in_flight = in_flight.clone();
            async move { in_flight.join(1, async { "second" }).await }
        });
        while in_flight.open().get(&1).is_none_or(|gate| Arc::strong_count(gate) < 3) {
            tokio::task::yield_now().await;
        }
        first.abort();
        assert_eq!(second.await.unwrap(), "second");
        assert!(first.await.is_err());
        assert!(in_flight.open().is_empty());
    }

    #[tokio::test]
    async fn nothing_is_left_of_those_who_gave_up() {
        let in_flight = SingleFlight::<u8, ()>::default();
        let given_up = tokio::time::timeout(
            std::time::Duration::ZERO,
            in_flight.join(1, std::future::pending()),
        );
        assert!(given_up.await.is_err());
        assert!(in_flight.open().is_empty());
    }
}
