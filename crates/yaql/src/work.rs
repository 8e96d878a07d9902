//! Counts work that is done outside of an evaluation: comparing, hashing and printing values.
//!
//! A value may hold another one many times over, so walking it takes longer than making it did. No
//! value is larger than [`crate::value::MAX_WEIGHT`] when all its parts are counted, which bounds
//! one walk; the evaluation takes up the count with its next step, which bounds them all.

use std::cell::Cell;

thread_local! {
    static WORK: Cell<u64> = const { Cell::new(0) };
}

/// Counts a walk over a container with a number of members.
pub(crate) fn note(members: usize) {
    let _ = WORK.try_with(|work| work.set(work.get().saturating_add(1 + members as u64)));
}

/// The work counted since the last call.
pub(crate) fn take() -> u64 {
    WORK.try_with(|work| work.replace(0)).unwrap_or(0)
}
