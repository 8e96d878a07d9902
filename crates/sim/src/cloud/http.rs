//! From HTTP to the services and back, with what goes wrong on the way.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};

use super::Cloud;
use super::ask::{Ask, Content, Reply};

/// A body may have so many bytes: objects and images are small here.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// What becomes of a request.
pub(super) enum Outcome {
    Answered(Reply),
    /// The connection is closed without a word.
    Silent,
}

pub(super) fn router(cloud: Cloud) -> Router {
    Router::new().fallback(serve).with_state(cloud)
}

async fn serve(State(cloud): State<Cloud>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == "HEAD";
    let Ok(bytes) = to_bytes(body, LARGEST_BODY).await else {
        return render(Reply::empty(413), is_head);
    };
    let ask = ask(parts.method.as_str(), &parts.uri, &parts.headers, bytes.to_vec());
    let pause = cloud.latency();
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    let fault = cloud.fault(&ask);
    if let Some(pause) = fault.as_ref().map(super::faults::Kind::pause).filter(|p| !p.is_zero()) {
        tokio::time::sleep(pause).await;
    }
    match cloud.answer(ask, fault) {
        Outcome::Answered(reply) => render(reply, is_head),
        Outcome::Silent => Response::new(broken()),
    }
}

fn ask(method: &str, uri: &Uri, headers: &HeaderMap, bytes: Vec<u8>) -> Ask {
    let mut parts = uri.path().split('/').skip(1).map(decode);
    let service = parts.next().unwrap_or_default();
    let mut path: Vec<String> = parts.collect();
    // A slash at the end means nothing, except to those who keep objects under names that have one.
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
    Ask {
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
    let plain = |text: &str| decode(&text.replace('+', " "));
    let pair = |part: &str| match part.split_once('=') {
        Some((name, value)) => (plain(name), plain(value)),
        None => (plain(part), String::new()),
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn render(reply: Reply, is_head: bool) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let (kind, bytes) = match reply.body {
        Content::Nothing => (String::new(), Vec::new()),
        Content::Json(body) => ("application/json".to_owned(), body.to_string().into_bytes()),
        Content::Bytes(kind, bytes) => (kind, bytes),
    };
    if !kind.is_empty()
        && let Ok(kind) = HeaderValue::from_str(&kind)
    {
        headers.insert("content-type", kind);
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

/// A body that breaks before its first byte. The server then closes the connection, and nothing of the answer was sent.
fn broken() -> Body {
    let reset = || Err::<Bytes, _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    Body::from_stream(futures_util::stream::once(async move { reset() }))
}

/// A part of a path or query without its percent signs; what is not UTF-8 then is replaced.
pub(super) fn decode(part: &str) -> String {
    let nibble =
        |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if *first == b'%' => nibble(*high).zip(nibble(*low)),
            _ => None,
        };
        bytes.push(escaped.map_or(*first, |(high, low)| high << 4 | low));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text with percent signs for all but letters, digits and what is harmless in paths.
pub(super) fn encode(text: &str) -> String {
    let mut coded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            coded.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(coded, "%{byte:02X}");
        }
    }
    coded
}
