//! An alarm as it is stored, and the outcome of its evaluation.

use super::evaluate::Verdict;
use super::rule::{AlarmState, EvaluationMode, IS_SINGLE, Rule};
use super::store::{AlarmChange, AlarmEvent, AlarmEventKind, AlarmRow};
use super::target::{AlarmTarget, SignalledResource, WebhookUrl};
use super::webhook::Webhook;
use crate::ids::{CommandId, Ids, StackId};
use crate::machine::Command;
use crate::record::v1::AlarmBody;
use crate::record::{Record, StoredMembers};
use crate::store::{CommandRow, StoreError};
use crate::time::Time;
use kiln_template::print::{self, Keys};
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// An alarm, and the rule that it expected_version definition, in CloudWatch's words.
#[derive(Clone, Debug)]
pub struct Alarm {
    /// The row of the alarm.
    pub row: AlarmRow,
    /// The rule as it was supplied, and what else is known of the alarm.
    pub definition: Members,
}

/// When an alarm is evaluated, and whether it acts.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationContext {
    /// The time of the evaluation.
    pub now: Time,
    /// Whether the actions of the alarm are carried out.
    pub notifies: bool,
}

/// The key under which an alarm stores the resources that its actions signal.
const TARGETS: &str = "targets";
/// The key under which an alarm stores the root of its stack's tree.
const ROOT: &str = "root";
/// The key of the reason for the alarm's state.
pub(crate) const REASON: &str = "StateReason";
/// The key of the same reason as data.
pub(crate) const REASON_DATA: &str = "StateReasonData";

/// The keys that describe the state of an alarm, not its rule.
const STATE_KEYS: [&str; 2] = [REASON, REASON_DATA];

impl Alarm {
    /// The key of the flag that an alarm acts only when its state changes.
    pub(crate) const NOTIFIES_ONCE: &str = "tells_once";

    /// Reads the alarm of a row.
    pub fn from_row(row: AlarmRow) -> Result<Alarm, StoreError> {
        let AlarmBody { rule: StoredMembers(definition) } = AlarmBody::read(&row.body, row.id)?;
        Ok(Alarm { row, definition: Arc::unwrap_or_clone(definition) })
    }

    /// The alarms of rows; those that cannot be read are logged and left out.
    pub fn readable(rows: Vec<AlarmRow>) -> Vec<Alarm> {
        let read = |row: AlarmRow| {
            let alarm = Alarm::from_row(row);
            alarm.inspect_err(|error| tracing::error!(%error, "an alarm is left out")).ok()
        };
        rows.into_iter().filter_map(read).collect()
    }

    /// The rule of the alarm.
    pub fn rule(&self) -> Result<Rule, String> {
        Rule::parse(&self.definition)
    }

    /// The root of the tree that the alarm belongs to.
    pub fn root(&self) -> Option<StackId> {
        let text = self.definition.get(ROOT)?.as_text()?;
        Uuid::parse_str(text).ok().map(StackId)
    }

    /// Stores the tree that the alarm belongs to.
    pub(crate) fn set_root(&mut self, root: StackId) {
        self.definition.insert(ROOT.into(), root.to_string().into());
    }

    /// Stores the resource that an action signals.
    pub(crate) fn set_target(&mut self, action: &str, target: &SignalledResource) {
        let stored = Value::map([
            ("root", Value::from(target.root.to_string())),
            ("stack", target.stack.to_string().into()),
            ("resource", Value::Text(target.resource.clone())),
        ]);
        let mut all =
            self.definition.get(TARGETS).and_then(Value::as_map).cloned().unwrap_or_default();
        all.insert(action.into(), stored);
        self.definition.insert(TARGETS.into(), Value::Map(all.into()));
    }

    /// The target of an action; `None` if the action names neither a known resource nor a URL.
    pub fn target(&self, action: &str) -> Option<AlarmTarget> {
        match self.signalled_resource(action) {
            Some(resource) => Some(AlarmTarget::Signal(resource)),
            None => WebhookUrl::parse(action).map(AlarmTarget::Webhook),
        }
    }

