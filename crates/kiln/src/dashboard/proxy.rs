//! Requests of the page to other services, under the page's own origin: Keystone for logins, and lists of objects for forms.
//!
//! Browsers ask other origins only where those allow it, which the services of most clouds do not. What is passed on is
//! limited to what the page needs.

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The largest request to Keystone.
const MAX_REQUEST: usize = 64 << 10;

/// The largest response.
const MAX_RESPONSE: usize = 16 << 20;

const TIMEOUT: Duration = Duration::from_secs(60);

const TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const SUBJECT: HeaderName = HeaderName::from_static("x-subject-token");

/// What may be asked of Keystone.
const IDENTITY: [(Method, &str); 4] = [
    (Method::POST, "auth/tokens"),
    (Method::GET, "auth/tokens"),
    (Method::DELETE, "auth/tokens"),
    (Method::GET, "auth/projects"),
];

/// The services whose objects forms offer.
const SERVICES: [&str; 9] = [
    "block-storage",
    "compute",
    "dns",
    "image",
    "key-manager",
    "load-balancer",
    "network",
    "volume",
    "volumev3",
];

/// Keystone, and how to reach it.
#[derive(Clone)]
pub(crate) struct Keystone {
    /// The URL without a version.
    url: String,
    client: reqwest::Client,
}

impl Keystone {
    /// The identity service at a URL, with or without a version.
    pub(crate) fn new(url: &str, client: reqwest::Client) -> Keystone {
        let url = url.trim_end_matches('/').trim_end_matches("/v3").to_owned();
        Keystone { url, client }
    }
}

/// Passes a request on to Keystone.
pub(super) async fn identity(
    State(keystone): State<Keystone>,
    Path(path): Path<String>,
    request: Request,
) -> Response {
    let method = request.method().clone();
    if !IDENTITY.iter().any(|known| *known == (method.clone(), path.as_str())) {
        return problem(StatusCode::NOT_FOUND, "The dashboard does not ask this of Keystone.");
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_REQUEST).await else {
        return problem(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large for a login.");
    };
    let url = format!("{}/v3/{path}", keystone.url);
    let headers = kept(&parts.headers, &[TOKEN, SUBJECT, CONTENT_TYPE]);
    forward(keystone.client.request(method, url).headers(headers).body(body)).await
}

/// Passes a request for a list on to a service, which the catalogue of the caller's token names.
pub(super) async fn service(
    State(keystone): State<Keystone>,
    Path((service, path)): Path<(String, String)>,
    request: Request,
) -> Response {
    let has_dots = path.split('/').any(|part| matches!(part, "." | ".."));
    if !SERVICES.contains(&service.as_str()) || has_dots {
        return problem(StatusCode::NOT_FOUND, "The dashboard does not ask this service.");
    }
    let headers = kept(request.headers(), &[TOKEN]);
    let catalogue = keystone.client.get(format!("{}/v3/auth/catalog", keystone.url));
    let catalogue = match catalogue.headers(headers.clone()).timeout(TIMEOUT).send().await {
        Ok(response) if response.status().is_success() => response.json::<Json>().await,
        Ok(response) => return problem(response.status(), "Keystone rejects the token."),
        Err(error) => Err(error),
    };
    let Ok(catalogue) = catalogue else {
        return problem(StatusCode::BAD_GATEWAY, "Keystone cannot be reached.");
    };
    let Some(endpoint) = endpoint(&catalogue, &service) else {
        return problem(StatusCode::NOT_FOUND, "The catalogue does not have this service.");
    };
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    let url = format!("{}/{path}{query}", endpoint.trim_end_matches('/'));
    forward(keystone.client.get(url).headers(headers)).await
}

/// The public endpoint of a service.
fn endpoint<'c>(catalogue: &'c Json, service: &str) -> Option<&'c str> {
    let services = catalogue["catalog"].as_array()?;
    let entry = services.iter().find(|entry| entry["type"] == service)?;
    let endpoints = entry["endpoints"].as_array()?;
    endpoints.iter().find(|endpoint| endpoint["interface"] == "public")?["url"].as_str()
}

/// Those headers of a request that are passed on.
fn kept(headers: &HeaderMap, names: &[HeaderName]) -> HeaderMap {
    let kept = names.iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone())));
    kept.collect()
}

/// Sends a request; the response is never a page.
async fn forward(request: reqwest::RequestBuilder) -> Response {
    let response = match request.timeout(TIMEOUT).send().await {
        Ok(response) => response,
        Err(error) => {
            tracing::warn!(%error, "a request of the dashboard could not be passed on");
            return problem(StatusCode::BAD_GATEWAY, "The service behind Kiln cannot be reached.");
        }
    };
    let status = response.status();
    let mut headers = kept(response.headers(), &[SUBJECT]);
    let Some(body) = limited(response).await else {
        return problem(StatusCode::BAD_GATEWAY, "The response of the service is too large.");
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let nothing = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, nothing);
    (status, headers, Body::from(body)).into_response()
}

async fn limited(mut response: reqwest::Response) -> Option<Bytes> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > MAX_RESPONSE {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body.into())
}

fn problem(status: StatusCode, message: &str) -> Response {
    (status, axum::Json(json!({"error": {"message": message}}))).into_response()
}
