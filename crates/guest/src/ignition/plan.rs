//! The steps of an Ignition configuration, decided from its text alone.
//!
//! Versions 2 and 3 differ in the structure and in what may be overwritten.

use crate::error::{GuestError, Result};
use crate::json;
use serde_json::Value;

/// The maximal number of steps.
const MAX_STEPS: usize = 10_000;

/// The supported sections.
const SUPPORTED_SECTIONS: [&str; 5] = ["ignition", "networkd", "passwd", "storage", "systemd"];

/// The supported parts of sections.
const SUPPORTED_PARTS: [(&str, &[&str]); 4] = [
    ("networkd", &["units"]),
    ("passwd", &["groups", "users"]),
    ("storage", &["directories", "files", "links"]),
    ("systemd", &["units"]),
];

/// The plan for a configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Plan {
    /// Configurations that are applied before this one.
    pub(super) before: Vec<Source>,
    /// The configuration that replaces this one.
    pub(super) replacement: Option<Source>,
    /// The steps, in order.
    pub(super) steps: Vec<Step>,
    /// The unsupported parts.
    pub(super) unsupported: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Group { name: String, gid: Option<String>, is_system: bool },
    User(User),
    Directory { file: FileTarget },
    File { file: FileTarget, contents: Option<Source>, more: Vec<Source> },
    Link { file: FileTarget, target: String, is_hard: bool },
    Unit(Unit),
    Network { name: String, text: String },
}

/// The path, the mode and the owner of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileTarget {
    pub(super) path: String,
    pub(super) mode: Option<u32>,
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    pub(super) may_overwrite: bool,
}

/// The source of contents.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Source {
    pub(super) url: String,
    pub(super) is_packed: bool,
    pub(super) hash: Option<String>,
}

/// A user account.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) home: Option<String>,
    pub(super) keys: Vec<String>,
    pub(super) password: Option<String>,
    /// The options of `useradd`.
    pub(super) flags: Vec<String>,
}

/// A systemd unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) text: Option<String>,
    pub(super) dropins: Vec<(String, String)>,
    pub(super) is_enabled: Option<bool>,
    pub(super) is_masked: bool,
}

/// Parses a text as an Ignition configuration; `None` if it is not one.
pub(super) fn parse_config(text: &[u8]) -> Option<Value> {
    let config: Value = serde_json::from_slice(text).ok()?;
    json::text(&config["ignition"], "version")?;
    Some(config)
}

/// Plans the steps of a configuration.
pub(super) fn plan(config: &Value) -> Result<Plan> {
    let version = json::text(&config["ignition"], "version").unwrap_or_default();
    let is_newer = match version.split('.').next() {
        Some("2") => false,
        Some("3") => true,
        _ => {
            let message =
                format!("unsupported Ignition version {version:?}: only 2 and 3 are supported");
            return Err(GuestError::new(message));
        }
    };
    let mut plan = Plan { unsupported: unsupported(config), ..Plan::default() };
    let others = &config["ignition"]["config"];
    for name in ["append", "merge"] {
        plan.before.extend(list(&others[name]).filter_map(source));
    }
    plan.replacement = source(&others["replace"]);
    let (storage, passwd) = (&config["storage"], &config["passwd"]);
    let steps = &mut plan.steps;
    steps.extend(list(&passwd["groups"]).filter_map(group));
    steps.extend(list(&passwd["users"]).filter_map(user).map(Step::User));
    let target_of = |it: &Value| parse_target(it, is_newer);
    let directories = list(&storage["directories"]);
    steps.extend(directories.filter_map(|it| Some(Step::Directory { file: target_of(it)? })));
    steps.extend(list(&storage["files"]).filter_map(|it| file_step(it, target_of(it)?)));
    steps.extend(list(&storage["links"]).filter_map(|it| {
        let target = json::text(it, "target")?.to_owned();
        Some(Step::Link { file: target_of(it)?, target, is_hard: json::is_true(it.get("hard")) })
    }));
    steps.extend(list(&config["systemd"]["units"]).filter_map(unit).map(Step::Unit));
    steps.extend(list(&config["networkd"]["units"]).filter_map(|it| {
        let (name, text) = (json::text(it, "name")?, json::text(it, "contents")?);
        Some(Step::Network { name: name.to_owned(), text: text.to_owned() })
    }));
    if plan.steps.len() > MAX_STEPS {
        Err(GuestError::new(format!("an Ignition configuration has more than {MAX_STEPS} steps")))
    } else {
        Ok(plan)
    }
}

