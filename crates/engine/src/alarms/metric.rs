//! Metrics: series of samples, stored as totals of ten seconds.

use super::store::SeriesRow;
use crate::record::Record;
use crate::record::v1::SeriesBody;
use crate::store::StoreError;
use crate::time::Time;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The length of a bucket.
pub(crate) const BUCKET: Duration = Duration::from_secs(10);

/// The largest magnitude of a sample: sums of any number of samples stay finite.
pub const MAX_MAGNITUDE: f64 = 2.348_542_582_773_833e108;

/// A statistic of the samples of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// How many there are.
    SampleCount,
    /// Their mean.
    Average,
    /// Their sum.
    Sum,
    /// The least of them.
    Minimum,
    /// The greatest of them.
    Maximum,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Statistic; 5] = [
        Statistic::SampleCount,
        Statistic::Average,
        Statistic::Sum,
        Statistic::Minimum,
        Statistic::Maximum,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::SampleCount => "SampleCount",
            Statistic::Average => "Average",
            Statistic::Sum => "Sum",
            Statistic::Minimum => "Minimum",
            Statistic::Maximum => "Maximum",
        }
    }

    /// The statistic of a name.
    pub fn parse(name: &str) -> Option<Statistic> {
        Statistic::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The totals of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// The number of samples, which clients may have weighted.
    pub count: f64,
    /// Their sum.
    pub sum: f64,
    /// The least of them.
    pub low: f64,
    /// The greatest of them.
    pub high: f64,
}

impl Totals {
    /// One sample.
    pub fn single(value: f64) -> Totals {
        Totals { count: 1.0, sum: value, low: value, high: value }
    }

    /// Whether these can be totals of samples at all.
    pub fn is_valid(&self) -> bool {
        let is_fine = |number: f64| number.is_finite() && number.abs() <= MAX_MAGNITUDE;
        [self.count, self.sum, self.low, self.high].into_iter().all(is_fine)
            && self.count > 0.0
            && self.low <= self.high
    }

    /// The totals of these and other samples.
    pub fn merge(self, other: Totals) -> Totals {
        Totals {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The totals of all; `None` if there are none.
    pub fn merge_all(totals: impl IntoIterator<Item = Totals>) -> Option<Totals> {
        totals.into_iter().reduce(Totals::merge)
    }

    /// The value of a statistic.
    pub fn statistic(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::SampleCount => self.count,
            Statistic::Average => self.sum / self.count,
            Statistic::Sum => self.sum,
            Statistic::Minimum => self.low,
            Statistic::Maximum => self.high,
        }
    }
}

/// The samples of ten seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The series that they belong to, or the alarm that they were given to.
    pub series: Uuid,
    /// When the ten seconds begin.
    pub start: Time,
    /// Their totals.
    pub totals: Totals,
}

impl Bucket {
    /// When the ten seconds begin that a moment is in.
    pub fn start_of(time: Time) -> Time {
        let length = BUCKET.as_micros() as i64;
        Time::from_micros(time.micros().div_euclid(length).saturating_mul(length))
    }

    /// Samples of a moment.
    pub fn at(series: Uuid, time: Time, totals: Totals) -> Bucket {
        Bucket { series, start: Bucket::start_of(time), totals }
    }

    /// When the ten seconds end.
    pub fn end(&self) -> Time {
        self.start + BUCKET
    }
}

/// Samples of one kind: whatever has these parts alike is one series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// The project.
    pub project: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name of the metric.
    pub metric: Arc<str>,
    /// The unit of the values, if one was sent.
    pub unit: Option<Arc<str>>,
    /// The alarm that it was meant for, if one was named.
    pub alarm: Option<Arc<str>>,
    /// The dimensions, by name.
    pub dimensions: BTreeMap<Arc<str>, Arc<str>>,
}

