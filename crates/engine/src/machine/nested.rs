//! Nested stacks: resources that are stacks of their own.
//!
//! Readers see a nested stack as a stack; the machine treats it as a part of its root's tree: the operation on
//! the parent resource begins its traversal, and the end of the traversal ends the operation.

use super::Machine;
use super::reached::Transition;
use super::traversal::{Objects, StackFailure, TraversalSpec};
use crate::blueprint::{Blueprint, Recipe, ResolvedType, Source};
use crate::decide::keeps_object;
use crate::failure::Failure;
use crate::ids::{PhysicalId, RecipeId, ResourceId, StackId};
use crate::state::{Action, State, Status};
use crate::summary::StackSummary;
use crate::tree::{Env, Pause, Resource, Slot, Stack, StackKey, Stages, Tree, Work};
use kiln_resources::behaviour::{Group, GroupMember, OperationKind, Stage};
use kiln_resources::constraints::offline;
use kiln_resources::guard::guarded;
use kiln_resources::op::{FailureClass, OpError, merge_data};
use kiln_template::{Members, Path, Value, convert_properties, convert_update_policy};
use std::sync::Arc;
use std::time::Duration;

impl Machine {
    // --- from the parent resource to the nested stack ---

    /// Begins the traversal of the nested stack that the operation on its parent resource needs.
    pub(crate) fn dispatch_nested(&mut self, env: &mut Env<'_>, slot: Slot) {
        let resource = self.tree.resource(slot);
        let Some(op) = resource.op.as_deref() else {
            return self.unexpected(resource.stack, "an operation that is not there is run");
        };
        let kind = op.kind;
        match (kind, resource.child) {
            (OperationKind::Create | OperationKind::Update, _) => self.start_next_stage(env, slot),
            // A nested stack can be created again from its template: a snapshot keeps nothing of it.
            (OperationKind::Snapshot, _) | (_, None) => self.finish_immediately(slot),
            (kind, Some(child)) => {
                let action = match kind {
                    OperationKind::Delete => Action::Delete,
                    OperationKind::Suspend => Action::Suspend,
                    OperationKind::Resume => Action::Resume,
                    _ => Action::Check,
                };
                let objects = self.tree.objects_of_nested(slot);
                let spec = TraversalSpec::new(action, None);
                let adopted = self.tree.adopted_inside(slot);
                self.begin_traversal(env, child, TraversalSpec { objects, adopted, ..spec });
                self.enter_phase(env, child);
            }
        }
    }

    /// Begins the next stage of a nested stack; most need only one.
    pub(crate) fn start_next_stage(&mut self, env: &mut Env<'_>, slot: Slot) {
        let stage = match self.tree.stage(env, slot) {
            Ok(stage) => stage,
            Err(failure) => return self.finish_failed(env, slot, *failure, None),
        };
        self.reached.hit(Transition::StageStarted);
        let data = stage.data;
        if !data.is_empty() {
            merge_data(Arc::make_mut(&mut self.tree.change(slot).data), data);
        }
        if let Some(stages) = self.tree.change(slot).op.as_mut().and_then(|op| op.stages_mut()) {
            stages.count += 1;
            stages.is_last = stage.is_last;
            stages.pause = stage.pause;
        }
        let recipe = Arc::new(Recipe {
            id: RecipeId(env.ids.next()),
            template: stage.source,
            files: Arc::default(),
            environment: Arc::default(),
            parameters: stage.parameters,
            aliases: stage.aliases,
            // The creator of the root and the types that are forbidden hold for the whole tree.
            forbidden: Arc::default(),
            contract: None,
            created_by: Arc::default(),
        });
        if let Err(failure) = self.tree.check_nested_size(slot, recipe.made_bytes()) {
            return self.finish_failed(env, slot, *failure, None);
        }
        match self.tree.resource(slot).child {
            Some(child) => {
                self.tree.stack_mut(child).timeout = stage.timeout;
                let converges = self.tree.converges(self.tree.resource(slot).stack);
                let spec = TraversalSpec::new(Action::Update, Some(recipe));
                self.begin_and_start(env, child, TraversalSpec { converges, ..spec });
                self.tree.count_stack_bytes(child);
            }
            None => match self.add_child(env, slot, recipe) {
                Ok(child) => {
                    self.tree.stack_mut(child).timeout = stage.timeout;
                    let spec = self.tree.first_traversal(slot);
                    self.begin_and_start(env, child, spec);
                }
                Err(failure) => self.finish_failed(env, slot, *failure, None),
            },
        }
    }

