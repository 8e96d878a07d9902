//! Descriptions of parameters in the API's template validation.

use super::Parameter;
use crate::constraint::Rule;
use crate::print;
use crate::value::{Members, Secret, Value};
use std::sync::Arc;

impl Parameter {
    /// The description of the parameter, with the value supplied in the request.
    pub fn describe(&self, supplied: Option<&Value>) -> Value {
        self.describe_with(supplied, None)
    }

    /// As [`Parameter::describe`], with a default from the environment that replaces the
    /// template's.
    pub(crate) fn describe_with(&self, supplied: Option<&Value>, default: Option<&Value>) -> Value {
        let mut reported = Members::new();
        let mut tell = |key: &str, value: Value| _ = reported.insert(key.into(), value);
        tell("Type", self.kind.name().into());
        tell("Description", self.description.clone().unwrap_or_else(|| "".into()));
        tell("NoEcho", if self.hidden { "true" } else { "false" }.into());
        tell("Label", self.label.clone().unwrap_or_else(|| Value::Text(self.name.clone())));
        let environment = default.filter(|default| !default.is_null());
        if let Some(default) = environment.or(self.default.as_ref()) {
            tell("Default", default.clone());
        }
        if let Some(value) = supplied.filter(|value| value.is_truthy()) {
            let value = value.clone();
            let hidden = || Value::Secret(Secret::new(value.exposed()));
            tell("Value", if self.hidden { hidden() } else { value });
        }
        if !self.tags.is_empty() {
            tell("Tags", Value::list(self.tags.iter().cloned()));
        }
        self.describe_rules(&mut reported);
        Value::Map(Arc::new(reported))
    }

    fn describe_rules(&self, reported: &mut Members) {
        let mut tell = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                reported.insert(key.into(), value);
            }
        };
        for constraint in &self.constraints {
            match &constraint.rule {
                Rule::Length { min, max } => {
                    tell("MinLength", min.map(Value::from));
                    tell("MaxLength", max.map(Value::from));
                }
                Rule::Range { min, max } => {
                    tell("MinValue", min.clone());
                    tell("MaxValue", max.clone());
                }
                Rule::Modulo { step, offset } => {
                    tell("Step", Some((*step).into()));
                    tell("Offset", Some((*offset).into()));
                }
                Rule::AllowedValues(allowed) => {
                    tell("AllowedValues", Some(Value::list(allowed.iter().cloned())));
                }
                Rule::AllowedPattern(pattern) => {
                    tell("AllowedPattern", Some(pattern.source().into()));
                }
                Rule::Custom(name) => {
                    tell("CustomConstraint", Some(print::plain(&name.as_ref().into()).into()));
                }
            }
        }
        let described = self.constraints.iter().filter_map(|c| c.description.as_deref());
        let described: Vec<&str> = described.filter(|text| !text.is_empty()).collect();
        if !described.is_empty() {
            tell("ConstraintDescription", Some(described.join(" ").into()));
        }
    }
}
