//! Database servers of our own: started in a temporary folder, reachable by a socket in it, stopped at
//! the end whatever happens.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary folder, which is removed at the end.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("kiln-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Scratch { path }
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path.join(name);
        fs::create_dir(&folder).unwrap();
        folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.path);
    }
}

/// A server that runs until this is dropped.
struct Server {
    process: Child,
}

impl Server {
    /// Starts a server and waits until it says that it is ready.
    fn start(mut command: Command, ready: &str) -> Server {
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut server = Server { process: command.spawn().unwrap() };
        // The server has the only other end of the pipe: if it ends, so does what it says.
        drop(command);
        let mut said = String::new();
        let mut lines = BufReader::new(reader).lines();
        while let Some(Ok(line)) = lines.next() {
            said.push_str(&line);
            said.push('\n');
            if line.contains(ready) {
                // Whatever else it says must not fill the pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return server;
            }
        }
        let ended = server.process.wait();
        panic!("the server does not start: {ended:?}\n{said}");
    }
}

impl Server {
    /// Ends the server with a signal, and waits for its end.
    fn end(mut self, signal: &str) {
        _ = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(Some(_))) {
            return;
        }
        let pid = self.process.id().to_string();
        // The servers end at once without waiting for connections: SIGQUIT for PostgreSQL is not needed,
        // all that they know is thrown away.
        _ = Command::new("kill").args(["-KILL", &pid]).status();
        _ = self.process.wait();
    }
}

async fn execute(url: &str, statement: &str) -> Result<(), sqlx::Error> {
    use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await?;
    connection.execute(AssertSqlSafe(statement.to_owned())).await?;
    connection.close().await
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// PostgreSQL, which refuses to be run by root.
pub(crate) struct Postgres {
    server: Option<Server>,
    runtime: tokio::runtime::Runtime,
    sockets: PathBuf,
    pub(crate) scratch: Scratch,
}

impl Postgres {
    pub(crate) fn start() -> Postgres {
        let scratch = Scratch::new("postgres");
        let folder = scratch.folder("server");
        let data = folder.join("data");
        give_away(&folder);
        let mut initdb = unprivileged(&program("initdb", "postgresql"));
        initdb.arg("-D").arg(&data).args(["-U", "kiln", "-A", "trust", "-E", "UTF8", "--no-sync"]);
        finish(initdb.arg("--locale=C.UTF-8"));
        let server = Some(Postgres::serve(&folder));
        let runtime = runtime();
        Postgres { server, runtime, sockets: folder, scratch }
    }

    fn serve(folder: &Path) -> Server {
        let mut postgres = unprivileged(&program("postgres", "postgresql"));
        postgres.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        for setting in ["listen_addresses=", "fsync=off", "max_connections=100"] {
            postgres.args(["-c", setting]);
        }
        Server::start(postgres, "ready to accept connections")
    }

    /// Ends the server at once, with all its connections, and starts it again.
    pub(crate) fn restart(&mut self) {
        if let Some(server) = self.server.take() {
            // Its other processes end with it, and recovery follows as after a crash.
            server.end("-QUIT");
        }
        self.server = Some(Postgres::serve(&self.sockets));
    }

    /// The socket of the server.
    pub(crate) fn socket(&self) -> PathBuf {
        self.sockets.join(".s.PGSQL.5432")
    }

    /// A new database.
    pub(crate) fn database(&self, name: &str) -> String {
        let statement = format!("CREATE DATABASE \"{name}\"");
        let url = postgres_url(&self.sockets, "postgres");
        self.runtime.block_on(execute(&url, &statement)).unwrap();
        postgres_url(&self.sockets, name)
    }
}

fn postgres_url(sockets: &Path, name: &str) -> String {
    format!("postgres://kiln@localhost/{name}?host={}", sockets.display())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The children notice that the first process is gone, and the folder must outlive them.
        drop(self.server.take());
    }
}

