//! os-apply-config: renders file templates with the metadata. Nothing is written before everything is rendered.

mod control;
mod mustache;
mod value_types;

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::json;
use crate::options::{Args, Flag, switch, value};
use crate::process;
use crate::users;
use control::Control;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) const FLAGS: &[Flag] = &[
    value("templates", Some('t'), "The directory of the templates."),
    value("output", Some('o'), "The directory below which files are written."),
    value("metadata", Some('m'), "A file with metadata; may be repeated."),
    value("fallback-metadata", None, "A file that is read before all others, if it exists."),
    switch("validate", Some('v'), "Render without writing."),
    switch("print-templates", None, "Print the directory of the templates, and exit."),
    value("subhash", Some('s'), "Use only this part of the metadata."),
    value("key", None, "Print one value, and exit."),
    value("type", None, "The type of that value."),
    value("key-default", None, "The default for that value."),
    value("boolean-key", None, "Exit with 0 if this value is true, with 1 otherwise."),
    value("os-config-files", None, "A list of files with metadata."),
];

/// Files that are read before all others, if they exist.
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

/// Runs the tool.
pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let templates = match args.get("templates") {
        Some(configured) => host.path(configured),
        None => folder(host),
    };
    if args.has("print-templates") {
        host.print(&templates.display().to_string());
        return 0;
    }
    let metadata = match metadata(host, args) {
        Ok(metadata) => metadata,
        Err(error) => {
            host.error(error.to_string());
            return 1;
        }
    };
    if let Some(key) = args.get("boolean-key") {
        let path: Vec<&str> = key.split('.').collect();
        return match json::find(&metadata, &path) {
            Some(Value::Bool(true)) => 0,
            Some(Value::Bool(false)) | None => 1,
            Some(_) => 255,
        };
    }
    let done = match args.get("key") {
        Some(key) => print_key(host, args, &metadata, key),
        None => {
            let output = host.path(args.get("output").unwrap_or("/"));
            install(host, &templates, &output, &metadata, args.has("validate"))
        }
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// Returns the directory of the templates.
pub(crate) fn folder(host: &Host) -> PathBuf {
    let default = host.path("/usr/libexec/os-apply-config/templates");
    if let Some(configured) = host.variable("OS_CONFIG_APPLIER_TEMPLATES") {
        return host.path(configured);
    }
    let older = ["/opt/stack/os-apply-config/templates", "/opt/stack/os-config-applier/templates"];
    let mut older = older.iter().map(|path| host.path(path)).filter(|path| path.is_dir());
    if default.is_dir() { default } else { older.next().unwrap_or(default) }
}

/// Returns the merged metadata.
fn metadata(host: &Host, args: &Args) -> Result<Value> {
    let mut paths: Vec<String> = args.all("fallback-metadata").map(str::to_owned).collect();
    if paths.is_empty() {
        paths = FALLBACKS.map(str::to_owned).to_vec();
    }
    paths.retain(|path| host.path(path).exists());
    let own: Vec<String> = args.all("metadata").map(str::to_owned).collect();
    if !own.is_empty() {
        paths.extend(own);
    } else if let Some(list) = host.variable("OS_CONFIG_FILES") {
        paths.extend(list.split(':').map(str::to_owned));
    } else {
        paths.extend(collected_files(host, args.get("os-config-files")));
    }
    let mut merged = Value::Object(Default::default());
    for path in paths {
        let path = host.path(path);
        let Some(text) = files::read(&path)? else { continue };
        let read: Value =
            serde_json::from_str(&text).map_err(|error| GuestError::at(&path, error))?;
        if read.is_object() {
            json::merge(&mut merged, &read);
        }
    }
    Ok(match args.get("subhash") {
        Some(key) => {
            let path: Vec<&str> = key.split('.').collect();
            json::find(&merged, &path).cloned().unwrap_or_default()
        }
        None => merged,
    })
}

/// Returns the files that the last run of the collector wrote.
fn collected_files(host: &Host, configured: Option<&str>) -> Vec<String> {
    let default = host.variable("OS_CONFIG_FILES_PATH");
    let default = default.unwrap_or("/var/lib/os-collect-config/os_config_files.json");
    let paths = [configured.unwrap_or(default), "/var/run/os-collect-config/os_config_files.json"];
    let text = paths.iter().find_map(|path| files::text(&host.path(path))).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn print_key(host: &Host, args: &Args, metadata: &Value, key: &str) -> Result<()> {
    let path: Vec<&str> = key.split('.').collect();
    let text = match json::find(metadata, &path) {
        Some(value) => json::plain(value),
        None => match args.get("key-default") {
            Some(default) => default.to_owned(),
            None => {
                return Err(GuestError::new(format!("key {key} does not exist in the metadata")));
            }
        },
    };
    value_types::check(args.get("type").unwrap_or("default"), &text)?;
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
                control::read(&text).map_err(|error| GuestError::at(Path::new(&beside), error))?
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
        return rendered.map(String::into_bytes).map_err(|why| GuestError::at(template, why));
    }
    let mut command = process::program(host, &template.display().to_string());
    let output = process::capture(&mut command, Some(metadata.to_string().as_bytes()), None)?;
    match output.status {
        0 => Ok(output.out.into_bytes()),
        status => {
            let why = format!("exited with status {status}: {}", output.err.trim());
            Err(GuestError::at(template, why))
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
    let missing = |what: &str, name: &str| GuestError::at(path, format!("unknown {what} {name}"));
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
