//! Names of things: ids, and the physical names made of them.

use crate::time::Time;
use kiln_template::{STARS, Secret, Value};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// The id of a stack.
    StackId
    /// The id of a resource; a replacement has one of its own.
    ResourceId
    /// The id of an event.
    EventId
    /// The id of a recipe.
    RecipeId
    /// The id of a command.
    CommandId
    /// The id of a snapshot.
    SnapshotId
    /// The id of an engine process, drawn at its start.
    EngineId
}

/// The id of a resource's object in its service.
///
/// Some services use the name of an object as its id. If the template hides that name, the id is hidden too: Kiln
/// needs it, but readers see asterisks.
#[derive(Clone, PartialEq, Eq)]
pub struct PhysicalId {
    text: Arc<str>,
    is_hidden: bool,
}

impl PhysicalId {
    /// An id that readers may see.
    pub fn new(text: impl Into<Arc<str>>) -> PhysicalId {
        PhysicalId { text: text.into(), is_hidden: false }
    }

    /// An id that readers must not see.
    pub fn hidden(text: impl Into<Arc<str>>) -> PhysicalId {
        PhysicalId { text: text.into(), is_hidden: true }
    }

    /// Whether readers must not see it.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// The id itself, for calls to the service.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The id as readers see it.
    pub fn shown(&self) -> Arc<str> {
        if self.is_hidden { STARS.into() } else { self.text.clone() }
    }

    /// The id as a value of a template.
    pub fn value(&self) -> Value {
        let value = Value::Text(self.text.clone());
        if self.is_hidden { Value::Secret(Secret::new(value)) } else { value }
    }
}

impl fmt::Debug for PhysicalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown(), f)
    }
}

/// Where chance comes from. The machine has none of its own, so that a run can be repeated.
pub trait Ids {
    /// Fills a place with random bytes.
    fn fill(&mut self, bytes: &mut [u8]);

    /// An id that was never given before.
    fn next(&mut self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// An id that was never given before, for rows of which there are very many: those that are made
    /// one after the other lie side by side in a store's index, where random ones would touch all of
    /// it. Its first bits are the time, then a number that counts such rows, the rest is chance: a
    /// UUID of version 7.
    fn next_in_order(&mut self, now: Time, number: u64) -> Uuid {
        let millis = u128::try_from(now.micros() / 1000).unwrap_or(0) & ((1 << 48) - 1);
        let number = u128::from(number & 0xf_ffff);
        let chance = self.next().as_u128() & ((1 << 54) - 1);
        let (first, last) = (number >> 8, number & 0xff);
        Uuid::from_u128(millis << 80 | 7 << 76 | first << 64 | 0b10 << 62 | last << 54 | chance)
    }
}

impl ResourceId {
    /// Twelve characters that stand for the resource in names: the random bits of its id in base 32.
    pub fn short(self) -> String {
        const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let (low, middle, high, _) = self.0.as_fields();
        let bits = match self.0.get_version_num() {
            // Of one that begins with the time, chance is at the end.
            7 => self.0.as_u64_pair().1,
            _ => u64::from(high & 0xfff) << 48 | u64::from(middle) << 32 | u64::from(low),
        };
        (0..12).map(|at| char::from(ALPHABET[(bits >> (55 - 5 * at) & 31) as usize])).collect()
    }

    /// The name under which the resource's object is known to its service.
    pub fn physical_name(self, stack: &str, resource: &str, limit: usize) -> String {
        let stack = stack.trim_end_matches('*');
        shorten(&format!("{stack}-{resource}-{}", self.short()), limit)
    }
}

/// Shortens a name: its first two characters, a hyphen, and as much of its end as there is room for.
pub(crate) fn shorten(name: &str, limit: usize) -> String {
    let length = name.chars().count();
    if length <= limit {
        return name.to_owned();
    }
    let head: String = name.chars().take(2).collect();
    let tail: String = name.chars().skip(length - limit.saturating_sub(3)).collect();
    format!("{head}-{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_has_the_random_bits_of_the_id_most_significant_first() {
        let short = |id: &str| ResourceId(Uuid::parse_str(id).unwrap()).short();
        assert_eq!(short("00000000-0000-4000-8000-000000000000"), "aaaaaaaaaaaa");
        assert_eq!(short("ffffffff-ffff-4fff-bfff-ffffffffffff"), "777777777777");
        assert_eq!(short("00000001-0000-4000-8000-000000000000"), "aaaaaaaaaaab");
        assert_eq!(short("00000000-0000-4800-8000-000000000000"), "qaaaaaaaaaaa");
    }

    #[test]
    fn ids_in_order_are_sorted_by_time_and_number_and_differ_by_chance() {
        struct Fixed(u8);
        impl Ids for Fixed {
            fn fill(&mut self, bytes: &mut [u8]) {
                self.0 = self.0.wrapping_add(1);
                bytes.fill(self.0);
            }
        }
        let at = |millis: i64| Time::from_micros(millis * 1000);
        let mut ids = Fixed(0x80);
        let order = [(1, 5), (2, 0), (2, 1), (2, 255), (2, 256), (2, 4096), (2, 0xf_ffff), (3, 0)];
        let made = order.map(|(millis, number)| ids.next_in_order(at(millis), number));
        assert!(made.is_sorted(), "{made:?}");
        assert!(made.iter().all(|id| id.get_version_num() == 7));
        assert_eq!(made[6].to_string(), "00000000-0002-7fff-bfc7-878787878787");
        // The names of objects are different, too, though their ids begin alike.
        let short = |id| ResourceId(id).short();
        let (one, other) = (ids.next_in_order(at(9), 9), ids.next_in_order(at(9), 9));
        assert_ne!(short(one), short(other));
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let id = ResourceId(Uuid::nil());
        assert_eq!(id.physical_name("web", "server", 255), "web-server-aaaaaaaaaaaa");
        assert_eq!(id.physical_name("web*", "server", 18), "we-er-aaaaaaaaaaaa");
        assert_eq!(shorten("abcdefgh", 6), "ab-fgh");
    }
}
