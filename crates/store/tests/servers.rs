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

impl Drop for Server {
    fn drop(&mut self) {
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
        let mut postgres = unprivileged(&program("postgres", "postgresql"));
        postgres.arg("-D").arg(&data).arg("-k").arg(&folder);
        for setting in ["listen_addresses=", "fsync=off", "max_connections=100"] {
            postgres.args(["-c", setting]);
        }
        let server = Server::start(postgres, "ready to accept connections");
        let runtime = runtime();
        Postgres { server: Some(server), runtime, sockets: folder, scratch }
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

/// Settings of MariaDB for data that nobody will miss: nothing waits for the disk.
const NO_WAITING: [&str; 5] = [
    "--innodb-flush-method=nosync",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-doublewrite=0",
    "--innodb-file-per-table=0",
    "--sync-frm=0",
];

/// MariaDB.
pub(crate) struct Mariadb {
    server: Option<Server>,
    runtime: tokio::runtime::Runtime,
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
        finish(install.args(["--skip-test-db", "--skip-name-resolve"]).args(NO_WAITING).arg(&data));
        let socket = folder.join("socket");
        let mut mariadbd = unprivileged(&program("mariadbd", "mariadb-server"));
        mariadbd.args(["--no-defaults", "--skip-networking", "--skip-name-resolve"]).arg(&data);
        mariadbd.arg(format!("--socket={}", socket.display()));
        mariadbd.arg(format!("--pid-file={}", folder.join("pid").display()));
        mariadbd.args(NO_WAITING);
        let server = Server::start(mariadbd, "ready for connections");
        let runtime = runtime();
        Mariadb { server: Some(server), runtime, socket, scratch }
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
