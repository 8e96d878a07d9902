//! A traversal: an action on a stack, carried out node by node.

use super::Task;
use crate::blueprint::{Blueprint, Identity, Recipe, Source};
use crate::failure::{Failure, cut};
use crate::ids::{RecipeId, ResourceId, SnapshotId};
use crate::record::v1::names::Word;
use crate::record::v1::{FailureBody, TraversalBody, TraversalFailureBody};
use crate::record::{Id, StoredMembers};
use crate::state::{Action, State, Status};
use crate::time::Time;
use crate::tree::{Env, Slot, StackKey, Timer, Tree};
use kiln_template::environment::Environment;
use kiln_template::graph::{Dependents, Graph};
use kiln_template::value::Members;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The phase of a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Each resource of the template is brought to its definition, after its dependencies.
    Forward,
    /// A nested stack is through with its forward phase, and keeps what was replaced until the resources of the
    /// parent that use it were updated: the parent's cleanup starts that of the nested stack.
    Deferred,
    /// Each resource that the goal has no place for is removed, after those that need it.
    Cleanup,
    /// Objects that outputs show are read once more. That changes nothing, and cannot fail.
    Refresh,
    /// The same operation runs on each resource that there is.
    ForEach,
}

/// An action on a stack.
pub struct Traversal {
    /// The action.
    pub(crate) action: Action,
    pub(crate) phase: Phase,
    /// When it times out.
    pub(crate) deadline: Time,
    /// Why it has failed; what is running is still awaited.
    pub(crate) failure: Option<StackFailure>,
    /// When operations that still run after a failure are stopped.
    pub(crate) grace_until: Option<Time>,
    /// What a check found wrong so far.
    pub(crate) check_failures: Vec<String>,
    /// Objects are left alone: only the records go.
    pub(crate) keeps_objects: bool,
    /// The data of the objects that an adoption takes over, by the names of their resources.
    pub(crate) adopted: Option<Arc<Members>>,
    /// The snapshot that it is for.
    pub(crate) snapshot: Option<SnapshotId>,
    /// Undo it even if the stack does not ask for that.
    pub(crate) must_roll_back: bool,
    /// Do not undo it even if the stack asks for that.
    pub(crate) must_not_roll_back: bool,
    /// Objects are read first, and compared with what they should be.
    pub(crate) converges: bool,
    // What follows is not stored.
    /// Tells it from every other traversal of the tree.
    pub(crate) traversal_id: u64,
    /// How many nodes are about to be looked at.
    pub(crate) queued: usize,
    /// How many dependencies of each node are not done. Nodes are positions in the template, or in `slots`.
    pub(crate) unmet: Vec<u32>,
    pub(crate) users: Dependents,
    /// The resources of the nodes, if those are not positions in the template; `None` once one is gone.
    pub(crate) slots: Vec<Option<Slot>>,
    /// How many nodes are not done.
    pub(crate) remaining: usize,
    /// Nodes that wait for an operation on a resource, for a hook, or for the cleanup of a nested stack.
    pub(crate) parked: BTreeMap<Slot, usize>,
    pub(crate) is_scheduled: bool,
    /// The dependencies of resources that were changed; `None` after a restart, when they are not known.
    pub(crate) touched: Option<BTreeSet<ResourceId>>,
}

/// Why a traversal has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackFailure {
    /// The reason that the stack gets.
    pub(crate) reason: String,
    /// The resource that failed.
    pub(crate) failure: Option<Failure>,
}

impl Traversal {
    pub(crate) fn new(action: Action, phase: Phase, deadline: Time) -> Traversal {
        Traversal {
            action,
            phase,
            deadline,
            failure: None,
            grace_until: None,
            check_failures: Vec::new(),
            keeps_objects: false,
            adopted: None,
            snapshot: None,
            must_roll_back: false,
            must_not_roll_back: false,
            converges: false,
            traversal_id: 0,
            queued: 0,
            unmet: Vec::new(),
            users: Dependents::default(),
            slots: Vec::new(),
            remaining: 0,
            parked: BTreeMap::new(),
            is_scheduled: false,
            touched: Some(BTreeSet::new()),
        }
    }

    /// Whether its cleanup will come to a resource, and has not.
    pub(crate) fn will_clean_up(&self, slot: Slot) -> bool {
        let node = self.slots.iter().position(|it| *it == Some(slot));
        self.phase == Phase::Cleanup
            && node.is_some_and(|node| self.unmet.get(node).is_some_and(|unmet| *unmet > 0))
    }

