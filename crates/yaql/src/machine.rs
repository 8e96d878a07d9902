//! One evaluation: walks the tree, calls functions, and counts what it costs.
//!
//! Steps, depth and sizes are counted here and nowhere else; every loop that input can drive comes
//! through [`Machine::charge`].

use crate::arguments::{Arguments, Slot};
use crate::collections::{Key, Map};
use crate::context::{Body, Context, Lambda};
use crate::error::{Error, ErrorKind};
use crate::functions::{dates, operators};
use crate::iterate::{BoundedIter, Iter};
use crate::options::Options;
use crate::python;
use crate::regex::{Flags, Regex};
use crate::render;
use crate::resolve::{ArgumentShape, CallPlan, Choice, Matching, Namespace};
use crate::syntax::{Argument, Binary, Call, Node, NodeKind};
use crate::value::Value;
use crate::work;
use std::cell::Cell;
use std::sync::{Arc, Mutex};

/// How deep evaluation may go: expressions within expressions, calls, iterators over iterators.
///
/// The stack this takes fits a thread of 2 MiB with room to spare, even without optimization.
const MAX_DEPTH: u32 = 400;
/// The maximum size of a value, even if the quota is larger.
const MAX_BYTES: usize = 16 << 20;
/// Compiled patterns that are kept.
const MAX_PATTERNS: usize = 16;

/// Patterns that were compiled for an expression, kept from one evaluation to the next.
pub(crate) type Patterns = Mutex<Vec<Regex>>;

