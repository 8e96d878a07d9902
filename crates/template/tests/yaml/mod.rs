//! The YAML reader, and the entry that tries JSON first.

mod bounds;
mod corpus;
mod findings;
mod properties;
mod spans;
