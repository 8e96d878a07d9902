//! Alarms: those of stacks, and those that people keep by themselves.

use super::metrics::no_rule;
use super::{Asker, Refusal, Service};
use crate::ids::{StackId, shorten};
use crate::runtime::{Chance, is_at_rest, now};
use crate::time::Time;
use crate::watch::{
    Alarm, AlarmChange, AlarmEvent, AlarmQuery, AlarmRow, AlarmState, HistoryQuery, Occasion,
    REASON_DATA, Rule, Target, Verdict, is_address,
};
use kiln_template::files::url::percent_decode;
use kiln_template::value::{Members, Value};
use std::sync::Arc;
use uuid::Uuid;

/// The longest name of an alarm.
const LONGEST_NAME: usize = 255;
/// How often a change is tried that others are in the way of.
const TRIES: usize = 20;

/// An alarm of a stack.
#[derive(Clone, Debug)]
pub struct StackAlarm {
    /// Its name.
    pub name: Arc<str>,
    /// The stack.
    pub stack: StackId,
    /// Its rule, in CloudWatch's words.
    pub given: Members,
    /// The resources of the stack that are told, by what the rule calls them.
    pub resources: Vec<(Arc<str>, Arc<str>)>,
    /// Whether it is looked at.
    pub is_awake: bool,
}

impl Service {
    // --- alarms of stacks ---

    /// Keeps an alarm of a stack under the id that its resource drew for it, or changes it. Whoever does that
    /// twice has one alarm.
    pub async fn put_stack_alarm(
        &self,
        asker: &Asker,
        id: Uuid,
        new: StackAlarm,
    ) -> Result<(), Refusal> {
        let rule = Rule::read(&new.given).map_err(invalid)?;
        let stack = self.store.stack(new.stack).await?;
        let stack = stack.filter(|stack| stack.project == asker.project);
        let root = stack.ok_or_else(|| Refusal::no_such("Stack", &new.stack.to_string()))?.root;
        let name: Arc<str> = shorten(&new.name, LONGEST_NAME).into();
        let known = self.store.alarm(id).await?;
        if known.is_none() {
            self.check_alarm_quota(asker).await?;
        }
        self.change_alarm(id, |known, chance| {
            let now = now();
            let is_new = known.is_none();
            let mut alarm = known.unwrap_or_else(|| new_alarm(id, asker, &name, now));
            let is_other = |alarm: &Alarm| alarm.row.project != asker.project;
            if is_other(&alarm) {
                return Err(no_rule(&id.to_string()));
            }
            alarm.row.stack = Some(new.stack);
            alarm.set_given(new.given.clone());
            alarm.set_root(root);
            for (action, resource) in &new.resources {
                let (stack, resource) = (new.stack, resource.clone());
                alarm.set_target(action, &Target { root, stack, resource });
            }
            configure(&mut alarm, &rule, now);
            let state = match (new.is_awake, alarm.row.state) {
                (false, _) => AlarmState::Suspended,
                (true, AlarmState::Suspended) => AlarmState::NoData,
                (true, state) => state,
            };
            rest(&mut alarm, state, now);
            let event = alarm.configured(if is_new { "created" } else { "updated" }, now, chance);
            Ok(Some((alarm, vec![event])))
        })
        .await?;
        self.find_targets(id).await
    }

    /// Puts an alarm of a stack to rest, or wakes it.
    pub async fn wake_alarm(&self, asker: &Asker, id: Uuid, is_awake: bool) -> Result<(), Refusal> {
        self.change_alarm(id, |known, _| {
            let known = known.filter(|it| it.row.project == asker.project);
            let mut alarm = known.ok_or_else(|| no_rule(&id.to_string()))?;
            let state = if is_awake { AlarmState::NoData } else { AlarmState::Suspended };
            let is_awake_now = alarm.row.state != AlarmState::Suspended;
            if is_awake == is_awake_now {
                return Ok(None);
            }
            rest(&mut alarm, state, now());
            Ok(Some((alarm, Vec::new())))
        })
        .await
    }

