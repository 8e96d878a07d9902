//! Ignition's configurations, for images without Ignition: files, directories, links, users with their keys, units.
//!
//! What is asked for is done once more each time without harm, and nothing of it outside of the root: also not
//! by way of a link that leads out of it. What cannot be done is said, and the rest is done.

mod contents;
mod plan;
mod units;

use crate::files;
use crate::host::Host;
use crate::problem::{Problem, Result};
use crate::process;
use crate::users;
use plan::{At, Plan, Source, Step, User};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Component, Path, PathBuf};

/// How deep configurations may name others, and how many there may be in all.
const DEPTH: usize = 5;
const CONFIGS: usize = 20;

/// The configuration in user data, if it is one.
pub(crate) fn recognise(text: &[u8]) -> Option<Value> {
    plan::recognise(text)
}

/// Does what a configuration asks for; gives an exit status.
pub(crate) fn apply(host: &Host, config: &Value) -> i32 {
    let mut left = CONFIGS;
    let failed = apply_one(host, config, DEPTH, &mut left);
    i32::from(failed > 0)
}

/// Gives how much could not be done.
fn apply_one(host: &Host, config: &Value, depth: usize, left: &mut usize) -> usize {
    let plan = match plan::read(config) {
        Ok(plan) => plan,
        Err(problem) => {
            host.error(problem.to_string());
            return 1;
        }
    };
    for section in &plan.passed_over {
        host.warn(format!("Ignition: {section} is passed over: nothing of that is done here"));
    }
    let others = plan.before.iter().chain(&plan.instead);
    let mut failed: usize = others.map(|source| apply_other(host, source, depth, left)).sum();
    if plan.instead.is_some() {
        return failed;
    }
    let Plan { steps, .. } = plan;
    for step in &steps {
        if let Err(problem) = carry_out(host, step) {
            host.error(format!("Ignition: {problem}"));
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

/// Applies a configuration that another names.
fn apply_other(host: &Host, source: &Source, depth: usize, left: &mut usize) -> usize {
    let read = match (depth.checked_sub(1), left.checked_sub(1)) {
        (Some(depth), Some(fewer)) => {
            *left = fewer;
            let text = contents::of(host, source);
            let config = text.and_then(|text| {
                plan::recognise(&text).ok_or_else(|| Problem::new("what is named is no Ignition"))
            });
            config.map(|config| apply_one(host, &config, depth, left))
        }
        _ => Err(Problem::new("too many configurations name others")),
    };
    read.unwrap_or_else(|problem| {
        host.error(format!("Ignition: {problem}"));
        1
    })
}

fn carry_out(host: &Host, step: &Step) -> Result<()> {
    match step {
        Step::Group { name, gid, is_system } => {
            let mut flags: Vec<String> = gid.iter().map(|gid| format!("--gid={gid}")).collect();
            flags.extend(is_system.then(|| "--system".to_owned()));
            let is_there = users::group(host, name).is_some();
            if is_there { Ok(()) } else { administer(host, "groupadd", &flags, name) }
        }
        Step::User(user) => add_user(host, user),
        Step::Directory { at } => directory(host, at),
        Step::File { at, contents, more } => file(host, at, contents.as_ref(), more),
        Step::Link { at, target, is_hard } => link(host, at, target, *is_hard),
        Step::Unit(unit) => units::write(host, unit),
        Step::Network { name, text } => units::write_network(host, name, text),
    }
}

// --- places ---

/// A place below the root: a whole path without a way up, and no link on the way that leads out.
fn place(host: &Host, path: &str) -> Result<PathBuf> {
    let told = Path::new(path);
    let is_plain =
        told.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    if !told.is_absolute() || !is_plain || told.file_name().is_none() || path.contains('\0') {
        return Err(Problem::new(format!("{path:?} is no whole path of something")));
    }
    // Never what is below the root already: that would be a path of the system.
    let below = host.path("/").join(told.strip_prefix("/").unwrap_or(told));
    let root = fs::canonicalize(host.path("/")).map_err(|error| Problem::at(&below, error))?;
    let mut known = below.parent();
    while let Some(folder) = known {
        if let Ok(real) = fs::canonicalize(folder) {
            return if real.starts_with(&root) {
                Ok(below)
            } else {
                Err(Problem::at(&below, "a link leads out of the root"))
            };
        }
        // A link that leads nowhere would be followed once there is something.
        if folder.symlink_metadata().is_ok() {
            return Err(Problem::at(folder, "it is a link that leads nowhere"));
        }
        known = folder.parent();
    }
    Err(Problem::at(&below, "the root is not there"))
}

/// The folder that a place is in, made if it is not there.
fn folder_of(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), |folder| files::folder(folder, 0o755))
}

/// Whose something is, by numbers.
fn owner(host: &Host, at: &At) -> Result<Option<(Option<u32>, Option<u32>)>> {
    let unknown = |name: &String| Problem::new(format!("{}: there is no {name:?}", at.path));
    let user = at.user.as_ref().map(|name| users::user(host, name).ok_or_else(|| unknown(name)));
    let group = at.group.as_ref().map(|name| users::group(host, name).ok_or_else(|| unknown(name)));
    let (user, group) = (user.transpose()?.map(|it| it.id), group.transpose()?);
    Ok((user.is_some() || group.is_some()).then_some((user, group)))
}

fn directory(host: &Host, at: &At) -> Result<()> {
    let path = place(host, &at.path)?;
    if path.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
        if at.may_overwrite {
            files::remove(&path)?
        } else {
            return Err(Problem::at(&path, "it is there already, and no directory"));
        }
    }
    files::folder(&path, 0o755)?;
    if let Some(mode) = at.mode {
        files::set_mode(&path, mode)?;
    }
    if let Some((user, group)) = owner(host, at)? {
        chown(&path, user, group).map_err(|error| Problem::at(&path, error))?;
    }
    Ok(())
}

