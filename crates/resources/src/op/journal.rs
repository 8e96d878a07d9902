//! The recorded steps of an operation, so that no step is repeated after an interruption.

use kiln_cloud::Reply;
use std::sync::Arc;

/// The steps of an operation, in the order they were begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    steps: Vec<(Arc<str>, Step)>,
}

/// The state of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A call was about to be made; it is not known whether it was.
    Begun,
    /// A call was made and replied to.
    Replied(Reply),
    /// A call was rejected, or did not reach its service: it had no effect.
    Refused,
    /// A doubt was resolved.
    Settled,
    /// A wait ends at this time, in microseconds since 1970.
    Until(i64),
}

impl Journal {
    /// The state of a step; `None` if it was not begun.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|(step, _)| &**step == name).map(|(_, step)| step)
    }

    /// Records the state of a step.
    pub fn set(&mut self, name: &str, step: Step) {
        match self.steps.iter_mut().find(|(known, _)| &**known == name) {
            Some((_, known)) => *known = step,
            None => self.steps.push((name.into(), step)),
        }
    }

    /// The steps in the order they were begun.
    pub fn iter(&self) -> impl Iterator<Item = &(Arc<str>, Step)> {
        self.steps.iter()
    }

    /// Whether no step was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a call was begun whose end is not known.
    pub fn is_doubtful(&self) -> bool {
        self.steps.iter().any(|(_, step)| *step == Step::Begun)
    }
}
