//! Signals to resources, and what follows from them.

use super::{Effect, Settings};
use crate::blueprint::Recipe;
use crate::failure::Failure;
use crate::ids::{RecipeId, ResourceId, StackId};
use crate::signal_check::{SignalEffect, SignalRefusal, SignalTarget, check_signal};
use crate::state::{Action, State, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::{Resize, Signal, SignalOutcome};
use kiln_resources::op::merge_data;
use kiln_resources::scaling::Cooldown;
use kiln_template::eval::Scope;
use kiln_template::resolved::ResolvedDefinition;
use kiln_template::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Tree {
    pub(crate) fn signal(
        &mut self,
        env: &mut Env<'_>,
        stack: StackId,
        name: &str,
        details: &Value,
    ) {
        let Some(slot) = self.key_of(stack).and_then(|key| self.signal_receiver(key, name)) else {
            return;
        };
        let resource = self.resource(slot);
        let state = resource.state;
        let target = SignalTarget {
            state,
            hook: resource.hook,
            resource_type: self.config.types.get(&resource.type_name),
        };
        // The service has refused what it could; the resource may have changed since.
        let resource_type = match check_signal(&target, details) {
            Ok(SignalEffect::Deliver(resource_type)) => resource_type,
            Ok(SignalEffect::UnsetHook) => return self.clear_hook(env, slot, ""),
            Err(SignalRefusal::DuringAction(action)) => {
                let reason = format!("Cannot signal resource during {action}");
                return self.resource_event(env, slot, state, &reason);
            }
            Err(_) => return,
        };
        let Some(on_signal) = resource_type.behaviour.signal else { return };
        let is_at_work = resource.op.is_some();
        let signal = Signal { details, now: env.now.micros(), is_busy: is_at_work };
        match self.with_view(slot, "signal", |view| on_signal(view, &signal)) {
            Ok(Ok(heard)) => {
                let is_news = heard.metadata.is_some() || !heard.data.is_empty();
                self.apply_signal_outcome(env, slot, heard, details);
                if is_news && resource_type.signal_refreshes_metadata {
                    self.refresh_metadata(slot);
                }
            }
            // A signal that the type does not understand leaves no event, as in Heat.
            Ok(Err(_)) => {}
            Err(failure) => {
                let failed = State::new(Action::Signal, Status::Failed);
                let reason = Failure::of(name, failure).to_string();
                self.resource_event(env, slot, failed, &reason);
            }
        }
    }

    /// The resource that receives signals under a name: the current one, unless one that it replaces waits for
    /// the signal that it was undone.
    fn signal_receiver(&self, key: StackKey, name: &str) -> Option<Slot> {
        let current = self.current(key, name)?;
        let waits = |slot: &&Slot| {
            let resource = self.resource(**slot);
            let resource_type = self.config.types.get(&resource.type_name);
            resource.op.is_some()
                && resource_type
                    .is_some_and(|resource_type| resource_type.behaviour.signals_in_data)
        };
        let mut namesakes = self.stack(key).by_name.get(name)?.iter().rev();
        Some(namesakes.find(waits).copied().unwrap_or(current))
    }

    /// The metadata of other resources may show what a signal has changed: it is resolved again.
    fn refresh_metadata(&mut self, signalled: Slot) {
        let key = self.resource(signalled).stack;
        let Some(blueprint) = self.stack(key).blueprint.clone() else { return };
        for (_, definition) in blueprint.definition.resources() {
            let Some(expr) = &definition.metadata else { continue };
            let Some(slot) = self.current(key, &definition.name) else { continue };
            if slot == signalled || !self.has_metadata_of_template(slot) {
                continue;
            }
            let world = self.scope(key);
            let told = Scope::new(&blueprint.definition, &world).value(expr);
            // Metadata that cannot be resolved now stays as it was.
            if let Ok(told) = told {
                self.refresh(slot, &told);
            }
        }
    }

    /// Whether the metadata of a resource comes from its template: some types keep their own data there.
    fn has_metadata_of_template(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.type_name);
        let keeps_own = resource_type.is_some_and(|resource_type| {
            resource_type.behaviour.signal.is_some() || resource_type.behaviour.cooldown.is_some()
        });
        resource.state.action != Action::Init && !keeps_own
    }

    fn refresh(&mut self, slot: Slot, told: &Value) {
        let resource = self.resource(slot);
        let target = resource.op.as_ref().and_then(|op| op.target.as_ref());
        let Some(resolved) = target.or(resource.definition.as_ref()).cloned() else { return };
        if resolved.metadata.equals(told) {
            return;
        }
        // Deployments add themselves to the metadata of their server, and stay.
        let deployments = resource.metadata.as_map().and_then(|it| it.get(DEPLOYMENTS)).cloned();
        let metadata = match (told, deployments) {
            (Value::Map(members), Some(deployments)) if !members.contains_key(DEPLOYMENTS) => {
                let mut members = (**members).clone();
                members.insert(DEPLOYMENTS.into(), deployments);
                Value::Map(Arc::new(members))
            }
            (told, _) => told.clone(),
        };
        let resolved =
            Arc::new(ResolvedDefinition { metadata: told.clone(), ..(*resolved).clone() });
        let resource = self.change(slot);
        resource.metadata = metadata;
        match resource.op.as_mut().and_then(|op| op.target.as_mut()) {
            Some(target) => *target = resolved,
            None => resource.definition = Some(resolved),
        }
        self.effects.push(Effect::Changed(slot));
    }

    fn apply_signal_outcome(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        heard: SignalOutcome,
        details: &Value,
    ) {
        let resource = self.change(slot);
        if let Some(metadata) = heard.metadata {
            resource.metadata = metadata;
            self.effects.push(Effect::Changed(slot));
        }
        let keeps_data = !heard.data.is_empty();
        let resource = self.resource_mut(slot);
        merge_data(Arc::make_mut(&mut resource.data), heard.data);
        if keeps_data {
            self.effects.push(Effect::Changed(slot));
        }
        if let Some(resize) = heard.resize {
            self.resize(env, slot, resize);
        }
        if heard.is_ignored && heard.reason.is_none() {
            return;
        }
        let reason = match heard.reason {
            Some(reason) => format!("Signal: {reason}"),
            None => reason_of(details),
        };
        let state = State::new(Action::Signal, self.resource(slot).state.status);
        self.resource_event(env, slot, state, &reason);
        if let Some(name) = heard.replace {
            self.replace_with_dependents(env, slot, &name);
        }
    }

    /// Replaces a resource with all that depend on it: they are marked as unhealthy, and the tree is updated to
    /// its own recipe. Nothing is done while another action is in progress.
    fn replace_with_dependents(&mut self, env: &mut Env<'_>, restarter: Slot, name: &str) {
        let (root, key) = (self.root_key(), self.resource(restarter).stack);
        let is_at_rest = |key: StackKey| {
            let stack = self.stack(key);
            stack.traversal.is_none()
                && stack.state.status == Status::Complete
                && stack.state.action != Action::Delete
        };
        if !is_at_rest(root) || !is_at_rest(key) {
            return;
        }
        let stack = self.stack(key).id;
        let reason = format!("to be replaced, as {} was told", self.resource(restarter).name);
        let Some(first) = self.current(key, name) else { return };
        for name in self.dependents(key, first, restarter) {
            self.mark_health(env, stack, &name, false, &reason);
        }
        let id = RecipeId(env.ids.next());
        let recipe = Recipe { id, ..(*self.stack(root).recipe).clone() };
        self.update(env, root, Arc::new(recipe), Settings::default());
    }

    /// A resource and all that depend on it, but for one and what depends on that.
    fn dependents(&self, key: StackKey, first: Slot, but: Slot) -> Vec<Arc<str>> {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        let mut users: BTreeMap<ResourceId, Vec<Slot>> = BTreeMap::new();
        for slot in slots {
            for needed in &self.resource(slot).requires {
                users.entry(*needed).or_default().push(slot);
            }
        }
        let (mut found, mut at) = (vec![first], 0);
        while let Some(slot) = found.get(at).copied() {
            let more = users.get(&self.resource(slot).id).into_iter().flatten();
            let more: Vec<Slot> =
                more.copied().filter(|it| *it != but && !found.contains(it)).collect();
            found.extend(more);
            at += 1;
        }
        found.into_iter().map(|slot| self.resource(slot).name.clone()).collect()
    }

    /// Resizes a group. Its own state does not change, only that of its nested stack.
    fn resize(&mut self, env: &mut Env<'_>, policy: Slot, resize: Resize) {
        let key = self.resource(policy).stack;
        let Some(group) = self.current(key, &resize.group) else { return };
        if self.resource(group).op.is_some() || self.resource(group).child.is_none() {
            return;
        }
        let resource = self.change(group);
        resource.metadata = resize.metadata;
        resource.wanted_size = Some(resize.size);
        resource.cooldown = Some(resize.cooldown);
        self.notify_scaling(env, group, Status::InProgress, None);
        self.start_next_stage(env, group);
    }

    /// Ends the resize of a group, if there is one: with a failure if the group did not get its size.
    pub(crate) fn finish_resize(&mut self, env: &mut Env<'_>, group: Slot, failure: Option<&str>) {
        if self.resource(group).wanted_size.is_none() {
            return;
        }
        let is_well = failure.is_none();
        let status = if is_well { Status::Complete } else { Status::Failed };
        self.notify_scaling(env, group, status, failure);
        let resource = self.change(group);
        resource.wanted_size = None;
        if let Some(cooldown) = resource.cooldown.take() {
            resource.metadata = match is_well {
                true => cooldown.after_resize(&resource.metadata, env.now.micros()),
                false => Cooldown::after_failure(&resource.metadata),
            };
            self.effects.push(Effect::Changed(group));
        }
    }

    /// Starts the cooldown of a group after a create or an update.
    pub(crate) fn start_cooldown(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource_type = self.config.types.get(&self.resource(slot).type_name);
        let Some(rests) = resource_type.and_then(|resource_type| resource_type.behaviour.cooldown)
        else {
            return;
        };
        let Ok(cooldown) = self.with_view(slot, "cooldown", rests) else { return };
        let resource = self.change(slot);
        resource.metadata = cooldown.after_resize(&resource.metadata, env.now.micros());
        self.effects.push(Effect::Changed(slot));
    }

    /// Marks a resource as healthy or unhealthy.
    pub(crate) fn mark_health(
        &mut self,
        env: &mut Env<'_>,
        stack: StackId,
        name: &str,
        is_healthy: bool,
        reason: &str,
    ) {
        let Some(slot) = self.key_of(stack).and_then(|key| self.current(key, name)) else { return };
        let resource = self.resource(slot);
        if resource.op.is_some() || resource.state.action == Action::Delete {
            return;
        }
        let reason = match reason {
            "" => "state changed by resource_mark_unhealthy api",
            reason => reason,
        };
        let is_failed = resource.state.is(Action::Check, Status::Failed);
        match (is_healthy, is_failed) {
            (false, _) => {
                self.set_state(env, slot, State::new(Action::Check, Status::Failed), reason);
            }
            (true, true) => {
                self.set_state(env, slot, State::new(Action::Check, Status::Complete), reason);
            }
            (true, false) => {}
        }
    }
}

/// The key under which the metadata of a server has its deployments.
const DEPLOYMENTS: &str = "deployments";

/// The reason of the event that a signal leaves.
fn reason_of(details: &Value) -> String {
    match details {
        Value::Null => "No signal details provided".into(),
        Value::Text(text) => text.to_string(),
        Value::Map(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_text);
            match (text("previous"), text("current"), text("reason")) {
                (Some(previous), Some(current), Some(reason)) => {
                    format!("alarm state changed from {previous} to {current} ({reason})")
                }
                _ => match text("state") {
                    Some(state) => format!("alarm state changed to {state}"),
                    None => "Unknown".into(),
                },
            }
        }
        _ => "No signal details provided".into(),
    }
}
