//! Alarms, and what happened to them.

use crate::database::SqlStore;
use crate::error::{DbError, retry_conflicts};
use crate::list::{Condition, ListSpec, Value, select};
use crate::rows::QuotaRow;
use crate::sql::Reader;
use crate::table::TableRow;
use async_trait::async_trait;
use kiln_engine::alarms::{
    AlarmChange, AlarmEvent, AlarmQuery, AlarmRow, Alarms, Bucket, HistoryQuery, SeriesQuery,
    SeriesRow,
};
use kiln_engine::store::{CommandRow, StoreError};
use kiln_engine::{ObjectRow, Time};
use sqlx::AnyConnection;
use uuid::Uuid;

impl SqlStore {
    async fn write_alarms_once(&self, changes: &[AlarmChange]) -> Result<Vec<bool>, DbError> {
        let mut transaction = self.begin().await?;
        // Trees are locked first, and in order, as everywhere.
        let commands = changes.iter().flat_map(|change| &change.commands);
        let roots: Vec<Uuid> = commands.map(|command| command.root.0).collect();
        let mut trees = self.lock_trees(&mut transaction, &roots).await?;
        // So are alarms.
        let mut order: Vec<usize> = (0..changes.len()).collect();
        order.sort_by_key(|at| changes[*at].alarm.id);
        let mut written = vec![false; changes.len()];
        for at in order {
            written[at] = self.write_alarm(&mut transaction, &changes[at]).await?;
        }
        let done = || changes.iter().zip(&written).filter(|(_, done)| **done).map(|pair| pair.0);
        let history: Vec<&AlarmEvent> = done().flat_map(|change| &change.history).collect();
        self.tables.write(&mut transaction, &self.cipher, &history).await?;
        let letters: Vec<&ObjectRow> = done().flat_map(|change| &change.webhooks).collect();
        self.tables.write(&mut transaction, &self.cipher, &letters).await?;
        let commands: Vec<&CommandRow> = done().flat_map(|change| &change.commands).collect();
        self.queue_commands(&mut transaction, &mut trees, &commands).await?;
        if written.contains(&true) {
            self.finish(transaction).await?;
        }
        Ok(written)
    }

    async fn note_once(&self, events: &[AlarmEvent]) -> Result<(), DbError> {
        let mut transaction = self.begin().await?;
        let events: Vec<&AlarmEvent> = events.iter().collect();
        self.tables.write(&mut transaction, &self.cipher, &events).await?;
        self.finish(transaction).await
    }

    /// Writes an alarm if it is as it was read; whether it was.
    async fn write_alarm(
        &self,
        connection: &mut AnyConnection,
        change: &AlarmChange,
    ) -> Result<bool, DbError> {
        let id = change.alarm.id;
        if change.is_deleted {
            let delete = self.statement("DELETE FROM alarms WHERE id = ? AND version = ?");
            let delete = delete.with(|values| {
                values.id(id);
                values.count(change.expected_version.unwrap_or(0));
            });
            if delete.run(connection).await? == 0 {
                return Ok(false);
            }
            let delete = self.statement("DELETE FROM samples WHERE series = ?");
            delete.with(|values| values.id(id)).run(connection).await?;
            return Ok(true);
        }
        let alarm =
            AlarmRow { version: change.expected_version.unwrap_or(0) + 1, ..change.alarm.clone() };
        let Some(was) = change.expected_version else {
            let select = self.statement("SELECT version FROM alarms WHERE id = ?");
            if select.with(|values| values.id(id)).first(connection).await?.is_some() {
                return Ok(false);
            }
            if let Some(limit) = change.max_alarms {
                let quota = QuotaRow::new(&alarm.project, "alarm");
                let count = "SELECT COUNT(*) FROM alarms WHERE project = ?";
                let count = self.statement(count).with(|values| values.text(&alarm.project));
                if self.count_locked(connection, &quota, count).await? >= limit {
                    return Ok(false);
                }
            }
            let mut insert = self.statement(&AlarmRow::insertion());
            alarm.write(&self.cipher, &mut insert.values)?;
            insert.run(connection).await?;
            return Ok(true);
        };
        let set = AlarmRow::COLUMNS.iter().map(|column| format!("{} = ?", column.name));
        let set: Vec<String> = set.collect();
        let text = format!("UPDATE alarms SET {} WHERE id = ? AND version = ?", set.join(", "));
        let mut update = self.statement(&text);
        alarm.write(&self.cipher, &mut update.values)?;
        update.values.id(id);
        update.values.count(was);
        Ok(update.run(connection).await? > 0)
    }

    async fn page_of_alarms(&self, query: &AlarmQuery) -> Result<Vec<AlarmRow>, DbError> {
        let mut condition = Condition::new();
        condition.and("project = ?", [Value::Text(query.project.clone())]);
        for (text, value) in [("name = ?", &query.name), ("metric = ?", &query.metric)] {
            if let Some(value) = value {
                condition.and(text, [Value::Text(value.clone())]);
            }
        }
        if let Some(prefix) = query.prefix.as_ref().filter(|prefix| !prefix.is_empty()) {
            let end = format!("{prefix}{}", char::MAX);
            let bounds = [Value::Text(prefix.clone()), Value::Text(end.into())];
            condition.and("name >= ? AND name < ?", bounds);
        }
        if let Some(stack) = query.stack {
            condition.and("stack = ?", [Value::Id(stack.0)]);
        }
        if let Some(state) = query.state {
            condition.and("state = ?", [Value::Text(state.name().into())]);
        }
        if let Some((name, id)) = &query.marker {
            let keys = [("name", Value::Text(name.clone())), ("id", Value::Id(*id))];
            condition.behind(&keys, false);
        }
        let keys = ["name", "id"];
        let statement =
            select::<AlarmRow>(self.dialect, condition, &ListSpec::whole(&keys, query.limit));
        statement.read(&mut *self.reader().await?, &self.cipher).await
    }

