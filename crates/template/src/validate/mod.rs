//! Validation: everything that can be told of a template before a stack exists.
//!
//! All mistakes are found in one pass, in the whole tree of templates; the first is the one that the
//! reference would have told.

mod describe;
mod nested;
mod properties;
mod root;
mod stack;

use crate::codes::{self, Code};
use crate::constraint::CustomConstraints;
use crate::definition::{Files, UnsetParameters};
use crate::limits::Limits;
use crate::parameters::Check;
use crate::schema::TypeSchema;
use crate::value::Members;
use std::sync::Arc;

pub use root::{Input, Report, Root, validate};

/// The resource types that templates may use.
pub trait Types {
    /// The schema of a type.
    fn schema(&self, name: &str) -> Option<&TypeSchema>;

    /// The names of all types, for suggestions.
    fn names(&self) -> Vec<&str>;

    /// Whether [`Types::check`] or [`Types::expansion`] has something to say of a type.
    fn looks_at_properties(&self, _name: &str) -> bool {
        false
    }

    /// What a type asks of its properties beyond their schemas; values may be unknown in part.
    fn check(&self, _name: &str, _properties: &Members) -> Result<(), PropertyError> {
        Ok(())
    }

    /// The template that a resource of this type makes a nested stack of, if it makes one.
    fn expansion(&self, _name: &str, _properties: &Members) -> Option<crate::value::Value> {
        None
    }
}

/// What a type has against its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// The property, if it is the value of one alone; the sentence then names its path.
    pub property: Option<&'static str>,
    /// The sentence.
    pub message: String,
}

impl PropertyError {
    /// A refusal of the properties as a whole.
    pub fn new(message: impl Into<String>) -> PropertyError {
        PropertyError { code: &codes::PROPERTY_VALUE, property: None, message: message.into() }
    }

    /// A refusal of one property's value.
    pub fn for_property(property: &'static str, message: impl Into<String>) -> PropertyError {
        PropertyError { property: Some(property), ..PropertyError::new(message) }
    }
}

/// How far validation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether parameters must have values.
    pub parameters: Check,
    /// Whether property values are checked, not only their names.
    pub values: bool,
    /// How much of nested templates is checked.
    pub nested: Nested,
    /// What parameters without values are to functions.
    pub absent: UnsetParameters,
}

/// How much of nested templates is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// Their parameters and outputs.
    Interface,
    /// Everything but the values of properties.
    Names,
    /// Everything.
    Values,
}

impl Checks {
    /// As before a stack is created.
    pub const CREATE: Checks = Checks {
        parameters: Check::Values,
        values: true,
        nested: Nested::Names,
        absent: UnsetParameters::Unknown,
    };
    /// As the API's template validation.
    pub const TEMPLATE: Checks = Checks {
        parameters: Check::NamesOnly,
        values: false,
        nested: Nested::Interface,
        absent: UnsetParameters::Error,
    };
    /// As much as can be told without values for all parameters.
    pub const AUTHOR: Checks = Checks {
        parameters: Check::Supplied,
        values: true,
        nested: Nested::Values,
        absent: UnsetParameters::Unknown,
    };
}

/// What validation needs besides the template.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The resource types.
    pub types: &'a dyn Types,
    /// The checks that constraints may name.
    pub custom: &'a dyn CustomConstraints,
    /// How far to go.
    pub checks: Checks,
    /// Bounds on each document.
    pub limits: Limits,
    /// How deep templates may be nested; the root is at depth 0.
    pub max_depth: usize,
    /// How many resources the whole tree may have; nothing means no limit.
    pub max_resources: Option<usize>,
}

impl<'a> Context<'a> {
    /// The limits of a stock service.
    pub fn new(types: &'a dyn Types, custom: &'a dyn CustomConstraints, checks: Checks) -> Self {
        Context {
            types,
            custom,
            checks,
            limits: Limits::default(),
            max_depth: 5,
            max_resources: Some(1000),
        }
    }
}

/// Files by the text that names them, shared by a whole tree.
pub type SharedFiles = Arc<Files>;
