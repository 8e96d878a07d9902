//! A site: two API processes and three engines on one database, one cloud and perhaps one broker, each with links of its own.

use super::broker::Broker;
use super::cloud::{CloudAddress, CloudProcess};
use super::database::Database;
use super::link::{Destination, Link};
use super::options::{DatabaseKind, Fault, Options};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const APIS: usize = 2;
const ENGINES: usize = 3;
/// How long the leases of the engines last.
pub(super) const LEASE: Duration = Duration::from_secs(3);
/// How long calls whose reply is lost may still take effect.
pub(super) const QUIET: Duration = Duration::from_secs(5);
/// How much of a line of a log is shown.
const LINE: usize = 400;
/// Sets the clock of the programs that load it.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// A process of the service.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) is_engine: bool,
    /// The port of its API.
    port: u16,
    config: PathBuf,
    /// What it does not hear of while the link is cut.
    pub(super) links: Vec<(&'static str, Link)>,
    process: Mutex<Option<Child>>,
}

/// The site.
pub(super) struct Site {
    pub(super) directory: PathBuf,
    program: PathBuf,
    pub(super) cloud: CloudProcess,
    pub(super) database: Mutex<Database>,
    pub(super) broker: Option<Mutex<Broker>>,
    pub(super) members: Vec<Member>,
    pub(super) is_sqlite: bool,
    /// The disk of the database, if it is one that may be filled.
    pub(super) small_disk: Option<Arc<SmallDisk>>,
}

/// A small file system in memory. It is unmounted at the end.
pub(super) struct SmallDisk(pub(super) PathBuf);