    async fn page_of_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, DbError> {
        let mut condition = Condition::new();
        condition.and("project = ?", [Value::Text(query.project.clone())]);
        if let Some(alarm) = &query.alarm {
            condition.and("alarm = ?", [Value::Text(alarm.clone())]);
        }
        if let Some(kind) = query.kind {
            condition.and("kind = ?", [Value::Text(kind.name().into())]);
        }
        for (text, time) in [("time >= ?", query.from), ("time <= ?", query.until)] {
            if let Some(time) = time {
                condition.and(text, [Value::Int(time.micros())]);
            }
        }
        if let Some((time, id)) = query.marker {
            let keys = [("time", Value::Int(time.micros())), ("id", Value::Id(id))];
            condition.behind(&keys, query.descending);
        }
        let (keys, limit) = (["time", "id"], Some(query.limit));
        let statement = select::<AlarmEvent>(
            self.dialect,
            condition,
            &ListSpec { descending: query.descending, ..ListSpec::whole(&keys, limit) },
        );
        statement.read(&mut *self.reader().await?, &self.cipher).await
    }

    async fn reset_once(&self, now: Time) -> Result<(), DbError> {
        let mut transaction = self.begin().await?;
        let update = "UPDATE alarms SET evaluated = ?, due = ? + period, version = version + 1 \
                      WHERE due < ?";
        let update = self.statement(update).with(|values| {
            values.time(now);
            values.time(now);
            values.time(Time::NEVER);
        });
        if update.run(&mut transaction).await? > 0 {
            self.finish(transaction).await?;
        }
        Ok(())
    }

    async fn due_once(&self, now: Time, limit: u64) -> Result<Vec<AlarmRow>, DbError> {
        let mut condition = Condition::new();
        condition.and("due <= ?", [Value::Int(now.micros())]);
        let statement = select::<AlarmRow>(
            self.dialect,
            condition,
            &ListSpec::whole(&["due", "id"], Some(limit)),
        );
        statement.read(&mut *self.reader().await?, &self.cipher).await
    }

    async fn number_of_alarms(&self, project: &str) -> Result<u64, DbError> {
        let count = self.statement("SELECT COUNT(*) FROM alarms WHERE project = ?");
        let count = count.with(|values| values.text(project));
        let row = count.first(&mut *self.reader().await?).await?;
        row.map_or(Ok(0), |row| Reader::new(&row).count())
    }
}

#[async_trait]
impl Alarms for SqlStore {
    async fn write_alarms(&self, changes: &[AlarmChange]) -> Result<Vec<bool>, StoreError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        // Two who add the same alarm at the same moment: the second sees it when it looks again.
        let outcome = retry_conflicts!(self.write_alarms_once(changes));
        match outcome {
            Err(error) if error.is_duplicate() => {
                Ok(retry_conflicts!(self.write_alarms_once(changes))?)
            }
            outcome => Ok(outcome?),
        }
    }

    async fn add_alarm_events(&self, events: &[AlarmEvent]) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.note_once(events))?)
    }

    async fn alarm(&self, id: Uuid) -> Result<Option<AlarmRow>, StoreError> {
        Ok(self.by_id(id.as_bytes()).await?)
    }

    async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<AlarmRow>, StoreError> {
        Ok(self.page_of_alarms(query).await?)
    }

    async fn count_alarms(&self, project: &str) -> Result<u64, StoreError> {
        Ok(self.number_of_alarms(project).await?)
    }

    async fn due_alarms(&self, now: Time, limit: u64) -> Result<Vec<AlarmRow>, StoreError> {
        Ok(self.due_once(now, limit).await?)
    }

    async fn reset_alarms(&self, now: Time) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.reset_once(now))?)
    }

    async fn alarm_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, StoreError> {
        Ok(self.page_of_history(query).await?)
    }

    async fn add_samples(
        &self,
        series: &[SeriesRow],
        buckets: &[Bucket],
    ) -> Result<(), StoreError> {
        Ok(retry_conflicts!(self.add_samples_once(series, buckets))?)
    }

    async fn series(&self, query: &SeriesQuery) -> Result<Vec<SeriesRow>, StoreError> {
        Ok(self.page_of_series(query).await?)
    }

    async fn samples(
        &self,
        series: &[Uuid],
        from: Time,
        until: Time,
    ) -> Result<Vec<Bucket>, StoreError> {
        Ok(self.samples_of(series, from, until).await?)
    }

    async fn prune_metrics(
        &self,
        samples: Time,
        history: Time,
        limit: u64,
    ) -> Result<u64, StoreError> {
        Ok(retry_conflicts!(self.prune_metrics_once(samples, history, limit))?)
    }
}
