//! The bell: processes on one store tell each other at once that there is something for them in it.
//!
//! The store is the truth. A ring only saves the time until the next poll of the store, so it may be lost or come twice.
//! A carrier (the database or a message broker) takes the rings of this process to the others, and brings theirs.

use crate::ids::StackId;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use uuid::Uuid;

/// How many rings wait at most for a listener, or for the carrier; further ones are lost.
const MAX_WAITING: usize = 4096;

/// How many rings go into one message at most: PostgreSQL takes 8,000 bytes.
const MAX_RINGS: usize = 150;

/// What a process tells the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ring {
    /// A command to a tree, or a new tree, waits for an engine.
    Work(StackId),
    /// Something about a tree was stored.
    Change(StackId),
    /// Rings may have been lost: anything may have happened.
    Anything,
}

/// The bell of a process. Clones are the same bell.
#[derive(Clone, Debug)]
pub struct Bell {
    heard: broadcast::Sender<Ring>,
    carrier: Option<mpsc::Sender<Ring>>,
}

impl Default for Bell {
    /// A bell that nobody hears outside of this process.
    fn default() -> Bell {
        Bell { heard: broadcast::Sender::new(MAX_WAITING), carrier: None }
    }
}

impl Bell {
    /// A bell that a carrier connects with those of other processes, and what the carrier needs.
    pub fn with_carrier() -> (Bell, CarriedBell) {
        let (carrier, outgoing) = mpsc::channel(MAX_WAITING);
        let bell = Bell { carrier: Some(carrier), ..Bell::default() };
        let heard = bell.heard.clone();
        (
            bell,
            CarriedBell {
                process: crate::ids::Ids::next(&mut crate::SystemIds::default()),
                outgoing,
                heard,
            },
        )
    }

    /// Tells everybody, in this process and in others.
    pub fn ring(&self, ring: Ring) {
        // Nobody may be listening; and a carrier that cannot keep up loses rings, which costs time alone.
        _ = self.heard.send(ring);
        if let Some(carrier) = &self.carrier {
            _ = carrier.try_send(ring);
        }
    }

    /// Hears all rings from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.heard.subscribe())
    }
}

/// Somebody who hears the bell.
pub struct Listener(broadcast::Receiver<Ring>);

impl Listener {
    /// The next ring.
    pub async fn heard(&mut self) -> Ring {
        match self.0.recv().await {
            Ok(ring) => ring,
            Err(broadcast::error::RecvError::Lagged(_)) => Ring::Anything,
            // Without a bell there is nothing to hear: whoever waits polls as well.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Waits until one of these rings is heard, or a time has passed; earlier rings of that kind count once.
    pub async fn wait_for(&mut self, is_wanted: impl Fn(Ring) -> bool, timeout: Duration) {
        let wanted = async { while !is_wanted(self.heard().await) {} };
        // The time is over, or there was a ring: the caller looks at the store in both cases.
        _ = tokio::time::timeout(timeout, wanted).await;
        while let Ok(_) | Err(broadcast::error::TryRecvError::Lagged(_)) = self.0.try_recv() {}
    }
}

/// A process's bell as its carrier sees it.
pub struct CarriedBell {
    /// The process, whose own messages it does not have to hear.
    process: Uuid,
    outgoing: mpsc::Receiver<Ring>,
    heard: broadcast::Sender<Ring>,
}

impl CarriedBell {
    /// The next message for the other processes: all rings that wait, each once. `None` if the bell is gone.
    pub async fn outgoing(&mut self) -> Option<String> {
        let mut rings = Vec::new();
        self.outgoing.recv_many(&mut rings, MAX_RINGS).await;
        let rings: BTreeSet<Ring> = rings.into_iter().collect();
        if rings.is_empty() {
            return None;
        }
        let rings = rings.iter().map(|ring| match ring {
            Ring::Work(root) => format!(" w{}", root.0.simple()),
            Ring::Change(root) => format!(" c{}", root.0.simple()),
            Ring::Anything => " *".to_owned(),
        });
        Some(format!("{}{}", self.process.simple(), rings.collect::<String>()))
    }

    /// A message of some process has come.
    pub fn incoming(&self, message: &str) {
        let mut words = message.split(' ');
        if words.next().and_then(|process| Uuid::try_parse(process).ok()) == Some(self.process) {
            return;
        }
        for word in words {
            // A word of a later version means: look for yourself.
            self.hear(ring(word).unwrap_or(Ring::Anything));
        }
    }

    /// Messages may have been lost.
    pub fn missed(&self) {
        self.hear(Ring::Anything);
    }

    fn hear(&self, ring: Ring) {
        _ = self.heard.send(ring);
    }
}

fn ring(word: &str) -> Option<Ring> {
    let root = |id| Uuid::try_parse(id).ok().map(StackId);
    match (word.get(..1)?, word.get(1..)?) {
        ("w", id) => root(id).map(Ring::Work),
        ("c", id) => root(id).map(Ring::Change),
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
    async fn a_message_brings_each_ring_once_to_all_but_its_sender() {
        let (bell, mut carried) = Bell::with_carrier();
        let (other, other_carried) = Bell::with_carrier();
        let (mut here, mut there) = (bell.listen(), other.listen());
        for ring in [Ring::Work(stack(1)), Ring::Change(stack(2)), Ring::Work(stack(1))] {
            bell.ring(ring);
        }
        let message = carried.outgoing().await.unwrap();
        other_carried.incoming(&message);
        carried.incoming(&message);
        assert_eq!(there.heard().await, Ring::Work(stack(1)));
        assert_eq!(there.heard().await, Ring::Change(stack(2)));
        assert!(there.0.is_empty());
        // In its own process every ring is heard at once.
        for _ in 0..3 {
            here.heard().await;
        }
        assert!(here.0.is_empty());
    }

    #[tokio::test]
    async fn what_is_not_understood_or_was_missed_means_anything() {
        let (bell, carried) = Bell::with_carrier();
        let mut listener = bell.listen();
        for message in ["", "someone", "someone new-word", "someone w123", "someone \u{1f514}"] {
            carried.incoming(message);
        }
        carried.missed();
        for _ in 0..4 {
            assert_eq!(listener.heard().await, Ring::Anything);
        }
        assert!(listener.0.is_empty());
    }

    #[tokio::test]
    async fn a_full_message_is_short_enough_for_postgresql() {
        let (bell, mut carried) = Bell::with_carrier();
        (0..1000).for_each(|id| bell.ring(Ring::Change(stack(id))));
        let message = carried.outgoing().await.unwrap();
        assert!(message.len() < 8000, "{}", message.len());
    }
}
