//! Copies of a SQLite store, and how those of database servers are made.

use crate::database::{OpenError, SqlStore};
use crate::dialect::Dialect;
use crate::error::DbError;
use crate::file_mode;
use crate::sql::{Reader, Statement};
use sqlx::AssertSqlSafe;
use sqlx::Executor;
use sqlx::any::AnyConnectOptions;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How the database of a URL is backed up and restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackupMeans {
    /// By this program: SQLite, in this file.
    File(PathBuf),
    /// By the programs of the database server.
    Server {
        /// The command that writes a backup to a file, without the password.
        backup: String,
        /// The command that reads it again.
        restore: String,
    },
}

/// Why a backup could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be created.
    #[error("cannot create {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// The database could not be copied.
    #[error("the database cannot be copied: {0}")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl BackupMeans {
    /// The means for the database of a URL and the file of a backup.
    pub fn of(url: &str, file: &Path) -> Result<BackupMeans, OpenError> {
        let dialect = Dialect::of(url).ok_or(OpenError::Url)?;
        if let Some(path) = file_mode::path_of(url) {
            return Ok(BackupMeans::File(path));
        }
        sqlx::any::install_default_drivers();
        let parsed = AnyConnectOptions::from_str(url).map_err(DbError::from)?.database_url;
        let user = parsed.username();
        let host = parsed.host_str().unwrap_or("localhost");
        let port = |usual: u16| parsed.port().unwrap_or(usual);
        let name = parsed.path().trim_start_matches('/');
        let file = quoted(&file.display().to_string());
        let login = |usual| {
            let (host, user) = (quoted(host), quoted(user));
            format!(
                "--host={host} --port={} --user{}{user}",
                port(usual),
                if usual == 5432 { "name=" } else { "=" }
            )
        };
        let name = quoted(name);
        Ok(match dialect {
            Dialect::Mariadb => BackupMeans::Server {
                backup: format!(
                    "mariadb-dump {} --password --single-transaction --hex-blob --result-file={file} {name}",
                    login(3306)
                ),
                restore: format!("mariadb {} --password {name} < {file}", login(3306)),
            },
            Dialect::Postgres | Dialect::Sqlite => BackupMeans::Server {
                backup: format!("pg_dump {} --format=custom --file={file} {name}", login(5432)),
                restore: format!(
                    "pg_restore {} --clean --if-exists --single-transaction --dbname={name} {file}",
                    login(5432)
                ),
            },
        })
    }
}

/// A word of a shell command.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl SqlStore {
    /// Copies a SQLite store, as of one moment, to a file that must not exist. Engines may go on meanwhile.
    pub async fn back_up(&self, file: &Path) -> Result<(), BackupError> {
        // Names and projects are in it unencrypted.
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        created.map_err(|source| BackupError::File { path: file.display().to_string(), source })?;
        let copied = async {
            let mut connection = self.reader().await?;
            let into = format!("VACUUM INTO '{}'", file.display().to_string().replace('\'', "''"));
            connection.execute(AssertSqlSafe(into)).await?;
            Ok::<_, DbError>(())
        };
        copied.await.map_err(|error| BackupError::Database(Box::new(error)))?;
        let kept = std::fs::File::open(file).and_then(|file| file.sync_all());
        kept.map_err(|source| BackupError::File { path: file.display().to_string(), source })
    }

    /// What SQLite finds wrong with its file; nothing with a database server, which has checks of its own.
    pub async fn integrity_problems(&self) -> Result<Vec<String>, kiln_engine::store::StoreError> {
        if self.dialect != Dialect::Sqlite {
            return Ok(Vec::new());
        }
        let check =
            Statement::new(self.dialect, "SELECT integrity_check FROM pragma_integrity_check");
        let rows = check.all(&mut *self.reader().await?).await?;
        let texts: Result<Vec<String>, DbError> =
            rows.iter().map(|row| Ok(Reader::new(row).text()?.to_owned())).collect();
        Ok(texts?.into_iter().filter(|text| text != "ok").collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_a_server_are_named_without_the_password() {
        let means = |url| BackupMeans::of(url, Path::new("my copy")).unwrap();
        let BackupMeans::Server { backup, restore } = means("postgres://kiln:hunter2@db:5433/k")
        else {
            panic!("a server");
        };
        let login = "--host=db --port=5433 --username=kiln";
        assert_eq!(backup, format!("pg_dump {login} --format=custom --file='my copy' k"));
        assert!(restore.starts_with(&format!("pg_restore {login} --clean")), "{restore}");
        let BackupMeans::Server { backup, .. } = means("mysql://kiln:hunter2@db/k") else {
            panic!("a server");
        };
        assert!(backup.starts_with("mariadb-dump --host=db --port=3306 --user=kiln --password "));
        assert!(!backup.contains("hunter2"));
        let file = BackupMeans::File("/var/kiln.db".into());
        assert_eq!(means("sqlite:///var/kiln.db"), file);
    }
}
