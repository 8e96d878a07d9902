//! `kiln db backup` and `restore`: SQLite by its own means, database servers by their programs.

use super::{open, place};
use crate::cli::Backup;
use crate::config::DatabaseSettings;
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_store::{BackupMeans, SqlStore};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What an operator has to know about every backup.
const KEYS_APART: &str =
    "The key file is not in it: keep a copy of that apart, without which the backup is useless.";

pub(super) async fn back_up(
    arguments: &Backup,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let DatabaseSettings { url, .. } = place(&arguments.database)?;
    match means(&url, &arguments.file)? {
        BackupMeans::Server { backup, .. } => Err(by_server("backed up", &backup)),
        BackupMeans::File(_) => {
            let store = open(&arguments.database).await?;
            let made = store.back_up(&arguments.file).await;
            made.map_err(|error| CommandError::usage(error.to_string()))?;
            store.close().await;
            writeln!(
                streams.out,
                "Copied the database to {}. {KEYS_APART}",
                arguments.file.display()
            )?;
            Ok(Verdict::Good)
        }
    }
}

pub(super) async fn restore(
    arguments: &Backup,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let DatabaseSettings { url, keys } = place(&arguments.database)?;
    let file = &arguments.file;
    let path = match means(&url, file)? {
        BackupMeans::Server { restore, .. } => return Err(by_server("restored", &restore)),
        BackupMeans::File(path) => path,
    };
    check_backup(file, &keys).await?;
    let _alone = lock(&path)?;
    let in_way = |error: io::Error| {
        CommandError::usage(format!("cannot put {} in place: {error}", path.display()))
    };
    // The copy is complete and on the disk before anything is moved.
    let copy = beside(&path, ".restoring");
    fs::copy(file, &copy).map_err(in_way)?;
    fs::set_permissions(&copy, Permissions::from_mode(0o600)).map_err(in_way)?;
    File::open(&copy).and_then(|copy| copy.sync_all()).map_err(in_way)?;
    let former = beside(&path, ".before-restore");
    for suffix in ["", "-wal", "-shm"] {
        let part = beside(&path, suffix);
        if part.exists() {
            fs::rename(&part, beside(&former, suffix)).map_err(in_way)?;
        }
    }
    fs::rename(&copy, &path).map_err(in_way)?;
    writeln!(
        streams.out,
        "Restored {} from {}; the former database is {}.\n\
         Next: `kiln admin orphans` finds what was created in the cloud since the backup, before the server starts.",
        path.display(),
        file.display(),
        former.display()
    )?;
    Ok(Verdict::Good)
}

fn means(url: &str, file: &Path) -> Result<BackupMeans, CommandError> {
    BackupMeans::of(url, file).map_err(|error| CommandError::usage(error.to_string()))
}

fn by_server(done: &str, command: &str) -> CommandError {
    CommandError::usage(format!("a database server is {done} by its own program: {command}"))
}

/// Refuses a file that the server would not start with.
async fn check_backup(file: &Path, keys: &Path) -> Result<(), CommandError> {
    let name = file.display();
    if !file.exists() {
        return Err(CommandError::usage(format!("there is no backup {name}")));
    }
    let inspected = SqlStore::inspect(&format!("sqlite://{name}?mode=ro"), keys).await;
    let inspection = inspected.map_err(|error| CommandError::usage(format!("{name}: {error}")))?;
    match (inspection.schema, inspection.keys) {
        (None, _) => Err(CommandError::usage(format!("{name} is no database of Kiln"))),
        (Some(schema), _) if schema > inspection.known_schema => Err(CommandError::usage(format!(
            "{name} has schema {schema}, this program knows {}: upgrade Kiln",
            inspection.known_schema
        ))),
        (_, Some(Err(error))) => Err(CommandError::usage(error.to_string())),
        _ => Ok(()),
    }
}

/// The lock that an engine on a SQLite file holds: while one runs, the file is not replaced.
fn lock(path: &Path) -> Result<File, CommandError> {
    let name = beside(path, ".lock");
    let lock = File::options().write(true).create(true).truncate(false).open(&name);
    let lock = lock.map_err(|error| CommandError::usage(format!("{}: {error}", name.display())))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(_) => Err(CommandError::usage(format!(
            "an engine runs on {}: stop all processes of the server first",
            path.display()
        ))),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