impl SmallDisk {
    /// Mounts one, if that is allowed here.
    fn mount(directory: &Path) -> Option<SmallDisk> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=128m,mode=700", "tmpfs"]).arg(directory);
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        is_mounted.then(|| SmallDisk(directory.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Processes that have just been killed may still use it for a moment; lazily, it goes with them.
        _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The pieces that are started before anything runs, because that blocks.
pub(super) struct Foundation {
    pub(super) directory: PathBuf,
    pub(super) database: Database,
    pub(super) broker: Option<Broker>,
    small_disk: Option<SmallDisk>,
}

impl Foundation {
    pub(super) fn lay(
        kind: DatabaseKind,
        options: &Options,
        directory: PathBuf,
    ) -> io::Result<Foundation> {
        std::fs::create_dir_all(directory.join("data"))?;
        let data = directory.join("data");
        let wants_disk = kind == DatabaseKind::Sqlite && options.faults.contains(&Fault::Disk);
        let small_disk = if wants_disk { SmallDisk::mount(&data) } else { None };
        let file = data.join("kiln.db");
        let carries = [DatabaseKind::Sqlite, DatabaseKind::Postgres].contains(&kind);
        let has_broker = !carries && options.faults.contains(&Fault::Broker);
        let broker = has_broker.then(|| Broker::start(None));
        Ok(Foundation { database: Database::start(kind, file), broker, small_disk, directory })
    }
}

impl Site {
    /// Starts all processes, and waits until both APIs answer.
    pub(super) async fn start(foundation: Foundation) -> io::Result<Site> {
        let program = std::env::current_exe()?.with_file_name("kiln");
        if !program.exists() {
            let why = format!(
                "{} is missing: build it first (cargo build -p kiln, with the same profile)",
                program.display()
            );
            return Err(io::Error::other(why));
        }
        let Foundation { directory, database, broker, small_disk } = foundation;
        let ports = [free_port()?, free_port()?, free_port()?, free_port()?];
        let cloud = CloudProcess::start(ports[0], ports[1])?;
        let mut members = Vec::new();
        for number in 0..APIS + ENGINES {
            let is_engine = number >= APIS;
            let name = match is_engine {
                true => format!("engine-{}", number - APIS),
                false => format!("api-{number}"),
            };
            let [port, cfn_port] = [ports[number % APIS * 2], ports[number % APIS * 2 + 1]];
            let mut links = Vec::new();
            let database_link = database.link(number).await?;
            let url = database.url(database_link.as_ref());
            links.extend(database_link.map(|link| ("database", link)));
            let CloudAddress { identity_port, services_port, .. } = cloud.address;
            let services = Link::to_http(services_port, &[]).await?;
            // The identity service has the catalogue, which names the port of all others.
            let others = [(services_port, services.port)];
            let identity = Link::to_http(identity_port, &others).await?;
            let mut transport = String::new();
            if let Some(broker) = &broker {
                let link = Link::to(Destination::Port(broker.port)).await?;
                transport = format!(
                    "transport_url = {}\n",
                    broker
                        .url()
                        .replace(&format!(":{}/", broker.port), &format!(":{}/", link.port))
                );
                links.push(("broker", link));
            }
            let text = config(
                &directory,
                &url,
                &cloud.address,
                identity.port,
                [port, cfn_port],
                &transport,
                is_engine,
            );
            let config = directory.join(format!("{name}.conf"));
            std::fs::write(&config, text)?;
            links.extend([("identity", identity), ("cloud", services)]);
            let process = Mutex::default();
            members.push(Member { name, is_engine, port, config, links, process });
        }
        let is_sqlite = matches!(database, Database::Sqlite(_));
        let (database, broker) = (Mutex::new(database), broker.map(Mutex::new));
        let small_disk = small_disk.map(Arc::new);
        let site =
            Site { directory, program, cloud, database, broker, members, is_sqlite, small_disk };
        for member in &site.members {
            // One after the other: the first one makes the tables.
            site.start_member(member, 0)?;
            if !member.is_engine {
                site.wait_for(member).await?;
            }
        }
        Ok(site)
    }

    /// The URLs of the orchestration APIs.
    pub(super) fn apis(&self) -> Vec<String> {
        let apis = self.members.iter().filter(|member| !member.is_engine);
        apis.map(|member| format!("http://127.0.0.1:{}/v1", member.port)).collect()
    }

    /// Starts a process, with a clock that is so many hours ahead.
    fn start_member(&self, member: &Member, hours_ahead: i32) -> io::Result<()> {
        let log = File::options().create(true).append(true).open(self.log(member))?;
        let mut command = Command::new(&self.program);
        command.args(["server", "--quiet", &QUIET.as_secs().to_string(), "--config"]);
        command.arg(&member.config).current_dir(&self.directory);
        command
            .env("KILN_LOG", "info,kiln_api::serve=warn,sqlx=warn")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        if hours_ahead != 0 {
            command.env("LD_PRELOAD", FAKETIME).env("FAKETIME", format!("{hours_ahead:+}h"));
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let child = command.spawn()?;
        *member.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(())
    }

    async fn wait_for(&self, member: &Member) -> io::Result<()> {
        let client = kiln_cloud::client_builder().timeout(Duration::from_secs(5)).build();
        let client = client.map_err(io::Error::other)?;
        let url = format!("http://127.0.0.1:{}/healthcheck", member.port);
        for _ in 0..600 {
            if client.get(&url).send().await.is_ok_and(|reply| reply.status() == 200) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(io::Error::other(format!(
            "{} does not start: see {}",
            member.name,
            self.log(member).display()
        )))
    }

    pub(super) fn log(&self, member: &Member) -> PathBuf {
        self.directory.join(format!("{}.log", member.name))
    }

    /// Kills a process and starts it again, with a clock that is so many hours ahead.
    pub(super) fn replace(&self, member: &Member, hours_ahead: i32) -> io::Result<()> {
        member.kill();
        self.start_member(member, hours_ahead)
    }

    /// Whether the clock of a process can be set.
    pub(super) fn can_set_clocks() -> bool {
        Path::new(FAKETIME).exists()
    }

    /// The last lines in all logs that have a text.
    pub(super) fn log_lines(&self, wanted: &str, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        for member in &self.members {
            let log = std::fs::read(self.log(member)).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let lines = log.lines().filter(|line| line.contains(wanted));
            let short = |line: &str| line.chars().take(LINE).collect::<String>();
            found.extend(lines.map(|line| format!("{}: {}", member.name, short(line))));
        }
        // Each line begins with the process, then its time.
        found.sort_by(|one, other| after_name(one).cmp(after_name(other)));
        found.split_off(found.len().saturating_sub(count))
    }
}

fn after_name(line: &str) -> &str {
    line.split_once(": ").map_or(line, |parts| parts.1)
}

impl Member {
    pub(super) fn kill(&self) {
        let child = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut child) = child {
            // It may have ended by itself.
            _ = child.kill();
            _ = child.wait();
        }
    }

    /// Sends a signal.
    pub(super) fn signal(&self, signal: Signal) {
        let child = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = &*child {
            // It may have ended by itself, which the end of the run shows.
            _ = kill_process(Pid::from_child(child), signal);
        }
    }

    /// How the process ended, if it did so by itself.
    pub(super) fn ended(&self) -> Option<String> {
        let mut child = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let status = child.as_mut()?.try_wait().ok()??;
        Some(status.to_string())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

fn config(
    directory: &Path,
    database: &str,
    cloud: &CloudAddress,
    identity: u16,
    [api, cfn]: [u16; 2],
    transport: &str,
    is_engine: bool,
) -> String {
    let CloudAddress { password, domain_id, domain_admin, domain_password, .. } = cloud;
    let roles = if is_engine { "engine" } else { "api,cfn" };
    let lease = LEASE.as_secs();
    let keys = directory.join("data/keys");
    let keys = keys.display();
    format!(
        "[DEFAULT]\nregion_name_for_services = RegionOne\nstack_user_domain_id = {domain_id}\n\
         stack_domain_admin = {domain_admin}\nstack_domain_admin_password = {domain_password}\n\
         max_stacks_per_tenant = 10000\n{transport}\
         [database]\nconnection = {database}\n\
         [heat_api]\nbind_host = 127.0.0.1\nbind_port = {api}\n\
         [heat_api_cfn]\nbind_host = 127.0.0.1\nbind_port = {cfn}\n\
         [keystone_authtoken]\nauth_url = http://127.0.0.1:{identity}/v3\nusername = heat\nproject_name = service\n\
         password = {password}\n\
         [kiln]\nroles = {roles}\nlease = {lease}\nkeys_file = {keys}\n"
    )
}
