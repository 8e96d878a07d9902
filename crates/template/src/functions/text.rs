//! Functions over text: joining, splitting, replacing.

use super::Fault;
use crate::eval::Scope;
use crate::expr::{Call, Expr};
use crate::print::{self, Keys};
use crate::value::Value;
use crate::version::Version;
use kiln_yaql::python;
use std::sync::Arc;

/// The error for a map that lacks a key, in Python's quoting of lookup errors.
pub(super) fn quoted_sample(name: &str, sample: &str) -> String {
    python::quoted(&format!("\"{name}\" syntax should be {name}:{sample}"))
}

// --- joining ---

pub(super) fn form_join(args: &Expr, name: &str, version: Version) -> Result<(), String> {
    let several = joins_several(version);
    match args.as_list() {
        Some([_, _]) => Ok(()),
        Some([_, _, ..]) if several => Ok(()),
        _ => {
            let more = if several { " ..." } else { "" };
            Err(format!(
                "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ \" \", [ \"str1\", \
                 \"str2\"]{more}]"
            ))
        }
    }
}

fn joins_several(version: Version) -> bool {
    version >= Version::Hot20151015
}

pub(super) fn join(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let (delimiter, lists) = match args.as_list() {
        Some([delimiter, lists @ ..]) => (delimiter, lists),
        _ => return Err(Fault::new(format!("\"{name}\" must operate on a list"))),
    };
    let mut members = Vec::new();
    for list in lists {
        match list {
            Value::List(items) => members.extend(items.iter()),
            Value::Null => {}
            _ => return Err(Fault::new(format!("\"{name}\" must operate on a list"))),
        }
    }
    let Value::Text(delimiter) = delimiter else {
        return Err(Fault::new(format!("\"{name}\" delimiter must be a string")));
    };
    let as_json = joins_several(scope.version());
    let parts = members.into_iter().map(|item| match item {
        Value::Null => Ok(Arc::from("")),
        Value::Text(text) => Ok(text.clone()),
        Value::List(_) | Value::Map(_) if as_json => Ok(print::json(item, Keys::Sorted).into()),
        other => {
            let kinds = if as_json { "string, map or list" } else { "strings" };
            Err(Fault::new(format!("Items to join must be {kinds} not {}", print::plain(other))))
        }
    });
    let parts: Vec<Arc<str>> = parts.collect::<Result<_, _>>()?;
    scope.charge(parts.iter().map(|part| part.len() + delimiter.len()).sum())?;
    Ok(parts.join(&**delimiter).into())
}

// --- splitting ---

pub(super) fn form_str_split(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some(_) => Ok(()),
        None if args.is_function() || args.is_null() => Ok(()),
        None => Err(split_usage("arguments", name)),
    }
}

fn split_usage(what: &str, name: &str) -> String {
    format!(
        "Incorrect {what} to \"{name}\" should be: \"{name}\" : [ \",\", \"apples,pears\", <index>]"
    )
}

pub(super) fn str_split(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let args = args.as_list().unwrap_or_default();
    let [delimiter, text, rest @ ..] = args else {
        return Err(Fault::new(split_usage("arguments", name)));
    };
    if text.is_null() {
        return Ok(Value::Null);
    }
    let parts = match (delimiter, text) {
        (Value::Text(delimiter), Value::Text(text)) => split(scope, text, delimiter)?,
        // Without a delimiter, white space parts.
        (Value::Null, Value::Text(text)) => text.split_whitespace().collect(),
        _ => {
            let message = format!("The delimiter and the text of \"{name}\" must be strings");
            return Err(Fault::new(message));
        }
    };
    let Some(index) = rest.first() else {
        return Ok(Value::list(parts.into_iter().map(Value::from)));
    };
    let index = index_of(index).ok_or_else(|| Fault::new(split_usage("index", name)))?;
    let count = parts.len() as i64;
    let position = if index < 0 { index.saturating_add(count) } else { index };
    match usize::try_from(position).ok().and_then(|position| parts.get(position)) {
        Some(part) => Ok(Value::from(*part)),
        None => Err(Fault::new(format!(
            "Incorrect index to \"{name}\" should be between 0 and {}",
            count - 1
        ))),
    }
}

/// An index as Python's `int` reads it.
fn index_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number.as_i64().unwrap_or(i64::MAX)),
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::Float(number) if number.is_finite() => Some(number.trunc() as i64),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn split<'t>(scope: &Scope<'_>, text: &'t str, delimiter: &str) -> Result<Vec<&'t str>, Fault> {
    if delimiter.is_empty() {
        return Err(Fault::new("empty separator"));
    }
    scope.charge(text.len().saturating_mul(4))?;
    Ok(text.split(delimiter).collect())
}

pub(super) fn form_cfn_split(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_, _]) => Ok(()),
        _ => Err(format!(
            "Incorrect arguments to \"{name}\" should be: \"{name}\" : [ \",\", \"str1,str2\"]]"
        )),
    }
}

pub(super) fn cfn_split(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    match args.as_list() {
        Some([Value::Text(delimiter), Value::Text(text)]) => {
            Ok(Value::list(split(scope, text, delimiter)?.into_iter().map(Value::from)))
        }
        Some([Value::Text(_), other]) => Err(Fault::new(format!(
            "String to split must be string; got <class '{}'>",
            other.python_type()
        ))),
        _ => Err(Fault::new(format!("Delimiter for {name} must be string"))),
    }
}

