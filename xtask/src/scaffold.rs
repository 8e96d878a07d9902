//! `xtask scaffold`: writes declarations of resource types from the facts.
//!
//! It runs once for a type; after that the file is edited by hand, so existing files are not overwritten.
//! Descriptions of types come from a table (`TYPE<tab>SENTENCE`, followed by another tab and the replacement) or from
//! the existing declarations.

mod constants;
#[cfg(test)]
mod golden;
mod names;
mod render;

use crate::Outcome;
use crate::facts::{folder, object, read};
use constants::Constants;
use kiln_resources::registry::Registry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The hand-written description of a type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description {
    /// The description, in one sentence.
    pub(crate) sentence: String,
    /// The replacement for a deprecated type.
    pub(crate) instead: Option<String>,
}

struct Options {
    force: bool,
    description: Option<PathBuf>,
    only: Vec<String>,
}

/// Writes the files of the named types, or of all types.
pub(crate) fn run(args: &[String]) -> Outcome {
    let options = parse(args)?;
    let facts = read(&folder().join("types.json"))?;
    let description = sentences(options.description.as_deref())?;
    let constants = Constants::read()?;
    let mut families: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for (name, fact) in object(&facts["types"]) {
        families.entry(names::family(&name)).or_default().push((name, fact));
    }
    let mut written = Vec::new();
    for (family, types) in &families {
        for (name, fact) in types {
            if !options.only.is_empty() && !options.only.contains(name) {
                continue;
            }
            let description = description
                .get(name)
                .ok_or_else(|| format!("{name}: no sentence says what it is"))?;
            let path = sources().join(family).join(format!("{}.rs", names::file(name)));
            let text = render::type_file(name, fact, description, &constants)
                .map_err(|e| format!("{name}: {e}"))?;
            written.push((path, formatted(&text)?));
        }
        if options.only.is_empty() {
            written.push((sources().join(family).join("mod.rs"), render::family(family, types)));
        }
    }
    if options.only.is_empty() {
        written.push((sources().join("mod.rs"), render::families(families.keys())));
    }
    write(&written, options.force)?;
    Ok(format!("{} files written under {}", written.len(), sources().display()))
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options { force: false, description: None, only: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--force" => options.force = true,
            "--about" => {
                let path = args.next().ok_or("--about needs a file")?;
                options.description = Some(PathBuf::from(path));
            }
            name if name.contains("::") => options.only.push(name.to_owned()),
            other => return Err(format!("scaffold: what is `{other}`?")),
        }
    }
    Ok(options)
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/resources/src/types")
}

/// Returns the description of each type: from the table if one is given, else from its declaration.
fn sentences(table: Option<&Path>) -> Result<BTreeMap<String, Description>, String> {
    let mut description = BTreeMap::new();
    for kind in Registry::builtin().iter() {
        let instead = kind.schema.support.message.as_deref().map(str::to_owned);
        let sentence = kind.schema.about.to_string();
        description.insert(kind.name().to_owned(), Description { sentence, instead });
    }
    let Some(table) = table else { return Ok(description) };
    let text = fs::read_to_string(table).map_err(|e| format!("{}: {e}", table.display()))?;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut cells = line.split('\t').map(str::to_owned);
        let (Some(name), Some(sentence)) = (cells.next(), cells.next()) else {
            return Err(format!("{}: not a name and a sentence: {line}", table.display()));
        };
        description.insert(name, Description { sentence, instead: cells.next() });
    }
    Ok(description)
}

fn write(files: &[(PathBuf, String)], force: bool) -> Result<(), String> {
    if let Some((path, _)) = files.iter().find(|(path, _)| !force && path.exists()) {
        return Err(format!("{} is there and ours; --force overwrites it", path.display()));
    }
    for (path, text) in files {
        let fail = |e: std::io::Error| format!("{}: {e}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        fs::write(path, text).map_err(fail)?;
    }
    Ok(())
}

/// Returns a source text in the layout of the workspace.
fn formatted(text: &str) -> Result<String, String> {
    let fail = |e: std::io::Error| format!("rustfmt: {e}");
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    if let Some(mut input) = rustfmt.stdin.take() {
        input.write_all(text.as_bytes()).map_err(fail)?;
    }
    let output = rustfmt.wait_with_output().map_err(fail)?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|e| format!("rustfmt: {e}"))
    } else {
        Err("rustfmt did not accept what was written".to_owned())
    }
}
