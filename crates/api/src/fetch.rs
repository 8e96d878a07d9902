//! Fetching templates at URLs of users.
//!
//! A service that fetches any URL can be made to send requests anywhere. So a template is fetched from a public address, or
//! from a URL with a prefix that the operator allows, whatever its address is. Every redirect is checked like the first
//! URL, and the address of a name is checked where the connection is made, so that the name cannot change its meaning in
//! between. All failures have the same answer: it does not tell what is in the network of the service.

use crate::url_policy;
use async_trait::async_trait;
use kiln_engine::TemplateFetcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 3;

/// The prefix that allows every URL.
const ANY: &str = "*";

/// Fetches templates from the URLs that the operator allows.
#[derive(Debug)]
pub struct UrlFetcher {
    prefixes: Vec<String>,
    is_public_allowed: bool,
    timeout: Duration,
    /// The client for URLs with an allowed prefix.
    trusted: OnceLock<Client>,
    /// The client for all others, which connects to public addresses only.
    guarded: OnceLock<Client>,
}

/// Whose address a URL may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Any,
    Public,
}

/// Why there is no template.
enum FetchError {
    TooLong,
    Failed,
}

impl From<reqwest::Error> for FetchError {
    fn from(_: reqwest::Error) -> FetchError {
        FetchError::Failed
    }
}

impl UrlFetcher {
    /// A fetcher for URLs with one of the prefixes (`*` stands for all), and for public addresses if that is allowed.
    pub fn new(prefixes: Vec<String>, is_public_allowed: bool, timeout: Duration) -> UrlFetcher {
        let (trusted, guarded) = (OnceLock::new(), OnceLock::new());
        UrlFetcher { prefixes, is_public_allowed, timeout, trusted, guarded }
    }

    /// Whether a URL may be fetched.
    fn reach(&self, url: &Url) -> Option<Reach> {
        let is_any = self.prefixes.iter().any(|prefix| prefix == ANY);
        if is_any || url_policy::allowed(&self.prefixes, url.as_str()).is_some() {
            return Some(Reach::Any);
        }
        let is_plain = url.username().is_empty() && url.password().is_none();
        let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
        // The addresses of a name are checked when they are known.
        let is_public = host.parse().map_or(true, is_public);
        (self.is_public_allowed && is_plain && is_public).then_some(Reach::Public)
    }

    fn client(&self, reach: Reach) -> Result<&Client, reqwest::Error> {
        let builder = kiln_cloud::client_builder().redirect(Policy::none());
        let (cell, builder) = match reach {
            Reach::Any => (&self.trusted, builder),
            // A proxy would look names up itself.
            Reach::Public => {
                (&self.guarded, builder.no_proxy().dns_resolver(Arc::new(PublicNames)))
            }
        };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let client = builder.build()?;
        Ok(cell.get_or_init(|| client))
    }

    async fn text(&self, mut url: Url, limit: usize) -> Result<Arc<str>, FetchError> {
        for _ in 0..=MAX_REDIRECTS {
            let is_web = ["http", "https"].contains(&url.scheme());
            let reach = self.reach(&url).filter(|_| is_web).ok_or(FetchError::Failed)?;
            let mut response = self.client(reach)?.get(url.clone()).send().await?;
            if response.status().is_redirection() {
                let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                url = to.and_then(|to| url.join(to).ok()).ok_or(FetchError::Failed)?;
                continue;
            }
            if !response.status().is_success() {
                return Err(FetchError::Failed);
            }
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > limit {
                    return Err(FetchError::TooLong);
                }
            }
            return Ok(String::from_utf8_lossy(&bytes).into());
        }
        Err(FetchError::Failed)
    }

    /// What is said about every template that was not fetched.
    fn failure(&self, url: &str) -> String {
        let rule = match self.is_public_allowed {
            _ if self.prefixes.iter().any(|prefix| prefix == ANY) => "",
            true => " (allowed are public addresses, and the prefixes in [kiln] fetch_allowed)",
            false => " (allowed are the prefixes in [kiln] fetch_allowed)",
        };
        format!("Failed to retrieve template from {url}{rule}")
    }
}

#[async_trait]
impl TemplateFetcher for UrlFetcher {
    async fn fetch(&self, url: &str, max_bytes: usize) -> Result<Arc<str>, String> {
        let Ok(parsed) = Url::parse(url) else { return Err(self.failure(url)) };
        match tokio::time::timeout(self.timeout, self.text(parsed, max_bytes)).await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(FetchError::TooLong)) => {
                Err(format!("Template exceeds maximum allowed size ({max_bytes} bytes)"))
            }
            Ok(Err(FetchError::Failed)) | Err(_) => {
                tracing::info!(url, "a template was not fetched");
                Err(self.failure(url))
            }
        }
    }
}

/// Looks names up, and finds their public addresses only.
struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|it| is_public(it.ip())).collect();
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an address can be reached from everywhere: it is none of a private network, of this machine or of a special use.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

/// Only global unicast addresses; those that contain an IPv4 address only if that one is public.
fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let part = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(part(high, low)),
        [0x2002, high, low, ..] => is_public_v4(part(high, low)),
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, ..] => false,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for address in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "127.0.0.1",
            "100.64.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn the_operator_decides_what_is_reached() {
        let reach = |prefixes: &[&str], is_public_allowed, url: &str| {
            let prefixes = prefixes.iter().map(|it| (*it).to_owned()).collect();
            let fetcher = UrlFetcher::new(prefixes, is_public_allowed, Duration::from_secs(1));
            fetcher.reach(&Url::parse(url).unwrap())
        };
        let public = Some(Reach::Public);
        assert_eq!(reach(&[], true, "https://example.org/t.yaml"), public);
        assert_eq!(reach(&[], true, "http://8.8.8.8/t.yaml"), public);
        assert_eq!(reach(&[], false, "https://example.org/t.yaml"), None);
        for url in [
            "http://127.0.0.1/t",
            "http://0x7f.1/t",
            "http://2130706433/t",
            "http://[::1]/t",
            "http://169.254.169.254/latest",
            "http://u@example.org/t",
        ] {
            assert_eq!(reach(&[], true, url), None, "{url}");
            assert_eq!(reach(&["*"], false, url), Some(Reach::Any), "{url}");
        }
        assert_eq!(reach(&["http://10.0.0.5/t/"], true, "http://10.0.0.5/t/x"), Some(Reach::Any));
        assert_eq!(reach(&["http://10.0.0.5/t/"], true, "http://10.0.0.5/x"), None);
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_not_reached() {
        let fetcher = UrlFetcher::new(Vec::new(), true, Duration::from_secs(10));
        let fetched = fetcher.fetch("http://localhost:1/t.yaml", 1000).await;
        let message = "Failed to retrieve template from http://localhost:1/t.yaml (allowed are public \
                       addresses, and the prefixes in [kiln] fetch_allowed)";
        assert_eq!(fetched, Err(message.to_owned()));
    }
}
