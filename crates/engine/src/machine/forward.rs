//! The forward phase: each resource of the template is brought to its definition, after its dependencies.

use super::Phase;
use super::traversal::StackFailure;
use crate::blueprint::{Blueprint, ResolvedType};
use crate::decide::{Case, Decision, decide};
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::state::{Action, State, Status};
use crate::tree::{Env, Resource, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_template::environment::{self, Hook};
use kiln_template::eval::Scope;
use kiln_template::graph::Graph;
use kiln_template::resolved::ResolvedDefinition;
use std::sync::Arc;

impl Tree {
    pub(crate) fn start_forward(&mut self, env: &mut Env<'_>, key: StackKey) {
        if let Some(traversal) = self.traversal_mut(key) {
            traversal.phase = Phase::Forward;
        }
        let Some(blueprint) = self.stack(key).blueprint.clone() else {
            return self.schedule_graph(key, &Graph::default(), &[]);
        };
        if let Err(ending) = self.check_resource_count(key, &blueprint) {
            return self.fail_traversal(env, key, ending);
        }
        let definition = &blueprint.definition;
        let graph = definition.graph();
        let nodes: Vec<bool> = (0..graph.len()).map(|at| definition.is_enabled(at)).collect();
        let new = graph.len().saturating_sub(self.stack(key).by_name.len());
        self.reserve_resources(new);
        self.schedule_graph(key, graph, &nodes);
    }

    /// Fails if the tree would have more resources than the operator allows.
    fn check_resource_count(
        &self,
        key: StackKey,
        blueprint: &Blueprint,
    ) -> Result<(), StackFailure> {
        let Some(limit) = self.config.max_resources else { return Ok(()) };
        let stack = self.stack(key);
        let new = blueprint
            .definition
            .resources()
            .filter(|(_, resource)| !stack.by_name.contains_key(&resource.name))
            .count();
        if self.resource_count + new <= limit || new == 0 {
            return Ok(());
        }
        let reason = kiln_resources::behaviour::TOO_MANY.to_owned();
        Err(StackFailure { reason, failure: None })
    }

    pub(crate) fn visit_forward(&mut self, env: &mut Env<'_>, key: StackKey, at: usize) {
        let stack = self.stack(key);
        let (Some(blueprint), Some(traversal)) = (stack.blueprint.clone(), &stack.traversal) else {
            return;
        };
        if traversal.failure.is_some() {
            return;
        }
        let action = traversal.action;
        let Some(resource) = blueprint.definition.resource_at(at) else { return };
        let name = &resource.name;
        let candidates = stack.by_name.get(name).cloned().unwrap_or_default();
        let busy = candidates.iter().copied().find(|slot| self.resource(*slot).op.is_some());
        if let Some(slot) = busy {
            return self.visit_busy(env, key, at, &blueprint, slot);
        }
        let resolved = match self.resolve_definition(key, &blueprint, at) {
            Ok(resolved) => Arc::new(resolved),
            Err(failure) => return self.node_failed(env, key, action, *failure),
        };
        let resource_type = blueprint.type_at(at);
        if let ResolvedType::Unknown(why) = resource_type {
            let failure = Failure::new("ResourceTypeUnavailable", name, &**why);
            return self.node_failed(env, key, action, failure);
        }
        let goal = Goal {
            at,
            resolved_type: resource_type,
            definition: resolved,
            requires: self.requirements(key, &blueprint, at),
        };
        match self.choose(&blueprint, &goal, &candidates) {
            None => {
                let slot = self.new_resource(env, key, &goal, name, None);
                self.create_resource(env, slot, goal);
            }
            Some((slot, _)) if self.resource(slot).state.action == Action::Init => {
                self.create_resource(env, slot, goal);
            }
            Some((slot, decision)) if self.must_observe(slot, &decision) => {
                self.observe(env, slot, at);
            }
            Some((slot, decision)) => {
                let is_back = self.promote(slot) && comes_back(goal.resolved_type);
                if self.may_be_updated(slot, &goal)
                    && self.pauses_at_hook(env, slot, Hook::PreUpdate, Action::Update)
                {
                    return self.park(key, slot, at);
                }
                let decision = match decision {
                    Decision::Keep | Decision::MarkComplete if is_back => {
                        Decision::Update(Vec::new())
                    }
                    decision => decision,
                };
                self.apply_decision(env, slot, goal, decision);
            }
        }
    }

    /// The definition of a resource with all functions resolved.
    pub(crate) fn resolve_definition(
        &self,
        key: StackKey,
        blueprint: &Blueprint,
        at: usize,
    ) -> Result<ResolvedDefinition, Box<Failure>> {
        let world = self.scope(key);
        let scope = Scope::new(&blueprint.definition, &world);
        let Some(resource) = blueprint.definition.resource_at(at) else {
            return Err(Box::new(Failure::new("NotFound", "", "the resource is not there")));
        };
        blueprint.type_at(at).resolve_definition(&scope, resource).map_err(|unfrozen| {
            let message = format!("{}: {}", unfrozen.path, unfrozen.fault.message);
            Box::new(Failure::new(unfrozen.fault.code.kind, &resource.name, message))
        })
    }

    /// The ids of the resources that a resource depends on.
    pub(crate) fn requirements(
        &self,
        key: StackKey,
        blueprint: &Blueprint,
        at: usize,
    ) -> Vec<ResourceId> {
        let definition = &blueprint.definition;
        let needs = definition.graph().dependencies(at).iter();
        needs
            .filter_map(|edge| {
                let name = &definition.resource_at(edge.to)?.name;
                Some(self.resource(self.current(key, name)?).id)
            })
            .collect()
    }

    /// Of the resources of a name, the one that is closest to the definition: one that can stay as it is comes
    /// before one that must be updated, and that before one that must be replaced.
    fn choose(
        &self,
        blueprint: &Blueprint,
        goal: &Goal<'_>,
        candidates: &[Slot],
    ) -> Option<(Slot, Decision)> {
        let cost = |decision: &Decision| match decision {
            Decision::Keep | Decision::MarkComplete => 0,
            Decision::Update(_) => 1,
            _ => 2,
        };
        let decided =
            candidates.iter().rev().map(|slot| (*slot, self.decision(blueprint, goal, *slot)));
        decided.min_by_key(|(_, decision)| cost(decision))
    }

    pub(crate) fn decision(&self, blueprint: &Blueprint, goal: &Goal<'_>, slot: Slot) -> Decision {
        let resource = self.resource(slot);
        let Some(before) = &resource.definition else {
            return Decision::Replace { is_announced: false };
        };
        decide(&Case {
            resource,
            before,
            after: &goal.definition,
            resolved_type: goal.resolved_type,
            type_name: goal.type_name(),
            restricted: blueprint.registry.restricted_actions(&resource.name),
            is_nested_check_failed: resource
                .child
                .is_some_and(|child| self.stack(child).state.is(Action::Check, Status::Failed)),
            must_update_nested: self.must_update_nested(resource, goal),
            observed: self.observed.get(&resource.id),
        })
    }

    /// Whether hooks before an update apply to a resource: not if its type changes, nor to external objects.
    fn may_be_updated(&self, slot: Slot, goal: &Goal<'_>) -> bool {
        let resource = self.resource(slot);
        let traversal = self.stack(resource.stack).traversal.as_ref();
        let is_update = traversal.is_some_and(|traversal| {
            matches!(traversal.action, Action::Update | Action::Rollback | Action::Restore)
        });
        is_update
            && &*resource.type_name == goal.type_name()
            && goal.definition.external_id.is_none()
    }

    /// Adds the record of a resource that has no object yet.
    fn new_resource(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        goal: &Goal<'_>,
        name: &Arc<str>,
        replaces: Option<ResourceId>,
    ) -> Slot {
        self.add_resource(Resource {
            id: ResourceId(env.ids.next_in_order(env.now, self.next_number)),
            stack: key,
            number: 0,
            name: name.clone(),
            type_name: goal.type_name().into(),
            state: State::new(Action::Init, Status::Complete),
            reason: "".into(),
            physical_id: None,
            created: env.now,
            updated: env.now,
            definition: None,
            data: Arc::default(),
            metadata: Default::default(),
            remote: Default::default(),
            requires: Vec::new(),
            replaces,
            replaced_by: None,
            copy_of: None,
            child: None,
            is_doubtful: false,
            is_half_done: false,
            wanted_size: None,
            cooldown: None,
            hook: None,
            cleared: Vec::new(),
            op: None,
        })
    }

    /// Creates, adopts or checks the object of a resource that is only a record so far.
    fn create_resource(&mut self, env: &mut Env<'_>, slot: Slot, goal: Goal<'_>) {
        let key = self.resource(slot).stack;
        let Some(traversal) = &self.stack(key).traversal else { return };
        let action = traversal.action;
        if action == Action::Create
            && self.pauses_at_hook(env, slot, Hook::PreCreate, Action::Create)
        {
            return self.park(key, slot, goal.at);
        }
        let type_name: Arc<str> = goal.type_name().into();
        self.change(slot).type_name = type_name;
        let (kind, action) = match (&goal.definition.external_id, action) {
            (Some(_), _) => (OperationKind::Check, Action::Adopt),
            (None, Action::Adopt) if goal.resolved_type.is_nested() => {
                (OperationKind::Create, Action::Adopt)
            }
            (None, Action::Adopt) => (OperationKind::Check, Action::Adopt),
            _ => (OperationKind::Create, Action::Create),
        };
        self.start_towards(env, slot, kind, action, goal);
    }

    fn apply_decision(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        goal: Goal<'_>,
        decision: Decision,
    ) {
        let key = self.resource(slot).stack;
        let name = self.resource(slot).name.clone();
        match decision {
            Decision::Keep if self.is_at_post_hook(slot) => self.park(key, slot, goal.at),
            Decision::Keep => {
                // A nested stack that has yet to clean up may still need its former dependencies.
                let is_other = self.resource(slot).requires != goal.requires;
                if is_other && !self.has_deferred_cleanup(slot) {
                    self.change(slot).requires = goal.requires;
                }
                self.node_done(key, goal.at);
            }
            Decision::MarkComplete => {
                let state = State::new(self.resource(slot).state.action, Status::Complete);
                let reason =
                    "Update status to COMPLETE for FAILED resource neither update nor replace.";
                self.set_state(env, slot, state, reason);
                self.node_done(key, goal.at);
            }
            Decision::Update(_) => {
                self.start_towards(env, slot, OperationKind::Update, Action::Update, goal);
            }
            Decision::Replace { is_announced } => {
                if is_announced {
                    let in_progress = State::new(Action::Update, Status::InProgress);
                    self.set_state(env, slot, in_progress, "state changed");
                    self.announce_replacement(env, slot);
                }
                self.replace(env, slot, goal);
            }
            Decision::Reject(class, message) => {
                let in_progress = State::new(Action::Update, Status::InProgress);
                self.set_state(env, slot, in_progress, "state changed");
                let failure = Failure::new(class, &name, message);
                let failed = State::new(Action::Update, Status::Failed);
                self.set_state(env, slot, failed, &failure.to_string());
                self.node_failed(env, key, Action::Update, failure);
            }
            Decision::Restricted(what) => {
                let word = match what {
                    environment::Action::Update => "update",
                    environment::Action::Replace => "replace",
                };
                let reason = format!("{word} is restricted for resource.");
                let failed = State::new(Action::Update, Status::Failed);
                self.resource_event(env, slot, failed, &reason);
                let failure = Failure::new("ResourceActionRestricted", &name, reason);
                self.node_failed(env, key, Action::Update, failure);
            }
        }
    }

    /// Records that a resource cannot be updated and will be replaced.
    pub(crate) fn announce_replacement(&mut self, env: &mut Env<'_>, slot: Slot) {
        let reason = format!("The Resource {} requires replacement.", self.resource(slot).name);
        self.set_state(env, slot, State::new(Action::Update, Status::Complete), &reason);
    }

    /// Adds a replacement for a resource, and creates its object.
    pub(crate) fn replace(&mut self, env: &mut Env<'_>, slot: Slot, goal: Goal<'_>) {
        let old = self.resource(slot);
        let (key, name, id) = (old.stack, old.name.clone(), old.id);
        let new = self.new_resource(env, key, &goal, &name, Some(id));
        let new_id = self.resource(new).id;
        self.change(slot).replaced_by = Some(new_id);
        self.put_last(new);
        self.create_resource(env, new, goal);
    }

    /// Makes a resource the current one of its name: a rollback goes back to what was replaced. Returns
    /// whether another one was current.
    fn promote(&mut self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let (key, name, id) = (resource.stack, resource.name.clone(), resource.id);
        let Some(current) = self.current(key, &name).filter(|current| *current != slot) else {
            return false;
        };
        let current_id = self.resource(current).id;
        let revived = self.change(slot);
        revived.replaced_by = None;
        revived.replaces = Some(current_id);
        let given_up = self.change(current);
        given_up.replaced_by = Some(id);
        given_up.replaces = given_up.replaces.filter(|other| *other != id);
        self.put_last(slot);
        true
    }

    fn put_last(&mut self, slot: Slot) {
        let resource = self.resource(slot);
        let (key, name) = (resource.stack, resource.name.clone());
        if let Some(slots) = self.stack_mut(key).by_name.get_mut(&name) {
            slots.retain(|other| *other != slot);
            slots.push(slot);
        }
    }
}

/// Whether objects of a type have to be restored after they were replaced.
fn comes_back(resource_type: &ResolvedType) -> bool {
    resource_type
        .builtin()
        .is_some_and(|resource_type| resource_type.behaviour.restored_on_rollback)
}

/// What a resource is to be brought to.
pub(crate) struct Goal<'b> {
    /// Its position in the template.
    pub(crate) at: usize,
    /// Its type.
    pub(crate) resolved_type: &'b ResolvedType,
    /// Its definition.
    pub(crate) definition: Arc<ResolvedDefinition>,
    /// The resources that it will depend on.
    pub(crate) requires: Vec<ResourceId>,
}

impl Goal<'_> {
    /// The name of the type: of a built-in one, or as written.
    pub(crate) fn type_name(&self) -> &str {
        match self.resolved_type {
            ResolvedType::Builtin(resource_type) => resource_type.name(),
            ResolvedType::Template(resource_type) => &resource_type.label,
            ResolvedType::Unknown(_) => &self.definition.type_name,
        }
    }
}