    /// An alarm of a stack.
    pub async fn stack_alarm(&self, asker: &Asker, id: Uuid) -> Result<Alarm, Refusal> {
        let found = self.store.alarm(id).await?.filter(|row| row.project == asker.project);
        found.map(Alarm::of).ok_or_else(|| {
            Refusal::new("NotFound", format!("The Watch Rule ({id}) could not be found."))
        })
    }

    /// Removes an alarm of a stack.
    pub async fn drop_stack_alarm(&self, asker: &Asker, id: Uuid) -> Result<(), Refusal> {
        let alarm = self.stack_alarm(asker, id).await?;
        self.drop_alarm(alarm).await
    }

    // --- what people ask ---

    /// A page of alarms.
    pub async fn alarms(&self, query: &AlarmQuery) -> Result<Vec<Alarm>, Refusal> {
        Ok(self.store.alarms(query).await?.into_iter().map(Alarm::of).collect())
    }

    /// The alarm of a name: if there are several, the newest.
    pub async fn alarm_called(&self, asker: &Asker, name: &str) -> Result<Option<Alarm>, Refusal> {
        let found = self.alarms_called(&self.watched_project(asker), name).await?;
        Ok(found.into_iter().max_by_key(|it| (it.row.created, it.row.id)))
    }

    /// Keeps an alarm that belongs to no stack, over the one that is there.
    pub async fn put_alarm(
        &self,
        asker: &Asker,
        name: &str,
        given: Members,
    ) -> Result<(), Refusal> {
        let rule = Rule::read(&given).map_err(invalid)?;
        let known = self.alarm_called(asker, name).await?;
        if known.as_ref().is_some_and(|it| it.row.stack.is_some()) {
            return Err(of_a_stack(name));
        }
        if known.is_none() {
            self.check_alarm_quota(asker).await?;
        }
        let targets = self.targets(&asker.project, &given).await?;
        let id = id_of(&asker.project, name);
        self.change_alarm(id, |known, chance| {
            let now = now();
            let is_new = known.is_none();
            let mut alarm = known.unwrap_or_else(|| new_alarm(id, asker, &name.into(), now));
            alarm.set_given(given.clone());
            targets.iter().for_each(|(action, target)| alarm.set_target(action, target));
            configure(&mut alarm, &rule, now);
            let event = alarm.configured(if is_new { "created" } else { "updated" }, now, chance);
            Ok(Some((alarm, vec![event])))
        })
        .await
    }

