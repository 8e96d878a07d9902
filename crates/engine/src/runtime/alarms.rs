//! Looking at alarms: whichever engine is first, each alarm once a period.
//!
//! What an alarm found and whom it told are one commit, so that a signal is sent once whoever dies, and
//! no two engines look at an alarm at the same time: the second finds that it was written.

use super::{Chance, Engine, now};
use crate::objects::{ObjectKind, ObjectQuery};
use crate::service::REPORT;
use crate::state::{Action, Status};
use crate::store::{CommandRow, StackRow, StoreError};
use crate::time::Time;
use crate::watch::{
    Alarm, AlarmChange, AlarmRow, AlarmState, Occasion, Verdict, evaluate, needs_from,
};
use std::time::Duration;

/// No more are looked at in one go.
const AT_ONCE: u64 = 200;

impl Engine {
    /// Looks at alarms again and again.
    pub(super) async fn watch_alarms(self) {
        // Nobody could measure while nobody was there: that is no reason to tell anybody.
        while let Err(error) = self.begin_watching().await {
            tracing::warn!("alarms are not looked at yet: {error}");
            tokio::time::sleep(self.inner.settings.look).await;
        }
        loop {
            match self.look_at_alarms().await {
                Ok(count) if count == AT_ONCE => continue,
                Ok(_) => {}
                Err(error) => tracing::warn!("alarms are looked at later: {error}"),
            }
            tokio::time::sleep(self.inner.config.watch).await;
        }
    }

    /// Has every alarm begin anew, unless another engine looks at them.
    async fn begin_watching(&self) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let recent = now() - 2 * REPORT;
        let engines = match self.inner.settings.is_alone {
            true => Vec::new(),
            false => store.objects(&ObjectQuery::of(ObjectKind::Engine)).await?,
        };
        let is_watching = |told: Option<Time>| told.is_some_and(|told| told >= recent);
        let mut others = engines.iter().filter(|row| row.id != self.inner.id.0);
        match others.any(|row| is_watching(row.updated)) {
            true => Ok(()),
            false => store.reset_alarms(now()).await,
        }
    }

    /// Looks at the alarms that are due; how many there were.
    async fn look_at_alarms(&self) -> Result<u64, StoreError> {
        let due = self.inner.store.due_alarms(now(), AT_ONCE).await?;
        let count = due.len() as u64;
        let mut changes = Vec::new();
        for row in due {
            changes.push(self.look_at(row).await?);
        }
        let written = self.inner.store.write_alarms(&changes).await?;
        let done = changes.iter().zip(written).filter(|(_, is_written)| *is_written);
        for (change, _) in done {
            self.notice_all(change).await;
        }
        Ok(count)
    }

    /// Has what comes of an alarm done soon: it will be in any case.
    pub(crate) async fn notice_all(&self, change: &AlarmChange) {
        if !change.letters.is_empty() {
            self.inner.letters.notify_one();
        }
        for command in &change.commands {
            self.notice(command).await;
        }
    }

    async fn look_at(&self, row: AlarmRow) -> Result<AlarmChange, StoreError> {
        let store = &self.inner.store;
        let (now, mut chance) = (now(), Chance::default());
        let stack = match row.stack {
            Some(id) => Some(store.stack(id).await?.filter(|stack| stack.deleted.is_none())),
            None => None,
        };
        let alarm = Alarm::of(row);
        // A stack that was given up leaves its alarms behind.
        if let Some(None) = stack {
            return Ok(dropped(alarm, now, &mut chance));
        }
        // If nobody looked for long, nobody could measure either.
        let is_late = now.since(alarm.row.due) > self.inner.config.watch * 3 + SLACK;
        let rule = match alarm.rule() {
            Ok(rule) if !is_late && alarm.row.state != AlarmState::Suspended => rule,
            _ => return Ok(put_off(alarm, now)),
        };
        let from = needs_from(&rule, now);
        let samples = store.samples(&[alarm.row.id], from, Time::NEVER).await?;
        let verdict: Verdict = evaluate(&rule, alarm.row.state, &samples, now);
        let is_told = stack.flatten().is_none_or(|stack| is_at_rest(&stack));
        Ok(alarm.judged(&verdict, Occasion { now, is_told }, &mut chance))
    }

    /// Has a command that is in the queue of a tree carried out soon: it will be in any case.
    async fn notice(&self, row: &CommandRow) {
        let Ok(command) = crate::machine::Command::decode(&row.body) else { return };
        let is_owned = {
            let mut trees = self.trees();
            trees.get_mut(&row.root).map(|owned| owned.tell(row.id, command, None)).is_some()
        };
        if !is_owned {
            _ = self.take(row.root).await;
        }
    }
}

/// How late an alarm may be looked at, beside what is usual.
const SLACK: Duration = Duration::from_secs(30);

/// Whether a stack can be told anything.
pub(crate) fn is_at_rest(stack: &StackRow) -> bool {
    stack.state.status == Status::Complete && stack.state.action != Action::Delete
}

fn put_off(mut alarm: Alarm, now: Time) -> AlarmChange {
    let was = alarm.row.version;
    alarm.row.evaluated = now;
    alarm.row.due = match alarm.row.state {
        AlarmState::Suspended => Time::NEVER,
        _ => now + alarm.row.period,
    };
    AlarmChange {
        alarm: alarm.row,
        was: Some(was),
        is_dropped: false,
        history: Vec::new(),
        commands: Vec::new(),
        letters: Vec::new(),
    }
}

fn dropped(alarm: Alarm, now: Time, chance: &mut Chance) -> AlarmChange {
    let history = vec![alarm.configured("deleted", now, chance)];
    let was = Some(alarm.row.version);
    let (commands, letters) = (Vec::new(), Vec::new());
    AlarmChange { alarm: alarm.row, was, is_dropped: true, history, commands, letters }
}
