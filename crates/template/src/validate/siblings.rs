//! The other resources of a stack, as the checks of types see them.

use super::{Context, SiblingDefinitions};
use crate::check;
use crate::constraint::Verdict;
use crate::definition::Definition;
use crate::eval::Scope;
use crate::value::{Members, Value};
use std::sync::Arc;
use std::time::Duration;

/// The resources of a stack whose values are evaluated as far as they are known.
pub(super) struct Siblings<'a> {
    pub(super) own_name: &'a str,
    pub(super) definition: &'a Definition,
    pub(super) scope: &'a Scope<'a>,
    pub(super) context: &'a Context<'a>,
}

impl SiblingDefinitions for Siblings<'_> {
    fn own_name(&self) -> &str {
        self.own_name
    }

    fn type_name(&self, name: &str) -> Option<Arc<str>> {
        let at = self.definition.position(name)?;
        Some(self.definition.resource_at(at)?.type_name.value.clone())
    }

    fn has_type(&self, type_name: &str) -> bool {
        self.definition.resources().any(|(_, it)| &*it.type_name.value == type_name)
    }

    fn properties(&self, name: &str) -> Option<Members> {
        let resource = self.definition.resource_at(self.definition.position(name)?)?;
        let Some(written) = &resource.properties else { return Some(Members::new()) };
        self.scope.value(written).ok()?.as_map().cloned()
    }

    fn property(&self, name: &str, property: &str) -> Option<Value> {
        let written = self.properties(name)?.get(property).filter(|it| !it.is_null()).cloned();
        let default = || {
            let schema = self.context.types.schema(&self.type_name(name)?)?;
            schema.property(property)?.default.clone()
        };
        written.or_else(default)
    }

    fn own_attributes(&self) -> Vec<Vec<Value>> {
        let mut found = Vec::new();
        for expr in
            self.definition.resources().flat_map(|(_, it)| it.properties.iter().chain(&it.metadata))
        {
            check::collect_attributes(self.scope, expr, self.own_name, &mut found);
        }
        for output in self.definition.template.outputs.values() {
            check::collect_attributes(self.scope, &output.value, self.own_name, &mut found);
        }
        found
    }

    fn check_rule(&self, rule: &'static str, subject: &str) -> Verdict {
        self.context.custom.check_rule(rule, subject)
    }

    fn timeout(&self) -> Option<Duration> {
        self.context.timeout
    }
}
