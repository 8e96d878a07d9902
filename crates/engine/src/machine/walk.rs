//! A walk: an action being carried out on a stack, node by node.

use super::Task;
use crate::blueprint::{Blueprint, Identity, Recipe, Source};
use crate::failure::{Failure, cut};
use crate::ids::{RecipeId, ResourceId, SnapshotId};
use crate::state::{Action, State, Status};
use crate::time::Time;
use crate::tree::{Env, Slot, StackKey, Timer, Tree};
use kiln_template::environment::Environment;
use kiln_template::graph::{Graph, Users};
use kiln_template::value::{Members, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// What a walk is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Each resource of the template becomes what it should be, after what it needs.
    Forward,
    /// A nested stack has what it should have, and keeps what it should not until whoever used that has
    /// moved on: the cleanup comes when the walk around it gets there.
    Resting,
    /// Each resource that is no longer wanted goes, after those that need it.
    Cleanup,
    /// What outputs tell of objects is looked up once more. It changes nothing, and cannot fail.
    Look,
    /// Something is done with each resource that there is.
    Over,
}

/// An action being carried out on a stack.
pub struct Walk {
    /// The action.
    pub(crate) action: Action,
    pub(crate) phase: Phase,
    /// When it must be done.
    pub(crate) deadline: Time,
    /// Why it cannot end well.
    pub(crate) failure: Option<Ending>,
    /// When what is still under way is stopped.
    pub(crate) patience: Option<Time>,
    /// What was found wrong, where that does not end the walk.
    pub(crate) flaws: Vec<String>,
    /// Objects are left alone: only the records go.
    pub(crate) keeps_objects: bool,
    /// What is known of the objects that an adoption takes over, by the names of their resources.
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
    /// Tells it from every other walk of the tree.
    pub(crate) number: u64,
    /// How many nodes are about to be looked at.
    pub(crate) waiting: usize,
    /// Nodes of the graph: places in the template, or of `slots`.
    pub(crate) missing: Vec<u32>,
    pub(crate) users: Users,
    /// The resources at the nodes, if they are not places in the template; those that are gone are
    /// nothing.
    pub(crate) slots: Vec<Option<Slot>>,
    /// How many nodes are not done.
    pub(crate) left: usize,
    /// Nodes that wait for what is under way on a resource.
    pub(crate) parked: BTreeMap<Slot, usize>,
    pub(crate) is_set_up: bool,
    /// What was needed by those with which something was done; nothing if that is not known any more.
    pub(crate) touched: Option<BTreeSet<ResourceId>>,
}

/// Why a walk cannot end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The reason that the stack gets.
    pub(crate) reason: String,
    /// The resource that failed.
    pub(crate) failure: Option<Failure>,
}

impl Walk {
    pub(crate) fn new(action: Action, phase: Phase, deadline: Time) -> Walk {
        Walk {
            action,
            phase,
            deadline,
            failure: None,
            patience: None,
            flaws: Vec::new(),
            keeps_objects: false,
            adopted: None,
            snapshot: None,
            must_roll_back: false,
            must_not_roll_back: false,
            converges: false,
            number: 0,
            waiting: 0,
            missing: Vec::new(),
            users: Users::default(),
            slots: Vec::new(),
            left: 0,
            parked: BTreeMap::new(),
            is_set_up: false,
            touched: Some(BTreeSet::new()),
        }
    }

    /// Whether its cleanup will come to a resource, and has not.
    pub(crate) fn is_yet_to_clean(&self, slot: Slot) -> bool {
        let node = self.slots.iter().position(|it| *it == Some(slot));
        self.phase == Phase::Cleanup
            && node.is_some_and(|node| self.missing.get(node).is_some_and(|missing| *missing > 0))
    }

