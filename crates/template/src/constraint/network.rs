//! Checks of network addresses and names.

use super::cast::read_integer;
use super::custom::lacks;
use crate::print;
use crate::value::Value;
use kiln_yaql::Integer;
use std::net::{Ipv4Addr, Ipv6Addr};

const MAX_NAME: usize = 255;
const MAX_LABEL: usize = 63;

/// An IPv4 or IPv6 address.
pub(super) fn ip_addr(value: &Value) -> Result<(), String> {
    let refused = || "Invalid IP address".to_owned();
    let text = value.as_text().ok_or_else(refused)?;
    address(text).map_err(|_| refused())
}

/// A network with its prefix length.
pub(super) fn net_cidr(value: &Value) -> Result<(), String> {
    let refused = |reason: String| format!("Invalid net cidr {reason} ");
    // Numbers and booleans are taken for a first octet, and then fail as networks.
    let (written, read) = match value {
        Value::Text(text) => (text.to_string(), text.to_string()),
        Value::Bool(flag) => (print::plain(value), u8::from(*flag).to_string()),
        Value::Int(_) => (print::plain(value), print::plain(value)),
        Value::Float(number) => (print::plain(value), format!("{:.0}", number.trunc())),
        other => {
            let kind = other.python_type();
            return Err(refused(format!("unexpected type <class '{kind}'> for addr arg")));
        }
    };
    verbose(&read).and_then(|read| network(&read)).map_err(refused)?;
    subnet(&written)
}

/// An address, or a network if it holds a slash.
pub(super) fn ip_or_cidr(value: &Value) -> Result<(), String> {
    match value {
        Value::Text(text) if text.contains('/') => subnet(text),
        Value::Text(text) => address(text),
        Value::List(_) | Value::Map(_) => Err(no_address(&print::plain(value))),
        other => Err(format!("{} is not a valid IP or CIDR", print::plain(other))),
    }
}

/// A hardware address: six, three or two groups of hexadecimal digits, or digits alone.
pub(super) fn mac_addr(value: &Value) -> Result<(), String> {
    let groups = |text: &str, separator: char, count: usize, digits: &[usize]| {
        let mut groups = text.split(separator);
        groups.clone().count() == count
            && groups.all(|group| {
                digits.contains(&group.len()) && group.bytes().all(|b| b.is_ascii_hexdigit())
            })
    };
    let is_address = |text: &str| {
        [':', '-'].iter().any(|c| groups(text, *c, 6, &[1, 2]) || groups(text, *c, 2, &[5, 6]))
            || [':', '-', '.'].iter().any(|c| groups(text, *c, 3, &[1, 2, 3, 4]))
            || groups(text, ' ', 1, &[11, 12])
    };
    match value.as_text() {
        Some(text) if is_address(text) => Ok(()),
        _ => Err("Invalid MAC address.".to_owned()),
    }
}

/// A domain name, relative or with a final dot.
pub(super) fn dns_name(value: &Value) -> Result<(), String> {
    let reason = match value {
        value if !value.is_truthy() => return Ok(()),
        Value::Text(name) => match labels(name) {
            Ok(()) => return Ok(()),
            Err(reason) => reason,
        },
        other => lacks(other, "endswith"),
    };
    Err(format!("'{}' not in valid format. Reason: {reason}", print::plain(value)))
}

/// A domain name without a final dot, with room for a domain after it.
pub(super) fn rel_dns_name(value: &Value) -> Result<(), String> {
    let Some(name) = value.as_text().filter(|name| !name.is_empty()) else {
        return dns_name(value);
    };
    if name.ends_with('.') {
        return Err(format!("'{name}' is a FQDN. It should be a relative domain name."));
    }
    let length = name.chars().count();
    if length > MAX_NAME - 3 {
        return Err(format!(
            "'{name}' contains '{length}' characters. Adding a domain name will cause it to \
             exceed the maximum length of a FQDN of '{MAX_NAME}'."
        ));
    }
    dns_name(value)
}

/// A domain name with a final dot.
pub(super) fn dns_domain(value: &Value) -> Result<(), String> {
    dns_name(value)?;
    match value.as_text() {
        Some(name) if !name.is_empty() && !name.ends_with('.') => {
            Err(format!("'{name}' must end with '.'."))
        }
        _ => Ok(()),
    }
}

/// The labels of a domain name.
fn labels(name: &str) -> Result<(), String> {
    let trimmed = name.strip_suffix('.').unwrap_or(name);
    if trimmed.chars().count() > MAX_NAME {
        return Err(format!("'{trimmed}' exceeds the {MAX_NAME} character FQDN limit"));
    }
    for label in trimmed.split('.') {
        if label.is_empty() {
            return Err("Encountered an empty component.".to_owned());
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err(format!("Name '{label}' must not start or end with a hyphen."));
        }
        let is_plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if label.len() > MAX_LABEL || !label.bytes().all(is_plain) {
            return Err(format!(
                "Name '{label}' must be 1-{MAX_LABEL} characters long, each of which can only be \
                 alphanumeric or a hyphen."
            ));
        }
    }
    match trimmed.rsplit_once('.') {
        Some((_, last)) if name.ends_with('.') && last.bytes().all(|b| b.is_ascii_digit()) => {
            Err(format!("TLD '{last}' must not be all numeric."))
        }
        _ => Ok(()),
    }
}

