//! Errors, with the messages of the reference.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A range of characters (not bytes) of the expression, counted from 0.
pub type Span = Range<usize>;

/// Why an expression could not be parsed or evaluated, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<ErrorData>);

#[derive(Clone, Debug, PartialEq)]
struct ErrorData {
    kind: ErrorKind,
    span: Option<Span>,
}

/// The kinds of error; `Display` of [`Error`] prints the sentence of each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A character that begins no token.
    Lexical {
        /// The character.
        character: char,
        /// Its position, counted in characters from 0.
        position: usize,
    },
    /// An escape in a text literal that names no character.
    Escape(String),
    /// A token where the grammar has no place for it.
    Unexpected {
        /// The token's value.
        token: String,
        /// Its position, counted in characters from 0.
        position: usize,
        /// The whole expression.
        expression: String,
    },
    /// The expression ends too early.
    UnexpectedEnd,
    /// The expression or a value in it is nested deeper than this crate allows.
    TooDeep,
    /// No function has this name.
    UnknownFunction(String),
    /// No method has this name.
    UnknownMethod {
        /// The name.
        name: String,
        /// The receiver as the reference prints it.
        receiver: String,
    },
    /// Functions of this name exist, but none takes these arguments.
    NoMatchingFunction(String),
    /// Methods of this name exist, but none takes these arguments.
    NoMatchingMethod {
        /// The name.
        name: String,
        /// The receiver as the reference prints it.
        receiver: String,
    },
    /// Several functions of this name take these arguments equally well.
    AmbiguousFunction(String),
    /// Several methods of this name take these arguments equally well.
    AmbiguousMethod {
        /// The name.
        name: String,
        /// The receiver as the reference prints it.
        receiver: String,
    },
    /// The left side of `=>` in a call is not a plain word.
    KeywordArgument,
    /// A map lacks the key; the text is the key as the reference prints it.
    MissingKey(String),
    /// An operation failed; the message is Python's.
    Failure {
        /// The class of failure.
        class: FailureClass,
        /// The message.
        message: Cow<'static, str>,
    },
    /// A collection has more elements than
    /// [`Options::limit_iterators`](crate::Options::limit_iterators).
    CollectionTooLarge(usize),
    /// A value is larger than [`Options::memory_quota`](crate::Options::memory_quota).
    MemoryQuota,
    /// The evaluation took more steps than [`Options::max_steps`](crate::Options::max_steps).
    TooManySteps(u64),
    /// The expression asks for something the caller did not supply.
    NoEnvironment(&'static str),
    /// The result is of a kind that plain data cannot hold.
    NotData(&'static str),
}

/// Classes of failures of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureClass {
    /// `assert` found its condition false.
    Assertion,
    /// An operation that the kind of value does not have.
    Attribute,
    /// Division by zero.
    Division,
    /// A list index out of range.
    Index,
    /// A number out of range.
    Overflow,
    /// A pattern that is no regular expression, or one that takes too long.
    Regex,
    /// A collection has too few or too many members.
    Stop,
    /// A value of the wrong type.
    Type,
    /// A value out of the range of the operation.
    Value,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where it went wrong, if that is known.
    pub fn span(&self) -> Option<Span> {
        self.0.span.clone()
    }

    /// Whether the error comes from parsing rather than evaluating.
    pub fn is_syntax(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Lexical { .. }
                | ErrorKind::Escape(_)
                | ErrorKind::Unexpected { .. }
                | ErrorKind::UnexpectedEnd
        )
    }

    /// Adds the span, unless a more exact one is known already.
    pub(crate) fn at(mut self, span: &Span) -> Error {
        self.0.span.get_or_insert_with(|| span.clone());
        self
    }

    pub(crate) fn failure(class: FailureClass, message: impl Into<Cow<'static, str>>) -> Error {
        ErrorKind::Failure { class, message: message.into() }.into()
    }

    pub(crate) fn value(message: impl Into<Cow<'static, str>>) -> Error {
        Error::failure(FailureClass::Value, message)
    }

    pub(crate) fn type_(message: impl Into<Cow<'static, str>>) -> Error {
        Error::failure(FailureClass::Type, message)
    }

    pub(crate) fn overflow(message: impl Into<Cow<'static, str>>) -> Error {
        Error::failure(FailureClass::Overflow, message)
    }

    pub(crate) fn stop(message: &'static str) -> Error {
        Error::failure(FailureClass::Stop, message)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error(Box::new(ErrorData { kind, span: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Lexical { character, position } => {
                write!(f, "Lexical error: illegal character '{character}' at position {position}")
            }
            ErrorKind::Escape(message) | ErrorKind::MissingKey(message) => f.write_str(message),
            ErrorKind::Unexpected { token, position, expression } => write!(
                f,
                "Parse error: unexpected '{token}' at position {position} of expression '{expression}'"
            ),
            ErrorKind::UnexpectedEnd => f.write_str("Parse error: unexpected end of statement"),
            ErrorKind::TooDeep => f.write_str("Expression is nested too deeply"),
            ErrorKind::UnknownFunction(name) => write!(f, "Unknown function \"{name}\""),
            ErrorKind::UnknownMethod { name, receiver } => {
                write!(f, "Unknown method \"{name}\" for receiver {receiver}")
            }
            ErrorKind::NoMatchingFunction(name) => {
                write!(f, "No function \"{name}\" matches supplied arguments")
            }
            ErrorKind::NoMatchingMethod { name, receiver } => {
                write!(f, "No method \"{name}\" for receiver {receiver} matches supplied arguments")
            }
            ErrorKind::AmbiguousFunction(name) => write!(f, "Ambiguous function \"{name}\""),
            ErrorKind::AmbiguousMethod { name, receiver } => {
                write!(f, "Ambiguous method \"{name}\" for receiver {receiver}")
            }
            ErrorKind::KeywordArgument => f.write_str("Cannot convert mapping to keyword argument"),
            ErrorKind::Failure { message, .. } => f.write_str(message),
            ErrorKind::CollectionTooLarge(limit) => {
                write!(f, "Collection length exceeds {limit} elements")
            }
            ErrorKind::MemoryQuota => f.write_str("Expression consumed too much memory"),
            ErrorKind::TooManySteps(limit) => {
                write!(f, "Expression takes more than {limit} steps")
            }
            ErrorKind::NoEnvironment(what) => {
                write!(f, "Expression needs {what}, which is not available here")
            }
            ErrorKind::NotData(what) => write!(f, "{what} cannot be part of a result"),
        }
    }
}

impl std::error::Error for Error {}
