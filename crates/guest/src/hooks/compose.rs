//! Docker Compose projects.

use super::{action, folder, id, limit, report};
use crate::deploy::plan;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::process::{self, Captured};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const WORKING: (&str, &str) =
    ("HEAT_DOCKER_COMPOSE_WORKING", "/var/lib/heat-config/heat-config-docker-compose");
const FILE: &str = "docker-compose.yml";

/// The time limit for stopping a project.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Starts a project; on DELETE it is stopped.
pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    // JSON is YAML, so a map needs no conversion.
    let text = json::plain(&deployment["config"]);
    if text.trim().is_empty() {
        return Ok(report(deployment, None, &Captured::default()));
    }
    let name = json::text(deployment, "name").map_or(id(deployment)?, |name| name);
    let project = files::inside(&folder(host, WORKING.0, WORKING.1)?, name)?;
    files::private_folder(&project)?;
    files::write(&project.join(FILE), text.as_bytes(), 0o600)?;
    let env_files = plan::input(deployment, "env_files").unwrap_or_default();
    let env_files: Value = serde_json::from_str(&env_files).unwrap_or_default();
    for file in env_files.as_array().into_iter().flatten() {
        let Some(name) = json::text(file, "file_name") else { continue };
        let path = files::inside(&project, name.trim_start_matches("./"))?;
        files::write(&path, json::plain(&file["content"]).as_bytes(), 0o600)?;
    }
    let mut command = program(host, &project);
    match action(deployment).as_str() {
        "DELETE" => command.arg("down"),
        _ => command.args(["up", "-d", "--no-build"]),
    };
    let ran = process::capture(&mut command, None, limit(deployment))?;
    if action(deployment) == "DELETE" && ran.status == 0 {
        files::remove(&project.join(FILE))?;
    }
    Ok(report(deployment, None, &ran))
}

/// Stops the projects that are no longer deployed.
pub(super) fn sweep(host: &Host, current: &BTreeSet<&str>) {
    let working = host.path_of(WORKING.0, WORKING.1);
    for name in files::names(&working).iter().filter(|name| !current.contains(name.as_str())) {
        let project = working.join(name);
        if !project.join(FILE).is_file() {
            continue;
        }
        host.info(format!("{name} is no longer deployed: stopping its containers"));
        let ended = process::capture(program(host, &project).arg("kill"), None, Some(TIMEOUT));
        let ended = ended.and_then(|output| match output.status {
            0 => files::remove(&project.join(FILE)),
            status => Err(crate::error::GuestError::at(
                &project,
                format!("stopping failed and will be retried: {status}, {}", output.err.trim()),
            )),
        });
        if let Err(error) = ended {
            host.error(error.to_string());
        }
    }
}

/// Returns the compose program: the one that a variable names, the older program if it exists, or the subcommand of
/// the newer one.
fn program(host: &Host, project: &Path) -> Command {
    let is_older = || {
        let child_environment = host.child_environment();
        let path = child_environment.get("PATH").map_or("", String::as_str);
        path.split(':')
            .any(|folder| files::is_executable(&Path::new(folder).join("docker-compose")))
    };
    let configured = host.variable("HEAT_DOCKER_COMPOSE_CMD");
    let configured =
        configured.unwrap_or_else(|| if is_older() { "docker-compose" } else { "docker compose" });
    let mut words = configured.split_whitespace();
    let mut command = process::program(host, words.next().unwrap_or("docker"));
    command.args(words).current_dir(project);
    command
}
