//! Operations on resources: starting them, and recording what they report.

use super::forward::Goal;
use super::reached::Transition;
use super::traversal::Objects;
use super::{Effect, Machine, Run};
use crate::decide::differing;
use crate::drift::Observed;
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::state::{Action, State, Status};
use crate::tree::{
    Env, HandlerRun, OpId, Operation, Origin, Pause, Resource, Slot, StackKey, Stages, Tree, Work,
};
use kiln_cloud::Reply;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::constraints::offline;
use kiln_resources::op::{Context, FailureClass, Note, StackContext, Step, merge_data};
use kiln_template::{
    DeletionPolicy, Files, Members, Path, ResolvedDefinition, Value, convert_properties,
};
use std::sync::Arc;
use std::time::Duration;

/// What an operation is to do.
pub(crate) struct OperationSpec {
    pub(crate) kind: OperationKind,
    pub(crate) action: Action,
    pub(crate) node: usize,
    pub(crate) target: Option<Arc<ResolvedDefinition>>,
    pub(crate) requires: Vec<ResourceId>,
}

impl Machine {
    // --- beginning ---

    /// Starts the operation that brings a resource to its definition.
    pub(crate) fn start_towards(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        kind: OperationKind,
        action: Action,
        goal: Goal<'_>,
    ) {
        let (node, target, requires) = (goal.at, Some(goal.definition), goal.requires);
        self.start_operation(env, slot, OperationSpec { kind, action, node, target, requires });
    }

    /// Starts an operation of the traversal that is under way.
    pub(crate) fn start_operation(&mut self, env: &mut Env<'_>, slot: Slot, start: OperationSpec) {
        let origin = self.tree.origin(self.tree.resource(slot).stack, start.node);
        let (kind, action) = (start.kind, start.action);
        let snapshot_before_delete =
            kind == OperationKind::Delete && self.tree.is_copied_first(slot);
        let snapshot = match kind {
            OperationKind::Snapshot => self.add_copy_record(env, slot),
            _ => None,
        };
        let drifted = match (kind, &start.target) {
            (OperationKind::Update, Some(target)) => {
                Arc::new(self.tree.take_suspected(slot, target))
            }
            _ => Arc::default(),
        };
        self.put_operation(slot, origin, kind, action);
        if let Some(target) = &start.target {
            self.tree.set_metadata(slot, target.metadata.clone());
        }
        let resource = self.tree.resource_mut(slot);
        if let Some(op) = &mut resource.op {
            op.target = start.target;
            op.requires = start.requires;
            if let Some(run) = op.handler_mut() {
                run.drifted = drifted;
                run.snapshot = snapshot;
                run.snapshot_before_delete = snapshot_before_delete;
            }
        }
        self.tree.count_resource_bytes(slot);
        self.note_touched(slot);
        self.tree.set_state(env, slot, State::new(action, Status::InProgress), "state changed");
        if action == Action::Adopt && kind == OperationKind::Check {
            return self.adopt_object(env, slot);
        }
        self.dispatch(env, slot);
    }

    /// Runs the operation on a resource, for the first time or after a pause or a restart.
    pub(crate) fn dispatch(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource(slot);
        let Some(op) = resource.op.as_deref() else {
            return self.unexpected(resource.stack, "an operation that is not there is run");
        };
        let (id, kind, name) = (op.id, op.kind, resource.summary.name.clone());
        if kind == OperationKind::Delete && !self.tree.has_object_to_remove(slot) {
            self.finish_immediately(slot);
            return;
        }
        if kind == OperationKind::Check
            && resource.summary.physical_id.is_none()
            && resource.child.is_none()
        {
            let failure = self.tree.failure_of_missing_object(slot);
            return self.finish_failed(env, slot, failure, None);
        }
        if self.tree.is_nested(slot) {
            return self.dispatch_nested(env, slot);
        }
        if kind == OperationKind::DeleteSnapshot && self.tree.is_being_copied(slot) {
            return self.pause(slot, Pause::Retry(env.now + SOON));
        }
        let Some(resource_type) = self.tree.config.types.get(&resource.summary.type_name) else {
            self.finish_immediately(slot);
            return;
        };
        if matches!(kind, OperationKind::Create | OperationKind::Update)
            && let Err(message) = self.tree.check_properties(slot)
        {
            let failure = Failure::new(FailureClass::StackValidationFailed, &name, message);
            return self.finish_failed(env, slot, failure, None);
        }
        let needs_nothing = match kind {
            OperationKind::ResolveDoubt => resource_type.behaviour.finder.is_none(),
            OperationKind::Snapshot if resource.summary.physical_id.is_none() => true,
            OperationKind::DeleteSnapshot if self.tree.abandons_copies(slot) => true,
            kind => resource_type.behaviour.handler(kind).is_none(),
        };
        if needs_nothing {
            self.finish_immediately(slot);
            return;
        }
        let context = self.tree.context(slot);
        let run = Run { op: id, slot, resource_type, kind, context };
        self.effects.push(Effect::Run(Box::new(run)));
    }

