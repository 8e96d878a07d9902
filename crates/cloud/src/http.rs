//! Calls over HTTP.

use crate::budget::{Budgets, For};
use crate::{Call, CallError, Credential, Method, Reply, Service, Transport};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Makes calls over HTTP, to endpoints that it is told, in nobody's name.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
    endpoints: BTreeMap<Service, String>,
    budgets: Budgets,
}

/// What clients of HTTP are built with: whoever needs one begins here.
///
/// Encryption is by ring; there is nothing to install for it.
pub fn client_builder() -> reqwest::ClientBuilder {
    // The first one counts, and all are the same.
    _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

/// A call that takes longer than this counts as lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Replies longer than this are not read.
const MAX_REPLY: usize = 64 << 20;

impl Http {
    /// A transport to these endpoints; a service without one cannot be called.
    pub fn new(endpoints: BTreeMap<Service, String>, calls: usize) -> Result<Http, CallError> {
        let client = client_builder()
            .timeout(PATIENCE)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        Ok(Http { client, endpoints, budgets: Budgets::new(calls) })
    }
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, _by: &Credential, call: Call) -> Result<Reply, CallError> {
        let Some(endpoint) = self.endpoints.get(&call.service) else {
            let service = call.service.catalogue_type();
            return Err(CallError::Impossible(format!("no endpoint of {service} is known")));
        };
        let _place = self.budgets.place(call.service, For::One).await;
        exchange_as(request(&self.client, endpoint, &call), call.is_text).await
    }
}

/// A call as a request to an endpoint.
pub(crate) fn request(
    client: &reqwest::Client,
    endpoint: &str,
    call: &Call,
) -> reqwest::RequestBuilder {
    let method = match call.method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
        Method::Head => reqwest::Method::HEAD,
    };
    let url = format!("{}{}", endpoint.trim_end_matches('/'), call.path);
    let mut request = client.request(method, url).query(&call.query);
    let is_typed = call.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    match &call.body {
        Some(Value::String(text)) if is_typed => request.body(text.clone()),
        Some(body) if is_typed => request.body(body.to_string()),
        Some(body) => request.json(body),
        None => request,
    }
}

/// Sends a request and reads what comes back.
pub(crate) async fn exchange(request: reqwest::RequestBuilder) -> Result<Reply, CallError> {
    exchange_as(request, false).await
}

/// Sends a request and reads what comes back, as a text if it is one.
pub(crate) async fn exchange_as(
    request: reqwest::RequestBuilder,
    is_text: bool,
) -> Result<Reply, CallError> {
    let mut response = request.send().await.map_err(|error| match error.is_connect() {
        true => CallError::NotSent(told(&error)),
        // What cannot be a request was not sent either.
        false if error.is_builder() => CallError::Impossible(told(&error)),
        false => CallError::Lost(told(&error)),
    })?;
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let mut headers: BTreeMap<String, String> = headers
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect();
    // Some attributes are addresses, and nobody but the transport knows where services are.
    let mut address = response.url().clone();
    address.set_query(None);
    headers.insert("content-location".into(), address.into());
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| CallError::Lost(told(&error)))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_REPLY {
            return Err(CallError::Lost("the reply is too long to be read".into()));
        }
    }
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = match bytes.is_empty() {
        _ if is_text && status < 400 => text(),
        true => Value::Null,
        false => serde_json::from_slice(&bytes).unwrap_or_else(|_| text()),
    };
    let reply = Reply { status, body, headers };
    match status {
        400.. => Err(CallError::Refused(reply)),
        _ if is_garbled(&reply) => {
            let said = reply.said().unwrap_or_default();
            let said: String = said.chars().take(100).collect();
            Err(CallError::Lost(format!("what came back is not JSON: \"{said}\"")))
        }
        _ => Ok(reply),
    }
}

/// Whether a reply is not what its service says: a page of somebody in between, or JSON that is cut off. What was asked
/// for may have been done all the same.
fn is_garbled(reply: &Reply) -> bool {
    let kind = reply.header("content-type").unwrap_or_default();
    reply.body.is_string()
        && (kind.starts_with("text/html") || kind.starts_with("application/json"))
}

/// What went wrong, without the address: it may hold a secret.
fn told(error: &reqwest::Error) -> String {
    let mut text = match () {
        () if error.is_timeout() => "it took too long".to_owned(),
        () if error.is_connect() => "the service cannot be reached".to_owned(),
        () if error.is_builder() => "it is no request that can be sent".to_owned(),
        () => "the connection broke".to_owned(),
    };
    if let Some(source) = std::error::Error::source(error) {
        text.push_str(": ");
        text.push_str(&source.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_instead_of_json_is_no_reply() {
        let reply = |kind: &str, body: Value| {
            let mut reply = Reply::new(200, body);
            reply.headers.insert("content-type".into(), kind.into());
            reply
        };
        assert!(is_garbled(&reply("text/html; charset=utf-8", "<h1>It works!</h1>".into())));
        assert!(is_garbled(&reply("application/json", "{\"network\": {".into())));
        assert!(!is_garbled(&reply("application/json", serde_json::json!({ "a": 1 }))));
        assert!(!is_garbled(&reply("text/plain", "an object's content".into())));
        assert!(!is_garbled(&reply("text/html", Value::Null)));
    }
}
