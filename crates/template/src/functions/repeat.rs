//! `repeat`: copies of a template, one for each member of a list.

use super::Fault;
use super::text::quoted_sample;
use crate::eval::{Checker, Scope};
use crate::expr::{Call, Expr};
use crate::value::Value;
use crate::version::Version;
use std::sync::Arc;

const SAMPLE: &str = "\n              template: This is %var%\n              for_each:\n                \
                      %var%: ['a', 'b', 'c']";

pub(super) fn form_repeat(args: &Expr, name: &str, version: Version) -> Result<(), String> {
    if args.as_map().is_none() {
        return Err(format!("Arguments to \"{name}\" must be a map"));
    }
    if args.get("template").is_none() || args.get("for_each").is_none() {
        return Err(quoted_sample(name, SAMPLE));
    }
    let permutations = args.get("permutations").filter(|_| version >= Version::Hot20170901);
    match permutations.map(|expr| &expr.kind) {
        None | Some(crate::expr::ExprKind::Scalar(Value::Bool(_))) => Ok(()),
        Some(_) => Err("\"permutations\" should be boolean type for repeat function.".into()),
    }
}

pub(super) fn check_repeat(_: &Checker<'_>, call: &Call) -> Result<(), Fault> {
    match call.args.get("for_each") {
        Some(lists) if lists.as_map().is_none() && !lists.is_function() => Err(not_a_map(call)),
        _ => Ok(()),
    }
}

fn not_a_map(call: &Call) -> Fault {
    let name = call.function.name;
    Fault::new(format!("The \"for_each\" argument to \"{name}\" must contain a map"))
}

pub(super) fn repeat(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let version = scope.version();
    let args = args.as_map().ok_or_else(|| not_a_map(call))?;
    let template = args.get("template").unwrap_or(&Value::Null);
    let lists = args.get("for_each").and_then(Value::as_map).ok_or_else(|| not_a_map(call))?;
    let side_by_side =
        version >= Version::Hot20170901 && args.get("permutations") == Some(&Value::Bool(false));
    let maps_allowed = version >= Version::Hot20161014 && !side_by_side;

    let names: Vec<&Arc<str>> = lists.keys().collect();
    let members = lists
        .values()
        .map(|list| members_of(list, maps_allowed))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| {
            let kinds = if maps_allowed { "lists or maps" } else { "lists" };
            Fault::new(format!(
                "The values of the \"for_each\" argument to \"{}\" must be {kinds}",
                call.function.name
            ))
        })?;
    let any_null = lists.values().any(Value::is_null);
    let rows = if side_by_side { zipped(&members, any_null)? } else { combined(scope, &members)? };
    let copies = rows.iter().map(|row| substitute(scope, template, &names, row));
    Ok(Value::list(copies.collect::<Result<Vec<_>, _>>()?))
}

fn members_of(list: &Value, maps_allowed: bool) -> Option<Vec<Value>> {
    match list {
        Value::Null => Some(Vec::new()),
        Value::List(items) => Some(items.to_vec()),
        Value::Map(members) if maps_allowed => {
            Some(members.keys().map(|key| Value::Text(key.clone())).collect())
        }
        _ => None,
    }
}

/// The lists in parallel. A null among them makes the result empty.
fn zipped(members: &[Vec<Value>], any_null: bool) -> Result<Vec<Vec<&Value>>, Fault> {
    if any_null {
        return Ok(Vec::new());
    }
    let length = members.first().map_or(0, Vec::len);
    if members.iter().any(|list| list.len() != length) {
        return Err(Fault::new(
            "For repeat, the length of for_each values should be equal if no nested loop.",
        ));
    }
    Ok((0..length).map(|i| members.iter().map(|list| &list[i]).collect()).collect())
}

/// Every combination, the last list varying fastest.
fn combined<'v>(
    scope: &Scope<'_>,
    members: &'v [Vec<Value>],
) -> Result<Vec<Vec<&'v Value>>, Fault> {
    if members.is_empty() {
        return Err(Fault::new("The \"for_each\" argument to \"repeat\" must not be empty"));
    }
    let mut rows = vec![Vec::new()];
    for list in members {
        scope.charge(rows.len().saturating_mul(list.len()).saturating_mul(64))?;
        rows = rows
            .into_iter()
            .flat_map(|row| {
                list.iter().map(move |member| {
                    let mut row = row.clone();
                    row.push(member);
                    row
                })
            })
            .collect();
    }
    Ok(rows)
}

/// Replaces the names in every text, one after another: a replacement can be replaced again.
fn substitute(
    scope: &Scope<'_>,
    template: &Value,
    names: &[&Arc<str>],
    row: &[&Value],
) -> Result<Value, Fault> {
    scope.charge(32)?;
    match template {
        Value::Text(text) => substitute_text(scope, text, names, row).map(Value::from),
        Value::List(items) => {
            let items = items.iter().map(|item| substitute(scope, item, names, row));
            Ok(Value::list(items.collect::<Result<Vec<_>, _>>()?))
        }
        Value::Map(members) => {
            let members = members.iter().map(|(key, member)| {
                let key = substitute_text(scope, key, names, row)?;
                Ok((key, substitute(scope, member, names, row)?))
            });
            Ok(Value::map(members.collect::<Result<Vec<_>, Fault>>()?))
        }
        other => Ok(other.clone()),
    }
}

fn substitute_text(
    scope: &Scope<'_>,
    text: &str,
    names: &[&Arc<str>],
    row: &[&Value],
) -> Result<String, Fault> {
    let mut result = text.to_string();
    for (name, member) in names.iter().zip(row) {
        let Value::Text(member) = member else {
            return Err(Fault::new(format!(
                "replace() argument 2 must be str, not {}",
                member.python_type()
            )));
        };
        let growth = result.matches(&***name).count().saturating_mul(member.len());
        scope.charge(result.len().saturating_add(growth))?;
        result = result.replace(&***name, member);
    }
    Ok(result)
}
