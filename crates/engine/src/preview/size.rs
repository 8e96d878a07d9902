//! The size of a tree before it is made: the resources of the root and of everything nested in it.
//!
//! Members of a group that are alike are counted once and multiplied, so the work does not grow with the size of the tree;
//! other resources are counted one by one, and the count stops at the limit.

use super::nested::Unforeseen;
use super::sketch::all_properties;
use super::{Fate, Place, Seen};
use crate::blueprint::Blueprint;
use crate::machine::Goal;
use crate::tree::Tree;
use kiln_resources::behaviour::TOO_MANY;
use kiln_resources::op::FailureClass;
use kiln_template::ResolvedDefinition;
use std::sync::Arc;

/// Why a tree is refused: the message about the limit that it would exceed.
#[derive(Debug)]
pub(crate) struct Oversize(pub(crate) String);

impl Tree {
    /// The number of resources that the tree may want: the operator's limit, or as many as it wants already.
    pub(crate) fn max_wanted_resources(&self) -> Option<usize> {
        let slots = || {
            let stacks = self.stacks.iter().flatten();
            stacks.flat_map(|stack| stack.resources.values().copied())
        };
        self.config.max_resources.map(|limit| match self.resource_count > limit {
            true => limit.max(slots().filter(|slot| self.is_wanted(*slot)).count()),
            false => limit,
        })
    }

    /// The largest number of members for a group that has this many already.
    pub(crate) fn largest_group(&self, members: usize) -> usize {
        self.config.max_resources.map_or(usize::MAX, |limit| limit.max(members))
    }

    /// Refuses a tree with this root if it would exceed a limit.
    pub(super) fn check_size_of(
        &mut self,
        place: &Place,
        blueprint: &Blueprint,
    ) -> Result<(), Oversize> {
        match self.max_wanted_resources() {
            Some(limit) => self.size(place, blueprint, limit).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Refuses a stack that has a value larger than the operator allows, as far as values are known.
    pub(super) fn check_values_of(
        &self,
        place: &Place,
        blueprint: &Blueprint,
    ) -> Result<(), Oversize> {
        let (seen, mut total) = (Seen::default(), 0_usize);
        for (at, resource) in blueprint.definition.resources() {
            match self.resolve_within_limits(place, blueprint, at, &seen) {
                Ok(resolved) => total = total.saturating_add(resolved.byte_size()),
                Err(failure) if failure.class == FailureClass::RequestLimitExceeded => {
                    return Err(Oversize(failure.to_string()));
                }
                // Other mistakes are found elsewhere, or depend on values that are not known.
                Err(_) => {}
            }
            self.check_total(&resource.name, total).map_err(|it| Oversize(it.to_string()))?;
        }
        Ok(())
    }

    /// The number of resources of a stack and of everything nested in it; an error if it is more than the limit.
    fn size(
        &mut self,
        place: &Place,
        blueprint: &Blueprint,
        limit: usize,
    ) -> Result<usize, Oversize> {
        let definition = &blueprint.definition;
        let mut size = within(definition.resources().count(), limit)?;
        if !definition.resources().any(|(at, _)| blueprint.type_at(at).is_nested()) {
            return Ok(size);
        }
        let Ok(order) = definition.order() else { return Ok(size) };
        // The registry may have entries for single resources: then resources with the same definition may differ.
        let are_alike = !blueprint.registry.user().has_resources();
        let (mut seen, mut last) = (Seen::default(), None::<(Arc<ResolvedDefinition>, usize)>);
        for at in order {
            let Some(resource) = definition.resource_at(at) else { continue };
            let Ok(resolved) = self.resolve_preview(place, blueprint, at, &seen) else {
                continue;
            };
            let current = place.key.and_then(|key| self.current(key, &resource.name));
            // A nested stack that exists may have been scaled, so that only new ones are alike.
            let is_new = blueprint.type_at(at).is_nested() && current.is_none();
            let same = last.as_ref().filter(|(last, _)| is_new && is_alike(last, &resolved));
            if let Some((_, inside)) = same {
                size = within(size.saturating_add(*inside), limit)?;
                continue;
            }
            let goal = Goal {
                at,
                resolved_type: blueprint.type_at(at),
                definition: resolved.clone(),
                requires: Vec::new(),
            };
            let fate = self.fate(blueprint, &goal, current).unwrap_or(Fate::Added);
            let shown = match self.may_keep_values(blueprint, &goal, (current, fate)) {
                true => Fate::Unchanged,
                false => fate,
            };
            seen.fates.insert(resource.name.clone(), shown);
            seen.properties.insert(resource.name.clone(), Arc::new(all_properties(&goal)));
            let nested = self.nested_stack(place, blueprint, &goal, (current, fate), &seen);
            let inside = match nested {
                Ok(Some((place, blueprint))) => self.size(&place, &blueprint, limit - size)?,
                Err(Unforeseen::Limit(why)) => return Err(Oversize(why)),
                // What is not known now is counted when the stack is made.
                Ok(None) | Err(Unforeseen::Refused(_) | Unforeseen::NotKnownYet(_)) => 0,
            };
            size = within(size.saturating_add(inside), limit)?;
            last = (are_alike && is_new).then_some((resolved, inside)).or(last);
        }
        Ok(size)
    }
}

fn within(size: usize, limit: usize) -> Result<usize, Oversize> {
    match size <= limit {
        true => Ok(size),
        false => Err(Oversize(TOO_MANY.to_owned())),
    }
}

/// Whether two resources of a stack have nested stacks of the same size.
fn is_alike(one: &ResolvedDefinition, other: &ResolvedDefinition) -> bool {
    one.type_name == other.type_name
        && one.properties == other.properties
        && one.metadata.equals(&other.metadata)
}