    /// What is stored of it.
    pub(crate) fn to_value(&self) -> Value {
        let failure = self.failure.as_ref().map(|ending| {
            let mut parts = vec![Value::from(ending.reason.as_str())];
            if let Some(failure) = &ending.failure {
                parts.push(Value::Text(failure.class.clone()));
                parts.push(failure.path.as_str().into());
                parts.push(failure.message.as_str().into());
            }
            Value::list(parts)
        });
        Value::map([
            ("action", self.action.name().into()),
            ("deadline", self.deadline.micros().into()),
            ("failure", failure.unwrap_or_default()),
            ("patience", self.patience.map(|it| it.micros().into()).unwrap_or_default()),
            ("flaws", Value::list(self.flaws.iter().map(|flaw| flaw.as_str().into()))),
            ("keeps_objects", self.keeps_objects.into()),
            ("adopted", self.adopted.clone().map(Value::Map).unwrap_or_default()),
            ("snapshot", self.snapshot.map(|it| it.to_string().into()).unwrap_or_default()),
            ("must_roll_back", self.must_roll_back.into()),
            ("must_not_roll_back", self.must_not_roll_back.into()),
            ("converges", self.converges.into()),
        ])
    }

    /// The walk that was stored.
    pub(crate) fn of_value(value: &Value) -> Walk {
        let part =
            |name: &str| value.as_map().and_then(|it| it.get(name)).cloned().unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_text).map(|it| it.to_string());
        let time = |value: Value| match value {
            Value::Int(number) => number.as_i64().map(Time::from_micros),
            _ => None,
        };
        let flag = |name: &str| matches!(part(name), Value::Bool(true));
        let action = text(Some(&part("action"))).and_then(|it| Action::parse(&it));
        let action = action.unwrap_or(Action::Update);
        let deadline = time(part("deadline")).unwrap_or_default();
        let failure = part("failure");
        let failure = failure.as_list().unwrap_or_default();
        let ending = text(failure.first()).map(|reason| Ending {
            reason,
            failure: match failure {
                [_, Value::Text(class), Value::Text(path), Value::Text(message)] => Some(Failure {
                    class: class.clone(),
                    path: path.to_string(),
                    message: message.to_string(),
                }),
                _ => None,
            },
        });
        let flaws = part("flaws");
        let flaws = flaws.as_list().unwrap_or_default();
        Walk {
            failure: ending,
            patience: time(part("patience")),
            flaws: flaws.iter().filter_map(|flaw| text(Some(flaw))).collect(),
            keeps_objects: flag("keeps_objects"),
            adopted: match part("adopted") {
                Value::Map(members) => Some(members),
                _ => None,
            },
            snapshot: text(Some(&part("snapshot")))
                .and_then(|id| Uuid::parse_str(&id).ok())
                .map(SnapshotId),
            must_roll_back: flag("must_roll_back"),
            must_not_roll_back: flag("must_not_roll_back"),
            converges: flag("converges"),
            touched: None,
            ..Walk::new(action, phase_of(action), deadline)
        }
    }
}

/// The phase that an action begins with.
pub(crate) fn phase_of(action: Action) -> Phase {
    match action {
        Action::Suspend | Action::Resume | Action::Check | Action::Snapshot => Phase::Over,
        _ => Phase::Forward,
    }
}

impl Tree {
    // --- beginning ---

