//! What a request carries.

use crate::answer::JSON;
use crate::fault::Fault;
use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use kiln_template::Value;
use kiln_template::json;
use kiln_template::value::Members;
use std::sync::Arc;

/// The object in a body; nothing if there is none, or if what there is does not count as one.
pub(crate) async fn read(
    headers: &HeaderMap,
    query_type: Option<&str>,
    body: Body,
    limit: usize,
) -> Result<Option<Arc<Members>>, Fault> {
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    let length = length.and_then(|it| it.parse::<usize>().ok());
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
    if let Some(length) = length.filter(|length| *length > limit) {
        return Err(too_large(&length.to_string(), limit));
    }
    let Ok(bytes) = to_bytes(body, limit).await else {
        return Err(too_large("more", limit));
    };
    if bytes.first() != Some(&b'{') {
        return Ok(None);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| Fault::bad(format!("The body is not UTF-8: {error}")))?;
    match json::value(text).map_err(Fault::bad)? {
        Value::Map(members) => Ok(Some(members)),
        _ => Ok(None),
    }
}

fn too_large(length: &str, limit: usize) -> Fault {
    Fault::new(
        "RequestLimitExceeded",
        format!(
            "Request limit exceeded: JSON body size ({length} bytes) exceeds maximum allowed size \
             ({limit} bytes)."
        ),
    )
}
