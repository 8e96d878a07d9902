//! The signatures of functions: names, parameters, types, defaults.
//!
//! A function is a row of a table in `functions/`; nothing else has to know about it.

use crate::arguments::Arguments;
use crate::error::Error;
use crate::value::{Value, View, ViewKind};

/// One function or method, or one overload of several of the same name.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) kind: FunctionKind,
    /// Whether `name => value` names a parameter; otherwise pairs are arguments like others.
    pub(crate) keywords: bool,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) run: FunctionBody,
}

/// The body of a function.
pub(crate) type FunctionBody = fn(&mut Arguments<'_>) -> Result<Value, Error>;

/// How a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionKind {
    Function,
    Method,
    Both,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) type_: Type,
    pub(crate) nullable: bool,
    pub(crate) default: Option<Default>,
    pub(crate) rest: Rest,
}

/// Whether a parameter takes all arguments that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    No,
    Positional,
    Keyword,
}

/// The value of a parameter without an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Default {
    Null,
    Bool(bool),
    Int(i64),
    Text(&'static str),
    /// A span of no length.
    Zero,
    /// None: the function sees that there is no argument.
    Unset,
}

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Any,
    Bool,
    Date,
    /// Integers and booleans.
    Int,
    /// Integers without booleans.
    StrictInt,
    /// Lists, sets, views, iterators.
    Iterable,
    /// One-shot iterators, and memorized ones.
    Iterator,
    /// An expression that is not evaluated before the call.
    Lambda,
    Map,
    /// Integers and floats without booleans.
    Number,
    /// The result of `orderBy`.
    Ordered,
    /// A pair whose sides are evaluated before the call.
    Pair,
    /// A pair whose sides are not evaluated before the call.
    LazyPair,
    Regex,
    Sequence,
    Set,
    Span,
    /// Iterables that are neither lists nor sets.
    Stream,
    Text,
}

impl Type {
    /// Whether the type accepts a value other than null.
    pub(crate) fn accepts(self, value: &Value) -> bool {
        match self {
            Type::Any => true,
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Date => matches!(value, Value::Date(_)),
            Type::Int => matches!(value, Value::Int(_) | Value::Bool(_)),
            Type::StrictInt => matches!(value, Value::Int(_)),
            Type::Iterable => matches!(
                value,
                Value::List(_)
                    | Value::Set(_)
                    | Value::View(_)
                    | Value::Iterator(_)
                    | Value::Lazy(_)
            ),
            Type::Iterator => match value {
                Value::Iterator(_) => true,
                Value::Lazy(lazy) => !lazy.is_sorted(),
                _ => false,
            },
            Type::Lambda => true,
            Type::Map => matches!(value, Value::Map(_)),
            Type::Number => matches!(value, Value::Int(_) | Value::Float(_)),
            Type::Ordered => matches!(value, Value::Lazy(lazy) if lazy.is_sorted()),
            Type::Pair | Type::LazyPair => false,
            Type::Regex => matches!(value, Value::Regex(_)),
            Type::Sequence => matches!(value, Value::List(_)),
            Type::Set => matches!(
                value,
                Value::Set(_) | Value::View(View { part: ViewKind::Keys | ViewKind::Items, .. })
            ),
            Type::Span => matches!(value, Value::Span(_)),
            Type::Stream => {
                matches!(value, Value::Iterator(_) | Value::Lazy(_))
                    || matches!(value, Value::View(view) if view.part == ViewKind::Values)
            }
            Type::Text => matches!(value, Value::Text(_)),
        }
    }

    /// Whether everything this type accepts is accepted by the other one, but not the reverse.
    pub(crate) fn narrower(self, other: Type) -> bool {
        use Type::{Any, Int, Iterable, Iterator, Ordered, Sequence, Set, Stream, StrictInt};
        match (self, other) {
            (a, b) if a == b => false,
            (_, Any) => true,
            (StrictInt, Int) => true,
            (Iterator | Ordered | Sequence | Set | Stream, Iterable) => true,
            (Iterator | Ordered, Stream) => true,
            _ => false,
        }
    }

    /// Whether an argument of this type stays unevaluated.
    pub(crate) fn is_lazy(self) -> bool {
        matches!(self, Type::Lambda | Type::LazyPair)
    }
}

impl Parameter {
    /// Whether the parameter accepts a value.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.nullable || self.type_ == Type::Lambda,
            value => self.type_.accepts(value),
        }
    }

    /// The parameter with a default; a null default makes it take null too.
    pub(crate) const fn or(mut self, default: Default) -> Parameter {
        if matches!(default, Default::Null) {
            self.nullable = true;
        }
        self.default = Some(default);
        self
    }

    /// The parameter taking null too.
    pub(crate) const fn nullable(mut self) -> Parameter {
        self.nullable = true;
        self
    }

    /// The parameter taking all positional arguments that are left.
    pub(crate) const fn rest(mut self) -> Parameter {
        self.rest = Rest::Positional;
        self
    }

    /// The parameter taking all named arguments that are left.
    pub(crate) const fn keyword_rest(mut self) -> Parameter {
        self.rest = Rest::Keyword;
        self
    }
}

const fn parameter(name: &'static str, type_: Type) -> Parameter {
    Parameter { name, type_, nullable: false, default: None, rest: Rest::No }
}

/// A parameter of any type, null included.
pub(crate) const fn any(name: &'static str) -> Parameter {
    parameter(name, Type::Any).nullable()
}

/// A parameter of the given type.
pub(crate) const fn typed(name: &'static str, type_: Type) -> Parameter {
    parameter(name, type_)
}

pub(crate) const fn int(name: &'static str) -> Parameter {
    parameter(name, Type::Int)
}

pub(crate) const fn iter(name: &'static str) -> Parameter {
    parameter(name, Type::Iterable)
}

pub(crate) const fn lambda(name: &'static str) -> Parameter {
    parameter(name, Type::Lambda)
}

pub(crate) const fn map(name: &'static str) -> Parameter {
    parameter(name, Type::Map)
}

pub(crate) const fn number(name: &'static str) -> Parameter {
    parameter(name, Type::Number)
}

pub(crate) const fn text(name: &'static str) -> Parameter {
    parameter(name, Type::Text)
}

/// A row for a function.
pub(crate) const fn f(
    name: &'static str,
    parameters: &'static [Parameter],
    run: FunctionBody,
) -> Function {
    Function { name, kind: FunctionKind::Function, keywords: true, parameters, run }
}

/// A row for a method.
pub(crate) const fn m(
    name: &'static str,
    parameters: &'static [Parameter],
    run: FunctionBody,
) -> Function {
    Function { name, kind: FunctionKind::Method, keywords: true, parameters, run }
}

/// A row for something that is both.
pub(crate) const fn b(
    name: &'static str,
    parameters: &'static [Parameter],
    run: FunctionBody,
) -> Function {
    Function { name, kind: FunctionKind::Both, keywords: true, parameters, run }
}

impl Function {
    /// The row with pairs taken as arguments of their own.
    pub(crate) const fn with_pairs(mut self) -> Function {
        self.keywords = false;
        self
    }
}
