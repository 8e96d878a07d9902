//! Leases: the ownership of trees.

use crate::database::SqlStore;
use crate::error::DbError;
use crate::rows::TreeRow;
use crate::sql::Reader;
use crate::table::TableRow;
use kiln_engine::store::Lease;
use kiln_engine::{EngineId, StackId, Time};
use sqlx::AnyConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Trees without an owner, and trees whose owner's lease ran out: two walks along one index.
const UNOWNED: &str = "has_work = 1 AND owned = 0 ORDER BY expires, root LIMIT ?";
const EXPIRED: &str = "has_work = 1 AND owned = 1 AND expires < ? ORDER BY expires, root LIMIT ?";

const OWNED_TREES: &str =
    "SELECT engine, COUNT(*) FROM trees WHERE owned = 1 AND has_work = 1 GROUP BY engine";

impl SqlStore {
    /// The time by the clock of the database's machine.
    pub(crate) async fn read_time(&self) -> Result<Time, DbError> {
        let rows = self.statement(self.dialect.time()).all(&mut *self.reader().await?).await?;
        let row = rows.first().ok_or_else(|| DbError::Damaged {
            what: "the database's clock".to_owned(),
            why: "it told no time".to_owned(),
        })?;
        Reader::new(row).int().map(Time::from_micros)
    }

    pub(crate) async fn count_owned_trees(&self) -> Result<Vec<(EngineId, u64)>, DbError> {
        let counts = self.statement(OWNED_TREES).all(&mut *self.reader().await?).await?;
        let count = |row| {
            let mut row = Reader::new(row);
            Ok((EngineId(row.maybe_id()?.unwrap_or_default()), row.count()?))
        };
        counts.iter().map(count).collect()
    }

    pub(crate) async fn claim_once(
        &self,
        engine: EngineId,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Result<Vec<Lease>, DbError> {
        // Engines ask often and mostly there is nothing: this question costs no transaction.
        if self.claimable(&mut *self.reader().await?, now, 1, "").await?.is_empty() {
            return Ok(Vec::new());
        }
        let mut transaction = self.begin().await?;
        let lock = self.dialect.lock_skip_locked();
        let mut trees = self.claimable(&mut transaction, now, limit, lock).await?;
        trees.sort_by_key(|tree| (tree.expires, tree.root));
        trees.truncate(limit);
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let leases = trees.iter_mut().map(|tree| tree.lease_to(engine, until)).collect();
        self.save_trees(&mut transaction, &trees).await?;
        self.finish(transaction).await?;
        Ok(leases)
    }

    async fn claimable(
        &self,
        connection: &mut AnyConnection,
        now: Time,
        limit: usize,
        lock: &str,
    ) -> Result<Vec<TreeRow>, DbError> {
        let limit = limit as u64;
        let unowned = self.tables.select::<TreeRow>(&format!("{UNOWNED}{lock}"));
        let unowned = unowned.with(|values| values.count(limit));
        let mut trees: Vec<TreeRow> = unowned.read(connection, &self.cipher).await?;
        let expired = self.tables.select::<TreeRow>(&format!("{EXPIRED}{lock}"));
        let expired = expired.with(|values| {
            values.time(now);
            values.count(limit);
        });
        trees.extend(expired.read::<TreeRow>(connection, &self.cipher).await?);
        Ok(trees)
    }

    pub(crate) async fn claim_tree_once(
        &self,
        engine: EngineId,
        root: StackId,
        now: Time,
        until: Time,
    ) -> Result<Option<Lease>, DbError> {
        let mut transaction = self.begin().await?;
        let Some(mut tree) = self.lock_trees(&mut transaction, &[root.0]).await?.remove(&root)
        else {
            return Ok(None);
        };
        if tree.engine.is_some_and(|owner| owner != engine) && tree.expires >= now {
            return Ok(None);
        }
        let lease = tree.lease_to(engine, until);
        self.save_trees(&mut transaction, &[tree]).await?;
        self.finish(transaction).await?;
        Ok(Some(lease))
    }

    pub(crate) async fn renew_once(
        &self,
        engine: EngineId,
        until: Time,
    ) -> Result<Vec<Lease>, DbError> {
        let mut transaction = self.begin().await?;
        let update =
            self.statement("UPDATE trees SET expires = ? WHERE engine = ?").with(|values| {
                values.time(until);
                values.id(engine.0);
            });
        update.run(&mut transaction).await?;
        let select = "SELECT root, fence FROM trees WHERE engine = ? ORDER BY root";
        let select = self.statement(select).with(|values| values.id(engine.0));
        let rows = select.all(&mut transaction).await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.finish(transaction).await?;
        let lease = |row| {
            let mut row = Reader::new(row);
            Ok(Lease { root: StackId(row.id()?), engine, fence: row.count()?, until })
        };
        rows.iter().map(lease).collect()
    }

    pub(crate) async fn release_once(&self, lease: Lease) -> Result<(), DbError> {
        let mut transaction = self.begin().await?;
        let update = "UPDATE trees SET engine = NULL, owned = 0 \
                      WHERE root = ? AND fence = ? AND engine = ?";
        let update = self.statement(update).with(|values| {
            values.id(lease.root.0);
            values.count(lease.fence);
            values.id(lease.engine.0);
        });
        if update.run(&mut transaction).await? > 0 {
            self.finish(transaction).await?;
        }
        Ok(())
    }

    /// The trees of these roots, which others cannot change until the transaction ends.
    pub(crate) async fn lock_trees(
        &self,
        connection: &mut AnyConnection,
        roots: &[Uuid],
    ) -> Result<BTreeMap<StackId, TreeRow>, DbError> {
        // Always in the same order: two transactions that wait for each other would both wait for ever.
        let text = format!(
            "SELECT {} FROM trees WHERE root IN ({{ids}}) ORDER BY root{}",
            TreeRow::column_names(),
            self.dialect.lock()
        );
        let mut roots = roots.to_vec();
        roots.sort();
        roots.dedup();
        let mut trees = BTreeMap::new();
        for statement in self.tables.by_ids(&text, &roots) {
            for tree in statement.read::<TreeRow>(connection, &self.cipher).await? {
                trees.insert(tree.root, tree);
            }
        }
        Ok(trees)
    }

    pub(crate) async fn save_trees(
        &self,
        connection: &mut AnyConnection,
        trees: &[TreeRow],
    ) -> Result<(), DbError> {
        let trees: Vec<&TreeRow> = trees.iter().collect();
        self.tables.write(connection, &self.cipher, &trees).await
    }
}