    /// Starts operations that find out whether resources in doubt have objects. The states of the resources do
    /// not change by that.
    pub(crate) fn resolve_doubts(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots: Vec<Slot> = self.tree.stack(key).resources.values().copied().collect();
        slots.into_iter().for_each(|slot| self.resolve_doubt(env, slot));
    }

    /// Starts the operation that finds out whether a resource has an object, if that is in doubt.
    pub(crate) fn resolve_doubt(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource(slot);
        if !resource.is_doubtful || resource.op.is_some() || resource.copy_of.is_some() {
            return;
        }
        let action = resource.summary.state.action;
        self.put_operation(slot, Origin::Detached, OperationKind::ResolveDoubt, action);
        self.dispatch(env, slot);
    }

    /// Puts an operation on a resource.
    pub(crate) fn put_operation(
        &mut self,
        slot: Slot,
        origin: Origin,
        kind: OperationKind,
        action: Action,
    ) {
        let work = match self.tree.is_nested(slot) {
            true => Work::Nested(Stages::default()),
            false => Work::Handler(HandlerRun::default()),
        };
        self.put_work(slot, origin, kind, action, work);
    }

    /// Puts an operation on a resource that is done in this way.
    pub(crate) fn put_work(
        &mut self,
        slot: Slot,
        origin: Origin,
        kind: OperationKind,
        action: Action,
        work: Work,
    ) {
        let key = self.tree.resource(slot).stack;
        if self.tree.resource(slot).op.is_some() {
            return self.unexpected(key, "two operations on one resource");
        }
        self.tree.next_op += 1;
        let id = OpId(self.tree.next_op);
        self.tree.ops.insert(id, slot);
        self.tree.stack_mut(key).busy += 1;
        self.tree.change(slot).op = Some(Box::new(Operation {
            id,
            kind,
            origin,
            action,
            target: None,
            requires: Vec::new(),
            is_stopping: false,
            pause: None,
            work,
        }));
    }

    pub(crate) fn apply_notes(&mut self, op: OpId, notes: Vec<Note>) {
        let Some(slot) = self.slot_of_report(op) else { return };
        for note in notes {
            if let Err(failure) = self.tree.check_note_size(slot, &note) {
                let run = self.tree.resource_mut(slot).op.as_mut().and_then(|op| op.handler_mut());
                if let Some(run) = run {
                    run.too_large = Some(failure.cause());
                }
                continue;
            }
            let id = match &note {
                Note::Id(Some(id)) => Some(self.tree.physical_id(slot, id.clone())),
                _ => None,
            };
            let resource = self.tree.change(slot);
            match note {
                Note::Id(_) => resource.summary.physical_id = id,
                Note::Data(key, value) => {
                    let data = Arc::make_mut(&mut resource.data);
                    merge_data(data, [(key, value)]);
                }
                Note::Metadata(metadata) => {
                    self.tree.set_metadata(slot, metadata);
                    self.effects.push(Effect::Changed(slot));
                }
                Note::MetadataOf(reference, metadata) => {
                    if let Some(other) = self.tree.find_sibling(slot, &reference) {
                        self.tree.set_metadata(other, metadata);
                        self.effects.push(Effect::Changed(other));
                    }
                }
                Note::Remote(shown) => resource.remote = shown,
                Note::Compared(compared) => {
                    let kind = resource.op.as_ref().map(|op| op.kind);
                    let is_asked_for =
                        matches!(kind, Some(OperationKind::Observe | OperationKind::Check));
                    if is_asked_for {
                        let id = resource.id;
                        self.tree.observed.insert(id, Observed::Read(compared));
                    }
                }
                Note::UsersProject(project) => self.tree.set_user_project(project),
                Note::Waiting(for_what) => self.tree.set_waiting(slot, for_what),
                Note::Step(name, step) => {
                    if let Some(run) = resource.op.as_mut().and_then(|op| op.handler_mut()) {
                        run.journal.set(&name, step);
                    }
                }
            }
        }
    }

