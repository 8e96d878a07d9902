//! A RabbitMQ for the tests: started in a temporary directory, reachable from this machine only, and stopped at the
//! end in any case.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A password with characters that must be escaped in a URL. Python clients fail with a slash.
pub(crate) const PASSWORD: &str = "a@b:%25";
pub(crate) const VIRTUAL_HOST: &str = "kiln/test";

/// A broker that can be stopped and started again.
pub(crate) struct Broker {
    folder: PathBuf,
    pub(crate) port: u16,
    /// The port for TLS.
    pub(crate) tls_port: u16,
    directory_port: u16,
    node_port: u16,
    running: Vec<Child>,
}

impl Broker {
    /// Starts a broker; with a certificate and its key it also accepts TLS.
    pub(crate) fn start(tls: Option<(&Path, &Path)>) -> Broker {
        let folder = std::env::temp_dir().join(format!("kiln-rabbitmq-{}", std::process::id()));
        fs::create_dir_all(folder.join("log")).expect("a folder");
        let [port, tls_port, directory_port, node_port] = free_ports();
        let broker =
            Broker { folder, port, tls_port, directory_port, node_port, running: Vec::new() };
        let mut config = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\ndefault_user = kiln\ndefault_pass = {PASSWORD}\n\
             default_vhost = {VIRTUAL_HOST}\nlog.file.level = warning\n"
        );
        if let Some((certificate, key)) = tls {
            config.push_str(&format!(
                "listeners.ssl.1 = 127.0.0.1:{tls_port}\nssl_options.certfile = {}\n\
                 ssl_options.keyfile = {}\nssl_options.verify = verify_none\n",
                certificate.display(),
                key.display()
            ));
        }
        broker.put("rabbitmq.conf", &config);
        broker.put("plugins", "[].\n");
        broker.put("environment", "");
        let mut broker = broker;
        broker.start_again();
        broker
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("a file of the broker");
    }

    /// Returns the address in the format of oslo.messaging.
    pub(crate) fn url(&self) -> String {
        format!("rabbit://kiln:a%40b%3A%2525@127.0.0.1:{}/kiln%2Ftest", self.port)
    }

    /// Starts the broker again with its persisted state.
    pub(crate) fn start_again(&mut self) {
        let mut directory = Command::new(program("epmd"));
        directory.args(["-port", &self.directory_port.to_string(), "-address", "127.0.0.1"]);
        directory.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running.push(directory.process_group(0).spawn().expect("epmd starts"));
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(writer.try_clone().expect("a pipe")).stderr(writer);
        self.running.push(command.process_group(0).spawn().expect("RabbitMQ starts"));
        // The broker holds the only other end of the pipe, so the pipe ends with it.
        drop(command);
        let mut said = String::new();
        let mut lines = BufReader::new(reader).lines();
        while let Some(Ok(line)) = lines.next() {
            said.push_str(&line);
            said.push('\n');
            if line.contains("completed with") {
                // Further output must not fill the pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return;
            }
        }
        panic!("RabbitMQ does not start:\n{said}");
    }

    fn command(&self) -> Command {
        let at = |name: &str| self.folder.join(name);
        let mut command = Command::new(program("rabbitmq-server"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", &self.folder);
        command.env("LANG", "C.UTF-8").env("ERL_EPMD_ADDRESS", "127.0.0.1");
        command.env("ERL_EPMD_PORT", self.directory_port.to_string());
        command.env("RABBITMQ_DIST_PORT", self.node_port.to_string());
        command.env("RABBITMQ_NODENAME", "kiln@localhost");
        command.env("RABBITMQ_CONF_ENV_FILE", at("environment"));
        command.env("RABBITMQ_CONFIG_FILE", at("rabbitmq.conf"));
        command.env("RABBITMQ_ENABLED_PLUGINS_FILE", at("plugins"));
        command.env("RABBITMQ_LOG_BASE", at("log")).env("RABBITMQ_MNESIA_BASE", at("mnesia"));
        let only_here = "-kernel inet_dist_use_interface {127,0,0,1}";
        command.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", only_here);
        command
    }

    /// Kills the broker like a power failure.
    pub(crate) fn stop(&mut self) {
        for mut child in self.running.drain(..).rev() {
            let group = format!("-{}", child.id());
            _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            _ = child.wait();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
        _ = fs::remove_dir_all(&self.folder);
    }
}

fn free_ports<const N: usize>() -> [u16; N] {
    // All ports are bound before any is released, so that they differ.
    let taken = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    taken.map(|socket| socket.local_addr().expect("a port").port())
}

/// Finds a program.
fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The program in /usr/sbin changes the user, who may not read the temporary directory.
    let folders = [PathBuf::from("/usr/lib/rabbitmq/bin")].into_iter();
    let found = folders.chain(std::env::split_paths(&path)).map(|it| it.join(name));
    let found = found.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is missing: install rabbitmq-server, as dev/test does"))
}
