//! Ignition configurations, for images without Ignition: files, directories, links, users with their keys, units.
//!
//! Applying a configuration again is harmless, and nothing outside of the root is touched, not even through a
//! symlink. A step that fails is reported, and the others are applied.

mod contents;
mod plan;
mod units;

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::process;
use crate::users;
use plan::{FileTarget, Plan, Source, Step, User};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Component, Path, PathBuf};

/// The maximal depth of nested configurations, and their maximal number.
const MAX_DEPTH: usize = 5;
const MAX_CONFIGS: usize = 20;

/// Parses the configuration in user data, if it is one.
pub(crate) fn parse_config(text: &[u8]) -> Option<Value> {
    plan::parse_config(text)
}

/// Applies a configuration; returns the exit status.
pub(crate) fn apply(host: &Host, config: &Value) -> i32 {
    let mut remaining = MAX_CONFIGS;
    let failed = apply_one(host, config, MAX_DEPTH, &mut remaining);
    i32::from(failed > 0)
}

/// Applies one configuration; returns the number of failures.
fn apply_one(host: &Host, config: &Value, depth: usize, remaining: &mut usize) -> usize {
    let plan = match plan::plan(config) {
        Ok(plan) => plan,
        Err(error) => {
            host.error(error.to_string());
            return 1;
        }
    };
    for section in &plan.unsupported {
        host.warn(format!("Ignition: ignoring {section}, which is not supported"));
    }
    let others = plan.before.iter().chain(&plan.replacement);
    let mut failed: usize = others.map(|source| apply_other(host, source, depth, remaining)).sum();
    if plan.replacement.is_some() {
        return failed;
    }
    let Plan { steps, .. } = plan;
    for step in &steps {
        if let Err(error) = apply_step(host, step) {
            host.error(format!("Ignition: {error}"));
            failed += 1;
        }
    }
    let units = steps.iter().filter_map(|step| match step {
        Step::Unit(unit) => Some(unit),
        _ => None,
    });
    units::start(host, units);
    failed
}

/// Applies a configuration that another one refers to.
fn apply_other(host: &Host, source: &Source, depth: usize, remaining: &mut usize) -> usize {
    let read = match (depth.checked_sub(1), remaining.checked_sub(1)) {
        (Some(depth), Some(rest)) => {
            *remaining = rest;
            let text = contents::load(host, source);
            let config = text.and_then(|text| {
                plan::parse_config(&text).ok_or_else(|| {
                    GuestError::new("the referenced file is not an Ignition configuration")
                })
            });
            config.map(|config| apply_one(host, &config, depth, remaining))
        }
        _ => Err(GuestError::new("too many nested configurations")),
    };
    read.unwrap_or_else(|error| {
        host.error(format!("Ignition: {error}"));
        1
    })
}

fn apply_step(host: &Host, step: &Step) -> Result<()> {
    match step {
        Step::Group { name, gid, is_system } => {
            let mut flags: Vec<String> = gid.iter().map(|gid| format!("--gid={gid}")).collect();
            flags.extend(is_system.then(|| "--system".to_owned()));
            let is_there = users::group(host, name).is_some();
            if is_there { Ok(()) } else { administer(host, "groupadd", &flags, name) }
        }
        Step::User(user) => add_user(host, user),
        Step::Directory { file } => write_directory(host, file),
        Step::File { file, contents, more } => write_file(host, file, contents.as_ref(), more),
        Step::Link { file, target, is_hard } => write_link(host, file, target, *is_hard),
        Step::Unit(unit) => units::write(host, unit),
        Step::Network { name, text } => units::write_network(host, name, text),
    }
}

// --- paths ---

/// Resolves a path below the root: it must be absolute, without `..`, and no symlink on the way may leave the root.
fn resolve_path(host: &Host, path: &str) -> Result<PathBuf> {
    let requested = Path::new(path);
    let is_plain =
        requested.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    if !requested.is_absolute()
        || !is_plain
        || requested.file_name().is_none()
        || path.contains('\0')
    {
        return Err(GuestError::new(format!("{path:?} is not an absolute path of a file")));
    }
    // A path that already begins with the root is not accepted as such, because it is a path of the system.
    let below = host.path("/").join(requested.strip_prefix("/").unwrap_or(requested));
    let root = fs::canonicalize(host.path("/")).map_err(|error| GuestError::at(&below, error))?;
    let mut known = below.parent();
    while let Some(folder) = known {
        if let Ok(real) = fs::canonicalize(folder) {
            return if real.starts_with(&root) {
                Ok(below)
            } else {
                Err(GuestError::at(&below, "a symlink leads out of the root"))
            };
        }
        // A dangling symlink would be followed once its target exists.
        if folder.symlink_metadata().is_ok() {
            return Err(GuestError::at(folder, "this is a dangling symlink"));
        }
        known = folder.parent();
    }
    Err(GuestError::at(&below, "the root does not exist"))
}

/// Creates the parent directory of a path.
fn folder_of(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), |folder| files::folder(folder, 0o755))
}

/// Returns the numeric owner and group.
fn owner(host: &Host, file: &FileTarget) -> Result<Option<(Option<u32>, Option<u32>)>> {
    let unknown = |name: &String| GuestError::new(format!("{}: unknown owner {name:?}", file.path));
    let user = file.user.as_ref().map(|name| users::user(host, name).ok_or_else(|| unknown(name)));
    let group =
        file.group.as_ref().map(|name| users::group(host, name).ok_or_else(|| unknown(name)));
    let (user, group) = (user.transpose()?.map(|it| it.id), group.transpose()?);
    Ok((user.is_some() || group.is_some()).then_some((user, group)))
}

