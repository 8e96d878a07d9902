//! The databases on which attacks run, and everything that is in them.

use super::servers::{Mariadb, Postgres, program};
use crate::test_directory::TestDirectory;
use std::process::Command;

/// A database that ends with this.
pub(super) enum Database {
    /// A file in a directory of its own.
    Sqlite(TestDirectory),
    /// A server, which is only kept running, and the URL of the database.
    Postgres { _server: Postgres, url: String },
    /// A server, and the URL of the database.
    Mariadb(Mariadb, String),
}

impl Database {
    pub(super) fn sqlite() -> Database {
        Database::Sqlite(TestDirectory::with(&[]))
    }

    pub(super) fn postgres(server: Postgres) -> Database {
        let url = server.database("kiln");
        Database::Postgres { _server: server, url }
    }

    pub(super) fn mariadb(server: Mariadb) -> Database {
        let url = server.database("kiln");
        Database::Mariadb(server, url)
    }

    /// The URL, as configuration files have it: three slashes, then the path.
    pub(super) fn url(&self) -> String {
        match self {
            Database::Sqlite(directory) => {
                format!("sqlite:///{}/kiln.db", directory.path().display())
            }
            Database::Postgres { url, .. } | Database::Mariadb(_, url) => url.clone(),
        }
    }

    /// Everything in the database: the bytes of the files, or a dump in which binary columns are hexadecimal.
    pub(super) fn dump(&self) -> Vec<u8> {
        match self {
            Database::Sqlite(directory) => {
                let read = |name| std::fs::read(directory.path().join(name)).unwrap_or_default();
                [read("kiln.db"), read("kiln.db-wal")].concat()
            }
            Database::Postgres { url, .. } => {
                printed(Command::new(program("pg_dump", "postgresql")).args(["--dbname", url]))
            }
            Database::Mariadb(server, _) => {
                let mut dump = Command::new(program("mariadb-dump", "mariadb-client"));
                dump.args(["--no-defaults", "--hex-blob", "--user=root"]);
                dump.arg(format!("--socket={}", server.socket.display()));
                printed(dump.arg("kiln"))
            }
        }
    }
}

fn printed(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("a dump");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
