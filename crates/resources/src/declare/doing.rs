//! The words that say what a type does.
//!
//! An async function becomes a handler by boxing it: `.creates(|op| Box::pin(create(op)))`.

use super::ResourceType;
use crate::behaviour::{
    AttributeOf, Finder, Handler, Inside, OnSignal, Reference, Replaces, Restores, Rests, Stages,
    Verb,
};
use crate::op::{Op, Stop};
use crate::random;

impl ResourceType {
    /// How the object is made.
    pub fn creates(self, handler: Handler) -> ResourceType {
        self.on(Verb::Create, handler)
    }

    /// How the object is changed.
    pub fn updates(self, handler: Handler) -> ResourceType {
        self.on(Verb::Update, handler)
    }

    /// How the object is removed.
    pub fn deletes(self, handler: Handler) -> ResourceType {
        self.on(Verb::Delete, handler)
    }

    /// How anything else is done with the object.
    pub fn on(mut self, verb: Verb, handler: Handler) -> ResourceType {
        let behaviour = &mut self.behaviour;
        let place = match verb {
            Verb::Create => &mut behaviour.create,
            Verb::Update => &mut behaviour.update,
            Verb::Delete => &mut behaviour.delete,
            Verb::Check => &mut behaviour.check,
            Verb::Suspend => &mut behaviour.suspend,
            Verb::Resume => &mut behaviour.resume,
            Verb::Snapshot => &mut behaviour.snapshot,
            Verb::Forget => &mut behaviour.forget,
            // Whoever checks an object looks at it; every type settles its doubts alike, and is compared alike.
            Verb::Look | Verb::Observe | Verb::Settle => return self,
        };
        *place = Some(handler);
        self
    }

    /// How a copy of the object is made for a snapshot, and how one is removed.
    pub fn copied(self, copy: Handler, forget: Handler) -> ResourceType {
        self.on(Verb::Snapshot, copy).on(Verb::Forget, forget)
    }

    /// What its properties become when the stack goes back to a snapshot.
    pub fn restores(mut self, restore: Restores) -> ResourceType {
        self.behaviour.restore = Some(restore);
        self
    }

    /// How the object is found when it is not certain that it exists.
    pub fn found_by(mut self, finder: Finder) -> ResourceType {
        self.behaviour.finder = Some(finder);
        self
    }

    /// What a resource is called by others, if not by the id of its object.
    pub fn called(mut self, reference: Reference) -> ResourceType {
        self.behaviour.reference = Some(reference);
        self
    }

    /// How attributes are answered, if not from what the service shows.
    pub fn answers(mut self, attribute: AttributeOf) -> ResourceType {
        self.behaviour.attribute = Some(attribute);
        self
    }

    /// Which changes need another object although each property may be changed.
    pub fn replaced_if(mut self, replaces: Replaces) -> ResourceType {
        self.behaviour.replaces = Some(replaces);
        self
    }

    /// An object that was replaced is updated when a rollback goes back to it.
    pub fn comes_back(mut self) -> ResourceType {
        self.behaviour.comes_back = true;
        self
    }

    /// A resource is a nested stack whose template is made up, stage by stage.
    pub fn staged(mut self, stages: Stages) -> ResourceType {
        self.behaviour.stages = Some(stages);
        self
    }

    /// There is no object: its id is the name that it would have.
    pub fn named_only(self) -> ResourceType {
        self.creates(|op| Box::pin(take_name(op)))
    }

    /// What comes of a signal.
    pub fn on_signal(mut self, signal: OnSignal) -> ResourceType {
        self.behaviour.signal = Some(signal);
        self.signalled()
    }

    /// What it is told is in what it keeps for itself, and whoever watches it sees that.
    pub fn hears_in_data(mut self) -> ResourceType {
        self.behaviour.hears_in_data = true;
        self
    }

    /// What its metadata is to those who read it.
    pub fn tells_metadata(mut self, metadata: Reference) -> ResourceType {
        self.behaviour.metadata = Some(metadata);
        self
    }

    /// What the metadata of resources inside its nested stack is to those who read it.
    pub fn tells_inside(mut self, inside: Inside) -> ResourceType {
        self.behaviour.inside = Some(inside);
        self
    }

    /// How long a group is left alone after a create or an update ended well.
    pub fn rests(mut self, rests: Rests) -> ResourceType {
        self.behaviour.rests = Some(rests);
        self
    }
}

/// A placeholder has no object, only an id; the datum tells it from one that had an object once.
pub(super) async fn stand_in(op: &mut Op) -> Result<(), Stop> {
    if op.id().is_none() {
        let id = random::uuid(op).await?.to_string();
        op.set_datum("is_placeholder", "True");
        op.set_id(id);
    }
    Ok(())
}

async fn take_name(op: &mut Op) -> Result<(), Stop> {
    let name = op.context().physical_name.clone();
    op.set_id(name);
    Ok(())
}
