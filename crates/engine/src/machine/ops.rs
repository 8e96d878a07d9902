//! Operations on resources: beginning them, listening to them, ending them.

use super::forward::Goal;
use super::retry::backoff;
use super::{Effect, Run, Task};
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::state::{Action, State, Status};
use crate::tree::{Env, OpId, Operation, Pause, Slot, StackKey, Timer, Tree};
use kiln_cloud::Reply;
use kiln_resources::behaviour::Verb;
use kiln_resources::constraints::offline;
use kiln_resources::op::{self, Context, Journal, Note, Step, Stop};
use kiln_template::environment::Hook;
use kiln_template::frozen::{Frozen, converted};
use kiln_template::path::Path;
use kiln_template::template::DeletionPolicy;
use kiln_template::value::Members;
use std::sync::Arc;
use std::time::Duration;

/// What is to be done with a resource.
pub(crate) struct Start {
    pub(crate) verb: Verb,
    pub(crate) action: Action,
    pub(crate) node: usize,
    pub(crate) target: Option<Arc<Frozen>>,
    pub(crate) requires: Vec<ResourceId>,
}

impl Tree {
    // --- beginning ---

    /// Begins to make a resource what it should be.
    pub(crate) fn start_goal(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        verb: Verb,
        action: Action,
        goal: Goal<'_>,
    ) {
        let (node, target, requires) = (goal.at, Some(goal.frozen), goal.requires);
        self.start(env, slot, Start { verb, action, node, target, requires });
    }

    /// Begins an operation.
    pub(crate) fn start(&mut self, env: &mut Env<'_>, slot: Slot, start: Start) {
        let stack = self.stack(self.resource(slot).stack);
        let origin = stack.walk.as_ref().map(|walk| (walk.number, start.node));
        let (verb, action) = (start.verb, start.action);
        let keeps_copy = verb == Verb::Delete && self.is_copied_first(slot);
        let snapshot = match verb {
            Verb::Snapshot => self.expect_copy(env, slot),
            _ => None,
        };
        self.put_op(slot, origin, verb, action);
        let resource = self.resource_mut(slot);
        if let Some(target) = &start.target {
            resource.metadata = target.metadata.clone();
        }
        if let Some(op) = &mut resource.op {
            op.target = start.target;
            op.requires = start.requires;
            op.snapshot = snapshot;
            op.keeps_copy = keeps_copy;
        }
        self.set_state(env, slot, State::new(action, Status::InProgress), "state changed");
        if action == Action::Adopt && verb == Verb::Check {
            return self.adopt(env, slot);
        }
        self.go(env, slot);
    }

    /// Does, or does again, what the operation on a resource is for.
    pub(crate) fn go(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.resource(slot);
        let Some(op) = resource.op.as_deref() else { return };
        let (verb, name) = (op.verb, resource.name.clone());
        if verb == Verb::Delete && !self.has_object_to_remove(slot) {
            self.is_over(slot);
            return;
        }
        if self.is_nested(slot) {
            return self.go_inside(env, slot);
        }
        if verb == Verb::Forget && self.is_being_copied(slot) {
            let until = env.now + SOON;
            return self.pause(slot, Pause::Retry(until), until);
        }
        let Some(kind) = self.config.types.get(&resource.kind) else {
            self.is_over(slot);
            return;
        };
        if matches!(verb, Verb::Create | Verb::Update)
            && let Err(message) = self.check_properties(slot)
        {
            let failure = Failure::new("StackValidationFailed", &name, message);
            return self.finish_failed(env, slot, failure, None);
        }
        let needs_nothing = match verb {
            Verb::Settle => kind.behaviour.finder.is_none(),
            Verb::Snapshot if resource.physical_id.is_none() => true,
            Verb::Forget if self.leaves_copies(slot) => true,
            verb => kind.behaviour.handler(verb).is_none(),
        };
        if needs_nothing {
            self.is_over(slot);
            return;
        }
        let context = self.context(slot);
        let op = op_id(self, slot);
        self.effects.push(Effect::Run(Box::new(Run { op, slot, kind, verb, context })));
    }

    /// Whether anything has to be done in the world when a resource goes.
    pub(crate) fn has_object_to_remove(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let walk = self.stack(resource.stack).walk.as_ref();
        let is_kept = walk.is_some_and(|walk| walk.keeps_objects)
            || resource.frozen.as_ref().is_some_and(|frozen| {
                frozen.deletion_policy == DeletionPolicy::Retain || frozen.external_id.is_some()
            });
        // A nested stack's records go in any case; its walk knows what to leave alone.
        !is_kept || resource.child.is_some()
    }

