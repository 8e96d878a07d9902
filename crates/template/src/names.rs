//! Interning of short texts that a document repeats.

use std::sync::Arc;

/// How many texts are remembered.
const SLOTS: usize = 512;
/// Longer texts are rarely repeated.
const MAX_LENGTH: usize = 40;

/// Remembers the text that was last seen for each hash, so that most of the repeated keys and
/// values of a document share their memory.
pub(crate) struct Names {
    slots: Vec<Option<Arc<str>>>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names { slots: vec![None; SLOTS] }
    }

    /// The text, shared with an equal one if that is still remembered.
    pub(crate) fn get(&mut self, text: &str) -> Arc<str> {
        if text.len() > MAX_LENGTH {
            return text.into();
        }
        let slot = &mut self.slots[hash(text) % SLOTS];
        match slot {
            Some(known) if **known == *text => known.clone(),
            slot => slot.insert(text.into()).clone(),
        }
    }
}

/// A cheap hash: only speed depends on its quality.
fn hash(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |index: usize| usize::from(bytes.get(index).copied().unwrap_or(0));
    let ends = at(0) * 31 + at(bytes.len().saturating_sub(1));
    ends * 31 + at(bytes.len() / 2) * 7 + bytes.len()
}
