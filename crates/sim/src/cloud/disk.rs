//! Persistence: the whole state in one file, which is written to a temporary file and renamed.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::random::Random;
use super::state::{CloudState, Pending};
use super::table::Obj;

const HEADER: &str = "kiln-cloud";
const VERSION: u64 = 1;

/// The reason why the cloud cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read or written.
    #[error("the state of the cloud {} cannot be opened: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The content of the file is not a valid state.
    #[error(
        "the state of the cloud {} cannot be understood: {reason}; move it away to start afresh",
        path.display()
    )]
    Corrupt {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The table of a collection is invalid, which is a mistake in this crate.
    #[error("the cloud cannot start: {0}")]
    Tables(String),
}

/// Serializes the state.
pub(super) fn snapshot(state: &CloudState) -> Value {
    let rows = |table: &super::table::Table| -> Value {
        table.pairs().map(|(key, row)| json!([key, row])).collect()
    };
    let tables: serde_json::Map<String, Value> = state
        .tables()
        .filter(|(_, table)| table.len() > 0)
        .map(|(name, table)| (name.to_owned(), rows(table)))
        .collect();
    let pending: Vec<Value> =
        state.pending.iter().map(|((at, _), what)| json!([at, what])).collect();
    json!({
        HEADER: VERSION, "random": state.random.state(), "now": state.now,
        "notes": state.notes, "pending": pending, "tables": tables,
    })
}

/// Loads a snapshot into an empty state.
pub(super) fn restore(state: &mut CloudState, kept: Value) -> Result<(), String> {
    if kept[HEADER] != json!(VERSION) {
        return Err(format!("not a state of version {VERSION}"));
    }
    let said = |error: serde_json::Error| error.to_string();
    state.random = Random::new(kept["random"].as_u64().unwrap_or_default());
    state.notes = serde_json::from_value(kept["notes"].clone()).map_err(said)?;
    let pending: Vec<(i64, Pending)> =
        serde_json::from_value(kept["pending"].clone()).map_err(said)?;
    for (at, what) in pending {
        state.now = 0;
        state.schedule(at, what);
    }
    state.now = kept["now"].as_i64().unwrap_or_default();
    let tables: std::collections::BTreeMap<String, Vec<(String, Obj)>> =
        serde_json::from_value(kept["tables"].clone()).map_err(said)?;
    for (table, rows) in tables {
        rows.into_iter().for_each(|(key, row)| state.put(&table, &key, row));
    }
    Ok(())
}

/// Reads the file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<Value>, OpenError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(OpenError::Io { path: path.to_owned(), source }),
    };
    let kept = serde_json::from_slice(&text)
        .map_err(|error| OpenError::Corrupt { path: path.to_owned(), reason: error.to_string() })?;
    Ok(Some(kept))
}

/// Replaces the file; only its owner may read it.
pub(super) fn write(path: &Path, kept: &Value) -> io::Result<()> {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}