    /// The properties of the kinds that the schema says; or what is wrong with them.
    pub(crate) fn check_properties(&self, slot: Slot) -> Result<(), String> {
        let resource = self.resource(slot);
        let (Some(kind), Some(op)) = (self.config.types.get(&resource.kind), &resource.op) else {
            return Ok(());
        };
        let Some(target) = &op.target else { return Ok(()) };
        let root = Path::Root.key("resources");
        let name = root.key(&resource.name);
        let path = name.key("properties");
        let (_, problems) = converted(&kind.schema, &target.properties, &offline(0), &path);
        match problems.into_iter().find(|problem| problem.is_error()) {
            Some(problem) => Err(problem.text()),
            None => Ok(()),
        }
    }

    /// What an operation is told of its resource.
    pub(crate) fn context(&self, slot: Slot) -> Context {
        let resource = self.resource(slot);
        let convert = |frozen: Option<&Arc<Frozen>>| -> Arc<Members> {
            let kind = self.config.types.get(&resource.kind);
            let (Some(frozen), Some(kind)) = (frozen, kind) else { return Arc::default() };
            Arc::new(converted(&kind.schema, &frozen.properties, &offline(0), &Path::Root).0)
        };
        let op = resource.op.as_deref();
        let target = op.and_then(|op| op.target.as_ref());
        let properties = convert(target.or(resource.frozen.as_ref()));
        let is_update = op.is_some_and(|op| op.verb == Verb::Update);
        let before = if is_update { convert(resource.frozen.as_ref()) } else { Arc::default() };
        let differs = |name: &Arc<str>| match (before.get(name), properties.get(name)) {
            (Some(a), Some(b)) => !a.equals(b),
            (None, None) => false,
            _ => true,
        };
        let changed: Arc<[Arc<str>]> = match is_update {
            true => properties.keys().filter(|name| differs(name)).cloned().collect(),
            false => Arc::default(),
        };
        Context {
            resource: resource.name.clone(),
            physical_name: self.physical_name(slot).into(),
            physical_id: resource.physical_id.clone(),
            properties,
            before,
            changed,
            data: resource.data.clone(),
            metadata: resource.metadata.clone(),
            journal: op.map(|op| op.journal.clone()).unwrap_or_default(),
            copy_name: self.copy_name(slot).into(),
            keeps_copy: op.is_some_and(|op| op.keeps_copy),
            is_doubtful: resource.is_doubtful,
            quiet: self.config.quiet,
        }
    }

