//! Whom the service asks, or tells something, that users name: nobody whom its operator does not know.
//!
//! An address is judged as it would be used, so that nothing in it hides where it leads. Redirects are not followed: they
//! may lead anywhere.

use async_trait::async_trait;
use kiln_engine::watch::Messenger;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use std::sync::OnceLock;
use std::time::Duration;

/// How long somebody may take to be told something.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address to use, if one of those that are allowed is what it begins with.
pub(crate) fn allowed(starts: &[String], url: &str) -> Option<Url> {
    let url = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    // Whoever stands before the host in an address could be taken for it.
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let is_start = |start: &String| match Url::parse(start) {
        // A host alone ends with a slash, so that no longer one begins with it.
        Ok(start) => url.as_str().starts_with(start.as_str()),
        Err(_) => false,
    };
    starts.iter().any(is_start).then_some(url)
}

/// What makes requests to addresses that users name.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    kiln_cloud::client_builder().redirect(reqwest::redirect::Policy::none()).build()
}

/// Tells addresses what alarms found.
#[derive(Debug)]
pub struct Outgoing {
    /// What addresses must begin with.
    starts: Vec<String>,
    client: OnceLock<Client>,
}

impl Outgoing {
    /// A messenger to the addresses that begin with one of these.
    pub fn to(starts: Vec<String>) -> Outgoing {
        Outgoing { starts, client: OnceLock::new() }
    }
}

#[async_trait]
impl Messenger for Outgoing {
    fn may_tell(&self, url: &str) -> bool {
        allowed(&self.starts, url).is_some()
    }

    async fn tell(&self, url: &str, letter: &str) -> Result<(), String> {
        let Some(url) = allowed(&self.starts, url) else {
            return Err("this address may not be told".into());
        };
        // Errors would tell the whole address, and what is secret in it.
        let failed = |error: reqwest::Error| error.without_url().to_string();
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = client().map_err(failed)?;
                self.client.get_or_init(|| client)
            }
        };
        let request = client.post(url).timeout(PATIENCE);
        let request = request.header(CONTENT_TYPE, "application/json").body(letter.to_owned());
        let response = request.send().await.map_err(failed)?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(format!("it answered with {}", response.status())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_as_they_would_be_used() {
        let starts: Vec<String> = ["https://hooks.example", "http://10.0.0.5:8080/in/", "nonsense"]
            .map(Into::into)
            .into();
        for url in [
            "https://hooks.example/a",
            "https://HOOKS.example:443/a?b",
            "https://hooks.example",
            "http://10.0.0.5:8080/in/x",
        ] {
            assert!(allowed(&starts, url).is_some(), "{url}");
        }
        for url in [
            "http://hooks.example/",
            "https://hooks.example.evil/",
            "https://hooks.example@evil/",
            "https://hooks.example:1/",
            "https://x@hooks.example/",
            "http://10.0.0.5:8080/in/../out",
            "http://10.0.0.5:8080/in/%2e%2e/out",
            "http://10.0.0.5:8080/in",
            "https:\\\\evil/",
            "ftp://hooks.example/",
            "nonsense",
            "",
        ] {
            assert!(allowed(&starts, url).is_none(), "{url}");
        }
    }
}
