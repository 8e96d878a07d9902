//! How much input is read before it is rejected.

/// Bounds on one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text.
    pub max_bytes: usize,
    /// Lists and maps inside each other; the maximum is 250.
    pub max_depth: usize,
    /// Nodes that aliases may add to a document by standing for others.
    pub max_alias_nodes: usize,
}

/// Deeper nesting is never allowed: code that walks a tree may recurse.
const DEEPEST: usize = 250;

impl Limits {
    /// The depth that is enforced: `max_depth`, at most 250.
    pub fn depth(&self) -> usize {
        self.max_depth.min(DEEPEST)
    }
}

impl Default for Limits {
    /// Heat's default limits: 512 KiB of text.
    fn default() -> Limits {
        Limits { max_bytes: 524_288, max_depth: 100, max_alias_nodes: 100_000 }
    }
}
