//! Objects that are kept beside stacks.

use crate::database::SqlStore;
use crate::dialect::Dialect;
use crate::error::{DbError, retry_conflicts};
use crate::list::{Condition, ListSpec, Value};
use crate::read::AT_ONCE;
use crate::rows::QuotaRow;
use crate::sql::{Reader, Statement};
use crate::table::{TableRow, placeholders};
use async_trait::async_trait;
use kiln_engine::store::StoreError;
use kiln_engine::{ObjectKind, ObjectQuery, ObjectRow, Objects, Time};
use sqlx::AnyConnection;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

impl SqlStore {
    async fn put_once(&self, object: &ObjectRow) -> Result<(), DbError> {
        let _turn = self.turns.of(&object.project).await;
        let mut transaction = self.begin().await?;
        self.tables.write(&mut transaction, &self.cipher, &[object]).await?;
        self.finish(transaction).await
    }

    async fn put_within_once(&self, object: &ObjectRow, limit: u64) -> Result<bool, DbError> {
        let _turn = self.turns.of(&object.project).await;
        let mut transaction = self.begin().await?;
        let count = "SELECT COUNT(*) FROM objects WHERE kind = ? AND project = ? AND id <> ?";
        let count = self.statement(count).with(|values| {
            values.text(object.kind.name());
            values.text(&object.project);
            values.id(object.id);
        });
        let quota = QuotaRow::new(&object.project, object.kind.name());
        if self.count_locked(&mut transaction, &quota, count).await? >= limit {
            return Ok(false);
        }
        self.tables.write(&mut transaction, &self.cipher, &[object]).await?;
        self.finish(transaction).await?;
        Ok(true)
    }

    /// Counts rows while no other transaction adds one: those that do lock the same quota first, and count what was
    /// committed when they have it. SQLite has one writer at a time, who needs no lock.
    pub(crate) async fn count_locked(
        &self,
        connection: &mut AnyConnection,
        quota: &QuotaRow,
        count: Statement,
    ) -> Result<u64, DbError> {
        if self.is_cluster {
            // A row that is the same as before is not written, and its lock is not known to the other nodes.
            let delete = "DELETE FROM quotas WHERE project = ? AND kind = ?";
            let delete = self.statement(delete).with(|values| {
                values.text(&quota.project);
                values.text(&quota.kind);
            });
            delete.run(connection).await?;
        }
        if self.dialect != Dialect::Sqlite {
            // A row that is all key is written over itself, which locks it.
            self.tables.write(connection, &self.cipher, &[quota]).await?;
        }
        let row = count.first(connection).await?;
        row.map_or(Ok(0), |row| Reader::new(&row).count())
    }

    async fn add_once(&self, object: &ObjectRow) -> Result<(), DbError> {
        let _turn = self.turns.of(&object.project).await;
        let mut transaction = self.begin().await?;
        let mut insert = self.statement(&ObjectRow::insertion());
        object.write(&self.cipher, &mut insert.values)?;
        insert.run(&mut transaction).await?;
        self.finish(transaction).await
    }

    async fn drop_old_once(
        &self,
        kind: ObjectKind,
        before: Time,
        limit: u64,
    ) -> Result<u64, DbError> {
        let mut transaction = self.begin().await?;
        let select = "SELECT id FROM objects WHERE kind = ? AND created < ? \
                      ORDER BY created, id LIMIT ?";
        let select = self.statement(select).with(|values| {
            values.text(kind.name());
            values.time(before);
            values.count(limit);
        });
        let rows = select.all(&mut transaction).await?;
        let ids: Vec<Uuid> =
            rows.iter().map(|row| Reader::new(row).id()).collect::<Result<_, _>>()?;
        if ids.is_empty() {
            return Ok(0);
        }
        let delete = "DELETE FROM objects WHERE id IN ({ids})";
        let dropped = self.run_by_ids(&mut transaction, delete, &ids).await?;
        self.finish(transaction).await?;
        Ok(dropped)
    }

    async fn drop_once(&self, kind: ObjectKind, id: Uuid) -> Result<bool, DbError> {
        let mut transaction = self.begin().await?;
        let delete = self.statement("DELETE FROM objects WHERE id = ? AND kind = ?");
        let delete = delete.with(|values| {
            values.id(id);
            values.text(kind.name());
        });
        let count = delete.run(&mut transaction).await?;
        self.finish(transaction).await?;
        Ok(count > 0)
    }

    async fn page_of_objects(&self, query: &ObjectQuery) -> Result<Vec<ObjectRow>, DbError> {
        let mut condition = condition(query);
        let marker = match query.marker {
            Some(id) => self.by_id::<ObjectRow>(id.as_bytes()).await?,
            None => None,
        };
        if let Some(marker) = marker {
            let keys =
                [("created", Value::Int(marker.created.micros())), ("id", Value::Id(marker.id))];
            condition.behind(&keys, query.descending);
        }
        let ObjectQuery { descending, limit, with_bodies, .. } = *query;
        let list = ListSpec { keys: &["created", "id"], descending, limit, with_bodies };
        self.list(condition, &list).await
    }

