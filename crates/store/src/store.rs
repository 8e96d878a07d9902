//! The engine's trait: each method is one piece of work, done again if others were in its way.

use crate::cipher::{BodyKind, key_of};
use crate::database::SqlStore;
use crate::error::{DbError, retry_conflicts};
use async_trait::async_trait;
use kiln_engine::store::{
    Batch, CommandRow, Content, CreateError, EventQuery, EventRow, Hash, Lease, NewTree, RecipeRow,
    ResourceRow, SealError, Sealer, SnapshotRow, StackQuery, StackRow, Store, StoreError, TreeRows,
};
use kiln_engine::{EngineId, EventId, RecipeId, SnapshotId, StackId, Time};
use std::sync::Arc;
use uuid::Uuid;

impl Sealer for SqlStore {
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.cipher.refresh()?;
        Ok(self.cipher.seal(BodyKind::Export, purpose, bytes)?)
    }

    fn open_sealed(&self, purpose: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let store = |error: DbError| SealError::Store(error.into());
        let key = key_of(sealed).ok_or(SealError::Refused)?;
        self.cipher.refresh().map_err(store)?;
        if !self.cipher.has(key) {
            return Err(SealError::UnknownKey(format!("{key:08x}")));
        }
        match self.cipher.open(BodyKind::Export, purpose, sealed) {
            Err(DbError::Damaged { .. }) => Err(SealError::Refused),
            opened => opened.map_err(store),
        }
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn create_tree(&self, tree: NewTree) -> Result<(), CreateError> {
        match retry_conflicts!(self.create_once(&tree)) {
            Err(error) if error.is_duplicate() => {
                Err(CreateError::NameTaken(tree.stack.summary.name))
            }
            outcome => match (outcome.map_err(StoreError::from)?, tree.max_stacks) {
                (false, Some(limit)) => Err(CreateError::QuotaExceeded(limit)),
                _ => Ok(()),
            },
        }
    }

    async fn time(&self) -> Result<Time, StoreError> {
        Ok(self.read_time().await?)
    }

    async fn claim(
        &self,
        engine: EngineId,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError> {
        Ok(retry_conflicts!(self.claim_once(engine, now, until, limit))?)
    }

    async fn claim_tree(
        &self,
        engine: EngineId,
        root: StackId,
        now: Time,
        until: Time,
    ) -> Result<Option<Lease>, StoreError> {
        Ok(retry_conflicts!(self.claim_tree_once(engine, root, now, until))?)
    }

    async fn renew(&self, engine: EngineId, until: Time) -> Result<Vec<Lease>, StoreError> {
        Ok(retry_conflicts!(self.renew_once(engine, until))?)
    }

    async fn owned_trees(&self) -> Result<Vec<(EngineId, u64)>, StoreError> {
        Ok(self.count_owned_trees().await?)
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.release_once(lease))?)
    }

    async fn commit(&self, batches: &[Batch]) -> Result<Vec<bool>, StoreError> {
        if batches.is_empty() {
            return Ok(Vec::new());
        }
        Ok(retry_conflicts!(self.commit_once(batches))?)
    }

    fn max_row_bytes(&self) -> Option<usize> {
        self.tables.max_row_bytes()
    }

    async fn submit(&self, command: CommandRow) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.submit_once(&command))?)
    }

    async fn load_tree(&self, root: StackId) -> Result<Option<TreeRows>, StoreError> {
        Ok(self.whole_tree(root).await?)
    }

    async fn tree_bytes(&self, root: StackId) -> Result<u64, StoreError> {
        Ok(self.bytes_of_tree(root).await?)
    }

    async fn load_stacks(&self, root: StackId) -> Result<Option<TreeRows>, StoreError> {
        Ok(self.stacks_of_tree(root).await?)
    }

    async fn resources_named(
        &self,
        root: StackId,
        names: &[Arc<str>],
    ) -> Result<(Vec<ResourceRow>, u64), StoreError> {
        Ok(self.named_resources(root, names).await?)
    }

    async fn last_events(&self, roots: &[StackId]) -> Result<Vec<(StackId, u64)>, StoreError> {
        Ok(self.last_events_of(roots).await?)
    }

    async fn lean_resources(&self, root: StackId) -> Result<(Vec<ResourceRow>, u64), StoreError> {
        Ok(SqlStore::lean_resources(self, root).await?)
    }

    async fn commands(&self, root: StackId) -> Result<Vec<CommandRow>, StoreError> {
        Ok(self.queue(&mut *self.reader().await?, root).await?)
    }

    async fn commands_for(&self, engine: EngineId) -> Result<Vec<CommandRow>, StoreError> {
        Ok(self.queues_of(engine).await?)
    }

    async fn recipe(&self, id: RecipeId) -> Result<Option<RecipeRow>, StoreError> {
        Ok(self.by_id(id.0.as_bytes()).await?)
    }

    async fn content(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        let content: Option<Content> = self.by_id(&self.cipher.lookup(hash)).await?;
        Ok(content.map(|content| content.bytes))
    }

    async fn stack(&self, id: StackId) -> Result<Option<StackRow>, StoreError> {
        Ok(self.by_id(id.0.as_bytes()).await?)
    }

    async fn stack_by_name(
        &self,
        project: &str,
        name: &str,
    ) -> Result<Option<StackRow>, StoreError> {
        Ok(self.named(project, name).await?)
    }

    async fn stacks(&self, query: &StackQuery) -> Result<Vec<StackRow>, StoreError> {
        Ok(self.page_of_stacks(query).await?)
    }

    async fn count_stacks(&self, query: &StackQuery) -> Result<u64, StoreError> {
        Ok(self.number_of_stacks(query).await?)
    }

    async fn resources(&self, stacks: &[StackId]) -> Result<Vec<ResourceRow>, StoreError> {
        let stacks: Vec<Uuid> = stacks.iter().map(|stack| stack.0).collect();
        Ok(self.resources_of(&mut *self.reader().await?, &stacks).await?)
    }

    async fn snapshots(&self, stack: StackId) -> Result<Vec<SnapshotRow>, StoreError> {
        Ok(self.listed_snapshots(stack).await?)
    }

    async fn snapshot(&self, id: SnapshotId) -> Result<Option<SnapshotRow>, StoreError> {
        Ok(self.by_id(id.0.as_bytes()).await?)
    }

    async fn events(&self, query: &EventQuery) -> Result<Vec<EventRow>, StoreError> {
        Ok(self.page_of_events(query).await?)
    }

    async fn event(&self, id: EventId) -> Result<Option<EventRow>, StoreError> {
        Ok(self.by_id(id.0.as_bytes()).await?)
    }

    async fn prune_events(&self, keep: u64, limit: u64) -> Result<u64, StoreError> {
        Ok(retry_conflicts!(self.prune_once(keep, limit))?)
    }

    async fn prune_event_bytes(&self, keep: u64, limit: u64) -> Result<u64, StoreError> {
        Ok(retry_conflicts!(self.prune_bytes_once(keep, limit))?)
    }

    async fn purge(
        &self,
        deleted_before: Time,
        project: Option<&str>,
        limit: u64,
    ) -> Result<u64, StoreError> {
        Ok(retry_conflicts!(self.purge_once(deleted_before, project, limit))?)
    }
}
