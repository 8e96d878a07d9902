//! cfn-init: configures a server according to the metadata of its resource.

mod packages;
mod plan;
mod services;

pub(crate) use plan::{Step, services as planned_services};
pub(crate) use services::ensure as ensure_service;

use super::metadata::{self, MetadataQuery};
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::http::{FailureKind, Http, Request};
use crate::options::{Args, Flag, value};
use crate::process;
use crate::unpack::{self, Format, Limits, UnpackError};
use crate::users;
use plan::{CommandStep, Content, FileStep, Run};
use std::process::Command;

pub(crate) const FLAGS: &[Flag] = &[
    value("stack", Some('s'), "The stack."),
    value("resource", Some('r'), "The resource."),
    value("access-key", None, "The access key."),
    value("secret-key", None, "The secret of the access key."),
    value("credential-file", Some('f'), "A file with the access key and its secret."),
    value("region", None, "Accepted for compatibility and ignored."),
    value("configsets", Some('c'), "The configSets, separated by commas."),
];

/// The time limit for the download of an archive.
const DOWNLOAD_SECONDS: u64 = 3600;

/// Runs the tool.
pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let wanted = MetadataQuery {
        stack: args.get("stack"),
        resource: args.get("resource"),
        key: metadata::key(host, args),
    };
    let sets: Vec<&str> = args.get("configsets").map_or(Vec::new(), |text| {
        text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()
    });
    let applied = metadata::find(host, &wanted)
        .and_then(|found| plan::plan(&found.metadata, &sets))
        .and_then(|steps| steps.iter().try_for_each(|step| apply(host, step)));
    match applied {
        Ok(()) => 0,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Carries out a step.
fn apply(host: &Host, step: &Step) -> Result<()> {
    match step {
        Step::Packages { manager, packages } => packages::install(host, manager, packages),
        Step::Source { folder, url } => source(host, folder, url),
        Step::Group { name, gid } => {
            let mut command = process::program(host, "groupadd");
            command.arg(name);
            command.args(gid.iter().flat_map(|gid| ["--gid", gid.as_str()]));
            only_logged(host, &mut command)
        }
        Step::User { name, uid, home, groups } => {
            let mut command = process::program(host, "useradd");
            command.arg(name);
            command.args(uid.iter().flat_map(|uid| ["--uid", uid.as_str()]));
            command.args(home.iter().flat_map(|home| ["--home", home.as_str()]));
            if !groups.is_empty() {
                command.args(["--groups", &groups.join(",")]);
            }
            only_logged(host, command.args(["--shell", "/sbin/nologin"]))
        }
        Step::File(file) => write(host, file),
        Step::Command(command) => run(host, command),
        Step::Service { name, enabled, running } => {
            services::ensure(host, name, *enabled, *running).map(drop)
        }
    }
}

/// Runs a program whose failure is only logged.
fn only_logged(host: &Host, command: &mut Command) -> Result<()> {
    let name = command.get_program().display().to_string();
    match process::capture(command, None, None) {
        Ok(output) if output.status == 0 => host.debug(format!("{name}: done")),
        Ok(output) => {
            host.warn(format!("{name} exited with status {}: {}", output.status, output.err.trim()))
        }
        Err(error) => host.warn(error.to_string()),
    }
    Ok(())
}

/// Downloads an archive and unpacks it. As with heat-cfntools, an archive that cannot be had or is damaged is only
/// logged; one that exceeds the limits is an error.
fn source(host: &Host, folder: &str, url: &str) -> Result<()> {
    let Some(format) = Format::of(url) else {
        host.warn(format!("{url} is not a known archive format"));
        return Ok(());
    };
    let limits = Limits::of(host)?;
    let folder = host.path(folder);
    files::folder(&folder, 0o755)?;
    let mut archive = files::nameless(&folder)?;
    let request = Request::new("GET", url).with_timeout(DOWNLOAD_SECONDS);
    let reply = Http::new(host).download(host, &request, &mut archive, limits.bytes);
    match reply {
        Ok(reply) if reply.is_good() => {}
        Ok(reply) => {
            host.warn(format!("{url} returned status {}", reply.status));
            return Ok(());
        }
        Err(failed) if failed.kind == FailureKind::TooLarge => {
            return Err(GuestError::new(format!(
                "{failed}; KILN_GUEST_UNPACK_BYTES sets the limit"
            )));
        }
        Err(failed) => {
            host.warn(failed.to_string());
            return Ok(());
        }
    }
    let name = url.split(['?', '#']).next().unwrap_or(url).rsplit('/').next().unwrap_or("source");
    let failed = |why: &dyn std::fmt::Display| format!("{url} cannot be unpacked: {why}");
    match unpack::unpack(host, (format, name), &mut archive, &folder, limits) {
        Ok(()) => {}
        Err(UnpackError::OverLimit(error)) => return Err(GuestError::new(failed(&error))),
        Err(UnpackError::Failed(error)) => host.warn(failed(&error)),
        Err(UnpackError::Refused(why)) => host.warn(failed(&why)),
    }
    Ok(())
}

fn fetch(host: &Host, url: &str) -> Result<Vec<u8>> {
    let reply =
        Http::new(host).send_with_retries(host, &Request::new("GET", url).with_timeout(300));
    let reply = reply.map_err(|failed| GuestError::new(failed.to_string()))?;
    if reply.is_good() {
        Ok(reply.body)
    } else {
        Err(GuestError::new(format!("{url} returned status {}", reply.status)))
    }
}

fn write(host: &Host, file: &FileStep) -> Result<()> {
    let path = host.path(&file.path);
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    let content = match &file.content {
        Content::Text(text) => text.clone().into_bytes(),
        Content::At(url) => fetch(host, url)?,
    };
    // An unknown owner is ignored.
    let user = file.owner.as_ref().and_then(|name| users::user(host, name)).map(|it| it.id);
    let group = file.group.as_ref().and_then(|name| users::group(host, name));
    host.debug(format!("writing {}", path.display()));
    let owner = (user.is_some() || group.is_some()).then_some((user, group));
    let written = files::write_owned(&path, &content, file.mode.unwrap_or(0o644), owner);
    match written {
        Err(error) if owner.is_some() && !is_root() => {
            host.warn(format!("{error}; the owner is not changed"));
            files::write(&path, &content, file.mode.unwrap_or(0o644))
        }
        written => written,
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn run(host: &Host, step: &CommandStep) -> Result<()> {
    let folder = step.folder.as_ref().map(|folder| host.path(folder));
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        host.error(format!("{}: {} does not exist", step.label, folder.display()));
        return Ok(());
    }
    let prepared = |mut command: Command| {
        if let Some(variables) = &step.environment {
            command.env_clear().envs(variables.iter().cloned());
        }
        if let Some(folder) = &folder {
            command.current_dir(folder);
        }
        command
    };
    if let Some(test) = &step.test {
        let output = process::capture(&mut prepared(process::shell(host, test)), None, None)?;
        if output.status != 0 {
            host.info(format!(
                "{}: skipped, its test exited with status {}",
                step.label, output.status
            ));
            return Ok(());
        }
    }
    let command = match &step.run {
        Run::Shell(text) => process::shell(host, text),
        Run::Program(words) => {
            let mut command = process::program(host, words.first().map_or("", String::as_str));
            command.args(words.iter().skip(1));
            command
        }
    };
    let ended = process::capture(&mut prepared(command), None, None);
    let why = match ended {
        Ok(output) if output.status == 0 => {
            host.debug(format!("{}: {}", step.label, output.out.trim()));
            return Ok(());
        }
        Ok(output) => format!("exited with status {}: {}", output.status, output.err.trim()),
        Err(error) => error.to_string(),
    };
    if step.may_fail {
        host.warn(format!("{}: {why}", step.label));
        Ok(())
    } else {
        Err(GuestError::new(format!("command {}: {why}", step.label)))
    }
}
