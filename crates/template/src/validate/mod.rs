//! Validation: every check of a template that needs no stack.
//!
//! All mistakes are found in one pass, in the whole tree of templates; the first is the one that
//! Heat would have reported.

mod describe;
mod facade;
mod loader;
mod lookalikes;
mod nested;
mod properties;
mod root;
mod siblings;
mod stack;

use crate::codes::{self, Code};
use crate::constraint::{CustomConstraints, Verdict};
use crate::definition::{Files, QueryLimits, UnsetParameters};
use crate::limits::Limits;
use crate::parameters::ParameterCheck;
use crate::schema::TypeSchema;
use crate::value::{Members, Value};
use std::sync::Arc;
use std::time::Duration;

pub use root::{Input, Report, Root, validate};

/// The resource types that templates may use.
pub trait Types {
    /// The schema of a type.
    fn schema(&self, name: &str) -> Option<&TypeSchema>;

    /// The names of all types, for suggestions.
    fn names(&self) -> Vec<&str>;

    /// Why resources of a type cannot be created in this cloud, in Heat's words, if they cannot.
    fn unavailable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Whether [`Types::check`] or [`Types::expansion`] is implemented for a type.
    fn checks_properties(&self, _name: &str) -> bool {
        false
    }

    /// Checks what a type requires of its properties beyond their schemas; values may be unknown in
    /// part.
    fn check(
        &self,
        _name: &str,
        _properties: &Members,
        _siblings: &dyn SiblingDefinitions,
    ) -> Result<(), PropertyError> {
        Ok(())
    }

    /// The nested stack that a resource of this type creates, if it creates one.
    fn expansion(
        &self,
        _name: &str,
        _properties: &Members,
        _siblings: &dyn SiblingDefinitions,
    ) -> Option<Expansion> {
        None
    }
}

/// The other resources of a stack, as far as its template says what they are.
pub trait SiblingDefinitions {
    /// The name of the resource that is checked.
    fn own_name(&self) -> &str;

    /// The attributes that the template asks of the resource that is checked: the name of each, and the path into it.
    fn own_attributes(&self) -> Vec<Vec<Value>> {
        Vec::new()
    }

    /// The type of a resource, if there is one of this name.
    fn type_name(&self, name: &str) -> Option<Arc<str>>;

    /// Whether a resource of the stack has a type.
    fn has_type(&self, _type_name: &str) -> bool {
        false
    }

    /// The properties of a resource as they are written; values may be unknown.
    fn properties(&self, name: &str) -> Option<Members>;

    /// A property of a resource as it is written, or its default; the value may be unknown.
    fn property(&self, name: &str, property: &str) -> Option<Value> {
        self.properties(name)?.get(property).cloned()
    }

    /// Has the cloud check a rule of a type for a subject.
    fn check_rule(&self, _rule: &'static str, _subject: &str) -> Verdict {
        Verdict::Deferred
    }

    /// The timeout of an action on the stack, if it is known.
    fn timeout(&self) -> Option<Duration> {
        None
    }
}

/// The nested stack of a resource whose type is no template.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The template.
    pub template: ExpansionTemplate,
    /// Types that have another name inside the stack, and what they stand for.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// Whether an unknown type of a member is reported as the resource's own, without a path.
    pub reports_types: bool,
    /// Which part of its members the stack has in the template; `None` if it has all of them.
    pub sample: Option<Sample>,
}

/// Some members of a group that stand for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many there are.
    pub shown: usize,
    /// How many members the group has.
    pub total: usize,
}

/// The template of an [`Expansion`].
#[derive(Clone, Debug, PartialEq)]
pub enum ExpansionTemplate {
    /// One that the resource generates. Values may be unknown, and hidden.
    Generated(Value),
    /// A file, or a template at a URL, and the values for its parameters.
    File(Arc<str>, Members),
}

impl Expansion {
    /// A nested stack of a template that the resource generates.
    pub fn generated(template: Value) -> Expansion {
        Expansion {
            template: ExpansionTemplate::Generated(template),
            aliases: Vec::new(),
            reports_types: false,
            sample: None,
        }
    }

