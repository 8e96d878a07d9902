//! Custom constraints: those that need no cloud are implemented here.

use super::{cast, cron, network, time};
use crate::json;
use crate::print;
use crate::value::Value;

/// The result of a custom constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The value passes.
    Accepted,
    /// The value does not pass, and perhaps why.
    Refused(Option<String>),
    /// The value could not be checked, which rejects it: the message of the error.
    Failed(String),
    /// There is no constraint of this name.
    NoSuchConstraint,
    /// The check needs a service and is made later; the value passes for now.
    Deferred,
}

/// The checks that `custom_constraint` can name.
pub trait CustomConstraints {
    /// Checks a value, which holds no secrets and is known throughout.
    fn check(&self, name: &str, value: &Value) -> Verdict;

    /// Checks a value inside a nested stack. It is checked again when that stack is created: an
    /// object that it names may be created by then, by resources outside.
    fn check_nested(&self, name: &str, value: &Value) -> Verdict {
        self.check(name, value)
    }

    /// Checks a rule of a resource type that only the cloud can check, for a subject.
    fn check_rule(&self, _rule: &'static str, _subject: &str) -> Verdict {
        Verdict::Deferred
    }
}

/// The constraints as they apply inside a nested stack.
#[derive(Clone, Copy)]
pub(crate) struct NestedConstraints<'a>(pub(crate) &'a dyn CustomConstraints);

impl CustomConstraints for NestedConstraints<'_> {
    fn check(&self, name: &str, value: &Value) -> Verdict {
        self.0.check_nested(name, value)
    }
}

/// The constraints that need the value alone; those that need a service return [`Verdict::Deferred`].
#[derive(Clone, Copy, Debug)]
pub struct Offline {
    now: i64,
    elsewhere: &'static [&'static str],
}

impl Offline {
    /// The constraints at a time in seconds since 1970, for values that must lie in the future.
    pub fn new(now: i64) -> Offline {
        Offline { now, elsewhere: &[] }
    }

    /// Sets the names of constraints that exist and need a service, sorted.
    pub fn with_deferred(self, elsewhere: &'static [&'static str]) -> Offline {
        Offline { elsewhere, ..self }
    }
}

impl CustomConstraints for Offline {
    fn check(&self, name: &str, value: &Value) -> Verdict {
        let found = CHECKS.binary_search_by_key(&name, |(name, _)| name);
        match found.ok().map(|at| CHECKS[at].1) {
            Some(check) => match check(value, self.now) {
                Ok(()) => Verdict::Accepted,
                Err(detail) => Verdict::Refused(detail),
            },
            None if self.elsewhere.binary_search(&name).is_ok() => Verdict::Deferred,
            None => Verdict::NoSuchConstraint,
        }
    }
}

type ConstraintFn = fn(&Value, i64) -> Result<(), Option<String>>;

/// The constraints implemented here, by name.
const CHECKS: &[(&str, ConstraintFn)] = &[
    ("cron_expression", cron_expression),
    ("dns_domain", |value, _| network::dns_domain(value).map_err(Some)),
    ("dns_name", |value, _| network::dns_name(value).map_err(Some)),
    ("expiration", expiration),
    ("ip_addr", |value, _| network::ip_addr(value).map_err(Some)),
    ("ip_or_cidr", |value, _| network::ip_or_cidr(value).map_err(Some)),
    ("iso_8601", iso_8601),
    ("json_string", json_string),
    ("mac_addr", |value, _| network::mac_addr(value).map_err(Some)),
    ("net_cidr", |value, _| network::net_cidr(value).map_err(Some)),
    ("rel_dns_name", |value, _| network::rel_dns_name(value).map_err(Some)),
    ("test_constr", test_constr),
    ("timezone", timezone),
];

fn cron_expression(value: &Value, _: i64) -> Result<(), Option<String>> {
    let fault = match value {
        value if !value.is_truthy() => return Ok(()),
        Value::Text(text) => match cron::check(text) {
            Ok(()) => return Ok(()),
            Err(fault) => fault,
        },
        other => lacks(other, "lower"),
    };
    Err(Some(format!("Invalid CRON expression: {fault}")))
}

fn expiration(value: &Value, now: i64) -> Result<(), Option<String>> {
    if !value.is_truthy() {
        return Ok(());
    }
    let instant = match value {
        Value::Text(text) => time::iso_8601(cast::strip(text)),
        other => Err(lacks(other, "strip")),
    };
    let fault = match instant {
        Ok(instant) if !instant.is_in_range() => "date value out of range".to_owned(),
        Ok(instant) if instant.is_after(now) => return Ok(()),
        Ok(_) => "Expiration time is out of date.".to_owned(),
        Err(fault) => fault,
    };
    Err(Some(format!("Expiration {} is invalid: {fault}", print::plain(value))))
}

fn iso_8601(value: &Value, _: i64) -> Result<(), Option<String>> {
    let text = value.as_text().ok_or(None)?;
    time::iso_8601(text).map(|_| ()).map_err(|_| None)
}

fn timezone(value: &Value, _: i64) -> Result<(), Option<String>> {
    if !value.is_truthy() {
        return Ok(());
    }
    time::zone(value).map_err(|fault| Some(format!("Invalid timezone: {fault}")))
}

fn json_string(value: &Value, _: i64) -> Result<(), Option<String>> {
    let fault = match value {
        value if !value.is_truthy() => return Ok(()),
        Value::Text(text) => match json::parse(text) {
            Ok(_) => return Ok(()),
            Err(fault) => fault,
        },
        other => {
            format!("the JSON object must be str, bytes or bytearray, not {}", other.python_type())
        }
    };
    Err(Some(format!("JSON string {} is invalid: {fault}", print::plain(value))))
}

/// Heat has it for tests of slow constraints; the number of seconds is accepted without waiting.
fn test_constr(value: &Value, _: i64) -> Result<(), Option<String>> {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(()),
        _ => Err(None),
    }
}

/// Python's words for a value that does not have a method.
pub(super) fn lacks(value: &Value, method: &str) -> String {
    format!("'{}' object has no attribute '{method}'", value.python_type())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CHECKS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
