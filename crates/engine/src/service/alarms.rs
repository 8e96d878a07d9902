//! Alarms: those of stacks, and those that users create themselves.

use super::metrics::alarm_not_found;
use super::{RequestError, Requester, Service};
use crate::alarms::{
    Alarm, AlarmChange, AlarmEvent, AlarmQuery, AlarmRow, AlarmState, AlarmTarget,
    EvaluationContext, HistoryQuery, REASON_DATA, Rule, SignalledResource, Verdict, WebhookUrl,
};
use crate::error_type::ErrorType;
use crate::ids::{StackId, shorten};
use crate::runtime::{SystemIds, accepts_alarm_signals, now};
use crate::time::Time;
use kiln_template::files::url::percent_decode;
use kiln_template::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// The longest name of an alarm.
const MAX_NAME_CHARS: usize = 255;
/// How often a change is tried that conflicts with other writers.
const MAX_ATTEMPTS: usize = 20;
/// The states that have actions.
const ACTING_STATES: [AlarmState; 3] = [AlarmState::Alarm, AlarmState::Normal, AlarmState::NoData];

/// An alarm of a stack.
#[derive(Clone, Debug)]
pub struct StackAlarm {
    /// The name of the alarm.
    pub name: Arc<str>,
    /// The stack.
    pub stack: StackId,
    /// The rule, in CloudWatch's words.
    pub definition: Members,
    /// The resources of the stack that actions signal, by the names that the rule has for them.
    pub resources: Vec<(Arc<str>, Arc<str>)>,
    /// Whether the alarm is evaluated.
    pub is_active: bool,
}

impl Service {
    // --- alarms of stacks ---

    /// Stores an alarm of a stack under the id that its resource chose, or changes it. A repeated call changes nothing.
    pub async fn put_stack_alarm(
        &self,
        requester: &Requester,
        id: Uuid,
        new: StackAlarm,
    ) -> Result<(), RequestError> {
        let rule = Rule::parse(&new.definition).map_err(invalid)?;
        let stack = self.store.stack(new.stack).await?;
        let stack = stack.filter(|stack| stack.project == requester.project);
        let root =
            stack.ok_or_else(|| RequestError::not_found("Stack", &new.stack.to_string()))?.root;
        let name: Arc<str> = shorten(&new.name, MAX_NAME_CHARS).into();
        let known = self.store.alarm(id).await?;
        if known.is_none() {
            self.check_alarm_quota(requester).await?;
        }
        self.change_alarm(id, self.max_alarms(requester), |known, ids| {
            let now = now();
            let is_new = known.is_none();
            let mut alarm = known.unwrap_or_else(|| new_alarm(id, requester, &name, now));
            let is_other = |alarm: &Alarm| alarm.row.project != requester.project;
            if is_other(&alarm) {
                return Err(alarm_not_found(&id.to_string()));
            }
            alarm.row.stack = Some(new.stack);
            alarm.set_definition(new.definition.clone());
            alarm.set_root(root);
            for (action, resource) in &new.resources {
                let (stack, resource) = (new.stack, resource.clone());
                alarm.set_target(action, &SignalledResource { root, stack, resource });
            }
            configure(&mut alarm, &rule, now);
            let state = match (new.is_active, alarm.row.state) {
                (false, _) => AlarmState::Suspended,
                (true, AlarmState::Suspended) => AlarmState::NoData,
                (true, state) => state,
            };
            set_state(&mut alarm, state, now);
            let event =
                alarm.configuration_event(if is_new { "created" } else { "updated" }, now, ids);
            Ok(Some((alarm, vec![event])))
        })
        .await?;
        self.resolve_targets(id).await
    }

