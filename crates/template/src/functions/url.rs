//! `make_url`: a URL from its parts.

use super::Fault;
use crate::eval::{Checker, Scope};
use crate::expr::Call;
use crate::files::url::{COMPONENT, PATH, SEGMENT, percent_encode};
use crate::print;
use crate::value::{Members, Value};
use percent_encoding::AsciiSet;
use std::fmt::Write;

static PARTS: [&str; 8] =
    ["scheme", "username", "password", "host", "port", "path", "query", "fragment"];

/// Schemes whose URLs have `//` even without a host.
static SCHEMES_WITH_AUTHORITY: [&str; 25] = [
    "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp",
    "snews", "prospero", "rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git",
    "git+ssh", "ws", "wss",
];

pub(super) fn check_make_url(_: &Checker<'_>, call: &Call) -> Result<(), Fault> {
    let name = call.function.name;
    if call.args.is_function() {
        return Ok(());
    }
    let Some(members) = call.args.as_map() else { return Err(not_a_map(name)) };
    // Parts that are functions have no value yet; they are checked when they do.
    let known: Members = members
        .iter()
        .filter(|member| !member.value.is_function())
        .map(|member| (member.key.clone(), member.value.literal()))
        .collect();
    let all = members.iter().map(|member| &*member.key);
    check_names(name, all).and_then(|()| check_parts(name, &known))
}

fn not_a_map(name: &str) -> Fault {
    Fault::new(format!("The arguments to \"{name}\" must be a map"))
}

fn check_names<'k>(name: &str, keys: impl Iterator<Item = &'k str>) -> Result<(), Fault> {
    let unknown: Vec<&str> = keys.filter(|key| !PARTS.contains(key)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Fault::new(format!("Invalid arguments to \"{name}\": {}", unknown.join(", "))))
}

fn check_parts(name: &str, parts: &Members) -> Result<(), Fault> {
    for (key, value) in parts {
        match (&**key, value) {
            ("query", Value::Map(_)) => {}
            ("query", _) => {
                let message = format!("The \"query\" argument to \"{name}\" must be a map");
                return Err(Fault::new(message));
            }
            ("port", _) | (_, Value::Text(_)) => {}
            (key, _) => {
                let message = format!("The \"{key}\" argument to \"{name}\" must be a string");
                return Err(Fault::new(message));
            }
        }
    }
    let Some(port) = parts.get("port") else { return Ok(()) };
    let number = match port {
        Value::Int(number) => Some(number.clone()),
        Value::Text(text) => kiln_yaql::Integer::parse(text.trim()),
        _ => None,
    };
    let Some(number) = number else {
        return Err(Fault::new(format!(
            "Invalid URL port \"{}\" for {name} called with {}",
            print::plain(port),
            print::repr(&Value::Map(parts.clone().into()))
        )));
    };
    match number.as_i64() {
        Some(1..=65535) => Ok(()),
        _ => Err(Fault::new(format!("Invalid URL port {number}, must be in range 1-65535"))),
    }
}

pub(super) fn make_url(_: &Scope<'_>, call: &Call, args: &Value) -> Result<Value, Fault> {
    let name = call.function.name;
    let parts = args.as_map().ok_or_else(|| not_a_map(name))?;
    check_names(name, parts.keys().map(|key| &**key))?;
    check_parts(name, parts)?;
    let text = |key: &str| parts.get(key).and_then(Value::as_text).map_or("", |text| &**text);
    let scheme = text("scheme");
    if scheme.contains(':') {
        return Err(Fault::new("URL \"scheme\" should not contain ':'"));
    }

    let authority = authority(text("username"), text("password"), text("host"), parts.get("port"));
    let mut path = percent_encode(text("path"), &PATH);
    let has_authority = !authority.is_empty()
        || (SCHEMES_WITH_AUTHORITY.contains(&scheme) && !path.starts_with("//"));
    let mut url = String::new();
    if !scheme.is_empty() {
        _ = write!(url, "{scheme}:");
    }
    if has_authority {
        if !path.is_empty() && !path.starts_with('/') {
            path.insert(0, '/');
        }
        _ = write!(url, "//{authority}");
    }
    url.push_str(&path);
    if let Some(Value::Map(query)) = parts.get("query").filter(|query| query.is_truthy()) {
        let pairs = query.iter().map(|(key, value)| {
            format!("{}={}", form_encode(key), form_encode(&print::plain(value)))
        });
        _ = write!(url, "?{}", pairs.collect::<Vec<_>>().join("&"));
    }
    if !text("fragment").is_empty() {
        _ = write!(url, "#{}", percent_encode(text("fragment"), &PATH));
    }
    Ok(url.into())
}

fn authority(username: &str, password: &str, host: &str, port: Option<&Value>) -> String {
    let mut out = String::new();
    if !username.is_empty() || !password.is_empty() {
        out.push_str(&percent_encode(username, &COMPONENT));
        if !password.is_empty() {
            _ = write!(out, ":{}", percent_encode(password, &COMPONENT));
        }
        out.push('@');
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let encoded = percent_encode(bare, &SEGMENT);
    if bare.contains(':') {
        _ = write!(out, "[{encoded}]");
    } else {
        out.push_str(&encoded);
    }
    if let Some(port) = port {
        _ = write!(out, ":{}", print::plain(port).trim());
    }
    out
}

/// The characters that are escaped in form fields; spaces become plus signs afterwards.
static FORM: AsciiSet = PATH.remove(b' ');

/// The encoding of form fields, in which a space is a plus.
fn form_encode(text: &str) -> String {
    percent_encode(text, &FORM).replace(' ', "+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_fields_have_plus_signs_for_spaces() {
        assert_eq!(form_encode("c/d e+&="), "c/d+e%2B%26%3D");
    }
}
