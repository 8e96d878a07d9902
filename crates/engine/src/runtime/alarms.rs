//! Evaluating alarms: each once a period, by whichever engine is first.
//!
//! The result of an evaluation, its history, its signals and its webhooks are one commit. So a signal is sent once
//! whichever engine dies, and no two engines evaluate an alarm at the same time: the second finds another version.

use super::{Engine, SystemIds, now};
use crate::alarms::{
    Alarm, AlarmChange, AlarmRow, AlarmState, EvaluationContext, Verdict, evaluate,
    samples_needed_from,
};
use crate::objects::{ObjectKind, ObjectQuery};
use crate::request_id::RequestId;
use crate::service::REPORT_INTERVAL;
use crate::state::{Action, Status};
use crate::store::{CommandRow, StackRow, StoreError};
use crate::time::Time;
use std::time::Duration;

/// How many alarms are evaluated in one scan at most.
const MAX_PER_SCAN: u64 = 200;

impl Engine {
    /// Evaluates alarms, again and again.
    pub(super) async fn evaluate_alarms(self) {
        // No sample could be stored while no engine and no API was running: that is no reason to raise alarms.
        while let Err(error) = self.reset_alarms_unless_watched().await {
            tracing::warn!(%error, "could not reset the alarms: retrying");
            tokio::time::sleep(self.inner.settings.scan_interval).await;
        }
        loop {
            match self.evaluate_due_alarms().await {
                Ok(count) if count == MAX_PER_SCAN => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "could not evaluate alarms: retrying"),
            }
            tokio::time::sleep(self.inner.config.alarm_scan_interval).await;
        }
    }

    /// Resets all alarms, unless another engine evaluates them.
    async fn reset_alarms_unless_watched(&self) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let recent = now() - 2 * REPORT_INTERVAL;
        let engines = if self.inner.settings.is_alone {
            Vec::new()
        } else {
            store.objects(&ObjectQuery::new(ObjectKind::Engine)).await?
        };
        let is_up = |reported: Option<Time>| reported.is_some_and(|reported| reported >= recent);
        let mut others = engines.iter().filter(|row| row.id != self.inner.id.0);
        if others.any(|row| is_up(row.updated)) {
            return Ok(());
        }
        store.reset_alarms(now()).await
    }

    /// Evaluates the alarms that are due; returns their number.
    async fn evaluate_due_alarms(&self) -> Result<u64, StoreError> {
        let due = self.inner.store.due_alarms(now(), MAX_PER_SCAN).await?;
        let count = due.len() as u64;
        let mut changes = Vec::new();
        for row in due {
            changes.push(self.evaluate_alarm(row).await?);
        }
        let written = self.inner.store.write_alarms(&changes).await?;
        let done = changes.iter().zip(written).filter(|(_, is_written)| *is_written);
        for (change, _) in done {
            self.deliver_alarm_outcome(change).await;
        }
        Ok(count)
    }

    /// Starts the delivery of the signals and webhooks of an alarm. They are stored: others deliver them if this fails.
    pub(crate) async fn deliver_alarm_outcome(&self, change: &AlarmChange) {
        if !change.webhooks.is_empty() {
            self.inner.webhooks_due.notify_one();
        }
        for command in &change.commands {
            self.deliver_command(command).await;
        }
    }

    async fn evaluate_alarm(&self, row: AlarmRow) -> Result<AlarmChange, StoreError> {
        let store = &self.inner.store;
        let (now, mut ids) = (now(), SystemIds::default());
        let stack = match row.stack {
            Some(id) => {
                Some(store.stack(id).await?.filter(|stack| stack.summary.deleted.is_none()))
            }
            None => None,
        };
        let alarm = match Alarm::from_row(row.clone()) {
            Ok(alarm) => alarm,
            Err(error) => {
                tracing::error!(%error, "an alarm is not evaluated");
                let mut change = postponed(row, now);
                change.alarm.due = now + UNREADABLE_PAUSE;
                return Ok(change);
            }
        };
        // An abandoned stack leaves its alarms behind.
        if let Some(None) = stack {
            return Ok(deleted(alarm, now, &mut ids));
        }
        // If no engine was running for long, no sample could be stored either.
        let is_late =
            now.since(alarm.row.due) > self.inner.config.alarm_scan_interval * 3 + MAX_DELAY;
        let rule = match alarm.rule() {
            Ok(rule) if !is_late && alarm.row.state != AlarmState::Suspended => rule,
            _ => return Ok(postponed(alarm.row, now)),
        };
        let from = samples_needed_from(&rule, now);
        let samples = store.samples(&[alarm.row.id], from, Time::NEVER).await?;
        let verdict: Verdict = evaluate(&rule, alarm.row.state, &samples, now);
        let notifies = stack.flatten().is_none_or(|stack| accepts_alarm_signals(&stack));
        Ok(alarm.apply(&verdict, EvaluationContext { now, notifies }, &mut ids))
    }

    /// Delivers a stored command to the owner of its tree, and claims the tree if it has none.
    async fn deliver_command(&self, row: &CommandRow) {
        tracing::debug!(root = %row.root, request_id = %RequestId::from(row.id), "an alarm signals a stack");
        if self.deliver_row(row) {
            return;
        }
        if let Err(error) = self.claim_tree(row.root).await {
            tracing::warn!(root = %row.root, %error, "could not claim a tree for the signal of an alarm: retrying");
        }
    }
}

/// When an alarm that cannot be read is tried again.
const UNREADABLE_PAUSE: Duration = Duration::from_secs(3600);

/// How late the evaluation of an alarm may be, beside what is usual.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Whether alarms signal the resources of a stack in its state.
pub(crate) fn accepts_alarm_signals(stack: &StackRow) -> bool {
    stack.summary.state.status == Status::Complete && stack.summary.state.action != Action::Delete
}

fn postponed(mut row: AlarmRow, now: Time) -> AlarmChange {
    let expected_version = row.version;
    row.evaluated = now;
    row.due = match row.state {
        AlarmState::Suspended => Time::NEVER,
        _ => now + row.period,
    };
    AlarmChange {
        alarm: row,
        expected_version: Some(expected_version),
        max_alarms: None,
        is_deleted: false,
        history: Vec::new(),
        commands: Vec::new(),
        webhooks: Vec::new(),
    }
}

fn deleted(alarm: Alarm, now: Time, ids: &mut SystemIds) -> AlarmChange {
    let history = vec![alarm.configuration_event("deleted", now, ids)];
    let expected_version = Some(alarm.row.version);
    let (commands, webhooks) = (Vec::new(), Vec::new());
    AlarmChange {
        alarm: alarm.row,
        expected_version,
        max_alarms: None,
        is_deleted: true,
        history,
        commands,
        webhooks,
    }
}
