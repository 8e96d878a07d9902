//! dib-run-parts: runs the executable files of a directory in the order of their numbers.

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::options::{Args, Flag, switch};
use crate::process;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const FLAGS: &[Flag] =
    &[switch("list", None, "Print the scripts that would run, and exit.")];

/// The pattern for names, unless `RUN_PARTS_REGEX` is set.
const NAMES: &str = "^[0-9A-Za-z_-]+$";

/// Runs the tool.
pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let Some(folder) = args.rest.first() else {
        host.error("a directory is required");
        return 1;
    };
    let folder = host.path(folder);
    if !folder.is_dir() {
        host.error(format!("{} is not a directory", folder.display()));
        return 1;
    }
    if args.has("list") {
        parts(host, &folder).iter().for_each(|part| host.print(&part.display().to_string()));
        return 0;
    }
    match run(host, &folder, &[], None) {
        Ok(status) => status,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Runs the scripts of a directory, except the excluded ones, until one fails. Returns its status.
pub(crate) fn run(
    host: &Host,
    folder: &Path,
    left_out: &[&str],
    deadline: Option<Instant>,
) -> Result<i32> {
    let script_environment = script_environment(host, folder)?;
    let mut took: Vec<(String, Duration)> = Vec::new();
    let mut status = 0;
    for part in parts(host, folder) {
        let name = part.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if left_out.contains(&name.as_str()) {
            continue;
        }
        host.info(format!("Running {}", part.display()));
        let started = Instant::now();
        status = run_one(&part, &script_environment, deadline)?;
        took.push((name, started.elapsed()));
        if status != 0 {
            host.error(format!("{} exited with status {status}", part.display()));
            break;
        }
        host.info(format!("{} completed", part.display()));
    }
    for (name, duration) in took {
        host.info(format!("{name:>40} {:10.3} s", duration.as_secs_f64()));
    }
    Ok(status)
}

fn run_one(
    part: &Path,
    script_environment: &BTreeMap<String, String>,
    deadline: Option<Instant>,
) -> Result<i32> {
    let mut command = std::process::Command::new(part);
    command.env_clear().envs(script_environment);
    let Some(deadline) = deadline else { return process::run(&mut command) };
    command.process_group(0);
    process::run_until(&mut command, deadline)
}

/// Returns the scripts of a directory in order.
fn parts(host: &Host, folder: &Path) -> Vec<PathBuf> {
    let pattern = host.variable("RUN_PARTS_REGEX").unwrap_or(NAMES);
    let names =
        files::names(folder).into_iter().filter(|name| matches_pattern(pattern, name)).collect();
    let paths = sort_names(names).into_iter().map(|name| folder.join(name));
    paths.filter(|path| files::is_executable(path)).collect()
}

/// Returns the environment of the scripts: the exports of the files in `environment.d`, sourced in the same order.
fn script_environment(host: &Host, folder: &Path) -> Result<BTreeMap<String, String>> {
    let known = host.child_environment();
    let sourced = folder.parent().map(|it| it.join("environment.d")).unwrap_or_default();
    let names =
        sort_names(files::names(&sourced).into_iter().filter(|it| !it.starts_with('.')).collect());
    if names.is_empty() {
        return Ok(known);
    }
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let mut command = process::program(host, shell);
    command.args(["-c", "for file; do . \"$file\" >&2; done; env -0", "environment"]);
    command.args(names.iter().map(|name| sourced.join(name)));
    let output = process::capture(&mut command, None, None)?;
    if output.status != 0 {
        let why = output.err.trim().to_owned();
        return Err(GuestError::at(&sourced, format!("cannot be sourced: {why}")));
    }
    let pairs = output.out.split('\0').filter_map(|pair| pair.split_once('='));
    Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Sorts names by their leading numbers, then by bytes. A name without a number counts as zero.
fn sort_names(mut names: Vec<String>) -> Vec<String> {
    names.sort_by(|a, b| number(a).cmp(&number(b)).then_with(|| a.as_bytes().cmp(b.as_bytes())));
    names
}

/// The leading number of a name, of any length.
#[derive(PartialEq, Eq)]
struct Number<'n> {
    is_negative: bool,
    digits: &'n str,
}

fn number(name: &str) -> Number<'_> {
    let (is_negative, rest) = match name.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    let digits = rest[..end].trim_start_matches('0');
    Number { is_negative: is_negative && !digits.is_empty(), digits }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |number: &Self| (number.digits.len(), number.digits.to_owned());
        match (self.is_negative, other.is_negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => size(other).cmp(&size(self)),
            (false, false) => size(self).cmp(&size(other)),
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reports whether a name matches a pattern. Only patterns with one repeated character class are supported, because
/// no others are in use.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let class = pattern.trim_start_matches('^').trim_end_matches('$');
    let class = class.trim_end_matches(['+', '*']);
    let Some(class) = class.strip_prefix('[').and_then(|it| it.strip_suffix(']')) else {
        return matches_pattern(NAMES, name);
    };
    let chars: Vec<char> = class.chars().collect();
    let allows = |wanted: char| {
        let mut at = 0;
        while at < chars.len() {
            if at + 2 < chars.len() && chars[at + 1] == '-' {
                if (chars[at]..=chars[at + 2]).contains(&wanted) {
                    return true;
                }
                at += 3;
            } else if chars[at] == wanted {
                return true;
            } else {
                at += 1;
            }
        }
        false
    };
    !name.is_empty() && name.chars().all(allows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_run_in_the_order_of_their_numbers() {
        let names = ["10-a", "9-b", "2-c", "020-d", "x", "100-z", "a.sh", "5_ok", "README", "-1n"];
        let names = names
            .iter()
            .filter(|it| matches_pattern(NAMES, it))
            .map(|it| (*it).to_owned())
            .collect();
        assert_eq!(
            sort_names(names),
            ["-1n", "README", "x", "2-c", "5_ok", "9-b", "10-a", "020-d", "100-z"]
        );
        assert!(matches_pattern("^[a-z.]+$", "a.sh"));
    }
}