fn file(host: &Host, at: &At, contents: Option<&Source>, more: &[Source]) -> Result<()> {
    let path = place(host, &at.path)?;
    let known = path.symlink_metadata().ok();
    let known_mode = known.as_ref().map(|it| it.permissions().mode() & 0o7777);
    let before = match known {
        Some(it) if it.is_file() => {
            Some(fs::read(&path).map_err(|error| Problem::at(&path, error))?)
        }
        Some(_) if !at.may_overwrite => {
            return Err(Problem::at(&path, "it is there already, and no file"));
        }
        Some(it) if it.is_dir() => return Err(Problem::at(&path, "it is a directory")),
        _ => None,
    };
    let mut text = match contents {
        Some(source) => {
            let text = contents::of(host, source)?;
            // What was added before stands behind it.
            let is_same = |before: &Vec<u8>| {
                if more.is_empty() { *before == text } else { before.starts_with(&text) }
            };
            let is_other = before.as_ref().is_some_and(|before| !is_same(before));
            if is_other && !at.may_overwrite {
                return Err(Problem::at(&path, "it is there already, and overwrite is not set"));
            }
            text
        }
        None => before.unwrap_or_default(),
    };
    for source in more {
        let addition = contents::of(host, source)?;
        // Whoever does it again does not add it again.
        if !text.ends_with(&addition) {
            text.extend(addition);
        }
    }
    folder_of(&path)?;
    let mode = at.mode.or(known_mode.filter(|_| contents.is_none())).unwrap_or(0o644);
    files::write_owned(&path, &text, mode, owner(host, at)?)
}

fn link(host: &Host, at: &At, target: &str, is_hard: bool) -> Result<()> {
    let path = place(host, &at.path)?;
    let known = path.symlink_metadata().ok();
    if fs::read_link(&path).is_ok_and(|known| known == Path::new(target)) && !is_hard {
        return Ok(());
    }
    match known {
        Some(it) if it.is_dir() => return Err(Problem::at(&path, "it is a directory")),
        Some(_) if !at.may_overwrite => {
            return Err(Problem::at(&path, "it is there already, and overwrite is not set"));
        }
        Some(_) => files::remove(&path)?,
        None => {}
    }
    folder_of(&path)?;
    let made =
        if is_hard { fs::hard_link(place(host, target)?, &path) } else { symlink(target, &path) };
    made.map_err(|error| Problem::at(&path, error))
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
    let path = place(host, &format!("{}/.ssh/authorized_keys", home.trim_end_matches('/')))?;
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
            chown(folder, user, group).map_err(|error| Problem::at(folder, error))?;
        }
    }
    files::write_owned(&path, text.as_bytes(), 0o600, owner)
}

/// Has a program of the system change its users. In a folder that plays a server that would change the system.
fn administer(host: &Host, program: &str, flags: &[String], name: &str) -> Result<()> {
    if !host.is_whole() {
        host.warn(format!("Ignition: {program} {name} is not run: this is no whole system"));
        return Ok(());
    }
    let mut command = process::program(host, program);
    let caught = process::caught(command.args(flags).arg("--").arg(name), None, None)?;
    match caught.status {
        0 => Ok(()),
        status => Err(Problem::new(format!(
            "{program} {name} ended with {status}: {}",
            caught.err.trim()
        ))),
    }
}

fn set_password(host: &Host, name: &str, hash: &str) -> Result<()> {
    if !host.is_whole() {
        return Ok(());
    }
    if hash.contains(['\n', ':']) {
        return Err(Problem::new(format!("the password of {name} is no hash")));
    }
    // Not as an argument: everybody sees those.
    let line = format!("{name}:{hash}\n");
    let mut command = process::program(host, "chpasswd");
    let caught = process::caught(command.arg("--encrypted"), Some(line.as_bytes()), None)?;
    match caught.status {
        0 => Ok(()),
        status => Err(Problem::new(format!("chpasswd for {name} ended with {status}"))),
    }
}
