//! Blocks of IP addresses as numbers, and the allocation of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::super::request::{Refusal, list, text};
use super::super::state::CloudState;
use super::super::table::Obj;
use super::dialect::refusal;
use super::{PORTS, SUBNETS};

/// A block of addresses: `10.0.0.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) is_v4: bool,
    pub(super) first: u128,
    pub(super) length: u32,
}

/// Parses an address as a number; the flag tells IPv4.
pub(super) fn number(text: &str) -> Option<(bool, u128)> {
    Some(match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => (true, u128::from(u32::from(address))),
        IpAddr::V6(address) => (false, u128::from(address)),
    })
}

/// Formats a number as an address.
pub(super) fn written(is_v4: bool, number: u128) -> String {
    match u32::try_from(number) {
        Ok(short) if is_v4 => Ipv4Addr::from(short).to_string(),
        _ => Ipv6Addr::from(number).to_string(),
    }
}

impl Block {
    pub(super) fn read(cidr: &str) -> Option<Block> {
        let (address, length) = cidr.split_once('/')?;
        let (is_v4, number) = number(address)?;
        let length: u32 = length.parse().ok()?;
        let bits = if is_v4 { 32 } else { 128 };
        if length > bits {
            return None;
        }
        let block = Block { is_v4, first: 0, length };
        let mask = if length == 0 { 0 } else { !(block.size() - 1) };
        Some(Block { first: number & mask, ..block })
    }

    fn bits(self) -> u32 {
        if self.is_v4 { 32 } else { 128 }
    }

    /// Returns the number of addresses, saturating for all of IPv6.
    pub(super) fn size(self) -> u128 {
        1_u128.checked_shl(self.bits() - self.length).unwrap_or(u128::MAX)
    }

    pub(super) fn last(self) -> u128 {
        self.first.saturating_add(self.size() - 1)
    }

    pub(super) fn has(self, (is_v4, number): (bool, u128)) -> bool {
        is_v4 == self.is_v4 && (self.first..=self.last()).contains(&number)
    }

    pub(super) fn overlaps(self, other: Block) -> bool {
        self.is_v4 == other.is_v4 && self.first <= other.last() && other.first <= self.last()
    }

    pub(super) fn text(self) -> String {
        format!("{}/{}", written(self.is_v4, self.first), self.length)
    }

    /// Returns the addresses for hosts: without the network address and, for IPv4, without the broadcast address.
    pub(super) fn usable(self) -> (u128, u128) {
        match self.bits() - self.length {
            0 => (self.first, self.first),
            1 => (self.first, self.last()),
            _ if self.is_v4 => (self.first + 1, self.last() - 1),
            _ => (self.first + 1, self.last()),
        }
    }

    /// Returns the usable addresses without the gateway, as allocation pools.
    pub(super) fn pools(self, gateway: Option<u128>) -> Value {
        let (first, last) = self.usable();
        let pool = |start: u128, end: u128| json!({ "start": written(self.is_v4, start), "end": written(self.is_v4, end) });
        let mut pools = Vec::new();
        match gateway.filter(|gateway| (first..=last).contains(gateway)) {
            None => pools.push(pool(first, last)),
            Some(gateway) => {
                if gateway > first {
                    pools.push(pool(first, gateway - 1));
                }
                if gateway < last {
                    pools.push(pool(gateway + 1, last));
                }
            }
        }
        Value::Array(pools)
    }
}

/// Returns the first and last address of each allocation pool of a subnet.
pub(super) fn pools(subnet: &Obj) -> Vec<(u128, u128)> {
    let end =
        |pool: &Value, name: &str| pool[name].as_str().and_then(number).map(|(_, number)| number);
    let pools = list(subnet, "allocation_pools");
    pools.iter().filter_map(|pool| Some((end(pool, "start")?, end(pool, "end")?))).collect()
}

/// Reports whether the address is in use on the network of the subnet.
pub(super) fn is_taken(state: &CloudState, subnet: &Obj, address: &str) -> bool {
    let network = text(subnet, "network_id");
    let on = state.table(PORTS).with("fixed_ips.ip_address", address);
    on.iter().any(|port| text(port, "network_id") == network)
}

