//! Rules that parameter and property values must satisfy.
//!
//! A rule is checked on the original value, not on a converted one, and its messages quote it. A
//! hidden value is checked by its content and never printed.

pub(crate) mod cast;
mod cron;
pub(crate) mod custom;
pub(crate) mod definition;
mod network;
mod time;
mod zones;

pub(crate) use custom::NestedConstraints;
pub use custom::{CustomConstraints, Offline, Verdict};

use crate::diagnostic::Diagnostic;
use crate::document::Node;
use crate::parameters;
use crate::print::{self, Keys};
use crate::schema;
use crate::value::Value;
use cast::{CastError, expose};
use kiln_yaql::Integer;
use kiln_yaql::regex::{self, Regex};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A rule with the message for when it is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The rule.
    pub rule: Rule,
    /// Replaces the standard sentence when the rule is broken.
    pub description: Option<Cow<'static, str>>,
}

/// A rule that a value must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Number of characters, members or keys.
    Length {
        /// At least.
        min: Option<i64>,
        /// At most.
        max: Option<i64>,
    },
    /// Size of a number; the bounds are numbers.
    Range {
        /// At least.
        min: Option<Value>,
        /// At most.
        max: Option<Value>,
    },
    /// A number that is `offset` above a multiple of `step`.
    Modulo {
        /// The step; never zero.
        step: i64,
        /// The remainder.
        offset: i64,
    },
    /// One of these.
    AllowedValues(Vec<Value>),
    /// A match of the whole text.
    AllowedPattern(Pattern),
    /// A custom constraint.
    Custom(Cow<'static, str>),
}

impl Rule {
    /// The name of the rule in errors about a definition.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Length { .. } => "Length",
            Rule::Range { .. } => "Range",
            Rule::Modulo { .. } => "Modulo",
            Rule::AllowedValues(_) => "AllowedValues",
            Rule::AllowedPattern(_) => "AllowedPattern",
            Rule::Custom(_) => "CustomConstraint",
        }
    }

    /// Whether the rule applies to values of a kind.
    pub fn fits(&self, kind: ValueKind) -> bool {
        match self {
            Rule::Length { .. } => matches!(kind.cast, Cast::Text | Cast::List | Cast::Map),
            Rule::Range { .. } | Rule::Modulo { .. } => {
                matches!(kind.cast, Cast::Integer | Cast::Number)
            }
            Rule::AllowedPattern(_) => kind.cast == Cast::Text,
            Rule::AllowedValues(_) | Rule::Custom(_) => {
                !matches!(kind.cast, Cast::Map | Cast::Free)
            }
        }
    }
}

/// The kind of value that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueKind {
    cast: Cast,
    name: &'static str,
}

/// How values are made comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cast {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Map,
    Free,
}

impl ValueKind {
    /// The kind of a parameter's values.
    pub(crate) fn from_parameter(
        kind: parameters::ParameterType,
        dialect: parameters::Dialect,
    ) -> ValueKind {
        let cast = match kind {
            parameters::ParameterType::String => Cast::Text,
            parameters::ParameterType::Number => Cast::Number,
            parameters::ParameterType::Boolean => Cast::Boolean,
            parameters::ParameterType::CommaDelimitedList => Cast::List,
            parameters::ParameterType::Json => Cast::Map,
        };
        ValueKind { cast, name: kind.spelling(dialect) }
    }

    /// The name of the kind, as its template spells it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The value made comparable with others of this kind.
    fn cast(self, value: &Value) -> Result<Value, CastError> {
        let cast = match self.cast {
            Cast::Text => Ok(Value::from(print::plain(&value.exposed()))),
            Cast::Number => cast::number(value),
            Cast::Integer => match cast::number(value) {
                Ok(Value::Float(_)) => Err(CastError::Invalid(String::new())),
                cast => cast,
            },
            Cast::Boolean => cast::boolean(value).map(Value::Bool),
            Cast::List | Cast::Map | Cast::Free => Ok(value.clone()),
        };
        cast.map_err(|error| match error {
            CastError::Invalid(_) => CastError::Invalid(format!(
                "Value \"{}\" is invalid for data type \"{}\".",
                print::plain(value),
                self.name
            )),
            wrong_kind => wrong_kind,
        })
    }
}

