//! A plan as a contract: what an update that was planned may do. Everything else stops it.

use super::{Act, Plan};
use crate::store::Hash;
use crate::tree::{Slot, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The last part of the path of a resource whose name is drawn later.
const ANY_NAME: &str = "*";

/// What an update may do to which resources. What it does not name stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The record for which it was made.
    pub base: Hash,
    /// What may be done, by the paths of resources.
    pub allowed: BTreeMap<Arc<str>, BTreeSet<Allowed>>,
    /// Whether what may be updated may be replaced, too.
    pub allows_replacement: bool,
}

/// What may be done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowed {
    /// It may be created.
    Create,
    /// It may be updated in place.
    Update,
    /// It may be updated or replaced.
    Replace,
    /// It may be deleted.
    Delete,
    /// Anything may be created and updated in its nested stack, of which nothing was known.
    Inside,
}

impl Contract {
    /// The contract of a plan for a record.
    pub fn new(plan: &Plan, base: Hash, allows_replacement: bool) -> Contract {
        let mut allowed: BTreeMap<Arc<str>, BTreeSet<Allowed>> = BTreeMap::new();
        for step in &plan.steps {
            let act = match step.act {
                Act::Create => Some(Allowed::Create),
                Act::Update => Some(Allowed::Update),
                Act::Replace => Some(Allowed::Replace),
                Act::Delete => Some(Allowed::Delete),
                Act::Keep | Act::Refuse => None,
            };
            let inside = step.detail.inside_unknown.as_ref().map(|_| Allowed::Inside);
            let path = match step.is_named_later {
                true => beside(&step.path, ANY_NAME).into(),
                false => step.path.clone(),
            };
            if act.is_some() || inside.is_some() {
                allowed.entry(path).or_default().extend(act.into_iter().chain(inside));
            }
        }
        Contract { base, allowed, allows_replacement }
    }

    /// Whether something may be done to a resource, by its path.
    pub fn allows(&self, path: &str, act: Act) -> bool {
        self.at(path).is_some_and(|known| known.iter().any(|it| self.permits(*it, act)))
            || ancestors(path).any(|above| {
                self.at(above).is_some_and(|known| known.iter().any(|it| permits_inside(*it, act)))
            })
    }

    fn at(&self, path: &str) -> Option<&BTreeSet<Allowed>> {
        let any = || self.allowed.get(&*beside(path, ANY_NAME));
        self.allowed.get(path).or_else(any)
    }

    fn permits(&self, allowed: Allowed, act: Act) -> bool {
        match allowed {
            Allowed::Create => act == Act::Create,
            Allowed::Update if self.allows_replacement => act != Act::Refuse,
            Allowed::Update => act == Act::Update,
            Allowed::Replace => act != Act::Refuse,
            Allowed::Delete => act == Act::Delete,
            Allowed::Inside => false,
        }
    }
}

/// Whether something may be done inside the nested stack of a resource.
fn permits_inside(allowed: Allowed, act: Act) -> bool {
    match allowed {
        Allowed::Create => act == Act::Create,
        Allowed::Delete => act == Act::Delete,
        Allowed::Replace => matches!(act, Act::Create | Act::Delete),
        Allowed::Inside => matches!(act, Act::Create | Act::Update),
        Allowed::Update => false,
    }
}

/// The paths of the resources around a resource, the nearest first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    fn above(path: &str) -> Option<&str> {
        path.rsplit_once('/').map(|(above, _)| above)
    }
    std::iter::successors(above(path), |path| above(path))
}

/// The path of another resource of the same stack.
fn beside(path: &str, name: &str) -> String {
    match path.rsplit_once('/') {
        Some((above, _)) => format!("{above}/{name}"),
        None => name.to_owned(),
    }
}

impl Tree {
    /// A hash of the record, as far as plans depend on it: which resources there are, and in which states.
    pub fn record_hash(&self) -> Hash {
        let mut text = String::new();
        for stack in self.stacks.iter().flatten() {
            let updated = stack.summary.updated.map(crate::time::Time::micros);
            let recipe = stack.recipe.id.0;
            text.push_str(&format!("{} {recipe} {} {updated:?}\n", stack.id, stack.summary.state));
            for slot in stack.resources.values() {
                let resource = self.resource(*slot);
                let physical_id = resource.summary.physical_id.as_ref().map(|it| it.shown());
                let (id, state) = (resource.id.0, resource.summary.state);
                text.push_str(&format!("{id} {state} {}\n", physical_id.as_deref().unwrap_or("")));
            }
        }
        Hash::of(text.as_bytes())
    }

    /// The names of the resources from the root to a resource, with slashes between them.
    pub(crate) fn path_of(&self, slot: Slot) -> String {
        let resource = self.resource(slot);
        match self.stack(resource.stack).parent_resource {
            None => resource.summary.name.to_string(),
            Some((_, parent)) => format!("{}/{}", self.path_of(parent), resource.summary.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(allowed: &[(&str, Allowed)]) -> Contract {
        let allowed = allowed.iter().map(|(path, it)| (Arc::from(*path), BTreeSet::from([*it])));
        let base = Hash::of(b"");
        Contract { base, allowed: allowed.collect(), allows_replacement: false }
    }

    #[test]
    fn a_contract_allows_what_it_names_and_nothing_else() {
        let known = contract(&[
            ("a", Allowed::Update),
            ("b", Allowed::Replace),
            ("g/*", Allowed::Create),
            ("n", Allowed::Delete),
            ("o", Allowed::Inside),
        ]);
        let cases = [
            ("a", Act::Update, true),
            ("a", Act::Replace, false),
            ("a", Act::Delete, false),
            ("b", Act::Update, true),
            ("b", Act::Create, true),
            ("b", Act::Delete, true),
            ("c", Act::Create, false),
            ("g/x1", Act::Create, true),
            ("g/x1/inner", Act::Create, true),
            ("g/x1", Act::Delete, false),
            ("h/x1", Act::Create, false),
            ("n/inner", Act::Delete, true),
            ("n/inner", Act::Update, false),
            ("o/x", Act::Update, true),
            ("o/x", Act::Replace, false),
        ];
        for (path, act, is_allowed) in cases {
            assert_eq!(known.allows(path, act), is_allowed, "{path} {act:?}");
        }
        let lenient = Contract { allows_replacement: true, ..known };
        assert!(lenient.allows("a", Act::Replace) && lenient.allows("a", Act::Delete));
        assert!(!lenient.allows("c", Act::Replace));
    }
}
