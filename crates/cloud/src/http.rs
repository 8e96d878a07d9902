//! Calls over HTTP.

use crate::limits::{CallLimits, Lane};
use crate::{Call, CallError, Credential, Method, Reply, Service, Transport};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Makes calls over HTTP to fixed endpoints, without authentication.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
    endpoints: BTreeMap<Service, String>,
    limits: CallLimits,
}

/// The builder of every HTTP client of the workspace. TLS is by rustls with ring.
pub fn client_builder() -> reqwest::ClientBuilder {
    // A second installation fails, and changes nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

/// A call without a reply after this long is lost.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Longer replies are not read.
const MAX_REPLY_BYTES: usize = 64 << 20;

impl Http {
    /// A transport to these endpoints; a service without one cannot be called.
    pub fn new(endpoints: BTreeMap<Service, String>, max_calls: usize) -> Result<Http, CallError> {
        let client = client_builder()
            .timeout(CALL_TIMEOUT)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        Ok(Http { client, endpoints, limits: CallLimits::new(max_calls) })
    }
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, _credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let Some(endpoint) = self.endpoints.get(&call.service) else {
            let service = call.service.catalogue_type();
            return Err(CallError::Impossible(format!("no endpoint of {service} is known")));
        };
        let _permit = self.limits.acquire(call.service, Lane::Single).await;
        exchange_as(request(&self.client, endpoint, &call), call.is_text).await
    }
}

/// Builds the HTTP request of a call.
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

/// Sends a request and reads the reply.
pub(crate) async fn exchange(request: reqwest::RequestBuilder) -> Result<Reply, CallError> {
    exchange_as(request, false).await
}

/// Sends a request and reads the reply, as text if the caller wants text.
pub(crate) async fn exchange_as(
    request: reqwest::RequestBuilder,
    is_text: bool,
) -> Result<Reply, CallError> {
    let mut response = request.send().await.map_err(|error| {
        let why = describe(&error);
        if error.is_connect() {
            CallError::NotSent(why)
        } else if error.is_builder() {
            // An invalid request was not sent either.
            CallError::Impossible(why)
        } else {
            CallError::Lost(why)
        }
    })?;
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let mut headers: BTreeMap<String, String> = headers
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect();
    // Some attributes are URLs, and only the transport knows the endpoints.
    let mut address = response.url().clone();
    address.set_query(None);
    headers.insert("content-location".into(), address.into());
    let mut bytes = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| CallError::Lost(describe(&error)))?
    {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_REPLY_BYTES {
            return Err(CallError::Lost("the reply is too long to be read".into()));
        }
    }
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = if is_text && status < 400 {
        text()
    } else if bytes.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&bytes).unwrap_or_else(|_| text())
    };
    let reply = Reply { status, body, headers };
    match status {
        400.. => Err(CallError::Refused(reply)),
        _ if is_garbled(&reply) => {
            let text = reply.error_text().unwrap_or_default();
            let text: String = text.chars().take(100).collect();
            Err(CallError::Lost(format!("the reply is not JSON: \"{text}\"")))
        }
        _ => Ok(reply),
    }
}

/// Whether a reply is not the service's own: a page of a proxy, or JSON that is cut off. The call may have succeeded all
/// the same.
fn is_garbled(reply: &Reply) -> bool {
    let content_type = reply.header("content-type").unwrap_or_default();
    reply.body.is_string()
        && (content_type.starts_with("text/html") || content_type.starts_with("application/json"))
}

/// The error without the URL, which may hold a secret.
fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "the call timed out".to_owned()
    } else if error.is_connect() {
        "the service cannot be reached".to_owned()
    } else if error.is_builder() {
        "the request is invalid".to_owned()
    } else {
        "the connection broke".to_owned()
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
