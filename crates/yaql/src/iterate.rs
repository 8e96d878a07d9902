//! Iteration: one-shot iterators, lazy collections, and walks over either.
//!
//! Pulling a member counts as a step and as a level of depth, so neither endless nor deeply stacked
//! iterators get far.

use crate::collections::Set;
use crate::context::Lambda;
use crate::dispose::dispose;
use crate::error::{Error, ErrorKind};
use crate::machine::Machine;
use crate::value::{List, Value};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

type Pull = dyn FnMut(&Machine<'_>) -> Result<Option<Value>, Error> + Send;

/// Members that can be walked once.
#[derive(Clone)]
pub struct Iter(Arc<IterState>);

struct IterState {
    pull: Mutex<Option<Box<Pull>>>,
}

impl Drop for IterState {
    fn drop(&mut self) {
        if let Ok(pull) = self.pull.get_mut() {
            dispose(pull.take());
        }
    }
}

impl Iter {
    /// A value that calls `pull` for every member.
    pub(crate) fn over(
        pull: impl FnMut(&Machine<'_>) -> Result<Option<Value>, Error> + Send + 'static,
    ) -> Value {
        Value::Iterator(Iter(Arc::new(IterState { pull: Mutex::new(Some(Box::new(pull))) })))
    }

    pub(crate) fn next(&self, machine: &Machine<'_>) -> Result<Option<Value>, Error> {
        // An iterator that is asked for a member while it makes one would wait for itself.
        let Ok(mut pull) = self.0.pull.try_lock() else {
            return Err(Error::value("generator already executing"));
        };
        match &mut *pull {
            Some(pull) => machine.nested(|| pull(machine)),
            None => Ok(None),
        }
    }

    pub(crate) fn same(&self, other: &Iter) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Iter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter")
    }
}

/// Members made when they are walked, which can be done many times.
#[derive(Clone, Debug)]
pub struct Lazy(Arc<LazyState>);

#[derive(Debug)]
struct LazyState(LazyKind);

#[derive(Debug, Default)]
enum LazyKind {
    Sorted {
        source: Value,
        order: Vec<SortKey>,
        sorted: OnceLock<Value>,
    },
    Memorized {
        source: Mutex<BoundedIter>,
        seen: Mutex<Vec<Value>>,
    },
    #[default]
    Empty,
}

impl Drop for LazyState {
    fn drop(&mut self) {
        dispose(std::mem::take(&mut self.0));
    }
}

/// One key of an ordering.
#[derive(Clone, Debug)]
pub(crate) struct SortKey {
    pub(crate) selector: Lambda,
    pub(crate) descending: bool,
}

impl Lazy {
    /// The members of a collection in order.
    pub(crate) fn sorted(source: Value, order: Vec<SortKey>) -> Value {
        let kind = LazyKind::Sorted { source, order, sorted: OnceLock::new() };
        Value::Lazy(Lazy(Arc::new(LazyState(kind))))
    }

    /// The same ordering with one more key.
    pub(crate) fn then(&self, key: SortKey) -> Value {
        match &self.0.0 {
            LazyKind::Sorted { source, order, .. } => {
                Lazy::sorted(source.clone(), order.iter().cloned().chain([key]).collect())
            }
            LazyKind::Memorized { .. } | LazyKind::Empty => Value::Null,
        }
    }

    /// A collection that remembers the members it was walked over.
    pub(crate) fn memorized(walk: BoundedIter) -> Value {
        let kind = LazyKind::Memorized { source: Mutex::new(walk), seen: Mutex::new(Vec::new()) };
        Value::Lazy(Lazy(Arc::new(LazyState(kind))))
    }

    /// Whether `thenBy` applies.
    pub(crate) fn is_sorted(&self) -> bool {
        matches!(self.0.0, LazyKind::Sorted { .. })
    }

    fn at(&self, index: usize, machine: &Machine<'_>) -> Result<Option<Value>, Error> {
        match &self.0.0 {
            LazyKind::Sorted { source, order, sorted } => {
                if sorted.get().is_none() {
                    let members = machine.nested(|| {
                        machine.nested(|| crate::functions::ordering::sort(machine, source, order))
                    })?;
                    let _ = sorted.set(Value::sequence(members, true)?);
                }
                Ok(match sorted.get() {
                    Some(Value::List(list)) => list.items().get(index).cloned(),
                    _ => None,
                })
            }
            LazyKind::Memorized { source, seen } => {
                let known = |seen: &Mutex<Vec<Value>>| match seen.lock() {
                    Ok(seen) => seen.get(index).cloned(),
                    Err(_) => None,
                };
                if let Some(value) = known(seen) {
                    return Ok(Some(value));
                }
                let Ok(mut source) = source.try_lock() else {
                    return Err(Error::value("generator already executing"));
                };
                let next = machine.nested(|| source.next(machine))?;
                if let (Some(value), Ok(mut seen)) = (&next, seen.lock()) {
                    seen.push(value.clone());
                }
                Ok(next)
            }
            LazyKind::Empty => Ok(None),
        }
    }

    pub(crate) fn same(&self, other: &Lazy) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A walk over the members of a collection, which gives up beyond the limit.
#[derive(Debug)]
pub(crate) struct BoundedIter {
    source: IterSource,
    at: usize,
    limit: usize,
}

#[derive(Debug)]
enum IterSource {
    List(Arc<List>),
    Set(Arc<Set>),
    Members(Vec<Value>),
    Iterator(Iter),
    Lazy(Lazy),
}

impl BoundedIter {
    /// A walk over a collection, or nothing for a value that is none.
    ///
    /// A collection that is known to be longer than the limit is rejected at once.
    pub(crate) fn new(value: &Value, limit: usize) -> Result<Option<BoundedIter>, Error> {
        let (source, length) = match value {
            Value::List(list) => (IterSource::List(list.clone()), list.items().len()),
            Value::Set(set) => (IterSource::Set(set.clone()), set.len()),
            Value::View(view) => (IterSource::Members(view.members()), view.map.len()),
            Value::Iterator(iter) => (IterSource::Iterator(iter.clone()), 0),
            Value::Lazy(lazy) => (IterSource::Lazy(lazy.clone()), 0),
            _ => return Ok(None),
        };
        if length > limit {
            return Err(ErrorKind::CollectionTooLarge(limit).into());
        }
        Ok(Some(BoundedIter { source, at: 0, limit }))
    }

    /// The next member.
    pub(crate) fn next(&mut self, machine: &Machine<'_>) -> Result<Option<Value>, Error> {
        machine.charge(1)?;
        let next = match &self.source {
            IterSource::List(list) => list.items().get(self.at).cloned(),
            IterSource::Set(set) => set.at(self.at).cloned(),
            IterSource::Members(members) => members.get(self.at).cloned(),
            IterSource::Iterator(iter) => iter.next(machine)?,
            IterSource::Lazy(lazy) => lazy.at(self.at, machine)?,
        };
        if next.is_some() {
            self.at = self.at.saturating_add(1);
            if self.at > self.limit {
                return Err(ErrorKind::CollectionTooLarge(self.limit).into());
            }
        }
        Ok(next)
    }

    /// All members that are left.
    pub(crate) fn collect(mut self, machine: &Machine<'_>) -> Result<Vec<Value>, Error> {
        let mut members = Vec::new();
        while let Some(member) = self.next(machine)? {
            members.push(member);
        }
        Ok(members)
    }
}
