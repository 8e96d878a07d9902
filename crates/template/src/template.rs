//! The typed template: what both dialects are lowered to. Every part knows its place.

use crate::expr::Expr;
use crate::parameters::{Definitions, Group};
use crate::source::Span;
use crate::value::Value;
use crate::version::Version;
use indexmap::IndexMap;
use std::sync::Arc;

/// Something and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The thing.
    pub value: T,
    /// Its place.
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
    /// Where its name stands.
    pub name_span: Span,
    /// What decides it.
    pub definition: Expr,
}

/// A resource as defined.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name.
    pub name: Arc<str>,
    /// Where its name stands.
    pub name_span: Span,
    /// The type, as written.
    pub type_name: Spanned<Arc<str>>,
    /// Whether it exists at all; absent means yes.
    pub condition: Option<Box<Expr>>,
    /// The properties: a map, or a function in its place.
    pub properties: Option<Expr>,
    /// The metadata.
    pub metadata: Option<Expr>,
    /// What must be there before it.
    pub depends_on: Vec<Spanned<Arc<str>>>,
    /// The resources that functions in properties and metadata name, if that can be told without
    /// parameters: there are no choices, no names to be computed and no functions of the wrong form.
    pub references: Option<Box<[Spanned<Arc<str>>]>>,
    /// What becomes of its object when it is deleted.
    pub deletion_policy: Option<Box<Expr>>,
    /// How updates are carried out.
    pub update_policy: Option<Box<Expr>>,
    /// The id of an object that is not Kiln's to create or delete.
    pub external_id: Option<Box<Expr>>,
    /// What it is for.
    pub description: Option<Arc<str>>,
}

/// What becomes of an object when its resource is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DeletionPolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays.
    Retain,
    /// It is deleted after a snapshot of it was taken.
    Snapshot,
}

impl DeletionPolicy {
    /// The policy of a name; lower case came with the conditions.
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
    /// Where its name stands.
    pub name_span: Span,
    /// Its value.
    pub value: Expr,
    /// What it tells, as written.
    pub description: Option<Value>,
    /// Whether it has a value at all; absent means yes.
    pub condition: Option<Expr>,
    /// Keys that outputs do not have: passed over in a root template, refused in a nested one.
    pub unknown_keys: Vec<Spanned<Arc<str>>>,
}
