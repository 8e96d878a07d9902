//! Functions over lists and maps.

use super::Fault;
use crate::eval::Scope;
use crate::expr::{Call, Expr};
use crate::print::{self, Keys};
use crate::value::{Members, Value};
use crate::version::Version;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn map_merge(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let Some(maps) = args.as_list() else {
        return Err(Fault::new(format!(
            "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ {{ \"key1\": \"val1\" }}, \
             {{ \"key2\": \"val2\" }} ]"
        )));
    };
    let mut merged = Members::new();
    for map in maps {
        match map {
            Value::Null => {}
            Value::Map(members) => {
                merged.extend(members.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            other => {
                return Err(Fault::new(format!(
                    "Incorrect arguments: Items to merge must be maps. {} is type <class '{}'> \
                     instead of a dict",
                    print::plain(other),
                    other.python_type()
                )));
            }
        }
    }
    Ok(Value::Map(Arc::new(merged)))
}

pub(super) fn map_replace(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let sample = format!(
        "\"{name}\" : [ {{ \"key1\": \"val1\" }}, {{\"keys\": {{\"key1\": \"key2\"}}, \"values\": \
         {{\"val1\": \"val2\"}}}}]"
    );
    let usage = || Fault::new(format!("Incorrect arguments to \"{name}\" should be: {sample}"));
    let not_maps = || {
        Fault::new(format!(
            "Incorrect arguments: to \"{name}\", arguments must be a list of maps. Example:  {sample}"
        ))
    };
    let Some([input, changes]) = args.as_list() else { return Err(usage()) };
    let empty = Members::new();
    let map = |value| match value {
        &Value::Null => Ok(&empty),
        Value::Map(members) => Ok(&**members),
        _ => Err(not_maps()),
    };
    let (input, changes) = (map(input)?, map(changes)?);
    if changes.keys().any(|key| !matches!(&**key, "keys" | "values")) {
        return Err(usage());
    }
    let part = |key: &str| map(changes.get(key).unwrap_or(&Value::Null));
    let (keys, values) = (part("keys")?, part("values")?);
    let mut output = Members::new();
    for (old_key, old_value) in input.iter() {
        let key = new_key(old_key, keys.get(old_key), input, &output)?;
        let replaced = replaced_value(old_value, values);
        output.insert(key, replaced.cloned().unwrap_or_else(|| old_value.clone()));
    }
    Ok(Value::Map(Arc::new(output)))
}

fn new_key(
    old: &Arc<str>,
    replacement: Option<&Value>,
    input: &Members,
    output: &Members,
) -> Result<Arc<str>, Fault> {
    let new: Arc<str> = match replacement {
        None | Some(Value::Null) => old.clone(),
        Some(value) => print::plain(value).into(),
    };
    let collides = |map| {
        Err(Fault::new(format!("key replacement {new} collides with a key in the {map} map")))
    };
    if new != *old && input.contains_key(&new) {
        return collides("input");
    }
    if output.contains_key(&new) {
        return collides("output");
    }
    Ok(new)
}

/// Only scalars are replaced; keys of the change are text, so only text can equal one.
fn replaced_value<'v>(old: &Value, changes: &'v Members) -> Option<&'v Value> {
    changes.get(&**old.as_text()?)
}

pub(super) fn form_filter(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        None => Err(format!("Argument to \"{name}\" must be a list")),
        Some([_, _]) => Ok(()),
        Some(other) => Err(format!(
            "\"{name}\" expected 2 arguments of the form [values, sequence] but got {} arguments \
             instead",
            other.len()
        )),
    }
}

pub(super) fn filter(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let Some([values, sequence]) = args.as_list() else {
        return Err(Fault::new(format!("Argument to \"{name}\" must be a list")));
    };
    let items = match sequence {
        other if !other.is_truthy() => return Ok(other.clone()),
        Value::List(items) => items,
        _ => return Err(Fault::new(format!("\"{name}\" only works with lists"))),
    };
    let values = match values {
        other if !other.is_truthy() => return Ok(sequence.clone()),
        Value::List(values) => values,
        _ => return Err(Fault::new(format!("\"{name}\" filters a list of values"))),
    };
    // Python's equality cannot be hashed cheaply; the product is charged against the budget.
    scope.charge(items.len().saturating_mul(values.len()))?;
    let kept = items.iter().filter(|item| !values.iter().any(|value| value.equals(item)));
    Ok(Value::list(kept.cloned()))
}

pub(super) fn list_concat(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    concatenated(scope, call, args).map(Value::list)
}

pub(super) fn list_concat_unique(
    scope: &Scope<'_>,
    call: &Call,
    args: &Value,
) -> Result<Value, Fault> {
    let mut unique: Vec<Value> = Vec::new();
    for item in concatenated(scope, call, args)? {
        scope.charge(unique.len())?;
        if !unique.iter().any(|seen| seen.equals(&item)) {
            unique.push(item);
        }
    }
    Ok(Value::list(unique))
}

