//! Hooks and restricted actions: flags of resources in an environment.

use crate::document::{Data, Node};
use crate::value::Value;
use std::collections::BTreeSet;

/// A point at which a resource's action waits for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    /// Before it is created.
    PreCreate,
    /// Before it is updated.
    PreUpdate,
    /// Before it is deleted.
    PreDelete,
    /// After it was created.
    PostCreate,
    /// After it was updated.
    PostUpdate,
    /// After it was deleted.
    PostDelete,
}

/// An update action that can be restricted for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Change it in place.
    Update,
    /// Replace it.
    Replace,
}

/// A closed set of words that may be written alone or as a list.
pub trait Word: Copy + Ord + 'static {
    /// Every word, in the order that errors list them.
    const ALL: &'static [Self];

    /// The word as written.
    fn word(self) -> &'static str;
}

impl Hook {
    /// The name in environments and signals.
    pub fn name(self) -> &'static str {
        match self {
            Hook::PreCreate => "pre-create",
            Hook::PreUpdate => "pre-update",
            Hook::PreDelete => "pre-delete",
            Hook::PostCreate => "post-create",
            Hook::PostUpdate => "post-update",
            Hook::PostDelete => "post-delete",
        }
    }

    /// The hook of a name.
    pub fn from_name(name: &str) -> Option<Hook> {
        Hook::ALL.iter().copied().find(|hook| hook.name() == name)
    }
}

impl Action {
    /// The name in environments.
    pub fn name(self) -> &'static str {
        match self {
            Action::Update => "update",
            Action::Replace => "replace",
        }
    }
}

impl Word for Hook {
    const ALL: &'static [Hook] = &[
        Hook::PreCreate,
        Hook::PreUpdate,
        Hook::PreDelete,
        Hook::PostCreate,
        Hook::PostUpdate,
        Hook::PostDelete,
    ];

    fn word(self) -> &'static str {
        self.name()
    }
}

impl Word for Action {
    const ALL: &'static [Action] = &[Action::Update, Action::Replace];

    fn word(self) -> &'static str {
        self.name()
    }
}

/// A set of words with the value it was written as.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags<W> {
    /// One word or a list, as written.
    pub supplied: Value,
    /// The words.
    pub set: BTreeSet<W>,
}

impl<W: Word> Flags<W> {
    /// Reads one word or a list of words; on failure returns the part that is no such word.
    pub(super) fn read(node: &Node) -> Result<Flags<W>, &Node> {
        let one = |node: &Node| {
            let text = node.as_text()?;
            W::ALL.iter().copied().find(|word| word.word() == &**text)
        };
        let set = match &node.data {
            Data::List(items) => items.iter().map(|item| one(item).ok_or(item)).collect(),
            _ => one(node).ok_or(node).map(|word| BTreeSet::from([word])),
        };
        Ok(Flags { supplied: node.into(), set: set? })
    }

    /// The words as Heat lists them: `('a', 'b')`.
    pub(super) fn listed() -> String {
        let words: Vec<String> = W::ALL.iter().map(|word| format!("'{}'", word.word())).collect();
        format!("({})", words.join(", "))
    }
}
