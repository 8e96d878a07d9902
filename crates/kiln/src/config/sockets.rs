//! Where the interfaces listen.

use super::Config;
use crate::streams::Failure;
use std::path::PathBuf;

/// What a process may do.
const ROLES: [&str; 4] = ["api", "cfn", "cloudwatch", "engine"];

/// Where an interface listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    /// The section of the file that says so.
    pub(crate) section: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The certificate and its key, if connections are encrypted.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
}

impl Socket {
    /// What a section says.
    pub(super) fn of(
        config: &Config,
        section: &'static str,
        default: i64,
    ) -> Result<Socket, Failure> {
        let file = |option: &str| config.text(section, option).map(PathBuf::from);
        let tls = match (file("cert_file"), file("key_file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                let message = "a certificate needs a key, and a key a certificate";
                return Err(config.wrong(section, "cert_file", message));
            }
        };
        Ok(Socket {
            section,
            host: config.text(section, "bind_host").unwrap_or_else(|| "0.0.0.0".to_owned()),
            port: port(config, section, "bind_port", default)?,
            tls,
        })
    }

    /// The scheme of its addresses.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

/// A port.
pub(super) fn port(
    config: &Config,
    section: &str,
    option: &str,
    default: i64,
) -> Result<u16, Failure> {
    let port = config.number(section, option, default)?;
    u16::try_from(port).map_err(|_| config.wrong(section, option, "that is no port"))
}

/// The roles that a file names; none if it leaves that open.
pub(super) fn roles(config: &Config) -> Result<Vec<String>, Failure> {
    let roles = config.list("kiln", "roles");
    match roles.iter().find(|role| !ROLES.contains(&role.as_str())) {
        None => Ok(roles),
        Some(role) => {
            let message =
                format!("there is no role {role}; they are api, cfn, cloudwatch and engine");
            Err(config.wrong("kiln", "roles", &message))
        }
    }
}
