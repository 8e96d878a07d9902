//! Builds the tree of an expression from its tokens, by operator strength.
//!
//! Nesting is bounded by [`MAX_DEPTH`], so hostile input ends in an error and never in a stack
//! overflow, here or wherever the tree is walked.

use crate::error::{Error, ErrorKind, Span};
use crate::functions::operators;
use crate::lexer::{self, Spanned, Token};
use crate::resolve::{CallPlan, Namespace};
use crate::syntax::{Argument, Binary, Call, DOT, INDEX, Node, NodeKind, Unary, Variable};
use crate::value::Value;
use std::sync::Arc;

/// How deep an expression may be nested; the reference gives up at about half of it.
pub(crate) const MAX_DEPTH: usize = 200;

/// Parses a whole expression.
pub(crate) fn parse(text: &str) -> Result<Arc<Node>, Error> {
    let (tokens, stop) = lexer::tokens(text);
    let mut parser = Parser { text, tokens: tokens.into_iter().peekable(), stop, depth: 0 };
    let (node, _) = parser.expression(0)?;
    if parser.tokens.peek().is_some() || parser.stop.is_some() {
        return Err(parser.unexpected());
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<Spanned>>,
    /// The error that stopped the lexer, if it did not reach the end.
    stop: Option<Error>,
    depth: usize,
}

/// A node and the height of its tree.
type Tree = (Arc<Node>, usize);

impl Parser<'_> {
    /// Parses operators at least as strong as `least`.
    fn expression(&mut self, least: u8) -> Result<Tree, Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ErrorKind::TooDeep.into());
        }
        let mut left = self.operand()?;
        while let Some(Spanned { token: Token::Sign(sign), .. }) = self.tokens.peek() {
            left = match *sign {
                dot @ ("." | "?.") if DOT >= least => self.member(left, dot == "?.")?,
                "[" if INDEX >= least => self.index(left)?,
                sign => match Binary::from_sign(sign) {
                    Some(operator) if operator.strength() >= least => {
                        self.binary(left, operator)?
                    }
                    _ => break,
                },
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Tree, Error> {
        let Some(Spanned { token, span }) = self.tokens.next() else {
            return Err(self.unexpected());
        };
        let leaf = match token {
            Token::Integer(number) => NodeKind::Literal(Value::Int(number)),
            Token::Float(number) => NodeKind::Literal(Value::Float(number)),
            Token::Text(text) => NodeKind::Literal(Value::Text(text)),
            Token::True => NodeKind::Literal(Value::Bool(true)),
            Token::False => NodeKind::Literal(Value::Bool(false)),
            Token::Null => NodeKind::Literal(Value::Null),
            Token::Keyword(word) => NodeKind::Keyword(word),
            Token::Variable(name) => NodeKind::Variable(Variable::new(name)),
            Token::Call(name) => return self.call(name, span.start),
            Token::Sign("(") => {
                let (inner, height) = self.expression(0)?;
                let end = self.expect(")")?;
                return node(NodeKind::Group(inner), span.start..end, height);
            }
            Token::Sign(bracket @ ("[" | "{")) => {
                let closing = if bracket == "[" { "]" } else { "}" };
                let (items, end, height) = self.arguments(closing)?;
                let kind =
                    if bracket == "[" { NodeKind::List(items) } else { NodeKind::Map(items) };
                return node(kind, span.start..end, height);
            }
            Token::Sign(sign) => match Unary::from_sign(sign) {
                Some(operator) => {
                    let (operand, height) = self.expression(operator.strength())?;
                    let end = operand.span.end;
                    return node(NodeKind::Unary(operator, operand), span.start..end, height);
                }
                None => return Err(self.unexpected_token(&Token::Sign(sign), span)),
            },
        };
        node(leaf, span, 0)
    }

    fn call(&mut self, name: Arc<str>, start: usize) -> Result<Tree, Error> {
        let (arguments, end, height) = self.arguments(")")?;
        let plan = CallPlan::for_call(Namespace::Function, &name, &arguments);
        node(NodeKind::Call(Call { name, arguments, plan }), start..end, height)
    }

    /// Parses the member after a dot; the dot is the next token.
    fn member(&mut self, target: Tree, safe: bool) -> Result<Tree, Error> {
        self.tokens.next();
        let (member, height) = self.expression(DOT + 1)?;
        let (target, left) = target;
        let span = target.span.start..member.span.end;
        let height = height.max(left);
        let kind = match Arc::try_unwrap(member) {
            Ok(Node { kind: NodeKind::Keyword(name), .. }) => {
                NodeKind::Attribute { target, safe, name }
            }
            Ok(Node { kind: NodeKind::Call(Call { name, arguments, .. }), .. }) => {
                let plan = CallPlan::for_call(Namespace::Method, &name, &arguments);
                NodeKind::Method { target, safe, call: Call { name, arguments, plan } }
            }
            Ok(other) => NodeKind::Member { target, safe, member: Arc::new(other) },
            Err(shared) => NodeKind::Member { target, safe, member: shared },
        };
        node(kind, span, height)
    }

    /// Parses an index; its bracket is the next token.
    fn index(&mut self, target: Tree) -> Result<Tree, Error> {
        self.tokens.next();
        let (mut arguments, end, height) = self.arguments("]")?;
        let (target, left) = target;
        let span = target.span.start..end;
        arguments.insert(0, Argument::Value(target));
        let plan = CallPlan::for_call(Namespace::Function, "#indexer", &arguments);
        let call = Call { name: "#indexer".into(), arguments, plan };
        node(NodeKind::Index(call), span, height.max(left))
    }

    /// Parses the right side of an operator; the operator is the next token.
    fn binary(&mut self, left: Tree, operator: Binary) -> Result<Tree, Error> {
        self.tokens.next();
        // Only `->` groups to the right.
        let least = operator.strength() + u8::from(operator != Binary::Send);
        let (right, height) = self.expression(least)?;
        let (left, left_height) = left;
        let span = left.span.start..right.span.end;
        let hopeless = !operators::possible(operator, &left.kind, &right.kind);
        let kind = NodeKind::Binary { operator, left, right, hopeless };
        node(kind, span, height.max(left_height))
    }

    /// Parses arguments up to the closing sign; returns them, the end and the greatest height.
    fn arguments(&mut self, closing: &str) -> Result<(Vec<Argument>, usize, usize), Error> {
        let mut arguments = Vec::new();
        let mut height = 0;
        if self.next_is(closing) {
            return Ok((arguments, self.expect(closing)?, height));
        }
        let mut named = false;
        loop {
            if self.next_is(",") && !named {
                arguments.push(Argument::Gap);
            } else {
                let (value, tall) = self.expression(0)?;
                height = height.max(tall);
                let gaps = arguments.iter().all(|a| matches!(a, Argument::Gap));
                if self.next_is("=>") && (arguments.is_empty() || !gaps) {
                    self.tokens.next();
                    let (right, tall) = self.expression(0)?;
                    height = height.max(tall);
                    arguments.push(Argument::Pair(value, right));
                    named = true;
                } else if named {
                    // After a pair only pairs may follow.
                    return Err(self.unexpected());
                } else {
                    arguments.push(Argument::Value(value));
                }
            }
            if self.next_is(closing) {
                return Ok((arguments, self.expect(closing)?, height));
            }
            self.expect(",")?;
            if self.next_is(closing) {
                return Err(self.unexpected());
            }
        }
    }

    fn next_is(&mut self, sign: &str) -> bool {
        matches!(self.tokens.peek(), Some(Spanned { token: Token::Sign(found), .. }) if *found == sign)
    }

    /// Takes a sign and returns the position after it.
    fn expect(&mut self, sign: &str) -> Result<usize, Error> {
        if !self.next_is(sign) {
            return Err(self.unexpected());
        }
        Ok(self.tokens.next().map_or(0, |found| found.span.end))
    }

    /// The error about the next token, or about the end.
    fn unexpected(&mut self) -> Error {
        match self.tokens.next() {
            Some(Spanned { token, span }) => self.unexpected_token(&token, span),
            None => match self.stop.take() {
                Some(error) => error,
                None => {
                    let end = self.text.chars().count();
                    Error::from(ErrorKind::UnexpectedEnd).at(&(end..end))
                }
            },
        }
    }

    fn unexpected_token(&self, token: &Token, span: Span) -> Error {
        let kind = ErrorKind::Unexpected {
            token: token.printed(),
            position: span.start,
            expression: self.text.into(),
        };
        Error::from(kind).at(&span)
    }
}

/// Makes a node one higher than its tallest part, within the bound.
fn node(kind: NodeKind, span: Span, height: usize) -> Result<Tree, Error> {
    if height >= MAX_DEPTH {
        return Err(Error::from(ErrorKind::TooDeep).at(&span));
    }
    Ok((Arc::new(Node { kind, span }), height + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_nesting_is_refused() {
        for text in ["(", "[", "{", "f(", "-", "not ", "a.", "a[", "1 + ", "1 -> ", "a => "] {
            let hostile = text.repeat(100_000);
            assert!(parse(&hostile).is_err(), "{text}");
        }
        let tall = "1".to_string() + &" + 1".repeat(10_000);
        assert_eq!(*parse(&tall).unwrap_err().kind(), ErrorKind::TooDeep);
    }

    #[test]
    fn printing_keeps_the_tree() {
        for text in [
            "1 + 2 * 3",
            "-1.abs()",
            "not a = b and c or d -> e",
            "$.a[0, x => 1]?.f(, 1, b => 2)",
            "{a => 1, \"b\\n\" => [1.5, , null]}",
            "(a).b . -c . \"d\"",
            "$1 + $x + $",
            "100000000000000000000.0 / 0.00001",
        ] {
            let once = parse(text).unwrap();
            let twice = parse(&once.to_string()).unwrap();
            assert!(once.same(&twice), "{text}: {once} and {twice}");
        }
    }
}
