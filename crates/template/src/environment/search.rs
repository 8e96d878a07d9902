//! One lookup of a resource type: its candidates in order, until one leads to an implementation.
//!
//! However the mappings are laid out, a lookup ends after a bounded number of steps.

use super::layer::{Layer, Mapping, MappingTarget, is_template_name};
use super::lookup::{EntryPath, Implementation, Owner, Registry, Unresolved};
use super::statement::RESOURCES;
use std::collections::HashSet;
use std::sync::Arc;

/// How many aliases may follow each other.
const MAX_CHAIN: usize = 64;
/// How many types one lookup may come by.
const MAX_STEPS: usize = 1_000;

/// One step that may lead from a type to an implementation.
struct TypeCandidate {
    /// Whose it is, whether it holds for every resource, and its key.
    rank: (Owner, bool, Arc<str>),
    step: SearchStep,
}

impl TypeCandidate {
    /// One that holds for every resource.
    fn general(owner: Owner, key: &Arc<str>, step: SearchStep) -> TypeCandidate {
        TypeCandidate { rank: (owner, true, key.clone()), step }
    }
}

enum SearchStep {
    Alias(Owner, Arc<str>),
    Done(Implementation),
}

/// The mappings have no end.
struct Endless;

/// One lookup under way.
pub(super) struct Search<'a> {
    registry: &'a Registry,
    resource: Option<&'a str>,
    is_builtin: &'a dyn Fn(&str) -> bool,
    /// The types between the one asked for and the one being examined.
    trail: Vec<(Owner, Arc<str>)>,
    /// The first trail that ended.
    dead_end: Vec<(Owner, Arc<str>)>,
    /// Types that are known to lead to no implementation.
    dead: HashSet<(Owner, Arc<str>)>,
    steps: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        resource: Option<&'a str>,
        is_builtin: &'a dyn Fn(&str) -> bool,
    ) -> Search<'a> {
        let (trail, dead_end, dead) = (Vec::new(), Vec::new(), HashSet::new());
        Search { registry, resource, is_builtin, trail, dead_end, dead, steps: 0 }
    }

    pub(super) fn answer(
        mut self,
        type_name: &str,
        ignored: Option<&EntryPath>,
    ) -> Result<Implementation, Unresolved> {
        let names =
            |trail: Vec<(Owner, Arc<str>)>| trail.into_iter().map(|(_, name)| name).collect();
        match self.find(Owner::User, type_name.into(), ignored) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(Unresolved { trail: names(self.dead_end), endless: false }),
            Err(Endless) => Err(Unresolved { trail: names(self.trail), endless: true }),
        }
    }

    /// Follows a type through the registry of its owner; the user's lies over the operator's.
    fn find(
        &mut self,
        owner: Owner,
        type_name: Arc<str>,
        ignored: Option<&EntryPath>,
    ) -> Result<Option<Implementation>, Endless> {
        let here = (owner, type_name.clone());
        if self.dead.contains(&here) {
            return Ok(None);
        }
        let seen = self.trail.contains(&here);
        self.trail.push(here.clone());
        self.steps += 1;
        if seen || self.trail.len() > MAX_CHAIN || self.steps > MAX_STEPS {
            return Err(Endless);
        }
        for candidate in self.candidates(owner, &type_name) {
            let found = match candidate.step {
                SearchStep::Done(found) => Some(found),
                SearchStep::Alias(owner, target) => self.find(owner, target, None)?,
            };
            match found {
                Some(Implementation::Template { entry, .. }) if Some(&entry) == ignored => {}
                Some(found) => {
                    self.trail.pop();
                    return Ok(Some(found));
                }
                None => {}
            }
        }
        if self.dead_end.is_empty() {
            self.dead_end = self.trail.clone();
        }
        self.trail.pop();
        self.dead.insert(here);
        Ok(None)
    }

    /// The candidates for a type, in the order in which they are tried.
    fn candidates(&self, within: Owner, type_name: &str) -> Vec<TypeCandidate> {
        let mut candidates = Vec::new();
        if within == Owner::User {
            self.add_layer(&self.registry.user, Owner::User, type_name, &mut candidates);
        }
        self.add_layer(&self.registry.global.layer, Owner::Operator, type_name, &mut candidates);
        let key: Arc<str> = type_name.into();
        if is_template_name(type_name) {
            let entry = EntryPath { owner: within, path: vec![key.clone()] };
            let found = Implementation::Template { url: key.clone(), entry, span: None };
            candidates.push(TypeCandidate::general(within, &key, SearchStep::Done(found)));
        }
        if (self.is_builtin)(type_name) && !self.registry.global.removes(type_name) {
            let found = Implementation::Builtin(key.clone());
            candidates.push(TypeCandidate::general(Owner::Operator, &key, SearchStep::Done(found)));
        }
        // Stable: an entry of that very type stays before what the type is without it.
        candidates.sort_by(|a, b| a.rank.cmp(&b.rank));
        candidates
    }

    /// Adds the candidates from one registry.
    fn add_layer(&self, layer: &Layer, owner: Owner, type_name: &str, to: &mut Vec<TypeCandidate>) {
        if let Some(resource) = self.resource
            && let Some((key, mapping)) = layer.for_resource(resource, type_name)
        {
            let path = vec![Arc::from(RESOURCES), Arc::from(resource), key.clone()];
            to.push(TypeCandidate {
                rank: (owner, false, key.clone()),
                step: step(owner, path, mapping),
            });
        }
        for (key, mapping, rest) in layer.wildcards(type_name) {
            if let Some(target) = wildcard_target(mapping, rest, type_name) {
                to.push(TypeCandidate::general(owner, key, SearchStep::Alias(owner, target)));
            }
        }
        if let Some((key, mapping)) = layer.exact(type_name) {
            let step = step(owner, vec![key.clone()], mapping);
            to.push(TypeCandidate::general(owner, key, step));
        }
    }
}

fn step(owner: Owner, path: Vec<Arc<str>>, mapping: &Mapping) -> SearchStep {
    match &mapping.target {
        MappingTarget::Type(target) => SearchStep::Alias(owner, target.clone()),
        MappingTarget::Template(url) => SearchStep::Done(Implementation::Template {
            url: url.clone(),
            entry: EntryPath { owner, path },
            span: mapping.span,
        }),
    }
}

/// The target of a wildcard for a type; none if it maps the type to itself.
fn wildcard_target(mapping: &Mapping, rest: &str, type_name: &str) -> Option<Arc<str>> {
    let MappingTarget::Type(target) = &mapping.target else { return None };
    match target.strip_suffix('*') {
        _ if **target == *type_name => None,
        Some(prefix) => Some(format!("{prefix}{rest}").into()),
        None => Some(target.clone()),
    }
}
