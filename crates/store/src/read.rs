//! Reading single rows and whole trees.

use crate::database::SqlStore;
use crate::error::DbError;
use crate::rows::QueuedRow;
use crate::sql::{Reader, Statement};
use crate::table::{TableRow, placeholders};
use kiln_engine::store::{CommandRow, RecipeRow, ResourceRow, SnapshotRow, StackRow, TreeRows};
use kiln_engine::{EngineId, StackId, parents_first};
use sqlx::AnyConnection;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// The number of a tree's last event, as one of the values of a statement.
pub(crate) const LAST_EVENT: &str = "(SELECT last_event FROM trees WHERE root = ?)";

/// How many names go into one statement.
const NAMES: [usize; 2] = [1, 20];

/// How many names or ids are queried in one statement.
pub(crate) const AT_ONCE: usize = 200;

impl SqlStore {
    /// The row with an id.
    pub(crate) async fn by_id<R: TableRow>(&self, id: &[u8]) -> Result<Option<R>, DbError> {
        let mut reader = self.reader().await?;
        let condition = format!("{} = ?", R::KEY[0]);
        let select = self.tables.select::<R>(&condition).with(|values| values.bytes(id));
        let row = select.first(&mut reader).await?;
        row.map(|row| R::read(&self.cipher, &row)).transpose()
    }

    pub(crate) async fn named(
        &self,
        project: &str,
        name: &str,
    ) -> Result<Option<StackRow>, DbError> {
        let mut reader = self.reader().await?;
        let condition = "id = (SELECT root FROM trees WHERE project = ? AND live_name = ?)";
        let select = self.tables.select::<StackRow>(condition).with(|values| {
            values.text(project);
            values.text(name);
        });
        let row = select.first(&mut reader).await?;
        row.map(|row| StackRow::read(&self.cipher, &row)).transpose()
    }

    pub(crate) async fn queue(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
    ) -> Result<Vec<CommandRow>, DbError> {
        let select = self.tables.select::<QueuedRow>("root = ? ORDER BY number");
        let select = select.with(|values| values.id(root.0));
        let queue: Vec<QueuedRow> = select.read(connection, &self.cipher).await?;
        Ok(queue.into_iter().map(|queued| queued.command).collect())
    }

    /// The commands that wait for the trees of an engine. Most of the time there are none at all.
    pub(crate) async fn queues_of(&self, engine: EngineId) -> Result<Vec<CommandRow>, DbError> {
        let owned =
            "EXISTS (SELECT 1 FROM trees WHERE trees.root = commands.root AND trees.engine = ?)";
        let select = self.tables.select::<QueuedRow>(&format!("{owned} ORDER BY root, number"));
        let select = select.with(|values| values.id(engine.0));
        let mut reader = self.reader().await?;
        let queue: Vec<QueuedRow> = select.read(&mut reader, &self.cipher).await?;
        Ok(queue.into_iter().map(|queued| queued.command).collect())
    }

    pub(crate) async fn resources_of(
        &self,
        connection: &mut AnyConnection,
        stacks: &[Uuid],
    ) -> Result<Vec<ResourceRow>, DbError> {
        let select = format!(
            "SELECT {} FROM resources WHERE stack IN ({{ids}})",
            ResourceRow::column_names()
        );
        let place: BTreeMap<Uuid, usize> = stacks.iter().copied().zip(0..).collect();
        let mut resources: Vec<ResourceRow> = Vec::new();
        for statement in self.tables.by_ids(&select, stacks) {
            resources.extend(statement.read::<ResourceRow>(connection, &self.cipher).await?);
        }
        resources.sort_by_key(|row| (place.get(&row.stack.0), row.number, row.id));
        Ok(resources)
    }

