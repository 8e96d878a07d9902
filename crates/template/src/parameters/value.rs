//! Parameter values: conversion, checks, display.

use super::{Parameter, ParameterType};
use crate::constraint::CustomConstraints;
use crate::constraint::cast::{self, CastError, expose};
use crate::json;
use crate::print::{self, HIDDEN, Keys};
use crate::value::{Secret, Value};

impl Parameter {
    /// The value that `get_param` returns, or why there is none.
    ///
    /// A hidden value stays hidden, and one that is not known yet stays so.
    pub(crate) fn coerce(&self, value: &Value) -> Result<Value, String> {
        if let Some(unknown) = value.unknown() {
            return Ok(match (self.kind, expose(value)) {
                (ParameterType::Json, _) => value.clone(),
                (ParameterType::CommaDelimitedList, Value::List(items)) => {
                    Value::list(items.iter().map(member))
                }
                _ => Value::Unknown(unknown.clone()),
            });
        }
        let converted = match self.kind {
            ParameterType::String => Value::from(print::plain(&value.exposed())),
            ParameterType::Number => cast::number(value).map_err(CastError::text)?,
            ParameterType::Boolean => Value::Bool(cast::boolean(value).map_err(CastError::text)?),
            // Secrets inside stay where they are, and need no other cover.
            ParameterType::CommaDelimitedList => return list(value),
            ParameterType::Json => return json(value),
        };
        Ok(if value.has_secret() { Value::Secret(Secret::new(converted)) } else { converted })
    }

    /// Whether a value can be converted and satisfies every rule; if not, why.
    ///
    /// A value that is not known yet is not checked. A hidden value is never printed.
    pub fn check(&self, value: &Value, custom: &dyn CustomConstraints) -> Result<(), String> {
        self.test(value, custom).map_err(|(error, _)| error.text())
    }

    /// The value as text for the stack's details; it must have been converted.
    pub fn display(&self, value: &Value) -> String {
        if self.hidden {
            return HIDDEN.to_owned();
        }
        match (self.kind, value) {
            (ParameterType::CommaDelimitedList, Value::List(items)) => {
                items.iter().map(print::plain).collect::<Vec<_>>().join(",")
            }
            (ParameterType::Json, value) if !matches!(value, Value::Secret(_)) => {
                print::json(value, Keys::Ordered)
            }
            (_, value) => print::plain(value),
        }
    }

    /// As [`Parameter::check`], with the index of the rule that was broken.
    pub(super) fn test(
        &self,
        value: &Value,
        custom: &dyn CustomConstraints,
    ) -> Result<(), (CastError, Option<usize>)> {
        if value.unknown().is_some() {
            return Ok(());
        }
        let value =
            if self.hidden { Value::Secret(Secret::new(value.exposed())) } else { value.clone() };
        let judged = match self.kind {
            ParameterType::String => Ok(value),
            ParameterType::Number => cast::number(&value).map(|_| value).map_err(CastError::text),
            ParameterType::Boolean => cast::boolean(&value).map(|_| value).map_err(CastError::text),
            ParameterType::CommaDelimitedList => list(&value),
            ParameterType::Json => json(&value),
        };
        let judged = judged.map_err(|text| (CastError::Invalid(text), None))?;
        for (at, constraint) in self.constraints.iter().enumerate() {
            constraint
                .test(&judged, self.value_kind(), custom)
                .map_err(|error| (error, Some(at)))?;
        }
        Ok(())
    }
}

/// A list of text; from text by splitting at commas.
fn list(value: &Value) -> Result<Value, String> {
    let items = match expose(value) {
        Value::List(items) => Value::list(items.iter().map(member)),
        Value::Text(text) if text.is_empty() => Value::list([]),
        Value::Text(text) => Value::list(text.split(',').map(Value::from)),
        other => {
            let kind = other.python_type();
            return Err(format!(
                "Value must be a comma-delimited list string: '{kind}' object has no attribute 'split'"
            ));
        }
    };
    Ok(covered(items, value))
}

/// A member of a list as text.
fn member(value: &Value) -> Value {
    if let Some(unknown) = value.unknown() {
        return Value::Unknown(unknown.clone());
    }
    let text = Value::from(print::plain(&value.exposed()));
    if value.has_secret() { Value::Secret(Secret::new(text)) } else { text }
}

/// Any value; text is read as JSON, save that empty text stays empty.
fn json(value: &Value) -> Result<Value, String> {
    match expose(value) {
        Value::Text(text) if !text.is_empty() => {
            let read = json::parse(text);
            let read = read.map_err(|fault| format!("Value must be valid JSON: {fault}"))?;
            Ok(covered(read, value))
        }
        _ => Ok(value.clone()),
    }
}

/// The value, hidden if what it was made from is.
fn covered(value: Value, origin: &Value) -> Value {
    match origin {
        Value::Secret(_) => Value::Secret(Secret::new(value)),
        _ => value,
    }
}