    /// Removes alarms that belong to no stack; gives the names that there are none of. If one belongs to a
    /// stack, none is removed.
    pub async fn delete_alarms(
        &self,
        asker: &Asker,
        names: &[Arc<str>],
    ) -> Result<Vec<Arc<str>>, Refusal> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            match self.alarm_called(asker, name).await? {
                Some(alarm) if alarm.row.stack.is_some() => return Err(of_a_stack(name)),
                Some(alarm) => found.push(alarm),
                None => missing.push(name.clone()),
            }
        }
        for alarm in found {
            self.drop_alarm(alarm).await?;
        }
        Ok(missing)
    }

    /// Has alarms tell those who are named, or not. Names that there are none of do not count.
    pub async fn enable_alarms(
        &self,
        asker: &Asker,
        names: &[Arc<str>],
        is_enabled: bool,
    ) -> Result<(), Refusal> {
        for name in names {
            for alarm in self.alarms_called(&self.watched_project(asker), name).await? {
                self.change_alarm(alarm.row.id, |known, chance| {
                    let Some(mut alarm) = known else { return Ok(None) };
                    alarm.given.insert("ActionsEnabled".into(), is_enabled.into());
                    let now = now();
                    alarm.row.updated = now;
                    let event = alarm.configured("updated", now, chance);
                    Ok(Some((alarm, vec![event])))
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Says what an alarm finds, until it is looked at again. Whoever is named for that is told if it is news.
    pub async fn set_alarm_state(
        &self,
        asker: &Asker,
        name: &str,
        verdict: &Verdict,
        data: Value,
    ) -> Result<(), Refusal> {
        let found = self.alarm_called(asker, name).await?.ok_or_else(|| no_rule(name))?;
        let id = found.row.id;
        let is_told = match found.row.stack {
            Some(stack) => self.store.stack(stack).await?.is_some_and(|stack| is_at_rest(&stack)),
            None => true,
        };
        for _ in 0..TRIES {
            let row = self.store.alarm(id).await?.ok_or_else(|| no_rule(name))?;
            // Nobody speaks for what is at rest, and what is not news changes nothing.
            if row.state == verdict.state || row.state == AlarmState::Suspended {
                return Ok(());
            }
            let now = now();
            let (evaluated, due) = (row.evaluated, row.due);
            let occasion = Occasion { now, is_told };
            let mut change = Alarm::of(row).judged(verdict, occasion, &mut Chance::default());
            let mut alarm = Alarm::of(change.alarm);
            alarm.given.insert(REASON_DATA.into(), data.clone());
            // It is looked at again when it would have been.
            (alarm.row.evaluated, alarm.row.due) = (evaluated, due);
            change.alarm = alarm.into_row();
            if self.store.write_alarms(std::slice::from_ref(&change)).await? == [true] {
                if let Some(engine) = &self.engine {
                    engine.notice_all(&change).await;
                }
                return Ok(());
            }
        }
        Err(crowded())
    }

    /// A page of what happened to alarms.
    pub async fn alarm_history(&self, query: &HistoryQuery) -> Result<Vec<AlarmEvent>, Refusal> {
        Ok(self.store.alarm_history(query).await?)
    }

    // --- both ---

    /// Changes an alarm, however often others are in the way; nothing to change changes nothing.
    async fn change_alarm(
        &self,
        id: Uuid,
        change: impl Fn(Option<Alarm>, &mut Chance) -> Result<Option<(Alarm, Vec<AlarmEvent>)>, Refusal>,
    ) -> Result<(), Refusal> {
        for _ in 0..TRIES {
            let known = self.store.alarm(id).await?;
            let was = known.as_ref().map(|row| row.version);
            let changed = change(known.map(Alarm::of), &mut Chance::default())?;
            let Some((alarm, history)) = changed else { return Ok(()) };
            let (alarm, commands, letters) = (alarm.into_row(), Vec::new(), Vec::new());
            let change = AlarmChange { alarm, was, is_dropped: false, history, commands, letters };
            if self.store.write_alarms(&[change]).await? == [true] {
                return Ok(());
            }
        }
        Err(crowded())
    }

    async fn drop_alarm(&self, mut alarm: Alarm) -> Result<(), Refusal> {
        for _ in 0..TRIES {
            let event = alarm.configured("deleted", now(), &mut Chance::default());
            let change = AlarmChange {
                was: Some(alarm.row.version),
                alarm: alarm.row.clone(),
                is_dropped: true,
                history: vec![event],
                commands: Vec::new(),
                letters: Vec::new(),
            };
            if self.store.write_alarms(&[change]).await? == [true] {
                return Ok(());
            }
            match self.store.alarm(alarm.row.id).await? {
                Some(row) => alarm = Alarm::of(row),
                None => return Ok(()),
            }
        }
        Err(crowded())
    }

    async fn check_alarm_quota(&self, asker: &Asker) -> Result<(), Refusal> {
        let Some(limit) = self.rules.max_alarms.filter(|_| !asker.is_admin) else { return Ok(()) };
        match self.store.count_alarms(&asker.project).await? >= limit {
            false => Ok(()),
            true => Err(Refusal::limit(format_args!(
                "You have reached the maximum alarms per tenant, {limit}. Please delete some alarms."
            ))),
        }
    }

    /// Finds out who the actions of an alarm are that are addresses.
    async fn find_targets(&self, id: Uuid) -> Result<(), Refusal> {
        let Some(row) = self.store.alarm(id).await? else { return Ok(()) };
        let alarm = Alarm::of(row);
        let mut given = alarm.given.clone();
        for state in [AlarmState::Alarm, AlarmState::Normal, AlarmState::NoData] {
            let open = alarm.actions(state).into_iter().filter(|it| alarm.target(it).is_none());
            given.insert(state.actions().into(), Value::list(open.map(Value::Text)));
        }
        let targets = self.targets_of(&alarm.row.project, &given).await?;
        if targets.iter().all(|(_, target)| target.is_none()) {
            return Ok(());
        }
        self.change_alarm(id, |known, _| {
            let Some(mut alarm) = known else { return Ok(None) };
            for (action, target) in &targets {
                if let Some(target) = target {
                    alarm.set_target(action, target);
                }
            }
            Ok(Some((alarm, Vec::new())))
        })
        .await
    }

    /// Who the actions of a rule are; refuses those that are nobody's.
    async fn targets(
        &self,
        project: &Arc<str>,
        given: &Members,
    ) -> Result<Vec<(Arc<str>, Target)>, Refusal> {
        let found = self.targets_of(project, given).await?;
        let may_be_told = |url: &str| is_address(url) && self.config.messenger.may_tell(url);
        let known = |(action, target): (Arc<str>, Option<Target>)| match target {
            Some(target) => Some(Ok((action, target))),
            // It is told as it is.
            None if may_be_told(&action) => None,
            None => Some(Err(Refusal::new(
                "InvalidParameterValue",
                format!(
                    "The action {action} is not supported: name a resource of a stack of this project, by its \
                     ARN or by the address at which it is signalled, or an address that the operator allows \
                     ([kiln] notify_allowed)"
                ),
            ))),
        };
        found.into_iter().filter_map(known).collect()
    }

    async fn targets_of(
        &self,
        project: &Arc<str>,
        given: &Members,
    ) -> Result<Vec<(Arc<str>, Option<Target>)>, Refusal> {
        let mut found = Vec::new();
        for state in [AlarmState::Alarm, AlarmState::Normal, AlarmState::NoData] {
            let actions = given.get(state.actions()).and_then(Value::as_list).into_iter().flatten();
            for action in actions.filter_map(Value::as_text) {
                let target = match resource_in(action) {
                    Some((owner, stack, resource)) if *owner == **project => {
                        let stack = self.store.stack(stack).await?;
                        let stack = stack.filter(|stack| stack.project == *project);
                        stack.map(|it| Target { root: it.root, stack: it.id, resource })
                    }
                    _ => None,
                };
                found.push((action.clone(), target));
            }
        }
        Ok(found)
    }
}

fn new_alarm(id: Uuid, asker: &Asker, name: &Arc<str>, now: Time) -> Alarm {
    Alarm::of(AlarmRow {
        id,
        project: asker.project.clone(),
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
    })
}

/// Makes an alarm go by a rule from now on.
fn configure(alarm: &mut Alarm, rule: &Rule, now: Time) {
    alarm.row.metric = rule.metric.clone();
    alarm.row.updated = now;
    alarm.row.period = rule.period;
    if alarm.row.state != AlarmState::Suspended {
        alarm.row.due = alarm.row.evaluated + rule.period;
    }
}

/// Puts an alarm to rest, or has it looked at from now on.
fn rest(alarm: &mut Alarm, state: AlarmState, now: Time) {
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

/// The id of an alarm that belongs to no stack: there is one of a name.
fn id_of(project: &str, name: &str) -> Uuid {
    use sha2::Digest;
    let digest: [u8; 32] = sha2::Sha256::digest(format!("{project}\0{name}")).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// The resource that an ARN names, or an address at which it is signalled: its project, stack and name.
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

fn invalid(why: String) -> Refusal {
    Refusal::new("InvalidParameterValue", why)
}

fn of_a_stack(name: &str) -> Refusal {
    let message =
        format!("The alarm {name} belongs to a stack: change it by an update of the stack");
    Refusal::new("InvalidParameterValue", message)
}

fn crowded() -> Refusal {
    Refusal { kind: "StoreUnavailable", message: None, findings: Vec::new() }
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
