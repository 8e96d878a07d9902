//! Metrics: series, and their samples as totals of ten seconds.

use crate::database::SqlStore;
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::list::{Condition, ListSpec, Value, select};
use crate::sql::{Reader, Statement};
use kiln_engine::Time;
use kiln_engine::alarms::{Bucket, SeriesQuery, SeriesRow, Totals};
use sqlx::any::AnyRow;
use uuid::Uuid;

/// How many samples go into one statement.
const SAMPLES_AT_ONCE: [usize; 4] = [128, 32, 8, 1];

impl SqlStore {
    pub(crate) async fn page_of_series(
        &self,
        query: &SeriesQuery,
    ) -> Result<Vec<SeriesRow>, DbError> {
        let mut condition = Condition::new();
        condition.and("project = ?", [Value::Text(query.project.clone())]);
        for (text, value) in [("namespace = ?", &query.namespace), ("metric = ?", &query.metric)] {
            if let Some(value) = value {
                condition.and(text, [Value::Text(value.clone())]);
            }
        }
        if let Some(id) = query.marker {
            condition.and("id > ?", [Value::Id(id)]);
        }
        let statement = select::<SeriesRow>(
            self.dialect,
            condition,
            &ListSpec::whole(&["id"], Some(query.limit)),
        );
        statement.read(&mut *self.reader().await?, &self.cipher).await
    }

    pub(crate) async fn add_samples_once(
        &self,
        series: &[SeriesRow],
        all: &[Bucket],
    ) -> Result<(), DbError> {
        let mut transaction = self.begin().await?;
        // Always in the same order: two who add at the same time wait for each other once.
        let mut series: Vec<&SeriesRow> = series.iter().collect();
        series.sort_by_key(|row| row.id);
        self.tables.write(&mut transaction, &self.cipher, &series).await?;
        let mut all = all.to_vec();
        all.sort_by_key(|bucket| (bucket.series, bucket.start));
        let mut rest = &all[..];
        while !rest.is_empty() {
            let size = SAMPLES_AT_ONCE.into_iter().find(|size| *size <= rest.len()).unwrap_or(1);
            let (chunk, others) = rest.split_at(size);
            rest = others;
            add_statement(self.dialect, chunk).run(&mut transaction).await?;
        }
        self.tables.count(all.len(), 0);
        self.finish(transaction).await
    }

    pub(crate) async fn samples_of(
        &self,
        series: &[Uuid],
        from: Time,
        until: Time,
    ) -> Result<Vec<Bucket>, DbError> {
        let text = "SELECT series, start, amount, total, low, high FROM samples \
                    WHERE series IN ({ids}) AND start >= ? AND start < ? ORDER BY series, start";
        let mut series = series.to_vec();
        series.sort();
        series.dedup();
        let mut reader = self.reader().await?;
        let mut found = Vec::new();
        for statement in self.tables.by_ids(text, &series) {
            let statement = statement.with(|values| {
                values.time(from);
                values.time(until);
            });
            for row in statement.all(&mut reader).await? {
                found.push(bucket(&row)?);
            }
        }
        Ok(found)
    }

    pub(crate) async fn prune_metrics_once(
        &self,
        samples: Time,
        history: Time,
        limit: u64,
    ) -> Result<u64, DbError> {
        let mut transaction = self.begin().await?;
        let select =
            "SELECT series, start FROM samples WHERE start < ? ORDER BY start, series LIMIT ?";
        let select = self.statement(select).with(|values| {
            values.time(samples);
            values.count(limit);
        });
        let old = select.all(&mut transaction).await?;
        for row in &old {
            let mut row = Reader::new(row);
            let (series, start) = (row.id()?, row.time()?);
            let delete = self.statement("DELETE FROM samples WHERE series = ? AND start = ?");
            let delete = delete.with(|values| {
                values.id(series);
                values.time(start);
            });
            delete.run(&mut transaction).await?;
        }
        let mut most = old.len() as u64;
        for (table, column, before) in
            [("series", "seen", samples), ("alarm_history", "time", history)]
        {
            let select =
                format!("SELECT id FROM {table} WHERE {column} < ? ORDER BY {column}, id LIMIT ?");
            let select = self.statement(&select).with(|values| {
                values.time(before);
                values.count(limit);
            });
            let rows = select.all(&mut transaction).await?;
            let ids: Vec<Uuid> =
                rows.iter().map(|row| Reader::new(row).id()).collect::<Result<_, _>>()?;
            let delete = format!("DELETE FROM {table} WHERE id IN ({{ids}})");
            self.run_by_ids(&mut transaction, &delete, &ids).await?;
            most = most.max(ids.len() as u64);
        }
        if most > 0 {
            self.finish(transaction).await?;
        }
        Ok(most)
    }
}

/// Adds samples to those that are there.
fn add_statement(dialect: Dialect, chunk: &[Bucket]) -> Statement {
    let rows = vec!["(?, ?, ?, ?, ?, ?)"; chunk.len()].join(", ");
    let (head, (left, right)) = match dialect {
        Dialect::Mariadb => (" ON DUPLICATE KEY UPDATE ", ("VALUES(", ")")),
        _ => (" ON CONFLICT (series, start) DO UPDATE SET ", ("excluded.", "")),
    };
    let new = |column: &str| format!("{left}{column}{right}");
    let sum = |column: &str| format!("{column} = samples.{column} + {}", new(column));
    let pick = |column: &str, sign: char| {
        let new = new(column);
        let old = format!("samples.{column}");
        format!("{column} = CASE WHEN {new} {sign} {old} THEN {new} ELSE {old} END")
    };
    let set = [sum("amount"), sum("total"), pick("low", '<'), pick("high", '>')].join(", ");
    let text = format!(
        "INSERT INTO samples (series, start, amount, total, low, high) VALUES {rows}{head}{set}"
    );
    Statement::new(dialect, &text).with(|values| {
        for bucket in chunk {
            values.id(bucket.series);
            values.time(bucket.start);
            let totals = bucket.totals;
            for number in [totals.count, totals.sum, totals.low, totals.high] {
                values.double(number);
            }
        }
    })
}

fn bucket(row: &AnyRow) -> Result<Bucket, DbError> {
    let mut row = Reader::new(row);
    let (series, start) = (row.id()?, row.time()?);
    let (count, sum) = (row.double()?, row.double()?);
    let (low, high) = (row.double()?, row.double()?);
    Ok(Bucket { series, start, totals: Totals { count, sum, low, high } })
}