fn concatenated(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Vec<Value>, Fault> {
    let name = call.function.name;
    let Some(lists) = args.as_list() else {
        return Err(Fault::new(format!(
            "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ [ <value 1>, <value 2> ], [ \
             <value 3>, <value 4> ] ]"
        )));
    };
    let mut all = Vec::new();
    for list in lists {
        match list {
            Value::Null => {}
            Value::List(items) => {
                scope.charge(items.len().saturating_mul(32))?;
                all.extend(items.iter().cloned());
            }
            other => {
                return Err(Fault::new(format!(
                    "Incorrect arguments: Items to concat must be lists. {} contains an item that is \
                     not a list: {}",
                    print::json(args, Keys::Ordered),
                    print::json(other, Keys::Ordered)
                )));
            }
        }
    }
    Ok(all)
}

pub(super) fn form_contains(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        None | Some([]) => Err(format!(
            "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ \"value1\", [ \"value1\", \
             \"value2\"]]"
        )),
        Some([_, _]) => Ok(()),
        Some(_) => {
            Err(format!("Arguments to \"{name}\" must be of the form: [value1, [value1, value2]]"))
        }
    }
}

pub(super) fn contains(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    match args.as_list() {
        Some([value, Value::List(items)]) => Ok(items.iter().any(|item| item.equals(value)).into()),
        Some([Value::Text(part), Value::Text(text)]) => Ok(text.contains(&**part).into()),
        Some([value, Value::Text(_)]) => Err(Fault::new(format!(
            "'in <string>' requires string as left operand, not {}",
            value.python_type()
        ))),
        _ => Err(Fault::new(format!(
            "Second argument to \"{}\" should be a sequence.",
            call.function.name
        ))),
    }
}

pub(super) fn form_select(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_, _]) => Ok(()),
        _ => Err(format!("Arguments to \"{name}\" must be of the form [index, collection]")),
    }
}

pub(super) fn select(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let Some([index, collection]) = args.as_list() else {
        return Err(Fault::new(format!(
            "Arguments to \"{name}\" must be of the form [index, collection]"
        )));
    };
    let parsed;
    let collection = match collection {
        Value::Null => return Ok("".into()),
        Value::Text(text) if text.is_empty() => return Ok("".into()),
        Value::Text(text) => {
            parsed = crate::json::parse(text)
                .map_err(|problem| Fault::new(format!("\"{name}\": {problem}")))?;
            &parsed
        }
        other => other,
    };
    let must_be = |kind| Err(Fault::new(format!("Index to \"{name}\" must be {kind}")));
    match (collection, index) {
        (Value::Null, _) => Ok("".into()),
        (Value::Map(members), Value::Text(key)) => {
            Ok(members.get(key).cloned().unwrap_or_else(|| "".into()))
        }
        (Value::Map(_), _) => must_be("a string"),
        // Here, and only here, a fraction is cut off.
        (Value::List(items), Value::Float(at)) => {
            let at = kiln_yaql::Integer::from_f64(*at).unwrap_or(i64::MAX.into());
            Ok(super::reference::nth(items, at).unwrap_or_else(|| "".into()))
        }
        (Value::List(items), index) => match super::reference::integer_like(index) {
            Some(at) => Ok(super::reference::nth(items, at).unwrap_or_else(|| "".into())),
            None => must_be("an integer"),
        },
        _ => Err(Fault::new(format!("Arguments to {name} not fully resolved"))),
    }
}

pub(super) fn form_member_list(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    let Some([key, value, _]) = args.as_list() else {
        return Err(format!(
            "Wrong Arguments try: \"{name}\" : [ \"Name\", \"Value\", [ \".member.0.Name=key\", \
             \".member.0.Value=value\" ] ]"
        ));
    };
    if key.as_text().is_none() {
        return Err(format!("{name} Key Name must be a string"));
    }
    if value.as_text().is_none() {
        return Err(format!("{name} Value Name must be a string"));
    }
    Ok(())
}

pub(super) fn member_list_to_map(_: &Scope<'_>, _: &Call, args: &Value) -> Result<Value, Fault> {
    let Some([Value::Text(key_name), Value::Text(value_name), list]) = args.as_list() else {
        return Err(Fault::new("Member list items must be strings"));
    };
    let (key_name, value_name) = (&**key_name, &**value_name);
    let items = list.as_list().ok_or_else(|| Fault::new("Member list must be a list"))?;
    let mut members: BTreeMap<u64, (Option<&str>, Option<&str>)> = BTreeMap::new();
    for item in items {
        let text = item.as_text().ok_or_else(|| Fault::new("Member list items must be strings"))?;
        let (path, value) = text.split_once('=').ok_or_else(|| {
            Fault::new(format!("The member list item {} has no \"=\"", print::repr(item)))
        })?;
        let Some((number, part)) = member_part(path) else { continue };
        let member = members.entry(number).or_default();
        if part == key_name {
            member.0 = Some(value);
        } else if part == value_name {
            member.1 = Some(value);
        }
    }
    let whole = members.into_values().filter_map(|(key, value)| Some((key?, value?)));
    Ok(Value::map(whole.map(|(key, value)| (key, value.into()))))
}

/// `.member.N.PART` as its number and part.
fn member_part(path: &str) -> Option<(u64, &str)> {
    let (number, part) = path.strip_prefix(".member.")?.split_once('.')?;
    Some((number.parse().ok()?, part))
}
