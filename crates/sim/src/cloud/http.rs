//! The HTTP layer: parses requests, applies faults, renders replies.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::{self, HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::Cloud;
use super::faults::FaultKind;
use super::request::{Content, Reply, Request};

/// The maximal size of a request body; objects and images are small here.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// The outcome of a request.
pub(super) enum Outcome {
    Answered(Reply),
    /// The connection is closed without an answer.
    Silent,
}

pub(super) fn router(cloud: Cloud) -> Router {
    Router::new().fallback(serve).with_state(cloud)
}

async fn serve(State(cloud): State<Cloud>, request: http::Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == "HEAD";
    let Ok(bytes) = to_bytes(body, MAX_BODY_BYTES).await else {
        return render(Reply::empty(413), is_head);
    };
    let request = parse(parts.method.as_str(), &parts.uri, &parts.headers, bytes.to_vec());
    let pause = cloud.latency();
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    let fault = cloud.fault(&request);
    if let Some(pause) = fault.as_ref().map(FaultKind::pause).filter(|p| !p.is_zero()) {
        tokio::time::sleep(pause).await;
    }
    match cloud.answer(request, fault) {
        Outcome::Answered(reply) => render(reply, is_head),
        Outcome::Silent => Response::new(broken()),
    }
}

fn parse(method: &str, uri: &Uri, headers: &HeaderMap, bytes: Vec<u8>) -> Request {
    let mut parts = uri.path().split('/').skip(1).map(decode);
    let service = parts.next().unwrap_or_default();
    let mut path: Vec<String> = parts.collect();
    // A slash at the end has no meaning, except in the object store, where names may end with one.
    if path.last().is_some_and(String::is_empty) && service != "object-store" {
        path.pop();
    }
    let mut kept = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        kept.insert(name.as_str().to_owned(), value);
    }
    let scheme = if kept.get("x-forwarded-proto").is_some_and(|proto| proto == "https") {
        "https"
    } else {
        "http"
    };
    let host = kept.get("host").map_or("localhost", String::as_str);
    Request {
        method: method.to_owned(),
        service: format!("/{service}"),
        path,
        query: pairs(uri.query().unwrap_or_default()),
        base: format!("{scheme}://{host}"),
        headers: kept,
        bytes,
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| decode(&text.replace('+', " "));
    let pair = |part: &str| match part.split_once('=') {
        Some((name, value)) => (decoded(name), decoded(value)),
        None => (decoded(part), String::new()),
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn render(reply: Reply, is_head: bool) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let (content_type, bytes) = match reply.body {
        Content::Nothing => (String::new(), Vec::new()),
        Content::Json(body) => ("application/json".to_owned(), body.to_string().into_bytes()),
        Content::Bytes(content_type, bytes) => (content_type, bytes),
    };
    if !content_type.is_empty()
        && let Ok(content_type) = HeaderValue::from_str(&content_type)
    {
        headers.insert("content-type", content_type);
    }
    for (name, value) in reply.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            headers.append(name, value);
        }
    }
    if is_head {
        if !headers.contains_key("content-length") {
            headers.insert("content-length", HeaderValue::from(bytes.len()));
        }
        return response;
    }
    *response.body_mut() = Body::from(bytes);
    response
}

/// Returns a body that fails before its first byte, so that the server closes the connection without sending any of
/// the answer.
fn broken() -> Body {
    let reset = || Err::<Bytes, _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    Body::from_stream(futures_util::stream::once(async move { reset() }))
}

/// Decodes the percent-encoded octets of a part of a path or query; octets that are not UTF-8 are replaced.
pub(super) fn decode(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

/// The characters of a path that are percent-encoded: all but letters, digits and `-_.~/`.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Percent-encodes a text for use in a path.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}
