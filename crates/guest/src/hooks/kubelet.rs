//! Pods for a standalone kubelet: their manifests, and waiting for their containers.

use super::{action, docker, id, report};
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::json::{self, Style};
use crate::process::{self, Captured};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The limits for images and containers and the interval of the checks, in seconds.
const IMAGES: (&str, u64) = ("images_timeout", 600);
const CONTAINERS: (&str, u64) = ("containers_timeout", 120);
const POLL: (&str, u64) = ("poll_period", 5);

/// The minimal interval.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Writes the manifest of a pod for the kubelet and waits for its containers; on DELETE it is removed.
pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let folder = manifests(host);
    files::private_folder(&folder)?;
    let path = folder.join(format!("{}.json", id(deployment)?));
    if action(deployment) == "DELETE" {
        files::remove(&path)?;
        return Ok(report(deployment, None, &Captured::default()));
    }
    let text = match &deployment["config"] {
        Value::String(text) => text.clone(),
        config => json::print(config, Style::Indented(2)),
    };
    files::write(&path, text.as_bytes(), 0o600)?;
    let mut ran = Captured::default();
    if let Err(error) = wait(host, deployment, &mut ran) {
        ran.status = 1;
        ran.err.push_str(&format!("{error}\n"));
    }
    Ok(report(deployment, None, &ran))
}

/// Removes the manifests of pods that are no longer deployed.
pub(super) fn sweep(host: &Host, current: &BTreeSet<&str>) {
    let folder = manifests(host);
    for name in files::names(&folder) {
        let id = name.strip_suffix(".json").filter(|id| !current.contains(id));
        let Some(id) = id else { continue };
        host.info(format!("{id} is no longer deployed: removing its manifest"));
        if let Err(error) = files::remove(&folder.join(&name)) {
            host.error(error.to_string());
        }
    }
}

fn manifests(host: &Host) -> PathBuf {
    let default = "/var/lib/heat-config/heat-config-kubelet/kubelet-manifests";
    host.path_of("HEAT_KUBELET_MANIFESTS", default)
}

/// The parts of a pod that are needed to wait for it.
struct Pod {
    /// The prefix of its name, which the kubelet derives from the deployment.
    part: String,
    /// The name in newer manifests.
    name: Option<String>,
    images: Vec<String>,
    containers: Vec<String>,
}

impl Pod {
    /// Parses the pod of a deployment; `None` if its manifest is not JSON.
    fn parse(deployment: &Value) -> Option<Pod> {
        let config: Value = match &deployment["config"] {
            Value::String(text) => serde_json::from_str(text).ok()?,
            config => config.clone(),
        };
        let all = config["containers"].as_array().or(config["spec"]["containers"].as_array());
        let texts = |key: &str| {
            let all = all.into_iter().flatten().filter_map(|it| json::text(it, key));
            all.map(str::to_owned).collect()
        };
        let id = json::text(deployment, "id").unwrap_or_default();
        Some(Pod {
            part: id.chars().filter(|it| *it != '-').take(15).collect(),
            name: json::text(&config["metadata"], "name").map(str::to_owned),
            images: texts("image"),
            containers: texts("name"),
        })
    }

    /// Reports whether a running container belongs to the pod: `k8s_NAME.12345678_POD…` or `k8s_NAME_POD_…`.
    fn has(&self, container: &str, running: &str) -> bool {
        let rest = running.trim_start_matches('/').strip_prefix("k8s_");
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(container)) else { return false };
        if let Some(rest) = rest.strip_prefix('.') {
            let (hash, rest) = rest.split_at_checked(8).unwrap_or_default();
            let is_hash = hash.bytes().all(|it| it.is_ascii_digit() || it.is_ascii_lowercase());
            return is_hash && rest.strip_prefix('_').is_some_and(|it| it.starts_with(&self.part));
        }
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        let rest = rest.strip_prefix('_');
        rest.zip(name).is_some_and(|(rest, name)| rest.starts_with(name))
    }
}

fn wait(host: &Host, deployment: &Value, ran: &mut Captured) -> Result<()> {
    let Some(pod) = Pod::parse(deployment) else {
        ran.out.push_str("The manifest is no JSON: its containers are not waited for.\n");
        return Ok(());
    };
    let seconds = |(name, default): (&str, u64)| {
        deployment["options"].get(name).and_then(Value::as_u64).unwrap_or(default)
    };
    let interval = Duration::from_secs(seconds(POLL)).max(MIN_POLL_INTERVAL);
    let is_there = |image: &str, known: &str| {
        if image.contains(':') {
            known.starts_with(image)
        } else {
            known.strip_prefix(image).is_some_and(|rest| rest.starts_with(':'))
        }
    };
    let images = ["images", "--format", "{{.Repository}}:{{.Tag}}"];
    let running = ["ps", "--format", "{{.Names}}"];
    let has = |container: &str, running: &str| pod.has(container, running);
    wait_until(host, &images, ("images", &pod.images), is_there, (seconds(IMAGES), interval), ran)?;
    let containers = ("containers", &pod.containers[..]);
    wait_until(host, &running, containers, has, (seconds(CONTAINERS), interval), ran)
}

/// Repeats a query until all wanted names are present. With a limit of zero it does not wait.
fn wait_until(
    host: &Host,
    question: &[&str],
    (what, wanted): (&str, &[String]),
    is: impl Fn(&str, &str) -> bool,
    (seconds, interval): (u64, Duration),
    ran: &mut Captured,
) -> Result<()> {
    let mut missing: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    let listed = |all: &BTreeSet<&str>| all.iter().copied().collect::<Vec<_>>().join(", ");
    if missing.is_empty() || seconds == 0 {
        return Ok(());
    }
    ran.out.push_str(&format!("Waiting for {what}: {}\n", listed(&missing)));
    let started = Instant::now();
    let limit = Duration::from_secs(seconds);
    loop {
        let mut command = process::program(host, docker::program(host));
        let output = process::capture(command.args(question), None, Some(limit))?;
        if output.status == 0 {
            for known in output.out.lines().map(str::trim) {
                missing.retain(|wanted| {
                    let is_it = is(wanted, known);
                    if is_it {
                        ran.out.push_str(&format!("Found {known}\n"));
                    }
                    !is_it
                });
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        if started.elapsed().saturating_add(interval) > limit {
            let reason = match output.status {
                0 => String::new(),
                status => format!(
                    " ({} exited with status {status}: {})",
                    docker::program(host),
                    output.err.trim()
                ),
            };
            let missing = listed(&missing);
            return Err(GuestError::new(format!(
                "Timed out after {seconds} seconds waiting for {what}: {missing}{reason}"
            )));
        }
        std::thread::sleep(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containers_are_known_by_older_and_newer_names() {
        let deployment = json!({"id": "12345678-9abc-def0-1234", "config": {"metadata": {"name": "pod"},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]}}});
        let pod = Pod::parse(&deployment).unwrap();
        assert_eq!(
            (pod.part.as_str(), &*pod.images),
            ("123456789abcdef", &["nginx".to_owned()][..])
        );
        for name in ["/k8s_web.a1b2c3d4_123456789abcdef.host_x", "k8s_web_pod-node_default_1_0"] {
            assert!(pod.has("web", name), "{name}");
        }
        for name in [
            "k8s_web.a1b2c3d4_999",
            "k8s_web.short_123456789abcdef",
            "k8s_web.éééé_",
            "k8s_website_pod",
            "k8s_POD_pod-node",
            "web",
        ] {
            assert!(!pod.has("web", name), "{name}");
        }
    }
}