    fn add_child(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        recipe: Arc<Recipe>,
    ) -> Result<StackKey, Box<Failure>> {
        let resource = self.tree.resource(slot);
        let depth = self.tree.stack(resource.stack).depth + 1;
        if depth > self.tree.config.max_depth {
            let message = format!(
                "Request limit exceeded: Recursion depth exceeds {}.",
                self.tree.config.max_depth
            );
            return Err(Box::new(Failure::new(
                FailureClass::RequestLimitExceeded,
                &resource.summary.name,
                message,
            )));
        }
        let (parent, id) = (resource.stack, StackId(env.ids.next()));
        let name = self.tree.physical_name(slot).into();
        let state = State::new(Action::Create, Status::InProgress);
        let key = self.tree.add_stack(Stack {
            parent_resource: Some((parent, slot)),
            parent_resource_id: Some(self.tree.resource(slot).id),
            depth,
            ..Stack::new(id, StackSummary::new(name, state, env.now), recipe)
        });
        let resource = self.tree.change(slot);
        resource.child = Some(key);
        resource.summary.physical_id = Some(PhysicalId::new(id.to_string()));
        Ok(key)
    }

    // --- from the nested stack to the parent resource ---

    /// The traversal of a nested stack is over: so is the operation that began it, or a stage of that.
    pub(crate) fn nested_traversal_ended(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        result: Result<(), StackFailure>,
    ) {
        let stack = self.tree.stack(key);
        let Some((parent, parent_resource)) = stack.parent_resource else { return };
        if stack.summary.deleted.is_some() {
            self.reached.hit(Transition::NestedDeleted);
            self.tree.change(parent_resource).child = None;
            self.tree.changes.gone_stacks.push(key);
        }
        let Some(op) = self.tree.resource(parent_resource).op.as_deref() else {
            return self.deferred_cleanup_ended(env, (parent, parent_resource), result);
        };
        let is_staged = matches!(op.kind, OperationKind::Create | OperationKind::Update);
        let is_last = !is_staged || op.stages().is_none_or(|stages| stages.is_last);
        match result {
            Ok(()) if is_last => self.finish_immediately(parent_resource),
            Ok(()) => self.wait_for_stage(env, parent_resource),
            Err(ending) => {
                self.reached.hit(Transition::NestedFailed);
                let name = self.tree.resource(parent_resource).summary.name.clone();
                let failure = match ending.failure {
                    Some(failure) => failure.inside(&name),
                    None => Failure::new(FailureClass::Error, &name, ending.reason),
                };
                self.finish_failed(env, parent_resource, failure, None);
            }
        }
    }

    /// Between two stages there may be a pause.
    fn wait_for_stage(&mut self, env: &mut Env<'_>, slot: Slot) {
        self.reached.hit(Transition::StageRepeated);
        let stages = self.tree.resource(slot).op.as_ref().and_then(|op| op.stages());
        let pause = stages.map(|stages| stages.pause).unwrap_or_default();
        if pause.is_zero() {
            return self.start_next_stage(env, slot);
        }
        self.reached.hit(Transition::StagePaused);
        self.pause(slot, Pause::Stage(env.now + pause));
    }

    // --- a newer goal, and a cancel ---