pub(super) fn base64(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    match args {
        Value::Text(_) => Ok(args.clone()),
        _ => Err(Fault::new(format!("\"{}\" argument must be a string", call.function.name))),
    }
}

// --- replacing ---

const REPLACE_SAMPLE: &str = "\n              template: This is var1 template var2\n              params:\n                \
                              var1: a\n                var2: string";

pub(super) fn form_str_replace(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    if args.as_map().is_none() {
        return Err(format!("Arguments to \"{name}\" must be a map"));
    }
    let (Some(params), Some(_)) = (args.get("params"), args.get("template")) else {
        return Err(quoted_sample(name, REPLACE_SAMPLE));
    };
    params_form(params, name)
}

pub(super) fn form_cfn_replace(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([params, _]) => params_form(params, name),
        _ => Err(format!(
            "Incorrect arguments to \"{name}\" should be: {{\"{name}\": [ {{\"$var1\": \"foo\", \
             \"%var2%\": \"bar\"}}, \"$var1 is %var2%\"]}}"
        )),
    }
}

fn params_form(params: &Expr, name: &str) -> Result<(), String> {
    if params.as_map().is_none() && !params.is_function() {
        return Err(format!("\"{name}\" parameters must be a mapping"));
    }
    Ok(())
}

pub(super) fn str_replace(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let null = Value::Null;
    let args = args.as_map();
    let part = |key: &str| args.and_then(|args| args.get(key)).unwrap_or(&null);
    replace(scope, call.function.name, part("template"), part("params"))
}

pub(super) fn cfn_replace(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    match args.as_list() {
        Some([params, template]) => replace(scope, call.function.name, template, params),
        _ => Err(Fault::new(format!("\"{}\" template must be a string", call.function.name))),
    }
}

fn replace(
    scope: &Scope<'_>,
    name: &str,
    template: &Value,
    params: &Value,
) -> Result<Value, Fault> {
    let Value::Text(template) = template else {
        return Err(Fault::new(format!("\"{name}\" template must be a string")));
    };
    let Value::Map(params) = params else {
        return Err(Fault::new(format!("\"{name}\" params must be a map")));
    };
    let mut pairs = Vec::new();
    for (placeholder, value) in params.iter() {
        pairs.push((&**placeholder, replacement(scope, name, placeholder, value)?));
    }
    // Longest first, equal lengths by name: a placeholder inside a longer one must not win.
    pairs
        .sort_by(|(a, _), (b, _)| b.chars().count().cmp(&a.chars().count()).then_with(|| a.cmp(b)));
    if pairs.iter().any(|(placeholder, _)| placeholder.is_empty()) {
        return Err(Fault::new("empty separator"));
    }
    let mut used = vec![false; pairs.len()];
    let text = replace_all(scope, template, &pairs, &mut used)?;
    let strict = name.ends_with("strict");
    if strict && used.contains(&false) {
        let missing = pairs.iter().zip(&used).filter(|(_, used)| !**used);
        let names: Vec<&str> = missing.map(|((placeholder, _), _)| *placeholder).collect();
        return Err(Fault::new(format!(
            "The following params were not found in the template: {}",
            names.join(",")
        )));
    }
    Ok(text.into())
}

fn replacement(
    scope: &Scope<'_>,
    name: &str,
    placeholder: &str,
    value: &Value,
) -> Result<String, Fault> {
    let empty = match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(members) => members.is_empty(),
        _ => false,
    };
    if empty && name == "str_replace_vstrict" {
        return Err(Fault::new(format!(
            "{name} has an undefined or empty value for param {placeholder}, must be a defined \
             non-empty value"
        )));
    }
    match value {
        Value::Null => Ok(String::new()),
        Value::List(_) | Value::Map(_) if joins_several(scope.version()) => {
            Ok(print::json(value, Keys::Sorted))
        }
        Value::List(_) | Value::Map(_) => Err(Fault::new(format!(
            "\"{name}\" params must be strings or numbers, param {placeholder} is not valid"
        ))),
        other => Ok(print::plain(other)),
    }
}

/// Replaces each placeholder in turn, in the parts of the text that no earlier one has touched.
fn replace_all(
    scope: &Scope<'_>,
    template: &str,
    pairs: &[(&str, String)],
    used: &mut [bool],
) -> Result<String, Fault> {
    // Each part, with whether it may still be replaced.
    let mut parts = vec![(template, true)];
    for ((placeholder, replacement), used) in pairs.iter().zip(used) {
        if !template.contains(placeholder) {
            continue;
        }
        scope.charge(parts.len().saturating_mul(16))?;
        let mut next = Vec::with_capacity(parts.len());
        for part in parts {
            let (text, open) = part;
            if !open {
                next.push(part);
                continue;
            }
            for (i, piece) in text.split(placeholder).enumerate() {
                if i > 0 {
                    *used = true;
                    next.push((replacement, false));
                }
                if !piece.is_empty() {
                    next.push((piece, true));
                }
            }
        }
        parts = next;
    }
    let texts = || parts.iter().map(|(text, _)| *text);
    scope.charge(texts().map(str::len).sum())?;
    Ok(texts().collect())
}
