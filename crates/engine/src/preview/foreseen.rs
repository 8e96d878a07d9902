//! The values that expressions have in the middle of an update that is previewed.

use super::Fate;
use crate::resolver::StackScope;
use kiln_template::functions::{Facade, Fault};
use kiln_template::{Resolver, Unknown, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stack as its template would see it in the middle of the update.
pub(super) struct Foreseen<'t> {
    pub(super) world: Option<StackScope<'t>>,
    pub(super) fates: &'t BTreeMap<Arc<str>, Fate>,
    pub(super) is_new: bool,
}

impl<'t> Foreseen<'t> {
    /// The existing stack, if a resource with one of these fates keeps its values.
    fn known(&self, resource: &str, stays: &[Fate]) -> Option<&StackScope<'t>> {
        let fate = self.fates.get(resource)?;
        self.world.as_ref().filter(|_| stays.contains(fate))
    }

    /// A value that is known later: null in the preview of a create, otherwise unknown.
    fn later(&self, what: impl FnOnce() -> Unknown) -> Value {
        if self.is_new { Value::Null } else { Value::Unknown(what()) }
    }
}

impl Resolver for Foreseen<'_> {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged, Fate::Updated]) {
            Some(world) => Resolver::reference(world, resource),
            None if self.is_new => Ok(resource.into()),
            None => Ok(Value::Unknown(Unknown::Reference(resource.into()))),
        }
    }

    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
            Some(world) => Resolver::attribute(world, resource, attribute, keys),
            None => Ok(self.later(|| Unknown::attribute(resource, attribute))),
        }
    }

    fn attributes(&self, resource: &str) -> Result<Value, Fault> {
        match self.known(resource, &[Fate::Unchanged]) {
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