    /// A node's resource has an operation: a nested stack gets the new goal at once, any other operation is
    /// awaited.
    pub(crate) fn visit_busy(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        at: usize,
        blueprint: &Blueprint,
        slot: Slot,
    ) {
        let op = self.tree.resource(slot).op.as_deref();
        if op.is_some_and(|op| op.resizing().is_some()) {
            return self.visit_resizing(env, key, at, blueprint, slot);
        }
        let resolved = self.tree.resolve_definition(key, blueprint, at);
        if !self.tree.can_change_goal(slot, blueprint.type_at(at)) {
            // Since a restart its definition may have changed: then the operation does not lead to it.
            let target = op.and_then(|op| op.target.as_ref());
            let is_on_its_way = target
                .is_some_and(|target| resolved.is_ok_and(|resolved| target.equals(&resolved)));
            return match is_on_its_way {
                true => self.claim_or_park(key, slot, at),
                false => {
                    self.reached.hit(Transition::NodeParked);
                    self.park(key, slot, at);
                }
            };
        }
        let resolved = match resolved {
            Ok(resolved) => Arc::new(resolved),
            Err(failure) => return self.node_failed(env, key, Action::Update, *failure),
        };
        // A traversal that was begun without comparing objects has to begin again.
        let is_blind = self.tree.converges(key)
            && self.tree.resource(slot).child.is_some_and(|child| !self.tree.converges(child));
        let is_other =
            is_blind || self.tree.nested_stack_differs(slot, blueprint, blueprint.type_at(at));
        let requires = self.tree.requirements(key, blueprint, at);
        let origin = self.tree.origin(key, at);
        if let Some(type_name) = blueprint.type_at(at).name() {
            self.tree.set_type(slot, type_name);
        }
        let Some(op) = &mut self.tree.change(slot).op else {
            return self.unexpected(key, "a busy resource has no operation");
        };
        op.origin = origin;
        // Its nested stack uses what it was to need, and what it is to need now.
        let new = requires.into_iter().filter(|id| !op.requires.contains(id));
        let new: Vec<_> = new.collect();
        op.requires.extend(new);
        let is_on_its_way = op.target.as_ref().is_some_and(|it| it.equals(&resolved)) && !is_other;
        if is_on_its_way {
            return self.reached.hit(Transition::NestedAlreadyThere);
        }
        self.reached.hit(Transition::NestedGoalChanged);
        op.target = Some(resolved);
        // The part of it that exists has to be updated.
        op.kind = OperationKind::Update;
        op.work = Work::Nested(Stages::default());
        self.start_next_stage(env, slot);
    }

    /// A node's resource is a group that is being resized: an update of the group overtakes that, else the node waits.
    fn visit_resizing(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        at: usize,
        blueprint: &Blueprint,
        slot: Slot,
    ) {
        let resolved = self.tree.resolve_definition(key, blueprint, at);
        let definition = self.tree.resource(slot).definition.as_ref();
        let is_same = resolved.is_ok_and(|resolved| {
            definition.is_some_and(|definition| definition.equals(&resolved))
        }) && !self.tree.nested_stack_differs(slot, blueprint, blueprint.type_at(at));
        if is_same {
            self.reached.hit(Transition::NodeParked);
            return self.park(key, slot, at);
        }
        self.reached.hit(Transition::ResizeSuperseded);
        let Some(op) = self.take_operation(slot) else { return };
        if let Work::Resize(resizing) = &op.work {
            self.end_resize(env, slot, resizing, Some("Something else is done with the group"));
        }
        self.enqueue(key, &[at]);
    }
}

impl Tree {
    /// Whether the nested stack of a resource, which is being created or updated, can get a new goal at once.
    fn can_change_goal(&self, slot: Slot, resource_type: &ResolvedType) -> bool {
        let resource = self.resource(slot);
        keeps_object(resource, self.builtin_type(resource), resource_type)
            && resource.child.is_some_and(|child| self.traversal(child).is_some())
            && resource.op.as_ref().is_some_and(|op| {
                matches!(op.kind, OperationKind::Create | OperationKind::Update) && !op.is_stopping
            })
    }

    /// Whether a resource is a nested stack, or is about to be one.
    pub(crate) fn is_nested(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        resource.child.is_some() || self.is_nested_type(&resource.summary.type_name)
    }

    /// Whether resources of a type are nested stacks. A type that is not known is a template.
    pub(crate) fn is_nested_type(&self, type_name: &str) -> bool {
        let resource_type = self.config.types.get(type_name);
        resource_type.is_none_or(|resource_type| resource_type.behaviour.stages.is_some())
    }

    /// Whether the nested stack of a resource has another template, or shares other files, than it should.
    pub(crate) fn nested_stack_differs(
        &self,
        slot: Slot,
        parent_blueprint: &Blueprint,
        resource_type: &ResolvedType,
    ) -> bool {
        self.resource(slot)
            .child
            .is_none_or(|child| self.stack_differs(child, parent_blueprint, resource_type))
    }

    fn stack_differs(
        &self,
        child: StackKey,
        parent_blueprint: &Blueprint,
        resource_type: &ResolvedType,
    ) -> bool {
        let stack = self.stack(child);
        let is_other_template = match (resource_type, &stack.recipe.template) {
            (ResolvedType::Template(resource_type), Source::File(url, text)) => {
                *url != resource_type.url
                    || !Arc::ptr_eq(text, &resource_type.text) && *text != resource_type.text
            }
            (ResolvedType::Template(_), _) => true,
            _ => false,
        };
        let inner = stack.blueprint.as_ref();
        is_other_template
            || inner.is_none_or(|inner| !Arc::ptr_eq(&parent_blueprint.shared, &inner.shared))
    }

