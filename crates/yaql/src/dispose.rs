//! Dropping values however deep they are stacked.
//!
//! Iterators and contexts can hold one another in long chains that no counter at creation can
//! bound. Every holder hands its parts to [`dispose`], which drops a few levels by recursion and
//! the rest one after the other.

use std::any::Any;
use std::cell::{Cell, RefCell};

/// Levels that are dropped by recursion.
const LEVELS: usize = 64;

thread_local! {
    static LEVEL: Cell<usize> = const { Cell::new(0) };
    static LATER: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Drops a part of a value.
pub(crate) fn dispose<T: Any>(part: T) {
    let level = LEVEL.try_with(Cell::get).unwrap_or(0);
    if level >= LEVELS {
        let _ = LATER.try_with(|later| later.borrow_mut().push(Box::new(part)));
        return;
    }
    let _ = LEVEL.try_with(|at| at.set(level + 1));
    drop(part);
    if level == 0 {
        // The borrow ends before the part is dropped: its own parts may be put off again.
        while let Ok(Some(next)) = LATER.try_with(|later| later.borrow_mut().pop()) {
            drop(next);
        }
    }
    let _ = LEVEL.try_with(|at| at.set(level));
}

#[cfg(test)]
mod tests {
    use crate::iterate::Iter;
    use crate::value::Value;

    #[test]
    fn a_very_long_chain_is_dropped() {
        let mut value = Value::Null;
        for _ in 0..200_000 {
            let inner = value;
            value = Iter::over(move |_| Ok(Some(inner.clone())));
        }
        drop(value);
    }
}
