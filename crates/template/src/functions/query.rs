//! `yaql`: queries over data.

use super::Fault;
use super::text::quoted_sample;
use crate::eval::{Checker, Scope};
use crate::expr::{Call, Expr};
use crate::functions::Function;
use crate::value::{Unknown, Value};
use crate::version::Version;
use kiln_yaql as yaql;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SAMPLE: &str = "\n              expression: $.data.var1.sum()\n              data:\n                \
                      var1: [3, 2, 1]";

/// The cost of a step of a query, in bytes of the budget.
const BYTES_A_STEP: usize = 64;

/// The query of a call, parsed once, if it is literal text and can be parsed.
pub(crate) fn literal_query(function: &Function, args: &Expr) -> Option<Arc<yaql::Expression>> {
    if function.name != "yaql" {
        return None;
    }
    let text = args.get("expression")?.as_text()?;
    yaql::Expression::parse(text).ok().map(Arc::new)
}

pub(super) fn form_yaql(args: &Expr, name: &str, _: Version) -> Result<(), String> {
    let Some(members) = args.as_map() else {
        return Err(format!("Arguments to \"{name}\" must be a map."));
    };
    let known = members.iter().all(|member| matches!(&*member.key, "expression" | "data"));
    if !known || args.get("expression").is_none() {
        return Err(quoted_sample(name, SAMPLE));
    }
    Ok(())
}

pub(super) fn check_yaql(_: &Checker<'_>, call: &Call) -> Result<(), Fault> {
    match call.args.get("expression") {
        Some(expression) if !expression.is_function() => match expression.as_text() {
            Some(text) if call.query.is_none() => parse(text).map(|_| ()),
            Some(_) => Ok(()),
            None => Err(not_text(call)),
        },
        _ => Ok(()),
    }
}

fn not_text(call: &Call) -> Fault {
    let name = call.function.name;
    Fault::new(format!("The \"expression\" argument to {name} must contain a string."))
}

fn parse(text: &str) -> Result<yaql::Expression, Fault> {
    yaql::Expression::parse(text).map_err(|error| Fault::new(format!("Bad expression {error}.")))
}

pub(super) fn yaql(scope: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let args = args.as_map();
    let part = |key: &str| args.and_then(|args| args.get(key));
    let parsed;
    let query = match (&call.query, part("expression")) {
        (Some(query), _) => &**query,
        (None, Some(Value::Text(text))) => {
            parsed = parse(text)?;
            &parsed
        }
        _ => return Err(not_text(call)),
    };
    let data = part("data").map_or_else(|| yaql::Value::map::<Arc<str>>([]), to_query);
    let root = yaql::Value::map([("data", data)]);
    let mut options = scope.query_options(BYTES_A_STEP);
    if let Some(micros) = scope.resolver.moment() {
        options.to_mut().environment = Some(Arc::new(Moment { micros, drawn: AtomicU64::new(0) }));
    }
    let (result, steps) = query.evaluate_counting(root, &options);
    scope
        .charge_shared(usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(BYTES_A_STEP))?;
    match result.and_then(|result| result.to_data()) {
        Ok(data) => Ok(from_query(data)),
        // Before a stack exists, there is no time at which its values are needed.
        Err(error) if matches!(error.kind(), yaql::ErrorKind::NoEnvironment(_)) => {
            Ok(Value::Unknown(Unknown::Moment))
        }
        Err(error) => Err(Fault::new(error.to_string())),
    }
}

/// The surroundings of a query: a time, in UTC, and random numbers that follow from it.
struct Moment {
    micros: i64,
    /// How many random numbers were drawn.
    drawn: AtomicU64,
}

impl yaql::Environment for Moment {
    fn now(&self) -> Option<i64> {
        Some(self.micros)
    }

    fn local_offset(&self) -> Option<i32> {
        Some(0)
    }

    fn random(&self) -> Option<u64> {
        // SplitMix64, seeded by the time.
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let seed = u64::from_ne_bytes(self.micros.to_ne_bytes());
        let mixed = seed.wrapping_add(drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(mixed ^ (mixed >> 31))
    }
}

fn to_query(value: &Value) -> yaql::Value {
    match value {
        Value::Null | Value::Unknown(_) => yaql::Value::Null,
        Value::Bool(flag) => yaql::Value::Bool(*flag),
        Value::Int(number) => yaql::Value::Int(number.clone()),
        Value::Float(number) => yaql::Value::Float(*number),
        Value::Text(text) => yaql::Value::Text(text.clone()),
        Value::List(items) => yaql::Value::list(items.iter().map(to_query)),
        Value::Map(members) => {
            yaql::Value::map(members.iter().map(|(key, value)| (key.clone(), to_query(value))))
        }
        // The evaluator exposes secrets before it calls a function, and hides the result.
        Value::Secret(secret) => to_query(secret.expose()),
    }
}

fn from_query(data: yaql::Data) -> Value {
    match data {
        yaql::Data::Null => Value::Null,
        yaql::Data::Bool(flag) => Value::Bool(flag),
        yaql::Data::Int(number) => Value::Int(number),
        yaql::Data::Float(number) => Value::Float(number),
        yaql::Data::Text(text) => Value::Text(text),
        yaql::Data::List(items) => Value::list(items.into_iter().map(from_query)),
        yaql::Data::Map(members) => {
            Value::map(members.into_iter().map(|(key, value)| (key, from_query(value))))
        }
    }
}
