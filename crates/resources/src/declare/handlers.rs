//! The words that say what a type does.
//!
//! An async function becomes a handler by boxing it: `.creates(|op| Box::pin(create(op)))`.

use super::ResourceType;
use crate::behaviour::{
    AttributeFn, CooldownFn, Finder, Handler, NestedMetadataFn, OperationKind, ReferenceFn,
    ReplacementFn, RestoreFn, SignalFn, StageFn,
};
use crate::op::{Op, OpError};
use crate::random;

impl ResourceType {
    /// How the object is made.
    pub fn creates(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Create, handler)
    }

    /// How the object is changed.
    pub fn updates(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Update, handler)
    }

    /// How the object is removed.
    pub fn deletes(self, handler: Handler) -> ResourceType {
        self.on(OperationKind::Delete, handler)
    }

    /// How anything else is done with the object.
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
            // Whoever checks an object looks at it; every type settles its doubts alike, and is compared alike.
            OperationKind::Refresh | OperationKind::Observe | OperationKind::ResolveDoubt => {
                return self;
            }
        };
        *place = Some(handler);
        self
    }

    /// How a copy of the object is made for a snapshot, and how one is removed.
    pub fn copied(self, copy: Handler, forget: Handler) -> ResourceType {
        self.on(OperationKind::Snapshot, copy).on(OperationKind::DeleteSnapshot, forget)
    }

    /// What its properties become when the stack goes back to a snapshot.
    pub fn restores_with(mut self, restore: RestoreFn) -> ResourceType {
        self.behaviour.restore = Some(restore);
        self
    }

    /// How the object is found when it is not certain that it exists.
    pub fn finder(mut self, finder: Finder) -> ResourceType {
        self.behaviour.finder = Some(finder);
        self
    }

    /// What a resource is called by others, if not by the id of its object.
    pub fn reference(mut self, reference: ReferenceFn) -> ResourceType {
        self.behaviour.reference = Some(reference);
        self
    }

    /// How attributes are answered, if not from what the service shows.
    pub fn attributes(mut self, attribute: AttributeFn) -> ResourceType {
        self.behaviour.attribute = Some(attribute);
        self
    }

    /// Which changes need another object although each property may be changed.
    pub fn replaced_if(mut self, replaces: ReplacementFn) -> ResourceType {
        self.behaviour.replaces = Some(replaces);
        self
    }

    /// An object that was replaced is updated when a rollback goes back to it.
    pub fn restored_on_rollback(mut self) -> ResourceType {
        self.behaviour.restored_on_rollback = true;
        self
    }

    /// A resource is a nested stack whose template is made up, stage by stage.
    pub fn staged(mut self, stages: StageFn) -> ResourceType {
        self.behaviour.stages = Some(stages);
        self
    }

    /// There is no object: its id is the name that it would have.
    pub fn without_object(self) -> ResourceType {
        self.creates(|op| Box::pin(take_name(op)))
    }

    /// What comes of a signal.
    pub fn on_signal(mut self, signal: SignalFn) -> ResourceType {
        self.behaviour.signal = Some(signal);
        self.signallable()
    }

    /// What it is told is in what it keeps for itself, and whoever watches it sees that.
    pub fn signals_in_data(mut self) -> ResourceType {
        self.behaviour.signals_in_data = true;
        self
    }

    /// What its metadata is to those who read it.
    pub fn metadata(mut self, metadata: ReferenceFn) -> ResourceType {
        self.behaviour.metadata = Some(metadata);
        self
    }

    /// What the metadata of resources inside its nested stack is to those who read it.
    pub fn nested_metadata(mut self, inside: NestedMetadataFn) -> ResourceType {
        self.behaviour.nested_metadata = Some(inside);
        self
    }

    /// How long a group is left alone after a create or an update ended well.
    pub fn cooldown(mut self, rests: CooldownFn) -> ResourceType {
        self.behaviour.cooldown = Some(rests);
        self
    }
}

/// A placeholder has no object, only an id; the datum tells it from one that had an object once.
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
