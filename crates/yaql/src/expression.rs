//! Parsed expressions.

use crate::context::Context;
use crate::convert;
use crate::error::{Error, ErrorKind};
use crate::machine::{Machine, Patterns};
use crate::options::Options;
use crate::parser;
use crate::syntax::Node;
use crate::value::{MAX_DEPTH, Value};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A parsed expression, which can be evaluated many times and from many threads.
///
/// Its `Display` is an expression with the same meaning; two expressions are equal if they print
/// the same.
#[derive(Clone, Debug)]
pub struct Expression {
    node: Arc<Node>,
    patterns: Arc<Patterns>,
}

impl Expression {
    /// Parses an expression.
    ///
    /// ```
    /// let error = kiln_yaql::Expression::parse("1 +").unwrap_err();
    /// assert_eq!(error.to_string(), "Parse error: unexpected end of statement");
    /// ```
    pub fn parse(text: &str) -> Result<Expression, Error> {
        let node = parser::parse(text)?;
        Ok(Expression { node, patterns: Arc::default() })
    }

    /// Evaluates the expression where `$` is the given value.
    ///
    /// The result holds no iterators: lists, maps and sets of plain values, and now and then a
    /// date, span, regular expression or context. [`Value::to_data`] rejects those.
    pub fn evaluate(&self, root: Value, options: &Options) -> Result<Value, Error> {
        self.evaluate_counting(root, options).0
    }

    /// Evaluates the expression and returns how many steps it took, for callers that share one
    /// allowance among many expressions.
    pub fn evaluate_counting(&self, root: Value, options: &Options) -> (Result<Value, Error>, u64) {
        if root.shape().depth > MAX_DEPTH / 2 {
            return (Err(ErrorKind::TooDeep.into()), 0);
        }
        crate::work::take();
        let machine = Machine::new(options, &self.patterns);
        let result = machine.eval(&self.node, &Context::root(root)).and_then(|result| {
            convert::finish(&machine, result).map_err(|error| error.at(&self.node.span))
        });
        (result, machine.steps())
    }
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Expression, Error> {
        Expression::parse(text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.node.same(&other.node)
    }
}