    /// How many bytes the bodies of the resources of a tree have, and those of their signals and of the snapshots.
    pub(crate) async fn bytes_of_tree(&self, root: StackId) -> Result<u64, DbError> {
        // The rows are added up here: databases disagree about the type of a sum.
        const STACKS: &str = "stack IN (SELECT id FROM stacks WHERE root = ?)";
        let select = self.statement(&format!(
            "SELECT LENGTH(body) FROM resources WHERE {STACKS} UNION ALL SELECT LENGTH(body) FROM resources \
             WHERE stack IN (SELECT id FROM resources WHERE {STACKS}) UNION ALL SELECT LENGTH(body) FROM snapshots \
             WHERE root = ?"
        ));
        let select = select.with(|values| (0..3).for_each(|_| values.id(root.0)));
        let rows = select.all(&mut *self.reader().await?).await?;
        rows.iter().map(|row| Reader::new(row).count()).sum()
    }

    /// The snapshots whose `column` is this stack, the first first.
    pub(crate) async fn snapshots_where(
        &self,
        connection: &mut AnyConnection,
        column: &str,
        stack: StackId,
    ) -> Result<Vec<SnapshotRow>, DbError> {
        let select = format!("{column} = ? ORDER BY created, id");
        let select = self.tables.select::<SnapshotRow>(&select);
        select.with(|values| values.id(stack.0)).read(connection, &self.cipher).await
    }

    /// The snapshots of a stack without their bodies, the first first.
    pub(crate) async fn listed_snapshots(
        &self,
        stack: StackId,
    ) -> Result<Vec<SnapshotRow>, DbError> {
        let columns = SnapshotRow::listed_names();
        let select =
            format!("SELECT {columns} FROM snapshots WHERE stack = ? ORDER BY created, id");
        let select = self.statement(&select).with(|values| values.id(stack.0));
        select.read_listed(&mut *self.reader().await?, &self.cipher).await
    }

    /// The project of a tree.
    pub(crate) async fn project_of_tree(&self, root: StackId) -> Result<Option<String>, DbError> {
        let select = self.statement("SELECT project FROM trees WHERE root = ?");
        let select = select.with(|values| values.id(root.0));
        let row = select.first(&mut *self.reader().await?).await?;
        row.map(|row| Ok(Reader::new(&row).text()?.to_owned())).transpose()
    }

    pub(crate) async fn last_event(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
    ) -> Result<Option<u64>, DbError> {
        let select = self.statement("SELECT last_event FROM trees WHERE root = ?");
        let row = select.with(|values| values.id(root.0)).first(connection).await?;
        row.map(|row| Reader::new(&row).count()).transpose()
    }

    pub(crate) async fn last_events_of(
        &self,
        roots: &[StackId],
    ) -> Result<Vec<(StackId, u64)>, DbError> {
        let mut reader = self.reader().await?;
        let mut last = Vec::new();
        for chunk in roots.chunks(AT_ONCE) {
            // The last one is repeated, so that there is one statement.
            let filled = chunk.iter().chain(chunk.last().into_iter().cycle()).take(AT_ONCE);
            let select = format!(
                "SELECT root, last_event FROM trees WHERE root IN ({})",
                placeholders(AT_ONCE)
            );
            let select = self.statement(&select);
            let select = select.with(|values| filled.for_each(|root| values.id(root.0)));
            for row in select.all(&mut reader).await? {
                let mut row = Reader::new(&row);
                last.push((StackId(row.id()?), row.count()?));
            }
        }
        Ok(last)
    }

    /// The stacks of a tree, deleted nested ones excepted.
    async fn stacks_in(
        &self,
        connection: &mut AnyConnection,
        root: StackId,
    ) -> Result<Vec<StackRow>, DbError> {
        let select = self.tables.select::<StackRow>("root = ? AND (class < 2 OR parent IS NULL)");
        let select = select.with(|values| values.id(root.0));
        Ok(parents_first(select.read(connection, &self.cipher).await?))
    }

    /// The recipes that stacks name.
    async fn recipes_of(
        &self,
        connection: &mut AnyConnection,
        stacks: &[StackRow],
    ) -> Result<Vec<RecipeRow>, DbError> {
        let named = stacks.iter().flat_map(|stack| [Some(stack.recipe), stack.previous]);
        let mut named: Vec<Uuid> = named.flatten().map(|id| id.0).collect();
        named.sort();
        named.dedup();
        let select = "SELECT id, root, body FROM recipes WHERE id IN ({ids}) ORDER BY id";
        let mut recipes: Vec<RecipeRow> = Vec::new();
        for statement in self.tables.by_ids(select, &named) {
            recipes.extend(statement.read::<RecipeRow>(connection, &self.cipher).await?);
        }
        Ok(recipes)
    }

