//! The steps of `AWS::CloudFormation::Init`.

use crate::error::{GuestError, Result};
use crate::json;
use serde_json::{Map, Value};

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Packages of a package manager: names and requested versions.
    Packages {
        manager: String,
        packages: Vec<(String, Vec<String>)>,
    },
    /// An archive to be unpacked into a directory.
    Source {
        folder: String,
        url: String,
    },
    Group {
        name: String,
        gid: Option<String>,
    },
    User {
        name: String,
        uid: Option<String>,
        home: Option<String>,
        groups: Vec<String>,
    },
    File(FileStep),
    Command(CommandStep),
    Service {
        name: String,
        enabled: Option<bool>,
        running: Option<bool>,
    },
}

/// A file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileStep {
    pub(crate) path: String,
    pub(crate) content: Content,
    pub(crate) owner: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) mode: Option<u32>,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Text(String),
    At(String),
}

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandStep {
    pub(crate) label: String,
    pub(crate) run: Run,
    pub(crate) environment: Option<Vec<(String, String)>>,
    pub(crate) folder: Option<String>,
    /// The step runs only if this command succeeds.
    pub(crate) test: Option<String>,
    pub(crate) may_fail: bool,
}

/// The form of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Run {
    Shell(String),
    Program(Vec<String>),
}

/// The package managers that run first, in this order.
const MANAGERS: [&str; 5] = ["dpkg", "rpm", "apt", "yum", "dnf"];

/// Returns all steps in order. `sets` are the names of configSets; an empty list means the default.
pub(crate) fn plan(metadata: &Value, sets: &[&str]) -> Result<Vec<Step>> {
    let init = metadata.get("AWS::CloudFormation::Init").and_then(Value::as_object);
    let init = init.filter(|init| !init.is_empty());
    let init =
        init.ok_or_else(|| GuestError::new("the metadata has no AWS::CloudFormation::Init"))?;
    let mut steps = Vec::new();
    for name in configs(init, sets)? {
        let config = init.get(&name).filter(|it| it.is_object());
        let config = config.ok_or_else(|| GuestError::new(format!("unknown config {name:?}")))?;
        steps.extend(packages(config));
        steps.extend(sources(config));
        steps.extend(accounts(config));
        steps.extend(files(config)?);
        steps.extend(commands(config)?);
        steps.extend(services(config));
    }
    Ok(steps)
}

/// Returns the names of the configurations in the order in which they are applied.
fn configs(init: &Map<String, Value>, sets: &[&str]) -> Result<Vec<String>> {
    let Some(known) = init.get("configSets").and_then(Value::as_object) else {
        return if sets.is_empty() {
            Ok(vec!["config".into()])
        } else {
            Err(GuestError::new("the metadata has no configSets"))
        };
    };
    let default = ["default"];
    let mut names = Vec::new();
    for set in if sets.is_empty() { &default } else { sets } {
        expand(known, set, &mut Vec::new(), &mut names)?;
    }
    if names.is_empty() { Err(GuestError::new("the configSets are empty")) } else { Ok(names) }
}

fn expand<'s>(
    known: &'s Map<String, Value>,
    set: &'s str,
    with_timeout: &mut Vec<&'s str>,
    names: &mut Vec<String>,
) -> Result<()> {
    if with_timeout.contains(&set) {
        return Err(GuestError::new(format!("configSet {set:?} contains itself")));
    }
    let entries = known.get(set);
    let entries = entries.ok_or_else(|| GuestError::new(format!("unknown configSet {set:?}")))?;
    let one = std::slice::from_ref(entries);
    with_timeout.push(set);
    for entry in entries.as_array().map_or(one, Vec::as_slice) {
        match entry {
            Value::String(name) => names.push(name.clone()),
            Value::Object(_) if entry["ConfigSet"].is_string() => {
                expand(
                    known,
                    entry["ConfigSet"].as_str().unwrap_or_default(),
                    with_timeout,
                    names,
                )?;
            }
            other => {
                return Err(GuestError::new(format!(
                    "configSet {set:?} contains the invalid entry {other}"
                )));
            }
        }
    }
    with_timeout.pop();
    Ok(())
}

