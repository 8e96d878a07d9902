//! The values an expression works on.
//!
//! Cloning is cheap. Every container knows how deep it is nested, and none is made deeper than
//! [`MAX_DEPTH`]: recursion over a value stays within the stack. Iterators and
//! contexts count as leaves; they are never walked that way.
//!
//! The template library has a value type of its own that begins with the same variants. The two are
//! separate on purpose (ADR 5): templates have unknown and hidden values, which this language does
//! not know, and the sets, iterators and lambdas of this one never leave an evaluation.

use crate::collections::{Key, Map, Set};
use crate::context::Context;
use crate::error::{Error, ErrorKind};
use crate::integer::Integer;
use crate::iterate::{Iter, Lazy};
use crate::regex::Regex;
use crate::time::{Date, TimeSpan};
use std::sync::Arc;

/// How deep values may be nested.
pub(crate) const MAX_DEPTH: u32 = 500;
/// How many parts a value may have, those of its parts included.
pub(crate) const MAX_WEIGHT: u32 = 1_000_000;

/// How deep a container is nested and how many parts it has in all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) depth: u32,
    pub(crate) weight: u32,
}

impl Shape {
    /// A container around one more part.
    pub(crate) fn with(self, part: Shape) -> Shape {
        Shape {
            depth: self.depth.max(part.depth.saturating_add(1)),
            weight: self.weight.saturating_add(part.weight).saturating_add(1),
        }
    }

    /// The shape, unless it is out of bounds.
    pub(crate) fn checked(self) -> Result<Shape, Error> {
        if self.depth > MAX_DEPTH {
            return Err(ErrorKind::TooDeep.into());
        }
        if self.weight > MAX_WEIGHT {
            return Err(ErrorKind::MemoryQuota.into());
        }
        Ok(self)
    }
}

/// The shape of a container of the given members.
fn around<'a>(members: impl IntoIterator<Item = &'a Value>) -> Shape {
    let empty = Shape { depth: 1, weight: 0 };
    members.into_iter().fold(empty, |shape, member| shape.with(member.shape()))
}

/// A value of the language.
///
/// The plain kinds come in as data and go out as results: null, booleans, numbers, text, lists,
/// maps, sets and dates. The others live inside an evaluation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number of any size.
    Int(Integer),
    /// A double.
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<List>),
    /// A map in order of insertion.
    Map(Arc<Map>),
    /// A set.
    Set(Arc<Set>),
    /// A moment with its offset from UTC.
    Date(Date),
    /// A length of time.
    Span(TimeSpan),
    /// A compiled regular expression.
    Regex(Regex),
    /// The keys, values or items of a map, seen through the map.
    View(View),
    /// Members that can be walked once.
    Iterator(Iter),
    /// Members made when they are walked, which can be done many times.
    Lazy(Lazy),
    /// Variables and functions for the right side of `->`.
    Context(Arc<Context>),
    /// The gap in `[1, , 2]`.
    Gap,
}

/// A list and whether the reference holds it as a tuple or as a list.
///
/// The two print differently, are never equal to each other, and only tuples can be map keys.
/// Lists written in an expression or coming from data are tuples; `split` and a few other
/// functions make lists.
#[derive(Debug)]
pub struct List {
    items: Vec<Value>,
    shape: Shape,
    tuple: bool,
}

impl List {
    /// The members.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// Whether the reference holds this list as a tuple.
    pub fn is_tuple(&self) -> bool {
        self.tuple
    }
}

impl Drop for List {
    fn drop(&mut self) {
        crate::dispose::dispose(std::mem::take(&mut self.items));
    }
}

/// The part of its map that a view has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// The keys: like a set.
    Keys,
    /// The values: members only.
    Values,
    /// Pairs of key and value: like a set.
    Items,
}

/// A view of a map.
#[derive(Clone, Debug)]
pub struct View {
    pub(crate) map: Arc<Map>,
    pub(crate) part: ViewKind,
}

