//! The bodies of requests.

use crate::fault::Fault;
use crate::response::JSON;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Request as HttpRequest};
use kiln_engine::ErrorType;
use kiln_template::Value;
use kiln_template::json;
use kiln_template::value::Members;
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to send a body.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The bytes of a body; none if it is too long or does not arrive in time.
pub(crate) type RawBody = Option<Bytes>;

/// Receives the whole body, even of a request that will be refused: a connection with unread bytes cannot be reused.
pub(crate) async fn receive(request: HttpRequest<Body>, limit: usize) -> HttpRequest<RawBody> {
    let (parts, body) = request.into_parts();
    let body = match length(&parts.headers) {
        Some(length) if length > limit => None,
        _ => tokio::time::timeout(TIMEOUT, to_bytes(body, limit)).await.ok().and_then(Result::ok),
    };
    HttpRequest::from_parts(parts, body)
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok())
}

/// The JSON object in a body; none if there is no body, or if it is something else.
pub(crate) fn read(
    headers: &HeaderMap,
    query_type: Option<&str>,
    body: RawBody,
    limit: usize,
) -> Result<Option<Arc<Members>>, Fault> {
    let length = length(headers);
    if length == Some(0) || (length.is_none() && !headers.contains_key(TRANSFER_ENCODING)) {
        return Ok(None);
    }
    let declared = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or("");
    let content_type = query_type.unwrap_or(declared);
    let is_json = content_type.split(';').next().is_some_and(|it| it.trim() == JSON)
        || ["", "JSON"].contains(&content_type)
        || content_type.starts_with("text/plain");
    if !is_json {
        return Ok(None);
    }
    let Some(bytes) = body else {
        let length = length.map_or_else(|| "more".to_owned(), |length| length.to_string());
        return Err(too_large(&length, limit));
    };
    if bytes.first() != Some(&b'{') {
        return Ok(None);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| Fault::bad(format!("The body is not UTF-8: {error}")))?;
    match json::parse(text).map_err(Fault::bad)? {
        Value::Map(members) => Ok(Some(members)),
        _ => Ok(None),
    }
}

fn too_large(length: &str, limit: usize) -> Fault {
    Fault::new(
        ErrorType::RequestLimitExceeded,
        format!(
            "Request limit exceeded: JSON body size ({length} bytes) exceeds maximum allowed size \
             ({limit} bytes)."
        ),
    )
}
