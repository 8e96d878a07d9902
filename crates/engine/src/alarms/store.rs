//! What is asked of a store about alarms and metrics, and the rows that are kept.

use super::metric::{Bucket, Series};
use super::rule::AlarmState;
use crate::codec;
use crate::ids::StackId;
use crate::objects::ObjectRow;
use crate::store::{CommandRow, StoreError};
use crate::time::Time;
use async_trait::async_trait;
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Keeps alarms and metrics.
///
/// An alarm has a version that grows with each write: whoever writes says which one they have read, and
/// so no evaluation happens twice however many look at the same moment.
#[async_trait]
pub trait Alarms: Send + Sync {
    /// Writes alarms in one durable transaction, each with what comes of it: its history, commands that are
    /// added to the queues of trees, and webhooks. What is not as it was read is left alone, with all of that. Says for
    /// each whether it was written.
    async fn write_alarms(&self, changes: &[AlarmChange]) -> Result<Vec<bool>, StoreError>;

    /// An alarm.
    async fn alarm(&self, id: Uuid) -> Result<Option<AlarmRow>, StoreError>;

    /// A page of alarms, by name and id.
    async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<AlarmRow>, StoreError>;

    /// How many alarms a project has.
    async fn count_alarms(&self, project: &str) -> Result<u64, StoreError>;

    /// Alarms that are to be looked at by now, the longest due first; no more than `limit`.
    async fn due_alarms(&self, now: Time, limit: u64) -> Result<Vec<AlarmRow>, StoreError>;

    /// Has all alarms that are looked at looked at a period from now: as if all had been looked at just now,
    /// without anything coming of it.
    async fn reset_alarms(&self, now: Time) -> Result<(), StoreError>;

    /// A page of what happened to alarms.
    async fn alarm_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, StoreError>;

    /// Adds to what happened to alarms, in one durable transaction.
    async fn add_alarm_events(&self, events: &[AlarmEvent]) -> Result<(), StoreError>;

    /// Adds samples to those that are there, in one durable transaction, and notes the series that they
    /// belong to. No two buckets are for the same ten seconds of the same series.
    async fn add_samples(&self, series: &[SeriesRow], buckets: &[Bucket])
    -> Result<(), StoreError>;

    /// A page of series, by id.
    async fn series(&self, query: &SeriesQuery) -> Result<Vec<SeriesRow>, StoreError>;

    /// The samples of some series, of ten seconds that begin at `from` or later and before `until`; by
    /// series and time.
    async fn samples(
        &self,
        series: &[Uuid],
        from: Time,
        until: Time,
    ) -> Result<Vec<Bucket>, StoreError>;

    /// Drops samples from before a moment, series that had none since, and history from before another; no
    /// more than `limit` of each at once. Gives the greatest number dropped.
    async fn prune_metrics(
        &self,
        samples: Time,
        history: Time,
        limit: u64,
    ) -> Result<u64, StoreError>;
}

/// An alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmRow {
    /// Its id.
    pub id: Uuid,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The stack that it belongs to, if it does to one.
    pub stack: Option<StackId>,
    /// The metric that it looks at.
    pub metric: Arc<str>,
    /// What it found last.
    pub state: AlarmState,
    /// When it was made.
    pub created: Time,
    /// When its rule was last written.
    pub updated: Time,
    /// When its state last changed.
    pub changed: Time,
    /// When it was last looked at.
    pub evaluated: Time,
    /// How often it is looked at.
    pub period: Duration,
    /// When it is looked at next; never while its stack is at rest.
    pub due: Time,
    /// Grows with each write.
    pub version: u64,
    /// The rest: its rule.
    pub body: Vec<u8>,
}

/// A change of an alarm, and what comes of it.
#[derive(Clone, Debug)]
pub struct AlarmChange {
    /// The alarm as it is to be; its version does not count.
    pub alarm: AlarmRow,
    /// The version that was read; nothing if there was none of this id.
    pub expected_version: Option<u64>,
    /// Whether it is removed, with the samples that it was given.
    pub is_deleted: bool,
    /// What happened to it.
    pub history: Vec<AlarmEvent>,
    /// What trees are asked to do.
    pub commands: Vec<CommandRow>,
    /// What addresses are told, of the kind of webhooks.
    pub webhooks: Vec<ObjectRow>,
}

/// Something that happened to an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmEvent {
    /// Its id.
    pub id: Uuid,
    /// The project of the alarm.
    pub project: Arc<str>,
    /// The name of the alarm.
    pub alarm: Arc<str>,
    /// What kind of thing happened.
    pub kind: AlarmEventKind,
    /// When.
    pub time: Time,
    /// The rest: what to tell.
    pub body: Vec<u8>,
}

impl AlarmEvent {
    /// Something that happened to an alarm of a project.
    pub fn new(
        (project, alarm): (&Arc<str>, &Arc<str>),
        kind: AlarmEventKind,
        (summary, data): (&str, Value),
        now: Time,
        id: Uuid,
    ) -> AlarmEvent {
        const LONGEST: (usize, usize) = (255, 4095);
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let data = print::json(&data, Keys::Ordered);
        let body = Value::map([
            ("summary", Value::from(cut(summary, LONGEST.0))),
            ("data", cut(&data, LONGEST.1).into()),
        ]);
        let (project, alarm) = (project.clone(), alarm.clone());
        AlarmEvent { id, project, alarm, kind, time: now, body: codec::encode(&body) }
    }

