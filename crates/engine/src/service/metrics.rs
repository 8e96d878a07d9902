//! Metrics: samples of users and servers, and statistics.

use super::{RequestError, Requester, Service};
use crate::alarms::{
    Alarm, AlarmQuery, AlarmState, BUCKET, Bucket, Series, SeriesQuery, Totals, datapoints,
};
use crate::error_type::ErrorType;
use crate::ids::StackId;
use crate::runtime::now;
use crate::time::Time;
use kiln_resources::op::{owner_of_users_project, users_project_name};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A sample to be stored.
#[derive(Clone, Debug)]
pub struct MetricDatum {
    /// The series; its project is the requester's, its alarm is the one that the sample is for.
    pub series: Series,
    /// The values.
    pub totals: Totals,
    /// The time of the sample; now by default.
    pub time: Option<Time>,
}

/// The samples of ten seconds, as they are listed.
#[derive(Clone, Debug)]
pub struct MetricSample {
    /// The series.
    pub series: Series,
    /// The alarm that the samples are for.
    pub alarm: Option<Arc<str>>,
    /// The totals of the ten seconds.
    pub bucket: Bucket,
}

/// Which samples to list.
#[derive(Clone, Debug, Default)]
pub struct MetricQuery {
    /// Of this namespace.
    pub namespace: Option<Arc<str>>,
    /// Of this metric.
    pub metric: Option<Arc<str>>,
    /// Of these dimensions; `None` matches any value.
    pub dimensions: Vec<(Arc<str>, Option<Arc<str>>)>,
    /// Only samples after this bucket of this series.
    pub marker: Option<(Uuid, Time)>,
}

/// The alarm that samples are for, if one is named, and their metric.
type Meant = (Option<Arc<str>>, Arc<str>);

/// How old samples may be, and how far ahead of the clock of this process.
const MAX_SAMPLE_AGE: Duration = Duration::from_secs(14 * 86_400);
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2 * 3600);
/// How many series are read at once.
const SERIES_PAGE: u64 = 500;
/// How many samples a page has.
const MAX_LISTED: usize = 500;

impl Service {
    /// The project whose alarms and metrics a requester uses: that of the stack, for a stack's own user.
    pub fn alarm_project(&self, requester: &Requester) -> Arc<str> {
        let owner = requester.stack_user_project.as_deref().and_then(owner_of_users_project);
        owner.map_or_else(|| requester.project.clone(), Arc::from)
    }

    /// Stores samples for their series and for the alarms that use them. They are durable when this returns.
    pub async fn put_metrics(
        &self,
        requester: &Requester,
        data: Vec<MetricDatum>,
    ) -> Result<(), RequestError> {
        let (project, now) = (self.alarm_project(requester), now());
        let mut known: BTreeMap<Meant, Vec<Alarm>> = BTreeMap::new();
        let (mut all, mut buckets) = (Vec::new(), Vec::new());
        for datum in data {
            let series = Series { project: project.clone(), ..datum.series };
            let time = datum.time.unwrap_or(now);
            if time < now - MAX_SAMPLE_AGE || time > now + MAX_CLOCK_SKEW {
                let message = format!("Timestamp {time} is too far from now");
                return Err(RequestError::new(ErrorType::InvalidParameterValue, message));
            }
            let key = (series.alarm.clone(), series.metric.clone());
            if !known.contains_key(&key) {
                let found = self.candidates(requester, &series).await?;
                known.insert(key.clone(), found);
            }
            let candidates = known.get(&key).map(Vec::as_slice).unwrap_or_default();
            let wanted = candidates.iter().filter(|alarm| {
                alarm.rule().is_ok_and(|rule| match series.alarm {
                    Some(_) => rule.metric == series.metric,
                    None => rule.matches(&series),
                })
            });
            let wanted: Vec<&Alarm> = wanted.collect();
            let is_missing = match &series.alarm {
                Some(_) => candidates.is_empty(),
                None => wanted.is_empty() && requester.stack_user_project.is_some(),
            };
            if is_missing {
                return Err(alarm_not_found(series.alarm.as_deref().unwrap_or("Unknown")));
            }
            let awake = wanted.iter().filter(|alarm| alarm.row.state != AlarmState::Suspended);
            let places = awake.map(|alarm| alarm.row.id).chain([series.id()]);
            buckets.extend(places.map(|place| Bucket::at(place, time, datum.totals)));
            all.push(series);
        }
        Ok(self.collector.put(&*self.store, all, buckets, now).await?)
    }

    /// The alarms that samples of a series may be for.
    async fn candidates(
        &self,
        requester: &Requester,
        series: &Series,
    ) -> Result<Vec<Alarm>, RequestError> {
        let found = match &series.alarm {
            Some(name) => self.alarms_named(&series.project, name).await?,
            None => {
                let of_metric = AlarmQuery {
                    metric: Some(series.metric.clone()),
                    ..AlarmQuery::new(&series.project)
                };
                let rows = self.store.alarms(&of_metric).await?;
                Alarm::readable(rows)
            }
        };
        Ok(found.into_iter().filter(|alarm| may_report_to(requester, alarm)).collect())
    }

