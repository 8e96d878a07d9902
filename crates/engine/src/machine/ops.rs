//! Operations on resources: beginning them, and listening to them.

use super::forward::Goal;
use super::{Effect, Run};
use crate::decide::differing;
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::reality::Reality;
use crate::state::{Action, State, Status};
use crate::tree::{Env, OpId, Operation, Pause, Resource, Slot, StackKey, Tree};
use kiln_cloud::Reply;
use kiln_resources::behaviour::Verb;
use kiln_resources::constraints::offline;
use kiln_resources::op::{Context, Journal, Note, Place, Step};
use kiln_template::definition::Files;
use kiln_template::path::Path;
use kiln_template::resolved::{ResolvedDefinition, convert_properties};
use kiln_template::template::DeletionPolicy;
use kiln_template::value::Members;
use std::sync::Arc;
use std::time::Duration;

/// What is to be done with a resource.
pub(crate) struct Start {
    pub(crate) verb: Verb,
    pub(crate) action: Action,
    pub(crate) node: usize,
    pub(crate) target: Option<Arc<ResolvedDefinition>>,
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
        let drifted = match verb {
            Verb::Update => self.take_drifted(slot),
            _ => Arc::default(),
        };
        self.put_op(slot, origin, verb, action);
        let resource = self.resource_mut(slot);
        if let Some(target) = &start.target {
            resource.metadata = target.metadata.clone();
        }
        if let Some(op) = &mut resource.op {
            op.target = start.target;
            op.requires = start.requires;
            op.drifted = drifted;
            op.snapshot = snapshot;
            op.keeps_copy = keeps_copy;
        }
        self.touch_needed(slot);
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
        let (_, problems) =
            convert_properties(&kind.schema, &target.properties, &offline(0), &path);
        match problems.into_iter().find(|problem| problem.is_error()) {
            Some(problem) => Err(problem.text()),
            None => Ok(()),
        }
    }

    /// What an operation is told of its resource.
    pub(crate) fn context(&self, slot: Slot) -> Context {
        let resource = self.resource(slot);
        let convert = |frozen: Option<&Arc<ResolvedDefinition>>| -> Arc<Members> {
            let kind = self.config.types.get(&resource.kind);
            let (Some(frozen), Some(kind)) = (frozen, kind) else { return Arc::default() };
            Arc::new(
                convert_properties(&kind.schema, &frozen.properties, &offline(0), &Path::Root).0,
            )
        };
        let op = resource.op.as_deref();
        let target = op.and_then(|op| op.target.as_ref());
        let properties = convert(target.or(resource.frozen.as_ref()));
        let is_update = op.is_some_and(|op| op.verb == Verb::Update);
        let mut before = if is_update { convert(resource.frozen.as_ref()) } else { Arc::default() };
        if let Some(op) = op.filter(|op| !op.drifted.is_empty()) {
            let drifted = op.drifted.iter().map(|(name, value)| (name.clone(), value.clone()));
            Arc::make_mut(&mut before).extend(drifted);
        }
        let changed: Arc<[Arc<str>]> = match is_update {
            true => differing(&before, &properties).into(),
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
            predecessor: self.predecessor(resource),
            place: self.place(resource.stack),
            files: self.files(resource),
        }
    }

    /// Where the resources of a stack are.
    fn place(&self, key: StackKey) -> Place {
        let stack = self.stack(key);
        Place {
            project: self.project.clone(),
            stack: stack.name.clone(),
            stack_id: stack.id.0,
            root: self.root.0,
            users: self.users.clone(),
            outside: self.config.outside.clone(),
        }
    }

    /// The files that came with the stack of a resource.
    fn files(&self, resource: &Resource) -> Arc<Files> {
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        blueprint.map(|blueprint| blueprint.shared.files.clone()).unwrap_or_default()
    }

    /// The id of the object whose place a resource takes.
    fn predecessor(&self, resource: &Resource) -> Option<Arc<str>> {
        let replaced = resource.replaces?;
        let namesakes = self.stack(resource.stack).by_name.get(&resource.name)?;
        let replaced = namesakes.iter().find(|slot| self.resource(**slot).id == replaced)?;
        self.resource(*replaced).physical_id.clone()
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
            drifted: Arc::default(),
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
                Note::Drifted(drifted) => {
                    let verb = resource.op.as_ref().map(|op| op.verb);
                    let is_asked_for = matches!(verb, Some(Verb::Observe | Verb::Check));
                    if is_asked_for && !drifted.is_empty() {
                        let id = resource.id;
                        self.reality.insert(id, Reality::Drifted(drifted.into()));
                    }
                }
                Note::Users(project) => self.users_are_in(project),
                Note::Step(name, step) => {
                    if let Some(op) = &mut resource.op {
                        op.journal.set(&name, step);
                    }
                }
            }
        }
    }

    /// The tree's users are in this project, or in one that is about to be made or found: that is no news if
    /// it is known already.
    fn users_are_in(&mut self, project: Arc<str>) {
        if !project.is_empty() || self.users.is_none() {
            self.users = Some(project);
            let root = self.root_key();
            self.changes.stacks.insert(root);
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
}

/// How long to wait for another operation of the same tree.
const SOON: Duration = Duration::from_secs(1);

fn op_id(tree: &Tree, slot: Slot) -> OpId {
    tree.resource(slot).op.as_ref().map_or(OpId(0), |op| op.id)
}
