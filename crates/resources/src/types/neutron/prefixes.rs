//! Blocks of addresses, compared as sets.

use std::net::IpAddr;

/// Whether blocks contain every address of other blocks. Invalid blocks are never contained.
pub(super) fn covers(blocks: &[String], others: &[String]) -> bool {
    let mut ranges: Vec<(bool, u128, u128)> = blocks.iter().filter_map(|it| range(it)).collect();
    ranges.sort_unstable();
    others.iter().all(|other| {
        let Some((is_v6, mut next, last)) = range(other) else { return false };
        for (_, from, to) in ranges.iter().filter(|range| range.0 == is_v6) {
            if *from > next {
                return false;
            }
            if *to >= last {
                return true;
            }
            next = next.max(to.saturating_add(1));
        }
        false
    })
}

/// The first and the last address of a block, and whether they are of version 6.
fn range(block: &str) -> Option<(bool, u128, u128)> {
    let (address, length) = block.split_once('/').unwrap_or((block, "128"));
    let length: u32 = length.parse().ok()?;
    let (is_v6, address, bits) = match address.parse().ok()? {
        IpAddr::V4(address) => (false, u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (true, u128::from(address), 128),
    };
    let free = bits - length.min(bits);
    let mask = if free == 128 { u128::MAX } else { (1 << free) - 1 };
    Some((is_v6, address & !mask, address | mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_may_grow_split_and_join_but_not_shrink() {
        let all = |blocks: &[&str]| blocks.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let cases: [(&[&str], &[&str], bool); 7] = [
            (&["10.0.0.0/8"], &["10.1.0.0/16"], true),
            (&["10.1.0.0/16"], &["10.0.0.0/8"], false),
            (&["10.0.1.0/24", "10.0.0.0/24"], &["10.0.0.0/23"], true),
            (&["10.0.0.0/24", "10.0.2.0/24"], &["10.0.0.0/22"], false),
            (&["::/0"], &["2001:db8::/32"], true),
            (&["::/0"], &["10.0.0.0/8"], false),
            (&["0.0.0.0/0"], &["10.0.0.1"], true),
        ];
        for (blocks, others, expected) in cases {
            assert_eq!(covers(&all(blocks), &all(others)), expected, "{blocks:?} {others:?}");
        }
    }
}
