//! Connections to other hosts than this server and its metadata service, whatever their names resolve to.

use std::net::{IpAddr, Ipv4Addr};
use std::{fmt, io};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

/// An agent that connects to such hosts only.
pub(super) fn agent(config: Config) -> Agent {
    Agent::with_parts(config, DefaultConnector::default(), FarResolver::default())
}

/// Resolves names, and refuses addresses that only this server can reach. The addresses that it returns are those that
/// are connected to, so that a name cannot resolve to another one meanwhile.
#[derive(Default)]
struct FarResolver(DefaultResolver);

impl fmt::Debug for FarResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FarResolver")
    }
}

impl Resolver for FarResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        // The address of the proxy was chosen by the operator, and may be on this server.
        let is_proxy = config.proxy().is_some_and(|proxy| uri.host() == Some(proxy.host()));
        if !is_proxy && found.iter().any(|address| is_near(address.ip())) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, NEAR).into());
        }
        Ok(found)
    }
}

/// Why a redirect is not followed.
pub(super) const NEAR: &str = "redirect to a host that only this server can reach";

/// Reports whether an address is that of the metadata service or of this server itself.
fn is_near(address: IpAddr) -> bool {
    let is_near_v4 =
        |it: Ipv4Addr| it.is_link_local() || it.is_loopback() || it.octets().starts_with(&[0]);
    match address {
        IpAddr::V4(address) => is_near_v4(address),
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unicast_link_local()
                || address.segments().starts_with(&[0xfd00, 0x0ec2])
                || address.to_ipv4_mapped().is_some_and(is_near_v4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_server_and_of_its_metadata_service_are_near() {
        for address in [
            "169.254.169.254",
            "127.0.0.53",
            "0.0.0.0",
            "::1",
            "::",
            "fe80::a9fe:a9fe",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
        ] {
            assert!(is_near(address.parse().unwrap()), "{address}");
        }
        for address in ["10.0.0.1", "192.0.2.1", "2001:db8::1", "fd00:1::1", "::ffff:192.0.2.1"] {
            assert!(!is_near(address.parse().unwrap()), "{address}");
        }
    }
}
