//! What `AWS::CloudFormation::Init` asks for, as a list of steps.

use crate::json;
use crate::problem::{Problem, Result};
use serde_json::{Map, Value};

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Packages of a manager: names, and the versions that are wanted.
    Packages {
        manager: String,
        packages: Vec<(String, Vec<String>)>,
    },
    /// An archive for a folder.
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

/// What is in a file.
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
    /// Only if this succeeds.
    pub(crate) test: Option<String>,
    pub(crate) may_fail: bool,
}

/// How a command is run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Run {
    Shell(String),
    Program(Vec<String>),
}

/// The managers that come first, in this order.
const MANAGERS: [&str; 5] = ["dpkg", "rpm", "apt", "yum", "dnf"];

/// All steps, in their order. `sets` are the names of sets of configurations; none means the usual.
pub(crate) fn plan(metadata: &Value, sets: &[&str]) -> Result<Vec<Step>> {
    let init = metadata.get("AWS::CloudFormation::Init").and_then(Value::as_object);
    let init = init.filter(|init| !init.is_empty());
    let init = init.ok_or_else(|| Problem::new("the metadata has no AWS::CloudFormation::Init"))?;
    let mut steps = Vec::new();
    for name in configs(init, sets)? {
        let config = init.get(&name).filter(|it| it.is_object());
        let config = config.ok_or_else(|| Problem::new(format!("there is no config {name:?}")))?;
        steps.extend(packages(config));
        steps.extend(sources(config));
        steps.extend(accounts(config));
        steps.extend(files(config)?);
        steps.extend(commands(config)?);
        steps.extend(services(config));
    }
    Ok(steps)
}

/// The names of configurations, in the order in which they are applied.
fn configs(init: &Map<String, Value>, sets: &[&str]) -> Result<Vec<String>> {
    let Some(known) = init.get("configSets").and_then(Value::as_object) else {
        return if sets.is_empty() {
            Ok(vec!["config".into()])
        } else {
            Err(Problem::new("there are no configSets"))
        };
    };
    let usual = ["default"];
    let mut names = Vec::new();
    for set in if sets.is_empty() { &usual } else { sets } {
        expand(known, set, &mut Vec::new(), &mut names)?;
    }
    if names.is_empty() {
        Err(Problem::new("the configSets have nothing in them"))
    } else {
        Ok(names)
    }
}

fn expand<'s>(
    known: &'s Map<String, Value>,
    set: &'s str,
    within: &mut Vec<&'s str>,
    names: &mut Vec<String>,
) -> Result<()> {
    if within.contains(&set) {
        return Err(Problem::new(format!("configSet {set:?} is part of itself")));
    }
    let entries = known.get(set);
    let entries = entries.ok_or_else(|| Problem::new(format!("there is no configSet {set:?}")))?;
    let one = std::slice::from_ref(entries);
    within.push(set);
    for entry in entries.as_array().map_or(one, Vec::as_slice) {
        match entry {
            Value::String(name) => names.push(name.clone()),
            Value::Object(_) if entry["ConfigSet"].is_string() => {
                expand(known, entry["ConfigSet"].as_str().unwrap_or_default(), within, names)?;
            }
            other => return Err(Problem::new(format!("configSet {set:?} has {other} in it"))),
        }
    }
    within.pop();
    Ok(())
}

fn section<'c>(
    config: &'c Value,
    name: &str,
) -> impl Iterator<Item = (&'c String, &'c Value)> + use<'c> {
    config.get(name).and_then(Value::as_object).into_iter().flatten()
}

/// A scalar as text.
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
        .map(|(name, of)| Step::Group { name: name.clone(), gid: scalar(of, "gid") });
    let users = section(config, "users").map(|(name, of)| {
        let groups = of["groups"].as_array().into_iter().flatten().map(json::plain).collect();
        let (uid, home) = (scalar(of, "uid"), scalar(of, "homeDir"));
        Step::User { name: name.clone(), uid, home, groups }
    });
    groups.chain(users).collect()
}

fn files(config: &Value) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (path, of) in section(config, "files") {
        let content = match (of.get("content"), scalar(of, "source")) {
            (Some(Value::String(text)), _) => Content::Text(text.clone()),
            (Some(value), _) if !value.is_null() => {
                Content::Text(json::print(value, json::Style::Indented(4)))
            }
            (_, Some(url)) => Content::At(url),
            // There is nothing to write.
            _ => continue,
        };
        let mode = scalar(of, "mode").map(|text| {
            // More than permissions may stand there: the kind of the file.
            let mode = u32::from_str_radix(&text, 8).map(|mode| mode & 0o7777);
            mode.map_err(|_| Problem::new(format!("file {path} has no mode {text:?}")))
        });
        steps.push(Step::File(FileStep {
            path: path.clone(),
            content,
            owner: scalar(of, "owner"),
            group: scalar(of, "group"),
            mode: mode.transpose()?,
        }));
    }
    Ok(steps)
}

fn commands(config: &Value) -> Result<Vec<Step>> {
    let mut all: Vec<_> = section(config, "commands").collect();
    all.sort_by_key(|(label, _)| (*label).clone());
    let mut steps = Vec::new();
    for (label, of) in all {
        let run = match of.get("command") {
            Some(Value::Array(words)) if !words.is_empty() => {
                Run::Program(words.iter().map(json::plain).collect())
            }
            Some(Value::String(text)) => Run::Shell(text.clone()),
            _ => return Err(Problem::new(format!("command {label} has no command"))),
        };
        let environment = of.get("env").and_then(Value::as_object).map(|all| {
            all.iter().map(|(name, value)| (name.clone(), json::plain(value))).collect()
        });
        steps.push(Step::Command(CommandStep {
            label: label.clone(),
            run,
            environment,
            folder: scalar(of, "cwd"),
            test: scalar(of, "test"),
            may_fail: json::is_true(of.get("ignoreErrors")),
        }));
    }
    Ok(steps)
}

/// Services, whatever manages them.
pub(crate) fn services(config: &Value) -> Vec<Step> {
    let of_managers = ["sysvinit", "systemd"].iter().flat_map(|manager| {
        config
            .pointer(&format!("/services/{manager}"))
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    });
    let wish = |of: &Value, name: &str| {
        of.get(name).filter(|it| !it.is_null()).map(|it| json::is_true(Some(it)))
    };
    let step = |(name, of): (&String, &Value)| Step::Service {
        name: name.clone(),
        enabled: wish(of, "enabled"),
        running: wish(of, "ensureRunning"),
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
