//! Cross-origin requests (CORS), from the origins that the operator allows.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response as HttpResponse;

const METHODS: &str = "GET,PUT,POST,DELETE,PATCH";
const REQUEST_HEADERS: &str = "X-Auth-Token,X-Identity-Status,X-Roles,X-Service-Catalog,X-User-Id,\
                               X-Tenant-Id,X-OpenStack-Request-ID,Content-Type";
const RESPONSE_HEADERS: &str =
    "X-Auth-Token,X-Subject-Token,X-Service-Token,X-OpenStack-Request-ID";

/// The origin of a request, if it is allowed.
pub(crate) fn origin(headers: &HeaderMap, allowed: &[String]) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    let text = origin.to_str().ok()?;
    allowed.iter().any(|known| known == "*" || known == text).then(|| origin.clone())
}

/// The response to a preflight request; none for other requests.
pub(crate) fn preflight(method: &Method, headers: &HeaderMap) -> Option<HttpResponse> {
    if method != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = HttpResponse::default();
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
    Some(response)
}

/// Allows pages of the origin to read a response.
pub(crate) fn allow(response: &mut HttpResponse, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
