//! Single containers: run, entered, and removed when their deployment is gone.

use super::{action, folder, limit, report};
use crate::deploy::plan;
use crate::error::{GuestError, Result};
use crate::host::Host;
use crate::json;
use crate::process::{self, Captured};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;

/// Options of `run` with a single text, and options that may be repeated.
const TEXTS: [(&str, &str); 4] =
    [("net", "--net"), ("pid", "--pid"), ("restart", "--restart"), ("user", "--user")];
const LISTS: [(&str, &str); 4] = [
    ("env_file", "--env-file"),
    ("environment", "--env"),
    ("volumes", "--volume"),
    ("volumes_from", "--volumes-from"),
];

/// The label of all containers that this hook creates.
const MANAGED_LABEL: &str = "label=managed_by=docker-cmd";

/// The directory that records that there may be containers.
const WORKING: &str = "/var/lib/heat-config/heat-config-docker-cmd";

/// The time limit for a query.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The maximal number of names to try for a container.
const MAX_NAMES: u32 = 100;

/// Runs containers, and commands in containers, in order.
pub(super) fn cmd(host: &Host, deployment: &Value) -> Result<Value> {
    let mut ran = Captured::default();
    // Containers are removed when the deployment is gone.
    if action(deployment) == "DELETE" {
        return Ok(report(deployment, None, &ran));
    }
    folder(host, "HEAT_DOCKER_CMD_WORKING", WORKING)?;
    let config = map(deployment)?;
    let mut all: Vec<(&String, &Value)> = config.as_object().into_iter().flatten().collect();
    all.sort_by_key(|(_, container)| container["start_order"].as_i64().unwrap_or(0));
    let id = json::text(deployment, "id").unwrap_or_default();
    for (name, container) in all {
        let arguments = match json::text(container, "action").unwrap_or("run") {
            "exec" => exec(container, |name| actual_name(host, id, name)),
            _ => run(deployment, name, &free_name(host, id, name), container),
        };
        let program = program(host);
        host.info(format!("{program} {}: {name}", arguments.first().map_or("", String::as_str)));
        let mut command = process::program(host, program);
        let one = process::capture(command.args(&arguments), None, limit(deployment))?;
        ran.out.push_str(&one.out);
        ran.err.push_str(&one.err);
        let good = container["exit_codes"].as_array();
        let is_good = match good {
            Some(codes) => codes.iter().any(|code| code.as_i64() == Some(one.status.into())),
            None => one.status == 0,
        };
        if !is_good {
            ran.status = if one.status == 0 { 1 } else { one.status };
        }
    }
    Ok(report(deployment, None, &ran))
}

/// Removes the containers of configurations that are no longer deployed; then containers with alternative names get
/// the names that have become free.
pub(super) fn sweep(host: &Host, current: &BTreeSet<&str>) {
    let is_used = host.path_of("HEAT_DOCKER_CMD_WORKING", WORKING).exists();
    if current.is_empty() && !is_used {
        return;
    }
    let ids = ["ps", "-a", "--filter", MANAGED_LABEL, "--format", "{{.Label \"config_id\"}}"];
    let ids = query(host, &ids).unwrap_or_default();
    let ids: BTreeSet<&str> = ids.split_whitespace().collect();
    for id in ids.difference(current) {
        host.info(format!("{id} is no longer deployed: removing its containers"));
        let label = format!("label=config_id={id}");
        let found = query(host, &["ps", "-q", "-a", "--filter", MANAGED_LABEL, "--filter", &label]);
        for container in found.unwrap_or_default().split_whitespace() {
            if query(host, &["rm", "-f", container]).is_none() {
                host.error(format!("cannot remove the container {container}"));
            }
        }
    }
    rename(host);
}

fn rename(host: &Host) {
    let all = ["ps", "-a", "--format", "{{.Names}} {{.Label \"container_name\"}}"];
    let all = query(host, &all).unwrap_or_default();
    let all: Vec<(&str, Option<&str>)> = all
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next_back()))
        })
        .collect();
    let mut taken: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    let mut wanted: Vec<(&str, &str)> =
        all.iter().filter_map(|(name, wanted)| Some((*name, (*wanted)?))).collect();
    wanted.sort_unstable();
    for (name, wanted) in wanted.into_iter().filter(|(name, wanted)| name != wanted) {
        if taken.insert(wanted) && query(host, &["rename", name, wanted]).is_some() {
            host.info(format!("renamed the container {name} to {wanted}"));
        }
    }
}

/// Returns the container program.
pub(super) fn program(host: &Host) -> &str {
    host.variable("HEAT_DOCKER_CMD").unwrap_or("docker")
}

/// Returns the output of a query; `None` if it fails.
fn query(host: &Host, arguments: &[&str]) -> Option<String> {
    let mut command = process::program(host, program(host));
    let asked = process::capture(command.args(arguments), None, Some(TIMEOUT));
    asked.ok().filter(|output| output.status == 0).map(|output| output.out)
}