    /// That somebody was told, or why not.
    pub fn action(
        of: (&Arc<str>, &Arc<str>),
        action: &str,
        error: Option<&str>,
        now: Time,
        id: Uuid,
    ) -> AlarmEvent {
        let (summary, state) = match error {
            None => (format!("Successfully executed action {action}"), "Succeeded"),
            Some(_) => (format!("Failed to execute action {action}"), "Failed"),
        };
        let data = Value::map([
            ("actionState", Value::from(state)),
            ("notificationResource", action.into()),
            ("error", error.map(Value::from).unwrap_or_default()),
        ]);
        AlarmEvent::new(of, AlarmEventKind::Action, (&summary, data), now, id)
    }
}

/// What can happen to an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmEventKind {
    /// It was made, changed or removed.
    Configuration,
    /// Its state changed.
    State,
    /// Somebody was told.
    Action,
}

impl AlarmEventKind {
    const ALL: [AlarmEventKind; 3] =
        [AlarmEventKind::Configuration, AlarmEventKind::State, AlarmEventKind::Action];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AlarmEventKind::Configuration => "ConfigurationUpdate",
            AlarmEventKind::State => "StateUpdate",
            AlarmEventKind::Action => "Action",
        }
    }

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<AlarmEventKind> {
        AlarmEventKind::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Which alarms to list.
#[derive(Clone, Debug, Default)]
pub struct AlarmQuery {
    /// Of this project.
    pub project: Arc<str>,
    /// Only those of this name.
    pub name: Option<Arc<str>>,
    /// Only those whose names begin so.
    pub prefix: Option<Arc<str>>,
    /// Only those on this metric.
    pub metric: Option<Arc<str>>,
    /// Only those of this stack.
    pub stack: Option<StackId>,
    /// Only those in this state.
    pub state: Option<AlarmState>,
    /// Only those behind this name and id.
    pub marker: Option<(Arc<str>, Uuid)>,
    /// No more than this.
    pub limit: Option<u64>,
}

impl AlarmQuery {
    /// All alarms of a project.
    pub fn new(project: &Arc<str>) -> AlarmQuery {
        AlarmQuery { project: project.clone(), ..AlarmQuery::default() }
    }

    /// Whether an alarm is asked for, whatever the page.
    pub fn matches(&self, alarm: &AlarmRow) -> bool {
        self.project == alarm.project
            && self.name.as_ref().is_none_or(|it| *it == alarm.name)
            && self.prefix.as_ref().is_none_or(|it| alarm.name.starts_with(&**it))
            && self.metric.as_ref().is_none_or(|it| *it == alarm.metric)
            && self.stack.is_none_or(|it| alarm.stack == Some(it))
            && self.state.is_none_or(|it| it == alarm.state)
    }
}

/// Which history to list, by time and id.
#[derive(Clone, Debug)]
pub struct HistoryQuery {
    /// Of this project.
    pub project: Arc<str>,
    /// Only of the alarm of this name.
    pub alarm: Option<Arc<str>>,
    /// Only what is of this kind.
    pub kind: Option<AlarmEventKind>,
    /// Only since then.
    pub from: Option<Time>,
    /// Only before then, or then.
    pub until: Option<Time>,
    /// From the last to the first.
    pub descending: bool,
    /// Only what is behind this moment and id.
    pub marker: Option<(Time, Uuid)>,
    /// No more than this.
    pub limit: u64,
}

impl HistoryQuery {
    /// Whether something is asked for, whatever the page.
    pub fn matches(&self, event: &AlarmEvent) -> bool {
        self.project == event.project
            && self.alarm.as_ref().is_none_or(|it| *it == event.alarm)
            && self.kind.is_none_or(|it| it == event.kind)
            && self.from.is_none_or(|it| it <= event.time)
            && self.until.is_none_or(|it| event.time <= it)
    }
}

/// A series of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRow {
    /// Its id: [`Series::id`].
    pub id: Uuid,
    /// The project that it belongs to.
    pub project: Arc<str>,
    /// The namespace of the metric.
    pub namespace: Arc<str>,
    /// The metric.
    pub metric: Arc<str>,
    /// When samples were last added, more or less.
    pub seen: Time,
    /// The rest.
    pub body: Vec<u8>,
}

impl SeriesRow {
    /// The row of a series.
    pub fn new(series: &Series, seen: Time) -> SeriesRow {
        SeriesRow {
            id: series.id(),
            project: series.project.clone(),
            namespace: series.namespace.clone(),
            metric: series.metric.clone(),
            seen,
            body: series.body(),
        }
    }

    /// The series of the row.
    pub fn series(&self) -> Series {
        Series::read(&self.project, &self.namespace, &self.metric, &self.body)
    }
}

/// Which series to list.
#[derive(Clone, Debug, Default)]
pub struct SeriesQuery {
    /// Of this project.
    pub project: Arc<str>,
    /// Only of this namespace.
    pub namespace: Option<Arc<str>>,
    /// Only of this metric.
    pub metric: Option<Arc<str>>,
    /// Only those behind this one.
    pub marker: Option<Uuid>,
    /// No more than this.
    pub limit: u64,
}

impl SeriesQuery {
    /// Whether a series is asked for, whatever the page.
    pub fn matches(&self, series: &SeriesRow) -> bool {
        self.project == series.project
            && self.namespace.as_ref().is_none_or(|it| *it == series.namespace)
            && self.metric.as_ref().is_none_or(|it| *it == series.metric)
    }
}
