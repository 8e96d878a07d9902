//! TLS for the connection to a broker.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// The TLS configuration of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// A PEM file with the trusted certificate authorities; absent for those of the system.
    pub authorities: Option<PathBuf>,
    /// PEM files with the client certificate and its key, if the broker requires one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// The certificate bundles of the distributions.
const SYSTEM_BUNDLES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

impl Tls {
    /// Builds the TLS connector; the error is a sentence.
    pub(crate) fn connector(&self) -> Result<TlsConnector, String> {
        let bad = |error: rustls::Error| format!("cannot set up TLS: {error}");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().map_err(bad)?;
        let builder = builder.with_root_certificates(self.roots()?);
        let config = match &self.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let secret =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| cannot_read(key, error))?;
                builder.with_client_auth_cert(certificates(certificate)?, secret).map_err(bad)?
            }
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let of_system = || SYSTEM_BUNDLES.iter().map(PathBuf::from).find(|path| path.exists());
        let Some(path) = self.authorities.clone().or_else(of_system) else {
            return Err("no authority is trusted: name a file in ssl_ca_file".to_owned());
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&path)? {
            // An unparsable certificate is ignored.
            _ = roots.add(certificate);
        }
        if roots.is_empty() {
            Err(format!("{} has no certificate of an authority", path.display()))
        } else {
            Ok(roots)
        }
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).map_err(|error| cannot_read(path, error))?;
    read.collect::<Result<_, _>>().map_err(|error| cannot_read(path, error))
}

fn cannot_read(path: &Path, error: impl std::fmt::Display) -> String {
    format!("cannot read {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        let why = |tls: Tls| tls.connector().err().unwrap_or_default();
        let missing = Some(PathBuf::from("/nowhere/ca.pem"));
        let tls = Tls { authorities: missing, own: None };
        assert!(why(tls).starts_with("cannot read /nowhere/ca.pem: "));
        let tls = Tls { authorities: Some("/dev/null".into()), own: None };
        assert_eq!(why(tls), "/dev/null has no certificate of an authority");
    }
}
