//! Wake-ups: processes on one store tell each other at once that there is something for them in it.
//!
//! The store is the truth. A wake-up only saves the time until the next poll of the store, so it may be lost or come twice.
//! A carrier (the database or a message broker) takes the wake-ups of this process to the others, and brings theirs.

use crate::ids::StackId;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use uuid::Uuid;

/// How many wake-ups wait at most for a listener, or for the carrier; further ones are lost.
const MAX_WAITING: usize = 4096;

/// How many wake-ups go into one message at most: PostgreSQL takes 8,000 bytes.
const MAX_PER_MESSAGE: usize = 150;

/// What a process tells the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wakeup {
    /// A command to a tree, or a new tree, waits for an engine.
    Work(StackId),
    /// Something about a tree was stored.
    Change(StackId),
    /// Wake-ups may have been lost: anything may have happened.
    Anything,
}

/// The channel on which a process sends and receives wake-ups. Clones are the same channel.
#[derive(Clone, Debug)]
pub struct WakeupChannel {
    listeners: broadcast::Sender<Wakeup>,
    carrier: Option<mpsc::Sender<Wakeup>>,
}

impl Default for WakeupChannel {
    /// A channel within this process alone.
    fn default() -> WakeupChannel {
        WakeupChannel { listeners: broadcast::Sender::new(MAX_WAITING), carrier: None }
    }
}

impl WakeupChannel {
    /// A channel that a carrier connects with those of other processes, and the carrier's end of it.
    pub fn with_carrier() -> (WakeupChannel, CarriedWakeups) {
        let (carrier, outgoing) = mpsc::channel(MAX_WAITING);
        let channel = WakeupChannel { carrier: Some(carrier), ..WakeupChannel::default() };
        let listeners = channel.listeners.clone();
        (
            channel,
            CarriedWakeups {
                process: crate::ids::Ids::next(&mut crate::SystemIds::default()),
                outgoing,
                listeners,
            },
        )
    }

    /// Sends a wake-up to all listeners, in this process and in others.
    pub fn send(&self, wakeup: Wakeup) {
        // There may be no listener; and a carrier that cannot keep up loses wake-ups, which costs time alone.
        _ = self.listeners.send(wakeup);
        if let Some(carrier) = &self.carrier {
            _ = carrier.try_send(wakeup);
        }
    }

    /// A listener that receives all wake-ups from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.listeners.subscribe())
    }
}

/// A receiver of wake-ups.
pub struct Listener(broadcast::Receiver<Wakeup>);

impl Listener {
    /// Waits for the next wake-up.
    pub async fn recv(&mut self) -> Wakeup {
        match self.0.recv().await {
            Ok(wakeup) => wakeup,
            Err(broadcast::error::RecvError::Lagged(_)) => Wakeup::Anything,
            // The channel is gone, so no wake-up will come. The caller has a time limit, and polls the store then.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Waits until one of these wake-ups has come, or a time has passed. All that came before count as one.
    pub async fn wait_for(&mut self, is_wanted: impl Fn(Wakeup) -> bool, timeout: Duration) {
        let wanted = async { while !is_wanted(self.recv().await) {} };
        // The time is over, or there was a wake-up: the caller looks at the store in both cases.
        _ = tokio::time::timeout(timeout, wanted).await;
        while let Ok(_) | Err(broadcast::error::TryRecvError::Lagged(_)) = self.0.try_recv() {}
    }
}

/// The end of a process's channel that its carrier holds.
pub struct CarriedWakeups {
    /// The process, which does not need its own messages.
    process: Uuid,
    outgoing: mpsc::Receiver<Wakeup>,
    listeners: broadcast::Sender<Wakeup>,
}

impl CarriedWakeups {
    /// The next message for the other processes: all wake-ups that wait, each once. `None` if the channel is gone.
    pub async fn outgoing(&mut self) -> Option<String> {
        let mut waiting = Vec::new();
        self.outgoing.recv_many(&mut waiting, MAX_PER_MESSAGE).await;
        let wakeups: BTreeSet<Wakeup> = waiting.into_iter().collect();
        if wakeups.is_empty() {
            return None;
        }
        let words = wakeups.iter().map(|wakeup| match wakeup {
            Wakeup::Work(root) => format!(" w{}", root.0.simple()),
            Wakeup::Change(root) => format!(" c{}", root.0.simple()),
            Wakeup::Anything => " *".to_owned(),
        });
        Some(format!("{}{}", self.process.simple(), words.collect::<String>()))
    }

    /// Delivers a message of some process to the listeners of this one.
    pub fn incoming(&self, message: &str) {
        let mut words = message.split(' ');
        if words.next().and_then(|process| Uuid::try_parse(process).ok()) == Some(self.process) {
            return;
        }
        for word in words {
            // A word of a later version may mean anything.
            self.deliver(parse(word).unwrap_or(Wakeup::Anything));
        }
    }

    /// Messages may have been lost.
    pub fn missed(&self) {
        self.deliver(Wakeup::Anything);
    }

    fn deliver(&self, wakeup: Wakeup) {
        _ = self.listeners.send(wakeup);
    }
}

fn parse(word: &str) -> Option<Wakeup> {
    let root = |id| Uuid::try_parse(id).ok().map(StackId);
    match (word.get(..1)?, word.get(1..)?) {
        ("w", id) => root(id).map(Wakeup::Work),
        ("c", id) => root(id).map(Wakeup::Change),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(id: u128) -> StackId {
        StackId(Uuid::from_u128(id))
    }

    #[tokio::test]
    async fn a_message_brings_each_wakeup_once_to_all_but_its_sender() {
        let (wakeups, mut carried) = WakeupChannel::with_carrier();
        let (other, other_carried) = WakeupChannel::with_carrier();
        let (mut here, mut there) = (wakeups.listen(), other.listen());
        for wakeup in [Wakeup::Work(stack(1)), Wakeup::Change(stack(2)), Wakeup::Work(stack(1))] {
            wakeups.send(wakeup);
        }
        let message = carried.outgoing().await.unwrap();
        other_carried.incoming(&message);
        carried.incoming(&message);
        assert_eq!(there.recv().await, Wakeup::Work(stack(1)));
        assert_eq!(there.recv().await, Wakeup::Change(stack(2)));
        assert!(there.0.is_empty());
        // In its own process every wake-up comes at once.
        for _ in 0..3 {
            here.recv().await;
        }
        assert!(here.0.is_empty());
    }

    #[tokio::test]
    async fn what_is_not_understood_or_was_missed_means_anything() {
        let (wakeups, carried) = WakeupChannel::with_carrier();
        let mut listener = wakeups.listen();
        for message in ["", "someone", "someone new-word", "someone w123", "someone \u{1f514}"] {
            carried.incoming(message);
        }
        carried.missed();
        for _ in 0..4 {
            assert_eq!(listener.recv().await, Wakeup::Anything);
        }
        assert!(listener.0.is_empty());
    }

    #[tokio::test]
    async fn a_full_message_is_short_enough_for_postgresql() {
        let (wakeups, mut carried) = WakeupChannel::with_carrier();
        (0..1000).for_each(|id| wakeups.send(Wakeup::Change(stack(id))));
        let message = carried.outgoing().await.unwrap();
        assert!(message.len() < 8000, "{}", message.len());
    }
}
