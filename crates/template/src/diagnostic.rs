//! Diagnostics: what is wrong with a text, as data. Other crates render them.

use crate::codes::Code;
use crate::source::Span;
use std::fmt;

/// Whether a finding rejects the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is rejected.
    Error,
    /// The input is accepted, but is probably a mistake.
    Warning,
}

/// A span with an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// The explanation; may be empty for the main span.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of finding; a row of [`crate::codes`].
    pub code: &'static Code,
    /// The error type that the APIs answer with; the code's, unless a wrapping changed it.
    pub kind: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The class of problem that Heat puts first, such as `Property error`, or nothing.
    pub class: String,
    /// The dotted path that Heat puts next, or nothing.
    pub path: String,
    /// The sentence, in Heat's wording where it has one.
    pub message: String,
    /// The spans: the first is the main one, the others explain it.
    pub labels: Vec<Label>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of a kind with its sentence; add the span with [`Diagnostic::at`].
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

    /// Adds a span, the main one first.
    pub fn at(self, span: Span) -> Diagnostic {
        self.label(span, "")
    }

    /// Adds a span with an explanation.
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

    /// Sets the advice how to fix it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Whether it rejects the input.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The main span.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }

    /// Class, path and sentence, joined as in the API's template validation.
    pub fn text(&self) -> String {
        self.joined(": ")
    }

    /// The same with doubled separators, as in the API's answers to create, update and preview.
    pub fn wire_text(&self) -> String {
        self.joined(": : ")
    }

    /// The error type that the API's template validation answers with.
    ///
    /// Template validation reports errors in sections, resources and outputs as a bad request.
    pub fn validation_kind(&self) -> &'static str {
        match self.kind {
            "StackValidationFailed" => "HTTPBadRequest",
            kind => kind,
        }
    }

    fn joined(&self, separator: &str) -> String {
        let parts = [&self.class, &self.path, &self.message];
        let parts_present: Vec<&str> =
            parts.iter().map(|p| p.as_str()).filter(|p| !p.is_empty()).collect();
        parts_present.join(separator)
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
