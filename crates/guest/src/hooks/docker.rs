//! Containers: single ones, those of a composition, and pods that a kubelet watches for.

use super::{action, folder, id, limit, report};
use crate::deploy::plan;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::problem::{Problem, Result};
use crate::process::{self, Caught};
use serde_json::Value;

/// Flags of `run` that take a text, and those that may be there more than once.
const TEXTS: [(&str, &str); 4] =
    [("net", "--net"), ("pid", "--pid"), ("restart", "--restart"), ("user", "--user")];
const LISTS: [(&str, &str); 4] = [
    ("env_file", "--env-file"),
    ("environment", "--env"),
    ("volumes", "--volume"),
    ("volumes_from", "--volumes-from"),
];

/// Runs containers and commands in containers, in their order.
pub(super) fn cmd(host: &Host, deployment: &Value) -> Result<Value> {
    let mut ran = Caught::default();
    if action(deployment) == "DELETE" {
        return Ok(report(deployment, None, &ran));
    }
    let config = map(deployment)?;
    let mut all: Vec<(&String, &Value)> = config.as_object().into_iter().flatten().collect();
    all.sort_by_key(|(_, container)| container["start_order"].as_i64().unwrap_or(0));
    let program = host.variable("HEAT_DOCKER_CMD").unwrap_or("docker");
    for (name, container) in all {
        let arguments = match json::text(container, "action").unwrap_or("run") {
            "exec" => exec(container),
            _ => run(deployment, name, container),
        };
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

fn run(deployment: &Value, name: &str, container: &Value) -> Vec<String> {
    let input = |name: &str| plan::input(deployment, name).unwrap_or_default();
    let id = json::text(deployment, "id").unwrap_or_default();
    let unique: String = id.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let mut arguments = vec!["run".to_owned(), "--name".into(), format!("{name}-{unique}")];
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
        for value in texts(container.get(key)) {
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
    arguments.extend(texts(container.get("command")));
    arguments
}

fn exec(container: &Value) -> Vec<String> {
    let mut arguments = vec!["exec".to_owned()];
    if json::is_true(container.get("privileged")) {
        arguments.push("--privileged=true".into());
    }
    if let Some(user) = json::text(container, "user") {
        arguments.push(format!("--user={user}"));
    }
    arguments.extend(texts(container.get("command")));
    arguments
}

/// A list of texts, or a text alone.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().map(json::plain).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(value) => vec![json::plain(value)],
    }
}

/// Brings up a composition; on DELETE it goes.
pub(super) fn compose(host: &Host, deployment: &Value) -> Result<Value> {
    let name = json::text(deployment, "name").map_or(id(deployment)?, |name| name);
    let usual = "/var/lib/heat-config/heat-config-docker-compose";
    let working = folder(host, "HEAT_DOCKER_COMPOSE_WORKING", usual)?;
    let project = files::inside(&working, name)?;
    files::private_folder(&project)?;
    // JSON is YAML, so a map needs no other form.
    let text = json::plain(&deployment["config"]);
    files::write(&project.join("docker-compose.yml"), text.as_bytes(), 0o600)?;
    let env_files = plan::input(deployment, "env_files").unwrap_or_default();
    let env_files: Value = serde_json::from_str(&env_files).unwrap_or_default();
    for file in env_files.as_array().into_iter().flatten() {
        let Some(name) = json::text(file, "file_name") else { continue };
        let path = files::inside(&project, name.trim_start_matches("./"))?;
        files::write(&path, json::plain(&file["content"]).as_bytes(), 0o600)?;
    }
    let told = host.variable("HEAT_DOCKER_COMPOSE_CMD").unwrap_or("docker compose");
    let mut words = told.split_whitespace();
    let mut command = process::program(host, words.next().unwrap_or("docker"));
    command.args(words).current_dir(&project);
    match action(deployment).as_str() {
        "DELETE" => command.arg("down"),
        _ => command.args(["up", "-d", "--no-build"]),
    };
    let ran = process::caught(&mut command, None, limit(deployment))?;
    Ok(report(deployment, None, &ran))
}

/// Leaves the manifest of a pod where a kubelet looks for it; on DELETE it goes.
pub(super) fn kubelet(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let folder = host.path_of(
        "HEAT_KUBELET_MANIFESTS",
        "/var/lib/heat-config/heat-config-kubelet/kubelet-manifests",
    );
    files::private_folder(&folder)?;
    let path = folder.join(format!("{id}.json"));
    match action(deployment).as_str() {
        "DELETE" => files::remove(&path)?,
        _ => files::write(&path, json::plain(&deployment["config"]).as_bytes(), 0o600)?,
    }
    Ok(report(deployment, None, &Caught::default()))
}

/// A tool that is no more.
pub(super) fn atomic(_: &Host, _: &Value) -> Result<Value> {
    Err(Problem::new("the group atomic is no longer carried out: use docker-cmd instead"))
}

fn map(deployment: &Value) -> Result<Value> {
    let config = match &deployment["config"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        config => config.clone(),
    };
    match config.is_object() {
        true => Ok(config),
        false => Err(Problem::new("the configuration is no map of containers")),
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
        let container =
            json!({"image": "nginx", "net": "host", "environment": ["A=1"], "command": ["x", "y"]});
        let arguments = run(&deployment, "web", &container).join(" ");
        assert_eq!(
            arguments,
            "run --name web-01234567 --label deploy_stack_id=s/1 --label deploy_resource_name= --label \
             config_id=0123-4567-89 --label container_name=web --label managed_by=docker-cmd --detach=true \
             --env=A=1 --net=host nginx x y"
        );
        let inside = json!({"action": "exec", "user": "root", "command": ["web", "nginx", "-t"]});
        assert_eq!(exec(&inside).join(" "), "exec --user=root web nginx -t");
    }
}
