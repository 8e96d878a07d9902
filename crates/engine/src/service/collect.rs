//! Writing samples to the store in batches.
//!
//! Ten thousand guests that report in the same second cause a few commits, not ten thousand. Requests that come during a
//! commit wait, and one of them writes the samples of all.

use crate::alarms::{Bucket, Series, SeriesRow, Totals};
use crate::store::{Store, StoreError};
use crate::time::Time;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use tokio::sync::oneshot;
use uuid::Uuid;

/// Collects samples.
#[derive(Debug, Default)]
pub(super) struct Collector {
    gathered: Mutex<Gathered>,
    /// Held by the request that writes.
    turn: tokio::sync::Mutex<()>,
    /// The series that were written lately, and when: they need not be written again.
    noted: Mutex<HashMap<Uuid, Time>>,
}

#[derive(Debug, Default)]
struct Gathered {
    series: BTreeMap<Uuid, SeriesRow>,
    buckets: BTreeMap<(Uuid, Time), Totals>,
    waiting: Vec<oneshot::Sender<Result<(), String>>>,
}

/// How many requests wait at most.
const MOST_WAITING: usize = 20_000;
/// How many series are remembered at most.
const MOST_NOTED: usize = 100_000;
/// For how long a series need not be written again, in microseconds.
const NOTED: i64 = 3_600_000_000;

impl Collector {
    /// Adds samples. They are durable when this returns.
    pub(super) async fn put(
        &self,
        store: &dyn Store,
        series: Vec<Series>,
        buckets: Vec<Bucket>,
        now: Time,
    ) -> Result<(), StoreError> {
        let mut written = self.gather(series, buckets, now)?;
        let _turn = self.turn.lock().await;
        // The previous writer may have written these samples, too.
        if let Ok(outcome) = written.try_recv() {
            return outcome.map_err(|why: String| StoreError::Unavailable(why.into()));
        }
        let Gathered { series, buckets, waiting } = std::mem::take(&mut *self.gathered());
        let rows: Vec<SeriesRow> = series.into_values().collect();
        let buckets = buckets.into_iter();
        let buckets = buckets.map(|((series, start), totals)| Bucket { series, start, totals });
        let buckets: Vec<Bucket> = buckets.collect();
        let outcome = store.add_samples(&rows, &buckets).await;
        if outcome.is_ok() {
            self.note(&rows);
        }
        let outcome = outcome.map_err(|error| error.to_string());
        for waiting in waiting {
            _ = waiting.send(outcome.clone());
        }
        let lost = || {
            Err("the request that wrote these samples was interrupted; send them again".to_owned())
        };
        written
            .try_recv()
            .unwrap_or_else(|_| lost())
            .map_err(|why: String| StoreError::Unavailable(why.into()))
    }

    fn gather(
        &self,
        series: Vec<Series>,
        buckets: Vec<Bucket>,
        now: Time,
    ) -> Result<oneshot::Receiver<Result<(), String>>, StoreError> {
        let new: Vec<SeriesRow> = {
            let noted = self.noted.lock();
            let is_new = |row: &SeriesRow| {
                noted.get(&row.id).is_none_or(|seen| now.micros() - seen.micros() > NOTED)
            };
            series.iter().map(|it| SeriesRow::new(it, now)).filter(is_new).collect()
        };
        let mut gathered = self.gathered();
        if gathered.waiting.len() >= MOST_WAITING {
            return Err(StoreError::Unavailable("too many samples at once".into()));
        }
        gathered.series.extend(new.into_iter().map(|row| (row.id, row)));
        for bucket in buckets {
            let kept = gathered.buckets.entry((bucket.series, bucket.start));
            kept.and_modify(|it| *it = it.merge(bucket.totals)).or_insert(bucket.totals);
        }
        let (sender, receiver) = oneshot::channel();
        gathered.waiting.push(sender);
        Ok(receiver)
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock()
    }

    fn note(&self, rows: &[SeriesRow]) {
        let mut noted = self.noted.lock();
        if noted.len() + rows.len() > MOST_NOTED {
            noted.clear();
        }
        noted.extend(rows.iter().map(|row| (row.id, row.seen)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarms::Alarms;
    use crate::memory::MemoryStore;
    use std::sync::Arc;

    fn series(number: usize) -> Series {
        Series {
            project: "p".into(),
            namespace: "n".into(),
            metric: "m".into(),
            unit: None,
            alarm: None,
            dimensions: [(Arc::from("InstanceId"), Arc::from(format!("i-{number}")))].into(),
        }
    }

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "the test waits for its tasks itself")]
    async fn samples_of_many_are_written_together() {
        const GUESTS: usize = 1000;
        let store = Arc::new(MemoryStore::new());
        let collector = Arc::new(Collector::default());
        let now = Time::from_micros(1_000_000_000);
        let shared = Uuid::from_u128(7);
        // All others are gathered while the first batch is written.
        let turn = collector.turn.lock().await;
        let put = |number: usize| {
            let (store, collector) = (store.clone(), collector.clone());
            tokio::spawn(async move {
                let series = series(number);
                let totals = Totals::single(number as f64);
                let buckets = [series.id(), shared].map(|id| Bucket::at(id, now, totals));
                collector.put(&*store, vec![series], buckets.into(), now).await
            })
        };
        let puts: Vec<_> = (0..GUESTS).map(put).collect();
        while collector.gathered().waiting.len() < GUESTS {
            tokio::task::yield_now().await;
        }
        drop(turn);
        for put in puts {
            put.await.unwrap().unwrap();
        }
        assert_eq!(store.commits(), 1);
        let samples = store.samples(&[shared], now, Time::NEVER).await.unwrap();
        assert_eq!(samples[0].totals.count, GUESTS as f64);
    }

    #[tokio::test]
    async fn whoever_cannot_be_written_is_told() {
        let store = MemoryStore::new();
        let collector = Collector::default();
        store.set_failing(true);
        let now = Time::from_micros(1_000_000_000);
        let bucket = Bucket::at(series(1).id(), now, Totals::single(1.0));
        let refused = collector.put(&store, vec![series(1)], vec![bucket], now).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        store.set_failing(false);
        collector.put(&store, vec![series(1)], vec![bucket], now).await.unwrap();
        let samples = store.samples(&[series(1).id()], Time::default(), Time::NEVER).await.unwrap();
        assert_eq!(samples[0].totals.count, 1.0, "what was refused does not count");
    }
}
