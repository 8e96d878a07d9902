//! Calls over HTTP.

use crate::{Call, CallError, Method, Reply, Service, Transport};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Makes calls over HTTP, to endpoints that it is told.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
    endpoints: BTreeMap<Service, String>,
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
const PATIENCE: Duration = Duration::from_secs(60);

/// Replies longer than this are not read.
const MAX_REPLY: usize = 64 << 20;

impl Http {
    /// A transport to these endpoints; a service without one cannot be called.
    pub fn new(endpoints: BTreeMap<Service, String>) -> Result<Http, CallError> {
        let client = client_builder()
            .timeout(PATIENCE)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        Ok(Http { client, endpoints })
    }

    fn request(&self, call: &Call) -> Result<reqwest::RequestBuilder, CallError> {
        let Some(endpoint) = self.endpoints.get(&call.service) else {
            let service = call.service.catalogue_type();
            return Err(CallError::NotSent(format!("no endpoint of {service} is known")));
        };
        let url = format!("{}{}", endpoint.trim_end_matches('/'), call.path);
        let method = match call.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let request = self.client.request(method, url).query(&call.query);
        Ok(match &call.body {
            Some(body) => request.json(body),
            None => request,
        })
    }
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, call: Call) -> Result<Reply, CallError> {
        let request = self.request(&call)?;
        let mut response = request.send().await.map_err(|error| match error.is_connect() {
            true => CallError::NotSent(told(&error)),
            false => CallError::Lost(told(&error)),
        })?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| CallError::Lost(told(&error)))?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_REPLY {
                return Err(CallError::Lost("the reply is too long to be read".into()));
            }
        }
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()),
        };
        let reply = Reply { status, body };
        if status >= 400 { Err(CallError::Refused(reply)) } else { Ok(reply) }
    }
}

/// What went wrong, without the address: it may hold a secret.
fn told(error: &reqwest::Error) -> String {
    let mut text = match () {
        () if error.is_timeout() => "it took too long".to_owned(),
        () if error.is_connect() => "the service cannot be reached".to_owned(),
        () => "the connection broke".to_owned(),
    };
    if let Some(source) = std::error::Error::source(error) {
        text.push_str(": ");
        text.push_str(&source.to_string());
    }
    text
}
