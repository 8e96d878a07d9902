//! The beginning of a traversal.

use super::reached::Transition;
use super::schedule::{Schedule, SlotSchedule};
use super::traversal::{Phase, StackFailure, Traversal, TraversalSpec};
use super::{Machine, Task, Timer};
use crate::blueprint::{Blueprint, Identity, Recipe, Source};
use crate::ids::RecipeId;
use crate::state::{Action, State, Status};
use crate::time::Time;
use crate::tree::{Env, Origin, Slot, StackKey, Tree};
use kiln_template::Graph;
use std::sync::Arc;

impl Machine {
    /// Gives a stack a new goal. Operations on its resources go on.
    pub(crate) fn begin_traversal(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        spec: TraversalSpec,
    ) {
        let action = spec.action;
        let stack = self.tree.stack_mut(key);
        let is_root = stack.parent_resource.is_none();
        // A rollback is for the request of the action that failed; a nested stack acts for its parent's.
        stack.request = self.activity.request().or(stack.request.filter(|_| is_root));
        self.tree.forget_observed(key);
        let deadline = self.tree.deadline(env, key);
        if let Some(recipe) = spec.recipe {
            self.set_recipe(key, action, recipe);
        }
        self.supersede_traversal(env, key);
        self.reset_hooks(key);
        let mut traversal = Traversal {
            objects: spec.objects,
            adopted: spec.adopted,
            snapshot: spec.snapshot,
            converges: spec.converges,
            ..Traversal::new(action, deadline)
        };
        let stack = self.tree.stack_mut(key);
        if stack.summary.state.status != Status::Complete {
            // The former traversal has not refreshed what outputs show.
            traversal.touched = None;
        }
        if action != Action::Create {
            stack.summary.updated = Some(env.now);
        }
        let former = stack.traversal.replace(Box::new(traversal));
        self.tree.active_traversals += usize::from(former.is_none());
        self.tree.announced -= former.map_or(0, |former| former.announced);
        if self.tree.has_own_deadline(key) {
            self.timers.insert((deadline, Timer::Stack(key)));
        }
        let reason = format!("Stack {action} started");
        self.tree.set_stack_state(env, key, State::new(action, Status::InProgress), &reason);
    }

    /// Begins a traversal, binds the template of its stack, and enters its first phase.
    pub(crate) fn begin_and_start(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        spec: TraversalSpec,
    ) {
        self.begin_traversal(env, key, spec);
        self.bind_and_start(env, key);
    }

    /// Binds the template of a stack, and enters the first phase.
    pub(crate) fn bind_and_start(&mut self, env: &mut Env<'_>, key: StackKey) {
        match self.tree.bind_template(key) {
            Ok(()) => self.enter_phase(env, key),
            Err(reason) => self.fail_traversal(env, key, StackFailure::new(reason)),
        }
    }

    /// The traversal of a stack is about to be replaced by a newer one.
    fn supersede_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        self.cancel_timers(key);
        if let Some(traversal) = &self.tree.stack(key).traversal {
            self.reached.hit(Transition::TraversalSuperseded);
            let (snapshot, action) = (traversal.snapshot, traversal.action);
            self.finish_snapshot(key, snapshot, Err(&format!("Stack {action} cancelled")));
            self.detach_operations(key);
            self.abandon_hooks(env, key);
        }
    }

    /// Takes operations from the traversal that began them, since it is replaced.
    fn detach_operations(&mut self, key: StackKey) {
        if self.tree.stack(key).busy == 0 {
            return;
        }
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        for slot in slots {
            let op = self.tree.resource(slot).op.as_ref();
            if op.is_some_and(|op| op.origin != Origin::Detached)
                && let Some(op) = &mut self.tree.change(slot).op
            {
                op.origin = Origin::Detached;
            }
        }
    }

    /// Removes the timers of a traversal that is over or replaced.
    pub(crate) fn cancel_timers(&mut self, key: StackKey) {
        let Some(traversal) = &self.tree.stack(key).traversal else { return };
        for timer in [Some(traversal.deadline), traversal.grace_until].into_iter().flatten() {
            self.timers.remove(&(timer, Timer::Stack(key)));
        }
    }

    /// Sets the goal of a stack, and keeps its former recipe for a rollback.
    fn set_recipe(&mut self, key: StackKey, action: Action, goal: Arc<Recipe>) {
        self.tree.changes.recipes.insert(goal.id, goal.clone());
        let stack = self.tree.stack_mut(key);
        let former = std::mem::replace(&mut stack.recipe, goal);
        let is_undone = stack.summary.state.status == Status::InProgress;
        let unneeded = match action {
            // After several updates without an end, a rollback goes back to before the first.
            Action::Update | Action::Restore if is_undone && stack.previous.is_some() => {
                Some(former)
            }
            Action::Update | Action::Restore => stack.previous.replace(former),
            _ => Some(former),
        };
        if let Some(recipe) = unneeded {
            self.tree.drop_recipe(key, recipe.id);
        }
    }

    /// Enters the first phase of a traversal: at its beginning, or after a restart.
    pub(crate) fn enter_phase(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = &self.tree.stack(key).traversal else {
            return self.unexpected(key, "a phase begins without a traversal");
        };
        self.reached.hit(Transition::begun(traversal.action));
        match (&traversal.phase, traversal.action) {
            (Phase::Pending, Action::Delete) => self.start_cleanup(key),
            (Phase::Pending, _) if traversal.is_for_each() => self.start_for_each(env, key),
            (Phase::Pending, _) => self.start_forward(env, key),
            (_, action) => {
                self.unexpected(key, format!("the first phase of {action} begins twice"));
            }
        }
    }

    /// Begins the forward phase, or another one whose nodes are positions in the template.
    pub(crate) fn schedule_positions(&mut self, key: StackKey, graph: &Graph, wanted: &[bool]) {
        let (schedule, ready) = Schedule::new(self.tree.next_schedule(), graph, wanted);
        self.set_phase(key, Phase::Forward(schedule), &ready);
    }

    /// Begins a phase whose nodes are resources that exist.
    pub(crate) fn schedule_slots(
        &mut self,
        key: StackKey,
        phase: fn(SlotSchedule) -> Phase,
        slots: Vec<Slot>,
        graph: &Graph,
    ) {
        let wanted = vec![true; slots.len()];
        let (schedule, ready) = Schedule::new(self.tree.next_schedule(), graph, &wanted);
        self.set_phase(key, phase(SlotSchedule::new(schedule, slots)), &ready);
    }

    fn set_phase(&mut self, key: StackKey, phase: Phase, ready: &[usize]) {
        let Some(traversal) = self.traversal_mut(key) else {
            return self.unexpected(key, "a phase begins without a traversal");
        };
        traversal.phase = phase;
        self.enqueue(key, ready);
        self.queue.push_back(Task::MaybeFinish(key));
    }

    /// The traversal of a stack.
    pub(crate) fn traversal_mut(&mut self, key: StackKey) -> Option<&mut Traversal> {
        self.tree.stack_mut(key).traversal.as_deref_mut()
    }
}

