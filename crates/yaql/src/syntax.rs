//! The tree of a parsed expression, and its printed form.
//!
//! Printing and parsing again returns the same tree. The depth of a tree is bounded by the parser,
//! so walking one by recursion is safe.

use crate::error::Span;
use crate::resolve::CallPlan;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A node of an expression with its span.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
}

/// The kind of a node.
#[derive(Debug)]
pub(crate) enum NodeKind {
    /// A number, text, boolean or null.
    Literal(Value),
    /// A bare word, which stands for itself as text.
    Keyword(Arc<str>),
    Variable(Variable),
    /// A value in parentheses; kept apart because a word in parentheses is no argument name.
    Group(Arc<Node>),
    List(Vec<Argument>),
    Map(Vec<Argument>),
    Call(Call),
    /// `target.name`
    Attribute {
        target: Arc<Node>,
        safe: bool,
        name: Arc<str>,
    },
    /// `target.name(arguments)`
    Method {
        target: Arc<Node>,
        safe: bool,
        call: Call,
    },
    /// A dot followed by anything else: grammatical, but nothing takes it.
    Member {
        target: Arc<Node>,
        safe: bool,
        member: Arc<Node>,
    },
    /// `target[arguments]`, with the target as the first argument.
    Index(Call),
    Unary(Unary, Arc<Node>),
    Binary {
        operator: Binary,
        left: Arc<Node>,
        right: Arc<Node>,
        /// Whether an operand is written out and no overload takes it.
        hopeless: bool,
    },
}

/// The name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// `$1`, `$2`, ...; `$` alone is `$1`.
    Position(usize, Bare),
    Name(Arc<str>),
}

/// Whether a variable was written as a dollar sign alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bare {
    Yes,
    No,
}

impl Variable {
    /// The variable of the name after the dollar sign.
    pub(crate) fn new(name: Arc<str>) -> Variable {
        if name.is_empty() {
            return Variable::Position(1, Bare::Yes);
        }
        match name.parse::<usize>() {
            Ok(position) if position > 0 && position.to_string() == *name => {
                Variable::Position(position, Bare::No)
            }
            _ => Variable::Name(name),
        }
    }
}

/// A call by name and how its arguments fit the standard functions of that name.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) plan: CallPlan,
}

/// One argument of a call, list or map.
#[derive(Debug)]
pub(crate) enum Argument {
    /// Nothing between two commas.
    Gap,
    Value(Arc<Node>),
    /// `left => right`
    Pair(Arc<Node>, Arc<Node>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Not,
    Plus,
}

/// Infix operators other than member access and indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    And,
    Divide,
    Equal,
    Greater,
    GreaterOrEqual,
    In,
    Less,
    LessOrEqual,
    Matches,
    Modulo,
    Multiply,
    NotEqual,
    NotMatches,
    Or,
    Send,
    Subtract,
}

/// Sign, strength (higher binds tighter) and name as a function of every infix operator.
const BINARY: [(Binary, &str, u8, &str); 17] = [
    (Binary::Matches, "=~", 8, "#operator_=~"),
    (Binary::NotMatches, "!~", 8, "#operator_!~"),
    (Binary::Multiply, "*", 7, "#operator_*"),
    (Binary::Divide, "/", 7, "#operator_/"),
    (Binary::Modulo, "mod", 7, "#operator_mod"),
    (Binary::Add, "+", 6, "#operator_+"),
    (Binary::Subtract, "-", 6, "#operator_-"),
    (Binary::Greater, ">", 5, "#operator_>"),
    (Binary::Less, "<", 5, "#operator_<"),
    (Binary::GreaterOrEqual, ">=", 5, "#operator_>="),
    (Binary::LessOrEqual, "<=", 5, "#operator_<="),
    (Binary::NotEqual, "!=", 5, "*not_equal"),
    (Binary::Equal, "=", 5, "*equal"),
    (Binary::In, "in", 5, "#operator_in"),
    (Binary::And, "and", 3, "#operator_and"),
    (Binary::Or, "or", 2, "#operator_or"),
    (Binary::Send, "->", 1, "#operator_->"),
];

/// The strength of member access.
pub(crate) const DOT: u8 = 11;
/// The strength of indexing.
pub(crate) const INDEX: u8 = 10;

impl Binary {
    /// The operator of a sign.
    pub(crate) fn from_sign(sign: &str) -> Option<Binary> {
        BINARY.iter().find(|row| row.1 == sign).map(|row| row.0)
    }

    /// The name under which the operator can be called or redefined.
    pub(crate) fn function(self) -> &'static str {
        self.row().3
    }

    /// How tightly the operator binds.
    pub(crate) fn strength(self) -> u8 {
        self.row().2
    }

    /// The operator of a function name.
    pub(crate) fn from_function(name: &str) -> Option<Binary> {
        BINARY.iter().find(|row| row.3 == name).map(|row| row.0)
    }

    fn row(self) -> (Binary, &'static str, u8, &'static str) {
        // The table has a row for every operator.
        BINARY.into_iter().find(|row| row.0 == self).unwrap_or(BINARY[0])
    }
}

impl Unary {
    /// The operator of a sign.
    pub(crate) fn from_sign(sign: &str) -> Option<Unary> {
        match sign {
            "-" => Some(Unary::Minus),
            "+" => Some(Unary::Plus),
            "not" => Some(Unary::Not),
            _ => None,
        }
    }

