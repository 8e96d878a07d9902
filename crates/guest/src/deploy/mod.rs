//! heat-config: carries out the deployments of a list, each once, and tells how they went.
//!
//! What happens to a deployment is written down before it happens. One that was interrupted is not run again,
//! unless its options allow that: it is reported as interrupted. A report that could not be sent is sent by the next run.

pub(crate) mod notify;
pub(crate) mod plan;

use crate::files;
use crate::hooks;
use crate::host::Host;
use crate::json::{self, Style};
use crate::problem::{Problem, Result};
use crate::process;
use notify::Sent;
use plan::{Deployment, Planned};
use serde_json::Value;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Groups that others take care of.
const ELSEWHERE: [&str; 2] = ["os-apply-config", "Heat::Ungrouped"];

/// The tool: carries out what the list in a file says.
pub(crate) fn main(host: &Host) -> i32 {
    let list = host.path_of("HEAT_SHELL_CONFIG", "/var/run/heat-config/heat-config");
    let Some(text) = files::text(&list) else {
        host.error(format!("there is no list of deployments {}", list.display()));
        return 1;
    };
    if let Err(problem) = files::set_mode(&list, 0o600) {
        host.warn(problem.to_string());
    }
    let deployments: Value = serde_json::from_str(&text).unwrap_or_default();
    match run(host, &deployments, deployments.is_array()) {
        Ok(unsent) => i32::from(unsent > 0),
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// The tool that notes all known deployments as carried out, after what was noted got lost.
pub(crate) fn rebuild(host: &Host) -> i32 {
    let list = host.path_of("HEAT_SHELL_CONFIG", "/var/run/heat-config/heat-config");
    let text = files::text(&list).unwrap_or_default();
    let all: Value = serde_json::from_str(&text).unwrap_or_default();
    let noted = deployed_folder(host).and_then(|folder| {
        for deployment in all.as_array().into_iter().flatten() {
            let group = json::text(deployment, "group").unwrap_or(ELSEWHERE[1]);
            let id = json::text(deployment, "id").filter(|_| !ELSEWHERE.contains(&group));
            let Some(id) = id else { continue };
            let path = files::inside(&folder, &format!("{id}.json"))?;
            if !path.exists() {
                files::write(&path, b"", 0o600)?;
            }
        }
        Ok(())
    });
    match noted {
        Ok(()) => 0,
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// Carries out a list of deployments; if it is certain that there are no others, what others left is removed.
/// Gives how many reports could not be sent.
pub(crate) fn run(host: &Host, deployments: &Value, are_all: bool) -> Result<usize> {
    let folder = deployed_folder(host)?;
    let lock = folder.join(".lock");
    let opened =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock);
    let held = opened.and_then(|file| file.lock().map(|()| file));
    let _held = held.map_err(|error| Problem::at(&lock, error))?;
    let mut unsent = 0;
    let mut current = Vec::new();
    for description in deployments.as_array().into_iter().flatten() {
        match plan::read(description) {
            Planned::Run(deployment) => current.push(deployment),
            Planned::Skip(why) => host.warn(why),
        }
    }
    if are_all {
        hooks::sweep(host, &current);
    }
    for deployment in current {
        match Entry::of(&folder, &deployment).and_then(|entry| one(host, &entry, &deployment)) {
            Ok(true) => {}
            Ok(false) => unsent += 1,
            Err(problem) => {
                host.error(format!("deployment {}: {problem}", deployment.id));
                unsent += 1;
            }
        }
    }
    Ok(unsent)
}

/// Where it is noted what was carried out.
fn deployed_folder(host: &Host) -> Result<PathBuf> {
    let folder = host.path_of("HEAT_CONFIG_DEPLOYED", "/var/lib/heat-config/deployed");
    let older = host.path_of("HEAT_CONFIG_DEPLOYED_OLD", "/var/run/heat-config/deployed");
    if !folder.exists() && older.is_dir() {
        if let Some(parent) = folder.parent() {
            files::folder(parent, 0o755)?;
        }
        if std::fs::rename(&older, &folder).is_err() {
            // Another file system: what was noted is copied.
            files::private_folder(&folder)?;
            for name in files::names(&older) {
                let text = files::text(&older.join(&name)).unwrap_or_default();
                files::write(&folder.join(&name), text.as_bytes(), 0o600)?;
            }
        }
    }
    files::private_folder(&folder)?;
    Ok(folder)
}

/// What is noted of a deployment.
struct Entry {
    /// The deployment: whoever has this was begun.
    begun: PathBuf,
    /// What it is reported to have come to.
    report: PathBuf,
    /// There as long as it was not reported: `running`, then `done`.
    pending: PathBuf,
}

impl Entry {
    fn of(folder: &Path, deployment: &Deployment) -> Result<Entry> {
        let id = &deployment.id;
        Ok(Entry {
            begun: files::inside(folder, &format!("{id}.json"))?,
            report: files::inside(folder, &format!("{id}.notify.json"))?,
            pending: files::inside(folder, &format!("{id}.pending"))?,
        })
    }
}

/// Carries out one deployment, or goes on with it. Gives whether its report was sent.
fn one(host: &Host, entry: &Entry, deployment: &Deployment) -> Result<bool> {
    let (id, group) = (&deployment.id, &deployment.group);
    let pending = files::text(&entry.pending);
    let report = match (entry.begun.exists(), pending.as_deref().map(str::trim)) {
        (true, None) => {
            host.debug(format!("deployment {id} was carried out before"));
            return Ok(true);
        }
        (true, Some("done")) => {
            let text = files::text(&entry.report).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_else(|_| plan::failure("its report got lost"))
        }
        (true, Some(_)) if !json::is_true(deployment.whole["options"].get("rerun_on_crash")) => {
            host.error(format!("deployment {id} was interrupted"));
            done(entry, plan::failure("The deployment was interrupted.\n"))?
        }
        _ => {
            let Some(hook) = hook(host, &deployment.hook) else {
                if ELSEWHERE.contains(&group.as_str()) {
                    return Ok(true);
                }
                host.error(format!("there is no hook for group {group}"));
                begin(entry, deployment)?;
                let report = done(entry, plan::failure(&format!("no hook for group {group}\n")))?;
                return told(host, entry, deployment, report);
            };
            begin(entry, deployment)?;
            host.info(format!("deployment {id} begins, group {group}"));
            let report = carry_out(host, &hook, deployment);
            let status = report.get("deploy_status_code").map(json::plain).unwrap_or_default();
            host.info(format!("deployment {id} ended, status code {status:?}"));
            done(entry, report)?
        }
    };
    told(host, entry, deployment, report)
}

fn begin(entry: &Entry, deployment: &Deployment) -> Result<()> {
    files::write(&entry.pending, b"running\n", 0o600)?;
    let text = json::print(&deployment.whole, Style::Indented(2));
    files::write(&entry.begun, text.as_bytes(), 0o600)
}

fn done(entry: &Entry, report: Value) -> Result<Value> {
    let text = json::print(&report, Style::Indented(2));
    files::write(&entry.report, text.as_bytes(), 0o600)?;
    files::write(&entry.pending, b"done\n", 0o600)?;
    Ok(report)
}

/// Sends a report. Gives whether there is nothing left to send.
fn told(host: &Host, entry: &Entry, deployment: &Deployment, report: Value) -> Result<bool> {
    let other = host.variable("HEAT_CONFIG_NOTIFY");
    let sent = match other.filter(|it| !it.ends_with("heat-config-notify")) {
        Some(other) => told_by(host, other, entry, &report),
        None => notify::send(host, &deployment.whole, report),
    };
    match sent {
        Ok(Sent::Taken) => {}
        Ok(Sent::Refused(why)) => host.error(format!("deployment {}: {why}", deployment.id)),
        Err(problem) => {
            host.error(format!("deployment {}: {problem}", deployment.id));
            return Ok(false);
        }
    }
    files::remove(&entry.pending)?;
    Ok(true)
}

fn told_by(host: &Host, program: &str, entry: &Entry, report: &Value) -> Result<Sent> {
    let mut command = process::program(host, program);
    let text = report.to_string();
    let caught = process::caught(command.arg(&entry.begun), Some(text.as_bytes()), None)?;
    match caught.status {
        0 => Ok(Sent::Taken),
        status => Err(Problem::new(format!("{program} ended with {status}: {}", caught.err))),
    }
}

/// What carries deployments of a group out.
enum Hook {
    File(PathBuf),
    Ours(hooks::Hook),
}

/// A file of the image, or one of ours.
fn hook(host: &Host, name: &str) -> Option<Hook> {
    let told = host.variable("HEAT_CONFIG_HOOKS");
    let folders = ["/usr/libexec/heat-config/hooks", "/var/lib/heat-config/hooks"];
    let mut paths = told.into_iter().chain(folders).map(|folder| host.path(folder).join(name));
    match paths.find(|path| !name.is_empty() && path.is_file()) {
        Some(path) => Some(Hook::File(path)),
        None => hooks::find(name).map(Hook::Ours),
    }
}

fn carry_out(host: &Host, hook: &Hook, deployment: &Deployment) -> Value {
    let limit = deployment.whole["options"].get("timeout").and_then(Value::as_u64);
    match hook {
        Hook::Ours(hook) => match hook(host, &deployment.whole) {
            Ok(report) => report,
            Err(problem) => plan::failure(&format!("{problem}\n")),
        },
        Hook::File(path) => {
            let mut command = process::program(host, &path.display().to_string());
            let text = deployment.whole.to_string();
            let limit = limit.map(Duration::from_secs);
            match process::caught(&mut command, Some(text.as_bytes()), limit) {
                Ok(caught) => plan::signal_of(caught.status, &caught.out, &caught.err),
                Err(problem) => plan::failure(&format!("{problem}\n")),
            }
        }
    }
}
