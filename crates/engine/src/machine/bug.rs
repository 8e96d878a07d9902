//! States that cannot occur.
//!
//! The machine never returns silently from an impossible combination of state and input: it reports a [`Bug`]. In tests
//! that is a panic. In production the stack fails with an internal error that names the bug, all others go on, and the
//! driver logs and counts it.

use super::Machine;
use super::traversal::StackFailure;
use crate::ids::StackId;
use crate::state::{State, Status};
use crate::tree::{Env, StackKey};
use std::fmt;

/// A combination of state and input that cannot occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The stack that it happened to.
    pub stack: StackId,
    /// What was met.
    pub what: String,
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error in stack {}: {}", self.stack, self.what)
    }
}

impl Machine {
    /// Reports a state that cannot occur; its stack fails at the end of the step.
    pub(crate) fn unexpected(&mut self, key: StackKey, what: impl Into<String>) {
        self.unhandled.push((key, what.into()));
    }

    /// Fails the stacks in which something impossible was met in this step.
    pub(crate) fn handle_bugs(&mut self, env: &mut Env<'_>) {
        while !self.unhandled.is_empty() {
            for (key, what) in std::mem::take(&mut self.unhandled) {
                self.handle_bug(env, key, what);
            }
            self.run_queue(env);
        }
    }

    fn handle_bug(&mut self, env: &mut Env<'_>, key: StackKey, what: String) {
        let key = if self.tree.has_stack(key) { key } else { self.tree.root_key() };
        let bug = Bug { stack: self.tree.stack(key).id, what };
        debug_assert!(false, "{bug}");
        self.fail_stack(env, key, bug);
    }

    /// What production does about a bug: one stack fails.
    fn fail_stack(&mut self, env: &mut Env<'_>, key: StackKey, bug: Bug) {
        let reason = format!(
            "InternalError: {}. This is a defect of Kiln: please report it with the log of this stack. \
             Next: update the stack again, or delete it.",
            bug.what
        );
        self.bugs.push(bug);
        match self.tree.traversal(key) {
            Some(_) => self.fail_traversal(env, key, StackFailure::new(reason)),
            None => {
                let state = State::new(self.tree.stack(key).summary.state.action, Status::Failed);
                self.tree.stack_event(env, key, state, &reason);
            }
        }
    }

    /// Takes the bugs that were met since the last time.
    pub fn take_bugs(&mut self) -> Vec<Bug> {
        std::mem::take(&mut self.bugs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Recipe;
    use crate::config::Config;
    use crate::ids::{RecipeId, StackId};
    use crate::machine::{Input, NewStack, StackSettings};
    use crate::runtime::SystemIds;
    use crate::time::Time;
    use crate::tree::Tree;
    use std::sync::Arc;

    fn machine(env: &mut Env<'_>) -> Machine {
        let new = NewStack {
            id: StackId(env.ids.next()),
            name: "s".into(),
            project: "p".into(),
            user_name: "u".into(),
            recipe: Arc::new(Recipe::nothing(RecipeId(env.ids.next()))),
            settings: StackSettings::default(),
            adopted: None,
            makers: 0,
            request: None,
        };
        Machine::new(Tree::create(Arc::new(Config::default()), new, env))
    }

    #[test]
    #[should_panic(expected = "a node is done twice")]
    fn a_bug_is_a_panic_in_tests() {
        let mut ids = SystemIds::default();
        let mut env = Env { now: Time::from_micros(1), ids: &mut ids };
        let mut machine = machine(&mut env);
        machine.unexpected(machine.tree.root_key(), "a node is done twice");
        machine.step(Input::Tick, &mut env);
    }

    #[test]
    fn in_production_the_stack_fails_and_says_what_to_do() {
        let mut ids = SystemIds::default();
        let mut env = Env { now: Time::from_micros(1), ids: &mut ids };
        let mut machine = machine(&mut env);
        let root = machine.tree.root_key();
        let bug = Bug { stack: machine.tree.stack(root).id, what: "two of one kind".into() };
        machine.fail_stack(&mut env, root, bug.clone());
        machine.step(Input::Tick, &mut env);
        let (state, reason) = machine.tree.root_state();
        assert_eq!(state.to_string(), "CREATE_FAILED");
        assert!(reason.starts_with("InternalError: two of one kind."), "{reason}");
        assert_eq!(machine.take_bugs(), [bug]);
        assert!(machine.check_invariants().is_empty());
    }
}
