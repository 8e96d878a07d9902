//! Alarms and metrics, in memory.

use super::MemoryStore;
use crate::alarms::{
    AlarmChange, AlarmEvent, AlarmQuery, AlarmRow, Alarms, Bucket, HistoryQuery, SeriesQuery,
    SeriesRow, Totals,
};
use crate::store::StoreError;
use crate::time::Time;
use async_trait::async_trait;
use parking_lot::MutexGuard;
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Debug, Default)]
pub(super) struct AlarmTables {
    alarms: BTreeMap<Uuid, AlarmRow>,
    history: BTreeMap<(Time, Uuid), AlarmEvent>,
    series: BTreeMap<Uuid, SeriesRow>,
    samples: BTreeMap<(Uuid, Time), Totals>,
}

impl MemoryStore {
    fn open_watched(&self) -> Result<MutexGuard<'_, AlarmTables>, StoreError> {
        self.open().map(drop)?;
        Ok(self.watched())
    }

    fn watched(&self) -> MutexGuard<'_, AlarmTables> {
        self.watched.lock()
    }
}

impl AlarmTables {
    /// Whether it was written.
    fn write(&mut self, change: &AlarmChange) -> bool {
        let id = change.alarm.id;
        if self.alarms.get(&id).map(|it| it.version) != change.expected_version {
            return false;
        }
        let of_project = self.alarms.values().filter(|it| it.project == change.alarm.project);
        let is_new = change.expected_version.is_none();
        if let Some(limit) = change.max_alarms.filter(|_| is_new)
            && of_project.count() as u64 >= limit
        {
            return false;
        }
        let version = change.expected_version.unwrap_or(0) + 1;
        match change.is_deleted {
            true => {
                self.alarms.remove(&id);
                self.samples.retain(|(series, _), _| *series != id);
            }
            false => _ = self.alarms.insert(id, AlarmRow { version, ..change.alarm.clone() }),
        }
        self.history
            .extend(change.history.iter().map(|event| ((event.time, event.id), event.clone())));
        true
    }
}

fn at_most<T>(mut rows: Vec<T>, limit: Option<u64>) -> Vec<T> {
    rows.truncate(limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX));
    rows
}

#[async_trait]
impl Alarms for MemoryStore {
    async fn write_alarms(&self, changes: &[AlarmChange]) -> Result<Vec<bool>, StoreError> {
        let mut kept = self.open()?;
        let mut watched = self.watched();
        let mut written = Vec::new();
        for change in changes {
            let is_written = watched.write(change);
            if is_written {
                change.commands.iter().for_each(|command| _ = kept.submit(command.clone()));
                let webhooks = change.webhooks.iter().map(|it| ((it.kind, it.id), it.clone()));
                self.objects.lock().extend(webhooks);
            }
            written.push(is_written);
        }
        self.durable(written.contains(&true));
        Ok(written)
    }

    async fn add_alarm_events(&self, events: &[AlarmEvent]) -> Result<(), StoreError> {
        let events = events.iter().map(|event| ((event.time, event.id), event.clone()));
        self.open_watched()?.history.extend(events);
        self.durable(true);
        Ok(())
    }

    async fn alarm(&self, id: Uuid) -> Result<Option<AlarmRow>, StoreError> {
        Ok(self.open_watched()?.alarms.get(&id).cloned())
    }

    async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<AlarmRow>, StoreError> {
        let watched = self.open_watched()?;
        let wanted = watched.alarms.values().filter(|it| query.matches(it));
        let is_behind = |it: &&AlarmRow| {
            let key = (it.name.clone(), it.id);
            query.marker.as_ref().is_none_or(|marker| key > *marker)
        };
        let mut found: Vec<AlarmRow> = wanted.filter(is_behind).cloned().collect();
        found.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Ok(at_most(found, query.limit))
    }

    async fn count_alarms(&self, project: &str) -> Result<u64, StoreError> {
        let watched = self.open_watched()?;
        Ok(watched.alarms.values().filter(|it| &*it.project == project).count() as u64)
    }