    /// Records that an operation is about to make a call.
    pub(crate) fn record_step_begun(&mut self, op: OpId, step: &str) {
        self.record_step(op, step, Step::Begun);
    }

    /// Records the reply to a call of an operation.
    pub(crate) fn record_reply(&mut self, op: OpId, step: &str, reply: Reply) {
        self.record_step(op, step, Step::Replied(reply));
    }

    fn record_step(&mut self, op: OpId, name: &str, step: Step) {
        let Some(slot) = self.slot_of_report(op) else { return };
        match self.tree.change(slot).op.as_mut().and_then(|op| op.handler_mut()) {
            Some(run) => run.journal.set(name, step),
            None => {
                let key = self.tree.resource(slot).stack;
                self.unexpected(key, format!("a nested stack makes the call {name}"));
            }
        }
    }

    /// The resource of an operation that reports something. An operation that was stopped may still report.
    pub(crate) fn slot_of_report(&mut self, op: OpId) -> Option<Slot> {
        let slot = self.tree.slot_of(op);
        if slot.is_none() {
            self.reached.hit(Transition::LateReport);
        }
        slot
    }
}

impl Tree {
    /// Whether a resource that is removed has an object that is to be removed with it.
    pub(crate) fn has_object_to_remove(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let traversal = self.stack(resource.stack).traversal.as_ref();
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let is_created_on_adopt = resource_type.is_some_and(|it| it.created_on_adopt);
        let is_adopted = self.opened_data(slot).is_some();
        let keeps_objects = traversal.is_some_and(|traversal| {
            // What an adoption has created is removed with its rollback, also in nested stacks, which are deleted then.
            let undoes_adoption = traversal.adopted.is_some() && traversal.action != Action::Adopt;
            traversal.objects == Objects::Keep
                && !(undoes_adoption && is_created_on_adopt && !is_adopted)
        });
        let is_kept = keeps_objects
            || resource.definition.as_ref().is_some_and(|resolved| {
                resolved.deletion_policy == DeletionPolicy::Retain || resolved.external_id.is_some()
            });
        // The records of a nested stack go in any case; its own traversal keeps the objects.
        !is_kept || resource.child.is_some()
    }

    /// Fails if a value that an operation reports is too large to be kept.
    fn check_note_size(&self, slot: Slot, note: &Note) -> Result<(), Box<Failure>> {
        let resource = self.resource(slot);
        match note {
            Note::Data(key, value) => {
                let before = resource.data.get(key).unwrap_or(&Value::Null);
                self.check_reported_size(slot, "data", before, value)
            }
            Note::Metadata(metadata) => {
                self.check_reported_size(slot, "metadata", &resource.metadata, metadata)
            }
            Note::MetadataOf(reference, metadata) => match self.find_sibling(slot, reference) {
                Some(other) => {
                    let before = &self.resource(other).metadata;
                    self.check_reported_size(other, "metadata", before, metadata)
                }
                None => Ok(()),
            },
            Note::Remote(shown) => {
                self.check_reported_size(slot, "attributes", &resource.remote, shown)
            }
            Note::Id(_)
            | Note::Compared(_)
            | Note::UsersProject(_)
            | Note::Waiting(_)
            | Note::Step(..) => Ok(()),
        }
    }

    /// The properties of the types that the schema says; or what is wrong with them.
    pub(crate) fn check_properties(&self, slot: Slot) -> Result<(), String> {
        let resource = self.resource(slot);
        let (Some(resource_type), Some(op)) =
            (self.config.types.get(&resource.summary.type_name), &resource.op)
        else {
            return Ok(());
        };
        let Some(target) = &op.target else { return Ok(()) };
        let root = Path::Root.key("resources");
        let name = root.key(&resource.summary.name);
        let path = name.key("properties");
        let (_, problems) =
            convert_properties(&resource_type.schema, &target.properties, &offline(0), &path);
        match problems.into_iter().find(|problem| problem.is_error()) {
            Some(problem) => Err(problem.text()),
            None => Ok(()),
        }
    }

