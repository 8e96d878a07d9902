//! Alarms, what happened to them, and series of samples.

use super::column::{body_column, column};
use super::{NO_ID, NO_TIME};
use crate::table::{Column, TableRow};
use kiln_engine::alarms::{AlarmEvent, AlarmEventKind, AlarmRow, AlarmState, SeriesRow};
use std::sync::Arc;
use std::time::Duration;

impl TableRow for AlarmRow {
    const TABLE: &'static str = "alarms";
    const KEY: &'static [&'static str] = &["id"];
    const COLUMNS: &'static [Column<AlarmRow>] = &[
        column!(id),
        column!(project),
        column!(name),
        column!(stack),
        column!(metric),
        column!(state),
        column!(created),
        column!(updated),
        column!(changed),
        column!(evaluated),
        column!(period),
        column!(due),
        column!(version),
        body_column!(Alarm, body),
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
        column!(id),
        column!(project),
        column!(alarm),
        column!(kind),
        column!(time),
        body_column!(AlarmEvent, body),
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
        column!(id),
        column!(project),
        column!(namespace),
        column!(metric),
        column!(seen),
        body_column!(Series, body),
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
