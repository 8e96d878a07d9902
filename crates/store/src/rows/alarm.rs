//! Alarms, what happened to them, and series of samples.

use super::{NO_ID, NO_TIME};
use crate::cipher::BodyKind;
use crate::table::{Column, TableRow};
use kiln_engine::alarms::{AlarmEvent, AlarmEventKind, AlarmRow, AlarmState, SeriesRow};
use kiln_engine::ids::StackId;
use std::sync::Arc;
use std::time::Duration;

impl TableRow for AlarmRow {
    const TABLE: &'static str = "alarms";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<AlarmRow>] = &[
        Column::plain("id", |row, to| to.id(row.id), |row, from| from.id().map(|it| row.id = it)),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "name",
            |row, to| to.text(&row.name),
            |row, from| from.text().map(|it| row.name = it.into()),
        ),
        Column::plain(
            "stack",
            |row, to| to.maybe_id(row.stack.map(|it| it.0)),
            |row, from| from.maybe_id().map(|it| row.stack = it.map(StackId)),
        ),
        Column::plain(
            "metric",
            |row, to| to.text(&row.metric),
            |row, from| from.text().map(|it| row.metric = it.into()),
        ),
        Column::plain(
            "state",
            |row, to| to.text(row.state.name()),
            |row, from| {
                super::known(from, "alarm state", AlarmState::parse).map(|it| row.state = it)
            },
        ),
        Column::plain(
            "created",
            |row, to| to.time(row.created),
            |row, from| from.time().map(|it| row.created = it),
        ),
        Column::plain(
            "updated",
            |row, to| to.time(row.updated),
            |row, from| from.time().map(|it| row.updated = it),
        ),
        Column::plain(
            "changed",
            |row, to| to.time(row.changed),
            |row, from| from.time().map(|it| row.changed = it),
        ),
        Column::plain(
            "evaluated",
            |row, to| to.time(row.evaluated),
            |row, from| from.time().map(|it| row.evaluated = it),
        ),
        Column::plain(
            "period",
            |row, to| to.int(i64::try_from(row.period.as_micros()).unwrap_or(i64::MAX)),
            |row, from| from.count().map(|it| row.period = Duration::from_micros(it)),
        ),
        Column::plain(
            "due",
            |row, to| to.time(row.due),
            |row, from| from.time().map(|it| row.due = it),
        ),
        Column::plain(
            "version",
            |row, to| to.count(row.version),
            |row, from| from.count().map(|it| row.version = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Alarm, row.id.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Alarm, row.id.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> AlarmRow {
        AlarmRow {
            id: NO_ID,
            project: Arc::default(),
            name: Arc::default(),
            stack: None,
            metric: Arc::default(),
            state: AlarmState::NoData,
            created: NO_TIME,
            updated: NO_TIME,
            changed: NO_TIME,
            evaluated: NO_TIME,
            period: Duration::ZERO,
            due: NO_TIME,
            version: 0,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len()
    }
}

impl TableRow for AlarmEvent {
    const TABLE: &'static str = "alarm_history";
    const KEY: &'static [&'static str] = &["id"];
    const IS_IMMUTABLE: bool = true;
    const COLUMNS: &'static [Column<AlarmEvent>] = &[
        Column::plain("id", |row, to| to.id(row.id), |row, from| from.id().map(|it| row.id = it)),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "alarm",
            |row, to| to.text(&row.alarm),
            |row, from| from.text().map(|it| row.alarm = it.into()),
        ),
        Column::plain(
            "kind",
            |row, to| to.text(row.kind.name()),
            |row, from| {
                super::known(from, "kind of alarm event", AlarmEventKind::parse)
                    .map(|it| row.kind = it)
            },
        ),
        Column::plain(
            "time",
            |row, to| to.time(row.time),
            |row, from| from.time().map(|it| row.time = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::AlarmEvent, row.id.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::AlarmEvent, row.id.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> AlarmEvent {
        AlarmEvent {
            id: NO_ID,
            project: Arc::default(),
            alarm: Arc::default(),
            kind: AlarmEventKind::State,
            time: NO_TIME,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len()
    }
}

impl TableRow for SeriesRow {
    const TABLE: &'static str = "series";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<SeriesRow>] = &[
        Column::plain("id", |row, to| to.id(row.id), |row, from| from.id().map(|it| row.id = it)),
        Column::plain(
            "project",
            |row, to| to.text(&row.project),
            |row, from| from.text().map(|it| row.project = it.into()),
        ),
        Column::plain(
            "namespace",
            |row, to| to.text(&row.namespace),
            |row, from| from.text().map(|it| row.namespace = it.into()),
        ),
        Column::plain(
            "metric",
            |row, to| to.text(&row.metric),
            |row, from| from.text().map(|it| row.metric = it.into()),
        ),
        Column::plain(
            "seen",
            |row, to| to.time(row.seen),
            |row, from| from.time().map(|it| row.seen = it),
        ),
        Column::sealed(
            "body",
            |row, cipher| cipher.seal(BodyKind::Series, row.id.as_bytes(), &row.body),
            |row, cipher, sealed| {
                row.body = cipher.open(BodyKind::Series, row.id.as_bytes(), sealed)?;
                Ok(())
            },
        ),
    ];

    fn blank() -> SeriesRow {
        SeriesRow {
            id: NO_ID,
            project: Arc::default(),
            namespace: Arc::default(),
            metric: Arc::default(),
            seen: NO_TIME,
            body: Vec::new(),
        }
    }

    fn key(&self) -> Vec<u8> {
        self.id.as_bytes().to_vec()
    }

    fn weight(&self) -> usize {
        self.body.len()
    }
}
