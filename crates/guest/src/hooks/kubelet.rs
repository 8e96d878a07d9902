//! Pods that a kubelet watches for: their manifests, and waiting for what comes of them.

use super::{action, docker, id, report};
use crate::files;
use crate::host::Host;
use crate::json::{self, Style};
use crate::problem::{Problem, Result};
use crate::process::{self, Caught};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long images and containers are waited for, and how often it is looked, in seconds.
const IMAGES: (&str, u64) = ("images_timeout", 600);
const CONTAINERS: (&str, u64) = ("containers_timeout", 120);
const LOOK: (&str, u64) = ("poll_period", 5);

/// It is not looked more often.
const LEAST: Duration = Duration::from_millis(20);

/// Leaves the manifest of a pod where a kubelet looks for it, and waits for its containers; on DELETE it goes.
pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let folder = manifests(host);
    files::private_folder(&folder)?;
    let path = folder.join(format!("{}.json", id(deployment)?));
    if action(deployment) == "DELETE" {
        files::remove(&path)?;
        return Ok(report(deployment, None, &Caught::default()));
    }
    let text = match &deployment["config"] {
        Value::String(text) => text.clone(),
        config => json::print(config, Style::Indented(2)),
    };
    files::write(&path, text.as_bytes(), 0o600)?;
    let mut ran = Caught::default();
    if let Err(problem) = wait(host, deployment, &mut ran) {
        ran.status = 1;
        ran.err.push_str(&format!("{problem}\n"));
    }
    Ok(report(deployment, None, &ran))
}

/// Removes the manifests of pods that are deployed no more.
pub(super) fn sweep(host: &Host, current: &BTreeSet<&str>) {
    let folder = manifests(host);
    for name in files::names(&folder) {
        let id = name.strip_suffix(".json").filter(|id| !current.contains(id));
        let Some(id) = id else { continue };
        host.info(format!("nothing is deployed as {id} any more: its manifest goes"));
        if let Err(problem) = files::remove(&folder.join(&name)) {
            host.error(problem.to_string());
        }
    }
}

fn manifests(host: &Host) -> PathBuf {
    let usual = "/var/lib/heat-config/heat-config-kubelet/kubelet-manifests";
    host.path_of("HEAT_KUBELET_MANIFESTS", usual)
}

/// A pod, as far as one has to know it to wait for it.
struct Pod {
    /// What its name begins with, as the kubelet makes it of the deployment.
    part: String,
    /// Its own name, in newer manifests.
    name: Option<String>,
    images: Vec<String>,
    containers: Vec<String>,
}

impl Pod {
    /// The pod of a deployment; nothing if its manifest is no JSON.
    fn of(deployment: &Value) -> Option<Pod> {
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

    /// Whether a container that runs is one of the pod's: `k8s_NAME.12345678_POD…`, or `k8s_NAME_POD_…`.
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

fn wait(host: &Host, deployment: &Value, ran: &mut Caught) -> Result<()> {
    let Some(pod) = Pod::of(deployment) else {
        ran.out.push_str("The manifest is no JSON: its containers are not waited for.\n");
        return Ok(());
    };
    let seconds = |(name, usual): (&str, u64)| {
        deployment["options"].get(name).and_then(Value::as_u64).unwrap_or(usual)
    };
    let look = Duration::from_secs(seconds(LOOK)).max(LEAST);
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
    until(host, &images, ("images", &pod.images), is_there, (seconds(IMAGES), look), ran)?;
    let containers = ("containers", &pod.containers[..]);
    until(host, &running, containers, has, (seconds(CONTAINERS), look), ran)
}

/// Asks again and again until all that is wanted is there. What has no time is not waited for.
fn until(
    host: &Host,
    question: &[&str],
    (what, wanted): (&str, &[String]),
    is: impl Fn(&str, &str) -> bool,
    (seconds, look): (u64, Duration),
    ran: &mut Caught,
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
        let asked = process::caught(command.args(question), None, Some(limit))?;
        if asked.status == 0 {
            for known in asked.out.lines().map(str::trim) {
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
        if started.elapsed() + look > limit {
            let said = match asked.status {
                0 => String::new(),
                status => format!(
                    " ({} ended with {status}: {})",
                    docker::program(host),
                    asked.err.trim()
                ),
            };
            let missing = listed(&missing);
            return Err(Problem::new(format!(
                "Timed out after {seconds} seconds waiting for {what}: {missing}{said}"
            )));
        }
        std::thread::sleep(look);
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
        let pod = Pod::of(&deployment).unwrap();
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
