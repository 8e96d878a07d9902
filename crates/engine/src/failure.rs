//! What went wrong, with its place in the tree.

use kiln_resources::op::{self, FailureClass};
use std::fmt;

/// Longer texts are cut: a service may answer with anything.
const MAX_MESSAGE: usize = 32 << 10;

/// The failure of a resource, as users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The class of the error, such as `ResourceInError`.
    pub class: FailureClass,
    /// Where: `resources.web.resources.server`.
    pub path: String,
    /// What happened.
    pub message: String,
}

impl Failure {
    /// A failure of a resource.
    pub(crate) fn new(class: FailureClass, resource: &str, message: impl Into<String>) -> Failure {
        let mut message = message.into();
        cut(&mut message, MAX_MESSAGE);
        Failure { class, path: format!("resources{}", element(resource)), message }
    }

    /// The same, at a path below the resource: `properties.size`.
    pub(crate) fn at(mut self, path: &str) -> Failure {
        if !path.is_empty() {
            self.path = format!("{}.{path}", self.path);
        }
        self
    }

    /// The same as the failure of an operation, which is not tried again.
    pub(crate) fn cause(self) -> op::Failure {
        op::Failure { class: self.class, message: self.message, is_retryable: false, status: None }
    }

    /// What an operation on a resource failed with.
    pub(crate) fn of(resource: &str, failure: op::Failure) -> Failure {
        Failure::new(failure.class, resource, failure.message)
    }

    /// The same, seen from the stack that holds the failed resource's stack.
    pub(crate) fn inside(mut self, parent_resource: &str) -> Failure {
        self.path = format!("resources{}.{}", element(parent_resource), self.path);
        self
    }
}

/// A failure with no longer a message than is kept.
pub(crate) fn bounded(mut failure: op::Failure) -> op::Failure {
    cut(&mut failure.message, MAX_MESSAGE);
    failure
}

/// A name in a path; names that are numbers are written as indexes.
fn element(name: &str) -> String {
    match !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("[{name}]"),
        false => format!(".{name}"),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.class, self.path, self.message)
    }
}

/// Cuts a text to so many bytes, at a character.
pub(crate) fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
}

/// The first characters of a text.
pub(crate) fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_grows_its_path_on_the_way_up() {
        let failure =
            Failure::new(FailureClass::ValueError, "server", "no luck").inside("0").inside("group");
        let expected = "ValueError: resources.group.resources[0].resources.server: no luck";
        assert_eq!(failure.to_string(), expected);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let failure = Failure::new(FailureClass::Error, "r", "ä".repeat(10 << 20));
        assert!(failure.message.len() <= MAX_MESSAGE);
        assert_eq!(first_characters("äöü", 2), "äö");
        assert_eq!(first_characters("ä", 2), "ä");
    }
}
