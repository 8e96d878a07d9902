//! What an operator does to a tree that no engine goes on with. The store is changed directly: no engine need run.

use crate::config::Config;
use crate::ids::{EngineId, Ids, StackId};
use crate::machine::Machine;
use crate::runtime::{SystemIds, now};
use crate::store::{Lease, Store, StoreError};
use crate::time::Time;
use crate::tree::Env;
use crate::view::read_tree;
use crate::workers::{WorkLimits, WorkPriority, Workers};
use std::sync::Arc;
use std::time::Duration;

/// How long a repair may take.
const REPAIR_TIME: Duration = Duration::from_secs(60);

/// The work that was ended in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedWork {
    /// How many operations on resources.
    pub operations: usize,
    /// How many commands that waited.
    pub commands: usize,
}

/// Reads everything of a tree, as an engine does that adopts it: an error says what cannot be read.
pub async fn check_tree(
    store: &dyn Store,
    config: &Arc<Config>,
    root: StackId,
) -> Result<(), StoreError> {
    read_tree(store, config, &own_workers(), root).await.map(drop)
}

/// Threads for a tool that serves nobody else.
fn own_workers() -> Arc<Workers> {
    Arc::new(Workers::new(WorkLimits::default(), WorkPriority::Usual))
}

/// Takes a tree from its owner and releases it, so that engines try it again at once. Returns whether there is such a tree.
pub async fn release_tree(store: &dyn Store, root: StackId) -> Result<bool, StoreError> {
    let Some(lease) = take_lease(store, root).await? else { return Ok(false) };
    store.release(lease).await?;
    Ok(true)
}

/// Takes a tree from its owner, and fails everything that is under way in it, for this reason; commands that wait are dropped.
/// `None` if there is no such tree. No object in the cloud is touched: the next action on the stack finds out what exists.
pub async fn fail_tree(
    store: &dyn Store,
    config: &Arc<Config>,
    root: StackId,
    reason: &str,
) -> Result<Option<EndedWork>, StoreError> {
    let Some(lease) = take_lease(store, root).await? else { return Ok(None) };
    let outcome = give_up(store, config, lease, reason).await;
    store.release(lease).await?;
    outcome
}

async fn give_up(
    store: &dyn Store,
    config: &Arc<Config>,
    lease: Lease,
    reason: &str,
) -> Result<Option<EndedWork>, StoreError> {
    let Some((tree, commands)) = read_tree(store, config, &own_workers(), lease.root).await? else {
        return Ok(None);
    };
    let mut ids = SystemIds::default();
    let mut machine = Machine::new(tree);
    let operations = machine.give_up(&mut Env { now: now(), ids: &mut ids }, reason);
    let mut batch = machine.tree.take_batch(lease.fence);
    batch.done.extend(commands.iter().map(|row| row.id));
    batch.has_work = false;
    match store.commit(&[batch]).await?.as_slice() {
        [true] => Ok(Some(EndedWork { operations, commands: commands.len() })),
        _ => Err(StoreError::Unavailable(
            "an engine took the stack at the same time: try again".into(),
        )),
    }
}

/// Takes the lease of a tree from its owner, if it has one.
async fn take_lease(store: &dyn Store, root: StackId) -> Result<Option<Lease>, StoreError> {
    let engine = EngineId(SystemIds::default().next());
    store.claim_tree(engine, root, Time::NEVER, now() + REPAIR_TIME).await
}
