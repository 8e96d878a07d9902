//! TLS: the certificate with which connections are encrypted.

use crate::stdio::CommandError;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The certificate of a socket, which may be renewed while the server runs.
pub(crate) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    acceptor: RwLock<TlsAcceptor>,
}

impl Certificate {
    /// Loads a certificate and its key.
    pub(crate) fn load(chain: &Path, key: &Path) -> Result<Arc<Certificate>, CommandError> {
        let acceptor = RwLock::new(acceptor(chain, key)?);
        Ok(Arc::new(Certificate { chain: chain.to_owned(), key: key.to_owned(), acceptor }))
    }

    /// The acceptor for the next connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().clone()
    }

    /// Reads the files again. If they cannot be used, the former certificate stays; either is logged.
    pub(crate) fn reload(&self) {
        let file = self.chain.display();
        match acceptor(&self.chain, &self.key) {
            Ok(acceptor) => {
                *self.acceptor.write() = acceptor;
                tracing::info!(%file, "the certificate was read again and is in force");
            }
            Err(CommandError::Usage(error)) => {
                tracing::error!(%file, error, "the certificate cannot be used: the former one stays");
            }
            Err(error) => tracing::error!(%file, ?error, "the certificate cannot be used"),
        }
    }
}

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
