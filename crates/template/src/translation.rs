//! Translation of deprecated properties before values are checked, and warnings about them.
//!
//! The schema says which property replaces which ([`Takes`]). After [`apply`], a deprecated
//! property that was translated is gone, so that later code has one spelling only. Names of
//! objects are not resolved here: only the cloud knows their ids.

use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::expr::{Expr, ExprKind};
use crate::path::Path;
use crate::property::{self, MemberPart};
use crate::schema::{Inner, Name, Property, PropertyType, Status, Takes, TypeSchema};
use crate::source::Span;
use crate::value::{Members, Secret, Unknown, Value};
use std::sync::Arc;

/// The path and the spans of a resource's properties.
#[derive(Clone, Copy)]
pub struct PropertyLocation<'a> {
    /// The path of the properties.
    pub path: &'a Path<'a>,
    /// The span of the member at a path, or of the nearest node.
    pub spans: &'a dyn Fn(&Path<'_>, MemberPart) -> Span,
}

/// Moves the values of deprecated properties to those that replaced them; returns what cannot be
/// moved.
///
/// A value that is rejected is reported here and becomes unknown, so that it is not rejected twice.
pub fn apply(
    schema: &TypeSchema,
    values: &mut Members,
    position: &PropertyLocation<'_>,
) -> Vec<Diagnostic> {
    let mut rewriter = Rewriter { spans: position.spans, names: Vec::new(), refused: Vec::new() };
    rewriter.level(&schema.properties, values, position.path);
    rewriter.refused
}

/// Warns of every deprecated property in use.
pub(crate) fn deprecations(schema: &TypeSchema, properties: &Expr) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    deprecated_members(&schema.name, &schema.properties, properties, &mut found);
    found
}

/// The deprecated name under which the property at a path may have been written.
///
/// The path leads from the properties of the resource to the property.
pub(crate) fn older_name<'p>(properties: &'p [Property], path: &[Path<'_>]) -> Option<&'p str> {
    let (last, above) = path.split_last()?;
    let mut level = properties;
    for element in above {
        // The members of a list have no names: their index is skipped.
        if let Path::Key(_, name) = element {
            level = members_of(level.iter().find(|property| property.name == *name)?)?;
        }
    }
    let Path::Key(_, name) = last else { return None };
    let property = level.iter().find(|property| property.name == *name)?;
    property.rewriting.takes.as_ref().map(Takes::older)
}

/// The members of a map, or of the maps in a list.
fn members_of(property: &Property) -> Option<&[Property]> {
    match &property.inner {
        Inner::Free => None,
        Inner::Each(item) => members_of(item),
        Inner::Members(members) => Some(members),
    }
}

struct Rewriter<'a> {
    spans: &'a dyn Fn(&Path<'_>, MemberPart) -> Span,
    /// The names from the resource's properties down to the present level.
    names: Vec<Name>,
    refused: Vec<Diagnostic>,
}