    /// Suspends an alarm of a stack, or resumes it.
    pub async fn set_alarm_active(
        &self,
        requester: &Requester,
        id: Uuid,
        is_active: bool,
    ) -> Result<(), RequestError> {
        self.change_alarm(id, None, |known, _| {
            let known = known.filter(|it| it.row.project == requester.project);
            let mut alarm = known.ok_or_else(|| alarm_not_found(&id.to_string()))?;
            let state = if is_active { AlarmState::NoData } else { AlarmState::Suspended };
            let is_active_now = alarm.row.state != AlarmState::Suspended;
            if is_active == is_active_now {
                return Ok(None);
            }
            set_state(&mut alarm, state, now());
            Ok(Some((alarm, Vec::new())))
        })
        .await
    }

    /// An alarm of a stack.
    pub(crate) async fn stack_alarm(
        &self,
        requester: &Requester,
        id: Uuid,
    ) -> Result<Alarm, RequestError> {
        let found = self.store.alarm(id).await?.filter(|row| row.project == requester.project);
        found.map(Alarm::from_row).transpose()?.ok_or_else(|| {
            RequestError::new(
                ErrorType::NotFound,
                format!("The Watch Rule ({id}) could not be found."),
            )
        })
    }

    /// Deletes an alarm of a stack.
    pub(crate) async fn drop_stack_alarm(
        &self,
        requester: &Requester,
        id: Uuid,
    ) -> Result<(), RequestError> {
        let alarm = self.stack_alarm(requester, id).await?;
        self.drop_alarm(alarm).await
    }

    // --- alarms of users ---

    /// A page of alarms.
    pub async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<Alarm>, RequestError> {
        Ok(Alarm::readable(self.store.alarms(query).await?))
    }

    /// The alarm with a name; if there are several, the newest.
    pub async fn alarm_named(
        &self,
        requester: &Requester,
        name: &str,
    ) -> Result<Option<Alarm>, RequestError> {
        let found = self.alarms_named(&self.alarm_project(requester), name).await?;
        Ok(found.into_iter().max_by_key(|it| (it.row.created, it.row.id)))
    }

    /// Creates or replaces an alarm that belongs to no stack.
    pub async fn put_alarm(
        &self,
        requester: &Requester,
        name: &str,
        definition: Members,
    ) -> Result<(), RequestError> {
        let rule = Rule::parse(&definition).map_err(invalid)?;
        let known = self.alarm_named(requester, name).await?;
        if known.as_ref().is_some_and(|it| it.row.stack.is_some()) {
            return Err(belongs_to_stack(name));
        }
        if known.is_none() {
            self.check_alarm_quota(requester).await?;
        }
        let targets = self.checked_targets(&requester.project, &definition).await?;
        let id = id_of(&requester.project, name);
        self.change_alarm(id, self.max_alarms(requester), |known, ids| {
            let now = now();
            let is_new = known.is_none();
            let mut alarm = known.unwrap_or_else(|| new_alarm(id, requester, &name.into(), now));
            alarm.set_definition(definition.clone());
            targets.iter().for_each(|(action, target)| alarm.set_target(action, target));
            configure(&mut alarm, &rule, now);
            let event =
                alarm.configuration_event(if is_new { "created" } else { "updated" }, now, ids);
            Ok(Some((alarm, vec![event])))
        })
        .await
    }

