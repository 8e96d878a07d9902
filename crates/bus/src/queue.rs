//! The bounded queue of notifications; when it is full, the oldest are dropped.

use kiln_engine::Notification;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use tokio::sync::Notify;
use uuid::Uuid;

/// A notification, and the id under which it is sent.
pub(crate) type QueuedNotification = (Uuid, Notification);

/// The queue of notifications.
#[derive(Debug)]
pub(crate) struct Queue {
    capacity: usize,
    state: Mutex<QueueState>,
    /// Notified when a notification is added or the queue is closed.
    notify: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    notices: VecDeque<QueuedNotification>,
    /// The number of notifications that were taken and are being sent.
    taken: usize,
    /// The number of dropped notifications that have not been logged.
    dropped: u64,
    is_closed: bool,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Queue {
        Queue { capacity: capacity.max(1), state: Mutex::default(), notify: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }

    /// Waits for notifications and takes at most this many; `None` once the queue is closed and empty.
    pub(crate) async fn take(&self, most: usize) -> Option<Vec<QueuedNotification>> {
        loop {
            {
                let mut state = self.lock();
                let count = most.min(state.notices.len());
                if count > 0 {
                    state.taken = count;
                    return Some(state.notices.drain(..count).collect());
                }
                if state.is_closed {
                    return None;
                }
            }
            self.notify.notified().await;
        }
    }

    /// Closes the queue; no more notifications will be added.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.notify.notify_one();
    }

    /// Ends the sending of the notifications that were taken last; returns how many there were.
    pub(crate) fn finish(&self, is_sent: bool) -> usize {
        let mut state = self.lock();
        let taken = std::mem::take(&mut state.taken);
        if !is_sent {
            state.dropped += taken as u64;
        }
        taken
    }

    /// Empties the queue; returns how many notifications were in it or were being sent.
    pub(crate) fn take_unsent(&self) -> usize {
        let mut state = self.lock();
        let queued = std::mem::take(&mut state.notices);
        queued.len() + std::mem::take(&mut state.taken)
    }

    /// Returns the number of notifications dropped since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Adds notifications in order; returns how many were dropped for them.
    pub(crate) fn put(&self, notices: Vec<QueuedNotification>) -> usize {
        let excess = {
            let mut state = self.lock();
            state.notices.extend(notices);
            let excess = state.notices.len().saturating_sub(self.capacity);
            state.notices.drain(..excess);
            state.dropped += excess as u64;
            excess
        };
        self.notify.notify_one();
        excess
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]
pub(crate) mod tests {
    use super::*;
    use kiln_engine::{Action, StackId, State, Status, Time};
    use std::sync::Arc;

    pub(crate) fn notice(name: &str) -> QueuedNotification {
        let notice = Notification {
            time: Time::default(),
            project: "p".into(),
            created_by: Arc::default(),
            user_id: "u".into(),
            user_name: "u".into(),
            stack: StackId(Uuid::nil()),
            name: name.into(),
            state: State::new(Action::Create, Status::InProgress),
            reason: "".into(),
            created: Time::default(),
            updated: None,
            tags: Vec::new(),
            description: None,
            scaling: None,
        };
        (Uuid::nil(), notice)
    }

    fn names(notices: Option<Vec<QueuedNotification>>) -> Vec<String> {
        notices.into_iter().flatten().map(|(_, it)| it.name.to_string()).collect()
    }

    #[tokio::test]
    async fn the_oldest_go_when_it_is_full_and_are_counted() {
        let queue = Queue::new(3);
        assert_eq!(queue.put(["a", "b"].map(notice).to_vec()), 0);
        assert_eq!(queue.put(["c", "d", "e"].map(notice).to_vec()), 2);
        assert_eq!((queue.take_dropped(), queue.take_dropped()), (2, 0));
        assert_eq!(names(queue.take(2).await), ["c", "d"]);
        assert_eq!(queue.finish(false), 2);
        assert_eq!(queue.take_dropped(), 2);
        queue.close();
        assert_eq!(names(queue.take(2).await), ["e"]);
        assert_eq!(queue.finish(true), 1);
        assert_eq!(queue.take_dropped(), 0);
        assert_eq!(queue.take(2).await, None);
    }

    #[tokio::test]
    async fn the_queued_ones_and_those_that_are_being_sent_are_unsent() {
        let queue = Queue::new(3);
        queue.put(["a", "b", "c"].map(notice).to_vec());
        assert_eq!(names(queue.take(2).await), ["a", "b"]);
        assert_eq!((queue.take_unsent(), queue.take_unsent()), (3, 0));
    }

    #[tokio::test]
    async fn whoever_waits_hears_of_the_next() {
        let queue = Arc::new(Queue::new(3));
        let state = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take(5).await }
        });
        tokio::task::yield_now().await;
        queue.put(vec![notice("a")]);
        assert_eq!(names(state.await.unwrap()), ["a"]);
    }
}
