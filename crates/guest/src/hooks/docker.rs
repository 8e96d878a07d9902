//! Single containers: made, entered, and removed when nothing is deployed any more that they belong to.

use super::{action, folder, limit, report};
use crate::deploy::plan;
use crate::host::Host;
use crate::json;
use crate::problem::{Problem, Result};
use crate::process::{self, Caught};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;

/// Flags of `run` that take a text, and those that may be there more than once.
const TEXTS: [(&str, &str); 4] =
    [("net", "--net"), ("pid", "--pid"), ("restart", "--restart"), ("user", "--user")];
const LISTS: [(&str, &str); 4] = [
    ("env_file", "--env-file"),
    ("environment", "--env"),
    ("volumes", "--volume"),
    ("volumes_from", "--volumes-from"),
];

/// The label of all containers that are made here.
const OURS: &str = "label=managed_by=docker-cmd";

/// Where it is noted that there may be containers.
const WORKING: &str = "/var/lib/heat-config/heat-config-docker-cmd";

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many names are tried for a container.
const NAMES: u32 = 100;

/// Runs containers and commands in containers, in their order.
pub(super) fn cmd(host: &Host, deployment: &Value) -> Result<Value> {
    let mut ran = Caught::default();
    // Containers go when the deployment has gone.
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
            "exec" => exec(container, |name| made_as(host, id, name)),
            _ => run(deployment, name, &free_name(host, id, name), container),
        };
        let program = program(host);
        host.info(format!("{program} {}: {name}", arguments.first().map_or("", String::as_str)));
        let mut command = process::program(host, program);
        let one = process::caught(command.args(&arguments), None, limit(deployment))?;
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

/// Removes the containers of configurations that are deployed no more; then those that had to be called
/// otherwise get the names that have become free.
pub(super) fn sweep(host: &Host, current: &BTreeSet<&str>) {
    let is_used = host.path_of("HEAT_DOCKER_CMD_WORKING", WORKING).exists();
    if current.is_empty() && !is_used {
        return;
    }
    let ids = ["ps", "-a", "--filter", OURS, "--format", "{{.Label \"config_id\"}}"];
    let ids = ask(host, &ids).unwrap_or_default();
    let ids: BTreeSet<&str> = ids.split_whitespace().collect();
    for id in ids.difference(current) {
        host.info(format!("nothing is deployed as {id} any more: its containers go"));
        let label = format!("label=config_id={id}");
        let found = ask(host, &["ps", "-q", "-a", "--filter", OURS, "--filter", &label]);
        for container in found.unwrap_or_default().split_whitespace() {
            if ask(host, &["rm", "-f", container]).is_none() {
                host.error(format!("the container {container} cannot be removed"));
            }
        }
    }
    rename(host);
}

fn rename(host: &Host) {
    let all = ["ps", "-a", "--format", "{{.Names}} {{.Label \"container_name\"}}"];
    let all = ask(host, &all).unwrap_or_default();
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
        if taken.insert(wanted) && ask(host, &["rename", name, wanted]).is_some() {
            host.info(format!("the container {name} is called {wanted} from now on"));
        }
    }
}

/// The program that knows containers.
pub(super) fn program(host: &Host) -> &str {
    host.variable("HEAT_DOCKER_CMD").unwrap_or("docker")
}

/// What the program says to a question; nothing if it does not end well.
fn ask(host: &Host, arguments: &[&str]) -> Option<String> {
    let mut command = process::program(host, program(host));
    let asked = process::caught(command.args(arguments), None, Some(PATIENCE));
    asked.ok().filter(|caught| caught.status == 0).map(|caught| caught.out)
}

/// A name that no container has: its own, or that and something.
fn free_name(host: &Host, id: &str, name: &str) -> String {
    let is_free = |name: &String| ask(host, &["inspect", "--format", "exists", name]).is_none();
    let others = (1..NAMES).map(|number| {
        let hash = Sha256::digest(format!("{id} {number}"));
        let something: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{name}-{something}")
    });
    // If all are taken, the program says so.
    std::iter::once(name.to_owned()).chain(others).find(is_free).unwrap_or_else(|| name.to_owned())
}

/// What a container of this deployment is called: it may have had to be called otherwise.
fn made_as(host: &Host, id: &str, name: &str) -> String {
    let (by_name, by_id) =
        (format!("label=container_name={name}"), format!("label=config_id={id}"));
    let question = ["ps", "-a", "--filter", &by_name, "--filter", &by_id, "--format", "{{.Names}}"];
    let found = ask(host, &question).unwrap_or_default();
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

fn exec(container: &Value, made_as: impl Fn(&str) -> String) -> Vec<String> {
    let mut arguments = vec!["exec".to_owned()];
    if json::is_true(container.get("privileged")) {
        arguments.push("--privileged=true".into());
    }
    if let Some(user) = json::text(container, "user") {
        arguments.push(format!("--user={user}"));
    }
    let mut words = words(container.get("command")).into_iter();
    arguments.extend(words.next().map(|name| made_as(&name)));
    arguments.extend(words);
    arguments
}

/// A list of texts, or a text alone; the members of a map as they are assigned.
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

/// The words of a command.
fn words(command: Option<&Value>) -> Vec<String> {
    match command {
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        command => texts(command),
    }
}

/// A tool that is no more.
pub(super) fn atomic(_: &Host, _: &Value) -> Result<Value> {
    Err(Problem::new("the group atomic is no longer carried out: use docker-cmd instead"))
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
        Err(Problem::new("the configuration is no map of containers, and no JSON of one"))
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
