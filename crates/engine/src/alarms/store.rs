//! The interface of the store for alarms and metrics, and its rows.

use super::metric::{Bucket, Series};
use super::rule::AlarmState;
use crate::ids::StackId;
use crate::objects::ObjectRow;
use crate::record::Record;
use crate::record::v1::AlarmEventBody;
use crate::store::{CommandRow, StoreError};
use crate::time::Time;
use async_trait::async_trait;
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Stores alarms and metrics.
///
/// An alarm has a version that grows with each write. A writer names the version that it has read, so that no evaluation
/// is written twice.
#[async_trait]
pub trait Alarms: Send + Sync {
    /// Writes alarms in one durable transaction, each with its history, commands for the queues of trees, and webhooks. An
    /// alarm with another version than expected is left alone, with all of these. Returns for each whether it was
    /// written.
    async fn write_alarms(&self, changes: &[AlarmChange]) -> Result<Vec<bool>, StoreError>;

    /// An alarm.
    async fn alarm(&self, id: Uuid) -> Result<Option<AlarmRow>, StoreError>;

    /// A page of alarms, by name and id.
    async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<AlarmRow>, StoreError>;

    /// How many alarms a project has.
    async fn count_alarms(&self, project: &str) -> Result<u64, StoreError>;

    /// The alarms whose evaluation is due, the longest due first; no more than `limit`.
    async fn due_alarms(&self, now: Time, limit: u64) -> Result<Vec<AlarmRow>, StoreError>;

    /// Sets the next evaluation of all active alarms to a period from now, as if they had just been evaluated without a
    /// change.
    async fn reset_alarms(&self, now: Time) -> Result<(), StoreError>;

    /// A page of the history of alarms.
    async fn alarm_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, StoreError>;

    /// Adds events to the history of alarms, in one durable transaction.
    async fn add_alarm_events(&self, events: &[AlarmEvent]) -> Result<(), StoreError>;

    /// Adds samples to the stored totals, in one durable transaction, and writes their series. No two buckets are for the
    /// same ten seconds of the same series.
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
    /// The metric of the rule.
    pub metric: Arc<str>,
    /// The current state.
    pub state: AlarmState,
    /// When it was made.
    pub created: Time,
    /// When its rule was last written.
    pub updated: Time,
    /// When its state last changed.
    pub changed: Time,
    /// The time of the last evaluation.
    pub evaluated: Time,
    /// The time between evaluations.
    pub period: Duration,
    /// The time of the next evaluation; never while the stack is suspended.
    pub due: Time,
    /// Grows with each write.
    pub version: u64,
    /// The rest: its rule.
    pub body: Vec<u8>,
}

/// A change of an alarm, with its consequences.
#[derive(Clone, Debug)]
pub struct AlarmChange {
    /// The alarm as it is to be; its version does not count.
    pub alarm: AlarmRow,
    /// The version that was read; `None` if there was no alarm with this id.
    pub expected_version: Option<u64>,
    /// How many alarms the project may have, a new one included. A new alarm beyond that is not written.
    pub max_alarms: Option<u64>,
    /// Whether the alarm is deleted, with its samples.
    pub is_deleted: bool,
    /// New events of the history.
    pub history: Vec<AlarmEvent>,
    /// Commands for trees.
    pub commands: Vec<CommandRow>,
    /// Webhooks, as objects of that kind.
    pub webhooks: Vec<ObjectRow>,
}

/// An event in the history of an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmEvent {
    /// Its id.
    pub id: Uuid,
    /// The project of the alarm.
    pub project: Arc<str>,
    /// The name of the alarm.
    pub alarm: Arc<str>,
    /// The kind of the event.
    pub kind: AlarmEventKind,
    /// When.
    pub time: Time,
    /// The encoded summary and data.
    pub body: Vec<u8>,
}

impl AlarmEvent {
    /// A summary of what happened, and more of it as JSON.
    pub fn details(&self) -> Result<(Arc<str>, Arc<str>), StoreError> {
        let body = AlarmEventBody::read(&self.body, self.id)?;
        Ok((body.summary, body.data))
    }

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
        let body = AlarmEventBody {
            summary: cut(summary, LONGEST.0).into(),
            data: cut(&data, LONGEST.1).into(),
        };
        let (project, alarm) = (project.clone(), alarm.clone());
        AlarmEvent { id, project, alarm, kind, time: now, body: body.encode() }
    }

    /// The event that an action was carried out, or why it was not.
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

/// The kind of an event of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmEventKind {
    /// The rule was created, changed or deleted.
    Configuration,
    /// Its state changed.
    State,
    /// An action was carried out.
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

    /// Whether an alarm matches, regardless of the page.
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
    /// Whether an event matches, regardless of the page.
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
    pub fn series(&self) -> Result<Series, StoreError> {
        Series::read(self)
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
    /// Whether a series matches, regardless of the page.
    pub fn matches(&self, series: &SeriesRow) -> bool {
        self.project == series.project
            && self.namespace.as_ref().is_none_or(|it| *it == series.namespace)
            && self.metric.as_ref().is_none_or(|it| *it == series.metric)
    }
}
