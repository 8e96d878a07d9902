//! What an operation has done so far, so that it is not done twice.

use kiln_cloud::Reply;
use std::sync::Arc;

/// The steps of an operation, in the order they were begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    steps: Vec<(Arc<str>, Step)>,
}

/// How far a step is.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A call was about to be made. Whether it was is not known.
    Begun,
    /// A call was made and replied to.
    Replied(Reply),
    /// A call was refused, or did not reach its service: nothing came of it.
    Refused,
    /// A doubt is no more.
    Settled,
    /// A wait ends at this moment, in microseconds since 1970.
    Until(i64),
}

impl Journal {
    /// How far a step is; nothing if it was not begun.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|(step, _)| &**step == name).map(|(_, step)| step)
    }

    /// Says how far a step is.
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

    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a call was begun of which it is not known how it ended.
    pub fn is_doubtful(&self) -> bool {
        self.steps.iter().any(|(_, step)| *step == Step::Begun)
    }
}
