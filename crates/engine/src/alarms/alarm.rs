//! An alarm as it is kept, and what comes of looking at it.

use super::evaluate::Verdict;
use super::rule::{AlarmState, EvaluationMode, IS_SINGLE, Rule};
use super::store::{AlarmChange, AlarmEvent, AlarmEventKind, AlarmRow};
use super::webhook::{Webhook, is_url};
use crate::codec;
use crate::ids::{CommandId, Ids, StackId};
use crate::machine::Command;
use crate::store::CommandRow;
use crate::time::Time;
use kiln_template::print::{self, Keys};
use kiln_template::value::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// An alarm, and the rule that it expected_version definition, in CloudWatch's words.
#[derive(Clone, Debug)]
pub struct Alarm {
    /// Its row.
    pub row: AlarmRow,
    /// Its rule as it expected_version definition, and what else is known of it.
    pub definition: Members,
}

/// Whom an alarm tells: a resource of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The root of the stack's tree.
    pub root: StackId,
    /// The stack.
    pub stack: StackId,
    /// The resource.
    pub resource: Arc<str>,
}

/// What is to be told of an alarm, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationContext {
    /// When.
    pub now: Time,
    /// Whether whoever is named is told at all.
    pub notifies: bool,
}

/// Where an alarm keeps who its actions are.
const TARGETS: &str = "targets";
/// Where an alarm keeps the root of its stack's tree.
const ROOT: &str = "root";
/// Why it is in its state.
pub(crate) const REASON: &str = "StateReason";
/// More of that, as data.
pub(crate) const REASON_DATA: &str = "StateReasonData";

/// What of an alarm is its rule, rather than what became of it.
const STATE_KEYS: [&str; 2] = [REASON, REASON_DATA];

impl Alarm {
    /// Where an alarm says whether it tells only of changes.
    pub const NOTIFIES_ONCE: &str = "tells_once";

    /// The alarm of a row.
    pub fn from_row(row: AlarmRow) -> Alarm {
        let definition = match codec::decode(&row.body) {
            Ok(Value::Map(members)) => (*members).clone(),
            _ => Members::new(),
        };
        Alarm { row, definition }
    }

    /// Its rule.
    pub fn rule(&self) -> Result<Rule, String> {
        Rule::parse(&self.definition)
    }

    /// The root of its stack's tree.
    pub fn root(&self) -> Option<StackId> {
        let text = self.definition.get(ROOT)?.as_text()?;
        Uuid::parse_str(text).ok().map(StackId)
    }

    /// Says which tree it belongs to.
    pub fn set_root(&mut self, root: StackId) {
        self.definition.insert(ROOT.into(), root.to_string().into());
    }

    /// Says who an action is.
    pub fn set_target(&mut self, action: &str, target: &Target) {
        let told = Value::map([
            ("root", Value::from(target.root.to_string())),
            ("stack", target.stack.to_string().into()),
            ("resource", Value::Text(target.resource.clone())),
        ]);
        let mut all =
            self.definition.get(TARGETS).and_then(Value::as_map).cloned().unwrap_or_default();
        all.insert(action.into(), told);
        self.definition.insert(TARGETS.into(), Value::Map(all.into()));
    }

    /// Who an action is; nothing if that is not known.
    pub fn target(&self, action: &str) -> Option<Target> {
        let told = self.definition.get(TARGETS)?.as_map()?.get(action)?.as_map()?;
        let text = |name: &str| told.get(name).and_then(Value::as_text);
        let id = |name: &str| Uuid::parse_str(text(name)?).ok().map(StackId);
        Some(Target { root: id("root")?, stack: id("stack")?, resource: text("resource")?.clone() })
    }

    /// What is done in a state.
    pub fn actions(&self, state: AlarmState) -> Vec<Arc<str>> {
        let all =
            self.definition.get(state.actions()).and_then(Value::as_list).into_iter().flatten();
        all.filter_map(Value::as_text).filter(|text| !text.is_empty()).cloned().collect()
    }

    /// Keeps a new rule, and what became of the former one.
    pub fn set_definition(&mut self, mut definition: Members) {
        for name in STATE_KEYS {
            if let Some(value) = self.definition.get(name) {
                definition.insert(name.into(), value.clone());
            }
        }
        self.definition = definition;
    }

    /// Makes the last period alone decide, as the old service did for alarms of stacks.
    pub fn use_last_period_only(definition: &mut Members) {
        definition.insert(IS_SINGLE.into(), true.into());
    }

    /// The row, with what is known now.
    pub fn into_row(self) -> AlarmRow {
        let body = codec::encode(&Value::Map(self.definition.into()));
        AlarmRow { body, ..self.row }
    }

    /// What comes of a verdict.
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
                if self.target(&action).is_none() && is_url(&action) {
                    // What came of it is told when it expected_version delivered. Alarms of nobody's stack tell of changes.
                    if is_state_change || self.row.stack.is_some() {
                        webhooks.push(self.webhook(&action, before, verdict, now).to_row(now));
                    }
                    continue;
                }
                let told = self.signal_command(&action, before, verdict, now, ids);
                // What is told again and again is told of once.
                if is_state_change {
                    history.push(self.action_event(&action, told.is_some(), now, ids));
                }
                commands.extend(told);
            }
        }
        // What happened at the same moment is told in the order in which it happened.
        for (number, event) in (0..).zip(&mut history) {
            event.id = ids.next_in_order(now, number);
        }
        let (alarm, expected_version) = (self.into_row(), Some(expected_version));
        AlarmChange { alarm, expected_version, is_deleted: false, history, commands, webhooks }
    }

    /// Whether those who are named are told. Alarms of stacks tell again in every period: a policy scales
    /// again when its cooldown is over.
    fn should_notify(&self, is_state_change: bool, context: EvaluationContext) -> bool {
        let is = |name: &str, flag: bool| matches!(self.definition.get(name), Some(Value::Bool(it)) if *it == flag);
        context.notifies
            && !is("ActionsEnabled", false)
            && (is_state_change || !is(Alarm::NOTIFIES_ONCE, true))
    }

    fn signal_command(
        &self,
        action: &str,
        before: AlarmState,
        verdict: &Verdict,
        now: Time,
        ids: &mut dyn Ids,
    ) -> Option<CommandRow> {
        let target = self.target(action)?;
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
        Some(CommandRow { id, root: target.root, time: now, body: command.encode() })
    }

    /// What an address is told, in the words of the alarming service.
    fn webhook(&self, url: &Arc<str>, before: AlarmState, verdict: &Verdict, now: Time) -> Webhook {
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
            id: Webhook::id_of(self.row.id, url, self.row.changed, is_state_change),
            project: self.row.project.clone(),
            alarm: self.row.name.clone(),
            url: url.clone(),
            body: print::json(&told, Keys::Ordered).into(),
            created: now,
            is_state_change,
            attempts: 0,
        }
    }

    // --- history ---

    /// Something that happened to it.
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
    pub fn configuration_event(&self, what: &str, now: Time, ids: &mut dyn Ids) -> AlarmEvent {
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

/// A state as the alarming service says it.
fn aodh_name(state: AlarmState) -> &'static str {
    match state {
        AlarmState::Alarm => "alarm",
        AlarmState::Normal => "ok",
        AlarmState::NoData | AlarmState::Suspended => "insufficient data",
    }
}