/// Returns a free container name: the requested one, or that with a suffix.
fn free_name(host: &Host, id: &str, name: &str) -> String {
    let is_free = |name: &String| query(host, &["inspect", "--format", "exists", name]).is_none();
    let others = (1..MAX_NAMES).map(|number| {
        let hash = Sha256::digest(format!("{id} {number}"));
        let suffix = hex::encode(&hash[..4]);
        format!("{name}-{suffix}")
    });
    // If all names are taken, the program reports the conflict.
    std::iter::once(name.to_owned()).chain(others).find(is_free).unwrap_or_else(|| name.to_owned())
}

/// Returns the actual name of a container of this deployment.
fn actual_name(host: &Host, id: &str, name: &str) -> String {
    let (by_name, by_id) =
        (format!("label=container_name={name}"), format!("label=config_id={id}"));
    let question = ["ps", "-a", "--filter", &by_name, "--filter", &by_id, "--format", "{{.Names}}"];
    let found = query(host, &question).unwrap_or_default();
    found.split_whitespace().next().unwrap_or(name).to_owned()
}

fn run(deployment: &Value, name: &str, unique: &str, container: &Value) -> Vec<String> {
    let input = |name: &str| plan::input(deployment, name).unwrap_or_default();
    let id = json::text(deployment, "id").unwrap_or_default();
    let mut arguments = vec!["run".to_owned(), "--name".into(), unique.to_owned()];
    for (label, value) in [
        ("deploy_stack_id", input("deploy_stack_id")),
        ("deploy_resource_name", input("deploy_resource_name")),
        ("config_id", id.to_owned()),
        ("container_name", name.to_owned()),
        ("managed_by", "docker-cmd".to_owned()),
    ] {
        arguments.extend(["--label".into(), format!("{label}={value}")]);
    }
    if container.get("detach").is_none_or(|it| json::is_true(Some(it))) {
        arguments.push("--detach=true".into());
    }
    for (key, flag) in LISTS {
        for value in texts(container.get(key)).into_iter().filter(|value| !value.is_empty()) {
            arguments.push(format!("{flag}={value}"));
        }
    }
    for (key, flag) in TEXTS {
        if let Some(value) = container.get(key).filter(|it| !it.is_null()) {
            arguments.push(format!("{flag}={}", json::plain(value)));
        }
    }
    if json::is_true(container.get("privileged")) {
        arguments.push("--privileged=true".into());
    }
    arguments.push(json::text(container, "image").unwrap_or_default().to_owned());
    arguments.extend(words(container.get("command")));
    arguments
}

fn exec(container: &Value, actual_name: impl Fn(&str) -> String) -> Vec<String> {
    let mut arguments = vec!["exec".to_owned()];
    if json::is_true(container.get("privileged")) {
        arguments.push("--privileged=true".into());
    }
    if let Some(user) = json::text(container, "user") {
        arguments.push(format!("--user={user}"));
    }
    let mut words = words(container.get("command")).into_iter();
    arguments.extend(words.next().map(|name| actual_name(&name)));
    arguments.extend(words);
    arguments
}

/// Returns a list of texts, from a list, a single text, or the assignments of a map.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().map(json::plain).collect(),
        Some(Value::Object(map)) => {
            map.iter().map(|(name, value)| format!("{name}={}", json::plain(value))).collect()
        }
        Some(Value::Null) | None => Vec::new(),
        Some(value) => vec![json::plain(value)],
    }
}

/// Splits a command into words.
fn words(command: Option<&Value>) -> Vec<String> {
    match command {
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        command => texts(command),
    }
}

/// Rejects a group whose program no longer exists.
pub(super) fn atomic(_: &Host, _: &Value) -> Result<Value> {
    Err(GuestError::new("the group atomic is no longer supported: use docker-cmd instead"))
}

fn map(deployment: &Value) -> Result<Value> {
    let config = match &deployment["config"] {
        Value::String(text) if text.trim().is_empty() => Value::Object(Default::default()),
        Value::Null => Value::Object(Default::default()),
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        config => config.clone(),
    };
    if config.is_object() {
        Ok(config)
    } else {
        Err(GuestError::new("the configuration is not a map of containers, nor JSON of one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containers_become_arguments() {
        let deployment =
            json!({"id": "0123-4567-89", "inputs": [{"name": "deploy_stack_id", "value": "s/1"}]});
        let container = json!({"image": "nginx", "net": "host", "environment": ["A=1", ""],
            "volumes": {"/a": "/b"}, "command": "x  y"});
        let arguments = run(&deployment, "web", "web-1", &container).join(" ");
        assert_eq!(
            arguments,
            "run --name web-1 --label deploy_stack_id=s/1 --label deploy_resource_name= --label \
             config_id=0123-4567-89 --label container_name=web --label managed_by=docker-cmd --detach=true \
             --env=A=1 --volume=/a=/b --net=host nginx x y"
        );
        let inside = json!({"action": "exec", "user": "root", "command": ["web", "nginx", "-t a"]});
        let arguments = exec(&inside, |name| format!("{name}-1"));
        assert_eq!(arguments, ["exec", "--user=root", "web-1", "nginx", "-t a"]);
    }
}