    /// The alarms with a name. A replaced alarm may exist beside its replacement; a resource that is a nested stack with
    /// an alarm in it is named by the ARN of that stack.
    pub(super) async fn alarms_named(
        &self,
        project: &Arc<str>,
        name: &str,
    ) -> Result<Vec<Alarm>, RequestError> {
        let query = match stack_of_arn(name) {
            Some(stack) => AlarmQuery { stack: Some(stack), ..AlarmQuery::new(project) },
            None => AlarmQuery { name: Some(name.into()), ..AlarmQuery::new(project) },
        };
        Ok(Alarm::readable(self.store.alarms(&query).await?))
    }

    /// A page of samples, and where the next page begins if there is one.
    pub async fn list_metrics(
        &self,
        requester: &Requester,
        query: &MetricQuery,
    ) -> Result<(Vec<MetricSample>, Option<(Uuid, Time)>), RequestError> {
        let project = self.alarm_project(requester);
        let rows = self.store.alarms(&AlarmQuery::new(&project)).await?;
        let alarms = Alarm::readable(rows);
        let mut page = SeriesQuery {
            project,
            namespace: query.namespace.clone(),
            metric: query.metric.clone(),
            // The series in which the last page ended is read again.
            marker: query.marker.map(|(series, _)| before(series)),
            limit: SERIES_PAGE,
        };
        let mut listed = Vec::new();
        loop {
            let rows = self.store.series(&page).await?;
            for row in &rows {
                let series = row.series()?;
                if !has_dimensions(&series, &query.dimensions) {
                    continue;
                }
                let from = match query.marker {
                    Some((id, time)) if id == row.id => time + BUCKET,
                    _ => Time::default(),
                };
                for bucket in self.store.samples(&[row.id], from, Time::NEVER).await? {
                    for alarm in alarm_names(&series, &alarms) {
                        listed.push(MetricSample { series: series.clone(), alarm, bucket });
                    }
                    if listed.len() >= MAX_LISTED {
                        return Ok((listed, Some((row.id, bucket.start))));
                    }
                }
            }
            page.marker = rows.last().map(|row| row.id);
            if (rows.len() as u64) < SERIES_PAGE {
                return Ok((listed, None));
            }
        }
    }

    /// The statistics of a metric, for each unit and each period with samples.
    pub async fn statistics(
        &self,
        requester: &Requester,
        wanted: &Series,
        (from, until): (Time, Time),
        period: Duration,
    ) -> Result<Vec<(Option<Arc<str>>, Time, Totals)>, RequestError> {
        let mut page = SeriesQuery {
            project: self.alarm_project(requester),
            namespace: Some(wanted.namespace.clone()),
            metric: Some(wanted.metric.clone()),
            marker: None,
            limit: SERIES_PAGE,
        };
        let mut by_unit: BTreeMap<Option<Arc<str>>, Vec<Uuid>> = BTreeMap::new();
        loop {
            let rows = self.store.series(&page).await?;
            for row in &rows {
                let series = row.series()?;
                let is_unit = wanted.unit.is_none() || wanted.unit == series.unit;
                if is_unit && series.dimensions == wanted.dimensions {
                    by_unit.entry(series.unit.clone()).or_default().push(series.id());
                }
            }
            page.marker = rows.last().map(|row| row.id);
            if (rows.len() as u64) < SERIES_PAGE {
                break;
            }
        }
        let mut found = Vec::new();
        for (unit, ids) in by_unit {
            let samples = self.store.samples(&ids, Bucket::start_of(from), until).await?;
            let points = datapoints(&samples, period);
            found.extend(points.into_iter().map(|(start, totals)| (unit.clone(), start, totals)));
        }
        Ok(found)
    }
}

/// Whether a requester may send samples to an alarm: the user of a stack may do so for that stack only.
fn may_report_to(requester: &Requester, alarm: &Alarm) -> bool {
    let Some(stack_user_project) = &requester.stack_user_project else { return true };
    alarm
        .root()
        .is_some_and(|root| **stack_user_project == *users_project_name(&alarm.row.project, root.0))
}

/// The names of the alarms that use the samples of a series.
fn alarm_names(series: &Series, alarms: &[Alarm]) -> Vec<Option<Arc<str>>> {
    if series.alarm.is_some() {
        return vec![series.alarm.clone()];
    }
    let wants = |alarm: &&Alarm| alarm.rule().is_ok_and(|rule| rule.matches(series));
    let found: Vec<_> =
        alarms.iter().filter(wants).map(|alarm| Some(alarm.row.name.clone())).collect();
    if found.is_empty() { vec![None] } else { found }
}

fn has_dimensions(series: &Series, wanted: &[(Arc<str>, Option<Arc<str>>)]) -> bool {
    wanted.iter().all(|(name, value)| {
        let found = series.dimensions.get(name);
        found.is_some_and(|found| value.as_ref().is_none_or(|value| value == found))
    })
}

/// The id before one.
fn before(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_sub(1))
}

/// The stack of an ARN.
fn stack_of_arn(text: &str) -> Option<StackId> {
    let (_, rest) = text.strip_prefix("arn:openstack:heat::")?.split_once(":stacks/")?;
    let (_, id) = rest.split_once('/')?;
    Uuid::parse_str(id).ok().map(StackId)
}

/// The error for an alarm that does not exist, in the words of the older service.
pub(super) fn alarm_not_found(name: &str) -> RequestError {
    RequestError::not_found("Watch Rule", name)
}
