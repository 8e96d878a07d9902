//! The files in which an operator describes resource types: found, read, and put beside the built-in types.

use crate::render::counted;
use crate::render::names::Names;
use crate::render::terminal::Terminal;
use crate::render::texts::{Hidden, Texts};
use crate::streams::{Failure, Streams};
use kiln_resources::plugin::{self, MAX_BYTES, MAX_FILES};
use kiln_resources::registry::Registry;
use kiln_template::{Diagnostic, FileId, Sources, Span, codes, read};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How many entries of a folder are looked at.
const MAX_ENTRIES: usize = 10_000;

/// The built-in types and those of the files in some folders, each of which must be there. What is wrong
/// with the files is told in full.
pub(crate) fn types(
    folders: &[PathBuf],
    streams: &mut Streams<'_>,
) -> Result<&'static Registry, Failure> {
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
        // Types are looked up as long as the process lives.
        Ok(types) => Ok(Box::leak(Box::new(types))),
        Err(found) => Err(told(&found, &sources, streams)?),
    }
}

/// The files of some folders, folder by folder, in order of name.
fn files(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for folder in folders {
        let cannot = |error: io::Error| {
            let folder = folder.display();
            Failure::usage(format!("cannot read the folder {folder} with resource types: {error}"))
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
        // One more than there may be, so that it is noticed.
        all.truncate(MAX_FILES + 1);
    }
    Ok(all)
}

/// Reads a file, no more of it than it may have and a bit.
fn add(sources: &mut Sources, path: &Path) -> Result<FileId, Box<Diagnostic>> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read_all = |file: File| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
    if let Err(error) = File::open(path).and_then(read_all) {
        let file = sources.add(name, "");
        let message = format!("the file cannot be read: {error}");
        let found = Diagnostic::error(&codes::FILE_UNREADABLE, message);
        return Err(Box::new(found.at(Span::start_of(file))));
    }
    // A cut may go through a character, and then the length is what matters.
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

/// Tells all that is wrong, and why nothing is done.
fn told(
    found: &[Diagnostic],
    sources: &Sources,
    streams: &mut Streams<'_>,
) -> Result<Failure, Failure> {
    let names = Names::default();
    let texts = Texts::of(found, sources, &names, &Hidden::new());
    let terminal = Terminal::new(&texts, &names, streams.width, streams.err_styled);
    terminal.findings(streams.err, found)?;
    let wrong = counted(found.iter().filter(|it| it.is_error()).count(), "mistake");
    Ok(Failure::usage(format!(
        "{wrong} in the files with resource types; nothing was started. \
         docs/write-a-resource-type.md shows what can be said"
    )))
}
