//! How the other end of an encrypted connection is verified, and how this end identifies itself.

use crate::Secret;

/// The TLS settings of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificates of further trusted authorities, in PEM.
    pub authorities: Vec<u8>,
    /// A certificate with its key, both in PEM, that this end identifies itself with.
    pub identity: Option<Secret>,
    /// Whether invalid certificates are accepted.
    pub is_insecure: bool,
}

impl Tls {
    /// A client with these settings.
    pub fn configure(
        &self,
        client: reqwest::ClientBuilder,
    ) -> Result<reqwest::ClientBuilder, reqwest::Error> {
        let mut client = client.tls_danger_accept_invalid_certs(self.is_insecure);
        if !self.authorities.is_empty() {
            for authority in reqwest::Certificate::from_pem_bundle(&self.authorities)? {
                client = client.add_root_certificate(authority);
            }
        }
        if let Some(identity) = &self.identity {
            client = client.identity(reqwest::Identity::from_pem(identity.expose().as_bytes())?);
        }
        Ok(client)
    }
}
