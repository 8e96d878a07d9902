//! The table of families, and looking types up.
//!
//! A registry is built once and never changes; its types are in order of name, each name once.

use crate::declare::{Expansion, Members, Name, PropertyError, ResourceType, SiblingDefinitions};
use crate::type_settings::TypeSettings;
use crate::types;
use kiln_template::schema::TypeSchema;
use kiln_template::validate::Types;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The families of built-in types.
const FAMILIES: [fn() -> Vec<ResourceType>; 31] = [
    types::aodh::types,
    types::aws_autoscaling::types,
    types::aws_cloudformation::types,
    types::aws_cloudwatch::types,
    types::aws_ec2::types,
    types::aws_elasticloadbalancing::types,
    types::aws_iam::types,
    types::aws_rds::types,
    types::aws_s3::types,
    types::barbican::types,
    types::blazar::types,
    types::cinder::types,
    types::designate::types,
    types::glance::types,
    types::heat::types,
    types::ironic::types,
    types::keystone::types,
    types::magnum::types,
    types::manila::types,
    types::mistral::types,
    types::monasca::types,
    types::neutron::types,
    types::nova::types,
    types::octavia::types,
    types::sahara::types,
    types::senlin::types,
    types::swift::types,
    types::trove::types,
    types::vitrage::types,
    types::zaqar::types,
    types::zun::types,
];

/// Types by name.
#[derive(Clone, Debug)]
pub struct Registry {
    types: Vec<ResourceType>,
    /// The types that others need without a word.
    needed: BTreeSet<Name>,
}

impl Registry {
    /// The types that Kiln brings along.
    pub fn builtin() -> &'static Registry {
        static BUILTIN: LazyLock<Registry> =
            LazyLock::new(|| Registry::new(FAMILIES.iter().flat_map(|family| family())));
        &BUILTIN
    }

    /// A registry of these types; of two with the same name the later one counts.
    pub fn new(types: impl IntoIterator<Item = ResourceType>) -> Registry {
        let mut types: Vec<_> = types.into_iter().collect();
        types.reverse();
        types.sort_by(|a, b| a.name().cmp(b.name()));
        types.dedup_by(|later, kept| later.name() == kept.name());
        let needs = types.iter().flat_map(|kind| &kind.implicit_dependencies);
        let needed = needs.map(|need| need.type_name.clone()).collect();
        Registry { types, needed }
    }

    /// The same types as an operator wants them.
    pub fn adjusted(&self, settings: &TypeSettings) -> Registry {
        let mut adjusted = self.clone();
        adjusted.types.iter_mut().for_each(|kind| settings.apply(kind));
        adjusted
    }

    /// The type of a name.
    pub fn get(&self, name: &str) -> Option<&ResourceType> {
        let at = self.types.binary_search_by(|kind| kind.name().cmp(name)).ok()?;
        self.types.get(at)
    }

    /// What templates need to know of the type of a name.
    pub fn schema(&self, name: &str) -> Option<&TypeSchema> {
        self.get(name).map(|kind| &kind.schema)
    }

    /// Whether resources of a type may be needed by others without a word.
    pub fn is_needed(&self, name: &str) -> bool {
        self.needed.contains(name)
    }

    /// All types, in order of name.
    pub fn iter(&self) -> std::slice::Iter<'_, ResourceType> {
        self.types.iter()
    }
}

impl Types for Registry {
    fn schema(&self, name: &str) -> Option<&TypeSchema> {
        Registry::schema(self, name)
    }

    fn names(&self) -> Vec<&str> {
        self.iter().map(ResourceType::name).collect()
    }

    fn checks_properties(&self, name: &str) -> bool {
        self.get(name).is_some_and(|kind| {
            kind.check.is_some() || kind.sibling_check.is_some() || kind.expand.is_some()
        })
    }

    fn check(
        &self,
        name: &str,
        properties: &Members,
        siblings: &dyn SiblingDefinitions,
    ) -> Result<(), PropertyError> {
        let Some(kind) = self.get(name) else { return Ok(()) };
        if let Some(check) = kind.check {
            check(properties)?;
        }
        match kind.sibling_check {
            Some(check) => check(properties, siblings),
            None => Ok(()),
        }
    }

    fn expansion(
        &self,
        name: &str,
        properties: &Members,
        siblings: &dyn SiblingDefinitions,
    ) -> Option<Expansion> {
        self.get(name)?.expand?(properties, siblings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_types_with_one_name_the_later_counts() {
        let older = ResourceType::new("OS::Test::A").about("Older.");
        let other = ResourceType::new("OS::Test::B");
        let newer = ResourceType::new("OS::Test::A").about("Newer.");
        let registry = Registry::new([older, other, newer]);
        assert_eq!(registry.iter().len(), 2);
        assert_eq!(registry.schema("OS::Test::A").map(|schema| &*schema.about), Some("Newer."));
    }
}
