//! The journal: a file of JSON lines, one change each, that only its owner can read.
//!
//! A change is appended in one write, so its cost does not grow with the state. If the process dies while writing,
//! the incomplete line is dropped at the next start. At every start, and when the file has grown far beyond the size
//! of the state, it is rewritten to a temporary file and renamed. Appending does not sync the file, so a power
//! failure may lose the last changes of a development cloud.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::state::{Change, ChangeSelection, State};

/// The reason why the state cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read or written.
    #[error("the identity state {} cannot be opened: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Another process has the file open.
    #[error(
        "the identity state {} is in use by another process: stop that one or name another file",
        path.display()
    )]
    InUse {
        /// The path of the file.
        path: PathBuf,
    },
    /// The content of the file is not a valid state.
    #[error(
        "the identity state {} cannot be understood at line {line}: {reason}; move it away to start afresh",
        path.display()
    )]
    Corrupt {
        /// The path of the file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// Another system call that the start needs has failed.
    #[error("the identity service cannot start: {0}")]
    System(String),
}

const HEADER: &str = "kiln-identity";
const VERSION: u64 = 1;

/// The open journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    lines: usize,
    /// An append has failed, so the file is incomplete and has to be rewritten.
    behind: bool,
    /// The lock file, which is locked as long as the journal is open.
    _lock: File,
}

impl Journal {
    /// Opens or creates the file and reads the state.
    pub(super) fn open(path: &Path) -> Result<(Journal, State), OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        let lock = private(&beside(path, "lock"), false).map_err(io)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse { path: path.to_owned() },
            TryLockError::Error(source) => io(source),
        })?;
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io(error)),
        };
        let mut state = read(&text).map_err(|(line, reason)| OpenError::Corrupt {
            path: path.to_owned(),
            line,
            reason,
        })?;
        let (file, lines) = write_all(path, &mut state).map_err(io)?;
        Ok((Journal { path: path.to_owned(), file, lines, behind: false, _lock: lock }, state))
    }

    /// Appends the changes of the state since the last call.
    pub(super) fn write(&mut self, state: &mut State) -> io::Result<()> {
        if self.behind || self.lines > 2 * state.rows() + 1_000 {
            return self.compact(state);
        }
        let changes = state.take(ChangeSelection::Changes)?;
        if changes.is_empty() {
            return Ok(());
        }
        let mut line = serde_json::to_vec(&changes)?;
        line.push(b'\n');
        self.lines += 1;
        self.behind = true;
        self.file.write_all(&line)?;
        self.behind = false;
        Ok(())
    }

    fn compact(&mut self, state: &mut State) -> io::Result<()> {
        self.behind = true;
        (self.file, self.lines) = write_all(&self.path, state)?;
        self.behind = false;
        Ok(())
    }
}

fn read(text: &[u8]) -> Result<State, (usize, String)> {
    let mut state = State::default();
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    for (at, line) in text[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let wrong = |reason: String| (at + 1, reason);
        if at == 0 {
            let header: Value = serde_json::from_slice(line).map_err(|e| wrong(e.to_string()))?;
            if header[HEADER] != json!(VERSION) {
                return Err(wrong(format!("not a state of version {VERSION}")));
            }
            continue;
        }
        let changes: Vec<Change> =
            serde_json::from_slice(line).map_err(|e| wrong(e.to_string()))?;
        for change in changes {
            state.apply(change).map_err(wrong)?;
        }
    }
    Ok(state)
}

/// Writes the whole state to a new file and renames it over the old one.
fn write_all(path: &Path, state: &mut State) -> io::Result<(File, usize)> {
    let new = beside(path, "new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(&new, true)?;
    let mut text = serde_json::to_vec(&json!({ HEADER: VERSION }))?;
    text.push(b'\n');
    let rows = state.take(ChangeSelection::Everything)?;
    let lines = rows.len();
    for row in rows {
        serde_json::to_writer(&mut text, &[row])?;
        text.push(b'\n');
    }
    file.write_all(&text)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    Ok((file, lines))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens a file for appending that only its owner can read.
fn private(path: &Path, new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    if new {
        options.create_new(true)
    } else {
        options.create(true)
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::super::records::Region;
    use super::*;

    fn region(description: String) -> Region {
        Region { id: "R".to_owned(), description, parent_region_id: None }
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let name = format!("kiln-journal-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("state");
        let (mut journal, mut state) = Journal::open(&path).unwrap();
        for turn in 0..2_500 {
            state.regions.put(region(format!("turn {turn}"))).unwrap();
            journal.write(&mut state).unwrap();
        }
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 1_100, "{lines} lines");
        drop(journal);
        let (_, state) = Journal::open(&path).unwrap();
        assert_eq!(state.regions.get("R").unwrap().description, "turn 2499");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
