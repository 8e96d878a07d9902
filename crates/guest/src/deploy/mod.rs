//! heat-config: runs the deployments of a list, each once, and reports their results.
//!
//! Every state of a deployment is recorded before it is entered. An interrupted deployment is not run again, unless
//! its options allow that; it is reported as interrupted. A report that could not be sent is sent by the next run.

pub(crate) mod notify;
pub(crate) mod plan;

use crate::error::{GuestError, Result};
use crate::files;
use crate::hooks;
use crate::host::Host;
use crate::json::{self, Style};
use crate::process;
use notify::Delivery;
use plan::{Deployment, Planned};
use serde_json::Value;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Groups that other tools handle.
const OTHER_TOOLS: [&str; 2] = ["os-apply-config", "Heat::Ungrouped"];

/// Runs the tool: the deployments of the list in a file.
pub(crate) fn main(host: &Host) -> i32 {
    let list = host.path_of("HEAT_SHELL_CONFIG", "/var/run/heat-config/heat-config");
    let Some(text) = files::text(&list) else {
        host.error(format!("the list of deployments {} does not exist", list.display()));
        return 1;
    };
    if let Err(error) = files::set_mode(&list, 0o600) {
        host.warn(error.to_string());
    }
    let deployments: Value = serde_json::from_str(&text).unwrap_or_default();
    match run(host, &deployments, deployments.is_array()) {
        Ok(unsent) => i32::from(unsent > 0),
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Runs the tool that marks all known deployments as done, after the records were lost.
pub(crate) fn rebuild(host: &Host) -> i32 {
    let list = host.path_of("HEAT_SHELL_CONFIG", "/var/run/heat-config/heat-config");
    let text = files::text(&list).unwrap_or_default();
    let all: Value = serde_json::from_str(&text).unwrap_or_default();
    let noted = deployed_folder(host).and_then(|folder| {
        for deployment in all.as_array().into_iter().flatten() {
            let group = json::text(deployment, "group").unwrap_or(OTHER_TOOLS[1]);
            let id = json::text(deployment, "id").filter(|_| !OTHER_TOOLS.contains(&group));
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
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Runs a list of deployments. If the list is complete, the remains of other deployments are removed. Returns the
/// number of reports that could not be sent.
pub(crate) fn run(host: &Host, deployments: &Value, are_all: bool) -> Result<usize> {
    let folder = deployed_folder(host)?;
    let lock = folder.join(".lock");
    let opened =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock);
    let held = opened.and_then(|file| file.lock().map(|()| file));
    let _held = held.map_err(|error| GuestError::at(&lock, error))?;
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
        match Entry::new(&folder, &deployment).and_then(|entry| run_one(host, &entry, &deployment))
        {
            Ok(true) => {}
            Ok(false) => unsent += 1,
            Err(error) => {
                host.error(format!("deployment {}: {error}", deployment.id));
                unsent += 1;
            }
        }
    }
    Ok(unsent)
}

/// Returns the directory of the records.
fn deployed_folder(host: &Host) -> Result<PathBuf> {
    let folder = host.path_of("HEAT_CONFIG_DEPLOYED", "/var/lib/heat-config/deployed");
    let older = host.path_of("HEAT_CONFIG_DEPLOYED_OLD", "/var/run/heat-config/deployed");
    if !folder.exists() && older.is_dir() {
        if let Some(parent) = folder.parent() {
            files::folder(parent, 0o755)?;
        }
        if std::fs::rename(&older, &folder).is_err() {
            // The directory is on another file system, so the records are copied.
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

/// The record of a deployment.
struct Entry {
    /// The deployment; the file exists once it has begun.
    begun: PathBuf,
    /// The report of the result.
    report: PathBuf,
    /// The state of an unreported deployment: `running`, then `record_result`.
    pending: PathBuf,
}

impl Entry {
    fn new(folder: &Path, deployment: &Deployment) -> Result<Entry> {
        let id = &deployment.id;
        Ok(Entry {
            begun: files::inside(folder, &format!("{id}.json"))?,
            report: files::inside(folder, &format!("{id}.notify.json"))?,
            pending: files::inside(folder, &format!("{id}.pending"))?,
        })
    }
}

/// Runs or resumes a deployment. Returns whether its report was sent.
fn run_one(host: &Host, entry: &Entry, deployment: &Deployment) -> Result<bool> {
    let (id, group) = (&deployment.id, &deployment.group);
    let pending = files::text(&entry.pending);
    let report = match (entry.begun.exists(), pending.as_deref().map(str::trim)) {
        (true, None) => {
            host.debug(format!("deployment {id} is already done"));
            return Ok(true);
        }
        (true, Some("done")) => {
            let text = files::text(&entry.report).unwrap_or_default();
            serde_json::from_str(&text).unwrap_or_else(|_| plan::failure("The report was lost.\n"))
        }
        (true, Some(_)) if !json::is_true(deployment.whole["options"].get("rerun_on_crash")) => {
            host.error(format!("deployment {id} was interrupted"));
            record_result(entry, plan::failure("The deployment was interrupted.\n"))?
        }
        _ => {
            let Some(hook) = hook(host, &deployment.hook) else {
                if OTHER_TOOLS.contains(&group.as_str()) {
                    return Ok(true);
                }
                host.error(format!("no hook for group {group}"));
                record_start(entry, deployment)?;
                let report =
                    record_result(entry, plan::failure(&format!("no hook for group {group}\n")))?;
                return report_result(host, entry, deployment, report);
            };
            record_start(entry, deployment)?;
            host.info(format!("deployment {id} started, group {group}"));
            let report = run_hook(host, &hook, deployment);
            let status = report.get("deploy_status_code").map(json::plain).unwrap_or_default();
            host.info(format!("deployment {id} ended, status code {status:?}"));
            record_result(entry, report)?
        }
    };
    report_result(host, entry, deployment, report)
}

fn record_start(entry: &Entry, deployment: &Deployment) -> Result<()> {
    files::write(&entry.pending, b"running\n", 0o600)?;
    let text = json::print(&deployment.whole, Style::Indented(2));
    files::write(&entry.begun, text.as_bytes(), 0o600)
}

fn record_result(entry: &Entry, report: Value) -> Result<Value> {
    let text = json::print(&report, Style::Indented(2));
    files::write(&entry.report, text.as_bytes(), 0o600)?;
    files::write(&entry.pending, b"done\n", 0o600)?;
    Ok(report)
}

/// Sends a report. Returns whether nothing is left to send.
fn report_result(
    host: &Host,
    entry: &Entry,
    deployment: &Deployment,
    report: Value,
) -> Result<bool> {
    let other = host.variable("HEAT_CONFIG_NOTIFY");
    let sent = match other.filter(|it| !it.ends_with("heat-config-notify")) {
        Some(other) => report_by_program(host, other, entry, &report),
        None => notify::send(host, &deployment.whole, report),
    };
    match sent {
        Ok(Delivery::Accepted) => {}
        Ok(Delivery::Rejected(why)) => host.error(format!("deployment {}: {why}", deployment.id)),
        Err(error) => {
            host.error(format!("deployment {}: {error}", deployment.id));
            return Ok(false);
        }
    }
    files::remove(&entry.pending)?;
    Ok(true)
}

fn report_by_program(
    host: &Host,
    program: &str,
    entry: &Entry,
    report: &Value,
) -> Result<Delivery> {
    let mut command = process::program(host, program);
    let text = report.to_string();
    let output = process::capture(command.arg(&entry.begun), Some(text.as_bytes()), None)?;
    match output.status {
        0 => Ok(Delivery::Accepted),
        status => {
            Err(GuestError::new(format!("{program} exited with status {status}: {}", output.err)))
        }
    }
}

/// The hook for a group.
enum Hook {
    File(PathBuf),
    BuiltIn(hooks::Hook),
}

/// Finds a hook: a file of the image, or a built-in one.
fn hook(host: &Host, name: &str) -> Option<Hook> {
    let configured = host.variable("HEAT_CONFIG_HOOKS");
    let folders = ["/usr/libexec/heat-config/hooks", "/var/lib/heat-config/hooks"];
    let mut paths =
        configured.into_iter().chain(folders).map(|folder| host.path(folder).join(name));
    match paths.find(|path| !name.is_empty() && path.is_file()) {
        Some(path) => Some(Hook::File(path)),
        None => hooks::find(name).map(Hook::BuiltIn),
    }
}

fn run_hook(host: &Host, hook: &Hook, deployment: &Deployment) -> Value {
    let limit = deployment.whole["options"].get("timeout").and_then(Value::as_u64);
    match hook {
        Hook::BuiltIn(hook) => match hook(host, &deployment.whole) {
            Ok(report) => report,
            Err(error) => plan::failure(&format!("{error}\n")),
        },
        Hook::File(path) => {
            let mut command = process::program(host, &path.display().to_string());
            let text = deployment.whole.to_string();
            let limit = limit.map(Duration::from_secs);
            match process::capture(&mut command, Some(text.as_bytes()), limit) {
                Ok(output) => plan::signal_of(output.status, &output.out, &output.err),
                Err(error) => plan::failure(&format!("{error}\n")),
            }
        }
    }
}
