//! Drift: how the objects of a tree differ from their definitions, if they are read before an update or by a check.
//!
//! After a failure, the object of a resource is always read before it is decided what to do with it.

use crate::decide::Decision;
use crate::ids::ResourceId;
use crate::state::{Action, Status};
use crate::tree::{HalfDone, Resource, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::constraints::offline;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Compared, Context, Failure, FailureClass, OpError};
use kiln_template::schema::Property;
use kiln_template::{Members, Path, ResolvedDefinition, Value, convert_properties};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was observed of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Observed {
    /// It is healthy, and was compared with its definition as far as its properties can be read.
    Read(Compared),
    /// The object does not exist.
    Gone,
    /// The object exists and is beyond repair, for this reason.
    Broken(String),
    /// The object cannot be read now.
    Unreadable(Failure),
}

impl Default for Observed {
    fn default() -> Observed {
        Observed::Read(Compared::default())
    }
}

/// What was observed of objects, by their resources.
pub(crate) type Observations = BTreeMap<ResourceId, Observed>;

impl Observed {
    /// What the end of an operation that read an object adds to what it has reported.
    pub(crate) fn of_end(observed: Observed, result: &Result<(), OpError>) -> Observed {
        match result {
            Ok(()) | Err(OpError::Replace) => observed,
            Err(stop) if stop.is_not_found() => Observed::Gone,
            Err(OpError::Failed(failure)) => match failure.class {
                FailureClass::Error
                | FailureClass::ResourceInError
                | FailureClass::ResourceUnknownStatus => Observed::Broken(failure.message.clone()),
                _ => Observed::Unreadable(failure.clone()),
            },
        }
    }

    /// Limits drift to what a failed operation may have caused.
    pub(crate) fn limit_to(&mut self, half_done: Option<&HalfDone>) {
        let Observed::Read(read) = self else { return };
        match half_done {
            Some(HalfDone::Create | HalfDone::Unknown) => {}
            Some(HalfDone::Update(attempted)) => {
                read.drifted.retain(|name, _| attempted.contains_key(name));
            }
            None => read.drifted.clear(),
        }
    }
}

/// The values of properties in the object that are found or suspected to be others than before an update. Of what a failed
/// operation may have left undone, only what the update would not set anyway is suspected.
pub(crate) fn suspected(
    resource: &Resource,
    resource_type: &ResourceType,
    observed: Option<&Observed>,
    before: &Members,
    after: &Members,
) -> Members {
    let nothing = Compared::default();
    let read = match observed {
        Some(Observed::Read(read)) => read,
        _ => &nothing,
    };
    let null = Value::Null;
    let is_open = |name: &str| {
        let before = before.get(name).unwrap_or(&null);
        !read.same.iter().any(|it| &**it == name)
            && !read.drifted.contains_key(name)
            && before.equals(after.get(name).unwrap_or(&null))
    };
    let mut found = read.drifted.clone();
    match &resource.half_done {
        None | Some(HalfDone::Unknown) => {}
        Some(HalfDone::Create) => {
            let is_set = |it: &&Property| {
                let wanted = after.get(&*it.name).unwrap_or(&null);
                !it.default.as_ref().is_some_and(|default| default.equals(wanted))
            };
            let later = resource_type.set_after_create().filter(is_set);
            let missing = later.filter(|it| is_open(&it.name));
            found.extend(missing.map(|it| (Arc::from(&*it.name), Value::Null)));
        }
        Some(HalfDone::Update(attempted)) => {
            let tried = attempted.iter().filter(|(name, _)| is_open(name));
            found.extend(tried.map(|(name, value)| (name.clone(), value.clone())));
        }
    }
    found
}

impl Tree {
    /// Whether the objects of a stack are being compared with their definitions.
    pub(crate) fn converges(&self, key: StackKey) -> bool {
        self.stack(key).traversal.as_ref().is_some_and(|traversal| traversal.converges)
    }

    /// Whether a resource has an object that can be read now.
    pub(crate) fn is_readable(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let resource_type = self.config.types.get(&resource.summary.type_name);
        let can_be_read =
            resource_type.is_some_and(|it| it.behaviour.handler(OperationKind::Refresh).is_some());
        let has_object = resource.summary.physical_id.is_some() && resource.child.is_none();
        can_be_read && has_object && resource.op.is_none()
    }

