//! os-apply-config: templates for files of the machine, rendered with its metadata. Nothing is written before
//! everything is rendered.

mod control;
mod kinds;
mod mustache;

use crate::files;
use crate::host::Host;
use crate::json;
use crate::options::{Flag, Given, switch, value};
use crate::problem::{Problem, Result};
use crate::process;
use crate::users;
use control::Control;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) const FLAGS: &[Flag] = &[
    value("templates", Some('t'), "The folder of the templates."),
    value("output", Some('o'), "The folder that files are written below."),
    value("metadata", Some('m'), "A file with metadata; may be given more than once."),
    value("fallback-metadata", None, "A file that comes before all others, if it is there."),
    switch("validate", Some('v'), "Render, and write nothing."),
    switch("print-templates", None, "Print the folder of the templates, and end."),
    value("subhash", Some('s'), "Only this part of the metadata."),
    value("key", None, "Print one value, and end."),
    value("type", None, "What that value may be made of."),
    value("key-default", None, "What is printed if there is no such value."),
    value("boolean-key", None, "End with 0 if this value is true, with 1 if it is not."),
    value("os-config-files", None, "A list of files with metadata."),
];

/// Files that come before all others, if they are there.
const FALLBACKS: [&str; 3] = [
    "/var/cache/heat-cfntools/last_metadata",
    "/var/lib/heat-cfntools/cfn-init-data",
    "/var/lib/cloud/data/cfn-init-data",
];

/// A file to be written.
struct Rendered {
    path: PathBuf,
    content: Vec<u8>,
    control: Control,
}