impl Rewriter<'_> {
    /// One map: the properties of a resource, or the members of one.
    fn level(&mut self, properties: &[Property], values: &mut Members, path: &Path<'_>) {
        for property in properties {
            if let Some(Takes::Member { older, key }) = &property.rewriting.takes {
                let kind = properties.iter().find(|p| p.name == *older).map(|p| p.kind);
                self.add(
                    property,
                    (older, kind.unwrap_or(PropertyType::Any)),
                    key.as_ref(),
                    values,
                    path,
                );
            }
        }
        for property in properties {
            if let Some(Takes::Value(older)) = &property.rewriting.takes {
                self.replace(property, older, values, path);
            }
        }
        for property in properties.iter().filter(|property| rewrites_inside(property)) {
            if let Some(value) = values.get_mut(&*property.name) {
                self.names.push(property.name.clone());
                self.inside(property, value, &path.key(&property.name));
                self.names.pop();
            }
        }
        for property in properties.iter().filter(|property| property.rewriting.dropped) {
            values.shift_remove(&*property.name);
        }
    }

    fn inside(&mut self, property: &Property, value: &mut Value, path: &Path<'_>) {
        match (&property.inner, value) {
            (Inner::Free, _) => {}
            (_, Value::Secret(secret)) => {
                let mut open = secret.expose().clone();
                self.inside(property, &mut open, path);
                *secret = Secret::new(open);
            }
            (Inner::Each(item), Value::List(items)) => {
                for (index, value) in Arc::make_mut(items).iter_mut().enumerate() {
                    self.inside(item, value, &path.index(index));
                }
            }
            (Inner::Each(item), Value::Map(members)) => {
                for (key, value) in Arc::make_mut(members) {
                    self.inside(item, value, &path.key(key));
                }
            }
            (Inner::Members(properties), Value::Map(members)) => {
                self.level(properties, Arc::make_mut(members), path);
            }
            _ => {}
        }
    }

    fn replace(
        &mut self,
        property: &Property,
        older: &Name,
        values: &mut Members,
        path: &Path<'_>,
    ) {
        let Some(value) = take(values, older) else { return };
        let supplied = values.get(&*property.name);
        if value.is_null() && supplied.is_some() {
            return;
        }
        let is_known = value.unknown().is_none();
        let error = if is_known { property::type_error(property.kind, &value) } else { None };
        if let Some(message) = error {
            let at = path.key(&property.name);
            // Without other members, Heat reports it for the map as a whole.
            let whole =
                supplied.is_none() && (property.required || property.kind != PropertyType::String);
            let reported = if whole { path } else { &at };
            let span = (self.spans)(&path.key(first(older)), MemberPart::Value);
            self.refuse(&codes::PROPERTY_VALUE, message, reported, span);
            blot(values, &property.name);
        } else if is_set(&value) && supplied.is_some_and(is_set) {
            let names = [self.full_name(&property.name), self.full_name(older)].join(", ");
            let message =
                format!("Cannot define the following properties at the same time: {names}");
            self.conflict(property, first(older), message, path, &path.key(&property.name));
        } else {
            values.insert(Arc::from(&*property.name), value);
        }
    }

    fn add(
        &mut self,
        property: &Property,
        (older, kind): (&Name, PropertyType),
        key: Option<&(Name, Members)>,
        values: &mut Members,
        path: &Path<'_>,
    ) {
        let Some(value) = values.get(&**older) else { return };
        let set = is_set(value);
        let supplied = values.get(&*property.name);
        // An empty value, or one of another type, is left to its own schema.
        let waits = value.unknown().is_some() && supplied.is_none();
        if !(set || waits) || property::type_error(kind, value).is_some() {
            return;
        }
        let Some(value) = values.shift_remove(&**older) else { return };
        let Some(supplied) = values.get(&*property.name) else {
            let member = match key {
                None => value,
                Some((name, others)) => {
                    let mut members = others.clone();
                    members.insert(Arc::from(&**name), value);
                    Value::Map(Arc::new(members))
                }
            };
            values.insert(Arc::from(&*property.name), Value::list([member]));
            return;
        };
        let at = path.key(&property.name);
        let first = at.index(0);
        // Heat means to append, and fails on the first member of the longer list.
        let (reported, suffix) = match opened(supplied) {
            Value::List(_) | Value::Null | Value::Unknown(Unknown::Attribute(..)) => (&first, ".0"),
            _ => (&at, ""),
        };
        let message = format!(
            "Incorrect translation rule using - cannot resolve Add rule for non-list translation \
             value \"{}{suffix}\".",
            self.full_name(&property.name),
        );
        self.conflict(property, older, message, path, reported);
        blot(values, &property.name);
    }

    fn full_name(&self, name: &str) -> String {
        let mut full = String::new();
        for above in &self.names {
            full.push_str(above);
            full.push('.');
        }
        full + name
    }

    /// The error for two properties of the same meaning, both set.
    fn conflict(
        &mut self,
        property: &Property,
        older: &str,
        message: String,
        path: &Path<'_>,
        reported: &Path<'_>,
    ) {
        let span = (self.spans)(&path.key(&property.name), MemberPart::Key);
        let other = (self.spans)(&path.key(older), MemberPart::Key);
        self.refuse(&codes::PROPERTY_CONFLICT, message, reported, span);
        if let Some(reported) = self.refused.last_mut() {
            reported.kind = "StackValidationFailed";
            reported
                .labels
                .push(crate::diagnostic::Label { span: other, text: "means the same".into() });
            reported.help = Some(format!("set `{}` or `{older}`, not both", property.name));
        }
    }

    fn refuse(&mut self, code: &'static Code, message: String, path: &Path<'_>, span: Span) {
        let refused = Diagnostic::error(code, message).class("Property error").path(path).at(span);
        self.refused.push(refused);
    }
}

