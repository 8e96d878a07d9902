//! Evaluation: what an expression evaluates to, against what the caller knows.
//!
//! The result of a function whose argument is not known yet is unknown; a hidden argument makes
//! a hidden result. Both rules are implemented here and nowhere else.

use crate::codes;
use crate::definition::Definition;
use crate::expr::{Call, Expr, ExprKind, If};
use crate::functions::{Body, Facade, Fault};
use crate::print::HIDDEN;
use crate::template::Output;
use crate::value::{Secret, Unknown, Value};
use crate::version::Version;
use indexmap::IndexMap;
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// Resolves references, attributes and other values from outside of the template.
///
/// A value that is not known yet is [`Value::Unknown`], never a guess.
pub trait Resolver {
    /// The reference id of a resource that exists.
    fn reference(&self, resource: &str) -> Result<Value, Fault>;

    /// An attribute of a resource that exists, or a part of it.
    fn attribute(&self, resource: &str, attribute: &str, keys: &[Value]) -> Result<Value, Fault>;

    /// All attributes of a resource that exists, except `show`, as a map.
    fn attributes(&self, resource: &str) -> Result<Value, Fault>;

    /// A part of the definition of the resource that the template implements.
    fn facade(&self, part: Facade) -> Result<Value, Fault>;

    /// The availability zones of the compute service.
    fn availability_zones(&self) -> Result<Value, Fault>;

    /// The time of the evaluation in microseconds since 1970, for queries that ask for it.
    fn moment(&self) -> Option<i64> {
        None
    }
}

/// Whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// The condition is decided.
    Known(bool),
    /// The condition depends on a value that is not known yet.
    Unknown(Unknown),
}

/// The branches that an `if` may take.
#[derive(Debug)]
pub struct Branches<'e> {
    taken: [Option<&'e Expr>; 2],
    /// The unknown value that the choice depends on, if it is not decided.
    pub unknown: Option<Unknown>,
}

impl<'e> Branches<'e> {
    /// The branches.
    pub fn iter(&self) -> impl Iterator<Item = &'e Expr> {
        self.taken.into_iter().flatten()
    }

    /// Whether a branch may be taken.
    pub fn contains(&self, branch: &Expr) -> bool {
        self.iter().any(|taken| std::ptr::eq(taken, branch))
    }
}

/// The maximum size, in bytes, of the intermediate results of one expression.
const BUDGET: usize = 64 << 20;

/// A budget that the expressions of several scopes share.
///
/// Each expression has its own limit; this one limits a template with many expensive expressions.
#[derive(Clone, Debug)]
pub struct Budget {
    left: Rc<Cell<usize>>,
}

impl Budget {
    /// A budget in bytes.
    pub fn new(bytes: usize) -> Budget {
        Budget { left: Rc::new(Cell::new(bytes)) }
    }

    fn charge(&self, bytes: usize) -> Result<(), Fault> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Fault::new("the expressions of the template make too much data together"))
            }
        }
    }
}

/// The context of an evaluation: a definition and a resolver.
pub struct Scope<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) resolver: &'a dyn Resolver,
    queries: kiln_yaql::Options,
    spent: Cell<usize>,
    budget: Option<Budget>,
    in_condition: Cell<bool>,
}

