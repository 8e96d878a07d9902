//! Property values against the schema of their resource type.
//!
//! Every error is reported, unknown names first, then in the order of the schema. A value that is
//! not known yet is neither converted nor rejected. A hidden value is checked by its content and
//! never printed.

use crate::codes::{self, Code};
use crate::constraint::cast::{self, CastError};
use crate::constraint::{CustomConstraints, Verdict};
use crate::diagnostic::Diagnostic;
use crate::parameters::{self, Parameter};
use crate::path::Path;
use crate::print::{self, Keys};
use crate::schema::{Inner, Property, PropertyType};
use crate::source::{FileId, Span};
use crate::suggest;
use crate::value::{Members, Secret, Unknown, Value};
use kiln_yaql::Integer;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A part of a member of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberPart {
    /// The name.
    Key,
    /// The value.
    Value,
}

/// Checks property values.
#[derive(Clone, Copy)]
pub struct Checker<'a> {
    /// The custom constraints.
    pub custom: &'a dyn CustomConstraints,
    /// The span of the member at a path, or of the nearest node.
    pub spans: &'a dyn Fn(&Path<'_>, MemberPart) -> Span,
    /// Names of properties that an `if` in the template left out.
    pub dropped: &'a [Arc<str>],
    /// Whether to return the converted properties, with defaults for those that are absent.
    pub convert: bool,
    /// The path of the resource, if it is in a nested stack: a value of the wrong type is then
    /// reported as Heat does there, for the resource.
    pub nested_resource: Option<&'a Path<'a>>,
    /// Whether the schema was made from a nested template's parameters (`from_parameter`): its
    /// lists then take text, and its maps text and lists.
    pub facade: bool,
}

/// A property that passes its values on to a parameter of a nested template.
pub(crate) fn from_parameter(parameter: &Parameter) -> Property {
    let kind = match parameter.kind {
        parameters::ParameterType::String => PropertyType::String,
        parameters::ParameterType::Number => PropertyType::Number,
        parameters::ParameterType::Boolean => PropertyType::Boolean,
        parameters::ParameterType::CommaDelimitedList => PropertyType::List,
        parameters::ParameterType::Json => PropertyType::Map,
    };
    Property {
        about: parameter.description.as_ref().map(print::plain).unwrap_or_default().into(),
        required: parameter.is_required(),
        update_allowed: true,
        constraints: parameter.constraints.clone(),
        ..Property::new(parameter.name.to_string(), kind)
    }
}

/// The error if a value does not have a type.
pub fn type_error(kind: PropertyType, value: &Value) -> Option<String> {
    let checker = Checker {
        custom: &NoConstraints,
        spans: &|_, _| Span::start_of(FileId::default()),
        dropped: &[],
        nested_resource: None,
        facade: false,
        convert: true,
    };
    let mut out = Vec::new();
    checker.check(&Property::new("value", kind), value, &Path::Root, &mut out);
    out.into_iter().next().map(|diagnostic| diagnostic.message)
}

struct NoConstraints;

impl CustomConstraints for NoConstraints {
    fn check(&self, _: &str, _: &Value) -> Verdict {
        Verdict::Deferred
    }
}