impl Series {
    /// Its id: the same for the same parts.
    pub fn id(&self) -> Uuid {
        use sha2::Digest;
        let mut hash = sha2::Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        [&self.project, &self.namespace, &self.metric].into_iter().for_each(|part| add(part));
        for part in [&self.unit, &self.alarm] {
            add(if part.is_some() { "1" } else { "0" });
            add(part.as_deref().unwrap_or_default());
        }
        for (name, value) in &self.dimensions {
            add(name);
            add(value);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// The parts of it that have no columns of their own.
    pub fn body(&self) -> Vec<u8> {
        SeriesBody {
            unit: self.unit.clone(),
            alarm: self.alarm.clone(),
            dimensions: self.dimensions.clone(),
        }
        .encode()
    }

    /// The series that was written down so.
    pub fn read(row: &SeriesRow) -> Result<Series, StoreError> {
        let body = SeriesBody::read(&row.body, row.id)?;
        Ok(Series {
            project: row.project.clone(),
            namespace: row.namespace.clone(),
            metric: row.metric.clone(),
            unit: body.unit,
            alarm: body.alarm,
            dimensions: body.dimensions,
        })
    }
}

/// Totals of periods that are counted from 1970, by their beginnings; periods without samples are left out.
pub(crate) fn datapoints(buckets: &[Bucket], period: Duration) -> BTreeMap<Time, Totals> {
    let period = i64::try_from(period.as_micros()).unwrap_or(i64::MAX).max(1);
    let mut points: BTreeMap<Time, Totals> = BTreeMap::new();
    for bucket in buckets {
        let start = Time::from_micros(bucket.start.micros().div_euclid(period) * period);
        let point = points.entry(start);
        point.and_modify(|it| *it = it.merge(bucket.totals)).or_insert(bucket.totals);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Time {
        Time::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_series_is_known_by_its_parts() {
        let series = Series {
            project: "p".into(),
            namespace: "system/linux".into(),
            metric: "CPUUtilization".into(),
            unit: Some("Percent".into()),
            alarm: None,
            dimensions: [("InstanceId".into(), "i-1".into())].into(),
        };
        let again = Series::read(&SeriesRow::new(&series, Time::default())).unwrap();
        assert_eq!(again, series);
        assert_eq!(again.id(), series.id());
        for other in [
            Series { unit: None, ..series.clone() },
            Series { alarm: Some("".into()), ..series.clone() },
            Series { project: "q".into(), ..series.clone() },
            Series { dimensions: [("InstanceId".into(), "i-2".into())].into(), ..series.clone() },
        ] {
            assert_ne!(other.id(), series.id(), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_no_sample() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
            assert!(!Totals::single(value).is_valid(), "{value}");
        }
        assert!(!Totals { count: 0.0, ..Totals::single(1.0) }.is_valid());
        assert!(!Totals { low: 2.0, ..Totals::single(1.0) }.is_valid());
        assert!(Totals::single(-3.5).is_valid());
    }

    #[test]
    fn datapoints_are_counted_from_1970() {
        let buckets: Vec<Bucket> = [(50, 1.0), (60, 3.0), (119, 5.0), (180, 7.0)]
            .map(|(second, value)| Bucket::at(Uuid::nil(), at(second), Totals::single(value)))
            .into();
        let points = datapoints(&buckets, Duration::from_secs(60));
        let seen: Vec<(i64, f64, f64)> =
            points.iter().map(|(start, it)| (start.seconds(), it.count, it.sum)).collect();
        assert_eq!(seen, [(0, 1.0, 1.0), (60, 2.0, 8.0), (180, 1.0, 7.0)]);
    }

    proptest! {
        #[test]
        fn however_samples_are_put_together_their_statistics_are_the_same(
            values in prop::collection::vec(-1e6f64..1e6, 1..40),
            cut in 0usize..40,
        ) {
            let all = Totals::merge_all(values.iter().map(|value| Totals::single(*value))).unwrap();
            let (left, right) = values.split_at(cut.min(values.len()));
            let part = |part: &[f64]| Totals::merge_all(part.iter().map(|value| Totals::single(*value)));
            let split = Totals::merge_all([part(left), part(right)].into_iter().flatten()).unwrap();
            for statistic in Statistic::ALL {
                let (one, other) = (all.statistic(statistic), split.statistic(statistic));
                prop_assert!((one - other).abs() <= 1e-3, "{statistic:?}: {one} {other}");
            }
            prop_assert!(all.low <= all.statistic(Statistic::Average) + 1e-6);
            prop_assert!(all.statistic(Statistic::Average) <= all.high + 1e-6);
        }

        #[test]
        fn a_moment_is_in_its_bucket(micros in -1_000_000_000i64..4_000_000_000_000_000) {
            let time = Time::from_micros(micros);
            let bucket = Bucket::at(Uuid::nil(), time, Totals::single(1.0));
            prop_assert!(bucket.start <= time && time < bucket.end());
        }
    }
}
