//! Housekeeping: old events, deleted trees and unused texts are dropped.

use crate::database::SqlStore;
use crate::error::DbError;
use crate::rows::{TreeRow, class};
use crate::sql::Reader;
use crate::table::placeholders;
use kiln_engine::{StackId, Time};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use uuid::Uuid;

/// How many unused texts are dropped at once.
const UNUSED_TEXTS: u64 = 1000;

/// The size of the columns of an event beside its body and its texts, roughly.
const EVENT_COLUMNS: u64 = 192;

impl SqlStore {
    pub(crate) async fn prune_once(&self, keep: u64, limit: u64) -> Result<u64, DbError> {
        let mut dropped = 0;
        let mut transaction = self.begin().await?;
        // A walk along the index of events by stack; each stack found has at least one to drop.
        let select = "SELECT stack, COUNT(*) FROM events GROUP BY stack HAVING COUNT(*) > ? \
                      ORDER BY stack LIMIT ?";
        let select = self.statement(select).with(|values| {
            values.count(keep);
            values.count(limit);
        });
        for row in select.all(&mut transaction).await? {
            let mut row = Reader::new(&row);
            let (stack, count) = (row.id()?, row.count()?);
            let surplus = count.saturating_sub(keep).min(limit - dropped);
            if surplus == 0 {
                break;
            }
            let select = "SELECT id FROM events WHERE stack = ? ORDER BY number, id LIMIT ?";
            let select = self.statement(select).with(|values| {
                values.id(stack);
                values.count(surplus);
            });
            let oldest = ids(&select.all(&mut transaction).await?)?;
            let delete = "DELETE FROM events WHERE id IN ({ids})";
            dropped += self.run_by_ids(&mut transaction, delete, &oldest).await?;
        }
        if dropped > 0 {
            self.finish(transaction).await?;
        }
        Ok(dropped)
    }

    pub(crate) async fn prune_bytes_once(&self, keep: u64, limit: u64) -> Result<u64, DbError> {
        let mut dropped = 0;
        let mut transaction = self.begin().await?;
        let select = "SELECT root FROM trees WHERE event_bytes > ? ORDER BY root";
        let select = self.statement(select).with(|values| values.count(keep));
        let roots = ids(&select.all(&mut transaction).await?)?;
        // Commits to these trees wait, so that what they add is counted.
        let mut trees = self.lock_trees(&mut transaction, &roots).await?;
        for tree in trees.values_mut() {
            let (kept, surplus) = self.surplus_events(&mut transaction, tree.root, keep).await?;
            let room = usize::try_from(limit - dropped).unwrap_or(usize::MAX);
            let surplus = &surplus[..surplus.len().min(room)];
            let bytes: u64 = surplus.iter().map(|(_, bytes)| bytes).sum();
            let oldest: Vec<Uuid> = surplus.iter().map(|(id, _)| *id).collect();
            let delete = "DELETE FROM events WHERE id IN ({ids})";
            dropped += self.run_by_ids(&mut transaction, delete, &oldest).await?;
            tree.event_bytes = kept - bytes;
        }
        let trees: Vec<TreeRow> = trees.into_values().collect();
        if !trees.is_empty() {
            self.save_trees(&mut transaction, &trees).await?;
            self.finish(transaction).await?;
        }
        Ok(dropped)
    }

    /// How many bytes the events of a tree have, and those that are more than it may keep, the oldest first.
    async fn surplus_events(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
        keep: u64,
    ) -> Result<(u64, Vec<(Uuid, u64)>), DbError> {
        let select = "SELECT id, LENGTH(body), LENGTH(texts) FROM events \
                      WHERE stack IN (SELECT id FROM stacks WHERE root = ?) \
                      ORDER BY number DESC, id DESC";
        let select = self.statement(select).with(|values| values.id(root.0));
        let (mut total, mut surplus) = (0_u64, Vec::new());
        for row in select.all(connection).await? {
            let mut row = Reader::new(&row);
            let (id, body, texts) = (row.id()?, row.count()?, row.maybe_int()?.unwrap_or(0));
            let bytes = EVENT_COLUMNS + body + texts.unsigned_abs();
            total += bytes;
            if total > keep {
                surplus.push((id, bytes));
            }
        }
        surplus.reverse();
        Ok((total, surplus))
    }

