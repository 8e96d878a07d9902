//! The typed template: both dialects are lowered to it. Every part has its span.

use crate::expr::Expr;
use crate::parameters::{Definitions, Group};
use crate::source::Span;
use crate::value::Value;
use crate::version::Version;
use indexmap::IndexMap;
use std::sync::Arc;

/// A value and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its span.
    pub span: Span,
}

/// A template of either dialect.
#[derive(Clone, Debug)]
pub struct Template {
    /// The text it was read from.
    pub span: Span,
    /// The version it is written in.
    pub version: Version,
    /// The description, as written.
    pub description: Option<Value>,
    /// Parameters, by name.
    pub parameters: Arc<Definitions>,
    /// How clients should group them.
    pub parameter_groups: Vec<Group>,
    /// The mappings of a CloudFormation template: a map of maps of maps.
    pub mappings: Value,
    /// Conditions, by name.
    pub conditions: IndexMap<Arc<str>, Condition>,
    /// Resources, by name.
    pub resources: IndexMap<Arc<str>, Resource>,
    /// Outputs, by name.
    pub outputs: IndexMap<Arc<str>, Output>,
}

/// A named condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The span of its name.
    pub name_span: Span,
    /// The expression that decides it.
    pub definition: Expr,
}

/// A resource as defined.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name.
    pub name: Arc<str>,
    /// The span of its name.
    pub name_span: Span,
    /// The type, as written.
    pub type_name: Spanned<Arc<str>>,
    /// Whether it exists at all; absent means yes.
    pub condition: Option<Box<Expr>>,
    /// The properties: a map, or a function in its place.
    pub properties: Option<Expr>,
    /// The metadata.
    pub metadata: Option<Expr>,
    /// The names in `depends_on`.
    pub depends_on: Vec<Spanned<Arc<str>>>,
    /// The resources that functions in properties and metadata name, if they are known without
    /// parameters: there are no choices, no names to be computed and no functions of the wrong
    /// form.
    pub references: Option<Box<[Spanned<Arc<str>>]>>,
    /// The deletion policy.
    pub deletion_policy: Option<Box<Expr>>,
    /// How the resource is updated.
    pub update_policy: Option<Box<Expr>>,
    /// The id of an existing object that the engine neither creates nor deletes.
    pub external_id: Option<Box<Expr>>,
    /// The description.
    pub description: Option<Arc<str>>,
}

/// What happens to an object when its resource is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DeletionPolicy {
    /// The object is deleted.
    #[default]
    Delete,
    /// The object is kept.
    Retain,
    /// The object is deleted after a snapshot of it was taken.
    Snapshot,
}

impl DeletionPolicy {
    /// Parses a policy; lower case is accepted since the versions with conditions.
    pub fn parse(text: &str, version: Version) -> Option<DeletionPolicy> {
        Some(match text {
            "Delete" => DeletionPolicy::Delete,
            "Retain" => DeletionPolicy::Retain,
            "Snapshot" => DeletionPolicy::Snapshot,
            "delete" if version >= Version::Hot20161014 => DeletionPolicy::Delete,
            "retain" if version >= Version::Hot20161014 => DeletionPolicy::Retain,
            "snapshot" if version >= Version::Hot20161014 => DeletionPolicy::Snapshot,
            _ => return None,
        })
    }

    /// The capitalised name.
    pub fn name(self) -> &'static str {
        match self {
            DeletionPolicy::Delete => "Delete",
            DeletionPolicy::Retain => "Retain",
            DeletionPolicy::Snapshot => "Snapshot",
        }
    }
}

/// An output as defined.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// The span of its name.
    pub name_span: Span,
    /// Its value.
    pub value: Expr,
    /// The description, as written.
    pub description: Option<Value>,
    /// Whether it has a value at all; absent means yes.
    pub condition: Option<Expr>,
    /// Keys that outputs do not have: passed over in a root template, rejected in a nested one.
    pub unknown_keys: Vec<Spanned<Arc<str>>>,
}
