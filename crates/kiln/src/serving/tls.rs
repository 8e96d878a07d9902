//! TLS: a listener whose connections are encrypted.

use crate::streams::Failure;
use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A client that has not shaken hands by then is let go.
const PATIENCE: Duration = Duration::from_secs(10);

/// What encrypts connections, with a certificate and its key in PEM.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot use {}: {error}", path.display()))
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| failed(certificate, &error))?;
    let own = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, own)
        .map_err(|error| failed(certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Connections that have shaken hands.
pub(crate) struct Tls {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl Tls {
    /// Takes connections from a socket; one that is slow to shake hands does not hold up others.
    pub(crate) fn listen(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Tls> {
        let address = listener.local_addr()?;
        let (send, ready) = mpsc::channel(64);
        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = send.closed() => return,
                };
                let Ok((stream, peer)) = accepted else { continue };
                _ = stream.set_nodelay(true);
                let (acceptor, send) = (acceptor.clone(), send.clone());
                tokio::spawn(async move {
                    let shaken = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        _ = send.send((stream, peer)).await;
                    }
                });
            }
        });
        Ok(Tls { ready, address })
    }
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
