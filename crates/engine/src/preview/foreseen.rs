//! The values that expressions have in the middle of an update that is previewed.

use super::{Fate, Seen};
use crate::resolver::StackScope;
use crate::tree::{Slot, Tree};
use kiln_template::functions::{Facade, Fault};
use kiln_template::{Resolver, Unknown, Value};

/// A stack as its template would see it in the middle of the update.
pub(super) struct Foreseen<'t> {
    pub(super) world: Option<StackScope<'t>>,
    pub(super) seen: &'t Seen,
    pub(super) is_new: bool,
}

impl<'t> Foreseen<'t> {
    /// The existing stack, if a resource with one of these fates keeps its values.
    fn known(&self, resource: &str, stays: &[Fate]) -> Option<&StackScope<'t>> {
        let fate = self.seen.fates.get(resource)?;
        self.world.as_ref().filter(|_| stays.contains(fate))
    }

    /// Of a resource that comes back, the one that will be current.
    fn back<'a>(&self, world: &'a StackScope<'_>, resource: &str) -> Option<(&'a Tree, Slot)> {
        Some((world.tree, *self.seen.back.get(resource)?))
    }

    /// A value that is known later: null in the preview of a create, otherwise unknown.
    fn later(&self, what: impl FnOnce() -> Unknown) -> Value {
        if self.is_new { Value::Null } else { Value::Unknown(what()) }
    }
}

impl Resolver for Foreseen<'_> {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged, Fate::Updated]) {
            Some(world) => match self.back(world, resource) {
                Some((tree, slot)) => tree.resolve_reference(slot),
                None => Resolver::reference(world, resource),
            },
            None if self.is_new => Ok(resource.into()),
            None => Ok(Value::Unknown(Unknown::Reference(resource.into()))),
        }
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
            Some(world) => match self.back(world, resource) {
                Some((tree, slot)) => tree.attribute(slot, attribute, keys),
                None => Resolver::attribute(world, resource, attribute, keys),
            },
            None => Ok(self.later(|| Unknown::attribute(resource, attribute))),
        }
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
            Some(_) if self.seen.back.contains_key(resource) => {
                Ok(self.later(|| Unknown::attribute(resource, "")))
            }
            Some(world) => world.attributes(resource),
            None => Ok(self.later(|| Unknown::attribute(resource, ""))),
        }
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        self.world.as_ref().map_or(Ok(Value::Null), |world| world.facade(part))
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        Ok(self.later(|| Unknown::AvailabilityZones))
    }
}
