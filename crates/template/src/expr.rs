//! Expressions: values with functions in them, each with its place.
//!
//! Lowering never refuses: what is structurally wrong becomes an [`ExprKind::Invalid`] that the
//! checker reports if that part of the template is in use. So a mistake in the branch of an `if` that
//! is not taken harms nobody, as in the reference.

use crate::codes::{self, Code};
use crate::document::{Data, Node};
use crate::functions::{self, Function};
use crate::source::Span;
use crate::value::Value;
use crate::version::{Meaning, Place, Version};
use std::sync::Arc;

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The text it was read from.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A scalar: null, boolean, number or text.
    Scalar(Value),
    /// A list.
    List(Box<[Expr]>),
    /// A map.
    Map(Box<[Member]>),
    /// A function with its argument.
    Call(Box<Call>),
    /// A choice between two expressions.
    If(Box<If>),
    /// A function whose form is wrong.
    Invalid(Box<Invalid>),
}

/// One member of a map.
#[derive(Clone, Debug)]
pub struct Member {
    /// The key.
    pub key: Arc<str>,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Expr,
}

/// A function with its argument.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// Where its name stands.
    pub name_span: Span,
    /// Its argument.
    pub args: Expr,
    /// The parsed query, for `yaql` with a literal expression.
    pub query: Option<Arc<kiln_yaql::Expression>>,
}

/// A choice between two expressions.
#[derive(Clone, Debug)]
pub struct If {
    /// The word it was written with.
    pub function: &'static Function,
    /// Where that stands.
    pub name_span: Span,
    /// Decides.
    pub condition: Expr,
    /// Taken when the condition holds.
    pub then: Expr,
    /// Taken when it does not; nothing at all if left out.
    pub otherwise: Option<Expr>,
}

/// A function whose form is wrong.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The word it was written with.
    pub name: Arc<str>,
    /// Where that stands.
    pub name_span: Span,
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Expr {
    /// Reads an expression from a document, in the language of a version.
    pub fn lower(node: &Node, version: Version, place: Place) -> Expr {
        let kind = match &node.data {
            Data::List(items) => {
                ExprKind::List(items.iter().map(|item| Expr::lower(item, version, place)).collect())
            }
            Data::Map(map) => match &map.entries[..] {
                [only] => match version.meaning(&only.key, place) {
                    Meaning::Data => lower_map(map.iter(), version, place),
                    meaning => lower_function(
                        meaning,
                        &only.key,
                        only.key_span,
                        &only.value,
                        version,
                        place,
                    ),
                },
                _ => lower_map(map.iter(), version, place),
            },
            _ => ExprKind::Scalar(Value::from(node)),
        };
        Expr { span: node.span, kind }
    }

    /// The text, if it is literal text.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            ExprKind::Scalar(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The members, if it is a literal list.
    pub fn as_list(&self) -> Option<&[Expr]> {
        match &self.kind {
            ExprKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if it is a literal map.
    pub fn as_map(&self) -> Option<&[Member]> {
        match &self.kind {
            ExprKind::Map(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a key, if it is a literal map that has it.
    pub fn get(&self, key: &str) -> Option<&Expr> {
        self.as_map()?.iter().find(|member| &*member.key == key).map(|member| &member.value)
    }

    /// Whether it is literal null.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, ExprKind::Scalar(Value::Null))
    }

    /// Whether its value depends on a function.
    pub fn is_function(&self) -> bool {
        matches!(&self.kind, ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Invalid(_))
    }

    /// Whether there is no function in it.
    pub fn is_literal(&self) -> bool {
        match &self.kind {
            ExprKind::Scalar(_) => true,
            ExprKind::List(items) => items.iter().all(Expr::is_literal),
            ExprKind::Map(members) => members.iter().all(|member| member.value.is_literal()),
            ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Invalid(_) => false,
        }
    }

    /// Its value if there is no function in it; functions in it come out as null.
    pub fn literal(&self) -> Value {
        match &self.kind {
            ExprKind::Scalar(value) => value.clone(),
            ExprKind::List(items) => Value::list(items.iter().map(Expr::literal)),
            ExprKind::Map(members) => {
                Value::map(members.iter().map(|m| (m.key.clone(), m.value.literal())))
            }
            ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Invalid(_) => Value::Null,
        }
    }
}

fn lower_map<'a>(
    entries: impl Iterator<Item = &'a crate::document::Entry>,
    version: Version,
    place: Place,
) -> ExprKind {
    let members = entries.map(|entry| Member {
        key: entry.key.clone(),
        key_span: entry.key_span,
        value: Expr::lower(&entry.value, version, place),
    });
    ExprKind::Map(members.collect())
}

fn lower_function(
    meaning: Meaning,
    name: &Arc<str>,
    name_span: Span,
    argument: &Node,
    version: Version,
    place: Place,
) -> ExprKind {
    let invalid = |code, message: String, help: Option<String>| {
        ExprKind::Invalid(Box::new(Invalid { name: name.clone(), name_span, code, message, help }))
    };
    match meaning {
        Meaning::Function(function) if function.is_choice() => {
            lower_if(function, name_span, argument, version, place)
                .unwrap_or_else(|message| invalid(&codes::FUNCTION_ARGUMENTS, message, None))
        }
        Meaning::Function(function) => {
            let args = Expr::lower(argument, version, place);
            match function.form(&args, version) {
                Ok(()) => {
                    let query = functions::literal_query(function, &args);
                    ExprKind::Call(Box::new(Call { function, name_span, args, query }))
                }
                Err(message) => {
                    let help = format!("write it as {}", function.usage);
                    invalid(&codes::FUNCTION_ARGUMENTS, message, Some(help))
                }
            }
        }
        Meaning::Removed(function) => invalid(
            &codes::FUNCTION_REMOVED,
            format!(
                "The template version is invalid: The function {name} is not supported in this \
                 version of HOT."
            ),
            function.instead().map(|other| format!("use {other} instead")),
        ),
        Meaning::Misplaced(_) => invalid(
            &codes::FUNCTION_NOT_ALLOWED,
            format!("The function \"{name}\" is invalid in this context"),
            Some("conditions are decided from parameters alone".into()),
        ),
        Meaning::Data => ExprKind::Scalar(Value::Null),
    }
}

fn lower_if(
    function: &'static Function,
    name_span: Span,
    argument: &Node,
    version: Version,
    place: Place,
) -> Result<ExprKind, String> {
    let optional = version >= Version::Hot20210416;
    let (condition, then, otherwise) = match argument.as_list() {
        Some([condition, then, otherwise]) => (condition, then, Some(otherwise)),
        Some([condition, then]) if optional => (condition, then, None),
        _ => {
            return Err(format!(
                "Arguments to \"{}\" must be of the form: [condition_name, value_if_true, \
                 value_if_false]",
                function.name
            ));
        }
    };
    Ok(ExprKind::If(Box::new(If {
        function,
        name_span,
        condition: Expr::lower(condition, version, Place::Condition),
        then: Expr::lower(then, version, place),
        otherwise: otherwise.map(|node| Expr::lower(node, version, place)),
    })))
}
