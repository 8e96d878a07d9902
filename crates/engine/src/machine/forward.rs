//! The forward phase: each resource of the template is brought to its definition, after its dependencies.

use super::Machine;
use super::reached::Transition;
use super::traversal::StackFailure;
use crate::blueprint::{Blueprint, ResolvedType};
use crate::decide::{Announcement, Case, Decision, decide, keeps_object};
use crate::failure::Failure;
use crate::ids::ResourceId;
use crate::preview::Act;
use crate::state::{Action, State, Status};
use crate::summary::ResourceSummary;
use crate::tree::{Env, Resource, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::FailureClass;
use kiln_template::environment::{self, Hook};
use kiln_template::{Graph, ResolvedDefinition, Scope};
use std::sync::Arc;

impl Machine {
    /// Begins the forward phase of a stack.
    pub(crate) fn start_forward(&mut self, env: &mut Env<'_>, key: StackKey) {
        let Some(blueprint) = self.tree.stack(key).blueprint.clone() else {
            return self.schedule_positions(key, &Graph::default(), &[]);
        };
        let new = self.tree.new_names(key, &blueprint);
        if !self.tree.may_add(key, &blueprint, new) {
            self.reached.hit(Transition::TooManyResources);
            let failure = StackFailure::new(kiln_resources::behaviour::TOO_MANY);
            return self.fail_traversal(env, key, failure);
        }
        self.announce_resources(key, new);
        let definition = &blueprint.definition;
        let graph = definition.graph();
        let wanted: Vec<bool> = (0..graph.len()).map(|at| definition.is_enabled(at)).collect();
        self.tree.reserve_resources(new);
        self.schedule_positions(key, graph, &wanted);
    }

    /// Visits a resource of the template: it is brought to its definition.
    pub(crate) fn visit_forward(&mut self, env: &mut Env<'_>, key: StackKey, at: usize) {
        let stack = self.tree.stack(key);
        let (Some(blueprint), Some(traversal)) = (stack.blueprint.clone(), &stack.traversal) else {
            return self.unexpected(key, "a resource of no template is visited");
        };
        if traversal.failure.is_some() {
            return;
        }
        let action = traversal.action;
        let Some(resource) = blueprint.definition.resource_at(at) else {
            return self.unexpected(key, "the template has no resource at a node");
        };
        let name = &resource.name;
        let candidates = stack.by_name.get(name).cloned().unwrap_or_default();
        let busy = candidates.iter().copied().find(|slot| self.tree.resource(*slot).op.is_some());
        if let Some(slot) = busy {
            return self.visit_busy(env, key, at, &blueprint, slot);
        }
        let resolved = match self.tree.resolve_definition(key, &blueprint, at) {
            Ok(resolved) => Arc::new(resolved),
            Err(failure) => {
                self.reached.hit(Transition::DefinitionUnresolved);
                return self.node_failed(env, key, action, *failure);
            }
        };
        let resource_type = blueprint.type_at(at);
        if let ResolvedType::Unknown(why) = resource_type {
            let failure = Failure::new(FailureClass::ResourceTypeUnavailable, name, &**why);
            return self.node_failed(env, key, action, failure);
        }
        let goal = Goal {
            at,
            resolved_type: resource_type,
            definition: resolved,
            requires: self.tree.requirements(key, &blueprint, at),
        };
        match self.tree.choose(&blueprint, &goal, &candidates) {
            found
                if found.as_ref().is_none_or(|(slot, _)| {
                    self.tree.resource(*slot).summary.state.action == Action::Init
                }) && self.leaves_plan(env, (key, name), Act::Create, None) => {}
            None => {
                self.reached.hit(Transition::ResourceAdded);
                let slot = self.new_resource(env, key, &goal, name);
                self.made_announced_resource(key);
                self.create_resource(env, slot, goal);
            }
            Some((slot, _)) if self.tree.resource(slot).summary.state.action == Action::Init => {
                self.create_resource(env, slot, goal);
            }
            Some((slot, decision)) if self.tree.must_observe(slot, &decision) => {
                self.observe(env, slot, at);
            }
            Some((slot, decision)) => {
                let is_revived = self.tree.promote(slot);
                if is_revived {
                    self.reached.hit(Transition::ResourceRevived);
                }
                let is_back = is_revived && comes_back(goal.resolved_type);
                if self.tree.may_be_updated(slot, &goal)
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

    /// Announces the resources that a traversal is going to add, so that no other traversal takes their place.
    fn announce_resources(&mut self, key: StackKey, new: usize) {
        let Some(traversal) = self.traversal_mut(key) else {
            return self.unexpected(key, "resources are announced without a traversal");
        };
        let former = std::mem::replace(&mut traversal.announced, new);
        self.tree.announced = self.tree.announced - former + new;
    }

    /// A resource that was announced is there.
    fn made_announced_resource(&mut self, key: StackKey) {
        if let Some(traversal) = self.traversal_mut(key)
            && traversal.announced > 0
        {
            traversal.announced -= 1;
            self.tree.announced -= 1;
        }
    }

    /// Adds the record of a resource that has no object yet.
    fn new_resource(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        goal: &Goal<'_>,
        name: &Arc<str>,
    ) -> Slot {
        let id = ResourceId(env.ids.next_in_order(env.now, self.tree.next_number));
        let id = self.tree.config.site_mark.stamp(id);
        let state = State::new(Action::Init, Status::Complete);
        let type_name = goal.type_name().into();
        let summary = ResourceSummary::new(name.clone(), type_name, state, env.now);
        self.tree.add_resource(Resource::new(id, key, summary))
    }

    /// Creates, adopts or checks the object of a resource that is only a record so far.
    fn create_resource(&mut self, env: &mut Env<'_>, slot: Slot, goal: Goal<'_>) {
        let key = self.tree.resource(slot).stack;
        let Some(traversal) = &self.tree.stack(key).traversal else {
            return self.unexpected(key, "a resource is created without a traversal");
        };
        let action = traversal.action;
        if action == Action::Create
            && self.pauses_at_hook(env, slot, Hook::PreCreate, Action::Create)
        {
            return self.park(key, slot, goal.at);
        }
        self.tree.set_type(slot, goal.type_name());
        let (kind, action) = match (&goal.definition.external_id, action) {
            (Some(_), _) => (OperationKind::Check, Action::Adopt),
            (None, Action::Adopt)
                if goal.resolved_type.is_created_on_adopt()
                    && self.tree.opened_data(slot).is_none() =>
            {
                (OperationKind::Create, Action::Adopt)
            }
            (None, Action::Adopt) => (OperationKind::Check, Action::Adopt),
            _ => (OperationKind::Create, Action::Create),
        };
        self.start_towards(env, slot, kind, action, goal);
    }

    /// Applies a decision to a resource. Every replacement begins here.
    pub(crate) fn apply_decision(
        &mut self,
        env: &mut Env<'_>,
        slot: Slot,
        goal: Goal<'_>,
        decision: Decision,
    ) {
        let key = self.tree.resource(slot).stack;
        let name = self.tree.resource(slot).summary.name.clone();
        let act = match &decision {
            // An update goes into every nested stack, whose resources are looked at one by one.
            Decision::Update(_) if !goal.resolved_type.is_nested() => Some(Act::Update),
            Decision::Replace(_) => Some(Act::Replace),
            _ => None,
        };
        if act.is_some_and(|act| self.leaves_plan(env, (key, &name), act, Some((slot, &goal)))) {
            return;
        }
        match decision {
            Decision::Keep if self.tree.is_at_post_hook(slot) => self.park(key, slot, goal.at),
            Decision::Keep => {
                self.reached.hit(Transition::ResourceKept);
                // A nested stack that has yet to clean up may still need its former dependencies.
                self.tree.forget_half_done(slot);
                let is_other = self.tree.resource(slot).requires != goal.requires;
                if is_other && !self.tree.has_deferred_cleanup(slot) {
                    self.tree.change(slot).requires = goal.requires;
                }
                self.node_done(key, goal.at);
            }
            Decision::MarkComplete => {
                self.reached.hit(Transition::ResourceMarkedComplete);
                self.tree.forget_half_done(slot);
                let state =
                    State::new(self.tree.resource(slot).summary.state.action, Status::Complete);
                let reason =
                    "Update status to COMPLETE for FAILED resource neither update nor replace.";
                self.tree.set_state(env, slot, state, reason);
                self.node_done(key, goal.at);
            }
            Decision::Update(_) => {
                self.reached.hit(Transition::ResourceUpdated);
                // The type may have another name, or be the successor of the former one.
                self.tree.set_type(slot, goal.type_name());
                self.start_towards(env, slot, OperationKind::Update, Action::Update, goal);
            }
            Decision::Replace(_) if !self.tree.may_be_replaced(slot, &goal.definition) => {
                self.reached.hit(Transition::TooManyResources);
                let class = FailureClass::RequestLimitExceeded;
                let failure = Failure::new(class, &name, kiln_resources::behaviour::TOO_MANY);
                let failed = State::new(Action::Update, Status::Failed);
                self.tree.set_state(env, slot, failed, &failure.to_string());
                self.node_failed(env, key, Action::Update, failure);
            }
            Decision::Replace(announcement) => {
                self.reached.hit(Transition::ResourceReplaced);
                let in_progress = State::new(Action::Update, Status::InProgress);
                match announcement {
                    Announcement::Silent => {}
                    Announcement::Update => {
                        self.tree.set_state(env, slot, in_progress, "state changed");
                        self.announce_replacement(env, slot);
                    }
                    // The state stays: the object must not be taken for a healthy one later.
                    Announcement::Because(why) => {
                        let reason = format!("{}: {why}", replacement_reason(&name));
                        self.tree.resource_event(env, slot, in_progress, &reason);
                    }
                }
                self.replace(env, slot, goal);
            }
            Decision::Reject(class, message) => {
                self.reached.hit(Transition::ResourceRejected);
                let in_progress = State::new(Action::Update, Status::InProgress);
                self.tree.set_state(env, slot, in_progress, "state changed");
                let failure = Failure::new(class, &name, message);
                let failed = State::new(Action::Update, Status::Failed);
                self.tree.set_state(env, slot, failed, &failure.to_string());
                self.node_failed(env, key, Action::Update, failure);
            }
            Decision::Restricted(what) => {
                self.reached.hit(Transition::ResourceRestricted);
                let word = match what {
                    environment::Action::Update => "update",
                    environment::Action::Replace => "replace",
                };
                let reason = format!("{word} is restricted for resource.");
                let failed = State::new(Action::Update, Status::Failed);
                self.tree.resource_event(env, slot, failed, &reason);
                let failure = Failure::new(FailureClass::ResourceActionRestricted, &name, reason);
                self.node_failed(env, key, Action::Update, failure);
            }
        }
    }

    /// Records that a resource cannot be updated and will be replaced.
    pub(crate) fn announce_replacement(&mut self, env: &mut Env<'_>, slot: Slot) {
        let reason = format!("{}.", replacement_reason(&self.tree.resource(slot).summary.name));
        self.tree.set_state(env, slot, State::new(Action::Update, Status::Complete), &reason);
    }

    /// Adds a replacement for a resource, and creates its object.
    fn replace(&mut self, env: &mut Env<'_>, slot: Slot, goal: Goal<'_>) {
        let old = self.tree.resource(slot);
        let (key, name) = (old.stack, old.summary.name.clone());
        let new = self.new_resource(env, key, &goal, &name);
        self.tree.set_replacement(slot, new);
        self.create_resource(env, new, goal);
    }
}

impl Tree {
    /// The built-in type that a resource is of; `None` if that is a template.
    pub(crate) fn builtin_type(&self, resource: &Resource) -> Option<&'static ResourceType> {
        self.config.types.get(&resource.summary.type_name)
    }

    /// Sets the type that a resource is of.
    pub(crate) fn set_type(&mut self, slot: Slot, type_name: &str) {
        if &*self.resource(slot).summary.type_name != type_name {
            self.change(slot).summary.type_name = type_name.into();
        }
    }

    /// How many resources of a template the stack does not have.
    fn new_names(&self, key: StackKey, blueprint: &Blueprint) -> usize {
        let by_name = &self.stack(key).by_name;
        let resources = blueprint.definition.resources();
        resources.filter(|(_, resource)| !by_name.contains_key(&resource.name)).count()
    }

    /// Whether the operator's limit lets a stack of the tree add so many resources. What the traversals of other stacks have
    /// announced counts as if it were there.
    fn may_add(&self, key: StackKey, blueprint: &Blueprint, new: usize) -> bool {
        let Some(limit) = self.config.max_resources else { return true };
        let total = self.resource_count.saturating_add(self.announced).saturating_add(new);
        // A tree is never prevented from going back to what it was.
        let root = self.traversal(self.root_key());
        let is_rollback = root.is_some_and(|traversal| traversal.action == Action::Rollback);
        // A tree can be too large already, because the limit was lowered: then its stacks may become smaller.
        let wanted = blueprint.definition.resources().count();
        let is_smaller = self.resource_count > limit && wanted <= self.stack(key).by_name.len();
        new == 0 || total <= limit || is_rollback || is_smaller
    }

    /// The definition of a resource with all functions resolved.
    pub(crate) fn resolve_definition(
        &self,
        key: StackKey,
        blueprint: &Blueprint,
        at: usize,
    ) -> Result<ResolvedDefinition, Box<Failure>> {
        let stack_scope = self.scope(key);
        // All expressions of a definition are charged to one budget.
        let budget = self.evaluation_budget(
            blueprint.definition.resource_at(at).and_then(|it| self.current(key, &it.name)),
        );
        let scope = Scope::new(&blueprint.definition, &stack_scope).with_budget(&budget);
        let Some(resource) = blueprint.definition.resource_at(at) else {
            return Err(Box::new(Failure::new(
                FailureClass::NotFound,
                "",
                "the resource is not there",
            )));
        };
        let resolved = blueprint.type_at(at).resolve_definition(&scope, resource);
        let resolved = resolved.map_err(|unfrozen| {
            let message = format!("{}: {}", unfrozen.path, unfrozen.fault.message);
            Box::new(Failure::new(
                FailureClass::from_name(unfrozen.fault.code.kind),
                &resource.name,
                message,
            ))
        })?;
        self.check_definition_size(self.current(key, &resource.name), &resource.name, &resolved)?;
        Ok(resolved)
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
    pub(crate) fn choose(
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
        match self.case(blueprint, goal, slot) {
            Some(case) => decide(&case),
            None => Decision::Replace(Announcement::Silent),
        }
    }

    /// What is to be decided on; nothing if the resource never had a definition.
    pub(crate) fn case<'t>(
        &'t self,
        blueprint: &Blueprint,
        goal: &'t Goal<'_>,
        slot: Slot,
    ) -> Option<Case<'t>> {
        let resource = self.resource(slot);
        let before = resource.definition.as_ref()?;
        Some(Case {
            resource,
            former_type: self.builtin_type(resource),
            before,
            after: &goal.definition,
            resolved_type: goal.resolved_type,
            restricted: blueprint.registry.restricted_actions(&resource.summary.name),
            is_nested_check_failed: resource.child.is_some_and(|child| {
                self.stack(child).summary.state.is(Action::Check, Status::Failed)
            }),
            observed: self.observed.get(&resource.id),
        })
    }

    /// Whether hooks before an update apply to a resource: not if another object is made for another type, nor to external objects.
    fn may_be_updated(&self, slot: Slot, goal: &Goal<'_>) -> bool {
        let resource = self.resource(slot);
        let traversal = self.stack(resource.stack).traversal.as_ref();
        let is_update = traversal.is_some_and(|traversal| {
            matches!(traversal.action, Action::Update | Action::Rollback | Action::Restore)
        });
        is_update
            && keeps_object(resource, self.builtin_type(resource), goal.resolved_type)
            && goal.definition.external_id.is_none()
    }
}

fn replacement_reason(name: &str) -> String {
    format!("The Resource {name} requires replacement")
}

/// Whether objects of a type have to be restored after they were replaced.
pub(crate) fn comes_back(resource_type: &ResolvedType) -> bool {
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
        self.resolved_type.name().unwrap_or(&self.definition.type_name)
    }
}
