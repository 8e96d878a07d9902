//! Drift: how the objects of a tree differ from their definitions, if they are read before an update or by a check.

use crate::decide::Decision;
use crate::ids::ResourceId;
use crate::state::Action;
use crate::tree::{Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, OpError};
use kiln_template::Members;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was observed of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Observed {
    /// It has all properties of its definition, as far as they can be read.
    #[default]
    InSync,
    /// These properties have other values.
    Drifted(Arc<Members>),
    /// The object does not exist.
    Gone,
}

/// What was observed of objects, by their resources.
pub(crate) type Observations = BTreeMap<ResourceId, Observed>;

impl Observed {
    /// What the end of an operation that read an object adds to what it has reported.
    pub(crate) fn of_end(observed: Observed, result: &Result<(), OpError>) -> Observed {
        match result {
            Ok(()) => observed,
            Err(stop) if stop.is_not_found() => Observed::Gone,
            // An object that cannot be read now is left as it is.
            Err(_) => Observed::InSync,
        }
    }

    /// The values of properties that differ; they are about to be corrected.
    fn take_drifted(&mut self) -> Arc<Members> {
        match std::mem::take(self) {
            Observed::Drifted(drifted) => drifted,
            _ => Arc::default(),
        }
    }
}

impl Tree {
    /// Whether the objects of a stack are being compared with their definitions.
    pub(crate) fn converges(&self, key: StackKey) -> bool {
        self.stack(key).traversal.as_ref().is_some_and(|traversal| traversal.converges)
    }

    /// Whether the object of a resource has to be read before it can be decided what to do with it.
    pub(crate) fn must_observe(&self, slot: Slot, decision: &Decision) -> bool {
        let resource = self.resource(slot);
        let may_stay =
            matches!(decision, Decision::Keep | Decision::MarkComplete | Decision::Update(_));
        may_stay
            && self.converges(resource.stack)
            && !self.observed.contains_key(&resource.id)
            && self.observable_type(slot).is_some()
    }

    /// The type of a resource whose object can be read.
    fn observable_type(&self, slot: Slot) -> Option<&'static ResourceType> {
        let resource = self.resource(slot);
        let is_ours = resource.definition.as_ref().is_some_and(|it| it.external_id.is_none());
        let is_there = resource.physical_id.is_some()
            && resource.child.is_none()
            && !matches!(resource.state.action, Action::Init | Action::Delete);
        let resource_type =
            self.config.types.get(&resource.type_name).filter(|_| is_ours && is_there)?;
        resource_type.behaviour.handler(OperationKind::Observe).map(|_| resource_type)
    }

    /// Takes the values of properties that differ from the definition: they are about to be corrected.
    pub(crate) fn take_drifted(&mut self, slot: Slot) -> Arc<Members> {
        let id = self.resource(slot).id;
        self.observed.get_mut(&id).map(Observed::take_drifted).unwrap_or_default()
    }

    /// All resources whose objects can be read, with what is needed for that.
    pub(crate) fn observable_resources(&self) -> Vec<(ResourceId, &'static ResourceType, Context)> {
        let slots = self.stacks.iter().flatten().flat_map(|stack| stack.resources.values());
        let current = slots.copied().filter(|slot| {
            let resource = self.resource(*slot);
            self.current(resource.stack, &resource.name) == Some(*slot)
        });
        let read = current.filter_map(|slot| {
            let resource_type = self.observable_type(slot)?;
            Some((self.resource(slot).id, resource_type, self.context(slot)))
        });
        read.collect()
    }
}