    /// Whether the object of a resource was read and found to be gone.
    pub(crate) fn has_lost_object(&self, slot: Slot) -> bool {
        self.observed.get(&self.resource(slot).id) == Some(&Observed::Gone)
    }

    /// Forgets what was observed of the objects of a stack: they may have changed since.
    pub(crate) fn forget_observed(&mut self, key: StackKey) {
        if self.observed.is_empty() {
            return;
        }
        let slots: Vec<Slot> = self.stack(key).resources.values().copied().collect();
        for slot in slots {
            let id = self.resource(slot).id;
            self.observed.remove(&id);
        }
    }

    /// Whether the object of a resource has to be read before it can be decided what to do with it.
    pub(crate) fn must_observe(&self, slot: Slot, decision: &Decision) -> bool {
        let resource = self.resource(slot);
        let may_stay =
            matches!(decision, Decision::Keep | Decision::MarkComplete | Decision::Update(_));
        may_stay
            && (self.converges(resource.stack) || resource.is_suspect())
            && !self.observed.contains_key(&resource.id)
            && self.observable_type(slot).is_some()
    }

    /// The type of a resource whose object can be read.
    fn observable_type(&self, slot: Slot) -> Option<&'static ResourceType> {
        let resource = self.resource(slot);
        let is_ours = resource.definition.as_ref().is_some_and(|it| it.external_id.is_none());
        let is_there = resource.summary.physical_id.is_some()
            && resource.child.is_none()
            && match resource.summary.state.action {
                Action::Init => false,
                Action::Delete => resource.summary.state.status == Status::Failed,
                _ => true,
            };
        let resource_type =
            self.config.types.get(&resource.summary.type_name).filter(|_| is_ours && is_there)?;
        resource_type.behaviour.handler(OperationKind::Observe).map(|_| resource_type)
    }

    /// A resource stays as it is: its object was read, and nothing was left undone.
    pub(crate) fn forget_half_done(&mut self, slot: Slot) {
        if self.resource(slot).half_done.is_some() {
            self.change(slot).half_done = None;
        }
    }

    /// Limits drift to what failed operations may have caused, unless an update is to converge.
    pub(crate) fn limit_observed(&mut self, converges: bool) {
        let half_done: BTreeMap<ResourceId, Option<&HalfDone>> = self
            .resources
            .iter()
            .flatten()
            .map(|resource| (resource.id, resource.half_done.as_ref()))
            .collect();
        for (id, observed) in self.observed.iter_mut().filter(|_| !converges) {
            observed.limit_to(half_done.get(id).copied().flatten());
        }
    }

    /// Takes the properties that differ from the definition, with their values in the object.
    pub(crate) fn take_drifted(&mut self, slot: Slot) -> Members {
        let id = self.resource(slot).id;
        match self.observed.remove(&id) {
            Some(Observed::Read(read)) => read.drifted,
            _ => Members::new(),
        }
    }

    /// Takes what is found or suspected of the object of a resource that is about to get a definition.
    pub(crate) fn take_suspected(&mut self, slot: Slot, target: &ResolvedDefinition) -> Members {
        let id = self.resource(slot).id;
        let observed = self.observed.remove(&id);
        let resource = self.resource(slot);
        let Some(resource_type) = self.config.types.get(&resource.summary.type_name) else {
            return Members::new();
        };
        let convert = |members: &Members| {
            convert_properties(&resource_type.schema, members, &offline(0), &Path::Root).0
        };
        let before = resource.definition.as_ref().map(|it| convert(&it.properties));
        let (before, after) = (before.unwrap_or_default(), convert(&target.properties));
        suspected(resource, resource_type, observed.as_ref(), &before, &after)
    }

    /// The resources whose objects have to be read for a preview, with what is needed for that: all, or those that failed.
    pub(crate) fn observable_resources(
        &self,
        converges: bool,
    ) -> Vec<(ResourceId, &'static ResourceType, Context)> {
        let slots = self.stacks.iter().flatten().flat_map(|stack| stack.resources.values());
        let current = slots.copied().filter(|slot| {
            let resource = self.resource(*slot);
            self.current(resource.stack, &resource.summary.name) == Some(*slot)
        });
        let is_read = |slot: &Slot| converges || self.resource(*slot).is_suspect();
        let read = current.filter(is_read).filter_map(|slot| {
            let resource_type = self.observable_type(slot)?;
            Some((self.resource(slot).id, resource_type, self.context(slot)))
        });
        read.collect()
    }
}
