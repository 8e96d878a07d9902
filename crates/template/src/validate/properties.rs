//! Properties of a resource against the schema of its type.

use super::{Checks, Context};
use crate::codes;
use crate::definition::UnknownResolver;
use crate::diagnostic::Diagnostic;
use crate::eval::{Resolver, Scope};
use crate::expr::{Expr, ExprKind, Member};
use crate::functions::{Facade, Fault};
use crate::path::Path;
use crate::property;
use crate::schema::{Property, TypeSchema};
use crate::source::Span;
use crate::translation;
use crate::value::{Members, Unknown, Value};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Resolves as Heat does during validation: the reference of a resource is its name, its
/// attributes are null.
pub(super) struct ValidationResolver;

impl Resolver for ValidationResolver {
    fn reference(&self, resource: &str) -> Result<Value, Fault> {
        Ok(resource.into())
    }

    fn attribute(&self, _: &str, _: &str, _: &[Value]) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn attributes(&self, _: &str) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn facade(&self, part: Facade) -> Result<Value, Fault> {
        UnknownResolver.facade(part)
    }

    fn availability_zones(&self) -> Result<Value, Fault> {
        UnknownResolver.availability_zones()
    }
}

/// A map of properties as written, and its span.
pub(super) struct WrittenProperties<'a> {
    expr: Option<&'a Expr>,
    path: &'a Path<'a>,
    fallback: Span,
    /// Members of the map by name, made when the first is asked for.
    members: OnceCell<BTreeMap<&'a str, &'a Member>>,
}

impl<'a> WrittenProperties<'a> {
    /// A map at a path; `fallback` is where to point when something is missing from it.
    pub(super) fn new(
        expr: Option<&'a Expr>,
        path: &'a Path<'a>,
        fallback: Span,
    ) -> WrittenProperties<'a> {
        WrittenProperties { expr, path, fallback, members: OnceCell::new() }
    }

    fn member(&self, name: &str) -> Option<&'a Member> {
        let members = self.members.get_or_init(|| {
            let members = self.expr.and_then(Expr::as_map).unwrap_or_default();
            members.iter().map(|member| (&*member.key, member)).collect()
        });
        members.get(name).copied()
    }

    /// The span of a part of the properties, as deep as it is written in the template.
    fn locate(&self, properties: &[Property], path: &Path<'_>, part: property::MemberPart) -> Span {
        let elements = path.elements();
        let inside = elements.get(self.path.elements().len()..).unwrap_or_default();
        let Some((first, rest)) = inside.split_first() else { return self.fallback };
        // A value may appear under the older name of its property.
        let older = |depth| translation::older_name(properties, inside.get(..=depth)?);
        let member = match first {
            Path::Key(_, name) => self.member(name).or_else(|| self.member(older(0)?)),
            _ => None,
        };
        let Some(member) = member else { return self.fallback };
        let (mut key, mut expr) = (member.key_span, &member.value);
        for (depth, element) in (1..).zip(rest) {
            let next = match (&expr.kind, element) {
                (ExprKind::Map(members), Path::Key(_, name)) => {
                    let named = |name: &str| members.iter().find(|m| *m.key == *name);
                    let member = named(name).or_else(|| named(older(depth)?));
                    member.map(|m| (m.key_span, &m.value))
                }
                (ExprKind::List(items), Path::Index(_, at)) => {
                    items.get(*at).map(|item| (item.span, item))
                }
                _ => None,
            };
            let Some(next) = next else { break };
            (key, expr) = next;
        }
        // The span of a small value is more useful than that of its key, the span of a large one
        // less.
        match (part, &expr.kind) {
            (property::MemberPart::Value, ExprKind::Scalar(_)) => expr.span,
            _ => key,
        }
    }
}

/// The values of properties; values from the cloud are unknown.
pub(super) struct Values {
    /// The values.
    pub(super) members: Members,
    /// Names whose value an `if` without an else left out.
    dropped: Vec<Arc<str>>,
}