    /// Whether the objects of a nested stack outlive it.
    fn objects_of_nested(&self, slot: Slot) -> Objects {
        let resource = self.resource(slot);
        let is_retained = resource.definition.as_ref().is_some_and(|resolved| {
            resolved.deletion_policy == kiln_template::DeletionPolicy::Retain
        });
        match (is_retained, self.traversal(resource.stack)) {
            (true, _) => Objects::Keep,
            (false, Some(traversal)) => traversal.objects,
            (false, None) => Objects::Remove,
        }
    }

    /// A file that came with the stack.
    fn file(&self, slot: Slot, url: &str) -> Result<Arc<str>, Box<Failure>> {
        let resource = self.resource(slot);
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        let text = blueprint.and_then(|blueprint| blueprint.shared.files.get(url).cloned());
        text.ok_or_else(|| {
            let message = format!("Could not fetch remote template \"{url}\"");
            Box::new(Failure::new(FailureClass::ValueError, &resource.summary.name, message))
        })
    }

    // --- the recipe of the nested stack ---

    /// The traversal that a nested stack begins with: its objects are created, or adopted with those of its parent.
    fn first_traversal(&self, slot: Slot) -> TraversalSpec {
        let op = self.resource(slot).op.as_deref();
        if op.is_none_or(|op| op.action != Action::Adopt) {
            return TraversalSpec::new(Action::Create, None);
        }
        let spec = TraversalSpec::new(Action::Adopt, None);
        TraversalSpec { adopted: Some(self.adopted_inside(slot).unwrap_or_default()), ..spec }
    }

    /// The data of the objects that the nested stack of a resource adopts, or has adopted if that is rolled back; `None` if
    /// its parent adopts nothing.
    fn adopted_inside(&self, slot: Slot) -> Option<Arc<Members>> {
        self.stack(self.resource(slot).stack).traversal.as_ref()?.adopted.as_ref()?;
        match self.adopted_data(slot)?.get("resources") {
            Some(Value::Map(resources)) => Some(resources.clone()),
            _ => Some(Arc::default()),
        }
    }

    /// What the next stage of a nested stack is made of.
    fn stage(&self, env: &mut Env<'_>, slot: Slot) -> Result<NextStage, Box<Failure>> {
        let resource = self.resource(slot);
        let failed =
            |class, message: String| Box::new(Failure::new(class, &resource.summary.name, message));
        let target = resource.op.as_ref().and_then(|op| op.target.clone());
        let Some(target) = target.or_else(|| resource.definition.clone()) else {
            return Err(failed(FailureClass::Error, "there is nothing to make a stack of".into()));
        };
        let schema_of = |resource_type: &ResolvedType| resource_type.schema().cloned();
        let resource_type = self.type_in_parent(resource);
        let Some(schema) = resource_type.as_ref().and_then(schema_of) else {
            return Err(failed(
                FailureClass::ResourceTypeUnavailable,
                "its type is not known".into(),
            ));
        };
        let root = Path::Root.key("resources");
        let name = root.key(&resource.summary.name);
        let path = name.key("properties");
        let (properties, problems) =
            convert_properties(&schema, &target.properties, &offline(0), &path);
        if let Some(problem) = problems.into_iter().find(|problem| problem.is_error()) {
            return Err(failed(FailureClass::StackValidationFailed, problem.text()));
        }
        match resource_type {
            Some(ResolvedType::Template(resource_type)) => {
                let source = Source::File(resource_type.url.clone(), resource_type.text.clone());
                Ok(NextStage::only(source, target.properties.clone()))
            }
            Some(ResolvedType::Builtin(resource_type))
                if resource_type.behaviour.stages.is_some() =>
            {
                let (policy, _) =
                    convert_update_policy(&schema, &target.update_policy, &offline(0), &path);
                match self.group_stage(env, slot, &properties, &policy) {
                    Ok(stage) => self.next_stage(slot, stage),
                    Err(OpError::Failed(failure)) => {
                        Err(Box::new(Failure::of(&resource.summary.name, failure)))
                    }
                    Err(OpError::Replace) => {
                        Err(failed(FailureClass::Error, "a group cannot be replaced".into()))
                    }
                }
            }
            _ => Err(failed(FailureClass::Error, "its type makes no stack".into())),
        }
    }