    pub(crate) async fn purge_once(
        &self,
        deleted_before: Time,
        project: Option<&str>,
        limit: u64,
    ) -> Result<u64, DbError> {
        let mut transaction = self.begin().await?;
        let only = if project.is_some() { "AND project = ? " } else { "" };
        let select = format!(
            "SELECT id FROM stacks WHERE class = {} AND deleted < ? {only}ORDER BY deleted, id LIMIT ?",
            class(false, true)
        );
        let mut select = self.statement(&select);
        select.values.time(deleted_before);
        if let Some(project) = project {
            select.values.text(project);
        }
        select.values.count(limit);
        let roots = ids(&select.all(&mut transaction).await?)?;
        // The trees are locked like everywhere else: first, and in order.
        self.lock_trees(&mut transaction, &roots).await?;
        let mut stacks = Vec::new();
        for statement in self.tables.by_ids("SELECT id FROM stacks WHERE root IN ({ids})", &roots) {
            stacks.extend(ids(&statement.all(&mut transaction).await?)?);
        }
        let select = "SELECT id FROM snapshots WHERE root IN ({ids})";
        for statement in self.tables.by_ids(select, &roots) {
            // Copies are resources whose stack is the snapshot.
            stacks.extend(ids(&statement.all(&mut transaction).await?)?);
        }
        for (text, ids) in [
            ("DELETE FROM events WHERE stack IN ({ids})", &stacks),
            ("DELETE FROM resources WHERE stack IN ({ids})", &stacks),
            ("DELETE FROM tags WHERE stack IN ({ids})", &stacks),
            (
                "DELETE FROM needs WHERE recipe IN (SELECT id FROM recipes WHERE root IN ({ids}))",
                &roots,
            ),
            ("DELETE FROM recipes WHERE root IN ({ids})", &roots),
            ("DELETE FROM snapshots WHERE root IN ({ids})", &roots),
            ("DELETE FROM commands WHERE root IN ({ids})", &roots),
            ("DELETE FROM stacks WHERE root IN ({ids})", &roots),
        ] {
            self.run_by_ids(&mut transaction, text, ids).await?;
        }
        let delete = "DELETE FROM trees WHERE root IN ({ids})";
        let removed = self.run_by_ids(&mut transaction, delete, &roots).await?;
        let texts = self.drop_unused_texts(&mut transaction).await?;
        if removed + texts > 0 {
            self.finish(transaction).await?;
        }
        Ok(removed)
    }

    /// Drops texts that no recipe needs.
    ///
    /// They are locked first and checked again after that: a transaction that adds a recipe which needs one of
    /// them has locked it before and so was seen, or waits and then finds it gone and adds it again.
    async fn drop_unused_texts(&self, connection: &mut AnyConnection) -> Result<u64, DbError> {
        let unused = "NOT EXISTS (SELECT 1 FROM needs WHERE needs.content = contents.id)";
        let lock = self.dialect.lock_skip_locked();
        let select = format!("SELECT id FROM contents WHERE {unused} ORDER BY id LIMIT ?{lock}");
        let select = self.statement(&select).with(|values| values.count(UNUSED_TEXTS));
        let rows = select.all(connection).await?;
        let mut dropped = 0;
        for chunk in rows.chunks(100) {
            let text = format!(
                "DELETE FROM contents WHERE id IN ({}) AND {unused}",
                placeholders(chunk.len())
            );
            let mut delete = self.statement(&text);
            delete.is_cached = false;
            for row in chunk {
                delete.values.bytes(Reader::new(row).bytes()?);
            }
            dropped += delete.run(connection).await?;
        }
        Ok(dropped)
    }
}

fn ids(rows: &[AnyRow]) -> Result<Vec<Uuid>, DbError> {
    rows.iter().map(|row| Reader::new(row).id()).collect()
}