/// Evaluates properties and reports failures.
///
/// `reported` are the spans of references to resources that do not exist: a failure there is not
/// reported again.
pub(super) fn values(
    scope: &Scope<'_>,
    written: &WrittenProperties<'_>,
    reported: &BTreeSet<Span>,
    out: &mut Vec<Diagnostic>,
) -> Values {
    let mut values = Values { members: Members::new(), dropped: Vec::new() };
    let Some(expr) = written.expr else { return values };
    let ExprKind::Map(members) = &expr.kind else {
        let value = scope.value(expr).ok();
        values.members = value.and_then(|value| value.as_map().cloned()).unwrap_or_default();
        return values;
    };
    let pending = scope.with_resolver(&ValidationResolver);
    for member in members {
        let value = match scope.optional(&member.value) {
            // The value is unknown here: Heat goes on with null, and rejects it where null is not
            // accepted.
            Ok(Some(value)) if value.unknown().is_some() => {
                pending.optional(&member.value).map(|_| Some(value))
            }
            other => other,
        };
        match value {
            Ok(Some(value)) => _ = values.members.insert(member.key.clone(), value),
            Ok(None) => values.dropped.push(member.key.clone()),
            Err(fault) => {
                let path = written.path.key(&member.key);
                let position = member.value.span;
                let inside = |span: &Span| span.start >= position.start && span.end <= position.end;
                let is_told = fault.code == &codes::BAD_REFERENCE_IN_FUNCTION
                    && reported.range(Span { end: 0, ..position }..).next().is_some_and(inside);
                if !is_told {
                    out.push(failed(&fault, &path, place_of_failure(&member.value)));
                }
                // The property is present without a value: it must not count as missing, too.
                let unknown = Unknown::Parameter(member.key.clone());
                values.members.insert(member.key.clone(), Value::Unknown(unknown));
            }
        }
    }
    values
}

fn failed(fault: &Fault, path: &Path<'_>, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(fault.code, fault.message.clone()).at(span);
    let diagnostic = diagnostic.class("Property error").path(path);
    Diagnostic { kind: "StackValidationFailed", ..diagnostic }
}

/// The first function in an expression: most likely what failed.
fn place_of_failure(expr: &Expr) -> Span {
    fn first_function(expr: &Expr) -> Option<Span> {
        match &expr.kind {
            ExprKind::Scalar(_) => None,
            ExprKind::List(items) => items.iter().find_map(first_function),
            ExprKind::Map(members) => members.iter().find_map(|m| first_function(&m.value)),
            ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Invalid(_) => Some(expr.span),
        }
    }
    first_function(expr).unwrap_or(expr.span)
}

/// Moves the values of deprecated properties to those that replaced them; returns what cannot be
/// moved.
pub(super) fn translate(
    context: &Context<'_>,
    schema: &TypeSchema,
    values: &mut Values,
    written: &WrittenProperties<'_>,
) -> Vec<Diagnostic> {
    if !context.checks.values {
        return Vec::new();
    }
    let spans = |path: &Path<'_>, part| written.locate(&schema.properties, path, part);
    let position = translation::PropertyLocation { path: written.path, spans: &spans };
    let mut reported = translation::apply(schema, &mut values.members, &position);
    if let Some(expr) = written.expr.filter(|_| context.checks == Checks::AUTHOR) {
        reported.extend(translation::deprecations(schema, expr));
    }
    reported
}

/// Checks property values, or only their names, against a schema; returns them converted.
pub(super) fn check(
    context: &Context<'_>,
    schema: &TypeSchema,
    properties: &[Property],
    values: &Values,
    written: &WrittenProperties<'_>,
    nested_resource: Option<&Path<'_>>,
    out: &mut Vec<Diagnostic>,
) -> Members {
    let checker = property::Checker {
        custom: context.custom,
        spans: &|path, part| written.locate(properties, path, part),
        dropped: &values.dropped,
        nested_resource,
        facade: schema.from_template,
        convert: context.types.checks_properties(&schema.name),
    };
    if context.checks.values {
        checker.check_all(properties, &values.members, written.path, out)
    } else {
        checker.check_names(properties, &values.members, written.path, out);
        values.members.clone()
    }
}