    pub(crate) async fn stacks_of_tree(&self, root: StackId) -> Result<Option<TreeRows>, DbError> {
        let mut reader = self.reader().await?;
        // A round trip costs more than what it reads, so the number comes with the rows.
        let select = format!(
            "SELECT {}, {LAST_EVENT} FROM stacks WHERE root = ? AND (class < 2 OR parent IS NULL)",
            StackRow::column_names()
        );
        let select = self.statement(&select).with(|values| {
            values.id(root.0);
            values.id(root.0);
        });
        let (stacks, last_event) = self.with_last_event(&mut reader, select).await?;
        let Some(last_event) = last_event else { return Ok(None) };
        let stacks = parents_first(stacks);
        let recipes = self.recipes_of(&mut reader, &stacks).await?;
        Ok(Some(TreeRows { stacks, recipes, last_event, ..TreeRows::default() }))
    }

    /// Rows of a statement that has the number of the tree's last event behind their own columns.
    async fn with_last_event<R: TableRow>(
        &self,
        connection: &mut AnyConnection,
        select: Statement,
    ) -> Result<(Vec<R>, Option<u64>), DbError> {
        let rows = select.all(connection).await?;
        let last_event = match rows.first() {
            Some(row) => Reader::after(row, R::COLUMNS.len()).maybe_count()?,
            None => None,
        };
        let rows: Result<Vec<R>, DbError> =
            rows.iter().map(|row| R::read(&self.cipher, row)).collect();
        Ok((rows?, last_event))
    }

    pub(crate) async fn named_resources(
        &self,
        root: StackId,
        names: &[Arc<str>],
    ) -> Result<(Vec<ResourceRow>, u64), DbError> {
        let mut reader = self.reader().await?;
        let mut resources: Vec<ResourceRow> = Vec::new();
        let mut seen = None;
        for chunk in names.chunks(NAMES[1]) {
            // The last one is repeated, so that there are few different statements.
            let size = if chunk.len() <= NAMES[0] { NAMES[0] } else { NAMES[1] };
            let filled = chunk.iter().chain(chunk.last().into_iter().cycle()).take(size);
            let select = format!(
                "SELECT {}, {LAST_EVENT} FROM resources WHERE stack = ? AND name IN ({})",
                ResourceRow::column_names(),
                placeholders(size)
            );
            let select = self.statement(&select).with(|values| {
                values.id(root.0);
                values.id(root.0);
                filled.for_each(|name| values.text(name));
            });
            let (rows, last_event) = self.with_last_event(&mut reader, select).await?;
            resources.extend(rows);
            seen = last_event;
        }
        resources.sort_by_key(|row| row.number);
        let last_event = match seen {
            Some(last_event) => last_event,
            None => self.last_event(&mut reader, root).await?.unwrap_or(0),
        };
        Ok((resources, last_event))
    }

    pub(crate) async fn whole_tree(&self, root: StackId) -> Result<Option<TreeRows>, DbError> {
        let mut moment = self.begin_reading().await?;
        let Some(last_event) = self.last_event(&mut moment, root).await? else { return Ok(None) };
        let stacks = self.stacks_in(&mut moment, root).await?;
        let snapshots = self.snapshots_where(&mut moment, "root", root).await?;
        let copied = snapshots.iter().map(|snapshot| snapshot.id.0);
        let ids: Vec<Uuid> = stacks.iter().map(|stack| stack.id.0).chain(copied).collect();
        let resources = self.resources_of(&mut moment, &ids).await?;
        let recipes = self.recipes_of(&mut moment, &stacks).await?;
        let commands = self.queue(&mut moment, root).await?;
        moment.commit().await?;
        Ok(Some(TreeRows { stacks, resources, snapshots, recipes, commands, last_event }))
    }
}