    /// What an operation knows of its resource.
    pub(crate) fn context(&self, slot: Slot) -> Context {
        let resource = self.resource(slot);
        let convert = |resolved: Option<&Arc<ResolvedDefinition>>| -> Arc<Members> {
            let resource_type = self.config.types.get(&resource.summary.type_name);
            let (Some(resolved), Some(resource_type)) = (resolved, resource_type) else {
                return Arc::default();
            };
            Arc::new(
                convert_properties(
                    &resource_type.schema,
                    &resolved.properties,
                    &offline(0),
                    &Path::Root,
                )
                .0,
            )
        };
        let op = resource.op.as_deref();
        let target = op.and_then(|op| op.target.as_ref());
        let properties = convert(target.or(resource.definition.as_ref()));
        let is_update = op.is_some_and(|op| op.kind == OperationKind::Update);
        let mut before =
            if is_update { convert(resource.definition.as_ref()) } else { Arc::default() };
        let run = op.and_then(Operation::handler);
        if let Some(run) = run.filter(|run| !run.drifted.is_empty()) {
            let drifted = run.drifted.iter().map(|(name, value)| (name.clone(), value.clone()));
            Arc::make_mut(&mut before).extend(drifted);
        }
        let changed: Arc<[Arc<str>]> = match is_update {
            true => differing(&before, &properties).into(),
            false => Arc::default(),
        };
        Context {
            resource: resource.summary.name.clone(),
            physical_name: self.physical_name(slot).into(),
            physical_id: resource.summary.physical_id.as_ref().map(|id| id.text().clone()),
            properties,
            previous_properties: before,
            changed,
            data: resource.data.clone(),
            metadata: resource.metadata.clone(),
            journal: run.map(|run| run.journal.clone()).unwrap_or_default(),
            copy_name: self.copy_name(slot).into(),
            snapshot_before_delete: run.is_some_and(|run| run.snapshot_before_delete),
            is_half_done: resource.half_done.is_some(),
            is_doubtful: resource.is_doubtful,
            lost_call_window: self.config.lost_call_window,
            ride_out: self.config.ride_out,
            predecessor: self.predecessor(resource),
            is_replacement: self.is_replacement(resource),
            stack: self.stack_context(resource.stack),
            files: self.files(resource),
        }
    }

    /// The stack of a resource, as its operations see it.
    fn stack_context(&self, key: StackKey) -> StackContext {
        let stack = self.stack(key);
        StackContext {
            project: self.project.clone(),
            name: stack.summary.name.clone(),
            id: stack.id.0,
            root: self.root.0,
            users_project: self.users.clone(),
            guests: self.config.outside.clone(),
        }
    }

    /// The files that came with the stack of a resource.
    fn files(&self, resource: &Resource) -> Arc<Files> {
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        blueprint.map(|blueprint| blueprint.shared.files.clone()).unwrap_or_default()
    }

    /// Whether a resource replaces another that is still there.
    fn is_replacement(&self, resource: &Resource) -> bool {
        let namesakes = self.stack(resource.stack).by_name.get(&resource.summary.name);
        let mut namesakes = namesakes.into_iter().flatten();
        resource.replaces.is_some_and(|id| namesakes.any(|slot| self.resource(*slot).id == id))
    }

    /// The id of the object that a resource replaces. A replaced resource without an object has replaced another.
    fn predecessor(&self, resource: &Resource) -> Option<Arc<str>> {
        let namesakes = self.stack(resource.stack).by_name.get(&resource.summary.name)?;
        let mut replaces = resource.replaces;
        for _ in namesakes {
            let wanted = replaces?;
            let slot = namesakes.iter().find(|slot| self.resource(**slot).id == wanted)?;
            let replaced = self.resource(*slot);
            if let Some(id) = &replaced.summary.physical_id {
                return Some(id.text().clone());
            }
            replaces = replaced.replaces;
        }
        None
    }

    // --- reports ---

    pub(crate) fn slot_of(&self, op: OpId) -> Option<Slot> {
        self.ops.get(&op).copied()
    }

    /// Sets the project of the tree's users. An empty id says that one is about to be created or found, which
    /// changes nothing if the project is known already.
    fn set_user_project(&mut self, project: Arc<str>) {
        if !project.is_empty() || self.users.is_none() {
            self.users = Some(project);
            let root = self.root_key();
            self.changes.stacks.insert(root);
        }
    }
}

/// How long to wait for another operation of the same tree.
const SOON: Duration = Duration::from_secs(1);
