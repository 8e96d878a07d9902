//! `xtask scaffold`: declarations of resource types, written from the facts.
//!
//! It is run once for a type; from then on the file is edited by hand. So it refuses to overwrite.
//! Sentences about types are taken from a table (`TYPE<tab>SENTENCE`, and after another tab what to
//! use instead) or, when there is none, from the declarations as they are now.

mod names;
mod render;

use crate::Outcome;
use crate::facts::{folder, object, read};
use kiln_resources::registry::Registry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is written about a type by hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// What it is, in one sentence.
    pub(crate) sentence: String,
    /// What to use instead, where it should not be used any more.
    pub(crate) instead: Option<String>,
}

struct Options {
    force: bool,
    about: Option<PathBuf>,
    only: Vec<String>,
}

/// Writes the files of the types that are named, or of all.
pub(crate) fn run(args: &[String]) -> Outcome {
    let options = parse(args)?;
    let facts = read(&folder().join("types.json"))?;
    let about = sentences(options.about.as_deref())?;
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
            let about =
                about.get(name).ok_or_else(|| format!("{name}: no sentence says what it is"))?;
            let path = sources().join(family).join(format!("{}.rs", names::file(name)));
            written.push((path, render::type_file(name, fact, about)));
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
    let mut options = Options { force: false, about: None, only: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--force" => options.force = true,
            "--about" => {
                let path = args.next().ok_or("--about needs a file")?;
                options.about = Some(PathBuf::from(path));
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

/// What is said of each type: in the table if one is given, else in its declaration.
fn sentences(table: Option<&Path>) -> Result<BTreeMap<String, About>, String> {
    let mut about = BTreeMap::new();
    for kind in Registry::builtin().iter() {
        let instead = kind.schema.support.message.as_deref().map(str::to_owned);
        let sentence = kind.schema.about.to_string();
        about.insert(kind.name().to_owned(), About { sentence, instead });
    }
    let Some(table) = table else { return Ok(about) };
    let text = fs::read_to_string(table).map_err(|e| format!("{}: {e}", table.display()))?;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut cells = line.split('\t').map(str::to_owned);
        let (Some(name), Some(sentence)) = (cells.next(), cells.next()) else {
            return Err(format!("{}: not a name and a sentence: {line}", table.display()));
        };
        about.insert(name, About { sentence, instead: cells.next() });
    }
    Ok(about)
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
    let paths = files.iter().map(|(path, _)| path).filter(|path| !path.ends_with("mod.rs"));
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(config)
        .args(paths)
        .status()
        .map_err(|e| format!("rustfmt: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err("rustfmt did not accept what was written".to_owned())
    }
}