impl Tree {
    /// When a traversal of a stack that begins now times out.
    fn deadline(&self, env: &Env<'_>, key: StackKey) -> Time {
        let stack = self.stack(key);
        let parent = stack.parent_resource.and_then(|(parent, _)| self.traversal(parent));
        let parent = parent.map(|traversal| traversal.deadline);
        let own = stack.timeout.map(|timeout| env.now + timeout);
        match (parent, own) {
            (Some(parent), Some(own)) => parent.min(own),
            (Some(deadline), None) | (None, Some(deadline)) => deadline,
            (None, None) => env.now + self.config.action_timeout,
        }
    }

    /// The traversal of a stack.
    pub(crate) fn traversal(&self, key: StackKey) -> Option<&Traversal> {
        self.stack(key).traversal.as_deref()
    }

    fn next_schedule(&mut self) -> u64 {
        self.next_schedule += 1;
        self.next_schedule
    }

    /// Whether an action on a stack has a timer: a nested stack times out with its parent, unless it has a
    /// timeout of its own.
    pub(crate) fn has_own_deadline(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        stack.parent_resource.is_none() || stack.timeout.is_some()
    }

    /// Drops a recipe, unless a stack still needs it.
    pub(crate) fn drop_recipe(&mut self, key: StackKey, id: RecipeId) {
        let stack = self.stack(key);
        let is_needed = stack.recipe.id == id
            || stack.previous.as_ref().is_some_and(|previous| previous.id == id);
        if !is_needed && self.changes.recipes.shift_remove(&id).is_none() {
            self.changes.dropped_recipes.push(id);
        }
    }

    /// The text of a file that the nested stack of a resource is made of.
    pub(crate) fn kept_text(&self, key: StackKey, resource: &str, url: &str) -> Option<Arc<str>> {
        let child = self.resource(self.current(key, resource)?).child?;
        match &self.stack(child).recipe.template {
            Source::File(name, text) if &**name == url => Some(text.clone()),
            _ => None,
        }
    }

    /// Reads a stack's template and binds it to its parameters.
    pub(crate) fn bind_template(&mut self, key: StackKey) -> Result<(), String> {
        let config = self.config.clone();
        let mut templates = std::mem::take(&mut self.templates);
        let stack = self.stack(key);
        let kept_text = &|resource: &str, url: &str| self.kept_text(key, resource, url);
        let identity = Identity {
            name: &stack.summary.name,
            id: Some(stack.id),
            project: &self.project,
            kept_text,
        };
        let recipe = stack.recipe.clone();
        let blueprint = match (&recipe.template, stack.parent_resource) {
            (Source::Nothing, _) => Ok(None),
            (_, None) => {
                let former = stack.blueprint.as_deref();
                Blueprint::of_root(&config, &mut templates, &recipe, &identity, former).map(Some)
            }
            (_, Some((parent, parent_resource))) => {
                let name = self.resource(parent_resource).summary.name.clone();
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
            contract: None,
            created_by: Arc::default(),
        }
    }
}
