//! The decision where a redirect may lead to. A service may be compromised, or may be that of a third party.

use super::Request;
use super::far::NEAR;
use ureq::http::Uri;

/// The headers with credentials, in lower case.
const CREDENTIALS: [&str; 2] = ["authorization", "x-auth-token"];

/// Returns the URL that a redirect leads to, or the reason why it is not followed.
pub(super) fn target(request: &Request, location: &str) -> Result<String, String> {
    let from: Uri = request.url.parse().map_err(|error| format!("invalid URL: {error}"))?;
    let url = join(&request.url, location.split('#').next().unwrap_or_default());
    let to: Uri = url.parse().map_err(|error| format!("redirect to an invalid URL: {error}"))?;
    let scheme = to.scheme_str().unwrap_or_default();
    if !["http", "https"].contains(&scheme) {
        return Err(format!("redirect to a URL with the scheme {scheme:?}"));
    }
    if from.scheme_str() == Some("https") && scheme == "http" {
        return Err("redirect from https to http".into());
    }
    let is_same_host = from.host() == to.host();
    if !is_same_host && to.host().is_some_and(is_near) {
        return Err(NEAR.into());
    }
    let is_secret = |name: &str| CREDENTIALS.contains(&name.to_ascii_lowercase().as_str());
    let has_credentials = request.headers.iter().any(|(name, _)| is_secret(name));
    let is_upgraded = from.scheme_str() == Some("http") && scheme == "https";
    let is_same_origin = is_same_host && (is_upgraded || port(&from) == port(&to));
    if has_credentials && !is_same_origin {
        return Err("redirect of a request with credentials to another host".into());
    }
    Ok(url)
}

/// Reports whether two URLs have the same host.
pub(super) fn is_same_host(one: &str, other: &str) -> bool {
    let host = |url: &str| url.parse::<Uri>().ok()?.host().map(str::to_ascii_lowercase);
    host(one) == host(other)
}

/// Reports whether a host is written as the metadata service or this server itself. What other names resolve to is
/// checked when they are resolved (`far.rs`).
fn is_near(host: &str) -> bool {
    let starts = ["169.254.", "127.", "[fe80:", "[fd00:ec2:", "[::1]", "[::ffff:", "0."];
    host.eq_ignore_ascii_case("localhost") || starts.iter().any(|start| host.starts_with(start))
}

fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 })
}

/// Resolves a reference against a URL.
fn join(url: &str, location: &str) -> String {
    let has_scheme = location.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
    });
    if has_scheme {
        return location.to_owned();
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{host}{location}")
    } else {
        let path = path.split('?').next().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{host}{folder}/{location}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(url: &str, location: &str) -> Result<String, String> {
        target(&Request::new("GET", url), location)
    }

    #[test]
    fn references_are_resolved() {
        for (location, url) in [
            ("/b", "https://example.org/b"),
            ("b?x", "https://example.org/a/b?x"),
            ("//other.org/b", "https://other.org/b"),
            ("https://other.org:8443/b#c", "https://other.org:8443/b"),
        ] {
            assert_eq!(leads("https://example.org/a/x?y=/", location).as_deref(), Ok(url));
        }
        assert_eq!(leads("http://a?x", "b").as_deref(), Ok("http://a/b"));
    }

    #[test]
    fn some_redirects_are_not_followed() {
        for location in [
            "file:///etc/shadow",
            "ftp://example.org/x",
            "http://example.org/x",
            "https://169.254.169.254/latest/user-data",
            "https://localhost/",
            "https://[::1]/",
            "https://",
            "data:,x",
            "https://exa\u{0}mple.org/",
        ] {
            assert!(leads("https://example.org/a", location).is_err(), "{location:?}");
        }
    }

    #[test]
    fn credentials_stay_with_their_host() {
        let request = Request::new("GET", "http://example.org/a").with("X-Auth-Token", "secret");
        for location in ["/b", "http://example.org:80/b", "https://example.org/b"] {
            assert!(target(&request, location).is_ok(), "{location}");
        }
        for location in ["http://other.org/b", "http://example.org:8080/b"] {
            assert!(target(&request, location).is_err(), "{location}");
        }
    }
}