    /// Gives a stack a new goal. What is under way on its resources goes on.
    pub(crate) fn begin(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        action: Action,
        goal: Option<Arc<Recipe>>,
    ) {
        if self.stack(key).holder.is_none() {
            self.reality.clear();
        }
        let deadline = match self.stack(key).holder {
            Some((parent, _)) => self.stack(parent).walk.as_ref().map(|walk| walk.deadline),
            None => None,
        };
        let own = self.stack(key).timeout.map(|timeout| env.now + timeout);
        let deadline = match (deadline, own) {
            (Some(outer), Some(own)) => outer.min(own),
            (Some(deadline), None) | (None, Some(deadline)) => deadline,
            (None, None) => env.now + self.config.action_timeout,
        };
        if let Some(goal) = goal {
            self.set_goal(key, action, goal);
        }
        self.forget_timers(key);
        if let Some(walk) = &self.stack(key).walk {
            let (snapshot, action) = (walk.snapshot, walk.action);
            self.snapshot_ended(key, snapshot, Err(&format!("Stack {action} cancelled")));
            self.disown_ops(key);
            self.leave_hooks(env, key);
        }
        self.set_hooks(key);
        let mut walk = Walk::new(action, phase_of(action), deadline);
        let stack = self.stack_mut(key);
        if stack.state.status != Status::Complete {
            // Nobody took a last look at what was done before.
            walk.touched = None;
        }
        if action != Action::Create {
            stack.updated = Some(env.now);
        }
        let former = stack.walk.replace(Box::new(walk));
        self.walks += usize::from(former.is_none());
        if self.has_own_deadline(key) {
            self.timers.insert((deadline, Timer::Stack(key)));
        }
        let reason = format!("Stack {action} started");
        self.set_stack_state(env, key, State::new(action, Status::InProgress), &reason);
    }

    /// Whether an action on a stack has to end by itself: on a nested one, that is up to the stack around
    /// it unless something else is said.
    pub(crate) fn has_own_deadline(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        stack.holder.is_none() || stack.timeout.is_some()
    }

