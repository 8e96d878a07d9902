//! Errors of policy files, and the refusal of a request.

use kiln_template::Location;
use std::fmt;

/// A mistake in a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The position of the mistake.
    pub place: Option<Location>,
    /// The rule that it is in, if it is in one.
    pub rule: Option<String>,
    /// The message.
    pub message: String,
    /// The next step for the operator.
    pub help: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "rule `{rule}`: ")?;
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for PolicyError {}

/// The refusal of a request by a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("You are not authorized to use {rule}.")]
pub struct Forbidden {
    /// The rule that refused.
    pub rule: String,
}