/// The tool.
pub(crate) fn main(host: &Host, given: &Given) -> i32 {
    let templates = match given.get("templates") {
        Some(told) => host.path(told),
        None => folder(host),
    };
    if given.has("print-templates") {
        host.print(&templates.display().to_string());
        return 0;
    }
    let metadata = match metadata(host, given) {
        Ok(metadata) => metadata,
        Err(problem) => {
            host.error(problem.to_string());
            return 1;
        }
    };
    if let Some(key) = given.get("boolean-key") {
        let path: Vec<&str> = key.split('.').collect();
        return match json::find(&metadata, &path) {
            Some(Value::Bool(true)) => 0,
            Some(Value::Bool(false)) | None => 1,
            Some(_) => 255,
        };
    }
    let done = match given.get("key") {
        Some(key) => print_key(host, given, &metadata, key),
        None => {
            let output = host.path(given.get("output").unwrap_or("/"));
            install(host, &templates, &output, &metadata, given.has("validate"))
        }
    };
    match done {
        Ok(()) => 0,
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// Where templates are.
pub(crate) fn folder(host: &Host) -> PathBuf {
    let usual = host.path("/usr/libexec/os-apply-config/templates");
    if let Some(told) = host.variable("OS_CONFIG_APPLIER_TEMPLATES") {
        return host.path(told);
    }
    let older = ["/opt/stack/os-apply-config/templates", "/opt/stack/os-config-applier/templates"];
    let mut older = older.iter().map(|path| host.path(path)).filter(|path| path.is_dir());
    if usual.is_dir() { usual } else { older.next().unwrap_or(usual) }
}

/// Everything that is known of the machine.
fn metadata(host: &Host, given: &Given) -> Result<Value> {
    let mut paths: Vec<String> = given.all("fallback-metadata").map(str::to_owned).collect();
    if paths.is_empty() {
        paths = FALLBACKS.map(str::to_owned).to_vec();
    }
    paths.retain(|path| host.path(path).exists());
    let own: Vec<String> = given.all("metadata").map(str::to_owned).collect();
    if !own.is_empty() {
        paths.extend(own);
    } else if let Some(list) = host.variable("OS_CONFIG_FILES") {
        paths.extend(list.split(':').map(str::to_owned));
    } else {
        paths.extend(listed(host, given.get("os-config-files")));
    }
    let mut merged = Value::Object(Default::default());
    for path in paths {
        let path = host.path(path);
        let Some(text) = files::read(&path)? else { continue };
        let read: Value = serde_json::from_str(&text).map_err(|error| Problem::at(&path, error))?;
        if read.is_object() {
            json::merge(&mut merged, &read);
        }
    }
    Ok(match given.get("subhash") {
        Some(key) => {
            let path: Vec<&str> = key.split('.').collect();
            json::find(&merged, &path).cloned().unwrap_or_default()
        }
        None => merged,
    })
}

/// The files that the last round of collecting wrote.
fn listed(host: &Host, told: Option<&str>) -> Vec<String> {
    let usual = host.variable("OS_CONFIG_FILES_PATH");
    let usual = usual.unwrap_or("/var/lib/os-collect-config/os_config_files.json");
    let paths = [told.unwrap_or(usual), "/var/run/os-collect-config/os_config_files.json"];
    let text = paths.iter().find_map(|path| files::text(&host.path(path))).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn print_key(host: &Host, given: &Given, metadata: &Value, key: &str) -> Result<()> {
    let path: Vec<&str> = key.split('.').collect();
    let text = match json::find(metadata, &path) {
        Some(value) => json::plain(value),
        None => match given.get("key-default") {
            Some(default) => default.to_owned(),
            None => return Err(Problem::new(format!("key {key} does not exist in the metadata"))),
        },
    };
    kinds::check(given.get("type").unwrap_or("default"), &text)?;
    host.print(&text);
    Ok(())
}

/// Renders every template, then writes every file.
pub(crate) fn install(
    host: &Host,
    templates: &Path,
    output: &Path,
    metadata: &Value,
    is_trial: bool,
) -> Result<()> {
    let mut rendered = Vec::new();
    for template in all_files(templates) {
        if template.extension().is_some_and(|it| it == "oac") {
            continue;
        }
        let relative = template.strip_prefix(templates).unwrap_or(&template);
        let content = content(host, &template, metadata)?;
        let mut beside = template.clone().into_os_string();
        beside.push(".oac");
        let control = match files::read(Path::new(&beside))? {
            Some(text) => {
                control::read(&text).map_err(|problem| Problem::at(Path::new(&beside), problem))?
            }
            None => Control::default(),
        };
        rendered.push(Rendered { path: output.join(relative), content, control });
    }
    if !is_trial {
        rendered.iter().try_for_each(|file| write(host, file))?;
        host.info("success");
    }
    Ok(())
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in files::names(folder) {
        let path = folder.join(name);
        if path.is_dir() { found.extend(all_files(&path)) } else { found.push(path) }
    }
    found
}

fn content(host: &Host, template: &Path, metadata: &Value) -> Result<Vec<u8>> {
    if !files::is_executable(template) {
        let text = files::read(template)?.unwrap_or_default();
        let rendered = mustache::render(&text, metadata);
        return rendered.map(String::into_bytes).map_err(|why| Problem::at(template, why));
    }
    let mut command = process::program(host, &template.display().to_string());
    let caught = process::caught(&mut command, Some(metadata.to_string().as_bytes()), None)?;
    match caught.status {
        0 => Ok(caught.out.into_bytes()),
        status => {
            let why = format!("ended with {status}: {}", caught.err.trim());
            Err(Problem::at(template, why))
        }
    }
}

fn write(host: &Host, file: &Rendered) -> Result<()> {
    let path = &file.path;
    if file.content.is_empty() && !file.control.allow_empty {
        if path.exists() {
            host.info(format!("deleting {}", path.display()))
        } else {
            host.info(format!("not creating empty {}", path.display()))
        }
        return files::remove(path);
    }
    host.info(format!("writing {}", path.display()));
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    let known = fs::metadata(path).ok();
    let mode = file.control.mode.or(known.as_ref().map(|it| it.permissions().mode() & 0o7777));
    let missing = |what: &str, name: &str| Problem::at(path, format!("there is no {what} {name}"));
    let user = match &file.control.owner {
        Some(name) => Some(users::user(host, name).ok_or_else(|| missing("user", name))?.id),
        None => known.as_ref().map(MetadataExt::uid),
    };
    let group = match &file.control.group {
        Some(name) => Some(users::group(host, name).ok_or_else(|| missing("group", name))?),
        None => known.as_ref().map(MetadataExt::gid),
    };
    files::write_owned(path, &file.content, mode.unwrap_or(0o644), Some((user, group)))
}
