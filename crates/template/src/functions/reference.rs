//! Functions that refer to parameters, resources, files and mappings.

use super::Fault;
use crate::codes;
use crate::eval::{Checker, Existence, Scope};
use crate::expr::{Call, Expr, ExprKind};
use crate::print;
use crate::value::Value;
use crate::version::{Dialect, Version};
use kiln_yaql::Integer;

/// A part of the definition of the resource that a template implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facade {
    /// Its metadata.
    Metadata,
    /// Its deletion policy.
    DeletionPolicy,
    /// Its update policy.
    UpdatePolicy,
}

// --- stepping into values ---

/// A part of a parameter's value: a missing part is empty text.
fn step_into_parameter(value: &Value, keys: &[Value]) -> Value {
    let mut current = value.clone();
    for key in keys {
        let next = match (&current, key) {
            (Value::Map(members), Value::Text(key)) => members.get(key).cloned(),
            (Value::List(items), key) => integer_like(key).and_then(|at| nth(items, at)),
            (Value::Text(text), key) => integer_like(key).and_then(|at| character(text, &at)),
            _ => None,
        };
        match next {
            Some(next) => current = next,
            None => return "".into(),
        }
    }
    current
}

/// A part of an attribute's value: keys must have the right type, a missing part is null.
pub fn step_into_attribute(value: &Value, keys: &[Value]) -> Value {
    let mut current = value.clone();
    for key in keys {
        let next = match (&current, key) {
            (Value::Unknown(_), _) => return current,
            (Value::Map(members), Value::Text(key)) => members.get(key).cloned(),
            (Value::List(items), Value::Int(at)) => nth(items, at.clone()),
            (Value::List(items), Value::Bool(at)) => nth(items, i64::from(*at).into()),
            (Value::Text(text), Value::Int(at)) => character(text, at),
            _ => None,
        };
        match next {
            Some(next) => current = next,
            None => return Value::Null,
        }
    }
    current
}

/// An integer, or what Python takes for one: a boolean, or text with nothing but a number.
pub(super) fn integer_like(value: &Value) -> Option<Integer> {
    match value {
        Value::Int(number) => Some(number.clone()),
        Value::Bool(flag) => Some(i64::from(*flag).into()),
        Value::Text(text) => Integer::parse(text.trim()),
        _ => None,
    }
}

/// A list's member; negative numbers count from the end.
pub(super) fn nth(items: &[Value], at: Integer) -> Option<Value> {
    items.get(position(&at, items.len())?).cloned()
}

fn character(text: &str, at: &Integer) -> Option<Value> {
    let at = position(at, text.chars().count())?;
    text.chars().nth(at).map(|c| c.to_string().into())
}

fn position(at: &Integer, length: usize) -> Option<usize> {
    let at = at.as_i64()?;
    let length = i64::try_from(length).ok()?;
    usize::try_from(if at < 0 { at.checked_add(length)? } else { at }).ok()
}

// --- parameters ---

pub(super) fn get_param(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let function = call.function.name;
    if !args.is_truthy() {
        return Err(Fault::new(format!("Function \"{function}\" must have arguments")));
    }
    let (name, keys) = match args {
        Value::Text(_) => (args, &[][..]),
        Value::List(items) => (&items[0], &items[1..]),
        _ => {
            let message = format!("Argument to \"{function}\" must be string or list");
            return Err(Fault::new(message));
        }
    };
    let Value::Text(name) = name else {
        let message = format!("Parameter name in \"{function}\" must be string");
        return Err(Fault::new(message));
    };
    let value = scope.definition.parameter(name)?;
    Ok(match &value {
        _ if keys.is_empty() => value,
        Value::Unknown(_) => value,
        Value::Secret(secret) => {
            let part = step_into_parameter(&secret.expose().exposed(), keys);
            Value::Secret(crate::value::Secret::new(part))
        }
        value => step_into_parameter(value, keys),
    })
}

// --- resources ---

pub(crate) fn bad_reference(name: &str, user: &str) -> String {
    format!("The specified reference \"{name}\" (in {user}) is incorrect.")
}

