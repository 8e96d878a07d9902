//! Signals to resources, and what follows from them.

use super::reached::Transition;
use super::{Effect, Machine, StackSettings};
use crate::blueprint::Recipe;
use crate::failure::Failure;
use crate::ids::{RecipeId, ResourceId, StackId};
use crate::signal_check::{SignalEffect, SignalRefusal, SignalTarget, check_signal};
use crate::state::{Action, State, Status};
use crate::tree::{Env, Origin, Resizing, Slot, StackKey, Stages, Tree, Work};
use kiln_resources::behaviour::{OperationKind, Resize, Signal, SignalOutcome, SignalStorage};
use kiln_resources::op::merge_data;
use kiln_resources::scaling::Cooldown;
use kiln_template::{ResolvedDefinition, Scope, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Machine {
    pub(crate) fn signal(
        &mut self,
        env: &mut Env<'_>,
        stack: StackId,
        name: &str,
        details: &Value,
    ) {
        let key = self.tree.key_of(stack);
        let Some(slot) = key.and_then(|key| self.tree.signal_receiver(key, name)) else {
            // The resource, or its stack, is gone meanwhile.
            return self.reached.hit(Transition::CommandIgnored);
        };
        let resource = self.tree.resource(slot);
        let state = resource.summary.state;
        let target = SignalTarget {
            state,
            hook: resource.hook,
            resource_type: self.tree.config.types.get(&resource.summary.type_name),
            kept: self.tree.kept_signals(slot),
        };
        // The service has refused what it could; the resource may have changed since.
        let resource_type = match check_signal(&target, details, &self.tree.config.byte_limits) {
            Ok(SignalEffect::Deliver(resource_type)) => resource_type,
            Ok(SignalEffect::UnsetHook) => return self.clear_hook(env, slot, ""),
            Err(SignalRefusal::DuringAction(action)) => {
                self.reached.hit(Transition::SignalRefused);
                let reason = format!("Cannot signal resource during {action}");
                return self.tree.resource_event(env, slot, state, &reason);
            }
            Err(SignalRefusal::TooMuch(why)) => {
                self.reached.hit(Transition::SignalRefused);
                return self.tree.resource_event(env, slot, state, &format!("Signal: {why}"));
            }
            Err(_) => return self.reached.hit(Transition::SignalRefused),
        };
        let Some(on_signal) = resource_type.behaviour.signal else {
            return self.unexpected(resource.stack, "a type without a handler for signals has one");
        };
        let is_busy = resource.op.is_some();
        let signal = Signal { details, now: env.now.micros(), is_busy };
        match self.tree.with_view(slot, "signal", |view| on_signal(view, &signal)) {
            Ok(Ok(outcome)) => {
                self.reached.hit(Transition::SignalDelivered);
                let is_news = outcome.signal.is_some() || !outcome.data.is_empty();
                self.apply_signal_outcome(env, slot, outcome, details);
                if is_news && resource_type.signal_refreshes_metadata {
                    self.refresh_metadata(slot);
                }
            }
            // A signal that the type does not understand leaves no event, as in Heat.
            Ok(Err(_)) => {}
            Err(failure) => {
                let failed = State::new(Action::Signal, Status::Failed);
                let reason = Failure::of(name, failure).to_string();
                self.tree.resource_event(env, slot, failed, &reason);
            }
        }
    }

    /// The metadata of other resources may show what a signal, or a new size, has changed: it is resolved again.
    fn refresh_metadata(&mut self, changed: Slot) {
        let key = self.tree.resource(changed).stack;
        let Some(blueprint) = self.tree.stack(key).blueprint.clone() else { return };
        for (_, definition) in blueprint.definition.resources() {
            let Some(expr) = &definition.metadata else { continue };
            let Some(slot) = self.tree.current(key, &definition.name) else { continue };
            if slot == changed || !self.tree.has_metadata_of_template(slot) {
                continue;
            }
            let stack_scope = self.tree.scope(key);
            let resolved = Scope::new(&blueprint.definition, &stack_scope).value(expr);
            // Metadata that cannot be resolved now stays as it was.
            if let Ok(metadata) = resolved
                && self.tree.has_room_for_metadata(slot, &metadata)
            {
                self.refresh(slot, &metadata);
            }
        }
    }

    fn refresh(&mut self, slot: Slot, told: &Value) {
        let resource = self.tree.resource(slot);
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
        self.tree.set_metadata(slot, metadata);
        let resource = self.tree.change(slot);
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
        outcome: SignalOutcome,
        details: &Value,
    ) {
        self.tree.change(slot);
        if let Some((id, signal)) = outcome.signal {
            self.tree.keep_signal(env, slot, id, signal);
            self.effects.push(Effect::Changed(slot));
        }
        let keeps_data = !outcome.data.is_empty();
        let resource = self.tree.resource_mut(slot);
        merge_data(Arc::make_mut(&mut resource.data), outcome.data);
        if keeps_data {
            self.effects.push(Effect::Changed(slot));
        }
        if let Some(resize) = outcome.resize {
            self.resize(env, slot, resize);
        }
        if outcome.is_ignored && outcome.reason.is_none() {
            return;
        }
        let reason = match outcome.reason {
            Some(reason) => format!("Signal: {reason}"),
            None => reason_of(details),
        };
        let state = State::new(Action::Signal, self.tree.resource(slot).summary.state.status);
        self.tree.resource_event(env, slot, state, &reason);
        if let Some(name) = outcome.replace {
            self.replace_with_dependents(env, slot, &name);
        }
    }

    /// Replaces a resource with all that depend on it: they are marked as unhealthy, and the tree is updated to
    /// its own recipe. Nothing is done while another action is in progress.
    fn replace_with_dependents(&mut self, env: &mut Env<'_>, restarter: Slot, name: &str) {
        let (root, key) = (self.tree.root_key(), self.tree.resource(restarter).stack);
        let is_at_rest = |key: StackKey| {
            let stack = self.tree.stack(key);
            stack.traversal.is_none()
                && stack.summary.state.status == Status::Complete
                && stack.summary.state.action != Action::Delete
        };
        if !is_at_rest(root) || !is_at_rest(key) {
            return;
        }
        let stack = self.tree.stack(key).id;
        let reason =
            format!("to be replaced, as {} was told", self.tree.resource(restarter).summary.name);
        // The template may name a resource that a condition has disabled.
        let Some(first) = self.tree.current(key, name) else { return };
        for name in self.tree.dependents(key, first, restarter) {
            self.mark_health(env, stack, &name, false, &reason);
        }
        let id = RecipeId(env.ids.next());
        let recipe = Recipe { id, ..(*self.tree.stack(root).recipe).clone() };
        self.update(env, root, Arc::new(recipe), StackSettings::default());
    }

    /// Resizes a group. Its own state does not change, only that of its nested stack.
    fn resize(&mut self, env: &mut Env<'_>, policy: Slot, resize: Resize) {
        let key = self.tree.resource(policy).stack;
        let Some(group) = self.tree.current(key, &resize.group) else { return };
        let resource = self.tree.resource(group);
        // Another operation on the group has come first.
        if resource.op.is_some() || resource.child.is_none() {
            return;
        }
        self.reached.hit(Transition::ResizeBegun);
        let Resize { size, cooldown, metadata, .. } = resize;
        let resizing = Resizing { size, cooldown, stages: Stages::default() };
        self.tree.notify_scaling(env, group, &resizing, Status::InProgress, None);
        let (kind, action) = (OperationKind::Update, Action::Update);
        self.put_work(group, Origin::Detached, kind, action, Work::Resize(resizing));
        self.tree.set_metadata(group, metadata);
        self.start_next_stage(env, group);
    }

    /// Ends the resize of a group: with a failure if the group did not get its size.
    pub(crate) fn end_resize(
        &mut self,
        env: &mut Env<'_>,
        group: Slot,
        resizing: &Resizing,
        failure: Option<&str>,
    ) {
        let (status, transition) = match failure {
            None => (Status::Complete, Transition::ResizeCompleted),
            Some(_) => (Status::Failed, Transition::ResizeFailed),
        };
        self.reached.hit(transition);
        self.tree.notify_scaling(env, group, resizing, status, failure);
        let metadata = &self.tree.resource(group).metadata;
        let metadata = match failure {
            None => resizing.cooldown.after_resize(metadata, env.now.micros()),
            Some(_) => Cooldown::after_failure(metadata),
        };
        self.tree.set_metadata(group, metadata);
        self.effects.push(Effect::Changed(group));
        self.refresh_metadata(group);
    }

    /// Starts the cooldown of a group after a create or an update.
    pub(crate) fn start_cooldown(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource_type = self.tree.config.types.get(&self.tree.resource(slot).summary.type_name);
        let Some(rests) = resource_type.and_then(|resource_type| resource_type.behaviour.cooldown)
        else {
            return;
        };
        let Ok(cooldown) = self.tree.with_view(slot, "cooldown", rests) else { return };
        let metadata = &self.tree.resource(slot).metadata;
        let metadata = cooldown.after_resize(metadata, env.now.micros());
        self.tree.set_metadata(slot, metadata);
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
        let key = self.tree.key_of(stack);
        let Some(slot) = key.and_then(|key| self.tree.current(key, name)) else {
            return self.reached.hit(Transition::CommandIgnored);
        };
        let resource = self.tree.resource(slot);
        if resource.op.is_some() || resource.summary.state.action == Action::Delete {
            return self.reached.hit(Transition::CommandIgnored);
        }
        self.reached.hit(Transition::HealthMarked);
        let reason = match reason {
            "" => "state changed by resource_mark_unhealthy api",
            reason => reason,
        };
        let is_failed = resource.summary.state.is(Action::Check, Status::Failed);
        match (is_healthy, is_failed) {
            (false, _) => {
                self.tree.set_state(env, slot, State::new(Action::Check, Status::Failed), reason);
            }
            (true, true) => {
                self.tree.set_state(env, slot, State::new(Action::Check, Status::Complete), reason);
            }
            (true, false) => {}
        }
    }
}

impl Tree {
    /// The resource that receives signals under a name: the current one, unless one that it replaces waits for
    /// the signal that it was undone.
    fn signal_receiver(&self, key: StackKey, name: &str) -> Option<Slot> {
        let current = self.current(key, name)?;
        let waits = |slot: &&Slot| {
            let resource = self.resource(**slot);
            let resource_type = self.config.types.get(&resource.summary.type_name);
            resource.op.is_some()
                && resource_type
                    .is_some_and(|it| it.behaviour.signals_kept_in == SignalStorage::Data)
        };
        let mut namesakes = self.stack(key).by_name.get(name)?.iter().rev();
        Some(namesakes.find(waits).copied().unwrap_or(current))
    }

    /// Whether the metadata of a resource comes from its template: some types keep their own data there.
    fn has_metadata_of_template(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let keeps_own = resource_type.is_some_and(|resource_type| {
            resource_type.behaviour.signal.is_some() || resource_type.behaviour.cooldown.is_some()
        });
        resource.summary.state.action != Action::Init && !keeps_own
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
        found.into_iter().map(|slot| self.resource(slot).summary.name.clone()).collect()
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
