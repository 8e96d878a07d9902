//! TLS: a listener with encrypted connections.

use crate::stdio::CommandError;
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

/// The timeout of TLS handshakes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The TLS acceptor for a certificate and its key in PEM.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, CommandError> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        CommandError::usage(format!("cannot use {}: {error}", path.display()))
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

/// Connections after their handshake.
pub(crate) struct Tls {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl Tls {
    /// Accepts connections from a socket; a slow handshake does not delay other connections.
    pub(crate) fn listen(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Tls> {
        let address = listener.local_addr()?;
        let (send, ready) = mpsc::channel(64);
        super::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = send.closed() => return,
                };
                let Ok((stream, peer)) = accepted else { continue };
                _ = stream.set_nodelay(true);
                let (acceptor, send) = (acceptor.clone(), send.clone());
                super::spawn(async move {
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