impl View {
    /// The part of the map.
    pub fn part(&self) -> ViewKind {
        self.part
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The members in order.
    pub(crate) fn members(&self) -> Vec<Value> {
        let pair = |(key, value): (&Value, &Value)| match self.part {
            ViewKind::Keys => key.clone(),
            ViewKind::Values => value.clone(),
            ViewKind::Items => Value::pair(key.clone(), value.clone()),
        };
        self.map.iter().map(pair).collect()
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A list of the members.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        let items: Vec<Value> = items.into_iter().collect();
        let shape = around(&items);
        Value::List(Arc::new(List { items, shape, tuple: true }))
    }

    /// A map of texts to values; a later equal key wins.
    pub fn map<K: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Value {
        let mut map = Map::default();
        for (key, value) in pairs {
            map.insert_text(key.into(), value);
        }
        Value::Map(Arc::new(map))
    }

    /// A map with keys of any kind, unless one cannot be a key or a value is nested too deeply.
    pub fn try_map(pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<Value, Error> {
        let mut map = Map::default();
        for (key, value) in pairs {
            map.insert(Key::new(key)?, value)?;
        }
        Ok(Value::Map(Arc::new(map)))
    }

    /// The member of a map under a text, if this is a map and has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get_text(key),
            _ => None,
        }
    }

    /// The reference's name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Text(_) => "str",
            Value::List(list) => {
                if list.tuple {
                    "tuple"
                } else {
                    "list"
                }
            }
            Value::Map(_) => "FrozenDict",
            Value::Set(_) => "frozenset",
            Value::Date(_) => "datetime.datetime",
            Value::Span(_) => "datetime.timedelta",
            Value::Regex(_) => "re.Pattern",
            Value::View(view) => match view.part {
                ViewKind::Keys => "KeysView",
                ViewKind::Values => "ValuesView",
                ViewKind::Items => "ItemsView",
            },
            Value::Iterator(_) => "generator",
            Value::Lazy(_) => "OrderingIterable",
            Value::Context(_) => "Context",
            Value::Gap => "MarkerClass",
        }
    }

    /// Whether the value counts as true.
    pub fn truth(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(truth) => *truth,
            Value::Int(number) => !number.is_zero(),
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(list) => !list.items.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Set(set) => !set.is_empty(),
            Value::Span(span) => !span.is_zero(),
            Value::View(view) => !view.map.is_empty(),
            Value::Date(_)
            | Value::Regex(_)
            | Value::Iterator(_)
            | Value::Lazy(_)
            | Value::Context(_)
            | Value::Gap => true,
        }
    }

    /// A tuple or list, bounded in depth.
    pub(crate) fn sequence(items: Vec<Value>, tuple: bool) -> Result<Value, Error> {
        let shape = around(&items).checked()?;
        Ok(Value::List(Arc::new(List { items, shape, tuple })))
    }

    /// A tuple of two scalars or of members of a container; too shallow to fail in practice.
    pub(crate) fn pair(left: Value, right: Value) -> Value {
        Value::list([left, right])
    }

    /// How deep the value is nested and how many parts it has; nothing of both for scalars.
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Value::List(list) => list.shape,
            Value::Map(map) => map.shape(),
            Value::Set(set) => set.shape(),
            Value::View(view) => Shape::default().with(view.map.shape()),
            _ => Shape::default(),
        }
    }

    /// The bytes the memory quota counts for the value: those of the one object, not of its parts.
    pub(crate) fn size(&self) -> usize {
        match self {
            Value::Text(text) => 49 + text.len(),
            Value::List(list) => (if list.tuple { 40 } else { 56 }) + 8 * list.items.len(),
            Value::Int(number) => 24 + 4 * (number.bits().div_ceil(30).max(1) as usize),
            Value::Set(set) => 216 + 32 * set.len(),
            Value::Float(_) => 24,
            _ => 32,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Int(i64::from(number).into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        match i64::try_from(number) {
            Ok(number) => number.into(),
            Err(_) => Value::Int(num_bigint::BigInt::from(number).into()),
        }
    }
}

impl From<Integer> for Value {
    fn from(number: Integer) -> Self {
        Value::Int(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl PartialEq for Value {
    /// Equality of the language: `1`, `1.0` and `true` are equal; a tuple never equals a list.
    fn eq(&self, other: &Value) -> bool {
        crate::equality::equal(self, other)
    }
}
