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

    /// Counts notifications that could not be sent.
    pub(crate) fn count_dropped(&self, count: usize) {
        self.lock().dropped += count as u64;
    }

    /// Returns the number of notifications dropped since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Adds notifications in order.
    pub(crate) fn put(&self, notices: Vec<QueuedNotification>) {
        {
            let mut state = self.lock();
            state.notices.extend(notices);
            let excess = state.notices.len().saturating_sub(self.capacity);
            state.notices.drain(..excess);
            state.dropped += excess as u64;
        }
        self.notify.notify_one();
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]
mod tests {
    use super::*;
    use kiln_engine::{Action, StackId, State, Status, Time};
    use std::sync::Arc;

    fn notice(name: &str) -> QueuedNotification {
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
        queue.put(["a", "b"].map(notice).to_vec());
        queue.put(["c", "d", "e"].map(notice).to_vec());
        assert_eq!((queue.take_dropped(), queue.take_dropped()), (2, 0));
        assert_eq!(names(queue.take(2).await), ["c", "d"]);
        queue.count_dropped(2);
        assert_eq!(queue.take_dropped(), 2);
        queue.close();
        assert_eq!(names(queue.take(2).await), ["e"]);
        assert_eq!(queue.take(2).await, None);
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