/// The state of one evaluation.
pub(crate) struct Machine<'a> {
    pub(crate) options: &'a Options,
    steps: Cell<u64>,
    depth: Cell<u32>,
    patterns: &'a Patterns,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(options: &'a Options, patterns: &'a Patterns) -> Machine<'a> {
        Machine { options, steps: Cell::new(0), depth: Cell::new(0), patterns }
    }

    /// How many steps were taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Counts steps.
    pub(crate) fn charge(&self, steps: u64) -> Result<(), Error> {
        // Walking a few parts of a value takes about as long as a step.
        let total = self.steps.get().saturating_add(steps).saturating_add(work::take() / 8);
        self.steps.set(total);
        if total > self.options.max_steps {
            return Err(ErrorKind::TooManySteps(self.options.max_steps).into());
        }
        Ok(())
    }

    /// Runs something one level deeper.
    pub(crate) fn nested<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            return Err(ErrorKind::TooDeep.into());
        }
        self.depth.set(depth + 1);
        let result = run();
        self.depth.set(depth);
        result
    }

    /// Rejects a size beyond the quota.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.options.memory_quota.min(MAX_BYTES) {
            return Err(ErrorKind::MemoryQuota.into());
        }
        // Making large values takes time: about what a step takes for every 128 bytes.
        self.charge(bytes as u64 / 128)
    }

    fn measured(&self, value: Value) -> Result<Value, Error> {
        self.fits(value.size())?;
        Ok(value)
    }

    /// A walk over a collection, which must be one.
    pub(crate) fn walk(&self, value: &Value) -> Result<BoundedIter, Error> {
        match BoundedIter::new(value, self.options.limit_iterators)? {
            Some(walk) => Ok(walk),
            None => Err(Error::type_(format!("'{}' object is not iterable", value.type_name()))),
        }
    }

    /// A compiled pattern, kept for the next time.
    pub(crate) fn pattern(&self, pattern: &str, flags: Flags) -> Result<Regex, Error> {
        let known = |known: &&Regex| known.pattern() == pattern && known.flags() == flags;
        if let Ok(patterns) = self.patterns.lock()
            && let Some(found) = patterns.iter().find(known)
        {
            return Ok(found.clone());
        }
        self.charge(200 + pattern.len() as u64)?;
        let compiled = Regex::with_flags(pattern, flags)?;
        if let Ok(mut patterns) = self.patterns.lock() {
            if patterns.len() >= MAX_PATTERNS {
                patterns.remove(0);
            }
            patterns.push(compiled.clone());
        }
        Ok(compiled)
    }

    /// Evaluates a lambda with the given `$1`, `$2`, ...
    pub(crate) fn apply(&self, lambda: &Lambda, values: Vec<Value>) -> Result<Value, Error> {
        match &lambda.body {
            Body::Value(value) => Ok(value.clone()),
            Body::Node(node) if values.is_empty() => self.eval(node, &lambda.context),
            Body::Node(node) => self.eval(node, &lambda.context.child(values, Vec::new())),
        }
    }

    /// Evaluates a lambda in a context other than its own.
    pub(crate) fn apply_in(&self, lambda: &Lambda, context: &Arc<Context>) -> Result<Value, Error> {
        match &lambda.body {
            Body::Value(value) => Ok(value.clone()),
            Body::Node(node) => self.eval(node, context),
        }
    }

    /// Evaluates an expression.
    pub(crate) fn eval(&self, node: &Arc<Node>, context: &Arc<Context>) -> Result<Value, Error> {
        self.charge(1)?;
        match &node.kind {
            NodeKind::Literal(value) => Ok(value.clone()),
            NodeKind::Keyword(word) => Ok(Value::Text(word.clone())),
            NodeKind::Variable(variable) => Ok(context.variable(variable)),
            _ => self.nested(|| self.eval_inner(node, context)).map_err(|e| e.at(&node.span)),
        }
    }

    fn eval_inner(&self, node: &Arc<Node>, context: &Arc<Context>) -> Result<Value, Error> {
        match &node.kind {
            NodeKind::Group(inner) => self.eval(inner, context),
            NodeKind::Attribute { target, safe, name } => {
                let target = self.eval(target, context)?;
                if *safe && matches!(target, Value::Null) {
                    return Ok(Value::Null);
                }
                self.measured(self.attribute(&target, name)?)
            }
            NodeKind::Method { target, safe, call } => {
                let target = self.eval(target, context)?;
                if *safe && matches!(target, Value::Null) {
                    return Ok(Value::Null);
                }
                self.method(call, target, context)
            }
            NodeKind::Call(call) => self.function(call, context),
            NodeKind::Index(call) => self.function(call, context),
            NodeKind::Binary { operator, hopeless: true, .. }
                if context.function(operator.function()).is_none() =>
            {
                Err(ErrorKind::NoMatchingFunction(operator.function().into()).into())
            }
            NodeKind::Binary { operator, left, right, .. } => {
                self.binary(*operator, left, right, context)
            }
            NodeKind::Unary(operator, operand) => {
                let operand = self.eval(operand, context)?;
                if let Some((home, body)) = context.function(operator.function()) {
                    return self.eval(&body, &home.child(vec![operand], Vec::new()));
                }
                operators::unary(*operator, &operand)
            }
            NodeKind::List(items) => self.list(items, context),
            NodeKind::Map(items) => self.map(items, context),
            NodeKind::Member { target, safe, .. } => {
                if *safe && matches!(self.eval(target, context)?, Value::Null) {
                    return Ok(Value::Null);
                }
                Err(ErrorKind::NoMatchingFunction("#operator_.".into()).into())
            }
            NodeKind::Literal(_) | NodeKind::Keyword(_) | NodeKind::Variable(_) => {
                self.eval(node, context)
            }
        }
    }

    fn binary(
        &self,
        operator: Binary,
        left: &Arc<Node>,
        right: &Arc<Node>,
        context: &Arc<Context>,
    ) -> Result<Value, Error> {
        let left = self.eval(left, context)?;
        match operator {
            Binary::And if !left.truth() => return Ok(left),
            Binary::Or if left.truth() => return Ok(left),
            Binary::And | Binary::Or => return self.eval(right, context),
            Binary::Send => {
                return match left {
                    Value::Context(context) => self.eval(right, &context),
                    _ => Err(ErrorKind::NoMatchingFunction("#operator_->".into()).into()),
                };
            }
            _ => {}
        }
        let right = self.eval(right, context)?;
        self.operate(operator, left, right, context)
    }

    /// Applies an operator to values, or the function that was defined in its place.
    pub(crate) fn operate(
        &self,
        operator: Binary,
        left: Value,
        right: Value,
        context: &Arc<Context>,
    ) -> Result<Value, Error> {
        if let Some((home, body)) = context.function(operator.function()) {
            return self.eval(&body, &home.child(vec![left, right], Vec::new()));
        }
        self.fits(left.size() + right.size())?;
        self.measured(operators::binary(self, operator, &left, &right)?)
    }

    /// The value of an expression with a dot: a key of a map, that of every member, or a property.
    fn attribute(&self, target: &Value, name: &Arc<str>) -> Result<Value, Error> {
        if let Value::Map(map) = target {
            return match map.get_text(name) {
                Some(value) => Ok(value.clone()),
                None => Err(ErrorKind::MissingKey(python::quoted(name)).into()),
            };
        }
        if let Some(mut walk) = BoundedIter::new(target, self.options.limit_iterators)? {
            let name = name.clone();
            return Ok(Iter::over(move |machine| match walk.next(machine)? {
                Some(member) => machine.nested(|| machine.attribute(&member, &name)).map(Some),
                None => Ok(None),
            }));
        }
        dates::property(target, name)
    }

    fn list(&self, items: &[Argument], context: &Arc<Context>) -> Result<Value, Error> {
        let mut values = Vec::with_capacity(items.len());
        let mut bytes = 0;
        for item in items {
            let value = match item {
                Argument::Gap => Value::Gap,
                Argument::Value(node) => self.eval(node, context)?,
                Argument::Pair(left, _) => {
                    return Err(match left.kind {
                        NodeKind::Keyword(_) => ErrorKind::NoMatchingFunction("#list".into()),
                        _ => ErrorKind::KeywordArgument,
                    }
                    .into());
                }
            };
            bytes += value.size();
            values.push(value);
        }
        self.fits(bytes)?;
        self.measured(Value::sequence(values, true)?)
    }

    fn map(&self, items: &[Argument], context: &Arc<Context>) -> Result<Value, Error> {
        if items.iter().any(|item| !matches!(item, Argument::Pair(..))) {
            return Err(ErrorKind::NoMatchingFunction("#map".into()).into());
        }
        let mut map = Map::default();
        for item in items {
            if let Argument::Pair(key, value) = item {
                let key = Key::new(self.eval(key, context)?)?;
                map.insert(key, self.eval(value, context)?)?;
            }
        }
        Ok(Value::Map(Arc::new(map)))
    }

    fn function(&self, call: &Call, context: &Arc<Context>) -> Result<Value, Error> {
        if let Some((home, body)) = context.function(&call.name) {
            return self.defined(&home, &body, &call.arguments, context);
        }
        let matching = match &call.plan {
            CallPlan::Match(matching) => matching,
            failed => return Err(self.mismatch(failed, &call.name, None)),
        };
        let mut slots = Vec::with_capacity(call.arguments.len());
        self.slots(&mut slots, matching, &call.arguments, context)?;
        self.run(matching, &mut slots, &call.name, None, context)
    }

    fn method(&self, call: &Call, target: Value, context: &Arc<Context>) -> Result<Value, Error> {
        let matching = match &call.plan {
            CallPlan::Match(matching) => matching,
            failed => return Err(self.mismatch(failed, &call.name, Some(&target))),
        };
        // A receiver that nothing takes is rejected before the arguments are evaluated.
        if !matching.candidates.iter().any(|candidate| candidate.takes_receiver(&target)) {
            return Err(self.mismatch(&CallPlan::NoMatch, &call.name, Some(&target)));
        }
        let mut slots = Vec::with_capacity(1 + call.arguments.len());
        if matching.lazy.first() == Some(&true) {
            let context = context.clone();
            slots.push(Slot::Lambda(Lambda { body: Body::Value(target.clone()), context }));
        } else {
            slots.push(Slot::Value(target.clone()));
        }
        self.slots(&mut slots, matching, &call.arguments, context)?;
        self.run(matching, &mut slots, &call.name, Some(&target), context)
    }

    /// Evaluates the arguments, apart from those that stay as they are.
    fn slots(
        &self,
        slots: &mut Vec<Slot>,
        matching: &Matching,
        arguments: &[Argument],
        context: &Arc<Context>,
    ) -> Result<(), Error> {
        let pairs = matching.candidates.iter().any(|candidate| !candidate.function.keywords);
        let wait =
            |node: &Arc<Node>| Lambda { body: Body::Node(node.clone()), context: context.clone() };
        for argument in arguments {
            let lazy = matching.lazy.get(slots.len()) == Some(&true);
            slots.push(match argument {
                Argument::Gap => Slot::Gap,
                Argument::Pair(left, right) if pairs && lazy => {
                    Slot::LazyPair(wait(left), wait(right))
                }
                Argument::Pair(left, right) if pairs => {
                    Slot::Pair(self.eval(left, context)?, self.eval(right, context)?)
                }
                Argument::Value(node) | Argument::Pair(_, node) if lazy => Slot::Lambda(wait(node)),
                Argument::Value(node) | Argument::Pair(_, node) => {
                    Slot::Value(self.eval(node, context)?)
                }
            });
        }
        Ok(())
    }

    /// Chooses among the candidates and calls one.
    fn run(
        &self,
        matching: &Matching,
        slots: &mut [Slot],
        name: &str,
        receiver: Option<&Value>,
        context: &Arc<Context>,
    ) -> Result<Value, Error> {
        let size = |slot: &Slot| match slot {
            Slot::Value(value) => value.size(),
            _ => 0,
        };
        self.fits(slots.iter().map(size).sum())?;
        let candidate = match matching.choose(slots) {
            Choice::One(candidate) => candidate,
            Choice::None => return Err(self.mismatch(&CallPlan::NoMatch, name, receiver)),
            Choice::Ambiguous => return Err(self.mismatch(&CallPlan::Ambiguous, name, receiver)),
        };
        let mut arguments = Arguments { machine: self, context, candidate, slots };
        let result = self.nested(|| (candidate.function.run)(&mut arguments))?;
        self.measured(result)
    }

    /// Calls something by a name that is known only now.
    pub(crate) fn call_by_name(
        &self,
        name: &str,
        receiver: Option<Value>,
        values: Vec<Value>,
        named: Vec<(Arc<str>, Value)>,
        context: &Arc<Context>,
    ) -> Result<Value, Error> {
        if receiver.is_none()
            && let Some((home, body)) = context.function(name)
        {
            return self.eval(&body, &home.child(values, named));
        }
        let space = if receiver.is_some() { Namespace::Method } else { Namespace::Function };
        let positional = receiver.iter().chain(&values).map(ArgumentShape::Constant);
        let keywords = named.iter().map(|(name, value)| {
            ArgumentShape::Pair(Some(&**name), Box::new(ArgumentShape::Constant(value)))
        });
        let plan = CallPlan::new(space, name, &positional.chain(keywords).collect::<Vec<_>>());
        let matching = match &plan {
            CallPlan::Match(matching) => matching,
            failed => return Err(self.mismatch(failed, name, receiver.as_ref())),
        };
        let all = receiver.iter().cloned().chain(values).chain(named.into_iter().map(|(_, v)| v));
        let slot = |(value, lazy): (Value, &bool)| {
            if *lazy {
                Slot::Lambda(Lambda { body: Body::Value(value), context: context.clone() })
            } else {
                Slot::Value(value)
            }
        };
        let mut slots: Vec<_> = all.zip(&matching.lazy).map(slot).collect();
        self.run(matching, &mut slots, name, receiver.as_ref(), context)
    }

    /// Calls a function that was made by `def`.
    fn defined(
        &self,
        home: &Arc<Context>,
        body: &Arc<Node>,
        arguments: &[Argument],
        context: &Arc<Context>,
    ) -> Result<Value, Error> {
        let mut positional = Vec::new();
        let mut named = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Gap => positional.push(Value::Gap),
                Argument::Value(node) => positional.push(self.eval(node, context)?),
                Argument::Pair(left, right) => match &left.kind {
                    NodeKind::Keyword(name) => {
                        named.push((name.clone(), self.eval(right, context)?))
                    }
                    _ => return Err(ErrorKind::KeywordArgument.into()),
                },
            }
        }
        self.eval(body, &home.child(positional, named))
    }

    #[cold]
    fn mismatch(&self, plan: &CallPlan, name: &str, receiver: Option<&Value>) -> Error {
        let name = name.to_string();
        let Some(receiver) = receiver else {
            return match plan {
                CallPlan::Unknown => ErrorKind::UnknownFunction(name),
                CallPlan::BadKeyword => ErrorKind::KeywordArgument,
                CallPlan::Ambiguous => ErrorKind::AmbiguousFunction(name),
                CallPlan::NoMatch | CallPlan::Match(_) => ErrorKind::NoMatchingFunction(name),
            }
            .into();
        };
        let receiver = match render::text(receiver) {
            Ok(receiver) => receiver,
            Err(error) => return error,
        };
        match plan {
            CallPlan::Unknown => ErrorKind::UnknownMethod { name, receiver },
            CallPlan::BadKeyword => ErrorKind::KeywordArgument,
            CallPlan::Ambiguous => ErrorKind::AmbiguousMethod { name, receiver },
            CallPlan::NoMatch | CallPlan::Match(_) => {
                ErrorKind::NoMatchingMethod { name, receiver }
            }
        }
        .into()
    }
}
