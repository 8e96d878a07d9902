//! Writing: trees, batches under their fences, commands.

use crate::cipher::Cipher;
use crate::database::SqlStore;
use crate::error::DbError;
use crate::rows::{NeedRow, QueuedRow, QuotaRow, TagRow, TreeRow};
use crate::sql::Reader;
use crate::table::{TableRow, placeholders};
use kiln_engine::store::{
    Batch, CommandRow, Content, EventRow, NewTree, RecipeRow, ResourceRow, SnapshotRow, StackRow,
};
use kiln_engine::{StackId, Time};
use sqlx::AnyConnection;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The rows that a transaction writes and deletes.
#[derive(Default)]
struct Rows<'a> {
    contents: Vec<&'a Content>,
    recipes: Vec<&'a RecipeRow>,
    dropped_recipes: Vec<Uuid>,
    stacks: Vec<&'a StackRow>,
    resources: Vec<&'a ResourceRow>,
    dropped_resources: Vec<Uuid>,
    snapshots: Vec<&'a SnapshotRow>,
    dropped_snapshots: Vec<Uuid>,
    events: Vec<&'a EventRow>,
    done: Vec<Uuid>,
}

impl<'a> Rows<'a> {
    fn add(&mut self, batch: &'a Batch) {
        self.contents.extend(&batch.contents);
        self.recipes.extend(&batch.recipes);
        self.dropped_recipes.extend(batch.dropped_recipes.iter().map(|id| id.0));
        self.stacks.extend(&batch.stacks);
        self.resources.extend(&batch.resources);
        self.dropped_resources.extend(batch.dropped_resources.iter().map(|id| id.0));
        self.snapshots.extend(&batch.snapshots);
        self.dropped_snapshots.extend(batch.dropped_snapshots.iter().map(|id| id.0));
        self.events.extend(&batch.events);
        self.done.extend(batch.done.iter().map(|id| id.0));
    }
}

impl SqlStore {
    /// Adds a tree, unless its project has as many as it may have; whether it was added. A duplicate is one of the name.
    pub(crate) async fn create_once(&self, new: &NewTree) -> Result<bool, DbError> {
        let (engine, expires) = new.owner.unzip();
        let tree = TreeRow {
            root: new.stack.id,
            project: new.stack.project.to_string(),
            live_name: Some(new.stack.summary.name.to_string()),
            engine,
            fence: u64::from(engine.is_some()),
            expires: expires.unwrap_or(new.stack.summary.created),
            has_work: true,
            last_event: new.events.iter().map(|event| event.number).max().unwrap_or(0),
            last_command: 0,
            event_bytes: new.events.iter().map(EventRow::byte_size).sum(),
        };
        let rows = Rows {
            contents: new.contents.iter().collect(),
            recipes: vec![&new.recipe],
            stacks: vec![&new.stack],
            events: new.events.iter().collect(),
            ..Rows::default()
        };
        let _turn = self.turns.of(&new.stack.project).await;
        let mut transaction = self.begin().await?;
        // A plain insertion: one that overwrites would overwrite the tree that has the name.
        let mut insert = self.statement(&TreeRow::insertion());
        tree.write(&self.cipher, &mut insert.values)?;
        insert.run(&mut transaction).await?;
        if let Some(limit) = new.max_stacks {
            let project = &new.stack.project;
            let count = "SELECT COUNT(*) FROM trees WHERE project = ? AND live_name IS NOT NULL";
            let count = self.statement(count).with(|values| values.text(project));
            let quota = QuotaRow::new(project, "stack");
            if self.count_locked(&mut transaction, &quota, count).await? > limit {
                return Ok(false);
            }
        }
        self.write(&mut transaction, &rows).await?;
        self.finish(transaction).await?;
        Ok(true)
    }