    fn signalled_resource(&self, action: &str) -> Option<SignalledResource> {
        let stored = self.definition.get(TARGETS)?.as_map()?.get(action)?.as_map()?;
        let text = |name: &str| stored.get(name).and_then(Value::as_text);
        let id = |name: &str| Uuid::parse_str(text(name)?).ok().map(StackId);
        let (root, stack) = (id("root")?, id("stack")?);
        Some(SignalledResource { root, stack, resource: text("resource")?.clone() })
    }

    /// The actions for a state.
    pub fn actions(&self, state: AlarmState) -> Vec<Arc<str>> {
        let all =
            self.definition.get(state.actions()).and_then(Value::as_list).into_iter().flatten();
        all.filter_map(Value::as_text).filter(|text| !text.is_empty()).cloned().collect()
    }

    /// Sets a new rule, and keeps the state of the alarm.
    pub(crate) fn set_definition(&mut self, mut definition: Members) {
        for name in STATE_KEYS {
            if let Some(value) = self.definition.get(name) {
                definition.insert(name.into(), value.clone());
            }
        }
        self.definition = definition;
    }

    /// Has only the last period decide, as the older service did for alarms of stacks.
    pub fn use_last_period_only(definition: &mut Members) {
        definition.insert(IS_SINGLE.into(), true.into());
    }

    /// The row of the alarm.
    pub(crate) fn into_row(self) -> AlarmRow {
        let body = AlarmBody { rule: StoredMembers(self.definition.into()) };
        AlarmRow { body: body.encode(), ..self.row }
    }

    /// Applies the result of an evaluation; returns the change to be written.
    pub fn apply(
        mut self,
        verdict: &Verdict,
        context: EvaluationContext,
        ids: &mut dyn Ids,
    ) -> AlarmChange {
        let now = context.now;
        let (before, after) = (self.row.state, verdict.state);
        let is_state_change = before != after;
        let expected_version = self.row.version;
        self.row.evaluated = now;
        if self.row.due != Time::NEVER {
            self.row.due = now + self.row.period;
        }
        let (mut history, mut commands, mut webhooks) = (Vec::new(), Vec::new(), Vec::new());
        if is_state_change {
            history.push(self.state_event(before, verdict, now, ids));
            self.row.state = after;
            self.row.changed = now;
            self.definition.insert(REASON.into(), verdict.reason.as_str().into());
            self.definition.insert(REASON_DATA.into(), Value::Null);
        }
        if self.should_notify(is_state_change, context) {
            for action in self.actions(after) {
                let is_done = match self.target(&action) {
                    Some(AlarmTarget::Webhook(url)) => {
                        // The history of a webhook is written after its delivery. Alarms without a stack send one
                        // only when their state changes.
                        if is_state_change || self.row.stack.is_some() {
                            webhooks.push(self.webhook(&url, before, verdict, now).to_row(now));
                        }
                        continue;
                    }
                    Some(AlarmTarget::Signal(resource)) => {
                        commands.push(self.signal_command(resource, before, verdict, now, ids));
                        true
                    }
                    None => false,
                };
                // A signal that is repeated in every period is in the history once.
                if is_state_change {
                    history.push(self.action_event(&action, is_done, now, ids));
                }
            }
        }
        // Events of the same moment are listed in their order.
        for (number, event) in (0..).zip(&mut history) {
            event.id = ids.next_in_order(now, number);
        }
        let (alarm, expected_version) = (self.into_row(), Some(expected_version));
        AlarmChange {
            alarm,
            expected_version,
            max_alarms: None,
            is_deleted: false,
            history,
            commands,
            webhooks,
        }
    }

    /// Whether the actions of the alarm are carried out. Alarms of stacks repeat them in every period: a policy scales
    /// again when its cooldown has ended.
    fn should_notify(&self, is_state_change: bool, context: EvaluationContext) -> bool {
        let is = |name: &str, flag: bool| matches!(self.definition.get(name), Some(Value::Bool(it)) if *it == flag);
        context.notifies
            && !is("ActionsEnabled", false)
            && (is_state_change || !is(Alarm::NOTIFIES_ONCE, true))
    }

