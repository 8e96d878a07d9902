//! The refresh at the end of a traversal: attributes that outputs show may have changed since the object was created,
//! by resources that came after it. A network has got subnets, a server a floating IP address.

use super::Machine;
use super::reached::Transition;
use super::traversal::Phase;
use crate::ids::ResourceId;
use crate::state::Action;
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::behaviour::OperationKind;
use kiln_template::Graph;
use kiln_template::Path;
use kiln_template::Scope;
use kiln_template::collect_dependencies;
use std::collections::BTreeSet;

impl Machine {
    /// Reads the objects that outputs show, if resources that depend on them were created, updated or removed in
    /// this traversal.
    pub(crate) fn start_refresh(&mut self, env: &mut Env<'_>, key: StackKey) {
        let slots = self.tree.resources_to_refresh(key);
        if slots.is_empty() {
            return self.complete_traversal(env, key);
        }
        let mut graph = Graph::with_capacity(slots.len());
        slots.iter().for_each(|_| graph.push(&[]));
        self.schedule_slots(key, Phase::Refresh, slots, &graph);
    }

    /// Notes the dependencies of a resource that is changed: their attributes may change by that.
    pub(crate) fn note_touched(&mut self, slot: Slot) {
        let resource = self.tree.resource(slot);
        let key = resource.stack;
        let needed: Vec<ResourceId> = match &resource.op {
            Some(op) => resource.requires.iter().chain(&op.requires).copied().collect(),
            None => return,
        };
        if let Some(touched) =
            self.traversal_mut(key).and_then(|traversal| traversal.touched.as_mut())
        {
            touched.extend(needed);
        }
    }

    /// Visits a resource: its object is read once more.
    pub(crate) fn visit_refresh(
        &mut self,
        env: &mut Env<'_>,
        key: StackKey,
        slot: Option<Slot>,
        node: usize,
    ) {
        let (Some(slot), Some(traversal)) = (slot, self.tree.traversal(key)) else {
            return self.node_done(key, node);
        };
        let action = traversal.action;
        let resource = self.tree.resource(slot);
        let is_there = resource.summary.physical_id.is_some() && resource.child.is_none();
        if resource.op.is_some() || !is_there {
            return self.node_done(key, node);
        }
        self.reached.hit(Transition::OutputsRefreshed);
        let origin = self.tree.origin(key, node);
        self.put_operation(slot, origin, OperationKind::Refresh, action);
        self.dispatch(env, slot);
    }
}

impl Tree {
    fn resources_to_refresh(&self, key: StackKey) -> Vec<Slot> {
        let stack = self.stack(key);
        let is_for_nothing =
            stack.traversal.as_ref().is_none_or(|traversal| traversal.action == Action::Delete);
        let Some(blueprint) = stack.blueprint.as_ref().filter(|_| !is_for_nothing) else {
            return Vec::new();
        };
        let definition = &blueprint.definition;
        let stack_scope = self.scope(key);
        let scope = Scope::new(definition, &stack_scope);
        let mut needs = Vec::new();
        for output in definition.template.outputs.values() {
            let find = |name: &str| definition.position(name);
            collect_dependencies(&scope, &output.value, &Path::Root, &find, &mut needs);
        }
        let shown: BTreeSet<usize> = needs.into_iter().filter_map(|need| need.at).collect();
        let is_touched = |slot: &Slot| {
            let touched = stack.traversal.as_ref().map(|traversal| &traversal.touched);
            touched.is_none_or(|ids| {
                ids.as_ref().is_none_or(|ids| ids.contains(&self.resource(*slot).id))
            })
        };
        let slot_at = |at: usize| self.current(key, &definition.resource_at(at)?.name);
        shown.into_iter().filter_map(slot_at).filter(is_touched).collect()
    }
}