    pub(crate) async fn commit_once(&self, batches: &[Batch]) -> Result<Vec<bool>, DbError> {
        let roots: Vec<Uuid> = batches.iter().map(|batch| batch.root.0).collect();
        let mut transaction = self.begin().await?;
        let before = self.lock_trees(&mut transaction, &roots).await?;
        let is_current = |batch: &Batch| {
            let tree = before.get(&batch.root);
            tree.is_some_and(|tree| tree.engine.is_some() && tree.fence == batch.fence)
        };
        let written: Vec<bool> = batches.iter().map(is_current).collect();
        for batch in batches.iter().filter(|batch| !is_current(batch)) {
            let (root, fence) = (batch.root, batch.fence);
            tracing::info!(stack = %root, fence, "a batch of a former owner is refused");
        }
        if !written.contains(&true) {
            return Ok(written);
        }
        let current: Vec<&Batch> = batches
            .iter()
            .zip(&written)
            .filter(|(_, current)| **current)
            .map(|pair| pair.0)
            .collect();
        for rows in rounds(&current) {
            self.write(&mut transaction, &rows).await?;
        }
        let mut after = before.clone();
        for batch in &current {
            if let Some(tree) = after.get_mut(&batch.root) {
                apply_batch(tree, batch);
            }
        }
        self.note_queues(&mut transaction, &mut after).await?;
        if self.is_cluster {
            // A batch changes the row of its tree, so that it and a claim by another node are in each other's way.
            for batch in &current {
                if let Some(tree) = after.get_mut(&batch.root) {
                    tree.expires = Time::from_micros(tree.expires.micros() + 1);
                }
            }
        }
        after.retain(|root, tree| before.get(root) != Some(tree));
        let changed: Vec<TreeRow> = after.into_values().collect();
        self.save_trees(&mut transaction, &changed).await?;
        self.finish(transaction).await?;
        Ok(written)
    }