    /// A nested stack of a template by its name or URL.
    pub fn file(url: Arc<str>, parameters: Members) -> Expansion {
        let template = ExpansionTemplate::File(url, parameters);
        Expansion { template, aliases: Vec::new(), reports_types: false, sample: None }
    }
}

/// The error of a type that rejects its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// The property, if the error is about one alone; the message then includes its path.
    pub property: Option<&'static str>,
    /// The class of an exception that Heat wraps, such as `ValueError`; the message then includes it
    /// and the path of the resource.
    pub class: Option<&'static str>,
    /// The message.
    pub message: String,
}

impl PropertyError {
    /// An error about the properties as a whole.
    pub fn new(message: impl Into<String>) -> PropertyError {
        PropertyError {
            code: &codes::PROPERTY_VALUE,
            property: None,
            class: None,
            message: message.into(),
        }
    }

    /// An error that Heat raises as an exception of its language, such as `ValueError`.
    pub fn exception(class: &'static str, message: impl Into<String>) -> PropertyError {
        PropertyError { class: Some(class), ..PropertyError::new(message) }
    }

    /// An error about one property's value.
    pub fn for_property(property: &'static str, message: impl Into<String>) -> PropertyError {
        PropertyError { property: Some(property), ..PropertyError::new(message) }
    }
}

/// The extent of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether parameters must have values.
    pub parameters: ParameterCheck,
    /// Whether property values are checked, not only their names.
    pub values: bool,
    /// How much of nested templates is checked.
    pub nested: NestedChecks,
    /// What functions make of parameters without values.
    pub absent: UnsetParameters,
}

/// How much of nested templates is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestedChecks {
    /// Their parameters and outputs.
    Interface,
    /// Everything.
    Values,
}

impl Checks {
    /// The checks before a stack is created.
    pub const CREATE: Checks = Checks {
        parameters: ParameterCheck::Values,
        values: true,
        nested: NestedChecks::Values,
        absent: UnsetParameters::Unknown,
    };
    /// The checks of the API's template validation.
    pub const TEMPLATE: Checks = Checks {
        parameters: ParameterCheck::NamesOnly,
        values: false,
        nested: NestedChecks::Interface,
        absent: UnsetParameters::Error,
    };
    /// The checks for authors: all that are possible without values for all parameters.
    pub const AUTHOR: Checks = Checks {
        parameters: ParameterCheck::Supplied,
        values: true,
        nested: NestedChecks::Values,
        absent: UnsetParameters::Unknown,
    };
}

/// The context of a validation.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The resource types.
    pub types: &'a dyn Types,
    /// The custom constraints.
    pub custom: &'a dyn CustomConstraints,
    /// The extent of the validation.
    pub checks: Checks,
    /// Bounds on each document.
    pub limits: Limits,
    /// How deep templates may be nested; the root is at depth 0.
    pub max_depth: usize,
    /// How many resources the whole tree may have; nothing means no limit.
    pub max_resources: Option<usize>,
    /// Whether the members of groups that are validated once count as often as there are of them. The service counts the
    /// resources of a tree by itself, since it knows how many there are already.
    pub counts_members: bool,
    /// The limits of YAQL queries.
    pub query_limits: QueryLimits,
    /// The timeout of an action on the stack, if it is known.
    pub timeout: Option<Duration>,
}

impl<'a> Context<'a> {
    /// Heat's default limits.
    pub fn new(types: &'a dyn Types, custom: &'a dyn CustomConstraints, checks: Checks) -> Self {
        Context {
            types,
            custom,
            checks,
            limits: Limits::default(),
            max_depth: 5,
            max_resources: Some(1000),
            counts_members: false,
            query_limits: QueryLimits::default(),
            timeout: None,
        }
    }
}

/// Files by the text that names them, shared by a whole tree.
pub(crate) type SharedFiles = Arc<Files>;
