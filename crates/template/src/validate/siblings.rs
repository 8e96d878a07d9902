//! The other resources of a stack, as the checks of types see them.

use super::SiblingDefinitions;
use crate::definition::Definition;
use crate::eval::Scope;
use crate::value::Members;
use std::sync::Arc;

/// The resources of a stack whose values are evaluated as far as they are known.
pub(super) struct Siblings<'a> {
    pub(super) own_name: &'a str,
    pub(super) definition: &'a Definition,
    pub(super) scope: &'a Scope<'a>,
}

impl SiblingDefinitions for Siblings<'_> {
    fn own_name(&self) -> &str {
        self.own_name
    }

    fn type_name(&self, name: &str) -> Option<Arc<str>> {
        let at = self.definition.position(name)?;
        Some(self.definition.resource_at(at)?.type_name.value.clone())
    }

    fn properties(&self, name: &str) -> Option<Members> {
        let resource = self.definition.resource_at(self.definition.position(name)?)?;
        let Some(written) = &resource.properties else { return Some(Members::new()) };
        self.scope.value(written).ok()?.as_map().cloned()
    }
}