    fn signal_command(
        &self,
        target: SignalledResource,
        before: AlarmState,
        verdict: &Verdict,
        now: Time,
        ids: &mut dyn Ids,
    ) -> CommandRow {
        let is_single = self.rule().is_ok_and(|rule| rule.mode == EvaluationMode::LastPeriod);
        let details = match is_single {
            true => Value::map([
                ("alarm", Value::Text(self.row.name.clone())),
                ("state", verdict.state.name().into()),
            ]),
            false => Value::map([
                ("alarm_id", Value::from(self.row.id.to_string())),
                ("alarm_name", Value::Text(self.row.name.clone())),
                ("previous", aodh_name(before).into()),
                ("current", aodh_name(verdict.state).into()),
                ("reason", verdict.reason.as_str().into()),
                ("state", verdict.state.name().into()),
            ]),
        };
        let command = Command::Signal { stack: target.stack, resource: target.resource, details };
        let id = CommandId(ids.next());
        CommandRow { id, root: target.root, time: now, body: command.encode() }
    }

    /// The webhook for a URL, in the format of the alarming service.
    fn webhook(
        &self,
        url: &WebhookUrl,
        before: AlarmState,
        verdict: &Verdict,
        now: Time,
    ) -> Webhook {
        let told = Value::map([
            ("alarm_id", Value::from(self.row.id.to_string())),
            ("alarm_name", Value::Text(self.row.name.clone())),
            ("severity", "low".into()),
            ("previous", aodh_name(before).into()),
            ("current", aodh_name(verdict.state).into()),
            ("reason", verdict.reason.as_str().into()),
            ("reason_data", Value::map([("type", "threshold")].map(|(k, v)| (k, v.into())))),
        ]);
        let is_state_change = before != verdict.state;
        Webhook {
            id: Webhook::id_of(self.row.id, url.as_str(), self.row.changed, is_state_change),
            project: self.row.project.clone(),
            alarm: self.row.name.clone(),
            url: url.as_str().into(),
            body: print::json(&told, Keys::Ordered).into(),
            created: now,
            is_state_change,
            attempts: 0,
        }
    }

    // --- history ---

    /// An event in the history of the alarm.
    pub fn event(
        &self,
        kind: AlarmEventKind,
        summary: &str,
        data: Value,
        now: Time,
        ids: &mut dyn Ids,
    ) -> AlarmEvent {
        let of = (&self.row.project, &self.row.name);
        AlarmEvent::new(of, kind, (summary, data), now, ids.next_in_order(now, 0))
    }

    /// That its rule expected_version made, changed or removed: `created`, `updated`, `deleted`.
    pub(crate) fn configuration_event(
        &self,
        what: &str,
        now: Time,
        ids: &mut dyn Ids,
    ) -> AlarmEvent {
        let summary = format!("Alarm \"{}\" {what}", self.row.name);
        let kind = match what {
            "created" => "Create",
            "deleted" => "Delete",
            _ => "Update",
        };
        let data = Value::map([("version", "1.0"), ("type", kind)].map(|(k, v)| (k, v.into())));
        self.event(AlarmEventKind::Configuration, &summary, data, now, ids)
    }

    fn state_event(
        &self,
        before: AlarmState,
        verdict: &Verdict,
        now: Time,
        ids: &mut dyn Ids,
    ) -> AlarmEvent {
        let summary = format!("Alarm updated from {} to {}", before.aws(), verdict.state.aws());
        let reason = self.definition.get(REASON).cloned().unwrap_or_default();
        let state = |state: AlarmState, reason: Value| {
            Value::map([("stateValue", state.aws().into()), ("stateReason", reason)])
        };
        let data = Value::map([
            ("version", Value::from("1.0")),
            ("oldState", state(before, reason)),
            ("newState", state(verdict.state, verdict.reason.as_str().into())),
        ]);
        self.event(AlarmEventKind::State, &summary, data, now, ids)
    }

    fn action_event(
        &self,
        action: &str,
        notifies: bool,
        now: Time,
        ids: &mut dyn Ids,
    ) -> AlarmEvent {
        let error = (!notifies).then_some("no resource of a stack is known by this name");
        let of = (&self.row.project, &self.row.name);
        AlarmEvent::action(of, action, error, now, ids.next_in_order(now, 0))
    }
}

/// The name of a state in the alarming service.
fn aodh_name(state: AlarmState) -> &'static str {
    match state {
        AlarmState::Alarm => "alarm",
        AlarmState::Normal => "ok",
        AlarmState::NoData | AlarmState::Suspended => "insufficient data",
    }
}