    /// A stage that a type asks for, with the text of its file.
    fn next_stage(&self, slot: Slot, stage: Stage) -> Result<NextStage, Box<Failure>> {
        let source = match stage.file {
            Some(url) => {
                let text = self.file(slot, &url)?;
                Source::File(url, text)
            }
            None => Source::Made(stage.template),
        };
        Ok(NextStage {
            source,
            parameters: Arc::new(stage.parameters),
            aliases: stage.aliases,
            data: stage.data,
            is_last: stage.is_last,
            pause: stage.pause,
            timeout: stage.timeout,
        })
    }

    /// The type of a resource as its stack resolves it.
    fn type_in_parent(&self, resource: &Resource) -> Option<ResolvedType> {
        let blueprint = self.stack(resource.stack).blueprint.as_ref()?;
        let at = blueprint.definition.template.resources.get_index_of(&resource.summary.name)?;
        Some(blueprint.type_at(at).clone())
    }

    fn group_stage(
        &self,
        env: &mut Env<'_>,
        slot: Slot,
        properties: &Members,
        update_policy: &Members,
    ) -> Result<Stage, OpError> {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let Some(stages) = resource_type.and_then(|resource_type| resource_type.behaviour.stages)
        else {
            return Err(OpError::failed(FailureClass::Error, "its type makes no stack"));
        };
        let members = resource.child.map(|child| self.group_members(child)).unwrap_or_default();
        let reference = self.reference(slot);
        let reference = reference.as_text().cloned().unwrap_or_default();
        let siblings = self.scope(resource.stack);
        let stack = self.stack(resource.stack);
        let timeout = stack.traversal.as_ref().map(|traversal| traversal.deadline.since(env.now));
        let mut fresh = || ResourceId(env.ids.next()).short();
        let mut group = Group {
            name: &resource.summary.name,
            operation: resource.op.as_ref().map_or(OperationKind::Update, |op| op.kind),
            reference: &reference,
            properties,
            update_policy,
            data: &resource.data,
            members: &members,
            is_new: resource.child.is_none(),
            wanted_size: resource.op.as_ref().and_then(|op| op.resizing()).map(|it| it.size),
            max_size: self.largest_group(members.len()),
            siblings: &siblings,
            timeout: timeout.unwrap_or(self.config.action_timeout),
            new_id: &mut fresh,
        };
        guarded("stages", || stages(&mut group))
            .unwrap_or_else(|failure| Err(OpError::Failed(failure)))
    }

    /// The members of a group, with the failed ones: by creation, then by name.
    pub(crate) fn group_members(&self, child: StackKey) -> Vec<GroupMember> {
        let stack = self.stack(child);
        let Source::Made(template) = &stack.recipe.template else { return Vec::new() };
        let part = |value: &Value, name: &str| value.as_map().and_then(|it| it.get(name)).cloned();
        let definitions = part(template, "resources").or_else(|| part(template, "Resources"));
        let Some(Value::Map(definitions)) = definitions else { return Vec::new() };
        let mut members = Vec::new();
        for (name, definition) in definitions.iter() {
            let Some(slot) = self.current(child, name) else { continue };
            let resource = self.resource(slot);
            if resource.summary.state.action == Action::Init {
                continue;
            }
            let member = GroupMember {
                name: name.clone(),
                definition: definition.clone(),
                reference: self.reference(slot),
                is_failed: resource.summary.state.status == Status::Failed,
            };
            members.push(((resource.summary.created, name.clone()), member));
        }
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.into_iter().map(|(_, member)| member).collect()
    }
}

/// What the next stage of a nested stack is made of.
struct NextStage {
    source: Source,
    parameters: Arc<Members>,
    aliases: Vec<(Arc<str>, Arc<str>)>,
    /// What the parent resource keeps.
    data: Members,
    is_last: bool,
    pause: Duration,
    timeout: Option<Duration>,
}

impl NextStage {
    /// A stage that is the only one.
    fn only(source: Source, parameters: Arc<Members>) -> NextStage {
        NextStage {
            source,
            parameters,
            aliases: Vec::new(),
            data: Members::new(),
            is_last: true,
            pause: Duration::ZERO,
            timeout: None,
        }
    }
}
