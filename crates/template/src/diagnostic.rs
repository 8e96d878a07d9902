//! What is wrong with a text, as data: rendering it is for others.

use crate::codes::Code;
use crate::source::Span;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted, and probably not what was meant.
    Warning,
}

/// A place and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; may be empty for the main place.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of finding; a row of [`crate::codes`].
    pub code: &'static Code,
    /// The error type that the APIs answer with; the code's, unless a wrapping changed it.
    pub kind: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The class of problem that the reference puts first, such as `Property error`, or nothing.
    pub class: String,
    /// The dotted path that the reference puts next, or nothing.
    pub path: String,
    /// The sentence, in the reference's wording where it has one.
    pub message: String,
    /// Where: the first is the main place, the others explain.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of a kind with its sentence; add the place with [`Diagnostic::at`].
    pub fn error(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            kind: code.kind,
            severity: Severity::Error,
            class: String::new(),
            path: String::new(),
            message: message.into(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning of a kind with its sentence.
    pub fn warning(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Adds a place: the main one first.
    pub fn at(self, span: Span) -> Diagnostic {
        self.label(span, "")
    }

    /// Adds a place and what is to be said of it.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Sets the class of problem.
    pub fn class(mut self, class: impl Into<String>) -> Diagnostic {
        self.class = class.into();
        self
    }

    /// Sets the dotted path.
    pub fn path(mut self, path: impl fmt::Display) -> Diagnostic {
        self.path = path.to_string();
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Whether it refuses the input.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The main place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }

    /// Class, path and sentence joined as template validation shows them.
    pub fn text(&self) -> String {
        self.joined(": ")
    }

    /// The same with doubled separators, as create, update and preview show them to clients.
    pub fn wire_text(&self) -> String {
        self.joined(": : ")
    }

    /// The error type that the API's template validation answers with.
    ///
    /// It tells what it finds in sections, resources and outputs as a bad request.
    pub fn validation_kind(&self) -> &'static str {
        match self.kind {
            "StackValidationFailed" => "HTTPBadRequest",
            kind => kind,
        }
    }

    fn joined(&self, separator: &str) -> String {
        let parts = [&self.class, &self.path, &self.message];
        let said: Vec<&str> = parts.iter().map(|p| p.as_str()).filter(|p| !p.is_empty()).collect();
        said.join(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn parts_are_joined_and_empty_ones_left_out() {
        let bare = Diagnostic::error(&codes::UNKNOWN_PROPERTY, "Unknown Property colour");
        assert_eq!(bare.text(), "Unknown Property colour");
        let full = bare.class("Property error").path("resources.a.properties");
        assert_eq!(full.text(), "Property error: resources.a.properties: Unknown Property colour");
        assert_eq!(
            full.wire_text(),
            "Property error: : resources.a.properties: : Unknown Property colour"
        );
    }
}
