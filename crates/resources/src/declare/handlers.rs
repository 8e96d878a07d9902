//! Handlers and computed values of a resource type.
//!
//! An async function becomes a handler by boxing it: `.creates(|op| Box::pin(create(op)))`.

use super::ResourceType;
use crate::behaviour::{
    AttributeFn, CooldownFn, Finder, Handler, NestedMetadataFn, OperationKind, ReferenceFn,
    ReplacementFn, RestoreFn, SignalFn, SignalStorage, StageFn,
};
use crate::op::{Op, OpError};
use crate::random;

impl ResourceType {
    /// Sets the handler that creates the object.
    pub fn creates(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Create, handler)
    }

    /// Sets the handler that changes the object.
    pub fn updates(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Update, handler)
    }

    /// Sets the handler that deletes the object.
    pub fn deletes(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Delete, handler)
    }

    /// Sets the handler of an operation.
    pub fn on(mut self, operation: OperationKind, handler: Handler) -> ResourceType {
        let behaviour = &mut self.behaviour;
        let place = match operation {
            OperationKind::Create => &mut behaviour.create,
            OperationKind::Update => &mut behaviour.update,
            OperationKind::Delete => &mut behaviour.delete,
            OperationKind::Check => &mut behaviour.check,
            OperationKind::Suspend => &mut behaviour.suspend,
            OperationKind::Resume => &mut behaviour.resume,
            OperationKind::Snapshot => &mut behaviour.snapshot,
            OperationKind::DeleteSnapshot => &mut behaviour.delete_snapshot,
            OperationKind::Cancel => &mut behaviour.cancel,
            OperationKind::Observe => &mut behaviour.observe,
            OperationKind::Refresh => &mut behaviour.refresh,
            // Doubts are resolved by generic code.
            OperationKind::ResolveDoubt => return self,
        };
        *place = Some(handler);
        self
    }

    /// Sets the handler that reads the object and compares these properties with it.
    pub fn observes(
        mut self,
        properties: &'static [&'static str],
        handler: Handler,
    ) -> ResourceType {
        self.behaviour.observed = properties;
        self.on(OperationKind::Observe, handler)
    }

    /// Sets the handlers that copy the object for a snapshot, and that delete such a copy.
    pub fn copied(self, copy: Handler, forget: Handler) -> ResourceType {
        self.on(OperationKind::Snapshot, copy).on(OperationKind::DeleteSnapshot, forget)
    }

    /// Sets the function that changes the properties when the stack is restored to a snapshot.
    pub fn restores_with(mut self, restore: RestoreFn) -> ResourceType {
        self.behaviour.restore = Some(restore);
        self
    }

    /// Sets the function that returns the mark by which the object is found after a lost call.
    pub fn finder(mut self, finder: Finder) -> ResourceType {
        self.behaviour.finder = Some(finder);
        self
    }

    /// Sets the function that computes the reference, if that is not the physical id.
    pub fn reference(mut self, reference: ReferenceFn) -> ResourceType {
        self.behaviour.reference = Some(reference);
        self
    }

    /// Sets the function that computes attributes, if they are not members of the service's reply.
    pub fn attributes(mut self, attribute: AttributeFn) -> ResourceType {
        self.behaviour.attribute = Some(attribute);
        self
    }

    /// Every update of the stack updates the object, too, although its definition is the same.
    pub fn always_updated(mut self) -> ResourceType {
        self.behaviour.updates_always = true;
        self
    }

    /// Sets the function that decides which updates need a replacement although every property is updatable.
    pub fn replaced_if(mut self, replaces: ReplacementFn) -> ResourceType {
        self.behaviour.replaces = Some(replaces);
        self
    }

    /// A rollback updates a replaced object before it is used again.
    pub fn restored_on_rollback(mut self) -> ResourceType {
        self.behaviour.restored_on_rollback = true;
        self
    }

    /// Sets the function that computes the stages of a group.
    pub fn staged(mut self, stages: StageFn) -> ResourceType {
        self.behaviour.stages = Some(stages);
        self
    }

    /// The resource has no object; its physical id is its physical name.
    pub fn without_object(self) -> ResourceType {
        self.creates(|op| Box::pin(take_name(op)))
    }

    /// Sets the function that handles a signal.
    pub fn on_signal(mut self, signal: SignalFn) -> ResourceType {
        self.behaviour.signal = Some(signal);
        self.signallable()
    }

    /// Sets where signals are kept.
    pub fn signals_kept_in(mut self, storage: SignalStorage) -> ResourceType {
        self.behaviour.signals_kept_in = storage;
        self
    }

    /// Sets the function that computes the metadata which readers see.
    pub fn metadata(mut self, metadata: ReferenceFn) -> ResourceType {
        self.behaviour.metadata = Some(metadata);
        self
    }

    /// Sets the function that computes the metadata which readers see of resources in the nested stack.
    pub fn nested_metadata(mut self, inside: NestedMetadataFn) -> ResourceType {
        self.behaviour.nested_metadata = Some(inside);
        self
    }

    /// Sets the function that computes a group's cooldown after a successful create or update.
    pub fn cooldown(mut self, rests: CooldownFn) -> ResourceType {
        self.behaviour.cooldown = Some(rests);
        self
    }
}

/// A placeholder has an id and no object; the data tells it from a resource that had an object once.
pub(super) async fn create_placeholder(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        let id = random::uuid(op).await?.to_string();
        op.set_data("is_placeholder", "True");
        op.set_id(id);
    }
    Ok(())
}

async fn take_name(op: &mut Op) -> Result<(), OpError> {
    let name = op.context().physical_name.clone();
    op.set_id(name);
    Ok(())
}