    /// The name under which the operator can be called or redefined.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Unary::Minus => "#unary_operator_-",
            Unary::Not => "#unary_operator_not",
            Unary::Plus => "#unary_operator_+",
        }
    }

    /// How tightly the operator binds its operand.
    pub(crate) fn strength(self) -> u8 {
        match self {
            Unary::Minus | Unary::Plus => 9,
            Unary::Not => 4,
        }
    }
}

impl Node {
    /// Whether two trees are the same apart from spans.
    pub(crate) fn same(&self, other: &Node) -> bool {
        match (&self.kind, &other.kind) {
            // Literals print exactly, so their printed forms tell them apart.
            (NodeKind::Literal(a), NodeKind::Literal(b)) => {
                Literal(a).to_string() == Literal(b).to_string()
            }
            (NodeKind::Keyword(a), NodeKind::Keyword(b)) => a == b,
            (NodeKind::Variable(a), NodeKind::Variable(b)) => a == b,
            (NodeKind::Group(a), NodeKind::Group(b)) => a.same(b),
            (NodeKind::List(a), NodeKind::List(b)) | (NodeKind::Map(a), NodeKind::Map(b)) => {
                same_arguments(a, b)
            }
            (NodeKind::Call(a), NodeKind::Call(b)) | (NodeKind::Index(a), NodeKind::Index(b)) => {
                a.same(b)
            }
            (
                NodeKind::Attribute { target: a, safe: s, name: x },
                NodeKind::Attribute { target: b, safe: t, name: y },
            ) => s == t && x == y && a.same(b),
            (
                NodeKind::Method { target: a, safe: s, call: x },
                NodeKind::Method { target: b, safe: t, call: y },
            ) => s == t && x.same(y) && a.same(b),
            (
                NodeKind::Member { target: a, safe: s, member: x },
                NodeKind::Member { target: b, safe: t, member: y },
            ) => s == t && x.same(y) && a.same(b),
            (NodeKind::Unary(o, a), NodeKind::Unary(p, b)) => o == p && a.same(b),
            (
                NodeKind::Binary { operator: o, left: a, right: x, .. },
                NodeKind::Binary { operator: p, left: b, right: y, .. },
            ) => o == p && a.same(b) && x.same(y),
            _ => false,
        }
    }
}

impl Call {
    fn same(&self, other: &Call) -> bool {
        self.name == other.name && same_arguments(&self.arguments, &other.arguments)
    }
}

fn same_arguments(a: &[Argument], b: &[Argument]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Argument::Gap, Argument::Gap) => true,
            (Argument::Value(a), Argument::Value(b)) => a.same(b),
            (Argument::Pair(a, x), Argument::Pair(b, y)) => a.same(b) && x.same(y),
            _ => false,
        })
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parser keeps parentheses as groups, so none have to be added here.
        match &self.kind {
            NodeKind::Literal(value) => Literal(value).fmt(f),
            NodeKind::Keyword(word) => f.write_str(word),
            NodeKind::Variable(Variable::Position(1, Bare::Yes)) => f.write_str("$"),
            NodeKind::Variable(Variable::Position(position, _)) => write!(f, "${position}"),
            NodeKind::Variable(Variable::Name(name)) => write!(f, "${name}"),
            NodeKind::Group(inner) => write!(f, "({inner})"),
            NodeKind::List(items) => write!(f, "[{}]", Arguments(items)),
            NodeKind::Map(items) => write!(f, "{{{}}}", Arguments(items)),
            NodeKind::Call(call) => call.fmt(f),
            NodeKind::Attribute { target, safe, name } => write!(f, "{target}{}{name}", dot(*safe)),
            NodeKind::Method { target, safe, call } => write!(f, "{target}{}{call}", dot(*safe)),
            NodeKind::Member { target, safe, member } => {
                write!(f, "{target} {} {member}", dot(*safe))
            }
            NodeKind::Index(call) => match call.arguments.split_first() {
                Some((Argument::Value(target), rest)) => write!(f, "{target}[{}]", Arguments(rest)),
                _ => Ok(()),
            },
            NodeKind::Unary(Unary::Not, operand) => write!(f, "not {operand}"),
            NodeKind::Unary(Unary::Minus, operand) => write!(f, "-{operand}"),
            NodeKind::Unary(Unary::Plus, operand) => write!(f, "+{operand}"),
            NodeKind::Binary { operator, left, right, .. } => {
                write!(f, "{left} {} {right}", operator.row().1)
            }
        }
    }
}

fn dot(safe: bool) -> &'static str {
    if safe { "?." } else { "." }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, Arguments(&self.arguments))
    }
}

/// Arguments as they print between brackets.
struct Arguments<'a>(&'a [Argument]);

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, argument) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            match argument {
                Argument::Gap => {}
                Argument::Value(value) => value.fmt(f)?,
                Argument::Pair(left, right) => write!(f, "{left} => {right}")?,
            }
        }
        Ok(())
    }
}

/// A literal as it is written in an expression.
struct Literal<'a>(&'a Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("null"),
            Value::Bool(truth) => truth.fmt(f),
            Value::Int(number) => number.fmt(f),
            // The language has no exponents, and Rust's own form has none either.
            Value::Float(number) if number.fract() == 0.0 => write!(f, "{number:.1}"),
            Value::Float(number) => number.fmt(f),
            Value::Text(text) => quote(text, f),
            _ => Ok(()),
        }
    }
}

fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write;
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
