//! Looking at alarms: whichever engine is first, each alarm once a period.
//!
//! What an alarm found and whom it reported are one commit, so that a signal is sent once whoever dies, and
//! no two engines look at an alarm at the same time: the second finds that it expected_version written.

use super::{Engine, SystemIds, now};
use crate::alarms::{
    Alarm, AlarmChange, AlarmRow, AlarmState, EvaluationContext, Verdict, evaluate,
    samples_needed_from,
};
use crate::objects::{ObjectKind, ObjectQuery};
use crate::service::REPORT_INTERVAL;
use crate::state::{Action, Status};
use crate::store::{CommandRow, StackRow, StoreError};
use crate::time::Time;
use std::time::Duration;

/// No more are looked at in one go.
const MAX_PER_SCAN: u64 = 200;

impl Engine {
    /// Looks at alarms again and again.
    pub(super) async fn evaluate_alarms(self) {
        // Nobody could measure while nobody expected_version there: that is no reason to tell anybody.
        while let Err(error) = self.reset_alarms_unless_watched().await {
            tracing::warn!("alarms are not looked at yet: {error}");
            tokio::time::sleep(self.inner.settings.scan_interval).await;
        }
        loop {
            match self.evaluate_due_alarms().await {
                Ok(count) if count == MAX_PER_SCAN => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!("alarms are looked at later: {error}"),
            }
            tokio::time::sleep(self.inner.config.alarm_scan_interval).await;
        }
    }

    /// Has every alarm begin anew, unless another engine looks at them.
    async fn reset_alarms_unless_watched(&self) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let recent = now() - 2 * REPORT_INTERVAL;
        let engines = match self.inner.settings.is_alone {
            true => Vec::new(),
            false => store.objects(&ObjectQuery::new(ObjectKind::Engine)).await?,
        };
        let is_up = |reported: Option<Time>| reported.is_some_and(|reported| reported >= recent);
        let mut others = engines.iter().filter(|row| row.id != self.inner.id.0);
        match others.any(|row| is_up(row.updated)) {
            true => Ok(()),
            false => store.reset_alarms(now()).await,
        }
    }

    /// Looks at the alarms that are due; how many there were.
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

    /// Has what comes of an alarm done soon: it will be in any case.
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
            Some(id) => Some(store.stack(id).await?.filter(|stack| stack.deleted.is_none())),
            None => None,
        };
        let alarm = Alarm::from_row(row);
        // A stack that expected_version given up leaves its alarms behind.
        if let Some(None) = stack {
            return Ok(deleted(alarm, now, &mut ids));
        }
        // If nobody looked for long, nobody could measure either.
        let is_late =
            now.since(alarm.row.due) > self.inner.config.alarm_scan_interval * 3 + MAX_DELAY;
        let rule = match alarm.rule() {
            Ok(rule) if !is_late && alarm.row.state != AlarmState::Suspended => rule,
            _ => return Ok(postponed(alarm, now)),
        };
        let from = samples_needed_from(&rule, now);
        let samples = store.samples(&[alarm.row.id], from, Time::NEVER).await?;
        let verdict: Verdict = evaluate(&rule, alarm.row.state, &samples, now);
        let notifies = stack.flatten().is_none_or(|stack| accepts_alarm_signals(&stack));
        Ok(alarm.apply(&verdict, EvaluationContext { now, notifies }, &mut ids))
    }

    /// Has a command that is in the queue of a tree carried out soon: it will be in any case.
    async fn deliver_command(&self, row: &CommandRow) {
        let Ok(command) = crate::machine::Command::decode(&row.body) else { return };
        let is_owned = {
            let mut trees = self.trees();
            trees.get_mut(&row.root).map(|owned| owned.deliver(row.id, command, None)).is_some()
        };
        if !is_owned {
            _ = self.claim_tree(row.root).await;
        }
    }
}

/// How late an alarm may be looked at, beside what is usual.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Whether a stack can be reported anything.
pub(crate) fn accepts_alarm_signals(stack: &StackRow) -> bool {
    stack.state.status == Status::Complete && stack.state.action != Action::Delete
}

fn postponed(mut alarm: Alarm, now: Time) -> AlarmChange {
    let expected_version = alarm.row.version;
    alarm.row.evaluated = now;
    alarm.row.due = match alarm.row.state {
        AlarmState::Suspended => Time::NEVER,
        _ => now + alarm.row.period,
    };
    AlarmChange {
        alarm: alarm.row,
        expected_version: Some(expected_version),
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
        is_deleted: true,
        history,
        commands,
        webhooks,
    }
}