    /// The stored record of it.
    pub(crate) fn to_record(&self) -> TraversalBody {
        TraversalBody {
            action: Word(self.action),
            deadline: self.deadline.micros(),
            failure: self.failure.as_ref().map(|ending| TraversalFailureBody {
                reason: ending.reason.clone(),
                resource: ending.failure.as_ref().map(|failure| FailureBody {
                    class: failure.class.clone(),
                    path: failure.path.clone(),
                    message: failure.message.clone(),
                }),
            }),
            grace_until: self.grace_until.map(Time::micros),
            flaws: self.check_failures.clone(),
            keeps_objects: self.keeps_objects,
            adopted: self.adopted.clone().map(StoredMembers),
            snapshot: self.snapshot.map(|id| Id(id.0)),
            must_roll_back: self.must_roll_back,
            must_not_roll_back: self.must_not_roll_back,
            converges: self.converges,
        }
    }

    /// The traversal of a stored record.
    pub(crate) fn from_record(record: TraversalBody) -> Traversal {
        let action = record.action.0;
        Traversal {
            failure: record.failure.map(|failure| StackFailure {
                reason: failure.reason,
                failure: failure.resource.map(|resource| Failure {
                    class: resource.class,
                    path: resource.path,
                    message: resource.message,
                }),
            }),
            grace_until: record.grace_until.map(Time::from_micros),
            check_failures: record.flaws,
            keeps_objects: record.keeps_objects,
            adopted: record.adopted.map(|adopted| adopted.0),
            snapshot: record.snapshot.map(|id| SnapshotId(id.0)),
            must_roll_back: record.must_roll_back,
            must_not_roll_back: record.must_not_roll_back,
            converges: record.converges,
            touched: None,
            ..Traversal::new(action, first_phase(action), Time::from_micros(record.deadline))
        }
    }
}

/// The phase that an action begins with.
pub(crate) fn first_phase(action: Action) -> Phase {
    match action {
        Action::Suspend | Action::Resume | Action::Check | Action::Snapshot => Phase::ForEach,
        _ => Phase::Forward,
    }
}

impl Tree {
    // --- beginning ---

    /// Gives a stack a new goal. Operations on its resources go on.
    pub(crate) fn begin_traversal(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        action: Action,
        goal: Option<Arc<Recipe>>,
    ) {
        self.activity.begin_traversal(key);
        if self.stack(key).parent_resource.is_none() {
            self.observed.clear();
        }
        let deadline = match self.stack(key).parent_resource {
            Some((parent, _)) => {
                self.stack(parent).traversal.as_ref().map(|traversal| traversal.deadline)
            }
            None => None,
        };
        let own = self.stack(key).timeout.map(|timeout| env.now + timeout);
        let deadline = match (deadline, own) {
            (Some(parent), Some(own)) => parent.min(own),
            (Some(deadline), None) | (None, Some(deadline)) => deadline,
            (None, None) => env.now + self.config.action_timeout,
        };
        if let Some(goal) = goal {
            self.set_recipe(key, action, goal);
        }
        self.cancel_timers(key);
        if let Some(traversal) = &self.stack(key).traversal {
            let (snapshot, action) = (traversal.snapshot, traversal.action);
            self.finish_snapshot(key, snapshot, Err(&format!("Stack {action} cancelled")));
            self.detach_operations(key);
            self.abandon_hooks(env, key);
        }
        self.reset_hooks(key);
        let mut traversal = Traversal::new(action, first_phase(action), deadline);
        let stack = self.stack_mut(key);
        if stack.state.status != Status::Complete {
            // The former traversal has not refreshed what outputs show.
            traversal.touched = None;
        }
        if action != Action::Create {
            stack.updated = Some(env.now);
        }
        let former = stack.traversal.replace(Box::new(traversal));
        self.active_traversals += usize::from(former.is_none());
        if self.has_own_deadline(key) {
            self.timers.insert((deadline, Timer::Stack(key)));
        }
        let reason = format!("Stack {action} started");
        self.set_stack_state(env, key, State::new(action, Status::InProgress), &reason);
    }

    /// Whether an action on a stack has a timer: a nested stack times out with its parent, unless it has a
    /// timeout of its own.
    pub(crate) fn has_own_deadline(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        stack.parent_resource.is_none() || stack.timeout.is_some()
    }