impl From<schema::PropertyType> for ValueKind {
    fn from(kind: schema::PropertyType) -> ValueKind {
        let cast = match kind {
            schema::PropertyType::String => Cast::Text,
            schema::PropertyType::Integer => Cast::Integer,
            schema::PropertyType::Number => Cast::Number,
            schema::PropertyType::Boolean => Cast::Boolean,
            schema::PropertyType::List => Cast::List,
            schema::PropertyType::Map => Cast::Map,
            schema::PropertyType::Any => Cast::Free,
        };
        ValueKind { cast, name: kind.name() }
    }
}

/// A regular expression, compiled when it is first needed.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: Cow<'static, str>,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Pattern {
    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The error in the expression, if it has one.
    pub fn fault(&self) -> Option<&str> {
        self.compiled().as_ref().err().map(String::as_str)
    }

    /// Whether the match that is found first begins and ends with the text.
    fn matches(&self, text: &str) -> Result<bool, String> {
        let regex = self.compiled().as_ref().map_err(String::clone)?;
        regex.matches_whole(text).map_err(|error| error.to_string())
    }

    fn compiled(&self) -> &Result<Regex, String> {
        self.compiled.get_or_init(|| regex::compile(&self.source))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Pattern {
    fn from(source: T) -> Pattern {
        Pattern { source: source.into(), compiled: OnceLock::new() }
    }
}

impl From<Rule> for Constraint {
    fn from(rule: Rule) -> Constraint {
        Constraint { rule, description: None }
    }
}

impl Constraint {
    /// Parses a rule from an item of a parameter's or property's `constraints`. Errors are
    /// reported, and no rule is returned.
    pub fn parse(item: &Node, out: &mut Vec<Diagnostic>) -> Option<Constraint> {
        definition::entry(item, "constraints", true, out).map(|placed| placed.constraint)
    }

    /// Whether a value satisfies the rule; if not, why.
    pub fn check(
        &self,
        value: &Value,
        kind: ValueKind,
        custom: &dyn CustomConstraints,
    ) -> Result<(), String> {
        self.test(value, kind, custom).map_err(CastError::text)
    }

    /// As [`Constraint::check`], but distinguishes broken rules from values that the rule cannot
    /// check.
    ///
    /// A value that is not known yet passes.
    pub(crate) fn test(
        &self,
        value: &Value,
        kind: ValueKind,
        custom: &dyn CustomConstraints,
    ) -> Result<(), CastError> {
        if value.unknown().is_some() {
            return Ok(());
        }
        let broken = match &self.rule {
            Rule::Length { min, max } => length(value, *min, *max)?,
            Rule::Range { min, max } => range(value, min.as_ref(), max.as_ref())?,
            Rule::Modulo { step, offset } => modulo(value, *step, *offset)?,
            Rule::AllowedValues(allowed) => among(value, allowed, kind)?,
            Rule::AllowedPattern(pattern) => matching(value, pattern)?,
            Rule::Custom(name) => asked(value, name, custom),
        };
        match (broken, &self.description) {
            (None, _) => Ok(()),
            (Some(_), Some(description)) if !description.is_empty() => {
                Err(CastError::Invalid(description.to_string()))
            }
            (Some(text), _) => Err(CastError::Invalid(text)),
        }
    }
}

/// The message if the rule is broken; the error is for a value that the rule cannot check.
type Finding = Result<Option<String>, CastError>;

fn length(value: &Value, min: Option<i64>, max: Option<i64>) -> Finding {
    let length = match expose(value) {
        Value::Text(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Map(members) => members.len(),
        other => {
            let text = format!("object of type '{}' has no len()", other.python_type());
            return Err(CastError::WrongKind(text));
        }
    };
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let fits = min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max);
    let bound = |bound: Option<i64>| bound.map_or("None".to_owned(), |bound| bound.to_string());
    Ok((!fits).then(|| {
        format!("length ({length}) is out of range (min: {}, max: {})", bound(min), bound(max))
    }))
}

fn range(value: &Value, min: Option<&Value>, max: Option<&Value>) -> Finding {
    let number = cast::number(value)?;
    let is = |bound: Option<&Value>, order| {
        bound.is_some_and(|bound| number.compare_numbers(bound) == Some(order))
    };
    let fits = !is(min, Ordering::Less) && !is(max, Ordering::Greater);
    let bound = |bound: Option<&Value>| bound.map_or("None".to_owned(), print::plain);
    Ok((!fits).then(|| {
        let (min, max) = (bound(min), bound(max));
        format!("{} is out of range (min: {min}, max: {max})", print::plain(value))
    }))
}

fn modulo(value: &Value, step: i64, offset: i64) -> Finding {
    let fits = match cast::number(value)? {
        Value::Float(number) => {
            let step = step as f64;
            let rest = number % step;
            let rest = if rest != 0.0 && (rest < 0.0) != (step < 0.0) { rest + step } else { rest };
            rest == offset as f64
        }
        Value::Bool(flag) => rest_of(&i64::from(flag).into(), step) == Some(offset),
        Value::Int(number) => rest_of(&number, step) == Some(offset),
        _ => false,
    };
    Ok((!fits).then(|| {
        let value = print::plain(value);
        format!("{value} is not a multiple of {step} with an offset of {offset}")
    }))
}

/// The remainder of a division, with the divisor's sign.
fn rest_of(number: &Integer, step: i64) -> Option<i64> {
    if step == 0 {
        return None;
    }
    let divisor = Integer::from(step);
    let rest = Integer::from(number.to_big() % divisor.to_big()).as_i64()?;
    let opposite = rest != 0 && (rest < 0) != (step < 0);
    if opposite { rest.checked_add(step) } else { Some(rest) }
}

fn among(value: &Value, allowed: &[Value], kind: ValueKind) -> Finding {
    let fits = match expose(value) {
        Value::List(items) => {
            let allowed: BTreeSet<String> = allowed.iter().map(key).collect();
            items.iter().all(|item| allowed.contains(&key(item)))
        }
        _ => {
            let allowed: Vec<Value> =
                allowed.iter().map(|allowed| kind.cast(allowed)).collect::<Result<_, _>>()?;
            let value = kind.cast(value)?;
            allowed.iter().any(|allowed| allowed.equals(&value))
        }
    };
    Ok((!fits).then(|| {
        let value = print::json(value, Keys::Ordered);
        let allowed = print::json(&Value::list(allowed.iter().cloned()), Keys::Ordered);
        format!("{value} is not an allowed value {allowed}")
    }))
}

/// Text that two values share if they are equal ([`Value::equals`]), so that sets can hold them.
fn key(value: &Value) -> String {
    match value {
        Value::Bool(flag) => i64::from(*flag).to_string(),
        Value::Float(number) if number.fract() == 0.0 => Integer::from_f64(*number)
            .map_or_else(|| print::plain(value), |whole| whole.to_string()),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(key).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(members) => {
            let members: BTreeSet<String> =
                members.iter().map(|(name, member)| format!("{name:?}:{}", key(member))).collect();
            let members: Vec<String> = members.into_iter().collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Secret(secret) => key(secret.expose()),
        other => print::repr(other),
    }
}

fn matching(value: &Value, pattern: &Pattern) -> Finding {
    let Value::Text(text) = expose(value) else {
        return Err(CastError::WrongKind(format!(
            "expected string or bytes-like object, got '{}'",
            value.python_type()
        )));
    };
    let fits = pattern.matches(text).map_err(CastError::WrongKind)?;
    Ok((!fits).then(|| {
        let value = print::plain(value);
        format!("\"{value}\" does not match pattern \"{}\"", pattern.source())
    }))
}

fn asked(value: &Value, name: &str, custom: &dyn CustomConstraints) -> Option<String> {
    let printed = print::plain(value);
    match custom.check(name, &value.exposed()) {
        Verdict::Accepted | Verdict::Deferred => None,
        Verdict::NoSuchConstraint => {
            Some(format!("\"{printed}\" does not validate {name} (constraint not found)"))
        }
        // Details quote the value or parts of it.
        Verdict::Refused(Some(detail)) if !value.has_secret() => {
            Some(format!("Error validating value '{printed}': {detail}"))
        }
        Verdict::Failed(message) => Some(message),
        Verdict::Refused(_) => Some(format!("Error validating value '{printed}'")),
    }
}

#[cfg(test)]
mod tests;
