//! Messages to the service manager, in the protocol of systemd: datagrams to the socket that `NOTIFY_SOCKET` names.
//!
//! Without that variable, nothing is sent. A message that cannot be sent is logged and changes nothing else.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The service manager that started this process, if it wants to be told.
pub(crate) struct ServiceManager {
    socket: Option<UnixDatagram>,
    /// The time within which the process has to say that it is alive.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// The service manager that the environment names.
    pub(crate) fn from_environment() -> ServiceManager {
        let socket = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        let socket = socket.and_then(|name| match connect(&name) {
            Ok(socket) => Some(socket),
            Err(error) => {
                let socket = name.display();
                tracing::warn!(%socket, %error, "cannot send messages to the service manager");
                None
            }
        });
        let number = |name: &str| std::env::var_os(name)?.to_str()?.parse::<u64>().ok();
        let is_meant = number("WATCHDOG_PID").is_none_or(|id| id == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|time| is_meant && *time > 0);
        ServiceManager { socket, watchdog: watchdog.map(Duration::from_micros) }
    }

    /// Tells what the process is doing.
    pub(crate) fn status(&self, status: &str) {
        self.send(&format!("STATUS={status}"));
    }

    /// Tells that the service is ready, or again ready.
    pub(crate) fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={status}"));
    }

    /// Tells that the configuration is being read again.
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
    }

    /// Tells that the service stops.
    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=Stopping: running requests are answered");
    }

    /// Tells twice within the time of the watchdog that the process is alive, which it is if its tasks run.
    pub(crate) async fn keep_alive(&self) {
        let Some(limit) = self.watchdog.filter(|_| self.socket.is_some()) else {
            return std::future::pending().await;
        };
        let mut interval = tokio::time::interval(limit / 2);
        loop {
            interval.tick().await;
            self.send("WATCHDOG=1");
        }
    }

    fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(message.as_bytes()) {
            tracing::warn!(%error, "cannot send a message to the service manager");
        }
    }
}

/// Connects to a socket: a path, or after an at sign, a name that is in no directory.
fn connect(name: &OsStr) -> io::Result<UnixDatagram> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    // A service manager that does not read must not stop the service.
    socket.set_nonblocking(true)?;
    Ok(socket)
}