impl<'a> Scope<'a> {
    /// A scope without a shared budget.
    pub fn new(definition: &'a Definition, resolver: &'a dyn Resolver) -> Scope<'a> {
        Scope {
            definition,
            resolver,
            queries: kiln_yaql::Options {
                limit_iterators: definition.query_limits.elements,
                memory_quota: definition.query_limits.bytes,
                ..kiln_yaql::Options::default()
            },
            spent: Cell::new(0),
            budget: None,
            in_condition: Cell::new(false),
        }
    }

    /// Sets the limits of queries.
    pub(crate) fn with_queries(mut self, options: kiln_yaql::Options) -> Scope<'a> {
        self.queries = options;
        self
    }

    /// Charges all expressions to one budget.
    pub fn with_budget(mut self, budget: &Budget) -> Scope<'a> {
        self.budget = Some(budget.clone());
        self
    }

    /// The same definition and budget with another resolver.
    pub(crate) fn with_resolver(&self, resolver: &'a dyn Resolver) -> Scope<'a> {
        let scope = Scope::new(self.definition, resolver).with_queries(self.queries.clone());
        Scope { budget: self.budget.clone(), ..scope }
    }

    /// The value of a whole expression; absent values become null.
    pub fn value(&self, expr: &Expr) -> Result<Value, Fault> {
        self.spent.set(0);
        self.eval(expr).map(|value| value.unwrap_or(Value::Null))
    }

    /// The value of a whole expression, or nothing if an `if` without an else left it out.
    pub fn optional(&self, expr: &Expr) -> Result<Option<Value>, Fault> {
        self.spent.set(0);
        self.eval(expr)
    }

    /// The value of an output; null if its condition does not hold.
    pub fn output(&self, output: &Output) -> Result<Value, Fault> {
        match &output.condition {
            Some(condition) => match self.holds(condition)? {
                Truth::Known(true) => self.value(&output.value),
                Truth::Known(false) => Ok(Value::Null),
                Truth::Unknown(unknown) => Ok(Value::Unknown(unknown)),
            },
            None => self.value(&output.value),
        }
    }

    /// Whether a condition holds: a boolean, a name, or a function that returns a boolean.
    pub fn holds(&self, condition: &Expr) -> Result<Truth, Fault> {
        match self.condition_value(condition)?.exposed() {
            Value::Bool(flag) => Ok(Truth::Known(flag)),
            Value::Unknown(unknown) => Ok(Truth::Unknown(unknown)),
            Value::Text(name) => self.definition.conditions.named(self, &name),
            // Null is no condition, and holds.
            Value::Null => Ok(Truth::Known(true)),
            other => Err(Fault {
                code: &codes::UNKNOWN_CONDITION,
                message: format!("Invalid condition \"{}\"", crate::print::plain(&other)),
            }),
        }
    }

    /// The value of an expression by the rules of conditions.
    pub(crate) fn condition_value(&self, condition: &Expr) -> Result<Value, Fault> {
        let outer = self.in_condition.replace(true);
        let value = self.eval(condition);
        self.in_condition.set(outer);
        Ok(value?.unwrap_or(Value::Null))
    }

    /// The branches that an `if` may take: one of them, none, or either.
    pub fn branches<'e>(&self, choice: &'e If) -> Result<Branches<'e>, Fault> {
        let (then, otherwise) = (Some(&choice.then), choice.otherwise.as_ref());
        Ok(match self.holds(&choice.condition)? {
            Truth::Known(true) => Branches { taken: [then, None], unknown: None },
            Truth::Known(false) => Branches { taken: [otherwise, None], unknown: None },
            Truth::Unknown(why) => Branches { taken: [then, otherwise], unknown: Some(why) },
        })
    }

    pub(crate) fn version(&self) -> Version {
        self.definition.template.version
    }

    pub(crate) fn in_condition(&self) -> bool {
        self.in_condition.get()
    }

    /// The limits of a query that costs a number of bytes per step, within the rest of the budget.
    pub(crate) fn query_options(&self, bytes_a_step: usize) -> Cow<'_, kiln_yaql::Options> {
        let Some(budget) = &self.budget else { return Cow::Borrowed(&self.queries) };
        let steps = u64::try_from(budget.left.get() / bytes_a_step).unwrap_or(u64::MAX);
        if steps >= self.queries.max_steps {
            return Cow::Borrowed(&self.queries);
        }
        Cow::Owned(kiln_yaql::Options { max_steps: steps, ..self.queries.clone() })
    }

    /// Charges work that has a limit of its own to the shared budget.
    pub(crate) fn charge_shared(&self, bytes: usize) -> Result<(), Fault> {
        self.budget.as_ref().map_or(Ok(()), |budget| budget.charge(bytes))
    }

    /// Charges work to the expression's budget and to the shared one.
    pub(crate) fn charge(&self, bytes: usize) -> Result<(), Fault> {
        if let Some(budget) = &self.budget {
            budget.charge(bytes)?;
        }
        let spent = self.spent.get().saturating_add(bytes);
        self.spent.set(spent);
        if spent > BUDGET {
            return Err(Fault::new(format!(
                "the expression makes more than {} MiB of data",
                BUDGET >> 20
            )));
        }
        Ok(())
    }

    pub(crate) fn eval(&self, expr: &Expr) -> Result<Option<Value>, Fault> {
        match &expr.kind {
            ExprKind::Scalar(value) => Ok(Some(value.clone())),
            ExprKind::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.extend(self.eval(item)?);
                }
                Ok(Some(Value::list(values)))
            }
            ExprKind::Map(members) => {
                let mut values = IndexMap::with_capacity(members.len());
                for member in members {
                    if let Some(value) = self.eval(&member.value)? {
                        values.insert(member.key.clone(), value);
                    }
                }
                Ok(Some(Value::Map(Arc::new(values))))
            }
            ExprKind::Call(call) => self.call(call).map(Some),
            ExprKind::If(choice) => {
                let branches = self.branches(choice)?;
                match (branches.unknown, branches.taken[0]) {
                    (Some(unknown), _) => Ok(Some(Value::Unknown(unknown))),
                    (None, Some(branch)) => self.eval(branch),
                    (None, None) => Ok(None),
                }
            }
            ExprKind::Invalid(invalid) => {
                Err(Fault { code: invalid.code, message: invalid.message.clone() })
            }
        }
    }

    fn call(&self, call: &Call) -> Result<Value, Fault> {
        let compute = match call.function.body() {
            Body::Lazy(compute) => return compute(self, call),
            Body::Choice => return Ok(Value::Null),
            Body::Strict(compute) => compute,
        };
        let args = self.eval(&call.args)?.unwrap_or(Value::Null);
        if let Some(unknown) = args.unknown() {
            return Ok(Value::Unknown(unknown.clone()));
        }
        if !args.has_secret() {
            return compute(self, call, &args);
        }
        match compute(self, call, &args.exposed()) {
            Ok(value) => Ok(Value::Secret(Secret::new(value))),
            // The error may quote its arguments: compute it again from the masked ones.
            Err(_) => Err(compute(self, call, &masked(&args)).err().unwrap_or_else(|| {
                Fault::new(format!("\"{}\" fails on a hidden value", call.function.name))
            })),
        }
    }
}

/// The value with asterisks in place of secrets.
fn masked(value: &Value) -> Value {
    match value {
        Value::Secret(_) => HIDDEN.into(),
        Value::List(items) => Value::list(items.iter().map(masked)),
        Value::Map(members) => Value::map(members.iter().map(|(k, v)| (k.clone(), masked(v)))),
        other => other.clone(),
    }
}

/// Whether a resource and an attribute exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existence {
    /// Both exist, or the name is not known yet.
    Exists,
    /// There is no such resource.
    NoResource,
    /// The resource has no such attribute.
    NoAttribute,
}

/// The context in which functions check their arguments when a template is validated.
pub(crate) struct Checker<'a> {
    /// The scope in which expressions are evaluated.
    pub scope: &'a Scope<'a>,
    /// Whether a resource, and an attribute of it, exist.
    pub existence: &'a dyn Fn(&str, Option<&str>) -> Existence,
}