    /// Takes operations from the traversal that began them, since it is replaced.
    fn detach_operations(&mut self, key: StackKey) {
        if self.stack(key).busy == 0 {
            return;
        }
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            let is_owned = self.resource(slot).op.as_ref().is_some_and(|op| op.origin.is_some());
            if !is_owned {
                continue;
            }
            if let Some(op) = &mut self.change(slot).op {
                op.origin = None;
            }
        }
    }

    /// Removes the timers of a traversal that is over or replaced.
    fn cancel_timers(&mut self, key: StackKey) {
        let Some(traversal) = &self.stack(key).traversal else { return };
        for timer in [Some(traversal.deadline), traversal.grace_until].into_iter().flatten() {
            self.timers.remove(&(timer, Timer::Stack(key)));
        }
    }

    /// Sets the goal of a stack, and keeps its former recipe for a rollback.
    fn set_recipe(&mut self, key: StackKey, action: Action, goal: Arc<Recipe>) {
        self.changes.recipes.insert(goal.id, goal.clone());
        let stack = self.stack_mut(key);
        let former = std::mem::replace(&mut stack.recipe, goal);
        let is_undone = stack.state.status == Status::InProgress;
        let unneeded = match action {
            // After several updates without an end, a rollback goes back to before the first.
            Action::Update | Action::Restore if is_undone && stack.previous.is_some() => {
                Some(former)
            }
            Action::Update | Action::Restore => stack.previous.replace(former),
            _ => Some(former),
        };
        if let Some(recipe) = unneeded {
            self.drop_recipe(key, recipe.id);
        }
    }

    fn drop_recipe(&mut self, key: StackKey, id: RecipeId) {
        let stack = self.stack(key);
        let is_needed = stack.recipe.id == id
            || stack.previous.as_ref().is_some_and(|previous| previous.id == id);
        if !is_needed && self.changes.recipes.shift_remove(&id).is_none() {
            self.changes.dropped_recipes.push(id);
        }
    }

    /// Reads a stack's template and binds it to its parameters.
    pub(crate) fn bind_template(&mut self, key: StackKey) -> Result<(), String> {
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let stack = self.stack(key);
        let identity = Identity { name: &stack.name, id: Some(stack.id), project: &self.project };
        let recipe = stack.recipe.clone();
        let blueprint = match (&recipe.template, stack.parent_resource) {
            (Source::Nothing, _) => Ok(None),
            (_, None) => {
                let former = stack.blueprint.as_deref();
                Blueprint::of_root(&config, &mut templates, &recipe, &identity, former).map(Some)
            }
            (_, Some((parent, parent_resource))) => {
                let name = self.resource(parent_resource).name.clone();
                match self.stack(parent).blueprint.clone() {
                    Some(parent_blueprint) => {
                        let at = parent_blueprint.definition.template.resources.get_index_of(&name);
                        let resource_type = at.map(|at| parent_blueprint.type_at(at));
                        let entry = match resource_type {
                            Some(crate::blueprint::ResolvedType::Template(resource_type)) => {
                                Some(&resource_type.entry)
                            }
                            _ => None,
                        };
                        let parent_resource = (&*name, entry);
                        parent_blueprint
                            .of_child(&config, &mut templates, &recipe, &identity, parent_resource)
                            .map(Some)
                    }
                    None => Ok(None),
                }
            }
        };
        self.templates = templates;
        self.stack_mut(key).blueprint = blueprint?.map(Arc::new);
        Ok(())
    }

    /// Enters the phase that a traversal is in: at its beginning, or after a restart.
    pub(crate) fn enter_phase(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = &self.stack(key).traversal else { return };
        match traversal.phase {
            Phase::Forward if traversal.action == Action::Delete => self.start_cleanup(env, key),
            Phase::Forward => self.start_forward(env, key),
            Phase::Cleanup => self.start_cleanup(env, key),
            Phase::ForEach => self.start_for_each(env, key),
            Phase::Refresh => self.start_refresh(env, key),
            Phase::Deferred => {}
        }
    }

    pub(crate) fn traversal_mut(&mut self, key: StackKey) -> Option<&mut Traversal> {
        self.stack_mut(key).traversal.as_deref_mut()
    }

    /// Makes a graph that of the traversal, and queues the nodes without dependencies.
    pub(crate) fn schedule_graph(&mut self, key: StackKey, graph: &Graph, nodes: &[bool]) {
        let count = nodes.iter().filter(|is_wanted| **is_wanted).count();
        self.next_traversal += 1;
        let number = self.next_traversal;
        let Some(traversal) = self.traversal_mut(key) else { return };
        traversal.traversal_id = number;
        traversal.users = graph.dependents();
        traversal.unmet = (0..graph.len()).map(|at| graph.dependencies(at).len() as u32).collect();
        traversal.remaining = count;
        traversal.parked.clear();
        traversal.is_scheduled = true;
        traversal.queued = 0;
        let ready: Vec<usize> =
            (0..graph.len()).filter(|at| nodes[*at] && traversal.unmet[*at] == 0).collect();
        self.enqueue(key, &ready);
        self.queue.push_back(Task::MaybeFinish(key));
    }

    /// Queues nodes to be visited.
    pub(crate) fn enqueue(&mut self, key: StackKey, nodes: &[usize]) {
        let Some(traversal) = self.stack_mut(key).traversal.as_deref_mut() else { return };
        traversal.queued += nodes.len();
        let number = traversal.traversal_id;
        self.queue.extend(nodes.iter().map(|node| Task::Visit(key, number, *node)));
    }

    // --- on the way ---

    /// A node is done: nodes of which it was the last dependency are queued.
    pub(crate) fn node_done(&mut self, key: StackKey, node: usize) {
        let Some(traversal) = self.stack_mut(key).traversal.as_deref_mut() else { return };
        traversal.remaining -= 1;
        let mut ready = Vec::new();
        for user in traversal.users.get(node) {
            traversal.unmet[*user] -= 1;
            if traversal.unmet[*user] == 0 {
                ready.push(*user);
            }
        }
        let is_last = traversal.remaining == 0;
        self.enqueue(key, &ready);
        if is_last {
            self.queue.push_back(Task::MaybeFinish(key));
        }
    }

    /// A node waits for an operation on a resource, for its hook, or for the cleanup of its nested stack.
    pub(crate) fn park(&mut self, key: StackKey, slot: Slot, node: usize) {
        if let Some(traversal) = self.traversal_mut(key) {
            traversal.parked.insert(slot, node);
        }
    }

    /// A node meets an operation on its resource: one that this traversal began before a restart becomes the
    /// node's own, any other is awaited.
    pub(crate) fn claim_or_park(&mut self, key: StackKey, slot: Slot, node: usize) {
        let number =
            self.stack(key).traversal.as_ref().map_or(0, |traversal| traversal.traversal_id);
        match &mut self.resource_mut(slot).op {
            Some(op) if op.is_interrupted() => op.origin = Some((number, node)),
            _ => self.park(key, slot, node),
        }
    }

    /// A resource failed, and so does the traversal.
    pub(crate) fn node_failed(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        action: Action,
        failure: Failure,
    ) {
        let mut reason = format!("Resource {action} failed: {failure}");
        cut(&mut reason, 65_535);
        self.fail_traversal(env, key, StackFailure { reason, failure: Some(failure) });
    }

    /// The traversal fails. Operations that are running may go on for a while. A stack may have come to its end
    /// before what it waited for does: then nothing is left that could fail.
    pub(crate) fn fail_traversal(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        ending: StackFailure,
    ) {
        let grace_until = env.now + self.config.error_wait;
        let Some(traversal) = self.traversal_mut(key) else { return };
        if traversal.failure.is_none() {
            traversal.failure = Some(ending);
            traversal.grace_until = Some(grace_until);
            self.changes.stacks.insert(key);
            self.timers.insert((grace_until, Timer::Stack(key)));
        }
        self.queue.push_back(Task::MaybeFinish(key));
    }

    // --- ending ---

    /// Ends a traversal, or a phase of it, if that is over. The task may have outlived the stack and its traversal.
    pub(crate) fn maybe_finish(&mut self, env: &mut Env<'_>, key: StackKey) {
        if self.stacks[key.0 as usize].is_none() {
            return;
        }
        let stack = self.stack(key);
        let Some(traversal) = &stack.traversal else { return };
        let is_busy = stack.busy > 0;
        if traversal.failure.is_some() {
            let is_awaited = traversal.phase == Phase::Cleanup
                && (traversal.queued > 0
                    || traversal.parked.keys().any(|slot| self.has_deferred_cleanup(*slot)));
            if is_busy || is_awaited {
                return;
            }
            return self.end_failed(env, key);
        }
        if !traversal.is_scheduled || traversal.remaining > 0 {
            return;
        }
        match traversal.phase {
            Phase::Forward if self.defers_cleanup(key) => self.defer_cleanup(key),
            Phase::Forward if self.has_outlived_parent_traversal(key) => {
                self.complete_traversal(env, key);
                self.resolve_doubts(env, key);
            }
            Phase::Forward => self.start_cleanup(env, key),
            Phase::Deferred => {}
            Phase::Cleanup if is_busy => {}
            Phase::Cleanup => self.start_refresh(env, key),
            Phase::Refresh | Phase::ForEach => self.complete_traversal(env, key),
        }
    }

    fn take_traversal(&mut self, key: StackKey) -> Option<Box<Traversal>> {
        let traversal = self.stack_mut(key).traversal.take()?;
        self.active_traversals -= 1;
        Some(traversal)
    }

    pub(crate) fn complete_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        self.cancel_timers(key);
        let Some(traversal) = self.take_traversal(key) else { return };
        let action = traversal.action;
        if traversal.action == Action::Check && !traversal.check_failures.is_empty() {
            return self.fail_check(env, key, *traversal);
        }
        let previous = self.stack_mut(key).previous.take();
        if let Some(recipe) = previous {
            self.drop_recipe(key, recipe.id);
        }
        let mut reason = format!("Stack {action} completed successfully");
        if traversal.keeps_objects && action == Action::Check {
            reason.push_str(". 'CHECK' not fully supported (see resources)");
        }
        if action == Action::Delete {
            self.stack_mut(key).deleted = Some(env.now);
        }
        self.finish_snapshot(key, traversal.snapshot, Ok(&reason));
        self.set_stack_state(env, key, State::new(action, Status::Complete), &reason);
        self.nested_traversal_ended(env, key, Ok(()));
    }

    fn fail_check(&mut self, env: &mut Env<'_>, key: StackKey, traversal: Traversal) {
        let mut reason = format!("Resource CHECK failed: {}", traversal.check_failures.join("; "));
        cut(&mut reason, 65_535);
        self.set_stack_state(env, key, State::new(Action::Check, Status::Failed), &reason);
        self.nested_traversal_ended(env, key, Err(StackFailure { reason, failure: None }));
    }

    fn end_failed(&mut self, env: &mut Env<'_>, key: StackKey) {
        self.cancel_timers(key);
        let Some(traversal) = self.take_traversal(key) else { return };
        let Some(ending) = traversal.failure else { return };
        let action = traversal.action;
        self.finish_snapshot(key, traversal.snapshot, Err(&ending.reason));
        self.abandon_hooks(env, key);
        self.set_stack_state(env, key, State::new(action, Status::Failed), &ending.reason);
        self.finish_deferred(env, key);
        let stack = self.stack(key);
        let can_roll_back =
            matches!(action, Action::Create | Action::Adopt | Action::Update | Action::Restore);
        let wants =
            (stack.is_rolled_back || traversal.must_roll_back) && !traversal.must_not_roll_back;
        if stack.parent_resource.is_none() && can_roll_back && wants {
            self.roll_back(env, key, action);
        } else {
            self.resolve_doubts(env, key);
            self.nested_traversal_ended(env, key, Err(ending));
        }
    }

    /// Begins the rollback to the recipe before the action.
    fn roll_back(&mut self, env: &mut Env<'_>, key: StackKey, from: Action) {
        let goal = match (self.stack_mut(key).previous.take(), from) {
            (Some(previous), _) => previous,
            (None, _) => {
                // The removal acts for the same user, and its events go to the same event sinks.
                let former = self.stack(key).recipe.clone();
                let event_sinks = former.environment.event_sinks.clone();
                let environment = Environment { event_sinks, ..Environment::default() };
                Arc::new(Recipe {
                    author: former.author.clone(),
                    environment: Arc::new(environment),
                    ..Recipe::nothing(RecipeId(env.ids.next()))
                })
            }
        };
        self.begin_traversal(env, key, Action::Rollback, Some(goal));
        if from == Action::Adopt
            && let Some(traversal) = self.traversal_mut(key)
        {
            // What was adopted was there before, and stays.
            traversal.keeps_objects = true;
        }
        self.bind_and_start(env, key);
    }
}

impl Recipe {
    /// The recipe of a stack without resources.
    pub fn nothing(id: RecipeId) -> Recipe {
        Recipe {
            id,
            template: Source::Nothing,
            files: Arc::default(),
            environment: Arc::default(),
            parameters: Arc::default(),
            aliases: Vec::new(),
            forbidden: Arc::default(),
            author: Arc::default(),
        }
    }
}
