//! Functions that only conditions have: `equals`, `not`, `and`, `or` and their `Fn::` twins.

use super::Fault;
use crate::eval::{Scope, Truth};
use crate::expr::{Call, Expr};
use crate::value::Value;
use crate::version::Version;

pub(super) fn form_equals(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_, _]) => Ok(()),
        _ => Err(format!("Arguments to \"{name}\" must be of the form: [value_1, value_2]")),
    }
}

pub(super) fn form_not(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    if args.is_null() {
        return Err(format!("Argument to \"{name}\" must be a condition"));
    }
    Ok(())
}

pub(super) fn form_cfn_not(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        Some([_]) => Ok(()),
        _ => Err(format!("Arguments to \"{name}\" must be of the form: [condition]")),
    }
}

pub(super) fn form_and_or(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    match args.as_list() {
        None => Err(format!("Arguments to \"{name}\" must be a list of conditions")),
        Some(items) if items.len() < 2 => {
            Err(format!("The minimum number of condition arguments to \"{name}\" is 2."))
        }
        Some(_) => Ok(()),
    }
}

pub(super) fn equals(_: &Scope<'_>, _: &Call, args: &Value) -> Result<Value, Fault> {
    match args.as_list() {
        Some([left, right]) => Ok(left.equals(right).into()),
        _ => Ok(Value::Bool(false)),
    }
}

pub(super) fn not(scope: &Scope<'_>, call: &Call) -> Result<Value, Fault> {
    scope.holds(&call.args).map(negated)
}

pub(super) fn cfn_not(scope: &Scope<'_>, call: &Call) -> Result<Value, Fault> {
    match call.args.as_list() {
        Some([condition]) => scope.holds(condition).map(negated),
        _ => Ok(Value::Bool(false)),
    }
}

pub(super) fn and(scope: &Scope<'_>, call: &Call) -> Result<Value, Fault> {
    decided_by(scope, call, false)
}

pub(super) fn or(scope: &Scope<'_>, call: &Call) -> Result<Value, Fault> {
    decided_by(scope, call, true)
}

fn negated(truth: Truth) -> Value {
    match truth {
        Truth::Known(held) => Value::Bool(!held),
        Truth::Unknown(unknown) => Value::Unknown(unknown),
    }
}

/// Evaluates conditions up to the first one that is `decisive`.
fn decided_by(scope: &Scope<'_>, call: &Call, decisive: bool) -> Result<Value, Fault> {
    let mut open = None;
    for condition in call.args.as_list().unwrap_or_default() {
        match scope.holds(condition)? {
            Truth::Known(held) if held == decisive => return Ok(Value::Bool(decisive)),
            Truth::Known(_) => {}
            Truth::Unknown(unknown) => open = open.or(Some(unknown)),
        }
    }
    Ok(open.map_or(Value::Bool(!decisive), Value::Unknown))
}
