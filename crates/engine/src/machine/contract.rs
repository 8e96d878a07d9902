//! An update that was planned does what its plan shows: where it would do anything else, it stops.

use super::Machine;
use crate::decide::changed_parts;
use crate::failure::Failure;
use crate::machine::Goal;
use crate::preview::{Act, Contract};
use crate::state::{Action, State, Status};
use crate::tree::{Env, Slot, StackKey, Tree};
use kiln_resources::op::FailureClass;
use std::sync::Arc;

/// Why an update to a plan does not begin.
pub(crate) const MOVED: &str =
    "The plan was not applied: the stack has changed since it was made. Make a new plan.";

impl Machine {
    /// Stops the traversal, unless what is about to be done to a resource is in the plan or there is none. Returns
    /// whether it was stopped.
    pub(crate) fn leaves_plan(
        &mut self,
        env: &mut Env<'_>,
        (key, name): (StackKey, &str),
        act: Act,
        goal: Option<(Slot, &Goal<'_>)>,
    ) -> bool {
        let Some(contract) = self.tree.contract() else { return false };
        let path = self.tree.path_in(key, name);
        if contract.allows(&path, act) {
            return false;
        }
        let reason = self.tree.why_not_planned(&path, act, goal);
        if let Some((slot, _)) = goal {
            let failed = State::new(Action::Update, Status::Failed);
            self.tree.resource_event(env, slot, failed, &reason);
        }
        let failure = Failure::new(FailureClass::ResourceActionRestricted, name, reason);
        let action = self.tree.traversal(key).map_or(Action::Update, |it| it.action);
        self.node_failed(env, key, action, failure);
        true
    }
}

impl Tree {
    /// The contract of the update that is under way.
    fn contract(&self) -> Option<Arc<Contract>> {
        let root = self.root_key();
        let is_update = self.traversal(root).is_some_and(|it| it.action == Action::Update);
        self.stack(root).recipe.contract.clone().filter(|_| is_update)
    }

    /// Whether the plan of an update that has failed, if there was one, shows that a resource is deleted.
    pub(crate) fn may_clean_up(&self, slot: Slot) -> bool {
        let root = self.stack(self.root_key());
        let contract = root.recipe.contract.as_ref();
        let contract = contract.filter(|_| root.summary.state.action == Action::Update);
        contract.is_none_or(|contract| contract.allows(&self.path_of(slot), Act::Delete))
    }

    /// The path of a resource of a stack, which need not exist.
    fn path_in(&self, key: StackKey, name: &str) -> String {
        match self.stack(key).parent_resource {
            None => name.to_owned(),
            Some((_, parent)) => format!("{}/{name}", self.path_of(parent)),
        }
    }

    fn why_not_planned(&self, path: &str, act: Act, goal: Option<(Slot, &Goal<'_>)>) -> String {
        let done = match act {
            Act::Create => "created",
            Act::Replace => "replaced",
            Act::Delete => "deleted",
            Act::Update | Act::Keep | Act::Refuse => "updated",
        };
        let parts = goal.and_then(|(slot, goal)| {
            let key = self.resource(slot).stack;
            let case = self.case(self.stack(key).blueprint.as_deref()?, goal, slot)?;
            let parts = changed_parts(&case).into_iter();
            let parts = parts.filter(|part| act != Act::Replace || part.forces_replacement);
            let names: Vec<String> = parts.map(|part| part.path).collect();
            (!names.is_empty()).then(|| format!(" because of {}", names.join(", ")))
        });
        let parts = parts.unwrap_or_default();
        let next = match act {
            Act::Replace => "Make a new plan, or allow replacements.",
            _ => "Make a new plan.",
        };
        format!("The plan does not show that {path} is {done}{parts}. {next}")
    }
}