fn write_directory(host: &Host, file: &FileTarget) -> Result<()> {
    let path = resolve_path(host, &file.path)?;
    if path.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
        if file.may_overwrite {
            files::remove(&path)?
        } else {
            return Err(GuestError::at(&path, "exists and is not a directory"));
        }
    }
    files::folder(&path, 0o755)?;
    if let Some(mode) = file.mode {
        files::set_mode(&path, mode)?;
    }
    if let Some((user, group)) = owner(host, file)? {
        chown(&path, user, group).map_err(|error| GuestError::at(&path, error))?;
    }
    Ok(())
}

fn write_file(
    host: &Host,
    file: &FileTarget,
    contents: Option<&Source>,
    more: &[Source],
) -> Result<()> {
    let path = resolve_path(host, &file.path)?;
    let known = path.symlink_metadata().ok();
    let known_mode = known.as_ref().map(|it| it.permissions().mode() & 0o7777);
    let before = match known {
        Some(it) if it.is_file() => {
            Some(fs::read(&path).map_err(|error| GuestError::at(&path, error))?)
        }
        Some(_) if !file.may_overwrite => {
            return Err(GuestError::at(&path, "exists and is not a file"));
        }
        Some(it) if it.is_dir() => return Err(GuestError::at(&path, "is a directory")),
        _ => None,
    };
    let mut text = match contents {
        Some(source) => {
            let text = contents::load(host, source)?;
            // The additions of an earlier run follow the contents.
            let is_same = |before: &Vec<u8>| {
                if more.is_empty() { *before == text } else { before.starts_with(&text) }
            };
            let is_other = before.as_ref().is_some_and(|before| !is_same(before));
            if is_other && !file.may_overwrite {
                return Err(GuestError::at(&path, "exists, and overwrite is not set"));
            }
            text
        }
        None => before.unwrap_or_default(),
    };
    for source in more {
        let addition = contents::load(host, source)?;
        // An addition that is already present is not repeated.
        if !text.ends_with(&addition) {
            text.extend(addition);
        }
    }
    folder_of(&path)?;
    let mode = file.mode.or(known_mode.filter(|_| contents.is_none())).unwrap_or(0o644);
    files::write_owned(&path, &text, mode, owner(host, file)?)
}

fn write_link(host: &Host, file: &FileTarget, target: &str, is_hard: bool) -> Result<()> {
    let path = resolve_path(host, &file.path)?;
    let known = path.symlink_metadata().ok();
    if fs::read_link(&path).is_ok_and(|known| known == Path::new(target)) && !is_hard {
        return Ok(());
    }
    match known {
        Some(it) if it.is_dir() => return Err(GuestError::at(&path, "is a directory")),
        Some(_) if !file.may_overwrite => {
            return Err(GuestError::at(&path, "exists, and overwrite is not set"));
        }
        Some(_) => files::remove(&path)?,
        None => {}
    }
    folder_of(&path)?;
    let made = if is_hard {
        fs::hard_link(resolve_path(host, target)?, &path)
    } else {
        symlink(target, &path)
    };
    made.map_err(|error| GuestError::at(&path, error))
}

// --- users ---

fn add_user(host: &Host, user: &User) -> Result<()> {
    if users::home(host, &user.name).is_none() {
        administer(host, "useradd", &user.flags, &user.name)?;
    }
    if let Some(password) = &user.password {
        set_password(host, &user.name, password)?;
    }
    if user.keys.is_empty() {
        return Ok(());
    }
    let home = user.home.clone().or_else(|| users::home(host, &user.name));
    let home = home.unwrap_or_else(|| match user.name.as_str() {
        "root" => "/root".into(),
        name => format!("/home/{name}"),
    });
    let path = resolve_path(host, &format!("{}/.ssh/authorized_keys", home.trim_end_matches('/')))?;
    let known = files::read(&path)?.unwrap_or_default();
    let mut text = known.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for key in user.keys.iter().filter(|key| !known.lines().any(|line| line == *key)) {
        text.push_str(&format!("{key}\n"));
    }
    let owner = users::user(host, &user.name).map(|it| (Some(it.id), Some(it.group)));
    if let Some(folder) = path.parent() {
        folder_of(folder)?;
        files::private_folder(folder)?;
        if let Some((user, group)) = owner {
            chown(folder, user, group).map_err(|error| GuestError::at(folder, error))?;
        }
    }
    files::write_owned(&path, text.as_bytes(), 0o600, owner)
}

/// Runs a program that manages users. Under another root it is not run, because it would change the host.
fn administer(host: &Host, program: &str, flags: &[String], name: &str) -> Result<()> {
    if !host.is_system_root() {
        host.warn(format!(
            "Ignition: not running {program} {name}: the root is not that of the system"
        ));
        return Ok(());
    }
    let mut command = process::program(host, program);
    let output = process::capture(command.args(flags).arg("--").arg(name), None, None)?;
    match output.status {
        0 => Ok(()),
        status => Err(GuestError::new(format!(
            "{program} {name} exited with status {status}: {}",
            output.err.trim()
        ))),
    }
}

fn set_password(host: &Host, name: &str, hash: &str) -> Result<()> {
    if !host.is_system_root() {
        return Ok(());
    }
    if hash.contains(['\n', ':']) {
        return Err(GuestError::new(format!("the password of {name} is not a hash")));
    }
    // The hash is not an argument, because other users could read it.
    let line = format!("{name}:{hash}\n");
    let mut command = process::program(host, "chpasswd");
    let output = process::capture(command.arg("--encrypted"), Some(line.as_bytes()), None)?;
    match output.status {
        0 => Ok(()),
        status => Err(GuestError::new(format!("chpasswd for {name} exited with status {status}"))),
    }
}