/// Settings of MariaDB for data that nobody will miss: nothing waits for the disk. What was committed outlives the server, not
/// the machine.
const NO_WAITING: [&str; 5] = [
    "--innodb-flush-method=nosync",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-doublewrite=0",
    "--innodb-file-per-table=0",
    "--sync-frm=0",
];

/// MariaDB.
pub(crate) struct Mariadb {
    server: Option<Server>,
    runtime: tokio::runtime::Runtime,
    folder: PathBuf,
    pub(crate) socket: PathBuf,
    pub(crate) scratch: Scratch,
}

impl Mariadb {
    pub(crate) fn start() -> Mariadb {
        let scratch = Scratch::new("mariadb");
        let folder = scratch.folder("server");
        give_away(&folder);
        let data = format!("--datadir={}", folder.join("data").display());
        let mut install = unprivileged(&program("mariadb-install-db", "mariadb-server"));
        install.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
        install.env("TMPDIR", &folder);
        finish(install.args(["--skip-test-db", "--skip-name-resolve"]).args(NO_WAITING).arg(&data));
        let server = Some(Mariadb::serve(&folder));
        let (runtime, socket) = (runtime(), folder.join("socket"));
        Mariadb { server, runtime, folder, socket, scratch }
    }

    fn serve(folder: &Path) -> Server {
        let mut mariadbd = unprivileged(&program("mariadbd", "mariadb-server"));
        mariadbd.args(["--no-defaults", "--skip-networking", "--skip-name-resolve"]);
        // When a server starts, it removes the temporary tables of all others in the same folder.
        mariadbd.env("TMPDIR", folder);
        for (option, name) in [("datadir", "data"), ("socket", "socket"), ("pid-file", "pid")] {
            mariadbd.arg(format!("--{option}={}", folder.join(name).display()));
        }
        mariadbd.args(NO_WAITING);
        Server::start(mariadbd, "ready for connections")
    }

    /// Kills the server, and starts it again.
    pub(crate) fn restart(&mut self) {
        drop(self.server.take());
        self.server = Some(Mariadb::serve(&self.folder));
    }

    /// A new database.
    pub(crate) fn database(&self, name: &str) -> String {
        let statement = format!("CREATE DATABASE `{name}`");
        let url = mariadb_url(&self.socket, "mysql");
        self.runtime.block_on(execute(&url, &statement)).unwrap();
        mariadb_url(&self.socket, name)
    }
}

fn mariadb_url(socket: &Path, name: &str) -> String {
    format!("mysql://root@localhost/{name}?socket={}", socket.display())
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        drop(self.server.take());
    }
}

/// How a cluster notices soon that a node is gone.
const IMPATIENT: &str =
    "evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S";

/// A Galera cluster of three nodes of MariaDB, on this machine alone.
pub(crate) struct Galera {
    nodes: Vec<Option<Server>>,
    runtime: tokio::runtime::Runtime,
    /// For each node its ports: for clients, for the group, for what a node missed, and for whole copies.
    ports: Vec<[u16; 4]>,
    folder: PathBuf,
    pub(crate) scratch: Scratch,
}

impl Galera {
    pub(crate) fn start() -> Galera {
        let scratch = Scratch::new("galera");
        let folder = scratch.folder("server");
        give_away(&folder);
        let mut install = unprivileged(&program("mariadb-install-db", "mariadb-server"));
        install.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
        install.env("TMPDIR", &folder);
        let data = format!("--datadir={}", folder.join("data-0").display());
        finish(install.args(["--skip-test-db", "--skip-name-resolve"]).args(NO_WAITING).arg(data));
        let ports = vec![free_ports(), free_ports(), free_ports()];
        let (nodes, runtime) = (vec![None, None, None], runtime());
        let mut galera = Galera { nodes, runtime, ports, folder, scratch };
        for node in 0..3 {
            galera.start_node(node, node == 0);
        }
        galera
    }

