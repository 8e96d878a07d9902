//! Hooks, which run the deployments of a group. A hook takes a deployment and returns the signal.

mod ansible;
mod chef;
mod compose;
mod data_files;
mod docker;
mod kubelet;
mod puppet;
mod salt;
mod script;
mod tools;

use crate::deploy::plan::{self, Deployment};
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::process::Captured;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A hook.
pub(crate) type Hook = fn(&Host, &Value) -> Result<Value>;

/// Every hook, by the name of its group.
const HOOKS: &[(&str, Hook)] = &[
    ("ansible", ansible::run),
    ("apply-config", tools::apply_config),
    ("atomic", docker::atomic),
    ("cfn-init", tools::cfn_init),
    ("chef", chef::run),
    ("docker-cmd", docker::cmd),
    ("docker-compose", compose::run),
    ("hiera", data_files::hiera),
    ("json-file", data_files::json_file),
    ("kubelet", kubelet::run),
    ("puppet", puppet::run),
    ("salt", salt::run),
    ("script", script::run),
];

/// Finds a hook by name.
pub(crate) fn find(name: &str) -> Option<Hook> {
    HOOKS.iter().find(|(known, _)| *known == name).map(|(_, hook)| *hook)
}

/// The names of all hooks.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HOOKS.iter().map(|(name, _)| *name)
}

/// Runs a hook as a program: the deployment is on standard input, the report goes to standard output.
pub(crate) fn main(host: &Host, name: &str) -> i32 {
    let Some(hook) = find(name) else {
        let known = names().collect::<Vec<_>>().join(", ");
        host.error(format!("unknown hook {name:?}; known hooks: {known}"));
        return 2;
    };
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let deployment = read.and_then(|_| {
        serde_json::from_str::<Value>(&text).map_err(|error| format!("standard input: {error}"))
    });
    let report = deployment.map_err(GuestError::new).and_then(|deployment| hook(host, &deployment));
    match report {
        Ok(report) => {
            host.print_part(&report.to_string());
            0
        }
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Removes the remains of deployments that are gone; `current` must be complete.
pub(crate) fn sweep(host: &Host, current: &[Deployment]) {
    let of = |hook: &'static str| current.iter().filter(move |it| it.hook == hook);
    let ids = |hook: &'static str| of(hook).map(|it| it.id.as_str()).collect();
    docker::sweep(host, &ids("docker-cmd"));
    kubelet::sweep(host, &ids("kubelet"));
    let names = of("docker-compose")
        .map(|it| crate::json::text(&it.whole, "name").unwrap_or(it.id.as_str()));
    compose::sweep(host, &names.collect());
}

/// Returns the id of a deployment, which becomes part of file names.
fn id(deployment: &Value) -> Result<&str> {
    let id = crate::json::text(deployment, "id");
    let id = id.filter(|id| files::inside(Path::new("/"), id).is_ok());
    id.ok_or_else(|| GuestError::new("the deployment has no id that is a valid file name"))
}

/// Creates the private directory of a hook.
fn folder(host: &Host, variable: &str, default: &str) -> Result<PathBuf> {
    let folder = host.path_of(variable, default);
    files::private_folder(&folder)?;
    Ok(folder)
}

/// Returns the prefix of the files for the outputs of a deployment.
fn outputs_path(host: &Host, variable: &str, hook: &str, id: &str) -> Result<PathBuf> {
    let default = format!("/var/run/heat-config/heat-config-{hook}");
    Ok(folder(host, variable, &default)?.join(id))
}

/// Returns the configuration as text.
fn config(deployment: &Value) -> String {
    crate::json::plain(&deployment["config"])
}

/// Returns an option as text.
fn option<'d>(deployment: &'d Value, name: &str) -> Option<&'d str> {
    crate::json::text(&deployment["options"], name).filter(|it| !it.is_empty())
}

/// Builds the report of a program: its outputs, what it printed, and its status.
fn report(deployment: &Value, outputs: Option<&Path>, ran: &Captured) -> Value {
    let mut report = Map::new();
    for output in deployment["outputs"].as_array().into_iter().flatten() {
        let (Some(name), Some(path)) = (crate::json::text(output, "name"), outputs) else {
            continue;
        };
        let mut file = path.as_os_str().to_owned();
        file.push(format!(".{name}"));
        // A name is part of a path and must not leave the directory.
        if name.contains('/') {
            continue;
        }
        if let Some(text) = files::text(Path::new(&file)) {
            report.insert(name.to_owned(), text.into());
        }
    }
    report.insert("deploy_stdout".into(), ran.out.as_str().into());
    report.insert("deploy_stderr".into(), ran.err.as_str().into());
    report.insert("deploy_status_code".into(), ran.status.into());
    Value::Object(report)
}

/// Returns the time limit of a deployment.
fn limit(deployment: &Value) -> Option<std::time::Duration> {
    let seconds = deployment["options"].get("timeout").and_then(Value::as_u64)?;
    Some(std::time::Duration::from_secs(seconds))
}

/// Returns the action of a deployment.
fn action(deployment: &Value) -> String {
    plan::input(deployment, "deploy_action").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_sorted() {
        assert!(HOOKS.is_sorted_by_key(|row| row.0));
        assert!(find("script").is_some() && find("nothing").is_none());
    }
}
