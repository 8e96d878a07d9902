//! Expressions: values with functions in them, each with its span.
//!
//! Lowering never fails: a function of the wrong form becomes an [`ExprKind::Invalid`] that the
//! checker reports if that part of the template is in use. A mistake in the branch of an `if` that
//! is not taken is not an error, as in Heat.

use crate::codes::{self, Code};
use crate::document::{Data, Entry, Map, Node};
use crate::functions::{self, Function};
use crate::source::Span;
use crate::value::Value;
use crate::version::{Meaning, Position, Version};
use std::sync::Arc;

/// An expression and its span.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The text it was read from.
    pub span: Span,
    /// The form of the expression.
    pub kind: ExprKind,
}

/// The form of an expression.
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
    /// The span of the key.
    pub key_span: Span,
    /// The value.
    pub value: Expr,
}

/// A function with its argument.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// The span of its name.
    pub name_span: Span,
    /// Its argument.
    pub args: Expr,
    /// The parsed query, for `yaql` with a literal expression.
    pub query: Option<Arc<kiln_yaql::Expression>>,
}

/// A choice between two expressions.
#[derive(Clone, Debug)]
pub struct If {
    /// The function's name in the template.
    pub function: &'static Function,
    /// The span of the name.
    pub name_span: Span,
    /// The condition that decides.
    pub condition: Expr,
    /// Taken when the condition holds.
    pub then: Expr,
    /// Taken when it does not; nothing at all if left out.
    pub otherwise: Option<Expr>,
}

/// A function whose form is wrong.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The function's name in the template.
    pub name: Arc<str>,
    /// The span of the name.
    pub name_span: Span,
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// The error message.
    pub message: String,
    /// How to fix it.
    pub help: Option<String>,
}

impl Expr {
    /// Lowers a node of a document to an expression, by the rules of a template version.
    ///
    /// The node is consumed: lists and maps keep their memory, and only their members
    /// change.
    pub fn lower(node: Node, version: Version, position: Position) -> Expr {
        let kind = match node.data {
            Data::Null => ExprKind::Scalar(Value::Null),
            Data::Bool(flag) => ExprKind::Scalar(Value::Bool(flag)),
            Data::Int(number) => ExprKind::Scalar(Value::Int(number)),
            Data::Float(number) => ExprKind::Scalar(Value::Float(number)),
            Data::Text(text) => ExprKind::Scalar(Value::Text(text)),
            Data::List(items) => {
                let lower = |item| Expr::lower(item, version, position);
                ExprKind::List(items.into_iter().map(lower).collect())
            }
            Data::Map(map) => lower_map(map, version, position),
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
    pub(crate) fn is_function(&self) -> bool {
        matches!(&self.kind, ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Invalid(_))
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

fn lower_map(map: Map, version: Version, position: Position) -> ExprKind {
    let meaning = match &map.entries[..] {
        [only] => version.meaning(&only.key, position),
        _ => Meaning::Data,
    };
    let mut entries = map.entries.into_iter();
    if !matches!(meaning, Meaning::Data)
        && let Some(only) = entries.next()
    {
        return lower_function(meaning, only, version, position);
    }
    let members = entries.map(|Entry { key, key_span, value }| Member {
        key,
        key_span,
        value: Expr::lower(value, version, position),
    });
    ExprKind::Map(members.collect())
}

fn lower_function(
    meaning: Meaning,
    entry: Entry,
    version: Version,
    position: Position,
) -> ExprKind {
    let Entry { key: name, key_span: name_span, value: argument } = entry;
    let invalid = |code, message: String, help: Option<String>| {
        ExprKind::Invalid(Box::new(Invalid { name: name.clone(), name_span, code, message, help }))
    };
    match meaning {
        Meaning::Function(function) if function.is_choice() => {
            lower_if(function, name_span, argument, version, position)
                .unwrap_or_else(|message| invalid(&codes::FUNCTION_ARGUMENTS, message, None))
        }
        Meaning::Function(function) => {
            let args = Expr::lower(argument, version, position);
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
    argument: Node,
    version: Version,
    position: Position,
) -> Result<ExprKind, String> {
    let parts = match argument.data {
        Data::List(parts) => parts,
        _ => Box::default(),
    };
    let fits = parts.len() == 3 || parts.len() == 2 && version >= Version::Hot20210416;
    let mut parts = parts.into_iter();
    let (true, Some(condition), Some(then)) = (fits, parts.next(), parts.next()) else {
        return Err(format!(
            "Arguments to \"{}\" must be of the form: [condition_name, value_if_true, \
             value_if_false]",
            function.name
        ));
    };
    Ok(ExprKind::If(Box::new(If {
        function,
        name_span,
        condition: Expr::lower(condition, version, Position::Condition),
        then: Expr::lower(then, version, position),
        otherwise: parts.next().map(|node| Expr::lower(node, version, position)),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    #[test]
    fn expressions_fit_where_the_document_was() {
        assert_eq!((size_of::<Node>(), size_of::<Expr>()), (32, 32));
        assert_eq!((size_of::<Entry>(), size_of::<Member>()), (56, 56));
    }
}