fn section<'c>(
    config: &'c Value,
    name: &str,
) -> impl Iterator<Item = (&'c String, &'c Value)> + use<'c> {
    config.get(name).and_then(Value::as_object).into_iter().flatten()
}

/// Returns a scalar as text.
fn scalar(value: &Value, name: &str) -> Option<String> {
    value.get(name).filter(|it| !it.is_null()).map(json::plain)
}

fn packages(config: &Value) -> Vec<Step> {
    let mut managers: Vec<_> = section(config, "packages").collect();
    managers.sort_by_key(|(name, _)| {
        let rank = MANAGERS.iter().position(|known| known == name).unwrap_or(MANAGERS.len());
        (rank, (*name).clone())
    });
    let step = |(manager, packages): (&String, &Value)| {
        let packages = json::map(packages).into_iter().flatten().map(|(name, versions)| {
            let versions = match versions {
                Value::Array(all) => all.iter().map(json::plain).collect(),
                Value::Null => Vec::new(),
                one => vec![json::plain(one)],
            };
            let wanted = versions.into_iter().filter(|it: &String| !it.is_empty()).collect();
            (name.clone(), wanted)
        });
        Step::Packages { manager: manager.clone(), packages: packages.collect() }
    };
    managers.into_iter().map(step).collect()
}

fn sources(config: &Value) -> Vec<Step> {
    let step = |(folder, url): (&String, &Value)| Step::Source {
        folder: folder.clone(),
        url: json::plain(url),
    };
    section(config, "sources").map(step).collect()
}

fn accounts(config: &Value) -> Vec<Step> {
    let groups = section(config, "groups")
        .map(|(name, details)| Step::Group { name: name.clone(), gid: scalar(details, "gid") });
    let users = section(config, "users").map(|(name, details)| {
        let groups = details["groups"].as_array().into_iter().flatten().map(json::plain).collect();
        let (uid, home) = (scalar(details, "uid"), scalar(details, "homeDir"));
        Step::User { name: name.clone(), uid, home, groups }
    });
    groups.chain(users).collect()
}

fn files(config: &Value) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (path, details) in section(config, "files") {
        let content = match (details.get("content"), scalar(details, "source")) {
            (Some(Value::String(text)), _) => Content::Text(text.clone()),
            (Some(value), _) if !value.is_null() => {
                Content::Text(json::print(value, json::Style::Indented(4)))
            }
            (_, Some(url)) => Content::At(url),
            // The file has no content.
            _ => continue,
        };
        let mode = scalar(details, "mode").map(|text| {
            // The number may include the file type.
            let mode = u32::from_str_radix(&text, 8).map(|mode| mode & 0o7777);
            mode.map_err(|_| GuestError::new(format!("file {path}: invalid mode {text:?}")))
        });
        steps.push(Step::File(FileStep {
            path: path.clone(),
            content,
            owner: scalar(details, "owner"),
            group: scalar(details, "group"),
            mode: mode.transpose()?,
        }));
    }
    Ok(steps)
}

fn commands(config: &Value) -> Result<Vec<Step>> {
    let mut all: Vec<_> = section(config, "commands").collect();
    all.sort_by_key(|(label, _)| (*label).clone());
    let mut steps = Vec::new();
    for (label, details) in all {
        let run = match details.get("command") {
            Some(Value::Array(words)) if !words.is_empty() => {
                Run::Program(words.iter().map(json::plain).collect())
            }
            Some(Value::String(text)) => Run::Shell(text.clone()),
            _ => return Err(GuestError::new(format!("command {label} has no command"))),
        };
        let environment = details.get("env").and_then(Value::as_object).map(|all| {
            all.iter().map(|(name, value)| (name.clone(), json::plain(value))).collect()
        });
        steps.push(Step::Command(CommandStep {
            label: label.clone(),
            run,
            environment,
            folder: scalar(details, "cwd"),
            test: scalar(details, "test"),
            may_fail: json::is_true(details.get("ignoreErrors")),
        }));
    }
    Ok(steps)
}

