//! The databases, which can be restarted.

use super::link::{Destination, Link};
use super::options::DatabaseKind;
use super::servers::{Galera, Mariadb, Postgres};
use std::io;
use std::path::PathBuf;

/// A database.
pub(super) enum Database {
    /// A file.
    Sqlite(PathBuf),
    Postgres(Postgres),
    Mariadb(Mariadb),
    /// Three nodes, all of which write, and the number of the next one that fails.
    Galera(Galera, usize),
}

impl Database {
    /// Starts a server, or chooses a file. It blocks.
    pub(super) fn start(kind: DatabaseKind, file: PathBuf) -> Database {
        match kind {
            DatabaseKind::Sqlite => Database::Sqlite(file),
            DatabaseKind::Postgres => {
                let server = Postgres::start();
                _ = server.database("kiln");
                Database::Postgres(server)
            }
            DatabaseKind::Mariadb => {
                let server = Mariadb::start();
                _ = server.database("kiln");
                Database::Mariadb(server)
            }
            DatabaseKind::Galera => {
                let cluster = Galera::start();
                _ = cluster.database("kiln");
                Database::Galera(cluster, 0)
            }
        }
    }

    /// A link of a process to the database server, if it is one. In a cluster, each process has another node first.
    pub(super) async fn link(&self, process: usize) -> io::Result<Option<Link>> {
        let socket = match self {
            Database::Sqlite(_) => return Ok(None),
            Database::Postgres(server) => server.socket(),
            Database::Mariadb(server) => server.socket.clone(),
            Database::Galera(cluster, _) => {
                let ports = [0, 1, 2].map(|node| cluster.port((process + node) % 3));
                return Link::to(Destination::Ports(ports.to_vec())).await.map(Some);
            }
        };
        Link::to(Destination::Socket(socket)).await.map(Some)
    }

    /// The URL at which a process finds the database at the end of its link.
    pub(super) fn url(&self, link: Option<&Link>) -> String {
        let port = link.map_or(0, |link| link.port);
        match self {
            Database::Sqlite(file) => format!("sqlite:///{}", file.display()),
            Database::Postgres(_) => format!("postgres://kiln@127.0.0.1:{port}/kiln"),
            Database::Mariadb(_) | Database::Galera(..) => {
                format!("mysql://root@127.0.0.1:{port}/kiln")
            }
        }
    }

    /// Kills the server, if it is one, or a node of the cluster, and starts it again. It blocks.
    pub(super) fn restart(&mut self) {
        match self {
            Database::Sqlite(_) => {}
            Database::Postgres(server) => server.restart(),
            Database::Mariadb(server) => server.restart(),
            Database::Galera(cluster, next) => {
                cluster.kill(*next);
                cluster.rejoin(*next);
                *next = (*next + 1) % 3;
            }
        }
    }
}
