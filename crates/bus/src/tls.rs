//! How a connection to a broker is encrypted.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// How a connection is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificates of the authorities that are trusted, in PEM; nothing means those that the system trusts.
    pub authorities: Option<PathBuf>,
    /// Our own certificate and its key, in PEM, if the broker asks for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Where distributions keep the certificates of authorities that the system trusts.
const OF_SYSTEM: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

impl Tls {
    /// What encrypts connections so; or why it cannot be made.
    pub(crate) fn connector(&self) -> Result<TlsConnector, String> {
        let bad = |error: rustls::Error| format!("encryption cannot be used: {error}");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().map_err(bad)?;
        let builder = builder.with_root_certificates(self.roots()?);
        let config = match &self.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let secret =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| unread(key, error))?;
                builder.with_client_auth_cert(certificates(certificate)?, secret).map_err(bad)?
            }
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let of_system = || OF_SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
        let Some(path) = self.authorities.clone().or_else(of_system) else {
            return Err("no authority is trusted: name a file in ssl_ca_file".to_owned());
        };
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&path)? {
            // One that cannot be understood vouches for nobody.
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
    let read = CertificateDer::pem_file_iter(path).map_err(|error| unread(path, error))?;
    read.collect::<Result<_, _>>().map_err(|error| unread(path, error))
}

fn unread(path: &Path, error: impl std::fmt::Display) -> String {
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