impl Checker<'_> {
    /// Checks the properties of a resource, or of a map inside one, and returns them converted if
    /// [`Checker::convert`] is set.
    ///
    /// The result then has every property of the schema: one that is absent takes its default, else
    /// null. One that is rejected is left out.
    pub(crate) fn check_all(
        &self,
        properties: &[Property],
        supplied: &Members,
        path: &Path<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Members {
        self.members(properties, supplied, self.dropped, path, false, out)
    }

    /// Checks that the schema has the names of properties, but not their values.
    pub(crate) fn check_names(
        &self,
        properties: &[Property],
        supplied: &Members,
        path: &Path<'_>,
        out: &mut Vec<Diagnostic>,
    ) {
        self.unknown_names(properties, supplied, path, out);
        let supplied = properties.iter().filter(|property| supplied.contains_key(&*property.name));
        for property in supplied.filter(|property| !property.implemented) {
            out.push(self.not_implemented(&property.name, path));
        }
    }

    /// Checks one value and returns it converted, unless it is rejected. Null stands for no value.
    pub fn check(
        &self,
        property: &Property,
        value: &Value,
        path: &Path<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Value> {
        self.value(property, value, path, false, out)
    }

    fn members(
        &self,
        properties: &[Property],
        supplied: &Members,
        dropped: &[Arc<str>],
        path: &Path<'_>,
        hidden: bool,
        out: &mut Vec<Diagnostic>,
    ) -> Members {
        self.unknown_names(properties, supplied, path, out);
        let mut members = Members::new();
        for property in properties {
            let at = path.key(&property.name);
            let value = match (supplied.get(&*property.name), &property.default) {
                (Some(value), _) => self.value(property, value, &at, hidden, out),
                (None, Some(_)) if self.convert => {
                    self.value(property, &Value::Null, &at, false, out)
                }
                (None, None) if property.required => {
                    let is_dropped = dropped.iter().any(|name| **name == *property.name);
                    out.push(self.missing(property, if is_dropped { &at } else { path }));
                    None
                }
                (None, _) if self.convert => Some(Value::Null),
                (None, _) => continue,
            };
            if !property.implemented && supplied.contains_key(&*property.name) {
                out.push(self.not_implemented(&property.name, path));
            }
            if let Some(value) = value.filter(|_| self.convert) {
                members.insert(Arc::from(&*property.name), value);
            }
        }
        members
    }

    fn unknown_names(
        &self,
        properties: &[Property],
        supplied: &Members,
        path: &Path<'_>,
        out: &mut Vec<Diagnostic>,
    ) {
        let names = || properties.iter().map(|property| &*property.name);
        // A set is faster only for many names.
        let known: Option<BTreeSet<&str>> = (supplied.len() > 64).then(|| names().collect());
        let is_known = |name: &str| match &known {
            Some(known) => known.contains(name),
            None => names().any(|known| known == name),
        };
        let unknown = supplied.keys().filter(|name| !is_known(name));
        for (at, name) in unknown.enumerate() {
            let position = path.key(name);
            let text = format!("Unknown Property {name}");
            let mut error = self.fault(&codes::UNKNOWN_PROPERTY, text, path, &position);
            // A suggestion compares all names: too expensive for every one of many errors.
            if at < 20 {
                error.help = suggest::did_you_mean(name, names());
            }
            out.push(error);
        }
    }

    /// Checks one value; `hidden` if it is a part of a secret.
    fn value(
        &self,
        property: &Property,
        value: &Value,
        path: &Path<'_>,
        hidden: bool,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Value> {
        let inner = cast::expose(value);
        if let Value::Unknown(unknown) = inner {
            return self.unknown(property, unknown, path, out).then(|| value.clone());
        }
        let covered = matches!(value, Value::Secret(_));
        let hidden = hidden || covered;
        let faults = out.len();
        let filled = filled(property, inner);
        let converted = match self.convert(property, &filled, path, hidden, out) {
            Ok(converted) => converted,
            Err(text) => {
                out.push(self.type_fault(text, path));
                return None;
            }
        };
        if out.len() > faults {
            return None;
        }
        let judged = cover(&converted, hidden);
        for constraint in &property.constraints {
            if let Err(text) = constraint.check(&judged, property.kind.into(), self.custom) {
                out.push(self.fault(&codes::PROPERTY_VALUE, text, path, path));
                return None;
            }
        }
        Some(cover(&converted, covered))
    }

    /// Whether a value that is not known yet can have the property's type: a reference can only be
    /// text.
    fn unknown(
        &self,
        property: &Property,
        unknown: &Unknown,
        path: &Path<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> bool {
        let Unknown::Reference(name) = unknown else { return true };
        if matches!(property.kind, PropertyType::String | PropertyType::Any) {
            return true;
        }
        // Heat checks the resource's name, which stands in for the id.
        match self.convert(property, &Value::Text(name.clone()), path, false, out) {
            Ok(_) => true,
            Err(text) => {
                let help = "a reference is the id of an object: text, never a number, list or map";
                out.push(self.fault(&codes::PROPERTY_VALUE, text, path, path).help(help));
                false
            }
        }
    }

    fn convert(
        &self,
        property: &Property,
        value: &Value,
        path: &Path<'_>,
        hidden: bool,
        out: &mut Vec<Diagnostic>,
    ) -> Result<Value, String> {
        let printed = cover(value, hidden);
        match property.kind {
            PropertyType::String => string(value, &printed),
            PropertyType::Integer => integer(value, &printed),
            PropertyType::Number => cast::number(&printed).map_err(CastError::text),
            PropertyType::Boolean => boolean(value, &printed),
            PropertyType::List => match value {
                Value::List(items) => Ok(self.list(property, items, path, hidden, out)),
                Value::Text(text) if self.facade && text.is_empty() => Ok(Value::list([])),
                Value::Text(text) if self.facade => {
                    Ok(Value::list(text.split(',').map(Value::from)))
                }
                _ => Err(format!("\"{}\" is not a list", print::repr(&printed))),
            },
            PropertyType::Map => match value {
                Value::Map(members) => Ok(self.map(property, members, path, hidden, out)),
                Value::Text(_) if self.facade => Ok(value.clone()),
                Value::List(_) if self.facade && value.unknown().is_none() => {
                    let text = Value::from(print::json(&value.exposed(), Keys::Ordered));
                    Ok(cover(&text, value.has_secret()))
                }
                Value::List(_) if self.facade => Ok(value.clone()),
                _ => Err(format!("\"{}\" is not a map", print::plain(&printed))),
            },
            PropertyType::Any => Ok(value.clone()),
        }
    }

    fn list(
        &self,
        property: &Property,
        items: &[Value],
        path: &Path<'_>,
        hidden: bool,
        out: &mut Vec<Diagnostic>,
    ) -> Value {
        let Inner::Each(each) = &property.inner else {
            return Value::list(items.iter().cloned());
        };
        let mut checked = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            checked.extend(self.value(each, item, &path.index(index), hidden, out));
            if !each.implemented {
                out.push(self.not_implemented(&index.to_string(), path));
            }
        }
        Value::list(checked)
    }

    fn map(
        &self,
        property: &Property,
        members: &Arc<Members>,
        path: &Path<'_>,
        hidden: bool,
        out: &mut Vec<Diagnostic>,
    ) -> Value {
        match &property.inner {
            Inner::Free => Value::Map(members.clone()),
            Inner::Members(properties) => {
                Value::Map(Arc::new(self.members(properties, members, &[], path, hidden, out)))
            }
            Inner::Each(each) => {
                let checked = members.iter().filter_map(|(key, member)| {
                    let member = self.value(each, member, &path.key(key), hidden, out)?;
                    Some((key.clone(), member))
                });
                Value::Map(Arc::new(checked.collect()))
            }
        }
    }

    fn missing(&self, property: &Property, path: &Path<'_>) -> Diagnostic {
        let text = format!("Property {} not assigned", property.name);
        let help = format!("set `{}`: it is required", property.name);
        self.fault(&codes::MISSING_PROPERTY, text, path, path).help(help)
    }

    fn not_implemented(&self, name: &str, path: &Path<'_>) -> Diagnostic {
        let text = format!("Property {name} not implemented yet");
        self.fault(&codes::PROPERTY_VALUE, text, path, &path.key(name))
    }

    /// The error of a value of the wrong type.
    fn type_fault(&self, text: String, path: &Path<'_>) -> Diagnostic {
        let fault = self.fault(&codes::PROPERTY_VALUE, text, path, path);
        match self.nested_resource {
            Some(resource) => fault.class("ValueError").path(resource),
            None => fault,
        }
    }

    /// An error with a path, for the member at another path.
    fn fault(
        &self,
        code: &'static Code,
        text: String,
        path: &Path<'_>,
        position: &Path<'_>,
    ) -> Diagnostic {
        let part =
            if code == &codes::UNKNOWN_PROPERTY { MemberPart::Key } else { MemberPart::Value };
        let span = (self.spans)(position, part);
        Diagnostic::error(code, text).class("Property error").path(path).at(span)
    }
}

/// The value, or for null the default, or else the empty value of the type.
fn filled(property: &Property, value: &Value) -> Value {
    if !value.is_null() {
        return value.clone();
    }
    let empty = match property.kind {
        PropertyType::String => Value::from(""),
        PropertyType::Integer | PropertyType::Number => Value::from(0),
        PropertyType::Boolean => Value::Bool(false),
        PropertyType::List => Value::list([]),
        PropertyType::Map => Value::map::<&str>([]),
        PropertyType::Any => return Value::Null,
    };
    // An empty default gives way to the empty value, which may be of another type.
    let default = property.default.as_ref();
    default
        .filter(|default| default.is_truthy() || property.kind == PropertyType::Map)
        .cloned()
        .unwrap_or(empty)
}

fn cover(value: &Value, hidden: bool) -> Value {
    if hidden { Value::Secret(Secret::new(value.clone())) } else { value.clone() }
}

fn string(value: &Value, printed: &Value) -> Result<Value, String> {
    match value {
        Value::Text(_) => Ok(value.clone()),
        Value::Bool(_) | Value::Int(_) => Ok(Value::from(print::plain(value))),
        _ => Err(format!("Value must be a string; got {}", print::repr(printed))),
    }
}

fn integer(value: &Value, printed: &Value) -> Result<Value, String> {
    let whole = match value {
        Value::Bool(flag) => Some(Integer::from(i64::from(*flag))),
        Value::Int(number) => Some(number.clone()),
        Value::Float(number) if number.is_infinite() => {
            return Err("cannot convert float infinity to integer".to_owned());
        }
        Value::Float(number) => Integer::from_f64(*number),
        Value::Text(text) => cast::read_integer(text),
        other => return Err(cast::not_a_number(other).text()),
    };
    let error = || format!("Value '{}' is not an integer", print::plain(printed));
    whole.map(Value::Int).ok_or_else(error)
}

fn boolean(value: &Value, printed: &Value) -> Result<Value, String> {
    let error = |printed: String| format!("\"{printed}\" is not a valid boolean");
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::Text(text) => match text.to_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(error(print::plain(printed).to_lowercase())),
        },
        _ => Err(error(print::plain(printed))),
    }
}

#[cfg(test)]
mod tests;