/// Removes the value of a deprecated property; the value of a map's member is only looked up.
fn take(values: &mut Members, older: &str) -> Option<Value> {
    let Some((map, member)) = older.split_once('.') else { return values.shift_remove(older) };
    let value = values.get(map)?;
    let covered = matches!(value, Value::Secret(_));
    let member = opened(value).as_map()?.get(member)?.clone();
    Some(if covered { Value::Secret(Secret::new(member)) } else { member })
}

/// Makes a rejected value unknown, so that it counts as present and is not checked again.
fn blot(values: &mut Members, name: &str) {
    let name = Arc::from(name);
    values.insert(Arc::clone(&name), Value::Unknown(Unknown::Parameter(name)));
}

fn first(older: &str) -> &str {
    older.split('.').next().unwrap_or_default()
}

fn opened(value: &Value) -> &Value {
    match value {
        Value::Secret(secret) => secret.expose(),
        value => value,
    }
}

/// Whether a value is known not to be empty: a reference will be the id of an object.
fn is_set(value: &Value) -> bool {
    match opened(value) {
        Value::Unknown(unknown) => matches!(unknown, Unknown::Reference(_)),
        value => value.is_truthy(),
    }
}

/// Whether a member of a property is translated.
fn rewrites_inside(property: &Property) -> bool {
    match &property.inner {
        Inner::Free => false,
        Inner::Each(item) => rewrites_inside(item),
        Inner::Members(members) => members.iter().any(|member| {
            let rewriting = &member.rewriting;
            rewriting.takes.is_some() || rewriting.dropped || rewrites_inside(member)
        }),
    }
}

fn deprecated_members(
    kind: &str,
    properties: &[Property],
    expr: &Expr,
    found: &mut Vec<Diagnostic>,
) {
    match &expr.kind {
        ExprKind::Map(members) => {
            for member in members {
                let named = properties.iter().find(|property| *property.name == *member.key);
                let Some(property) = named else { continue };
                found.extend(deprecation(kind, properties, property, member.key_span));
                if let Some(inner) = members_of(property) {
                    deprecated_members(kind, inner, &member.value, found);
                }
            }
        }
        ExprKind::List(items) => {
            items.iter().for_each(|item| deprecated_members(kind, properties, item, found));
        }
        ExprKind::If(choice) => {
            deprecated_members(kind, properties, &choice.then, found);
            if let Some(otherwise) = &choice.otherwise {
                deprecated_members(kind, properties, otherwise, found);
            }
        }
        ExprKind::Scalar(_) | ExprKind::Call(_) | ExprKind::Invalid(_) => {}
    }
}

/// The warning about a deprecated property.
fn deprecation(
    kind: &str,
    beside: &[Property],
    property: &Property,
    span: Span,
) -> Option<Diagnostic> {
    let state = match property.support.status {
        Status::Supported => return None,
        Status::Deprecated | Status::Hidden => "deprecated",
        Status::Unsupported => "not supported",
    };
    let message = format!("The property {} of {kind} is {state}", property.name);
    let warning = Diagnostic::warning(&codes::DEPRECATED, message).at(span);
    let takes = |newer: &&Property| match &newer.rewriting.takes {
        Some(takes) => takes.older() == property.name,
        None => false,
    };
    let newer: Vec<String> =
        beside.iter().filter(takes).map(|newer| format!("`{}`", newer.name)).collect();
    Some(match (&property.support.message, &newer[..]) {
        (Some(note), _) => warning.help(note.to_string()),
        (None, []) => warning,
        (None, newer) => warning.help(format!("use {} instead", newer.join(", "))),
    })
}

#[cfg(test)]
mod tests;