/// Returns the services of all service managers.
pub(crate) fn services(config: &Value) -> Vec<Step> {
    let of_managers = ["sysvinit", "systemd"].iter().flat_map(|manager| {
        config
            .pointer(&format!("/services/{manager}"))
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    });
    let wish = |details: &Value, name: &str| {
        details.get(name).filter(|it| !it.is_null()).map(|it| json::is_true(Some(it)))
    };
    let step = |(name, details): (&String, &Value)| Step::Service {
        name: name.clone(),
        enabled: wish(details, "enabled"),
        running: wish(details, "ensureRunning"),
    };
    of_managers.map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn named(steps: &[Step]) -> Vec<String> {
        let name = |step: &Step| match step {
            Step::Packages { manager, packages } => format!("{manager} {}", packages.len()),
            Step::Source { folder, .. } => format!("source {folder}"),
            Step::Group { name, .. } => format!("group {name}"),
            Step::User { name, .. } => format!("user {name}"),
            Step::File(file) => format!("file {}", file.path),
            Step::Command(command) => format!("command {}", command.label),
            Step::Service { name, .. } => format!("service {name}"),
        };
        steps.iter().map(name).collect()
    }

    fn everything() -> Value {
        json!({"AWS::CloudFormation::Init": {
            "configSets": {"default": ["base", {"ConfigSet": "app"}], "app": ["site"]},
            "base": {"packages": {"zypper": {}, "yum": {"httpd": ["2.4.6"]}, "apt": {"nginx": []}},
                "users": {"www": {"uid": 800, "groups": ["www"], "homeDir": "/srv/www"}},
                "groups": {"www": {"gid": 800}}},
            "site": {"services": {"systemd": {"nginx": {"enabled": "true", "ensureRunning": true}}},
                "commands": {"20_note": {"command": "echo", "ignoreErrors": "true"},
                    "10_build": {"command": ["make", "-C", 5], "test": "true"}},
                "files": {"/etc/app.json": {"content": {"debug": true}, "mode": "000640"}},
                "sources": {"/srv/www": "https://example.org/site.tar.gz"}}}})
    }

    #[test]
    fn sections_come_in_their_order() {
        let steps = plan(&everything(), &[]).unwrap();
        assert_eq!(
            named(&steps),
            [
                "apt 1",
                "yum 1",
                "zypper 0",
                "group www",
                "user www",
                "source /srv/www",
                "file /etc/app.json",
                "command 10_build",
                "command 20_note",
                "service nginx"
            ]
        );
        let Step::File(file) = &steps[6] else { panic!("a file") };
        assert_eq!(file.content, Content::Text("{\n    \"debug\": true\n}".into()));
        assert_eq!(file.mode, Some(0o640));
        assert_eq!(named(&plan(&everything(), &["app"]).unwrap()).len(), 5);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let mut metadata = everything();
        assert!(plan(&metadata, &["nothing"]).is_err());
        metadata["AWS::CloudFormation::Init"]["configSets"]["app"] =
            json!([{"ConfigSet": "default"}]);
        assert!(plan(&metadata, &[]).is_err(), "a circle");
        assert!(plan(&json!({}), &[]).is_err());
        let plain = json!({"AWS::CloudFormation::Init": {"config": {"files": {"/a": {"content": "x", "mode": 644}}}}});
        let steps = plan(&plain, &[]).unwrap();
        let Step::File(file) = &steps[0] else { panic!("a file") };
        assert_eq!(file.mode, Some(0o644), "a number counts as written");
        assert!(plan(&plain, &["x"]).is_err());
    }
}
