//! Parameters of a template: their definitions, values and descriptions.
//!
//! Errors in a definition's form are reported when it is read (`parse_hot`, `parse_cfn`). Whether its rules
//! fit its type and its default satisfies them is reported when values are bound
//! ([`Parameters::bind`]), as in Heat; until then such errors are kept in [`Parameter::flaws`].

mod bind;
mod definition;
mod describe;
mod groups;
mod value;

pub use bind::{
    Lookup, ParameterCheck, Parameters, PseudoParameters, SuppliedParameters, SuppliedValue,
    SuppliedValues,
};
pub(crate) use definition::parse_cfn;
pub use definition::parse_hot;
pub use groups::{Group, groups};

use crate::constraint::{Constraint, ValueKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::value::Value;
use indexmap::IndexMap;
use std::sync::Arc;

/// Definitions in the order of the template.
pub type Definitions = IndexMap<Arc<str>, Parameter>;

pub use crate::version::Dialect;

/// What a template's version adds to parameter definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// Whether `tags` is a key, as from 2018-03-02.
    pub tags: bool,
    /// Whether `modulo` is a rule, as from 2017-02-24.
    pub modulo: bool,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// Text.
    String,
    /// A number.
    Number,
    /// A list of text.
    CommaDelimitedList,
    /// Any JSON value.
    Json,
    /// True or false.
    Boolean,
}

impl ParameterType {
    /// Every type.
    pub const ALL: [ParameterType; 5] = [
        ParameterType::String,
        ParameterType::Number,
        ParameterType::CommaDelimitedList,
        ParameterType::Json,
        ParameterType::Boolean,
    ];

    /// The name that the API and CloudFormation templates use.
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::String => "String",
            ParameterType::Number => "Number",
            ParameterType::CommaDelimitedList => "CommaDelimitedList",
            ParameterType::Json => "Json",
            ParameterType::Boolean => "Boolean",
        }
    }

    /// The name that templates of a dialect use.
    pub(crate) fn spelling(self, dialect: Dialect) -> &'static str {
        match (dialect, self) {
            (Dialect::Cfn, kind) => kind.name(),
            (Dialect::Hot, ParameterType::String) => "string",
            (Dialect::Hot, ParameterType::Number) => "number",
            (Dialect::Hot, ParameterType::CommaDelimitedList) => "comma_delimited_list",
            (Dialect::Hot, ParameterType::Json) => "json",
            (Dialect::Hot, ParameterType::Boolean) => "boolean",
        }
    }
}

/// The definition of a parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// The span of its name.
    pub span: Span,
    /// The language it is defined in.
    pub dialect: Dialect,
    /// Its type.
    pub kind: ParameterType,
    /// The label that clients display instead of the name; usually text.
    pub label: Option<Value>,
    /// The description; usually text.
    pub description: Option<Value>,
    /// The default value, as written.
    pub default: Option<Value>,
    /// The span of the default.
    pub default_span: Option<Span>,
    /// Whether its value is a secret (`hidden`).
    pub hidden: bool,
    /// Whether an update may not change its value.
    pub immutable: bool,
    /// The tags.
    pub tags: Vec<Value>,
    /// The constraints on its value.
    pub constraints: Vec<Constraint>,
    /// The spans of the rules, one for each of `constraints`.
    constraint_spans: Vec<Span>,
    /// Whether the definition has errors that make it useless for checking values.
    broken: bool,
    flaws: Vec<Diagnostic>,
}

impl Parameter {
    /// Rules that do not fit the type, and a default that breaks them.
    pub fn flaws(&self) -> &[Diagnostic] {
        &self.flaws
    }

    /// Whether a value is required.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// The kind of its values, for checking rules.
    pub(crate) fn value_kind(&self) -> ValueKind {
        ValueKind::from_parameter(self.kind, self.dialect)
    }
}

#[cfg(test)]
pub(crate) mod tests;