pub(crate) fn bad_attribute(resource: &str, attribute: &str) -> Fault {
    Fault {
        code: &codes::BAD_ATTRIBUTE,
        message: format!("The Referenced Attribute ({resource} {attribute}) is incorrect."),
    }
}

pub(crate) fn missing_resource(name: &str) -> Fault {
    Fault { code: &codes::BAD_REFERENCE_IN_FUNCTION, message: bad_reference(name, "unknown") }
}

/// The name of a resource; nothing but text names one.
fn name_of(value: &Value) -> Result<&str, Fault> {
    match value {
        Value::Text(name) => Ok(name),
        other => Err(missing_resource(&print::plain(other))),
    }
}

pub(super) fn form_ref(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.kind {
        ExprKind::Scalar(_) => Ok(()),
        _ => Err(format!("Argument to \"{name}\" must be a string")),
    }
}

pub(super) fn form_get_resource(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    if args.as_list().is_some() || args.as_map().is_some() {
        return Err(format!("Argument to \"{name}\" must be a string"));
    }
    Ok(())
}

pub(super) fn get_resource(scope: &Scope<'_>, _: &Call, args: &Value) -> Result<Value, Fault> {
    let name = name_of(args)?;
    if !scope.definition.has_resource(name) {
        return Err(missing_resource(name));
    }
    scope.resolver.reference(name)
}

pub(super) fn cfn_ref(scope: &Scope<'_>, _: &Call, args: &Value) -> Result<Value, Fault> {
    let name = name_of(args)?;
    if scope.in_condition() {
        return scope.definition.parameter(name).map_err(|_| Fault {
            code: &codes::BAD_REFERENCE,
            message: bad_reference(name, "unknown"),
        });
    }
    if scope.definition.has_resource(name) {
        return scope.resolver.reference(name);
    }
    scope.definition.parameter(name).map_err(|_| missing_resource(name))
}

pub(super) fn form_get_attr(args: &Expr, name: &str, version: Version) -> Result<(), String> {
    let alone = version >= Version::Hot20151015;
    let items = match args.as_list() {
        Some(items) => items,
        None if args.is_null() => &[],
        None => return Err(format!("Argument to \"{name}\" must be a list")),
    };
    match items.len() {
        0 if alone => Err(format!(
            "Arguments to \"{name}\" can be of the next forms: [resource_name] or [resource_name, \
             attribute, (path), ...]"
        )),
        1 if alone => Ok(()),
        0 | 1 => Err(format!(
            "Arguments to \"{name}\" must be of the form [resource_name, attribute, (path), ...]"
        )),
        _ => Ok(()),
    }
}

pub(super) fn form_get_att(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_, _]) => Ok(()),
        _ => Err(format!("Arguments to \"{name}\" must be of the form [resource_name, attribute]")),
    }
}

/// Checks that resource and attribute exist, as far as their names are known.
pub(super) fn check_get_attr(checker: &Checker<'_>, call: &Call) -> Result<(), Fault> {
    let items = call.args.as_list().unwrap_or_default();
    let [resource, rest @ ..] = items else { return Ok(()) };
    // A name that is not known was reported with the references.
    let Some(resource) = checker.scope.eval(resource).ok().flatten() else { return Ok(()) };
    if resource.unknown().is_some() {
        return Ok(());
    }
    let resource = name_of(&resource)?;
    let attribute = match rest.first() {
        Some(attribute) => checker.scope.eval(attribute)?.unwrap_or(Value::Null),
        None => Value::Null,
    };
    let attribute = match &attribute {
        Value::Null | Value::Unknown(_) => None,
        Value::Text(name) => Some(&**name),
        other => return Err(bad_attribute(resource, &print::plain(other))),
    };
    match (checker.existence)(resource, attribute) {
        Existence::Exists => {}
        Existence::NoResource => return Err(missing_resource(resource)),
        Existence::NoAttribute => return Err(bad_attribute(resource, attribute.unwrap_or(""))),
    }
    let keys = rest.get(1..).unwrap_or_default();
    match attribute {
        Some(name) if keys.iter().any(|key| checker.scope.eval(key).is_err()) => {
            Err(bad_attribute(resource, name))
        }
        _ => Ok(()),
    }
}

