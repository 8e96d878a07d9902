//! Environments against the shared conformance cases, as far as reading, merging and lookup go.

mod conformance;