/// Returns the paths of the unsupported parts.
fn unsupported(config: &Value) -> Vec<String> {
    let keys = |value: &Value| -> Vec<String> {
        let members = value.as_object().into_iter().flatten();
        let is_empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            other => other.is_null(),
        };
        members.filter(|(_, value)| !is_empty(value)).map(|(key, _)| key.clone()).collect()
    };
    let mut found = keys(config);
    found.retain(|key| !SUPPORTED_SECTIONS.contains(&key.as_str()));
    for (section, known) in SUPPORTED_PARTS {
        let parts = keys(&config[section]).into_iter();
        let unknown = parts.filter(|part| !known.contains(&part.as_str()));
        found.extend(unknown.map(|part| format!("{section}.{part}")));
    }
    let known = ["config", "version"];
    let unknown = keys(&config["ignition"]).into_iter().filter(|it| !known.contains(&it.as_str()));
    found.extend(unknown.map(|part| format!("ignition.{part}")));
    // File systems other than the root are not supported.
    for kind in SUPPORTED_PARTS[2].1 {
        let all = list(&config["storage"][*kind]);
        let others = all.filter_map(|it| json::text(it, "filesystem")).filter(|it| *it != "root");
        found.extend(others.map(|name| format!("storage.{kind} on {name}")));
    }
    found
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn source(value: &Value) -> Option<Source> {
    Some(Source {
        url: json::text(value, "source")?.to_owned(),
        is_packed: json::text(value, "compression") == Some("gzip"),
        hash: json::text(&value["verification"], "hash").map(str::to_owned),
    })
}

/// Parses the path and the attributes; `None` for another file system.
fn parse_target(value: &Value, is_newer: bool) -> Option<FileTarget> {
    if json::text(value, "filesystem").is_some_and(|name| name != "root") {
        return None;
    }
    let whose = |key: &str| {
        let whose = &value[key];
        let id = whose.get("id").filter(|id| !id.is_null());
        id.map(json::plain).or_else(|| json::text(whose, "name").map(str::to_owned))
    };
    let mode = value.get("mode").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
    Some(FileTarget {
        path: json::text(value, "path")?.to_owned(),
        mode: mode.map(|mode| mode & 0o7777),
        user: whose("user"),
        group: whose("group"),
        may_overwrite: value.get("overwrite").and_then(Value::as_bool).unwrap_or(!is_newer),
    })
}

fn file_step(value: &Value, file: FileTarget) -> Option<Step> {
    let contents = source(&value["contents"]);
    Some(match value.get("append") {
        // The older form of the option.
        Some(Value::Bool(true)) => {
            Step::File { file, contents: None, more: contents.into_iter().collect() }
        }
        more => {
            let more = more.into_iter().flat_map(list).filter_map(source).collect();
            Step::File { file, contents, more }
        }
    })
}

fn group(value: &Value) -> Option<Step> {
    Some(Step::Group {
        name: name_of(value)?,
        gid: value.get("gid").filter(|it| it.is_u64()).map(json::plain),
        is_system: json::is_true(value.get("system")),
    })
}

/// Returns a name that is safe as an argument and as part of a path.
fn name_of(value: &Value) -> Option<String> {
    let name = json::text(value, "name")?;
    let is_plain = !name.is_empty()
        && !name.starts_with(['-', '.'])
        && name.chars().all(|it| it.is_ascii_alphanumeric() || "_-.$".contains(it));
    is_plain.then(|| name.to_owned())
}