pub(super) fn get_attr(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let items = args.as_list().unwrap_or_default();
    let [resource, rest @ ..] = items else {
        return Err(Fault::new(format!("Argument to \"{}\" must be a list", call.function.name)));
    };
    let resource = name_of(resource)?;
    if !scope.definition.has_resource(resource) {
        return Err(missing_resource(resource));
    }
    let [attribute, keys @ ..] = rest else {
        return scope.resolver.attributes(resource);
    };
    if attribute.is_null() {
        return scope.resolver.attributes(resource);
    }
    let attribute = print::plain(attribute);
    if scope.version() == Version::Hot20130523 {
        let whole = scope.resolver.attribute(resource, &attribute, &[])?;
        return Ok(step_into_attribute(&whole, keys));
    }
    scope.resolver.attribute(resource, &attribute, keys)
}

pub(super) fn get_att(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let Some([resource, attribute]) = args.as_list() else {
        return Err(Fault::new(format!("Argument to \"{}\" must be a list", call.function.name)));
    };
    let resource = name_of(resource)?;
    if !scope.definition.has_resource(resource) {
        return Err(missing_resource(resource));
    }
    scope.resolver.attribute(resource, &print::plain(attribute), &[])
}

// --- files, mappings, zones, facades ---

pub(super) fn get_file(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let Value::Text(file) = args else {
        return Err(Fault::new(format!("Argument to \"{name}\" must be a string")));
    };
    scope.definition.files.get(&**file).cloned().map(Value::Text).ok_or_else(|| {
        Fault::new(format!("No content found in the \"files\" section for {name} path: {file}"))
    })
}

pub(super) fn form_find_in_map(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_, _, _]) => Ok(()),
        _ => Err(format!("Arguments to \"{name}\" must be of the form [map, key, key]")),
    }
}

pub(super) fn find_in_map(scope: &Scope<'_>, _: &Call, args: &Value) -> Result<Value, Fault> {
    let mut current = &scope.definition.template.mappings;
    for key in args.as_list().unwrap_or_default() {
        let member = match (current, key) {
            (Value::Map(members), Value::Text(key)) => members.get(key),
            _ => None,
        };
        current = member.ok_or_else(|| Fault::new(print::repr(key)))?;
    }
    Ok(current.clone())
}

pub(super) fn get_azs(scope: &Scope<'_>, _: &Call, _: &Value) -> Result<Value, Fault> {
    scope.resolver.availability_zones()
}

fn facade_words(dialect: Dialect) -> [(&'static str, Facade); 3] {
    match dialect {
        Dialect::Hot => [
            ("metadata", Facade::Metadata),
            ("deletion_policy", Facade::DeletionPolicy),
            ("update_policy", Facade::UpdatePolicy),
        ],
        Dialect::Cfn => [
            ("Metadata", Facade::Metadata),
            ("DeletionPolicy", Facade::DeletionPolicy),
            ("UpdatePolicy", Facade::UpdatePolicy),
        ],
    }
}

fn facade_dialect(name: &str) -> Dialect {
    if name.starts_with("Fn::") { Dialect::Cfn } else { Dialect::Hot }
}

pub(super) fn form_facade(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    let words = facade_words(facade_dialect(name));
    match args.as_text() {
        Some(text) if words.iter().any(|(word, _)| **word == **text) => Ok(()),
        _ => Err(format!(
            "Incorrect arguments to \"{name}\" should be one of: {}",
            words.map(|(word, _)| word).join(", ")
        )),
    }
}

pub(super) fn facade(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let words = facade_words(facade_dialect(call.function.name));
    let wanted = args.as_text().map_or("", |text| text);
    let part = words.iter().find(|(word, _)| *word == wanted).map(|(_, part)| *part);
    scope.resolver.facade(part.unwrap_or(Facade::Metadata))
}