    /// Deletes alarms that belong to no stack; returns the names without an alarm. If one belongs to a stack, none is
    /// deleted.
    pub async fn delete_alarms(
        &self,
        requester: &Requester,
        names: &[Arc<str>],
    ) -> Result<Vec<Arc<str>>, RequestError> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            match self.alarm_named(requester, name).await? {
                Some(alarm) if alarm.row.stack.is_some() => return Err(belongs_to_stack(name)),
                Some(alarm) => found.push(alarm),
                None => missing.push(name.clone()),
            }
        }
        for alarm in found {
            self.drop_alarm(alarm).await?;
        }
        Ok(missing)
    }

    /// Enables or disables the actions of alarms. Names without an alarm are ignored.
    pub async fn enable_alarms(
        &self,
        requester: &Requester,
        names: &[Arc<str>],
        is_enabled: bool,
    ) -> Result<(), RequestError> {
        for name in names {
            for alarm in self.alarms_named(&self.alarm_project(requester), name).await? {
                self.change_alarm(alarm.row.id, None, |known, ids| {
                    let Some(mut alarm) = known else { return Ok(None) };
                    alarm.definition.insert("ActionsEnabled".into(), is_enabled.into());
                    let now = now();
                    alarm.row.updated = now;
                    let event = alarm.configuration_event("updated", now, ids);
                    Ok(Some((alarm, vec![event])))
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Sets the state of an alarm until its next evaluation. A new state has its actions carried out.
    pub async fn set_alarm_state(
        &self,
        requester: &Requester,
        name: &str,
        verdict: &Verdict,
        data: Value,
    ) -> Result<(), RequestError> {
        let found =
            self.alarm_named(requester, name).await?.ok_or_else(|| alarm_not_found(name))?;
        let id = found.row.id;
        let notifies = match found.row.stack {
            Some(stack) => {
                self.store.stack(stack).await?.is_some_and(|stack| accepts_alarm_signals(&stack))
            }
            None => true,
        };
        for _ in 0..MAX_ATTEMPTS {
            let row = self.store.alarm(id).await?.ok_or_else(|| alarm_not_found(name))?;
            // The state of a suspended alarm is not set, and the same state changes nothing.
            if row.state == verdict.state || row.state == AlarmState::Suspended {
                return Ok(());
            }
            let now = now();
            let (evaluated, due) = (row.evaluated, row.due);
            let context = EvaluationContext { now, notifies };
            let mut change =
                Alarm::from_row(row)?.apply(verdict, context, &mut SystemIds::default());
            let mut alarm = Alarm::from_row(change.alarm)?;
            alarm.definition.insert(REASON_DATA.into(), data.clone());
            // The next evaluation is not postponed.
            (alarm.row.evaluated, alarm.row.due) = (evaluated, due);
            change.alarm = alarm.into_row();
            if self.store.write_alarms(std::slice::from_ref(&change)).await? == [true] {
                if let Some(engine) = &self.engine {
                    engine.deliver_alarm_outcome(&change).await;
                }
                return Ok(());
            }
        }
        Err(write_conflict())
    }

    /// A page of the history of alarms.
    pub async fn alarm_history(
        &self,
        query: &HistoryQuery,
    ) -> Result<Vec<AlarmEvent>, RequestError> {
        Ok(self.store.alarm_history(query).await?)
    }

    // --- both ---

    /// Changes an alarm, and tries again if another writer was faster. A new one is refused if its project has as many as
    /// it may have.
    async fn change_alarm(
        &self,
        id: Uuid,
        max_alarms: Option<u64>,
        change: impl Fn(
            Option<Alarm>,
            &mut SystemIds,
        ) -> Result<Option<(Alarm, Vec<AlarmEvent>)>, RequestError>,
    ) -> Result<(), RequestError> {
        for _ in 0..MAX_ATTEMPTS {
            let known = self.store.alarm(id).await?;
            let expected_version = known.as_ref().map(|row| row.version);
            let changed =
                change(known.map(Alarm::from_row).transpose()?, &mut SystemIds::default())?;
            let Some((alarm, history)) = changed else { return Ok(()) };
            let (alarm, commands, webhooks) = (alarm.into_row(), Vec::new(), Vec::new());
            let project = alarm.project.clone();
            let change = AlarmChange {
                alarm,
                expected_version,
                max_alarms,
                is_deleted: false,
                history,
                commands,
                webhooks,
            };
            if self.store.write_alarms(&[change]).await? == [true] {
                return Ok(());
            }
            if let (None, Some(limit)) = (expected_version, max_alarms) {
                self.check_alarm_count(&project, limit).await?;
            }
        }
        Err(write_conflict())
    }

    async fn drop_alarm(&self, mut alarm: Alarm) -> Result<(), RequestError> {
        for _ in 0..MAX_ATTEMPTS {
            let event = alarm.configuration_event("deleted", now(), &mut SystemIds::default());
            let change = AlarmChange {
                expected_version: Some(alarm.row.version),
                max_alarms: None,
                alarm: alarm.row.clone(),
                is_deleted: true,
                history: vec![event],
                commands: Vec::new(),
                webhooks: Vec::new(),
            };
            if self.store.write_alarms(&[change]).await? == [true] {
                return Ok(());
            }
            match self.store.alarm(alarm.row.id).await? {
                Some(row) => alarm = Alarm::from_row(row)?,
                None => return Ok(()),
            }
        }
        Err(write_conflict())
    }

    async fn check_alarm_quota(&self, requester: &Requester) -> Result<(), RequestError> {
        match self.max_alarms(requester) {
            Some(limit) => self.check_alarm_count(&requester.project, limit).await,
            None => Ok(()),
        }
    }

    /// How many alarms the project of a requester may have.
    fn max_alarms(&self, requester: &Requester) -> Option<u64> {
        self.rules.max_alarms.filter(|_| !requester.is_admin)
    }

    async fn check_alarm_count(&self, project: &str, limit: u64) -> Result<(), RequestError> {
        match self.store.count_alarms(project).await? >= limit {
            false => Ok(()),
            true => Err(RequestError::limit_exceeded(format_args!(
                "You have reached the maximum alarms per tenant, {limit}. Please delete some alarms."
            ))),
        }
    }

    /// Stores the resources that the actions of an alarm signal, if they are named by ARNs or signal URLs.
    async fn resolve_targets(&self, id: Uuid) -> Result<(), RequestError> {
        let Some(row) = self.store.alarm(id).await? else { return Ok(()) };
        let alarm = Alarm::from_row(row)?;
        let is_open = |it: &Arc<str>| !matches!(alarm.target(it), Some(AlarmTarget::Signal(_)));
        let mut targets = Vec::new();
        for state in ACTING_STATES {
            for action in alarm.actions(state).into_iter().filter(is_open) {
                let found = self.signalled_resource(&alarm.row.project, &action).await?;
                targets.extend(found.map(|target| (action, target)));
            }
        }
        if targets.is_empty() {
            return Ok(());
        }
        self.change_alarm(id, None, |known, _| {
            let Some(mut alarm) = known else { return Ok(None) };
            targets.iter().for_each(|(action, target)| alarm.set_target(action, target));
            Ok(Some((alarm, Vec::new())))
        })
        .await
    }

    /// The resources that the actions of a rule signal. An action must name one, or a URL that the operator allows.
    async fn checked_targets(
        &self,
        project: &Arc<str>,
        definition: &Members,
    ) -> Result<Vec<(Arc<str>, SignalledResource)>, RequestError> {
        let mut found = Vec::new();
        for state in ACTING_STATES {
            let actions =
                definition.get(state.actions()).and_then(Value::as_list).into_iter().flatten();
            for action in actions.filter_map(Value::as_text) {
                match self.signalled_resource(project, action).await? {
                    Some(target) => found.push((action.clone(), target)),
                    None => self.check_webhook(action)?,
                }
            }
        }
        Ok(found)
    }

    fn check_webhook(&self, action: &str) -> Result<(), RequestError> {
        let client = &self.config.webhook_client;
        if WebhookUrl::parse(action).is_some_and(|url| client.is_allowed(url.as_str())) {
            return Ok(());
        }
        Err(RequestError::new(
            ErrorType::InvalidParameterValue,
            format!(
                "The action {action} is not supported: name a resource of a stack of this project, by its \
                 ARN or by the address at which it is signalled, or an address that the operator allows \
                 ([kiln] notify_allowed)"
            ),
        ))
    }

    /// The resource of the project that an action names by an ARN or a signal URL.
    async fn signalled_resource(
        &self,
        project: &Arc<str>,
        action: &str,
    ) -> Result<Option<SignalledResource>, RequestError> {
        let Some((owner, stack, resource)) = resource_in(action) else { return Ok(None) };
        if *owner != **project {
            return Ok(None);
        }
        let stack = self.store.stack(stack).await?.filter(|stack| stack.project == *project);
        Ok(stack.map(|it| SignalledResource { root: it.root, stack: it.id, resource }))
    }
}

fn new_alarm(id: Uuid, requester: &Requester, name: &Arc<str>, now: Time) -> Alarm {
    let row = AlarmRow {
        id,
        project: requester.project.clone(),
        name: name.clone(),
        stack: None,
        metric: "".into(),
        state: AlarmState::NoData,
        created: now,
        updated: now,
        changed: now,
        evaluated: now,
        period: Default::default(),
        due: Time::NEVER,
        version: 0,
        body: Vec::new(),
    };
    Alarm { row, definition: Members::new() }
}

/// Sets the rule of an alarm.
fn configure(alarm: &mut Alarm, rule: &Rule, now: Time) {
    alarm.row.metric = rule.metric.clone();
    alarm.row.updated = now;
    alarm.row.period = rule.period;
    if alarm.row.state != AlarmState::Suspended {
        alarm.row.due = alarm.row.evaluated + rule.period;
    }
}

/// Sets the state of an alarm, and when it is evaluated next.
fn set_state(alarm: &mut Alarm, state: AlarmState, now: Time) {
    let is_new = alarm.row.state != state;
    alarm.row.state = state;
    if is_new {
        alarm.row.changed = now;
        alarm.row.evaluated = now;
        alarm.row.due = match state {
            AlarmState::Suspended => Time::NEVER,
            _ => now + alarm.row.period,
        };
    }
}

/// The id of an alarm that belongs to no stack, derived from its name: names are unique.
fn id_of(project: &str, name: &str) -> Uuid {
    use sha2::Digest;
    let digest: [u8; 32] = sha2::Sha256::digest(format!("{project}\0{name}")).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// The resource that an ARN or a signal URL names: its project, stack and name.
fn resource_in(action: &str) -> Option<(String, StackId, Arc<str>)> {
    let text = percent_decode(action.split(['?', '#']).next().unwrap_or(action));
    let (_, rest) = text.split_once("arn:openstack:heat::")?;
    let (project, rest) = rest.split_once(":stacks/")?;
    let mut parts = rest.splitn(3, '/');
    let (_, id, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let resource = rest.strip_prefix("resources/").filter(|name| !name.is_empty())?;
    let id = Uuid::parse_str(id).ok().map(StackId)?;
    Some((project.to_owned(), id, resource.into()))
}

fn invalid(why: String) -> RequestError {
    RequestError::new(ErrorType::InvalidParameterValue, why)
}

fn belongs_to_stack(name: &str) -> RequestError {
    let message =
        format!("The alarm {name} belongs to a stack: change it by an update of the stack");
    RequestError::new(ErrorType::InvalidParameterValue, message)
}

fn write_conflict() -> RequestError {
    RequestError { error_type: ErrorType::StoreUnavailable, message: None, findings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_in_arns_and_addresses() {
        let id = "8f1f0a52-8b4f-4a0c-9d7e-2f6c1b1f0001";
        let arn = format!("arn:openstack:heat::p1:stacks/web/{id}/resources/up");
        let address = format!(
            "http://h:8000/v1/signal/arn%3Aopenstack%3Aheat%3A%3Ap1%3Astacks/web/{id}/resources/up?Signature=a%2Fb"
        );
        for text in [arn, address] {
            let (project, stack, resource) = resource_in(&text).unwrap();
            assert_eq!((&*project, &*stack.to_string(), &*resource), ("p1", id, "up"), "{text}");
        }
        for text in ["http://elsewhere/", "arn:openstack:heat::p:stacks/web/1/resources/up", ""] {
            assert!(resource_in(text).is_none(), "{text}");
        }
    }

    #[test]
    fn there_is_one_alarm_of_a_name() {
        assert_eq!(id_of("p", "a"), id_of("p", "a"));
        assert_ne!(id_of("p", "a"), id_of("q", "a"));
        assert_ne!(id_of("p", "a"), id_of("p", "b"));
    }
}