    async fn objects_with_ids(
        &self,
        kind: ObjectKind,
        ids: &[Uuid],
    ) -> Result<Vec<ObjectRow>, DbError> {
        let columns = ObjectRow::column_names();
        let select = format!("SELECT {columns} FROM objects WHERE id IN ({{ids}})");
        let mut reader = self.reader().await?;
        let mut objects: Vec<ObjectRow> = Vec::with_capacity(ids.len());
        for statement in self.tables.by_ids(&select, ids) {
            objects.extend(statement.read::<ObjectRow>(&mut reader, &self.cipher).await?);
        }
        objects.retain(|object| object.kind == kind);
        let place: BTreeMap<Uuid, usize> = ids.iter().copied().zip(0..).collect();
        objects.sort_by_key(|object| place.get(&object.id).copied());
        Ok(objects)
    }

    async fn deployments_on(
        &self,
        servers: &[Arc<str>],
    ) -> Result<Vec<(Arc<str>, Uuid, Option<Uuid>)>, DbError> {
        let mut reader = self.reader().await?;
        let mut all = Vec::new();
        for chunk in servers.chunks(AT_ONCE) {
            // The last one is repeated, so that there is one statement.
            let filled = chunk.iter().chain(chunk.last().into_iter().cycle()).take(AT_ONCE);
            let select = format!(
                "SELECT subject, id, uses FROM objects WHERE kind = ? AND subject IN ({})",
                placeholders(AT_ONCE)
            );
            let select = self.statement(&select).with(|values| {
                values.text(ObjectKind::Deployment.name());
                filled.for_each(|server| values.text(server));
            });
            for row in select.all(&mut reader).await? {
                let mut row = Reader::new(&row);
                all.push((row.text()?.into(), row.id()?, row.maybe_id()?));
            }
        }
        Ok(all)
    }

    async fn number_of_objects(&self, query: &ObjectQuery) -> Result<u64, DbError> {
        let condition = condition(query);
        let text = format!("SELECT COUNT(*) FROM objects WHERE {}", condition.text());
        let mut statement = self.statement(&text);
        condition.add_to(&mut statement.values);
        let row = statement.first(&mut *self.reader().await?).await?;
        row.map_or(Ok(0), |row| Reader::new(&row).count())
    }
}

fn condition(query: &ObjectQuery) -> Condition {
    let mut condition = Condition::new();
    condition.and("kind = ?", [Value::Text(query.kind.name().into())]);
    if let Some(project) = &query.project {
        condition.and("project = ?", [Value::Text(project.clone())]);
    }
    if let Some(subject) = &query.subject {
        condition.and("subject = ?", [Value::Text(subject.clone())]);
    }
    if let Some(uses) = query.uses {
        condition.and("uses = ?", [Value::Id(uses)]);
    }
    condition
}

#[async_trait]
impl Objects for SqlStore {
    async fn put_object(&self, object: ObjectRow) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.put_once(&object))?)
    }

    async fn add_object(&self, object: ObjectRow) -> Result<bool, StoreError> {
        match retry_conflicts!(self.add_once(&object)) {
            Err(error) if error.is_duplicate() => Ok(false),
            outcome => Ok(outcome.map(|()| true)?),
        }
    }

    async fn put_object_within(&self, object: ObjectRow, limit: u64) -> Result<bool, StoreError> {
        Ok(retry_conflicts!(self.put_within_once(&object, limit))?)
    }

    async fn drop_objects(
        &self,
        kind: ObjectKind,
        before: Time,
        limit: u64,
    ) -> Result<u64, StoreError> {
        Ok(retry_conflicts!(self.drop_old_once(kind, before, limit))?)
    }

    async fn drop_object(&self, kind: ObjectKind, id: Uuid) -> Result<bool, StoreError> {
        Ok(retry_conflicts!(self.drop_once(kind, id))?)
    }

    async fn object(&self, kind: ObjectKind, id: Uuid) -> Result<Option<ObjectRow>, StoreError> {
        let object: Option<ObjectRow> = self.by_id(id.as_bytes()).await?;
        Ok(object.filter(|object| object.kind == kind))
    }

    async fn objects_by_id(
        &self,
        kind: ObjectKind,
        ids: &[Uuid],
    ) -> Result<Vec<ObjectRow>, StoreError> {
        Ok(self.objects_with_ids(kind, ids).await?)
    }

    async fn objects(&self, query: &ObjectQuery) -> Result<Vec<ObjectRow>, StoreError> {
        Ok(self.page_of_objects(query).await?)
    }

    async fn deployed_on(
        &self,
        servers: &[Arc<str>],
    ) -> Result<Vec<(Arc<str>, Uuid, Option<Uuid>)>, StoreError> {
        Ok(self.deployments_on(servers).await?)
    }

    async fn count_objects(&self, query: &ObjectQuery) -> Result<u64, StoreError> {
        Ok(self.number_of_objects(query).await?)
    }
}
