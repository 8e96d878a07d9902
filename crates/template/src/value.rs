//! Values: what expressions evaluate to.
//!
//! A value may be *not known yet* ([`Unknown`]) or *hidden* ([`Secret`]), as a whole or in part.
//! Neither can be mistaken for data: both are variants that every caller has to handle.
//!
//! YAQL has a value type of its own that begins with the same variants (`kiln_yaql::Value`). The two
//! are separate on purpose (ADR 5): YAQL knows neither unknown nor hidden values, and its sets,
//! iterators and lambdas never leave an evaluation.

use crate::document::{Data, Node};
use indexmap::IndexMap;
use kiln_yaql::Integer;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A map in the order it was written.
pub type Members = IndexMap<Arc<str>, Value>;

/// What an expression evaluates to.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Null.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of any size.
    Int(Integer),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map with text keys.
    Map(Arc<Members>),
    /// A value that is known only at a later step.
    Unknown(Unknown),
    /// A value that must not be displayed.
    Secret(Secret),
}

/// Why a value is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// A declared parameter without a value.
    Parameter(Arc<str>),
    /// The reference id of a resource.
    Reference(Arc<str>),
    /// An attribute of a resource. It is kept apart so that values stay small.
    Attribute(Arc<AttributeOf>),
    /// The availability zones of the compute service.
    AvailabilityZones,
    /// A part of the resource that the template implements.
    Facade,
    /// The time at which the value is needed, the time zone of the service, or a random number.
    Moment,
}

/// An attribute of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeOf {
    /// The resource.
    pub resource: Arc<str>,
    /// The attribute's name; empty for all attributes.
    pub attribute: Arc<str>,
}

impl Unknown {
    /// An attribute of a resource.
    pub fn attribute(resource: impl Into<Arc<str>>, attribute: impl Into<Arc<str>>) -> Unknown {
        let of = AttributeOf { resource: resource.into(), attribute: attribute.into() };
        Unknown::Attribute(Arc::new(of))
    }
}

/// A hidden value.
///
/// It has no `Display`, cannot be serialised, and its `Debug` prints asterisks. [`Secret::expose`]
/// is the only access, for the code that sends it to the cloud or encrypts it.
#[derive(Clone)]
pub struct Secret(Arc<Value>);

impl Secret {
    /// Hides a value.
    pub fn new(value: Value) -> Secret {
        match value {
            Value::Secret(secret) => secret,
            value => Secret(Arc::new(value)),
        }
    }

    /// The hidden value. Every call of this method is a possible leak.
    pub fn expose(&self) -> &Value {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("******")
    }
}

impl Value {
    /// Text.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A list.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(Arc::new(items.into_iter().collect()))
    }

    /// A map.
    pub fn map<K: Into<Arc<str>>>(members: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(members.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The members, if it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if it is a map.
    pub fn as_map(&self) -> Option<&Members> {
        match self {
            Value::Map(members) => Some(members),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether Python takes it for true: not null, false, zero or empty.
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Int(number) => !number.is_zero(),
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(members) => !members.is_empty(),
            Value::Unknown(_) => true,
            Value::Secret(secret) => secret.expose().is_truthy(),
        }
    }

    /// The first part that is not known yet, searched in lists, maps and secrets too.
    pub fn unknown(&self) -> Option<&Unknown> {
        match self {
            Value::Unknown(unknown) => Some(unknown),
            Value::List(items) => items.iter().find_map(Value::unknown),
            Value::Map(members) => members.values().find_map(Value::unknown),
            Value::Secret(secret) => secret.expose().unknown(),
            _ => None,
        }
    }

    /// Whether it, or a part of it, is hidden.
    pub fn has_secret(&self) -> bool {
        match self {
            Value::Secret(_) => true,
            Value::List(items) => items.iter().any(Value::has_secret),
            Value::Map(members) => members.values().any(Value::has_secret),
            _ => false,
        }
    }

    /// The value with every secret in it exposed: for computations, not for display.
    pub fn exposed(&self) -> Value {
        match self {
            Value::Secret(secret) => secret.expose().exposed(),
            value if !value.has_secret() => value.clone(),
            Value::List(items) => Value::list(items.iter().map(Value::exposed)),
            Value::Map(members) => {
                Value::map(members.iter().map(|(k, v)| (k.clone(), v.exposed())))
            }
            value => value.clone(),
        }
    }

    /// Python's equality: `1`, `1.0` and `true` are equal, text never equals a number.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
            }
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| a.equals(b)))
            }
            (Value::Secret(a), b) => a.expose().equals(b),
            (a, Value::Secret(b)) => a.equals(b.expose()),
            (a, b) => a.compare_numbers(b) == Some(Ordering::Equal),
        }
    }

    /// The order of two numbers (booleans count as 0 and 1); nothing for other values.
    pub(crate) fn compare_numbers(&self, other: &Value) -> Option<Ordering> {
        let whole = |value: &Value| match value {
            Value::Bool(flag) => Some(Integer::from(i64::from(*flag))),
            Value::Int(number) => Some(number.clone()),
            _ => None,
        };
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Float(a), b) => whole(b)?.partial_cmp_f64(*a).map(Ordering::reverse),
            (a, Value::Float(b)) => whole(a)?.partial_cmp_f64(*b),
            (a, b) => Some(whole(a)?.cmp(&whole(b)?)),
        }
    }

    /// How many bytes it takes in a record, give or take a few: texts and names count in full, and a part that occurs
    /// twice counts twice, even if memory holds it once.
    pub fn byte_size(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) | Value::Unknown(_) => 1,
            Value::Int(_) | Value::Float(_) => 9,
            Value::Text(text) => text.len().saturating_add(OVERHEAD),
            Value::List(items) => {
                items.iter().fold(OVERHEAD, |bytes, item| bytes.saturating_add(item.byte_size()))
            }
            Value::Map(members) => members_byte_size(members),
            Value::Secret(secret) => secret.expose().byte_size().saturating_add(OVERHEAD),
        }
    }

    /// The name of its type in Python, as errors show it: `str`, `dict`, `NoneType`.
    pub(crate) fn python_type(&self) -> &'static str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "str",
            Value::List(_) => "list",
            Value::Map(_) => "dict",
            Value::Unknown(_) => "unknown",
            Value::Secret(secret) => secret.expose().python_type(),
        }
    }
}