    /// What is under way was begun by a walk that is replaced.
    fn disown_ops(&mut self, key: StackKey) {
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

    /// A walk that is over, or is replaced, needs no reminders.
    fn forget_timers(&mut self, key: StackKey) {
        let Some(walk) = &self.stack(key).walk else { return };
        for timer in [Some(walk.deadline), walk.patience].into_iter().flatten() {
            self.timers.remove(&(timer, Timer::Stack(key)));
        }
    }

    /// Remembers what a stack was made of, for a rollback, and what it is to be made of.
    fn set_goal(&mut self, key: StackKey, action: Action, goal: Arc<Recipe>) {
        self.changes.recipes.insert(goal.id, goal.clone());
        let stack = self.stack_mut(key);
        let former = std::mem::replace(&mut stack.recipe, goal);
        let is_undone = stack.state.status == Status::InProgress;
        let unneeded = match action {
            // While an update runs, a rollback goes back to what was there before the first.
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

    /// Reads and binds what a stack is made of.
    pub(crate) fn draw_up(&mut self, key: StackKey) -> Result<(), String> {
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let stack = self.stack(key);
        let identity = Identity { name: &stack.name, id: Some(stack.id), project: &self.project };
        let recipe = stack.recipe.clone();
        let blueprint = match (&recipe.template, stack.holder) {
            (Source::Nothing, _) => Ok(None),
            (_, None) => {
                let former = stack.blueprint.as_deref();
                Blueprint::of_root(&config, &mut templates, &recipe, &identity, former).map(Some)
            }
            (_, Some((parent, holder))) => {
                let name = self.resource(holder).name.clone();
                match self.stack(parent).blueprint.clone() {
                    Some(outer) => {
                        let at = outer.definition.template.resources.get_index_of(&name);
                        let kind = at.map(|at| outer.kind(at));
                        let entry = match kind {
                            Some(crate::blueprint::Kind::Template(kind)) => Some(&kind.entry),
                            _ => None,
                        };
                        let holder = (&*name, entry);
                        outer
                            .of_child(&config, &mut templates, &recipe, &identity, holder)
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

    /// Sets a walk up so that it can go on: from its beginning, or after an interruption.
    pub(crate) fn set_off(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(walk) = &self.stack(key).walk else { return };
        match walk.phase {
            Phase::Forward if walk.action == Action::Delete => self.start_cleanup(env, key),
            Phase::Forward => self.start_forward(env, key),
            Phase::Cleanup => self.start_cleanup(env, key),
            Phase::Over => self.start_over(env, key),
            Phase::Look => self.start_look(env, key),
            Phase::Resting => {}
        }
    }

    pub(crate) fn walk_mut(&mut self, key: StackKey) -> Option<&mut Walk> {
        self.stack_mut(key).walk.as_deref_mut()
    }

    /// Makes a graph the walk's own, and looks at the nodes that need nothing.
    pub(crate) fn walk_over(&mut self, key: StackKey, graph: &Graph, nodes: &[bool]) {
        let count = nodes.iter().filter(|is_wanted| **is_wanted).count();
        self.next_walk += 1;
        let number = self.next_walk;
        let Some(walk) = self.walk_mut(key) else { return };
        walk.number = number;
        walk.users = graph.users();
        walk.missing = (0..graph.len()).map(|at| graph.needs(at).len() as u32).collect();
        walk.left = count;
        walk.parked.clear();
        walk.is_set_up = true;
        walk.waiting = 0;
        let ready: Vec<usize> =
            (0..graph.len()).filter(|at| nodes[*at] && walk.missing[*at] == 0).collect();
        self.look_at(key, &ready);
        self.queue.push_back(Task::Settle(key));
    }

    /// Has nodes looked at.
    pub(crate) fn look_at(&mut self, key: StackKey, nodes: &[usize]) {
        let Some(walk) = self.stack_mut(key).walk.as_deref_mut() else { return };
        walk.waiting += nodes.len();
        let number = walk.number;
        self.queue.extend(nodes.iter().map(|node| Task::Visit(key, number, *node)));
    }

    // --- on the way ---

    /// A node is done: those that need it come closer.
    pub(crate) fn node_done(&mut self, key: StackKey, node: usize) {
        let Some(walk) = self.stack_mut(key).walk.as_deref_mut() else { return };
        walk.left -= 1;
        let mut ready = Vec::new();
        for user in walk.users.get(node) {
            walk.missing[*user] -= 1;
            if walk.missing[*user] == 0 {
                ready.push(*user);
            }
        }
        let is_last = walk.left == 0;
        self.look_at(key, &ready);
        if is_last {
            self.queue.push_back(Task::Settle(key));
        }
    }

    /// A node waits until what is under way on a resource is over.
    pub(crate) fn park(&mut self, key: StackKey, slot: Slot, node: usize) {
        if let Some(walk) = self.walk_mut(key) {
            walk.parked.insert(slot, node);
        }
    }

    /// A node meets what is under way on its resource: what this walk began before an interruption is
    /// the node's own, anything else is awaited.
    pub(crate) fn meet(&mut self, key: StackKey, slot: Slot, node: usize) {
        let number = self.stack(key).walk.as_ref().map_or(0, |walk| walk.number);
        match &mut self.resource_mut(slot).op {
            Some(op) if op.is_interrupted() => op.origin = Some((number, node)),
            _ => self.park(key, slot, node),
        }
    }

    /// A resource failed: the walk cannot end well.
    pub(crate) fn node_failed(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        action: Action,
        failure: Failure,
    ) {
        let mut reason = format!("Resource {action} failed: {failure}");
        cut(&mut reason, 65_535);
        self.fail_walk(env, key, Ending { reason, failure: Some(failure) });
    }

    /// The walk cannot end well. What is under way may go on for a while.
    pub(crate) fn fail_walk(&mut self, env: &mut Env<'_>, key: StackKey, ending: Ending) {
        let patience = env.now + self.config.error_wait;
        let Some(walk) = self.walk_mut(key) else { return };
        if walk.failure.is_none() {
            walk.failure = Some(ending);
            walk.patience = Some(patience);
            self.changes.stacks.insert(key);
            self.timers.insert((patience, Timer::Stack(key)));
        }
        self.queue.push_back(Task::Settle(key));
    }

    // --- ending ---

    /// Looks whether a walk, or a phase of it, is over.
    pub(crate) fn settle(&mut self, env: &mut Env<'_>, key: StackKey) {
        if self.stacks[key.0 as usize].is_none() {
            return;
        }
        let stack = self.stack(key);
        let Some(walk) = &stack.walk else { return };
        let is_busy = stack.busy > 0;
        if walk.failure.is_some() {
            let is_awaited = walk.phase == Phase::Cleanup
                && (walk.waiting > 0
                    || walk.parked.keys().any(|slot| self.cleans_up_inside(*slot)));
            if is_busy || is_awaited {
                return;
            }
            return self.end_badly(env, key);
        }
        if !walk.is_set_up || walk.left > 0 {
            return;
        }
        match walk.phase {
            Phase::Forward if self.cleans_up_later(key) => self.rest(key),
            Phase::Forward if self.is_left_behind(key) => {
                self.end_well(env, key);
                self.settle_doubts(env, key);
            }
            Phase::Forward => self.start_cleanup(env, key),
            Phase::Resting => {}
            Phase::Cleanup if is_busy => {}
            Phase::Cleanup => self.start_look(env, key),
            Phase::Look | Phase::Over => self.end_well(env, key),
        }
    }

    fn take_walk(&mut self, key: StackKey) -> Option<Box<Walk>> {
        let walk = self.stack_mut(key).walk.take()?;
        self.walks -= 1;
        Some(walk)
    }

    pub(crate) fn end_well(&mut self, env: &mut Env<'_>, key: StackKey) {
        self.forget_timers(key);
        let Some(walk) = self.take_walk(key) else { return };
        let action = walk.action;
        if walk.action == Action::Check && !walk.flaws.is_empty() {
            return self.end_check_badly(env, key, *walk);
        }
        let previous = self.stack_mut(key).previous.take();
        if let Some(recipe) = previous {
            self.drop_recipe(key, recipe.id);
        }
        let mut reason = format!("Stack {action} completed successfully");
        if walk.keeps_objects && action == Action::Check {
            reason.push_str(". 'CHECK' not fully supported (see resources)");
        }
        if action == Action::Delete {
            self.stack_mut(key).deleted = Some(env.now);
        }
        self.snapshot_ended(key, walk.snapshot, Ok(&reason));
        self.set_stack_state(env, key, State::new(action, Status::Complete), &reason);
        self.child_ended(env, key, Ok(()));
    }

    fn end_check_badly(&mut self, env: &mut Env<'_>, key: StackKey, walk: Walk) {
        let mut reason = format!("Resource CHECK failed: {}", walk.flaws.join("; "));
        cut(&mut reason, 65_535);
        self.set_stack_state(env, key, State::new(Action::Check, Status::Failed), &reason);
        self.child_ended(env, key, Err(Ending { reason, failure: None }));
    }

    fn end_badly(&mut self, env: &mut Env<'_>, key: StackKey) {
        self.forget_timers(key);
        let Some(walk) = self.take_walk(key) else { return };
        let Some(ending) = walk.failure else { return };
        let action = walk.action;
        self.snapshot_ended(key, walk.snapshot, Err(&ending.reason));
        self.leave_hooks(env, key);
        self.set_stack_state(env, key, State::new(action, Status::Failed), &ending.reason);
        self.wake_resting(env, key);
        let stack = self.stack(key);
        let can_roll_back =
            matches!(action, Action::Create | Action::Adopt | Action::Update | Action::Restore);
        let wants = (stack.is_rolled_back || walk.must_roll_back) && !walk.must_not_roll_back;
        if stack.holder.is_none() && can_roll_back && wants {
            self.roll_back(env, key, action);
        } else {
            self.settle_doubts(env, key);
            self.child_ended(env, key, Err(ending));
        }
    }

    /// Goes back to what the stack was before.
    fn roll_back(&mut self, env: &mut Env<'_>, key: StackKey, from: Action) {
        let goal = match (self.stack_mut(key).previous.take(), from) {
            (Some(previous), _) => previous,
            (None, _) => {
                // What was made for somebody is removed for them, and told of where they wanted.
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
        self.begin(env, key, Action::Rollback, Some(goal));
        if from == Action::Adopt
            && let Some(walk) = self.walk_mut(key)
        {
            // What was adopted was there before, and stays.
            walk.keeps_objects = true;
        }
        self.draw_up_and_set_off(env, key);
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
