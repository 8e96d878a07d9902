//! Plug-in files, in which an operator defines resource types: finds and reads them.

use crate::render::counted;
use crate::render::names::Names;
use crate::render::terminal::Terminal;
use crate::render::texts::{MaskedRanges, SourceTexts};
use crate::stdio::{CommandError, Streams};
use kiln_resources::TypeSettings;
use kiln_resources::plugin::{self, MAX_BYTES, MAX_FILES};
use kiln_resources::registry::Registry;
use kiln_template::{Diagnostic, FileId, Sources, Span, codes, read};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The maximum number of entries of a directory.
const MAX_ENTRIES: usize = 10_000;

/// The built-in types and those of the files in the given directories, which must exist. All errors
/// of the files are reported.
pub(crate) fn types(
    folders: &[PathBuf],
    streams: &mut Streams<'_>,
) -> Result<&'static Registry, CommandError> {
    if folders.is_empty() {
        return Ok(Registry::builtin());
    }
    let mut sources = Sources::new();
    let (mut ids, mut found) = (Vec::new(), Vec::new());
    for path in files(folders)? {
        match add(&mut sources, &path) {
            Ok(id) => ids.push(id),
            Err(finding) => found.push(*finding),
        }
    }
    let loaded = match plugin::load(&sources, &ids) {
        Ok(types) if found.is_empty() => Ok(types),
        Ok(_) => Err(found),
        Err(more) => {
            found.extend(more);
            Err(found)
        }
    };
    match loaded {
        // The registry is used until the process ends.
        Ok(types) => Ok(Box::leak(Box::new(types))),
        Err(found) => Err(told(&found, &sources, streams)?),
    }
}

/// The types as an operator wants them.
pub(crate) fn adjusted(types: &'static Registry, settings: &TypeSettings) -> &'static Registry {
    match *settings == TypeSettings::default() {
        true => types,
        // The registry is used until the process ends.
        false => Box::leak(Box::new(types.adjusted(settings))),
    }
}

/// Warnings about plug-ins of Heat in the directories, which are Python code. What cannot be read is no plug-in.
pub(crate) fn warnings(folders: &[PathBuf]) -> Vec<String> {
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_python = |path: &PathBuf| path.extension() == Some(OsStr::new("py"));
    let mut files: Vec<PathBuf> = paths.filter(is_python).take(MAX_ENTRIES).collect();
    files.sort();
    let warning = |path: &PathBuf| {
        let path = path.display();
        format!(
            "{path} is a plug-in of Heat, which is not loaded because Kiln runs no Python: its resource types are \
             unknown. Declare them in a YAML file (docs/write-a-resource-type.md), or map them to templates in a \
             file of environment_dir"
        )
    };
    files.iter().map(warning).collect()
}

/// The files of the directories, sorted by name within each.
fn files(folders: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut all = Vec::new();
    for folder in folders {
        let cannot = |error: io::Error| {
            let folder = folder.display();
            CommandError::usage(format!("cannot read the plug-in directory {folder}: {error}"))
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(cannot)?.take(MAX_ENTRIES) {
            let path = entry.map_err(cannot)?.path();
            if path.extension() == Some(OsStr::new("yaml")) && path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        all.extend(files);
        // One more than allowed, so that the excess is detected.
        all.truncate(MAX_FILES + 1);
    }
    Ok(all)
}

/// Reads a file, at most one byte more than allowed.
fn add(sources: &mut Sources, path: &Path) -> Result<FileId, Box<Diagnostic>> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read_all = |file: File| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
    if let Err(error) = File::open(path).and_then(read_all) {
        let file = sources.add(name, "");
        let message = format!("cannot read the file: {error}");
        let found = Diagnostic::error(&codes::FILE_UNREADABLE, message);
        return Err(Box::new(found.at(Span::start_of(file))));
    }
    // A cut may split a character; the size is reported then.
    if bytes.len() > MAX_BYTES {
        return Ok(sources.add(name, String::from_utf8_lossy(&bytes).into_owned()));
    }
    match read::decode(FileId::default(), &bytes) {
        Ok(text) => Ok(sources.add(name, text.into_owned())),
        Err(refusal) => {
            let file = sources.add(name, "");
            Err(Box::new(Diagnostic { labels: Vec::new(), ..*refusal }.at(Span::start_of(file))))
        }
    }
}

/// Reports all errors of plug-in files.
fn told(
    found: &[Diagnostic],
    sources: &Sources,
    streams: &mut Streams<'_>,
) -> Result<CommandError, CommandError> {
    let names = Names::default();
    let texts = SourceTexts::of(found, sources, &names, &MaskedRanges::new());
    let terminal = Terminal::new(&texts, &names, streams.width, streams.err_styled);
    terminal.findings(streams.err, found)?;
    let wrong = counted(found.iter().filter(|it| it.is_error()).count(), "mistake");
    Ok(CommandError::usage(format!(
        "{wrong} in the files with resource types; nothing was started. \
         docs/write-a-resource-type.md shows what can be said"
    )))
}