fn user(value: &Value) -> Option<User> {
    let text = |key: &str| json::text(value, key).filter(|it| !it.is_empty()).map(str::to_owned);
    let is = |key: &str| json::is_true(value.get(key));
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: Option<String>| {
        flags.extend(value.map(|value| format!("--{name}={value}")));
    };
    flag("uid", value.get("uid").filter(|it| it.is_u64()).map(json::plain));
    flag("comment", text("gecos"));
    flag("home-dir", text("homeDir"));
    flag("gid", text("primaryGroup"));
    flag("shell", text("shell"));
    let groups: Vec<String> =
        list(&value["groups"]).filter_map(Value::as_str).map(str::to_owned).collect();
    flag("groups", (!groups.is_empty()).then(|| groups.join(",")));
    for (key, name) in
        [("noUserGroup", "no-user-group"), ("noLogInit", "no-log-init"), ("system", "system")]
    {
        if is(key) {
            flags.push(format!("--{name}"));
        }
    }
    flags.push(if is("noCreateHome") { "--no-create-home" } else { "--create-home" }.to_owned());
    let keys = list(&value["sshAuthorizedKeys"]).filter_map(Value::as_str);
    Some(User {
        name: name_of(value)?,
        home: text("homeDir"),
        // Every key is a line.
        keys: keys.flat_map(str::lines).map(str::to_owned).filter(|it| !it.is_empty()).collect(),
        password: text("passwordHash"),
        flags,
    })
}

fn unit(value: &Value) -> Option<Unit> {
    let dropins = list(&value["dropins"]).filter_map(|it| {
        Some((json::text(it, "name")?.to_owned(), json::text(it, "contents")?.to_owned()))
    });
    Some(Unit {
        name: json::text(value, "name")?.to_owned(),
        text: json::text(value, "contents").filter(|it| !it.is_empty()).map(str::to_owned),
        dropins: dropins.collect(),
        is_enabled: value.get("enabled").or(value.get("enable")).and_then(Value::as_bool),
        is_masked: json::is_true(value.get("mask")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_done_is_named() {
        let config = json!({"ignition": {"version": "3.4.0", "timeouts": {"httpTotal": 3}, "security": {}},
            "kernelArguments": {"shouldExist": ["x"]}, "passwd": {"users": []},
            "storage": {"disks": [{"device": "/dev/sda"}], "raid": [], "files": [{"path": "/a"}]}});
        let planned = plan(&config).unwrap();
        assert_eq!(planned.unsupported, ["kernelArguments", "storage.disks", "ignition.timeouts"]);
        assert_eq!(planned.steps.len(), 1);
        let other = json!({"ignition": {"version": "2.2.0"},
            "storage": {"files": [{"filesystem": "data", "path": "/a"}]}});
        assert_eq!(plan(&other).unwrap().unsupported, ["storage.files on data"]);
        assert!(plan(&json!({"ignition": {"version": "1.0.0"}})).is_err());
        assert!(
            parse_config(b"{\"ignition\": {}}").is_none() && parse_config(b"#!/bin/sh").is_none()
        );
    }

    #[test]
    fn users_become_flags() {
        let description = json!({"name": "core", "uid": 1001, "gecos": "It's me", "groups": ["wheel", "docker"],
            "homeDir": "/srv/core", "shell": "/bin/bash", "noUserGroup": true, "passwordHash": "$6$x",
            "sshAuthorizedKeys": ["ssh-ed25519 A\nssh-ed25519 B\n"]});
        let made = user(&description).unwrap();
        assert_eq!(
            made.flags.join(" "),
            "--uid=1001 --comment=It's me --home-dir=/srv/core --shell=/bin/bash --groups=wheel,docker \
             --no-user-group --create-home"
        );
        assert_eq!(made.keys, ["ssh-ed25519 A", "ssh-ed25519 B"]);
        for name in ["", "-f", "../x", "a b", "."] {
            assert_eq!(user(&json!({"name": name})), None, "{name}");
        }
    }

    #[test]
    fn modes_and_overwriting_are_as_the_version_says() {
        let value =
            json!({"path": "/a", "mode": 420, "user": {"id": 0}, "group": {"name": "wheel"}});
        let newer = parse_target(&value, true).unwrap();
        assert_eq!((newer.mode, newer.may_overwrite), (Some(0o644), false));
        assert_eq!((newer.user.as_deref(), newer.group.as_deref()), (Some("0"), Some("wheel")));
        assert!(parse_target(&value, false).unwrap().may_overwrite);
    }
}
