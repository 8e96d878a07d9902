//! What was found when the objects of a tree were read, so that they can be compared with what they should be.

use crate::decide::Decision;
use crate::ids::ResourceId;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, OpError};
use kiln_template::value::Members;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an object was found to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Observed {
    /// What it should be, as far as can be told.
    #[default]
    InSync,
    /// It shows these properties otherwise.
    Drifted(Arc<Members>),
    /// There is none.
    Gone,
}

/// What objects were found to be, by their resources.
pub(crate) type Observations = BTreeMap<ResourceId, Observed>;

impl Observed {
    /// What the end of an operation that read an object tells, beside what it said.
    pub(crate) fn of_end(said: Observed, result: &Result<(), OpError>) -> Observed {
        match result {
            Ok(()) => said,
            Err(stop) if stop.is_not_found() => Observed::Gone,
            // What cannot be read now is left as it is.
            Err(_) => Observed::InSync,
        }
    }

    /// What the properties were found to be that are mended now.
    fn take_drifted(&mut self) -> Arc<Members> {
        match std::mem::take(self) {
            Observed::Drifted(drifted) => drifted,
            _ => Arc::default(),
        }
    }
}

impl Tree {
    /// Whether a stack is being compared with observed.
    pub(crate) fn converges(&self, key: StackKey) -> bool {
        self.stack(key).traversal.as_ref().is_some_and(|traversal| traversal.converges)
    }

    /// Whether the object of a resource has to be read before it is decided what to do with it.
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

    /// Reads the object of a resource; its node is looked at again when that is done.
    pub(crate) fn observe(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        let resource = self.resource(slot);
        let action = resource.state.action;
        let traversal = self.stack(resource.stack).traversal.as_ref();
        let origin = traversal.map(|traversal| (traversal.traversal_id, node));
        self.put_operation(slot, origin, OperationKind::Observe, action);
        self.dispatch(env, slot);
    }

    /// The object of a resource was read.
    pub(crate) fn observed(&mut self, slot: Slot, result: &Result<(), OpError>) {
        let Some(op) = self.take_operation(slot) else { return };
        let (key, id) = (self.resource(slot).stack, self.resource(slot).id);
        let found = self.observed.entry(id).or_default();
        *found = Observed::of_end(std::mem::take(found), result);
        self.release_waiters(key, slot, &op, false);
        let number = self.stack(key).traversal.as_ref().map(|traversal| traversal.traversal_id);
        if let Some((_, node)) = op.origin.filter(|(started_by, _)| Some(*started_by) == number) {
            self.enqueue(key, &[node]);
        }
    }

    /// What the properties of a resource were found to be, once: they are about to be mended.
    pub(crate) fn take_drifted(&mut self, slot: Slot) -> Arc<Members> {
        let id = self.resource(slot).id;
        self.observed.get_mut(&id).map(Observed::take_drifted).unwrap_or_default()
    }

    /// What a check tells of an object that is there and well, and not what it was made to be.
    pub(crate) fn drift_reason(&mut self, slot: Slot) -> Option<String> {
        let drifted = self.take_drifted(slot);
        if self.is_external(slot) {
            // What somebody else made is as they want it.
            return None;
        }
        let names: Vec<&str> = drifted.keys().map(|name| &**name).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Changed behind the stack's back: {}. Next: update the stack with converge to mend it.",
                names.join(", ")
            )
        })
    }

    /// Everything that can be read of a tree, with what is needed for that.
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