/// The bytes that a text, a list or a map takes besides its contents.
const OVERHEAD: usize = 5;

/// How many bytes the members of a map take in a record, as [`Value::byte_size`] counts.
pub fn members_byte_size(members: &Members) -> usize {
    members
        .iter()
        .fold(OVERHEAD, |bytes, (name, value)| bytes.saturating_add(member_byte_size(name, value)))
}

/// How many bytes a member adds to the size of its map.
pub fn member_byte_size(name: &str, value: &Value) -> usize {
    value.byte_size().saturating_add(name.len() + OVERHEAD)
}

/// Strict equality, for tests and for finding changes: kinds must agree (`1` is not `1.0`).
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Unknown(a), Value::Unknown(b)) => a == b,
            (Value::Secret(a), Value::Secret(b)) => a.expose() == b.expose(),
            _ => false,
        }
    }
}

impl From<&Node> for Value {
    fn from(node: &Node) -> Value {
        match &node.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Int(number) => Value::Int(number.clone()),
            Data::Float(number) => Value::Float(*number),
            Data::Text(text) => Value::Text(text.clone()),
            Data::List(items) => Value::list(items.iter().map(Value::from)),
            Data::Map(map) => Value::map(map.iter().map(|e| (e.key.clone(), (&e.value).into()))),
        }
    }
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(small), _) => small.into(),
                (None, Some(float)) if number.is_f64() => Value::Float(float),
                (None, _) => {
                    Integer::parse(&number.to_string()).map_or(Value::Float(f64::NAN), Value::Int)
                }
            },
            Json::String(text) => Value::text(text.as_str()),
            Json::Array(items) => Value::list(items.iter().map(Value::from)),
            Json::Object(members) => {
                Value::map(members.iter().map(|(name, value)| (name.as_str(), value.into())))
            }
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_equality_mixes_numbers_and_booleans_only() {
        assert!(Value::from(1).equals(&1.0.into()));
        assert!(Value::from(true).equals(&1.into()));
        assert!(!Value::from("1").equals(&1.into()));
        assert!(Value::list([1.into()]).equals(&Value::list([true.into()])));
        assert!(!Value::Null.equals(&0.into()));
    }

    #[test]
    fn values_are_small() {
        assert_eq!(std::mem::size_of::<Value>(), 24);
    }

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Value::Secret(Secret::new("hunter2".into()));
        let printed = format!("{:?}", Value::list([secret.clone()]));
        assert_eq!(printed, "List([Secret(******)])");
        assert!(Value::list([secret.clone()]).has_secret());
        assert_eq!(Value::list([secret]).exposed(), Value::list(["hunter2".into()]));
    }
}