/// Allocates a free address from the pools of the subnet. The search continues where the previous one ended.
pub(super) fn draw(state: &mut CloudState, subnet: &Obj) -> Option<String> {
    let block = Block::read(text(subnet, "cidr"))?;
    let pools = pools(subnet);
    let total = pools.iter().fold(0_u128, |sum, (start, end)| {
        sum.saturating_add(end.saturating_sub(*start).saturating_add(1))
    });
    if total == 0 {
        return None;
    }
    let id = text(subnet, "id").to_owned();
    let at = state.cursors.get(&id).copied().unwrap_or_default() % total;
    // The number of used addresses bounds the search.
    let most = u128::try_from(state.table(PORTS).count("fixed_ips.subnet_id", &id)).ok()? + 1;
    for step in 0..total.min(most) {
        let place = (at + step) % total;
        let address = written(block.is_v4, nth(&pools, place)?);
        if !is_taken(state, subnet, &address) {
            state.cursors.insert(id, place + 1);
            return Some(address);
        }
    }
    None
}

fn nth(pools: &[(u128, u128)], mut place: u128) -> Option<u128> {
    for (start, end) in pools {
        let size = end.saturating_sub(*start).saturating_add(1);
        if place < size {
            return Some(start + place);
        }
        place -= size;
    }
    None
}

/// Returns the address that a host derives from its MAC address (SLAAC), if the subnet has that mode.
fn stateless(subnet: &Obj, mac: &str) -> Option<String> {
    let mode = text(subnet, "ipv6_address_mode");
    if mode != "slaac" && mode != "dhcpv6-stateless" {
        return None;
    }
    let block = Block::read(text(subnet, "cidr"))?;
    let parts = mac.split(':').map(|part| u8::from_str_radix(part, 16).ok());
    let octets: Vec<u8> = parts.collect::<Option<Vec<u8>>>()?;
    let [a, b, c, d, e, f] = octets.as_slice() else { return None };
    let host = [a ^ 2, *b, *c, 0xff, 0xfe, *d, *e, *f];
    Some(written(false, block.first | u128::from(u64::from_be_bytes(host))))
}

/// Allocates an address on a subnet for a port with this MAC address.
pub(super) fn on_subnet(state: &mut CloudState, subnet: &Obj, mac: &str) -> Result<Value, Refusal> {
    let network = text(subnet, "network_id").to_owned();
    let drawn = stateless(subnet, mac).or_else(|| draw(state, subnet));
    let none = || {
        let message = format!("No more IP addresses available on network {network}.");
        refusal(409, "IpAddressGenerationFailure", message)
    };
    let address = drawn.ok_or_else(none)?;
    Ok(json!({ "subnet_id": text(subnet, "id"), "ip_address": address }))
}

/// Allocates addresses for a port without requested ones: one of each IP version of the network.
pub(super) fn anywhere(
    state: &mut CloudState,
    network: &str,
    mac: &str,
) -> Result<Vec<Value>, Refusal> {
    let subnets = state.with(SUBNETS, "network_id", network);
    let mut ips = Vec::new();
    for version in [4, 6] {
        let of_version: Vec<&Obj> = subnets
            .iter()
            .filter(|subnet| subnet.get("ip_version") == Some(&json!(version)))
            .collect();
        let (own, managed): (Vec<&Obj>, Vec<&Obj>) =
            of_version.into_iter().partition(|subnet| stateless(subnet, mac).is_some());
        let mut failure = None;
        for subnet in &managed {
            match on_subnet(state, subnet, mac) {
                Ok(ip) => {
                    ips.push(ip);
                    failure = None;
                    break;
                }
                Err(refusal) => failure = Some(refusal),
            }
        }
        if let Some(refusal) = failure {
            return Err(refusal);
        }
        for subnet in own {
            ips.push(on_subnet(state, subnet, mac)?);
        }
    }
    Ok(ips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_addresses() {
        let block = Block::read("10.0.0.7/24").unwrap();
        assert_eq!(block.text(), "10.0.0.0/24");
        assert_eq!(
            block.pools(number("10.0.0.1").map(|(_, n)| n)),
            json!([{ "start": "10.0.0.2", "end": "10.0.0.254" }])
        );
        assert!(block.has(number("10.0.0.9").unwrap()) && !block.has(number("10.0.1.9").unwrap()));
        assert!(block.overlaps(Block::read("10.0.0.128/25").unwrap()));
        assert!(!block.overlaps(Block::read("10.0.1.0/24").unwrap()));
        let all = Block::read("::/0").unwrap();
        assert_eq!(all.last(), u128::MAX - 1);
        let block = Block::read("fd00::/64").unwrap();
        assert_eq!(block.usable().0, block.first + 1);
        assert!(Block::read("10.0.0.0/33").is_none());
    }
}
