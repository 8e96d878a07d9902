//! The HTTP layer. The service itself is a function from a request to a response.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Query, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, HOST, VARY, WWW_AUTHENTICATE};
use axum::http::{self, HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::Identity;
use super::error::ApiError;
use super::request::{Reply, Request};
use super::routes::{self, RouteMatch};
use super::secret;

/// The maximal size of a request body.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Returns an axum router with the service.
pub fn router(identity: Arc<Identity>) -> Router {
    Router::new().fallback(serve).with_state(identity)
}

async fn serve(
    State(identity): State<Arc<Identity>>,
    request: http::Request<Body>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let base = base(&identity, &parts.headers);
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return refusal(&base, &ApiError::too_large()).map(Body::from);
    };
    let request = http::Request::from_parts(parts, body);
    // Requests hash passwords and write files, so they run on a blocking thread.
    match tokio::task::spawn_blocking(move || identity.answer(&request)).await {
        Ok(response) => response.map(Body::from),
        Err(error) => refusal(&base, &ApiError::internal(error)).map(Body::from),
    }
}

impl Identity {
    /// Answers one request. It may take some milliseconds of CPU time, so call it on a blocking thread.
    pub fn answer(&self, request: &http::Request<Bytes>) -> Response<Vec<u8>> {
        let base = base(self, request.headers());
        let mut response = match self.handle(request, &base) {
            Ok(response) => response,
            Err(api_error) => refusal(&base, &api_error),
        };
        if request.method() == Method::HEAD {
            response.body_mut().clear();
        }
        response
    }

    fn handle(
        &self,
        request: &http::Request<Bytes>,
        base: &str,
    ) -> Result<Response<Vec<u8>>, ApiError> {
        let uri = request.uri();
        let segments: Vec<String> =
            uri.path().split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let (handler, params) = match routes::find(request.method(), &segments) {
            RouteMatch::Handler(handler, params) => (handler, params),
            RouteMatch::Options(allow) => return Ok(options(&allow)),
            RouteMatch::OtherMethods(allow) => return Ok(not_allowed(&allow)),
            RouteMatch::Nothing => return Ok(page(StatusCode::NOT_FOUND, NOT_FOUND)),
        };
        let header = |name: &str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            (!value.is_empty()).then(|| value.to_owned())
        };
        let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
        let parsed = Request {
            identity: self,
            now: self.now(),
            base: base.to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            raw_query: uri.query().unwrap_or_default().to_owned(),
            query: query.map(|Query(pairs)| pairs).unwrap_or_default(),
            params,
            body: read_body(request)?,
            token: header("x-auth-token"),
            subject: header("x-subject-token"),
        };
        handler(&parsed).map(|reply| render(base, reply))
    }
}

fn read_body(request: &http::Request<Bytes>) -> Result<Value, ApiError> {
    let bytes = request.body();
    let writes = matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH);
    if !writes || bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(json!({}));
    }
    if let Some(kind) = request.headers().get(CONTENT_TYPE) {
        let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
        if !kind.starts_with("application/json") && !kind.is_empty() {
            return Err(ApiError::expecting("application/json", "Content-Type header"));
        }
    }
    match serde_json::from_slice(bytes) {
        Ok(body @ Value::Object(_)) => Ok(body),
        _ => Err(ApiError::expecting("valid JSON", "request body")),
    }
}

/// Returns the beginning of links: the host that the client used, so that the links work from there.
fn base(identity: &Identity, headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let plain = |host: &&str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".:-_[]".contains(&byte);
        !host.is_empty() && host.bytes().all(allowed)
    };
    let Some(host) = text(HOST.as_str()).filter(plain) else { return identity.public_url.clone() };
    let scheme = if text("x-forwarded-proto") == Some("https") { "https" } else { "http" };
    format!("{scheme}://{host}")
}

fn render(base: &str, reply: Reply) -> Response<Vec<u8>> {
    let body = reply.body.map(|body| body.to_string().into_bytes());
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    let headers = response.headers_mut();
    if body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    if reply.status == 401
        && let Ok(value) = HeaderValue::from_str(&format!("Keystone uri=\"{base}/v3\""))
    {
        headers.insert(WWW_AUTHENTICATE, value);
    }
    *response.body_mut() = body.unwrap_or_default();
    common(response)
}

fn refusal(base: &str, api_error: &ApiError) -> Response<Vec<u8>> {
    let reply =
        Reply { status: api_error.status, headers: Vec::new(), body: Some(api_error.body()) };
    render(base, reply)
}

/// Adds the headers that every reply has.
fn common(mut response: Response<Vec<u8>>) -> Response<Vec<u8>> {
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("X-Auth-Token"));
    let id = secret::new_id().unwrap_or_else(|_| "0".repeat(32));
    let parts = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]];
    if let Ok(value) = HeaderValue::from_str(&format!("req-{}", parts.join("-"))) {
        headers.insert("x-openstack-request-id", value);
    }
    response
}

const NOT_FOUND: &str = "<!doctype html>\n<html lang=en>\n<title>404 Not RouteMatch</title>\n<h1>Not RouteMatch</h1>\n\
                         <p>The identity service has nothing at this URL.</p>\n";

fn page(status: StatusCode, text: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(text.as_bytes().to_vec());
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    common(response)
}

fn options(allow: &str) -> Response<Vec<u8>> {
    let mut response = page(StatusCode::OK, "");
    set_allow(&mut response, allow);
    response
}

fn not_allowed(allow: &str) -> Response<Vec<u8>> {
    let message = json!({ "message": "The method is not allowed for the requested URL." });
    let mut response = render("", Reply { status: 405, headers: Vec::new(), body: Some(message) });
    set_allow(&mut response, allow);
    response
}

fn set_allow(response: &mut Response<Vec<u8>>, allow: &str) {
    if let Ok(value) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(ALLOW, value);
    }
}

/// Decodes the percent-encoded octets of a path segment; octets that are not UTF-8 are replaced.
fn decode(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn percent_signs_are_undone_where_they_mean_something() {
        for (sent, meant) in [
            ("a", "a"),
            ("a%20b", "a b"),
            ("%C3%BC", "ü"),
            ("%2", "%2"),
            ("%zz%", "%zz%"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decode(sent), meant);
        }
    }
}
