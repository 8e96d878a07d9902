//! Words of the engine as they are stored: by their names, and no other word is accepted.

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A word that has a name.
pub(crate) trait Named: Sized + Copy {
    /// What kind of word it is, for errors.
    const WHAT: &'static str;

    /// The name of the word.
    fn name(self) -> &'static str;

    /// The word of a name.
    fn parse(name: &str) -> Option<Self>;
}

impl Named for crate::state::Action {
    const WHAT: &'static str = "action";

    fn name(self) -> &'static str {
        crate::state::Action::name(self)
    }

    fn parse(name: &str) -> Option<Self> {
        crate::state::Action::parse(name)
    }
}

impl Named for kiln_template::environment::Hook {
    const WHAT: &'static str = "hook";

    fn name(self) -> &'static str {
        kiln_template::environment::Hook::name(self)
    }

    fn parse(name: &str) -> Option<Self> {
        kiln_template::environment::Hook::from_name(name)
    }
}

impl Named for kiln_template::DeletionPolicy {
    const WHAT: &'static str = "deletion policy";

    fn name(self) -> &'static str {
        kiln_template::DeletionPolicy::name(self)
    }

    fn parse(name: &str) -> Option<Self> {
        use kiln_template::DeletionPolicy::{Delete, Retain, Snapshot};
        [Delete, Retain, Snapshot].into_iter().find(|policy| policy.name() == name)
    }
}

/// A word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<W>(pub(crate) W);

impl<W: Named> Serialize for Word<W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, W: Named> Deserialize<'de> for Word<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word<W>, D::Error> {
        struct WordVisitor<W>(std::marker::PhantomData<W>);
        impl<W: Named> Visitor<'_> for WordVisitor<W> {
            type Value = Word<W>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the name of a known {}", W::WHAT)
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Word<W>, E> {
                let unknown = || E::custom(format!("there is no {} {name:?}", W::WHAT));
                W::parse(name).map(Word).ok_or_else(unknown)
            }
        }
        deserializer.deserialize_str(WordVisitor(std::marker::PhantomData))
    }
}
