//! The bodies of requests.
//!
//! A body is received after its caller is known, where the head tells who that is. All bodies that are held at the same
//! time are limited in sum, by the bytes that have arrived: announcing a body costs nothing.

use crate::fault::Fault;
use crate::response::JSON;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Request as HttpRequest};
use kiln_engine::ErrorType;
use kiln_template::{Members, Value, json};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a client may take to send a body.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The length of a body that is received even if nobody looks at it, and how long it may take.
const SHORT: usize = 4096;
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// The bytes of a body; none if it is too long or does not arrive in time.
pub(crate) type RawBody = Option<Bytes>;

/// A body that nobody has received yet. Requests that are refused, or answered without a caller, leave it so.
#[derive(Clone)]
pub(crate) struct PendingBody {
    body: Arc<Mutex<Option<Body>>>,
    length: Option<usize>,
}

impl PendingBody {
    /// The body of a request.
    pub(crate) fn of(request: HttpRequest<Body>) -> HttpRequest<PendingBody> {
        let length = length(request.headers());
        request.map(|body| PendingBody { body: Arc::new(Mutex::new(Some(body))), length })
    }

    /// Drops the body. A short one is awaited for a moment: a connection with unread bytes cannot be reused.
    pub(crate) async fn skip(self) {
        let body = self.body.lock().take();
        let is_short = self.length.is_some_and(|length| (1..=SHORT).contains(&length));
        if let Some(body) = body.filter(|_| is_short) {
            // Whether it comes or not, the response is the same.
            _ = tokio::time::timeout(SHORT_TIMEOUT, to_bytes(body, SHORT)).await;
        }
    }
}

/// The number of bytes of all bodies that are held.
#[derive(Clone, Debug, Default)]
pub struct BodyBytes(Arc<AtomicUsize>);

/// The part of one body in that number, until the request is dropped.
#[derive(Debug)]
struct HeldBytes {
    all: BodyBytes,
    count: usize,
}

/// Too many bytes are held: the client has to try again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyBytes;

impl BodyBytes {
    /// The number of bytes that are held now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl HeldBytes {
    /// Adds bytes that have arrived, if the sum stays below its limit.
    fn add(&mut self, count: usize, limit: usize) -> Result<(), TooManyBytes> {
        let sum = self.all.0.fetch_add(count, Ordering::Relaxed).saturating_add(count);
        self.count += count;
        if sum > limit { Err(TooManyBytes) } else { Ok(()) }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// The limits of bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    /// The maximum length of one body.
    pub(crate) each: usize,
    /// The maximum length of all bodies that are held at the same time.
    pub(crate) sum: usize,
}

/// Receives the whole body of a request. It counts as held until the request is dropped.
pub(crate) async fn receive(
    request: HttpRequest<PendingBody>,
    limits: BodyLimits,
    all: &BodyBytes,
) -> Result<HttpRequest<RawBody>, TooManyBytes> {
    let (mut parts, pending) = request.into_parts();
    if pending.length.is_some_and(|length| length > limits.each) {
        return Ok(HttpRequest::from_parts(parts, None));
    }
    let body = pending.body.lock().take();
    let body = match body {
        None => None,
        Some(body) => {
            let mut held = HeldBytes { all: all.clone(), count: 0 };
            let received = tokio::time::timeout(TIMEOUT, collect(body, limits, &mut held)).await;
            let received = received.unwrap_or(Ok(None))?;
            if received.as_ref().is_some_and(|bytes| !bytes.is_empty()) {
                parts.extensions.insert(Arc::new(held));
            }
            received
        }
    };
    Ok(HttpRequest::from_parts(parts, body))
}

/// A request whose body is not looked at.
pub(crate) fn without_body(request: HttpRequest<PendingBody>) -> HttpRequest<RawBody> {
    request.map(|_| Some(Bytes::new()))
}

async fn collect(
    mut body: Body,
    limits: BodyLimits,
    held: &mut HeldBytes,
) -> Result<RawBody, TooManyBytes> {
    let mut bytes = Vec::new();
    loop {
        let frame = match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            None => return Ok(Some(bytes.into())),
            Some(Err(_)) => return Ok(None),
            Some(Ok(frame)) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limits.each {
            return Ok(None);
        }
        held.add(data.len(), limits.sum)?;
        bytes.extend_from_slice(&data);
    }
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
