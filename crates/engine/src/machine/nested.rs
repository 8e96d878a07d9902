//! Nested stacks: resources that are stacks of their own.
//!
//! Readers see a nested stack as a stack; the machine treats it as a part of its root's tree: the operation on
//! the parent resource begins its traversal, and the end of the traversal ends the operation.

use super::forward::Goal;
use super::traversal::StackFailure;
use crate::blueprint::{Blueprint, Recipe, ResolvedType, Source};
use crate::failure::Failure;
use crate::ids::{RecipeId, ResourceId, StackId};
use crate::state::{Action, State, Status};
use crate::tree::{Env, Pause, Resource, Slot, Stack, StackKey, Tree};
use indexmap::IndexMap;
use kiln_resources::behaviour::{Group, GroupMember, OperationKind, Stage};
use kiln_resources::constraints::offline;
use kiln_resources::guard::guarded;
use kiln_resources::op::{OpError, merge_data};
use kiln_template::path::Path;
use kiln_template::resolved::{convert_properties, convert_update_policy};
use kiln_template::value::{Members, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

impl Tree {
    /// Whether a resource is a nested stack, or is about to be one.
    pub(crate) fn is_nested(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        resource.child.is_some()
            || match self.config.types.get(&resource.type_name) {
                Some(resource_type) => resource_type.behaviour.stages.is_some(),
                None => true,
            }
    }

    /// Whether a nested stack may have to be updated although the definition of its parent resource is the same.
    pub(crate) fn must_update_nested(&self, resource: &Resource, goal: &Goal<'_>) -> bool {
        let Some(child) = resource.child else { return false };
        let Some(parent_blueprint) = &self.stack(resource.stack).blueprint else { return true };
        self.stack_differs(child, parent_blueprint, goal.resolved_type)
            || self.has_flaws(child)
            || self.converges(resource.stack)
    }

    /// Whether the nested stack of a resource has another template, or shares other files, than it should.
    fn nested_stack_differs(
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

    /// Whether something has failed, or waits for removal, in a stack or below it.
    fn has_flaws(&self, key: StackKey) -> bool {
        let stack = self.stack(key);
        // A traversal that is under way takes care of it.
        stack.traversal.is_none() && stack.state.status != Status::Complete
            || stack.state.action == Action::Delete
            || stack.resources.values().any(|slot| {
                let resource = self.resource(*slot);
                resource.state.status == Status::Failed
                    || stack.traversal.is_none() && !self.is_wanted(*slot)
                    || resource.child.is_some_and(|child| self.has_flaws(child))
            })
    }

    // --- from the parent resource to the nested stack ---

    /// Begins the traversal of the nested stack that the operation on its parent resource needs.
    pub(crate) fn dispatch_nested(&mut self, env: &mut Env<'_>, slot: Slot) {
        // The operation supersedes the resize that a policy has begun.
        self.finish_resize(env, slot, Some("Something else is done with the group"));
        let resource = self.resource(slot);
        let Some(op) = resource.op.as_deref() else { return };
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
                let keeps = self.keeps_objects(slot);
                self.begin_traversal(env, child, action, None);
                if let Some(traversal) = self.traversal_mut(child) {
                    traversal.keeps_objects = keeps;
                }
                self.enter_phase(env, child);
            }
        }
    }

    /// Whether the objects of a nested stack outlive it.
    fn keeps_objects(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let traversal = self.stack(resource.stack).traversal.as_ref();
        let is_retained = resource.definition.as_ref().is_some_and(|resolved| {
            resolved.deletion_policy == kiln_template::template::DeletionPolicy::Retain
        });
        is_retained || traversal.is_some_and(|traversal| traversal.keeps_objects)
    }

    /// Begins the next stage of a nested stack; most need only one.
    pub(crate) fn start_next_stage(&mut self, env: &mut Env<'_>, slot: Slot) {
        let stage = match self.stage(env, slot) {
            Ok(stage) => stage,
            Err(failure) => {
                // Without an operation a policy asked for the stage.
                self.finish_resize(env, slot, Some(&failure.to_string()));
                return self.finish_failed(env, slot, *failure, None);
            }
        };
        let (mut pause, mut timeout) = (Duration::ZERO, None);
        let (source, parameters, aliases, is_last) = match stage {
            Next::File(source, parameters) => (source, parameters, Vec::new(), true),
            Next::Stage(stage) => {
                let resource = self.change(slot);
                merge_data(Arc::make_mut(&mut resource.data), stage.data);
                pause = stage.pause;
                timeout = stage.timeout;
                let source = match stage.file {
                    Some(url) => match self.file(slot, &url) {
                        Ok(text) => Source::File(url, text),
                        Err(failure) => return self.finish_failed(env, slot, *failure, None),
                    },
                    None => Source::Made(stage.template),
                };
                (source, Arc::new(stage.parameters), stage.aliases, stage.is_last)
            }
        };
        if let Some(op) = &mut self.change(slot).op {
            op.stages += 1;
            op.is_last_stage = is_last;
            op.stage_pause = pause;
        }
        let recipe = Arc::new(Recipe {
            id: RecipeId(env.ids.next()),
            template: source,
            files: Arc::default(),
            environment: Arc::default(),
            parameters,
            aliases,
            // The creator of the root and the types that are forbidden hold for the whole tree.
            forbidden: Arc::default(),
            author: Arc::default(),
        });
        let child = match self.resource(slot).child {
            Some(child) => {
                self.stack_mut(child).timeout = timeout;
                let converges = self.converges(self.resource(slot).stack);
                self.begin_traversal(env, child, Action::Update, Some(recipe));
                if let Some(traversal) = self.traversal_mut(child) {
                    traversal.converges = converges;
                }
                child
            }
            None => match self.add_child(env, slot, recipe) {
                Ok(child) => {
                    let op = self.resource(slot).op.as_deref();
                    let is_adopted = op.is_some_and(|op| op.action == Action::Adopt);
                    let action = if is_adopted { Action::Adopt } else { Action::Create };
                    self.stack_mut(child).timeout = timeout;
                    self.begin_traversal(env, child, action, None);
                    if is_adopted {
                        self.pass_adopted_data(slot, child);
                    }
                    child
                }
                Err(failure) => return self.finish_failed(env, slot, *failure, None),
            },
        };
        match self.bind_template(child) {
            Ok(()) => self.enter_phase(env, child),
            Err(reason) => self.fail_traversal(env, child, StackFailure { reason, failure: None }),
        }
    }

    /// A file that came with the stack.
    fn file(&self, slot: Slot, url: &str) -> Result<Arc<str>, Box<Failure>> {
        let resource = self.resource(slot);
        let blueprint = self.stack(resource.stack).blueprint.as_ref();
        let text = blueprint.and_then(|blueprint| blueprint.shared.files.get(url).cloned());
        text.ok_or_else(|| {
            let message = format!("Could not fetch remote template \"{url}\"");
            Box::new(Failure::new("ValueError", &resource.name, message))
        })
    }

    /// Passes the data of the objects that a nested stack adopts on to it.
    fn pass_adopted_data(&mut self, slot: Slot, child: StackKey) {
        let known = self.adopted_data(slot).and_then(|it| match it.get("resources") {
            Some(Value::Map(resources)) => Some(resources.clone()),
            _ => None,
        });
        if let Some(traversal) = self.traversal_mut(child) {
            traversal.adopted = Some(known.unwrap_or_default());
        }
    }

    fn add_child(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        recipe: Arc<Recipe>,
    ) -> Result<StackKey, Box<Failure>> {
        let resource = self.resource(slot);
        let depth = self.stack(resource.stack).depth + 1;
        if depth > self.config.max_depth {
            let message = format!(
                "Request limit exceeded: Recursion depth exceeds {}.",
                self.config.max_depth
            );
            return Err(Box::new(Failure::new("RequestLimitExceeded", &resource.name, message)));
        }
        let (parent, id) = (resource.stack, StackId(env.ids.next()));
        let key = self.add_stack(Stack {
            id,
            name: self.physical_name(slot).into(),
            parent_resource: Some((parent, slot)),
            parent_resource_id: Some(self.resource(slot).id),
            depth,
            state: State::new(Action::Create, Status::InProgress),
            reason: "".into(),
            created: env.now,
            updated: None,
            deleted: None,
            tags: Vec::new(),
            timeout: None,
            is_rolled_back: false,
            recipe,
            previous: None,
            resources: BTreeMap::new(),
            by_name: IndexMap::new(),
            busy: 0,
            blueprint: None,
            traversal: None,
        });
        let resource = self.change(slot);
        resource.child = Some(key);
        resource.physical_id = Some(id.to_string().into());
        Ok(key)
    }

    // --- the recipe of the nested stack ---

    fn stage(&self, env: &mut Env<'_>, slot: Slot) -> Result<Next, Box<Failure>> {
        let resource = self.resource(slot);
        let failed =
            |class: &str, message: String| Box::new(Failure::new(class, &resource.name, message));
        let target = resource.op.as_ref().and_then(|op| op.target.clone());
        let Some(target) = target.or_else(|| resource.definition.clone()) else {
            return Err(failed("Error", "there is nothing to make a stack of".into()));
        };
        let schema_of = |resource_type: &ResolvedType| resource_type.schema().cloned();
        let resource_type = self.type_in_parent(resource);
        let Some(schema) = resource_type.as_ref().and_then(schema_of) else {
            return Err(failed("ResourceTypeUnavailable", "its type is not known".into()));
        };
        let root = Path::Root.key("resources");
        let name = root.key(&resource.name);
        let path = name.key("properties");
        let (properties, problems) =
            convert_properties(&schema, &target.properties, &offline(0), &path);
        if let Some(problem) = problems.into_iter().find(|problem| problem.is_error()) {
            return Err(failed("StackValidationFailed", problem.text()));
        }
        match resource_type {
            Some(ResolvedType::Template(resource_type)) => {
                let source = Source::File(resource_type.url.clone(), resource_type.text.clone());
                Ok(Next::File(source, target.properties.clone()))
            }
            Some(ResolvedType::Builtin(resource_type))
                if resource_type.behaviour.stages.is_some() =>
            {
                let (policy, _) =
                    convert_update_policy(&schema, &target.update_policy, &offline(0), &path);
                let stage = self.group_stage(env, slot, &properties, &policy);
                stage.map(Next::Stage).map_err(|stop| match stop {
                    OpError::Failed(failure) => Box::new(Failure::of(&resource.name, failure)),
                    OpError::Replace => failed("Error", "a group cannot be replaced".into()),
                })
            }
            _ => Err(failed("Error", "its type makes no stack".into())),
        }
    }

    /// The type of a resource as its stack resolves it.
    fn type_in_parent(&self, resource: &Resource) -> Option<ResolvedType> {
        let blueprint = self.stack(resource.stack).blueprint.as_ref()?;
        let at = blueprint.definition.template.resources.get_index_of(&resource.name)?;
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
        let resource_type = self.config.types.get(&resource.type_name);
        let Some(stages) = resource_type.and_then(|resource_type| resource_type.behaviour.stages)
        else {
            return Err(OpError::failed("Error", "its type makes no stack"));
        };
        let members = resource.child.map(|child| self.group_members(child)).unwrap_or_default();
        let reference = self.reference(slot);
        let reference = reference.as_text().cloned().unwrap_or_default();
        let siblings = self.scope(resource.stack);
        let stack = self.stack(resource.stack);
        let timeout = stack.traversal.as_ref().map(|traversal| traversal.deadline.since(env.now));
        let mut fresh = || ResourceId(env.ids.next()).short();
        let mut group = Group {
            name: &resource.name,
            operation: resource.op.as_ref().map_or(OperationKind::Update, |op| op.kind),
            reference: &reference,
            properties,
            update_policy,
            data: &resource.data,
            members: &members,
            is_new: resource.child.is_none(),
            wanted_size: resource.wanted_size,
            max_size: self.config.max_resources.unwrap_or(usize::MAX),
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
            if resource.state.action == Action::Init {
                continue;
            }
            let member = GroupMember {
                name: name.clone(),
                definition: definition.clone(),
                reference: self.reference(slot),
                is_failed: resource.state.status == Status::Failed,
            };
            members.push(((resource.created, name.clone()), member));
        }
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.into_iter().map(|(_, member)| member).collect()
    }

    // --- from the nested stack to the parent resource ---

    /// The traversal of a nested stack is over: so is the operation that began it, or a stage of that.
    pub(crate) fn nested_traversal_ended(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        result: Result<(), StackFailure>,
    ) {
        let stack = self.stack(key);
        let Some((_, parent_resource)) = stack.parent_resource else { return };
        let is_gone = stack.deleted.is_some();
        if is_gone {
            let resource = self.change(parent_resource);
            resource.child = None;
            self.changes.gone_stacks.push(key);
        }
        let Some(op) = self.resource(parent_resource).op.as_deref() else {
            return self.nested_ended_without_operation(env, key, parent_resource, result);
        };
        let is_last =
            op.is_last_stage || !matches!(op.kind, OperationKind::Create | OperationKind::Update);
        match result {
            Ok(()) if is_last => self.finish_immediately(parent_resource),
            Ok(()) => self.wait_for_stage(env, parent_resource),
            Err(ending) => {
                let name = self.resource(parent_resource).name.clone();
                let failure = match ending.failure {
                    Some(failure) => failure.inside(&name),
                    None => Failure::new("Error", &name, ending.reason),
                };
                self.finish_failed(env, parent_resource, failure, None);
            }
        }
    }

    /// Between two stages there may be a pause.
    fn wait_for_stage(&mut self, env: &mut Env<'_>, slot: Slot) {
        let pause = self.resource(slot).op.as_ref().map(|op| op.stage_pause).unwrap_or_default();
        if pause.is_zero() {
            return self.start_next_stage(env, slot);
        }
        let until = env.now + pause;
        self.pause(slot, Pause::Stage(until), until);
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
        let resource = self.resource(slot);
        let is_inside = resource.child.is_some_and(|child| self.stack(child).traversal.is_some())
            && resource.op.as_ref().is_some_and(|op| {
                matches!(op.kind, OperationKind::Create | OperationKind::Update) && !op.is_stopping
            });
        let is_same_kind = match blueprint.type_at(at) {
            ResolvedType::Builtin(resource_type) => resource_type.name() == &*resource.type_name,
            ResolvedType::Template(_) => self.config.types.get(&resource.type_name).is_none(),
            ResolvedType::Unknown(_) => false,
        };
        if !is_inside || !is_same_kind {
            // Since a restart its definition may have changed: then the operation does not lead to it.
            let target = resource.op.as_deref().and_then(|op| op.target.as_ref());
            let is_on_its_way = target.is_some_and(|target| {
                self.resolve_definition(key, blueprint, at)
                    .is_ok_and(|resolved| target.equals(&resolved))
            });
            return match is_on_its_way {
                true => self.claim_or_park(key, slot, at),
                false => self.park(key, slot, at),
            };
        }
        let resolved = match self.resolve_definition(key, blueprint, at) {
            Ok(resolved) => Arc::new(resolved),
            Err(failure) => return self.node_failed(env, key, Action::Update, *failure),
        };
        let number =
            self.stack(key).traversal.as_ref().map_or(0, |traversal| traversal.traversal_id);
        let is_inside_other = self.nested_stack_differs(slot, blueprint, blueprint.type_at(at));
        // A traversal that was begun without comparing objects has to begin again.
        let is_blind = self.converges(key)
            && self.resource(slot).child.is_some_and(|child| !self.converges(child));
        let is_other = is_inside_other || is_blind;
        let requires = self.requirements(key, blueprint, at);
        let Some(op) = &mut self.change(slot).op else { return };
        op.origin = Some((number, at));
        // It leans on what it was to need, and on what it is to need now.
        let new = requires.into_iter().filter(|id| !op.requires.contains(id));
        let new: Vec<_> = new.collect();
        op.requires.extend(new);
        let is_on_its_way = op.target.as_ref().is_some_and(|it| it.equals(&resolved)) && !is_other;
        if !is_on_its_way {
            op.target = Some(resolved);
            op.stages = 0;
            // The part of it that exists has to be updated.
            op.kind = OperationKind::Update;
            self.start_next_stage(env, slot);
        }
    }

    /// Fails a stack's traversal, and stops all of its operations.
    pub(crate) fn cancel_traversal(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(traversal) = self.traversal_mut(key) else { return };
        traversal.must_not_roll_back = true;
        let reason = format!("Stack {} cancelled", traversal.action);
        self.fail_traversal(env, key, StackFailure { reason, failure: None });
        self.stop_all(env, key);
    }
}

/// The recipe of the next stage of a nested stack.
enum Next {
    File(Source, Arc<Members>),
    Stage(Stage),
}