    /// Finds out about the resources of a stack of which it is open whether they have objects. Their
    /// states do not change by that.
    pub(crate) fn settle_doubts(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            let resource = self.resource(slot);
            if !resource.is_doubtful || resource.op.is_some() || resource.copy_of.is_some() {
                continue;
            }
            let action = resource.state.action;
            self.put_op(slot, None, Verb::Settle, action);
            self.go(env, slot);
        }
    }

    /// Puts an operation on a resource.
    pub(crate) fn put_op(
        &mut self,
        slot: Slot,
        origin: Option<(u64, usize)>,
        verb: Verb,
        action: Action,
    ) {
        self.next_op += 1;
        let id = OpId(self.next_op);
        self.ops.insert(id, slot);
        let key = self.resource(slot).stack;
        self.stack_mut(key).busy += 1;
        self.change(slot).op = Some(Box::new(Operation {
            id,
            verb,
            origin,
            action,
            target: None,
            requires: Vec::new(),
            journal: Journal::default(),
            failures: 0,
            first_failure: None,
            is_stopping: false,
            snapshot: None,
            keeps_copy: false,
            pause: None,
            is_last_stage: false,
            stage_pause: Duration::ZERO,
            stages: 0,
        }));
    }

    // --- listening ---

    pub(crate) fn slot_of(&self, op: OpId) -> Option<Slot> {
        self.ops.get(&op).copied()
    }

    pub(crate) fn said(&mut self, op: OpId, notes: Vec<Note>) {
        let Some(slot) = self.slot_of(op) else { return };
        for note in notes {
            let resource = self.change(slot);
            match note {
                Note::Id(id) => resource.physical_id = id,
                Note::Datum(key, value) => {
                    let data = Arc::make_mut(&mut resource.data);
                    match value.is_null() {
                        true => _ = data.shift_remove(&key),
                        false => _ = data.insert(key, value),
                    }
                }
                Note::Metadata(metadata) => {
                    resource.metadata = metadata;
                    self.effects.push(Effect::Changed(slot));
                }
                Note::MetadataOf(reference, metadata) => {
                    if let Some(other) = self.sibling_called(slot, &reference) {
                        self.change(other).metadata = metadata;
                        self.effects.push(Effect::Changed(other));
                    }
                }
                Note::Shown(shown) => resource.shown = shown,
                Note::Step(name, step) => {
                    if let Some(op) = &mut resource.op {
                        op.journal.set(&name, step);
                    }
                }
            }
        }
    }

    pub(crate) fn begun(&mut self, op: OpId, step: &str) {
        let Some(slot) = self.slot_of(op) else { return };
        if let Some(op) = &mut self.change(slot).op {
            op.journal.set(step, Step::Begun);
        }
    }

    pub(crate) fn replied(&mut self, op: OpId, step: &str, reply: Reply) {
        let Some(slot) = self.slot_of(op) else { return };
        if let Some(op) = &mut self.change(slot).op {
            op.journal.set(step, Step::Replied(reply));
        }
    }

    // --- ending ---

    pub(crate) fn ended(&mut self, env: &mut Env<'_>, op: OpId, result: Result<(), Stop>) {
        if let Some(slot) = self.slot_of(op) {
            self.finish(env, slot, result);
        }
    }

    /// The operation on a resource needs nothing from the world: it ends with the step.
    pub(crate) fn is_over(&mut self, slot: Slot) {
        if let Some(op) = &self.resource(slot).op {
            self.queue.push_back(Task::Over(op.id));
        }
    }

    /// An operation is over.
    pub(crate) fn finish(&mut self, env: &mut Env<'_>, slot: Slot, result: Result<(), Stop>) {
        match result {
            Ok(()) => self.finish_well(env, slot),
            Err(Stop::Replace) => self.finish_replaced(env, slot),
            Err(Stop::Failed(failure)) => {
                let name = self.resource(slot).name.clone();
                let told = Failure::of(&name, failure.clone());
                self.finish_failed(env, slot, told, Some(failure));
            }
        }
    }

    /// Takes the operation off a resource.
    pub(crate) fn take_op(&mut self, slot: Slot) -> Option<Box<Operation>> {
        let op = self.change(slot).op.take()?;
        self.ops.remove(&op.id);
        if let Some(Pause::Retry(time) | Pause::Stage(time)) = op.pause {
            self.timers.remove(&(time, Timer::Resource(slot, op.id)));
        }
        let key = self.resource(slot).stack;
        self.stack_mut(key).busy -= 1;
        Some(op)
    }

    pub(crate) fn finish_well(&mut self, env: &mut Env<'_>, slot: Slot) {
        if self.is_between_tries(slot) {
            return self.try_again(env, slot);
        }
        let Some(op) = self.take_op(slot) else { return };
        match op.verb {
            Verb::Forget => return self.forgotten(slot, &op),
            Verb::Snapshot => self.copied(slot, &op),
            _ => {}
        }
        let resource = self.change(slot);
        if op.verb == Verb::Settle {
            resource.is_doubtful = false;
            let key = resource.stack;
            return self.settled(key, slot, &op, false);
        }
        resource.cleared.clear();
        if let Some(target) = &op.target {
            resource.is_half_done = false;
            resource.frozen = Some(target.clone());
            // What a nested stack used before may be needed until it has cleaned up.
            let former = match resource.child {
                Some(_) => std::mem::take(&mut resource.requires),
                None => Vec::new(),
            };
            resource.requires = op.requires.clone();
            resource.requires.extend(former.into_iter().filter(|id| !op.requires.contains(id)));
        }
        if op.verb == Verb::Delete {
            resource.is_doubtful = false;
        }
        self.set_state(env, slot, State::new(op.action, Status::Complete), "state changed");
        if op.verb == Verb::Delete {
            return self.deleted(env, slot, &op);
        }
        if op.action == Action::Adopt && self.is_external(slot) {
            return self.check_external(env, slot, op);
        }
        if matches!(op.verb, Verb::Create | Verb::Update) {
            self.cool_down(env, slot);
        }
        let key = self.resource(slot).stack;
        let is_create = self.stack(key).state.action == Action::Create;
        let hook = match op.verb {
            Verb::Create if is_create => Some(Hook::PostCreate),
            Verb::Update => Some(Hook::PostUpdate),
            _ => None,
        };
        if let Some(hook) = hook
            && self.waits_at(env, slot, hook, op.action)
        {
            let node = op.origin.map_or(0, |(_, node)| node);
            return self.park(key, slot, node);
        }
        self.settled(key, slot, &op, true);
    }

    /// A resource's object is gone: its record goes, too, unless somebody has to allow that.
    pub(crate) fn deleted(&mut self, env: &mut Env<'_>, slot: Slot, op: &Operation) {
        let key = self.resource(slot).stack;
        let walk = self.stack(key).walk.as_ref();
        let number = walk.filter(|walk| walk.action == Action::Delete).map(|walk| walk.number);
        match op.origin {
            Some((begun_by, node))
                if Some(begun_by) == number
                    && self.waits_at(env, slot, Hook::PostDelete, Action::Delete) =>
            {
                self.park(key, slot, node);
                self.queue.push_back(Task::Settle(key));
            }
            _ => self.removed(slot, op),
        }
    }

    /// A resource's object is gone: its record goes, too.
    pub(crate) fn removed(&mut self, slot: Slot, op: &Operation) {
        let key = self.resource(slot).stack;
        let walk = self.walk_mut(key).filter(|walk| walk.phase != super::Phase::Forward);
        let is_own =
            op.origin.zip(walk.as_ref()).is_some_and(|((number, _), walk)| number == walk.number);
        match walk {
            // An older walk did what this one was going to do.
            Some(walk) if !is_own => {
                walk.slots.iter_mut().filter(|it| **it == Some(slot)).for_each(|it| *it = None);
                if let Some(node) = walk.parked.remove(&slot) {
                    self.node_done(key, node);
                }
            }
            _ => self.settled(key, slot, op, true),
        }
        self.queue.push_back(Task::Settle(key));
        self.effects.push(Effect::Changed(slot));
        self.drop_resource(slot);
    }

    /// Nothing is under way on a resource any more: whoever waited for that goes on.
    pub(crate) fn settled(&mut self, key: StackKey, slot: Slot, op: &Operation, is_done: bool) {
        self.queue.push_back(Task::Settle(key));
        let Some(walk) = self.walk_mut(key) else { return };
        if let Some(node) = walk.parked.remove(&slot) {
            return self.look_at(key, &[node]);
        }
        if let Some((_, node)) = op.origin.filter(|(number, _)| *number == walk.number && is_done) {
            self.node_done(key, node);
        }
    }

    /// An update found that it cannot be one.
    pub(crate) fn finish_replaced(&mut self, env: &mut Env<'_>, slot: Slot) {
        let Some(op) = self.take_op(slot) else { return };
        let key = self.resource(slot).stack;
        self.announce_replacement(env, slot);
        let stack = self.stack(key);
        let is_current = op.origin.zip(stack.walk.as_ref()).is_some_and(|((number, _), walk)| {
            number == walk.number && walk.failure.is_none() && walk.phase == super::Phase::Forward
        });
        let (Some(blueprint), Some((_, at)), true, Some(frozen)) =
            (stack.blueprint.clone(), op.origin, is_current, op.target.clone())
        else {
            return self.settled(key, slot, &op, false);
        };
        let goal = Goal { at, kind: blueprint.kind(at), frozen, requires: op.requires };
        self.replace(env, slot, goal);
        self.queue.push_back(Task::Settle(key));
    }

    /// An operation failed. `cause` is what its type said, if its type said something.
    pub(crate) fn finish_failed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        failure: Failure,
        cause: Option<op::Failure>,
    ) {
        if self.resource(slot).op.as_ref().is_some_and(|op| op.verb == Verb::Settle) {
            return self.settle_later(env, slot);
        }
        if let Some(cause) = cause
            && self.may_try_again(slot, &cause)
        {
            return self.prepare_next_try(env, slot, &failure, cause);
        }
        let Some(op) = self.take_op(slot) else { return };
        if op.verb == Verb::Forget {
            return self.not_forgotten(env, slot, &op, &failure.to_string());
        }
        let name = self.resource(slot).name.clone();
        // What went wrong first says more than what went wrong last.
        let failure = match &op.first_failure {
            Some(first) => Failure::of(&name, first.clone()),
            None => failure,
        };
        let text = match op.is_stopping {
            true => self.aborted(slot, &op),
            false => failure.to_string(),
        };
        self.mark_failed(env, slot, &op, &text);
        let key = self.resource(slot).stack;
        let walk = self.stack(key).walk.as_ref();
        let own = walk.zip(op.origin).filter(|(walk, (number, _))| *number == walk.number);
        let is_current = own.is_some();
        let is_check = own.is_some_and(|(walk, _)| walk.action == Action::Check);
        if let (true, Some((_, node))) = (is_check, op.origin) {
            self.check_failed(key, slot, node, &text);
        } else if is_current && !op.is_stopping {
            self.node_failed(env, key, op.action, failure);
        }
        self.settled(key, slot, &op, false);
    }

    /// It could not be found out whether there is an object: that is tried until it can.
    pub(crate) fn settle_later(&mut self, env: &mut Env<'_>, slot: Slot) {
        let Some(op) = &mut self.change(slot).op else { return };
        op.failures = op.failures.saturating_add(1);
        op.journal = Journal::default();
        let until = env.now + backoff(op.failures);
        self.pause(slot, Pause::Retry(until), until);
    }

    pub(crate) fn mark_failed(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        op: &Operation,
        reason: &str,
    ) {
        let resource = self.change(slot);
        resource.is_doubtful |= op.journal.is_doubtful();
        let is_making = matches!(op.verb, Verb::Create | Verb::Update);
        resource.is_half_done |= is_making && resource.child.is_none();
        resource.cleared.clear();
        if resource.frozen.is_none() {
            // What was tried is what there is, if there is anything.
            resource.frozen = op.target.clone();
            resource.requires = op.requires.clone();
        }
        for id in &op.requires {
            // It may already lean on what it was to need.
            if !resource.requires.contains(id) {
                resource.requires.push(*id);
            }
        }
        self.set_state(env, slot, State::new(op.action, Status::Failed), reason);
    }

    // --- time ---

    pub(crate) fn time(&mut self, env: &mut Env<'_>) {
        while let Some((time, timer)) = self.timers.first().copied() {
            if time > env.now {
                break;
            }
            self.timers.remove(&(time, timer));
            match timer {
                Timer::Stack(key) => self.stack_is_due(env, key),
                Timer::Resource(slot, id) => self.resource_is_due(env, slot, id),
            }
            self.work_off(env);
        }
    }

    pub(crate) fn stack_is_due(&mut self, env: &mut Env<'_>, key: StackKey) {
        if self.stacks[key.0 as usize].is_none() {
            return;
        }
        let Some(walk) = &self.stack(key).walk else { return };
        if walk.deadline <= env.now && walk.failure.is_none() {
            let reason = TIMED_OUT.to_owned();
            self.fail_walk(env, key, super::walk::Ending { reason, failure: None });
            return self.stop_all(env, key);
        }
        let is_out_of_patience = walk.patience.is_some_and(|patience| patience <= env.now);
        if is_out_of_patience || walk.deadline <= env.now && walk.failure.is_some() {
            self.stop_all(env, key);
        }
    }

    pub(crate) fn resource_is_due(&mut self, env: &mut Env<'_>, slot: Slot, id: OpId) {
        if self.slot_of(id) != Some(slot) {
            return;
        }
        let Some(op) = &mut self.change(slot).op else { return };
        let Some(pause) = op.pause.take() else { return };
        match pause {
            Pause::Retry(_) if op.verb == Verb::Settle => self.go(env, slot),
            Pause::Retry(_) => {
                let in_progress = State::new(op.action, Status::InProgress);
                self.set_state(env, slot, in_progress, "state changed");
                self.go(env, slot);
            }
            Pause::Stage(_) => self.next_stage(env, slot),
        }
    }
}

/// How long to wait for another operation of the same tree.
const SOON: Duration = Duration::from_secs(1);

/// The reason of a stack whose action took too long.
pub(crate) const TIMED_OUT: &str = "Timed out";

fn op_id(tree: &Tree, slot: Slot) -> OpId {
    tree.resource(slot).op.as_ref().map_or(OpId(0), |op| op.id)
}
