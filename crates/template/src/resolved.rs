//! A resource's definition with every function in it evaluated: the engine acts on it, and compares
//! it with the next one.

use crate::constraint::CustomConstraints;
use crate::diagnostic::Diagnostic;
use crate::eval::Scope;
use crate::expr::{Expr, ExprKind};
use crate::functions::Fault;
use crate::path::Path;
use crate::property::Checker;
use crate::schema::{Property, TypeSchema};
use crate::source::{FileId, Span};
use crate::template::{DeletionPolicy, Resource};
use crate::translation;
use crate::value::{Members, Value, members_byte_size};
use std::sync::Arc;

/// A resource's definition with every function evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedDefinition {
    /// The type, as written.
    pub type_name: Arc<str>,
    /// The properties, as written.
    pub properties: Arc<Members>,
    /// The metadata.
    pub metadata: Value,
    /// The update policy, as written.
    pub update_policy: Value,
    /// The deletion policy.
    pub deletion_policy: DeletionPolicy,
    /// The names in `depends_on`.
    pub depends_on: Arc<[Arc<str>]>,
    /// The id of an existing object that the engine neither creates nor deletes.
    pub external_id: Option<Arc<str>>,
}

/// The failure of a function, with the property that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveError {
    /// The failure.
    pub fault: Fault,
    /// The path below the resource: `properties.size`, `metadata`.
    pub path: String,
}

impl ResolvedDefinition {
    /// Evaluates the functions of a definition.
    pub fn resolve(
        scope: &Scope<'_>,
        resource: &Resource,
    ) -> Result<ResolvedDefinition, ResolveError> {
        let properties = properties(scope, resource.properties.as_ref())?;
        ResolvedDefinition::with(scope, resource, properties)
    }

    /// Evaluates the functions of a definition except in the properties: a type that does not use
    /// them does not report errors in them either.
    pub fn resolve_without_properties(
        scope: &Scope<'_>,
        resource: &Resource,
    ) -> Result<ResolvedDefinition, ResolveError> {
        ResolvedDefinition::with(scope, resource, Members::new())
    }

    fn with(
        scope: &Scope<'_>,
        resource: &Resource,
        properties: Members,
    ) -> Result<ResolvedDefinition, ResolveError> {
        let whole = |expr: Option<&Expr>, name: &str| match expr {
            Some(expr) => {
                scope.value(expr).map_err(|fault| ResolveError { fault, path: name.into() })
            }
            None => Ok(Value::Null),
        };
        let external = whole(resource.external_id.as_deref(), "external_id")?;
        let deletion_policy = scope
            .definition
            .deletion_policy(resource, scope.resolver)
            .map_err(|fault| ResolveError { fault, path: "deletion_policy".into() })?;
        Ok(ResolvedDefinition {
            type_name: resource.type_name.value.clone(),
            properties: Arc::new(properties),
            metadata: whole(resource.metadata.as_ref(), "metadata")?,
            update_policy: whole(resource.update_policy.as_deref(), "update_policy")?,
            deletion_policy,
            depends_on: resource.depends_on.iter().map(|name| name.value.clone()).collect(),
            external_id: external.as_text().cloned(),
        })
    }

    /// How many bytes its values take in a record.
    pub fn byte_size(&self) -> usize {
        members_byte_size(&self.properties)
            .saturating_add(self.metadata.byte_size())
            .saturating_add(self.update_policy.byte_size())
    }

    /// Whether two definitions are equal by Python's rules:
    /// `1` and `1.0` are the same.
    pub fn equals(&self, other: &ResolvedDefinition) -> bool {
        self.type_name == other.type_name
            && same_members(&self.properties, &other.properties)
            && self.metadata.equals(&other.metadata)
            && self.update_policy.equals(&other.update_policy)
            && self.deletion_policy == other.deletion_policy
            && self.depends_on == other.depends_on
            && self.external_id == other.external_id
    }
}

fn same_members(a: &Arc<Members>, b: &Arc<Members>) -> bool {
    Arc::ptr_eq(a, b)
        || a.len() == b.len()
            && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| value.equals(other)))
}

fn properties(scope: &Scope<'_>, expr: Option<&Expr>) -> Result<Members, ResolveError> {
    let Some(expr) = expr else { return Ok(Members::new()) };
    let failed = |path: String| move |fault| ResolveError { fault, path };
    let ExprKind::Map(members) = &expr.kind else {
        let value = scope.value(expr).map_err(failed("properties".into()))?;
        return Ok(value.as_map().cloned().unwrap_or_default());
    };
    let mut values = Members::with_capacity(members.len());
    for member in members {
        let path = || format!("properties.{}", member.key);
        if let Some(value) = scope.optional(&member.value).map_err(|f| failed(path())(f))? {
            values.insert(member.key.clone(), value);
        }
    }
    Ok(values)
}

/// Converts the properties of a resource to what its type expects: deprecated names are translated,
/// values are converted to the types of the schema, defaults are filled in. Returns the errors,
/// too.
pub fn convert_properties(
    schema: &TypeSchema,
    values: &Members,
    custom: &dyn CustomConstraints,
    path: &Path<'_>,
) -> (Members, Vec<Diagnostic>) {
    if schema.any_property {
        return (values.clone(), Vec::new());
    }
    let mut values = values.clone();
    let nowhere = |_: &Path<'_>, _| Span::start_of(FileId::default());
    let position = translation::PropertyLocation { path, spans: &nowhere };
    let mut problems = translation::apply(schema, &mut values, &position);
    let members =
        convert_by(&schema.properties, &values, schema.from_template, custom, path, &mut problems);
    (members, problems)
}

/// Converts an update policy as [`convert_properties`] does properties.
pub fn convert_update_policy(
    schema: &TypeSchema,
    policy: &Value,
    custom: &dyn CustomConstraints,
    path: &Path<'_>,
) -> (Members, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let empty = Members::new();
    let supplied = policy.as_map().unwrap_or(&empty);
    let members = convert_by(&schema.update_policy, supplied, false, custom, path, &mut problems);
    (members, problems)
}

fn convert_by(
    properties: &[Property],
    values: &Members,
    facade: bool,
    custom: &dyn CustomConstraints,
    path: &Path<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Members {
    let checker = Checker {
        nested_resource: None,
        custom,
        spans: &|_, _| Span::start_of(FileId::default()),
        dropped: &[],
        facade,
        convert: true,
    };
    checker.check_all(properties, values, path, problems)
}
