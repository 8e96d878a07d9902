//! What operators see of the trees: who owns them, and what waits for them.

use crate::database::SqlStore;
use crate::error::DbError;
use crate::rows::{QueuedRow, TreeRow};
use crate::table::TableRow;
use kiln_engine::store::{CommandRow, StoreError};
use kiln_engine::{EngineId, StackId, Time};

/// A tree, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeOverview {
    /// The root stack.
    pub root: StackId,
    /// The project.
    pub project: String,
    /// The name of the root stack; `None` if it is deleted.
    pub name: Option<String>,
    /// The engine that owns it.
    pub engine: Option<EngineId>,
    /// The number of its lease.
    pub fence: u64,
    /// When the lease ends; without an owner, since when there is none.
    pub expires: Time,
    /// Whether there is something to do.
    pub has_work: bool,
}

impl From<TreeRow> for TreeOverview {
    fn from(row: TreeRow) -> TreeOverview {
        TreeOverview {
            root: row.root,
            project: row.project,
            name: row.live_name,
            engine: row.engine,
            fence: row.fence,
            expires: row.expires,
            has_work: row.has_work,
        }
    }
}

impl SqlStore {
    /// A tree.
    pub async fn tree(&self, root: StackId) -> Result<Option<TreeOverview>, StoreError> {
        let select = self.tables.select::<TreeRow>("root = ?").with(|values| values.id(root.0));
        let trees: Vec<TreeRow> = self.rows(select).await?;
        Ok(trees.into_iter().next().map(TreeOverview::from))
    }

    /// The trees after a root stack, in the order of their ids; no more than `limit`.
    pub async fn trees_after(
        &self,
        root: Option<StackId>,
        limit: u64,
    ) -> Result<Vec<TreeOverview>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let select = self.tables.select::<TreeRow>("root > ? ORDER BY root LIMIT ?");
        let select = select.with(|values| {
            values.id(root.map_or(uuid::Uuid::nil(), |root| root.0));
            values.int(limit);
        });
        let trees: Vec<TreeRow> = self.rows(select).await?;
        Ok(trees.into_iter().map(TreeOverview::from).collect())
    }

    /// The trees that have work or an owner, those that were attended to last at the end; no more than `limit`.
    pub async fn trees_at_work(&self, limit: u64) -> Result<Vec<TreeOverview>, StoreError> {
        let rest = "has_work = 1 OR owned = 1 ORDER BY expires, root LIMIT ?";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let select = self.tables.select::<TreeRow>(rest).with(|values| values.int(limit));
        let trees: Vec<TreeRow> = self.rows(select).await?;
        Ok(trees.into_iter().map(TreeOverview::from).collect())
    }

    /// The commands that wait, the oldest first; no more than `limit`.
    pub async fn waiting_commands(&self, limit: u64) -> Result<Vec<CommandRow>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rest = "0 = 0 ORDER BY time, id LIMIT ?";
        let select = self.tables.select::<QueuedRow>(rest).with(|values| values.int(limit));
        let commands: Vec<QueuedRow> = self.rows(select).await?;
        Ok(commands.into_iter().map(|row| row.command).collect())
    }

    async fn rows<R: TableRow>(&self, select: crate::sql::Statement) -> Result<Vec<R>, DbError> {
        let rows = select.all(&mut *self.reader().await?).await?;
        rows.iter().map(|row| R::read(&self.cipher, row)).collect()
    }
}
