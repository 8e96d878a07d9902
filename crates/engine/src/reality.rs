//! What was found when the objects of a tree were read, so that they can be compared with what they should be.

use crate::decide::Decision;
use crate::ids::ResourceId;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::Verb;
use kiln_resources::declare::ResourceType;
use kiln_resources::op::{Context, Stop};
use kiln_template::value::Members;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an object was found to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Reality {
    /// What it should be, as far as can be told.
    #[default]
    AsItShould,
    /// It shows these properties otherwise.
    Drifted(Arc<Members>),
    /// There is none.
    Gone,
}

/// What objects were found to be, by their resources.
pub(crate) type Found = BTreeMap<ResourceId, Reality>;

impl Reality {
    /// What the end of an operation that read an object tells, beside what it said.
    pub(crate) fn of_end(said: Reality, result: &Result<(), Stop>) -> Reality {
        match result {
            Ok(()) => said,
            Err(stop) if stop.is_not_found() => Reality::Gone,
            // What cannot be read now is left as it is.
            Err(_) => Reality::AsItShould,
        }
    }

    /// What the properties were found to be that are mended now.
    fn take_drifted(&mut self) -> Arc<Members> {
        match std::mem::take(self) {
            Reality::Drifted(drifted) => drifted,
            _ => Arc::default(),
        }
    }
}

impl Tree {
    /// Whether a stack is being compared with reality.
    pub(crate) fn converges(&self, key: StackKey) -> bool {
        self.stack(key).walk.as_ref().is_some_and(|walk| walk.converges)
    }

    /// Whether the object of a resource has to be read before it is decided what to do with it.
    pub(crate) fn must_observe(&self, slot: Slot, decision: &Decision) -> bool {
        let resource = self.resource(slot);
        let may_stay = matches!(decision, Decision::Keep | Decision::Mend | Decision::Update(_));
        may_stay
            && self.converges(resource.stack)
            && !self.reality.contains_key(&resource.id)
            && self.observed_type(slot).is_some()
    }

    /// The type of a resource whose object can be read.
    fn observed_type(&self, slot: Slot) -> Option<&'static ResourceType> {
        let resource = self.resource(slot);
        let is_ours = resource.frozen.as_ref().is_some_and(|it| it.external_id.is_none());
        let is_there = resource.physical_id.is_some()
            && resource.child.is_none()
            && !matches!(resource.state.action, Action::Init | Action::Delete);
        let kind = self.config.types.get(&resource.kind).filter(|_| is_ours && is_there)?;
        kind.behaviour.handler(Verb::Observe).map(|_| kind)
    }

    /// Reads the object of a resource; its node is looked at again when that is done.
    pub(crate) fn observe(&mut self, env: &mut Env<'_>, slot: Slot, node: usize) {
        let resource = self.resource(slot);
        let action = resource.state.action;
        let walk = self.stack(resource.stack).walk.as_ref();
        let origin = walk.map(|walk| (walk.number, node));
        self.put_op(slot, origin, Verb::Observe, action);
        self.go(env, slot);
    }

    /// The object of a resource was read.
    pub(crate) fn observed(&mut self, slot: Slot, result: &Result<(), Stop>) {
        let Some(op) = self.take_op(slot) else { return };
        let (key, id) = (self.resource(slot).stack, self.resource(slot).id);
        let found = self.reality.entry(id).or_default();
        *found = Reality::of_end(std::mem::take(found), result);
        self.settled(key, slot, &op, false);
        let number = self.stack(key).walk.as_ref().map(|walk| walk.number);
        if let Some((_, node)) = op.origin.filter(|(begun_by, _)| Some(*begun_by) == number) {
            self.look_at(key, &[node]);
        }
    }

    /// What the properties of a resource were found to be, once: they are about to be mended.
    pub(crate) fn take_drifted(&mut self, slot: Slot) -> Arc<Members> {
        let id = self.resource(slot).id;
        self.reality.get_mut(&id).map(Reality::take_drifted).unwrap_or_default()
    }

    /// What a check tells of an object that is there and well, and not what it was made to be.
    pub(crate) fn told_drift(&mut self, slot: Slot) -> Option<String> {
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
    pub(crate) fn to_be_observed(&self) -> Vec<(ResourceId, &'static ResourceType, Context)> {
        let slots = self.stacks.iter().flatten().flat_map(|stack| stack.resources.values());
        let current = slots.copied().filter(|slot| {
            let resource = self.resource(*slot);
            self.current(resource.stack, &resource.name) == Some(*slot)
        });
        let read = current.filter_map(|slot| {
            let kind = self.observed_type(slot)?;
            Some((self.resource(slot).id, kind, self.context(slot)))
        });
        read.collect()
    }
}
