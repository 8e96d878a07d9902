//! Which of the resources of one name is current.
//!
//! A replacement is a second resource of the same name. The current resource is the last of its name; every other one
//! names the resource that replaces it, which comes later. That holds in memory and in the record, so that a restart finds the same one.

use super::{Slot, StackKey, Tree};
use crate::ids::ResourceId;
use std::sync::Arc;

impl Tree {
    /// The current resource of a name.
    pub(crate) fn current(&self, stack: StackKey, name: &str) -> Option<Slot> {
        let slots = self.stack(stack).by_name.get(name);
        if let (None, Some(missing)) = (slots, &self.missing) {
            missing.record(name);
        }
        slots?.last().copied()
    }

    /// Whether a resource is the current one of its name. A copy that belongs to a snapshot is not.
    pub(crate) fn is_current(&self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        self.current(resource.stack, &resource.summary.name) == Some(slot)
    }

    /// Makes a resource that was just added the replacement of the current one.
    pub(crate) fn set_replacement(&mut self, old: Slot, new: Slot) {
        let (old_id, new_id) = (self.resource(old).id, self.resource(new).id);
        self.change(old).replaced_by = Some(new_id);
        self.change(new).replaces = Some(old_id);
        self.put_last(new);
    }

    /// Makes a resource the current one of its name: a rollback goes back to what was replaced. Returns
    /// whether another one was current.
    pub(crate) fn promote(&mut self, slot: Slot) -> bool {
        let resource = self.resource(slot);
        let (key, name, id) = (resource.stack, resource.summary.name.clone(), resource.id);
        let Some(current) = self.current(key, &name).filter(|current| *current != slot) else {
            return false;
        };
        let current_id = self.resource(current).id;
        let revived = self.change(slot);
        revived.replaced_by = None;
        revived.replaces = Some(current_id);
        let given_up = self.change(current);
        given_up.replaced_by = Some(id);
        given_up.replaces = given_up.replaces.filter(|other| *other != id);
        self.put_last(slot);
        true
    }

    fn put_last(&mut self, slot: Slot) {
        let resource = self.resource(slot);
        let (key, name) = (resource.stack, resource.summary.name.clone());
        if let Some(slots) = self.stack_mut(key).by_name.get_mut(&name) {
            slots.retain(|other| *other != slot);
            slots.push(slot);
        }
    }

    /// A resource was dropped: the others of its name that referred to it refer to its neighbours.
    pub(super) fn relink(
        &mut self,
        stack: StackKey,
        name: &str,
        gone: ResourceId,
        replaces: Option<ResourceId>,
        replaced_by: Option<ResourceId>,
    ) {
        let slots = self.stack(stack).by_name.get(name).cloned().unwrap_or_default();
        let ids: Vec<ResourceId> = slots.iter().map(|slot| self.resource(*slot).id).collect();
        let there = |id: Option<ResourceId>| id.filter(|id| ids.contains(id));
        let (Some(current), replaces) = (ids.last().copied(), there(replaces)) else { return };
        let successor = there(replaced_by).unwrap_or(current);
        for (slot, id) in slots.into_iter().zip(&ids) {
            let resource = self.resource(slot);
            if resource.replaced_by == Some(gone) {
                let next = if successor == *id { current } else { successor };
                // The one that takes the place of the current resource is replaced by nothing.
                self.change(slot).replaced_by = (*id != current).then_some(next);
            }
            if self.resource(slot).replaces == Some(gone) {
                self.change(slot).replaces = replaces.filter(|replaced| replaced != id);
            }
        }
    }

    /// Sorts the resources of each name after they were loaded: the current one comes last.
    ///
    /// Earlier versions lost the link between two resources if the one between them was dropped first. Then the newest
    /// resource that nothing replaces is the current one, as it was in memory.
    pub(crate) fn sort_candidates(&mut self, key: StackKey) {
        let mut by_name = std::mem::take(&mut self.stack_mut(key).by_name);
        let mut lost: Vec<(Slot, ResourceId)> = Vec::new();
        for slots in by_name.values_mut().filter(|slots| slots.len() > 1) {
            let namesakes = slots.clone();
            slots.sort_by_key(|slot| {
                let hops = self.hops_to_current(&namesakes, *slot);
                (std::cmp::Reverse(hops), self.resource(*slot).number)
            });
            if let Some((current, others)) = slots.split_last() {
                let current = self.resource(*current).id;
                let is_lost = |slot: &&Slot| self.resource(**slot).replaced_by.is_none();
                lost.extend(others.iter().filter(is_lost).map(|slot| (*slot, current)));
            }
        }
        self.stack_mut(key).by_name = by_name;
        for (slot, current) in lost {
            self.change(slot).replaced_by = Some(current);
        }
    }

    /// How many replacements lead from a resource to the one that nothing replaces.
    fn hops_to_current(&self, namesakes: &[Slot], slot: Slot) -> usize {
        let (mut hops, mut resource) = (0, self.resource(slot));
        while let Some(next) = resource.replaced_by.filter(|_| hops < namesakes.len()) {
            let next = namesakes.iter().map(|slot| self.resource(*slot)).find(|it| it.id == next);
            let Some(next) = next else { break };
            (hops, resource) = (hops + 1, next);
        }
        hops
    }

    /// What contradicts the rule of this module.
    pub(crate) fn check_current(&self, key: StackKey, found: &mut Vec<String>) {
        for (name, slots) in &self.stack(key).by_name {
            let ids: Vec<ResourceId> = slots.iter().map(|slot| self.resource(*slot).id).collect();
            for (at, slot) in slots.iter().enumerate() {
                let replaced_by = self.resource(*slot).replaced_by;
                let is_current = at + 1 == slots.len();
                if is_current && replaced_by.is_some() {
                    found.push(format!("the current {name} is replaced by {replaced_by:?}"));
                }
                if !is_current && replaced_by.is_none_or(|id| !ids[at + 1..].contains(&id)) {
                    found.push(format!("{name} is not current, and no later one replaces it"));
                }
            }
        }
    }
}

/// Removes a resource from the list of those of its name.
pub(super) fn forget(stack: &mut super::Stack, name: &Arc<str>, slot: Slot) {
    if let Some(slots) = stack.by_name.get_mut(name) {
        slots.retain(|other| *other != slot);
        if slots.is_empty() {
            stack.by_name.swap_remove(name);
        }
    }
}