fn no_address(text: &str) -> String {
    format!("'{text}' is not a valid IP address")
}

/// An address in its plain form: octets may not have leading zeros or signs.
fn address(text: &str) -> Result<(), String> {
    if text.contains(char::is_whitespace) {
        return Err(no_address(text));
    }
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().map(|_| ()).map_err(|_| no_address(text));
    }
    // Octets that read as numbers tell which address is probably meant.
    let octets = text.split('.').map(|octet| read_integer(octet).map(|octet| octet.to_string()));
    let octets: Option<Vec<String>> = octets.take(5).collect();
    let meant = octets.and_then(|octets| octets.join(".").parse::<Ipv4Addr>().ok());
    match meant.map(|address| address.to_string()) {
        Some(meant) if meant == text => Ok(()),
        Some(meant) => {
            Err(format!("'{text}' is not an accepted IP address, '{meant}' is recommended"))
        }
        None => Err(no_address(text)),
    }
}

/// A network in its plain form: an address, a slash, and for IPv4 nothing but digits.
fn subnet(text: &str) -> Result<(), String> {
    let plain = match network(text) {
        Ok(Network::V4(address, prefix)) => format!("{address}/{prefix}") == *text,
        Ok(Network::V6) => text.contains('/'),
        Err(_) => false,
    };
    if plain && !text.contains(char::is_whitespace) {
        return Ok(());
    }
    Err(format!("'{text}' is not a valid IP subnet"))
}

enum Network {
    V4(Ipv4Addr, i64),
    V6,
}

/// An address, perhaps with a prefix length or a mask.
fn network(text: &str) -> Result<Network, String> {
    let invalid = || format!("invalid IPNetwork {text}");
    let (base, behind) = match text.split_once('/') {
        Some((base, behind)) => (base, Some(behind)),
        None => (text, None),
    };
    let v4 = base.parse::<Ipv4Addr>().ok();
    let v6 = base.parse::<Ipv6Addr>().ok();
    let width = match (v4, v6) {
        (Some(_), _) => 32,
        (None, Some(_)) => 128,
        (None, None) => return Err(invalid()),
    };
    let prefix = match behind.map(|behind| (behind, read_integer(behind))) {
        None => width,
        Some((_, Some(prefix))) => prefix.as_i64().unwrap_or(-1),
        Some((mask, None)) if mask.contains('/') => {
            return Err("IPAddress() does not support netmasks or subnet prefixes! See \
                        documentation for details."
                .to_owned());
        }
        Some((mask, None)) => mask_length(mask, width).ok_or_else(invalid)?,
    };
    if !(0..=width).contains(&prefix) {
        return Err(invalid());
    }
    Ok(v4.map_or(Network::V6, |address| Network::V4(address, prefix)))
}

/// The prefix length that a mask (or its inverse) stands for.
fn mask_length(text: &str, width: i64) -> Option<i64> {
    let bits = match width {
        32 => u128::from(u32::from(text.parse::<Ipv4Addr>().ok()?)) << 96,
        _ => u128::from(text.parse::<Ipv6Addr>().ok()?),
    };
    let ones = i64::from(bits.leading_ones());
    if bits.checked_shl(bits.leading_ones()).unwrap_or(0) == 0 {
        return Some(ones);
    }
    let inverse = match width {
        32 => !bits & (u128::MAX << 96),
        _ => !bits,
    };
    let ones = inverse.leading_ones();
    (inverse.checked_shl(ones).unwrap_or(0) == 0).then_some(i64::from(ones))
}

/// A shortened IPv4 network such as `10` or `192.168/16` written out; anything else as it is.
///
/// Without a prefix length the old classes of networks decide.
fn verbose(text: &str) -> Result<String, String> {
    let as_it_is = || Ok(text.to_owned());
    if text.contains(':') || text.is_empty() {
        return as_it_is();
    }
    if let Some(first) = read_integer(text) {
        return match class(&first) {
            Some(prefix) => Ok(format!("{first}.0.0.0/{prefix}")),
            None => as_it_is(),
        };
    }
    let (part, prefix) = match text.split_once('/') {
        Some((part, prefix)) => match read_integer(prefix).and_then(|prefix| prefix.as_i64()) {
            Some(0..=32) => (part, Some(prefix.to_owned())),
            _ => return as_it_is(),
        },
        None => (text, None),
    };
    let mut octets: Vec<&str> = part.split('.').take(5).collect();
    if octets.len() > 4 {
        return as_it_is();
    }
    octets.resize(4, "0");
    let prefix = match (prefix, read_integer(octets[0])) {
        (Some(prefix), _) => prefix,
        (None, None) => return as_it_is(),
        (None, Some(first)) => {
            let invalid = || format!("Invalid octet: {first}!");
            class(&first).ok_or_else(invalid)?.to_string()
        }
    };
    Ok(format!("{}/{prefix}", octets.join(".")))
}

/// The prefix length of the class that an address with this first octet belonged to.
fn class(octet: &Integer) -> Option<u8> {
    match octet.as_i64()? {
        0..=127 => Some(8),
        128..=191 => Some(16),
        192..=223 => Some(24),
        224..=239 => Some(4),
        240..=255 => Some(32),
        _ => None,
    }
}