    fn start_node(&mut self, node: usize, is_new: bool) {
        let [clients, group, missed, copies] = self.ports[node];
        let at = |port: u16| format!("127.0.0.1:{port}");
        let mut mariadbd = unprivileged(&program("mariadbd", "mariadb-server"));
        mariadbd.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
        mariadbd.arg(format!("--port={clients}"));
        for (option, name) in [("datadir", "data"), ("socket", "socket"), ("pid-file", "pid")] {
            let path = self.folder.join(format!("{name}-{node}"));
            mariadbd.arg(format!("--{option}={}", path.display()));
        }
        let [_, temporary] = ["data", "tmp"].map(|name| {
            let folder = self.folder.join(format!("{name}-{node}"));
            if !folder.exists() {
                fs::create_dir(&folder).unwrap();
                give_away(&folder);
            }
            folder
        });
        mariadbd.env("TMPDIR", temporary);
        let members: Vec<String> = self.ports.iter().map(|ports| at(ports[1])).collect();
        let provider = format!(
            "--wsrep-provider-options=gmcast.listen_addr=tcp://{};ist.recv_addr={};gcache.size=32M;{IMPATIENT}",
            at(group),
            at(missed)
        );
        mariadbd.args(NO_WAITING).arg(provider);
        mariadbd.args(["--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-on=ON"]);
        mariadbd.args(["--wsrep-provider=/usr/lib/galera/libgalera_smm.so"]);
        mariadbd.args(["--wsrep-cluster-name=kiln", "--wsrep-sst-method=rsync"]);
        mariadbd.arg(format!("--wsrep-cluster-address=gcomm://{}", members.join(",")));
        mariadbd.arg(format!("--wsrep-node-name=node-{node}"));
        mariadbd.arg(format!("--wsrep-node-address={}", at(group)));
        mariadbd.arg(format!("--wsrep-sst-receive-address={}", at(copies)));
        if is_new {
            mariadbd.arg("--wsrep-new-cluster");
        }
        self.nodes[node] =
            Some(Server::start(mariadbd, "Synchronized with group, ready for connections"));
    }

    /// Kills a node.
    pub(crate) fn kill(&mut self, node: usize) {
        drop(self.nodes[node].take());
    }

    /// Starts a node that was killed, and waits until it has what it missed.
    pub(crate) fn rejoin(&mut self, node: usize) {
        self.start_node(node, false);
    }

    /// The port of a node.
    pub(crate) fn port(&self, node: usize) -> u16 {
        self.ports[node][0]
    }

    /// A new database, by its URL at each node.
    pub(crate) fn database(&self, name: &str) -> [String; 3] {
        let url =
            |node: usize, name: &str| format!("mysql://root@127.0.0.1:{}/{name}", self.port(node));
        let statement = format!("CREATE DATABASE `{name}`");
        self.runtime.block_on(execute(&url(0, "mysql"), &statement)).unwrap();
        [0, 1, 2].map(|node| url(node, name))
    }
}

impl Drop for Galera {
    fn drop(&mut self) {
        self.nodes.clear();
    }
}

fn free_ports<const N: usize>() -> [u16; N] {
    // All ports are bound before any is released, so that they differ.
    let taken = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    taken.map(|socket| socket.local_addr().unwrap().port())
}

/// Where a program is.
pub(crate) fn program(name: &str, package: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders.extend(["/usr/sbin", "/usr/local/sbin", "/usr/bin"].map(PathBuf::from));
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("the program {name} is missing: install the package {package} (dev/test does)")
    })
}

/// A command that ends with us and is not run by root.
fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if let Some((user, group)) = somebody_else() {
        command.args(["--reuid", &user.to_string(), "--regid", &group.to_string()]);
        command.arg("--clear-groups");
    }
    command.arg(program).current_dir("/").env("LC_ALL", "C.UTF-8");
    command
}

/// If we are root: somebody who is not.
fn somebody_else() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let user = users.lines().find(|line| line.starts_with("nobody:")).unwrap();
    let mut fields = user.split(':').skip(2).map(|field| field.parse().unwrap());
    Some((fields.next().unwrap(), fields.next().unwrap()))
}

fn give_away(folder: &Path) {
    if let Some((user, group)) = somebody_else() {
        chown(folder, Some(user), Some(group)).unwrap();
    }
}

fn finish(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
