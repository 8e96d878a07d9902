//! Where notices wait to be sent. It is bounded: if it is full, the oldest go.

use kiln_engine::notification::Notification;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use uuid::Uuid;

/// A notice, and the id under which it is sent.
pub(crate) type Named = (Uuid, Notification);

/// Notices that wait to be sent.
#[derive(Debug)]
pub(crate) struct Queue {
    room: usize,
    waiting: Mutex<Waiting>,
    /// Rings when something came, or when nothing will any more.
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    notices: VecDeque<Named>,
    /// How many were dropped and not told of.
    dropped: u64,
    is_closed: bool,
}

impl Queue {
    pub(crate) fn new(room: usize) -> Queue {
        Queue { room: room.max(1), waiting: Mutex::default(), bell: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next ones, and takes up to so many; nothing if none will come any more.
    pub(crate) async fn take(&self, most: usize) -> Option<Vec<Named>> {
        loop {
            {
                let mut waiting = self.lock();
                let count = most.min(waiting.notices.len());
                if count > 0 {
                    return Some(waiting.notices.drain(..count).collect());
                }
                if waiting.is_closed {
                    return None;
                }
            }
            self.bell.notified().await;
        }
    }

    /// Takes it that no more will come.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.bell.notify_one();
    }

    /// Takes it that something could not be sent.
    pub(crate) fn drop_some(&self, count: usize) {
        self.lock().dropped += count as u64;
    }

    /// How many were dropped since it was asked last.
    pub(crate) fn take_dropped(&self) -> u64 {
        std::mem::take(&mut self.lock().dropped)
    }

    /// Has notices wait, in their order.
    pub(crate) fn put(&self, notices: Vec<Named>) {
        {
            let mut waiting = self.lock();
            waiting.notices.extend(notices);
            let excess = waiting.notices.len().saturating_sub(self.room);
            waiting.notices.drain(..excess);
            waiting.dropped += excess as u64;
        }
        self.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_engine::ids::StackId;
    use kiln_engine::state::{Action, State, Status};
    use kiln_engine::time::Time;
    use std::sync::Arc;

    fn notice(name: &str) -> Named {
        let notice = Notification {
            time: Time::default(),
            project: "p".into(),
            author: Arc::default(),
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

    fn names(notices: Option<Vec<Named>>) -> Vec<String> {
        notices.into_iter().flatten().map(|(_, it)| it.name.to_string()).collect()
    }

    #[tokio::test]
    async fn the_oldest_go_when_it_is_full_and_are_counted() {
        let queue = Queue::new(3);
        queue.put(["a", "b"].map(notice).to_vec());
        queue.put(["c", "d", "e"].map(notice).to_vec());
        assert_eq!((queue.take_dropped(), queue.take_dropped()), (2, 0));
        assert_eq!(names(queue.take(2).await), ["c", "d"]);
        queue.drop_some(2);
        assert_eq!(queue.take_dropped(), 2);
        queue.close();
        assert_eq!(names(queue.take(2).await), ["e"]);
        assert_eq!(queue.take(2).await, None);
    }

    #[tokio::test]
    async fn whoever_waits_hears_of_the_next() {
        let queue = Arc::new(Queue::new(3));
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take(5).await }
        });
        tokio::task::yield_now().await;
        queue.put(vec![notice("a")]);
        assert_eq!(names(waiting.await.unwrap()), ["a"]);
    }
}
