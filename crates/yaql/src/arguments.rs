//! The arguments of one call, as the called function sees them.
//!
//! The types were checked when the function was chosen, so asking for the wrong one is a mistake in
//! a table; it ends in an error, not in a panic.

use crate::collections::Map;
use crate::context::{Context, Lambda};
use crate::error::Error;
use crate::integer::Integer;
use crate::iterate::BoundedIter;
use crate::machine::Machine;
use crate::regex::Regex;
use crate::resolve::OverloadCandidate;
use crate::signature::Default;
use crate::time::{Date, TimeSpan};
use crate::value::Value;
use std::sync::Arc;

/// An argument after the others were evaluated.
#[derive(Debug)]
pub(crate) enum Slot {
    Value(Value),
    Lambda(Lambda),
    Pair(Value, Value),
    LazyPair(Lambda, Lambda),
    Gap,
}

/// Where the value of a parameter comes from.
#[derive(Debug)]
pub(crate) enum Bind {
    Default,
    At(usize),
    Rest(Vec<usize>),
    Keywords(Vec<(Arc<str>, usize)>),
}

impl Bind {
    /// The arguments the parameter takes.
    pub(crate) fn indexes(&self) -> Vec<usize> {
        match self {
            Bind::Default => Vec::new(),
            Bind::At(index) => vec![*index],
            Bind::Rest(indexes) => indexes.clone(),
            Bind::Keywords(named) => named.iter().map(|(_, index)| *index).collect(),
        }
    }
}

/// The arguments of one call, by number of the parameter.
pub(crate) struct Arguments<'a> {
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) context: &'a Arc<Context>,
    pub(crate) candidate: &'a OverloadCandidate,
    pub(crate) slots: &'a mut [Slot],
}

impl Arguments<'_> {
    fn bind(&self, parameter: usize) -> &Bind {
        self.candidate.binds.get(parameter).unwrap_or(&Bind::Default)
    }

    fn take(&mut self, index: usize) -> Slot {
        self.slots.get_mut(index).map_or(Slot::Gap, |slot| std::mem::replace(slot, Slot::Gap))
    }

    /// Whether an argument was passed for a parameter.
    pub(crate) fn is_supplied(&self, parameter: usize) -> bool {
        matches!(self.bind(parameter), Bind::At(_))
    }

    /// The value of a parameter; a second call returns null.
    pub(crate) fn value(&mut self, parameter: usize) -> Value {
        match *self.bind(parameter) {
            Bind::At(index) => match self.take(index) {
                Slot::Value(value) => value,
                _ => Value::Null,
            },
            _ => match self.candidate.function.parameters.get(parameter).and_then(|p| p.default) {
                Some(Default::Bool(truth)) => truth.into(),
                Some(Default::Int(number)) => number.into(),
                Some(Default::Text(text)) => text.into(),
                Some(Default::Zero) => Value::Span(TimeSpan::default()),
                Some(Default::Null | Default::Unset) | None => Value::Null,
            },
        }
    }

    /// The value of a parameter, if an argument was passed.
    pub(crate) fn optional(&mut self, parameter: usize) -> Option<Value> {
        self.is_supplied(parameter).then(|| self.value(parameter))
    }

    pub(crate) fn truth(&mut self, parameter: usize) -> bool {
        self.value(parameter).truth()
    }

    pub(crate) fn text(&mut self, parameter: usize) -> Result<Arc<str>, Error> {
        match self.value(parameter) {
            Value::Text(text) => Ok(text),
            other => Err(unfit(&other)),
        }
    }

    /// A text or null.
    pub(crate) fn text_or_null(&mut self, parameter: usize) -> Result<Option<Arc<str>>, Error> {
        match self.value(parameter) {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            other => Err(unfit(&other)),
        }
    }

    pub(crate) fn int(&mut self, parameter: usize) -> Result<Integer, Error> {
        match self.value(parameter) {
            Value::Int(number) => Ok(number),
            Value::Bool(truth) => Ok(i64::from(truth).into()),
            other => Err(unfit(&other)),
        }
    }

    /// An integer for counting and indexing; those out of range become the nearest in range.
    pub(crate) fn index(&mut self, parameter: usize) -> Result<i64, Error> {
        let number = self.int(parameter)?;
        let nearest = if number.is_negative() { i64::MIN } else { i64::MAX };
        Ok(number.as_i64().unwrap_or(nearest))
    }

    pub(crate) fn map(&mut self, parameter: usize) -> Result<Arc<Map>, Error> {
        match self.value(parameter) {
            Value::Map(map) => Ok(map),
            other => Err(unfit(&other)),
        }
    }

    pub(crate) fn regex(&mut self, parameter: usize) -> Result<Regex, Error> {
        match self.value(parameter) {
            Value::Regex(regex) => Ok(regex),
            other => Err(unfit(&other)),
        }
    }

    pub(crate) fn date(&mut self, parameter: usize) -> Result<Date, Error> {
        match self.value(parameter) {
            Value::Date(date) => Ok(date),
            other => Err(unfit(&other)),
        }
    }

    pub(crate) fn span(&mut self, parameter: usize) -> Result<TimeSpan, Error> {
        match self.value(parameter) {
            Value::Span(span) => Ok(span),
            other => Err(unfit(&other)),
        }
    }

    /// A walk over a collection.
    pub(crate) fn walk(&mut self, parameter: usize) -> Result<BoundedIter, Error> {
        let value = self.value(parameter);
        self.machine.walk(&value)
    }

    /// The expression passed for a parameter, if one was.
    pub(crate) fn lambda_or_none(&mut self, parameter: usize) -> Option<Lambda> {
        match *self.bind(parameter) {
            Bind::At(index) => match self.take(index) {
                Slot::Lambda(lambda) => Some(lambda),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn lambda(&mut self, parameter: usize) -> Result<Lambda, Error> {
        self.lambda_or_none(parameter).ok_or_else(|| unfit(&Value::Null))
    }

    /// All arguments of a parameter that takes the rest.
    pub(crate) fn rest(&mut self, parameter: usize) -> Vec<Slot> {
        self.bind(parameter).indexes().into_iter().map(|index| self.take(index)).collect()
    }

    /// All values of a parameter that takes the rest.
    pub(crate) fn values(&mut self, parameter: usize) -> Vec<Value> {
        let value = |slot| match slot {
            Slot::Value(value) => value,
            _ => Value::Gap,
        };
        self.rest(parameter).into_iter().map(value).collect()
    }

    /// All expressions of a parameter that takes the rest.
    pub(crate) fn lambdas(&mut self, parameter: usize) -> Vec<Lambda> {
        let lambda = |slot| match slot {
            Slot::Lambda(lambda) => Some(lambda),
            _ => None,
        };
        self.rest(parameter).into_iter().filter_map(lambda).collect()
    }

    /// All named values of a parameter that takes the rest of the names.
    pub(crate) fn keywords(&mut self, parameter: usize) -> Vec<(Arc<str>, Value)> {
        let names = match self.bind(parameter) {
            Bind::Keywords(named) => named.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        };
        names.into_iter().zip(self.values(parameter)).collect()
    }
}

fn unfit(value: &Value) -> Error {
    Error::type_(format!("argument of unexpected type '{}'", value.type_name()))
}
