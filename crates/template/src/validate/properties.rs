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

/// The world as the reference sees it while it validates: resources answer with their names, their
/// attributes are null.
pub(super) struct Pending;

impl Resolver for Pending {
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

/// A map of properties as written, and where it stands.
pub(super) struct Written<'a> {
    expr: Option<&'a Expr>,
    path: &'a Path<'a>,
    fallback: Span,
    /// Members of the map by name, made when the first is asked for.
    members: OnceCell<BTreeMap<&'a str, &'a Member>>,
}

impl<'a> Written<'a> {
    /// A map at a path; `fallback` is where to point when something is missing from it.
    pub(super) fn new(expr: Option<&'a Expr>, path: &'a Path<'a>, fallback: Span) -> Written<'a> {
        Written { expr, path, fallback, members: OnceCell::new() }
    }

    fn member(&self, name: &str) -> Option<&'a Member> {
        let members = self.members.get_or_init(|| {
            let members = self.expr.and_then(Expr::as_map).unwrap_or_default();
            members.iter().map(|member| (&*member.key, member)).collect()
        });
        members.get(name).copied()
    }

    /// The place of a part of the properties, as deep as it was written down.
    fn locate(&self, properties: &[Property], path: &Path<'_>, part: property::MemberPart) -> Span {
        let elements = path.elements();
        let inside = elements.get(self.path.elements().len()..).unwrap_or_default();
        let Some((first, rest)) = inside.split_first() else { return self.fallback };
        // A value may stand under the older name of its property.
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
        // Small values say more than their keys, large ones less.
        match (part, &expr.kind) {
            (property::MemberPart::Value, ExprKind::Scalar(_)) => expr.span,
            _ => key,
        }
    }
}

/// The values of properties, unknown where only the cloud can tell.
pub(super) struct Values {
    /// The values.
    pub(super) members: Members,
    /// Names whose value an `if` without an else left out.
    dropped: Vec<Arc<str>>,
}

/// Evaluates properties; what fails is reported.
///
/// `told` are places of references that were found to lead nowhere: what fails there is not told again.
pub(super) fn values(
    scope: &Scope<'_>,
    written: &Written<'_>,
    told: &BTreeSet<Span>,
    out: &mut Vec<Diagnostic>,
) -> Values {
    let mut values = Values { members: Members::new(), dropped: Vec::new() };
    let Some(expr) = written.expr else { return values };
    let ExprKind::Map(members) = &expr.kind else {
        let value = scope.value(expr).ok();
        values.members = value.and_then(|value| value.as_map().cloned()).unwrap_or_default();
        return values;
    };
    let pending = scope.in_world(&Pending);
    for member in members {
        let value = match scope.optional(&member.value) {
            // Unknown for us: the reference goes on with null, and refuses what does not take it.
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
                let place = member.value.span;
                let inside = |span: &Span| span.start >= place.start && span.end <= place.end;
                let is_told = fault.code == &codes::BAD_REFERENCE_IN_FUNCTION
                    && told.range(Span { end: 0, ..place }..).next().is_some_and(inside);
                if !is_told {
                    out.push(failed(&fault, &path, place_of_failure(&member.value)));
                }
                // It is there, if without a value: it must not count as missing too.
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

/// Gives the values of older properties to those that took their place; tells what cannot be.
pub(super) fn translate(
    context: &Context<'_>,
    schema: &TypeSchema,
    values: &mut Values,
    written: &Written<'_>,
) -> Vec<Diagnostic> {
    if !context.checks.values {
        return Vec::new();
    }
    let spans = |path: &Path<'_>, part| written.locate(&schema.properties, path, part);
    let place = translation::PropertyLocation { path: written.path, spans: &spans };
    let mut told = translation::apply(schema, &mut values.members, &place);
    if let Some(expr) = written.expr.filter(|_| context.checks == Checks::AUTHOR) {
        told.extend(translation::deprecations(schema, expr));
    }
    told
}

/// Checks property values, or only their names, against a schema; gives them converted.
pub(super) fn check(
    context: &Context<'_>,
    schema: &TypeSchema,
    properties: &[Property],
    values: &Values,
    written: &Written<'_>,
    out: &mut Vec<Diagnostic>,
) -> Members {
    let checker = property::Checker {
        custom: context.custom,
        spans: &|path, part| written.locate(properties, path, part),
        dropped: &values.dropped,
        facade: schema.from_template,
        convert: context.types.looks_at_properties(&schema.name),
    };
    if context.checks.values {
        checker.check_all(properties, &values.members, written.path, out)
    } else {
        checker.check_names(properties, &values.members, written.path, out);
        values.members.clone()
    }
}