    /// Marks trees that have commands in their queues as having work to do. The trees are locked, so
    /// that no command can come at the same time.
    async fn note_queues(
        &self,
        connection: &mut AnyConnection,
        trees: &mut BTreeMap<StackId, TreeRow>,
    ) -> Result<(), DbError> {
        let idle = trees.values().filter(|tree| !tree.has_work);
        let idle: Vec<Uuid> = idle.map(|tree| tree.root.0).collect();
        let select = "SELECT DISTINCT root FROM commands WHERE root IN ({ids})";
        for statement in self.tables.by_ids(select, &idle) {
            for row in statement.all(connection).await? {
                let root = StackId(Reader::new(&row).id()?);
                if let Some(tree) = trees.get_mut(&root) {
                    tree.has_work = true;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn submit_once(&self, command: &CommandRow) -> Result<(), DbError> {
        let Some(project) = self.project_of_tree(command.root).await? else { return Ok(()) };
        let _turn = self.turns.of(&project).await;
        let mut transaction = self.begin().await?;
        let mut trees = self.lock_trees(&mut transaction, &[command.root.0]).await?;
        if self.queue_commands(&mut transaction, &mut trees, &[command]).await? {
            self.finish(transaction).await?;
        }
        Ok(())
    }

    /// Adds commands to the queues of trees, which are locked; whether one was not there already.
    pub(crate) async fn queue_commands(
        &self,
        connection: &mut AnyConnection,
        trees: &mut BTreeMap<StackId, TreeRow>,
        commands: &[&CommandRow],
    ) -> Result<bool, DbError> {
        let mut queued = Vec::new();
        for command in commands {
            let Some(tree) = trees.get_mut(&command.root) else { continue };
            let select = "SELECT number FROM commands WHERE id = ?";
            let select = self.statement(select).with(|values| values.id(command.id.0));
            if select.first(connection).await?.is_some() {
                continue;
            }
            if tree.engine.is_none() && !tree.has_work {
                tree.expires = command.time;
            }
            tree.has_work = true;
            tree.last_command += 1;
            queued.push(QueuedRow { number: tree.last_command, command: (*command).clone() });
        }
        let rows: Vec<&QueuedRow> = queued.iter().collect();
        self.tables.write(connection, &self.cipher, &rows).await?;
        let changed: BTreeSet<StackId> = queued.iter().map(|row| row.command.root).collect();
        let changed: Vec<TreeRow> =
            changed.iter().filter_map(|root| trees.get(root)).cloned().collect();
        self.save_trees(connection, &changed).await?;
        Ok(!queued.is_empty())
    }

    async fn write(&self, connection: &mut AnyConnection, rows: &Rows<'_>) -> Result<(), DbError> {
        let cipher = &self.cipher;
        self.add_contents(connection, &rows.contents).await?;
        self.tables.write(connection, cipher, &rows.recipes).await?;
        let needs = needs(cipher, &rows.recipes);
        self.tables.write(connection, cipher, &needs.iter().collect::<Vec<_>>()).await?;
        self.tables.write(connection, cipher, &rows.stacks).await?;
        self.write_tags(connection, &rows.stacks).await?;
        self.tables.write(connection, cipher, &rows.resources).await?;
        self.tables.write(connection, cipher, &rows.snapshots).await?;
        self.tables.write(connection, cipher, &rows.events).await?;
        for (text, ids) in [
            ("DELETE FROM recipes WHERE id IN ({ids})", &rows.dropped_recipes),
            ("DELETE FROM needs WHERE recipe IN ({ids})", &rows.dropped_recipes),
            ("DELETE FROM resources WHERE id IN ({ids})", &rows.dropped_resources),
            ("DELETE FROM snapshots WHERE id IN ({ids})", &rows.dropped_snapshots),
            ("DELETE FROM commands WHERE id IN ({ids})", &rows.done),
        ] {
            self.run_by_ids(connection, text, ids).await?;
        }
        Ok(())
    }

    /// Adds the texts that are not there. Those that are there are locked, so that they are not dropped
    /// as unused before this transaction has said who needs them.
    async fn add_contents(
        &self,
        connection: &mut AnyConnection,
        contents: &[&Content],
    ) -> Result<(), DbError> {
        let mut missing: BTreeMap<[u8; 32], &Content> =
            contents.iter().map(|content| (self.cipher.lookup(content.hash), *content)).collect();
        // In a cluster they are written again, as a lock does not reach the node that drops them.
        let wanted: Vec<[u8; 32]> = match self.is_cluster {
            true => Vec::new(),
            false => missing.keys().copied().collect(),
        };
        for wanted in wanted.chunks(100) {
            let text = format!(
                "SELECT id FROM contents WHERE id IN ({}) ORDER BY id{}",
                placeholders(wanted.len()),
                self.dialect.lock_shared()
            );
            let mut select = self.statement(&text);
            select.is_cached = wanted.len() == 1;
            wanted.iter().for_each(|id| select.values.bytes(id));
            for row in select.all(connection).await? {
                missing.remove(Reader::new(&row).bytes()?);
            }
        }
        let missing: Vec<&Content> = missing.into_values().collect();
        self.tables.write(connection, &self.cipher, &missing).await
    }

    async fn write_tags(
        &self,
        connection: &mut AnyConnection,
        stacks: &[&StackRow],
    ) -> Result<(), DbError> {
        let latest: BTreeMap<Uuid, &StackRow> =
            stacks.iter().map(|stack| (stack.id.0, *stack)).collect();
        let ids: Vec<Uuid> = latest.keys().copied().collect();
        self.run_by_ids(connection, "DELETE FROM tags WHERE stack IN ({ids})", &ids).await?;
        let of_stack = |stack: &&StackRow| {
            let stack = *stack;
            stack
                .summary
                .tags
                .iter()
                .map(|tag| TagRow { stack: stack.id, tag: tag.clone() })
                .collect()
        };
        let tags: Vec<TagRow> =
            latest.values().flat_map(|stack| -> Vec<TagRow> { of_stack(stack) }).collect();
        self.tables.write(connection, &self.cipher, &tags.iter().collect::<Vec<_>>()).await
    }

    /// Runs a statement over ids; gives the number of rows that it touched.
    pub(crate) async fn run_by_ids(
        &self,
        connection: &mut AnyConnection,
        text: &str,
        ids: &[Uuid],
    ) -> Result<u64, DbError> {
        let mut touched = 0;
        self.tables.count(ids.len(), 0);
        for statement in self.tables.by_ids(text, ids) {
            touched += statement.run(connection).await?;
        }
        Ok(touched)
    }
}

/// Applies a batch to the row of its tree.
fn apply_batch(tree: &mut TreeRow, batch: &Batch) {
    tree.has_work = batch.has_work;
    let last = batch.events.iter().map(|event| event.number).max().unwrap_or(0);
    tree.last_event = tree.last_event.max(last);
    let bytes: u64 = batch.events.iter().map(EventRow::byte_size).sum();
    tree.event_bytes = tree.event_bytes.saturating_add(bytes);
    if batch.stacks.iter().any(|stack| stack.id == batch.root && stack.summary.deleted.is_some()) {
        tree.live_name = None;
    }
}

/// Batches that can be written together: a second one for the same tree begins a new round, since it
/// may bring back what the first has dropped.
fn rounds<'a>(batches: &[&'a Batch]) -> Vec<Rows<'a>> {
    let mut rounds = Vec::new();
    let (mut rows, mut seen) = (Rows::default(), BTreeSet::new());
    for batch in batches {
        if !seen.insert(batch.root) {
            rounds.push(std::mem::take(&mut rows));
            seen = [batch.root].into();
        }
        rows.add(batch);
    }
    rounds.push(rows);
    rounds
}

fn needs(cipher: &Cipher, recipes: &[&RecipeRow]) -> Vec<NeedRow> {
    let of_recipe = |recipe: &&RecipeRow| {
        let recipe = *recipe;
        let need = |hash| NeedRow { recipe: recipe.id, content: cipher.lookup(hash) };
        recipe.contents.iter().copied().map(need).collect::<Vec<_>>()
    };
    recipes.iter().flat_map(of_recipe).collect()
}