    async fn due_alarms(&self, now: Time, limit: u64) -> Result<Vec<AlarmRow>, StoreError> {
        let watched = self.open_watched()?;
        let due = watched.alarms.values().filter(|it| it.due <= now);
        let mut due: Vec<AlarmRow> = due.cloned().collect();
        due.sort_by_key(|it| (it.due, it.id));
        Ok(at_most(due, Some(limit)))
    }

    async fn reset_alarms(&self, now: Time) -> Result<(), StoreError> {
        let mut watched = self.open_watched()?;
        for alarm in watched.alarms.values_mut().filter(|it| it.due != Time::NEVER) {
            alarm.evaluated = now;
            alarm.due = now + alarm.period;
            alarm.version += 1;
        }
        self.durable(true);
        Ok(())
    }

    async fn alarm_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, StoreError> {
        let watched = self.open_watched()?;
        let wanted = watched.history.iter().filter(|(_, it)| query.matches(it));
        let is_behind =
            |(key, _): &(&(Time, Uuid), &AlarmEvent)| match (query.marker, query.descending) {
                (None, _) => true,
                (Some(marker), false) => **key > marker,
                (Some(marker), true) => **key < marker,
            };
        let mut found: Vec<AlarmEvent> =
            wanted.filter(is_behind).map(|(_, event)| event.clone()).collect();
        if query.descending {
            found.reverse();
        }
        Ok(at_most(found, Some(query.limit)))
    }

    async fn add_samples(
        &self,
        series: &[SeriesRow],
        buckets: &[Bucket],
    ) -> Result<(), StoreError> {
        let mut watched = self.open_watched()?;
        for row in series {
            let seen = watched.series.get(&row.id).map_or(row.seen, |it| it.seen.max(row.seen));
            watched.series.insert(row.id, SeriesRow { seen, ..row.clone() });
        }
        for bucket in buckets {
            let kept = watched.samples.entry((bucket.series, bucket.start));
            kept.and_modify(|it| *it = it.merge(bucket.totals)).or_insert(bucket.totals);
        }
        self.durable(true);
        Ok(())
    }

    async fn series(&self, query: &SeriesQuery) -> Result<Vec<SeriesRow>, StoreError> {
        let watched = self.open_watched()?;
        let wanted = watched.series.values().filter(|it| query.matches(it));
        let behind = wanted.filter(|it| query.marker.is_none_or(|marker| it.id > marker));
        Ok(at_most(behind.cloned().collect(), Some(query.limit)))
    }

    async fn samples(
        &self,
        series: &[Uuid],
        from: Time,
        until: Time,
    ) -> Result<Vec<Bucket>, StoreError> {
        let watched = self.open_watched()?;
        let mut series = series.to_vec();
        series.sort();
        series.dedup();
        let mut found = Vec::new();
        for series in series.into_iter().filter(|_| from < until) {
            let range = watched.samples.range((series, from)..(series, until));
            found.extend(range.map(|((series, start), totals)| Bucket {
                series: *series,
                start: *start,
                totals: *totals,
            }));
        }
        Ok(found)
    }

    async fn prune_metrics(
        &self,
        samples: Time,
        history: Time,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let mut watched = self.open_watched()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let old = watched.samples.keys().filter(|(_, start)| *start < samples).copied();
        let old: Vec<_> = old.take(limit).collect();
        old.iter().for_each(|key| _ = watched.samples.remove(key));
        let unseen = watched.series.values().filter(|it| it.seen < samples).map(|it| it.id);
        let unseen: Vec<_> = unseen.take(limit).collect();
        unseen.iter().for_each(|id| _ = watched.series.remove(id));
        let past = watched.history.keys().filter(|(time, _)| *time < history).copied();
        let past: Vec<_> = past.take(limit).collect();
        past.iter().for_each(|key| _ = watched.history.remove(key));
        self.durable(true);
        Ok(old.len().max(unseen.len()).max(past.len()) as u64)
    }
}
