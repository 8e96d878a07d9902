//! The mark of a site in the names of its objects.
//!
//! A physical name ends in twelve characters that stand for the resource. Other programs make names of the same form, so the
//! form proves nothing. Of the ids that an engine draws, the second half of these characters is computed from the first
//! half with a key of the site's store: so a name is known to be this site's also if the record does not have the
//! resource, as after a restore from a backup.

use crate::ids::ResourceId;
use sha2::{Digest, Sha256};
use std::fmt;
use uuid::Uuid;

/// How many bits the first and the second half of the characters have.
const HALF: u32 = 30;

/// The mask of a half.
const MASK: u64 = (1 << HALF) - 1;

/// The characters of a half.
const LETTERS: usize = 6;

/// The key with which a site marks names; without one, nothing is marked and nothing is recognised.
#[derive(Clone, Copy, Default)]
pub struct SiteMark(Option<[u8; 32]>);

/// The key is never shown.
impl fmt::Debug for SiteMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "a mark" } else { "no mark" })
    }
}

impl SiteMark {
    /// The mark with a key.
    pub fn new(key: [u8; 32]) -> SiteMark {
        SiteMark(Some(key))
    }

    /// Marks an id that was drawn: its last bits, which are chance, are computed.
    pub(crate) fn stamp(&self, id: ResourceId) -> ResourceId {
        let Some(key) = &self.0 else { return id };
        let bits = id.0.as_u128();
        let first = u64::try_from((bits >> HALF) & u128::from(MASK)).unwrap_or(0);
        let marked = (bits & !u128::from(MASK)) | u128::from(second(key, first));
        ResourceId(Uuid::from_u128(marked))
    }

    /// The characters that stand for a resource of this site, if a name ends with such.
    pub fn find(&self, name: &str) -> Option<String> {
        let key = self.0.as_ref()?;
        let start = name.len().checked_sub(2 * LETTERS)?;
        let (before, letters) = name.split_at_checked(start)?;
        let (first, last) = letters.split_at_checked(LETTERS)?;
        let is_name = before.ends_with('-');
        let is_ours = second(key, number(first)?) == number(last)?;
        (is_name && is_ours).then(|| letters.to_owned())
    }
}

/// The second half for a first one.
fn second(key: &[u8; 32], first: u64) -> u64 {
    let hash =
        Sha256::new().chain_update(key).chain_update(b"site").chain_update(first.to_be_bytes());
    let hash = hash.finalize();
    let bits = hash.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    bits & MASK
}

/// The number that characters of base 32 stand for.
fn number(letters: &str) -> Option<u64> {
    letters.bytes().try_fold(0, |number, letter| {
        let digit = match letter {
            b'a'..=b'z' => letter - b'a',
            b'2'..=b'7' => letter - b'2' + 26,
            _ => return None,
        };
        Some(number << 5 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Ids;
    use crate::runtime::SystemIds;
    use crate::time::Time;

    #[test]
    fn names_of_this_site_are_told_from_those_of_others() {
        let (mine, other) = (SiteMark::new([1; 32]), SiteMark::new([2; 32]));
        let mut ids = SystemIds::default();
        for number in 0..1000 {
            let drawn = ResourceId(ids.next_in_order(Time::from_micros(1_000_000), number));
            let id = mine.stamp(drawn);
            assert_eq!(id.0.get_version_num(), 7);
            let name = id.physical_name("web", "server", 255);
            assert_eq!(mine.find(&name), Some(id.short()));
            assert_eq!(
                mine.find(&id.physical_name("web", "server", 16)),
                Some(id.short()),
                "shortened"
            );
            assert_eq!(other.find(&name), None);
            assert_eq!(mine.find(&drawn.physical_name("web", "server", 255)), None);
            assert_eq!(SiteMark::default().find(&name), None);
        }
        for name in
            ["", "web", "web-server-abcdefghijkl", "é-abcdefghijk", "web-server-ABCDEFGHIJKL"]
        {
            assert_eq!(mine.find(name), None, "{name}");
        }
    }
}
