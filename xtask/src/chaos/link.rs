//! The network between a process and a server: a proxy that can be cut.
//!
//! While a link is cut, connections stay open and nothing comes through, as between machines whose network fails.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

/// Where a link leads.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    Socket(PathBuf),
    Port(u16),
    /// The first of these that accepts connections, as a balancer chooses.
    Ports(Vec<u16>),
}

/// A link, which is there as long as the program.
#[derive(Clone)]
pub(super) struct Link {
    /// The port at which it begins.
    pub(super) port: u16,
    is_cut: Arc<watch::Sender<bool>>,
}

/// What is written instead of what in everything that the server says; both are equally long.
type Replacements = Arc<Vec<(String, String)>>;

impl Link {
    /// A link to a server.
    pub(super) async fn to(target: Destination) -> io::Result<Link> {
        let socket = TcpListener::bind("127.0.0.1:0").await?;
        Link::open(target, socket, Arc::default())
    }

    /// A link to an HTTP server that names addresses in its replies: its own becomes the link's, and those of other servers
    /// those of the links to them.
    pub(super) async fn to_http(port: u16, others: &[(u16, u16)]) -> io::Result<Link> {
        let socket = TcpListener::bind("127.0.0.1:0").await?;
        let own = (port, socket.local_addr()?.port());
        let at = |port: u16| format!("127.0.0.1:{port:05}");
        let all = others.iter().copied().chain([own]).map(|(old, new)| (at(old), at(new)));
        Link::open(Destination::Port(port), socket, Arc::new(all.collect()))
    }

    fn open(
        target: Destination,
        socket: TcpListener,
        replacements: Replacements,
    ) -> io::Result<Link> {
        let port = socket.local_addr()?.port();
        let link = Link { port, is_cut: Arc::new(watch::channel(false).0) };
        let is_cut = link.is_cut.clone();
        tokio::spawn(async move {
            while let Ok((inner, _)) = socket.accept().await {
                let (target, replacements, is_cut) =
                    (target.clone(), replacements.clone(), is_cut.subscribe());
                // A connection that breaks is what the process has to cope with.
                tokio::spawn(async move { _ = carry(inner, target, replacements, is_cut).await });
            }
        });
        Ok(link)
    }

    /// Cuts the link for some time.
    pub(super) async fn cut(&self, time: Duration) {
        self.is_cut.send_replace(true);
        tokio::time::sleep(time).await;
        self.is_cut.send_replace(false);
    }

    pub(super) fn heal(&self) {
        self.is_cut.send_replace(false);
    }
}

async fn carry(
    inner: TcpStream,
    target: Destination,
    replacements: Replacements,
    mut is_cut: watch::Receiver<bool>,
) -> io::Result<()> {
    whole(&mut is_cut).await;
    let (from_inner, to_inner) = inner.into_split();
    let ports = match target {
        Destination::Port(port) => vec![port],
        Destination::Ports(ports) => ports,
        Destination::Socket(path) => {
            let (from_outer, to_outer) = UnixStream::connect(path).await?.into_split();
            let to_server = (from_inner, to_outer);
            return both(to_server, (from_outer, to_inner), replacements, is_cut).await;
        }
    };
    let addresses: Vec<SocketAddr> =
        ports.into_iter().map(|port| (Ipv4Addr::LOCALHOST, port).into()).collect();
    let outer = TcpStream::connect(&addresses[..]).await?;
    outer.set_nodelay(true)?;
    let (from_outer, to_outer) = outer.into_split();
    both((from_inner, to_outer), (from_outer, to_inner), replacements, is_cut).await
}

/// Carries what both sides say until either is done: a server that is gone is gone for its clients.
async fn both(
    (from_inner, to_outer): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    (from_outer, to_inner): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    replacements: Replacements,
    is_cut: watch::Receiver<bool>,
) -> io::Result<()> {
    tokio::select! {
        done = copy(from_inner, to_outer, Arc::default(), is_cut.clone()) => done,
        done = copy(from_outer, to_inner, replacements, is_cut) => done,
    }
}

/// Waits until the link is whole.
async fn whole(is_cut: &mut watch::Receiver<bool>) {
    // The sender is there as long as the link.
    _ = is_cut.wait_for(|is_cut| !*is_cut).await;
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    replacements: Replacements,
    mut is_cut: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut pending = Vec::new();
    loop {
        let count = from.read(&mut buffer).await?;
        whole(&mut is_cut).await;
        pending.extend_from_slice(&buffer[..count]);
        let mut sent = pending.len();
        for (old, new) in replacements.iter() {
            sent = sent.min(replace(&mut pending, old.as_bytes(), new.as_bytes()));
        }
        if count == 0 {
            sent = pending.len();
        }
        to.write_all(&pending[..sent]).await?;
        pending.drain(..sent);
        if count == 0 {
            return to.shutdown().await;
        }
    }
}

/// Replaces a text; returns how many bytes can be sent, as the rest may be the beginning of it.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(old.len()).position(|window| window == old) {
        at += found;
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    let longest = old.len().saturating_sub(1).min(bytes.len());
    let held = (1..=longest).rev().find(|held| bytes.ends_with(&old[..*held]));
    bytes.len() - held.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn a_text_is_replaced_also_where_it_comes_in_two_parts() {
        let mut bytes = b"see host:1/x or ho".to_vec();
        assert_eq!(replace(&mut bytes, b"host:1", b"link:2"), bytes.len() - 2);
        assert_eq!(bytes, b"see link:2/x or ho");
        let mut all = b"nothing of it".to_vec();
        assert_eq!(replace(&mut all, b"host:1", b"link:2"), all.len());
    }
}
