//! Parked trees: nothing is done to them for now, and the others are not affected.
//!
//! A tree is parked if it cannot be read, if the store does not accept what is to be written, or if the work on it panics. It is
//! shown as failed, with an event that says what to do, and is tried again after a pause that doubles, or when a new command
//! comes. A tree that a newer version wrote is left to the engines of that version first.
//!
//! What the store does not accept may come of one command. So the tree is tried once more at once, command by command, and the
//! command at fault is taken out of the queue.

use super::driver::{Begin, RunEnd};
use super::task::spawn;
use super::{Engine, SystemIds, now};
use crate::ids::{CommandId, EventId, Ids, StackId};
use crate::machine::Command;
use crate::record::{ParkCause, is_parked, parking_batch};
use crate::store::{CommandRow, Lease, StoreError};
use crate::tree::Tree;
use parking_lot::MutexGuard;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The pause after the first attempt; each one is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// What this engine knows of a tree that could not go on.
#[derive(Default)]
pub(super) struct Troubled {
    /// How often it was parked.
    attempts: u32,
    /// Whether its commands are carried out one by one.
    is_careful: bool,
    /// The commands that lead to what the store does not accept, and why it does not.
    refused: BTreeMap<CommandId, Arc<str>>,
    /// The commands that waited when it was parked; `None` if it is not parked.
    waiting: Option<BTreeSet<CommandId>>,
}

impl Engine {
    fn troubled(&self) -> MutexGuard<'_, HashMap<StackId, Troubled>> {
        self.inner.troubled.lock()
    }

    /// What the driver of a tree begins with.
    pub(super) fn begin_with(&self, tree: Tree, commands: Vec<CommandRow>) -> Begin {
        let mut troubled = self.troubled();
        let known = troubled.get_mut(&tree.root);
        let is_careful = known.as_ref().is_some_and(|it| it.is_careful);
        let mut refusals = BTreeMap::new();
        if let Some(known) = known {
            if known.waiting.take().is_some() {
                self.metrics().trees_parked.dec();
            }
            refusals = known.refused.clone();
        }
        let (refused, commands): (Vec<_>, Vec<_>) =
            commands.into_iter().partition(|row| refusals.contains_key(&row.id));
        let refused =
            refused.iter().filter_map(|row| Some((row.id, refusals.get(&row.id)?.clone())));
        let read = |row: &CommandRow| (row.id, Command::read(row).map(Box::new), None);
        Begin {
            tree,
            commands: commands.iter().map(read).collect(),
            refused: refused.collect(),
            is_careful,
        }
    }

    /// The task of a tree has ended, by itself or in a panic (`None`).
    pub(super) async fn tree_ended(&self, lease: Lease, end: Option<RunEnd>) {
        match end {
            Some(RunEnd::Released) => {
                self.troubled().remove(&lease.root);
                self.release(lease).await;
            }
            Some(RunEnd::Refused(why, command)) => self.tree_refused(lease, why, command).await,
            None => self.park(lease, &ParkCause::Panicked).await,
        }
    }

    pub(super) async fn release(&self, lease: Lease) {
        if let Err(error) = self.inner.store.release(lease).await {
            let root = lease.root;
            tracing::warn!(%root, %error, "could not release a tree: its lease expires by itself");
        }
    }

    /// The store does not accept what a tree is to write.
    async fn tree_refused(&self, lease: Lease, why: Arc<str>, command: Option<CommandId>) {
        let root = lease.root;
        let is_tried_again = {
            let mut troubled = self.troubled();
            let known = troubled.entry(root).or_default();
            let is_new = !std::mem::replace(&mut known.is_careful, true);
            if let Some(command) = command {
                known.refused.insert(command, why.clone());
            }
            is_new || command.is_some()
        };
        if !is_tried_again {
            return self.park(lease, &ParkCause::Refused(why)).await;
        }
        match command {
            Some(command) => {
                tracing::error!(%root, %command, %why, "a command is refused: the store does not accept what it leads to");
            }
            None => {
                tracing::warn!(%root, %why, "the store does not accept what a tree is to write: its commands are tried one by one");
            }
        }
        if let Err(error) = self.claim_tree(root).await {
            tracing::warn!(%root, %error, "could not load a tree");
        }
    }

    /// A tree could not be read although its lease is ours.
    pub(super) async fn unreadable(&self, lease: Lease, error: &StoreError) {
        if let Some(cause) = ParkCause::of(error) {
            self.park(lease, &cause).await;
        }
    }

    async fn park(&self, lease: Lease, cause: &ParkCause) {
        let root = lease.root;
        let waiting = self.inner.store.commands(root).await.unwrap_or_default();
        let attempts = {
            let mut troubled = self.troubled();
            let known = troubled.entry(root).or_default();
            known.attempts += 1;
            let waiting = waiting.iter().map(|row| row.id).collect();
            if known.waiting.replace(waiting).is_none() {
                self.metrics().trees_parked.inc();
            }
            known.attempts
        };
        let pause = FIRST_PAUSE.saturating_mul(1 << (attempts - 1).min(16)).min(LONGEST_PAUSE);
        tracing::error!(%root, ?cause, attempts, ?pause, "nothing is done to a stack for now");
        // An engine of a newer version may take the tree when this engine has released it.
        let is_shown = attempts > 1 || !matches!(cause, ParkCause::Newer(_));
        if is_shown && let Err(error) = self.show_as_failed(lease, cause).await {
            tracing::error!(%root, %error, "a stack is not shown as failed");
        }
        let engine = self.clone();
        spawn("release a parked tree", async move {
            tokio::time::sleep(pause).await;
            engine.release(lease).await;
        });
    }

    async fn show_as_failed(&self, lease: Lease, cause: &ParkCause) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let Some(rows) = store.load_stacks(lease.root).await? else { return Ok(()) };
        let Some(root) = rows.stacks.first().filter(|root| !is_parked(root)) else { return Ok(()) };
        let id = EventId(SystemIds::default().next());
        let batch = parking_batch(root, rows.last_event, lease, cause, (id, now()));
        store.commit(&[batch]).await.map(drop)
    }

    /// Tries a parked tree again, if a command came after it was parked: it may be the way out, such as a delete.
    pub(super) async fn try_parked_again(&self, row: &CommandRow) {
        let is_new = self
            .troubled()
            .get(&row.root)
            .and_then(|known| known.waiting.as_ref())
            .is_some_and(|waiting| !waiting.contains(&row.id));
        if is_new && let Err(error) = self.claim_tree(row.root).await {
            tracing::warn!(root = %row.root, %error, "could not load a tree");
        }
    }
}
