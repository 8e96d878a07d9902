//! Which URLs of users the service may request: those that begin as the operator allows.
//!
//! A URL is checked in its normal form, so that nothing in it hides its host. Redirects are not followed: they may lead
//! anywhere.

use async_trait::async_trait;
use kiln_engine::alarms::WebhookClient;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use std::sync::OnceLock;
use std::time::Duration;

/// How long the delivery of a webhook may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The URL in its normal form, if it begins with one of the allowed prefixes.
pub(crate) fn allowed(prefixes: &[String], url: &str) -> Option<Url> {
    let url = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    // A user name before the host could be mistaken for the host.
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let is_prefix = |prefix: &String| match Url::parse(prefix) {
        // A host alone ends with a slash, so that it is no prefix of a longer host.
        Ok(prefix) => url.as_str().starts_with(prefix.as_str()),
        Err(_) => false,
    };
    prefixes.iter().any(is_prefix).then_some(url)
}

/// The HTTP client for URLs of users.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    kiln_cloud::client_builder().redirect(reqwest::redirect::Policy::none()).build()
}

/// Delivers the webhooks of alarms to allowed URLs.
#[derive(Debug)]
pub struct WebhookSender {
    /// The prefixes of permitted URLs.
    prefixes: Vec<String>,
    client: OnceLock<Client>,
}

impl WebhookSender {
    /// A client for URLs that begin with one of these prefixes.
    pub fn new(prefixes: Vec<String>) -> WebhookSender {
        WebhookSender { prefixes, client: OnceLock::new() }
    }
}

#[async_trait]
impl WebhookClient for WebhookSender {
    fn is_allowed(&self, url: &str) -> bool {
        allowed(&self.prefixes, url).is_some()
    }

    async fn send(&self, url: &str, letter: &str) -> Result<(), String> {
        let Some(url) = allowed(&self.prefixes, url) else {
            return Err("this URL is not allowed".into());
        };
        // The error would show the whole URL with its secrets.
        let failed = |error: reqwest::Error| error.without_url().to_string();
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = client().map_err(failed)?;
                self.client.get_or_init(|| client)
            }
        };
        let request = client.post(url).timeout(TIMEOUT);
        let request = request.header(CONTENT_TYPE, "application/json").body(letter.to_owned());
        let response = request.send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("HTTP {}", response.status()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_checked_in_their_normal_form() {
        let prefixes: Vec<String> =
            ["https://hooks.example", "http://10.0.0.5:8080/in/", "nonsense"]
                .map(Into::into)
                .into();
        for url in [
            "https://hooks.example/a",
            "https://HOOKS.example:443/a?b",
            "https://hooks.example",
            "http://10.0.0.5:8080/in/x",
        ] {
            assert!(allowed(&prefixes, url).is_some(), "{url}");
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
            assert!(allowed(&prefixes, url).is_none(), "{url}");
        }
    }
}
