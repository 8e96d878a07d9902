//! HTTP responses: an answer, or the error that the service reports.

use super::connection::Verbosity;
use super::error::{ClientError, ClientErrorKind, Result};
use reqwest::StatusCode;
use serde_json::Value;

/// A successful response.
#[derive(Debug)]
pub(crate) struct ApiAnswer {
    /// The body; null if it was empty or not JSON.
    pub(crate) body: Value,
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The target of a redirect.
    pub(crate) location: Option<String>,
}

/// A response before its status is checked.
pub(super) struct Received {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    pub(super) location: Option<String>,
    /// The id that the service gave the request.
    pub(super) id: Option<String>,
    /// The beginning of the body as text.
    pub(super) text: String,
}

/// Turns a response with an error status into a problem.
pub(super) fn judged(received: Received, verbosity: Verbosity) -> Result<ApiAnswer> {
    let Received { status, body, location, id, text } = received;
    if status == StatusCode::MULTIPLE_CHOICES {
        return Err(ClientError::new("Requested version of Heat API is not available.").next(
            "Check that the orchestration endpoint ends in /v1/ and the id of the project.",
        ));
    }
    if status.as_u16() < 400 {
        return Ok(ApiAnswer { status, body, location });
    }
    let mut problem = refused(status, &body, id.as_deref(), &text);
    // Services with debugging switched on send a traceback.
    let trace = body["error"]["traceback"].as_str().filter(|trace| !trace.is_empty());
    if let Some(trace) = trace.filter(|_| verbosity.is_loud()) {
        problem.text = format!("{}\n{}", problem.text, trace.trim_end());
    }
    Err(problem)
}

/// The error message of the service, as far as it sent one.
fn refused(status: StatusCode, body: &Value, id: Option<&str>, text: &str) -> ClientError {
    let error = &body["error"];
    let kind = ClientErrorKind::Refused(status.as_u16());
    if let Some(message) = error["message"].as_str().filter(|message| !message.is_empty()) {
        let problem = ClientError::new(format!("ERROR: {message}")).of(kind);
        return match id {
            Some(id) if status.is_server_error() => {
                problem.next(format!("Report the request id {id} to the operator."))
            }
            Some(id) => problem.hint(format!("Request id: {id}")),
            None => problem,
        };
    }
    let title = body["title"].as_str().map_or_else(|| told_status(status), str::to_owned);
    let of = error["type"].as_str().map(|kind| format!(" ({kind})")).unwrap_or_default();
    let said = match body {
        Value::Null if !text.trim().is_empty() => format!(": {}", first_line(text)),
        _ => body["message"]
            .as_str()
            .map(|message| format!(": {}", first_line(message)))
            .unwrap_or_default(),
    };
    let problem = ClientError::new(format!("ERROR: {title}{of}{said}")).of(kind);
    match id {
        Some(id) => problem.next(format!(
            "The service gave no reason. Report the request id {id} to the operator."
        )),
        None => problem,
    }
}

/// The first line of an HTML page, without tags.
fn first_line(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.trim().chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            '\n' if !out.trim().is_empty() => break,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out.trim().chars().take(300).collect()
}

pub(super) fn told_status(status: StatusCode) -> String {
    format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default())
        .trim_end()
        .to_owned()
}

pub(super) fn refused_login(
    status: StatusCode,
    body: &Value,
    id: Option<String>,
    url: &str,
) -> ClientError {
    let message = body["error"]["message"].as_str();
    let message = message.map_or_else(
        || format!("{} is not an identity service.", without_secrets(url)),
        str::to_owned,
    );
    let id = id.map(|id| format!(" (Request-ID: {id})")).unwrap_or_default();
    let problem = ClientError::new(format!("{message} (HTTP {}){id}", status.as_u16()));
    problem.of(ClientErrorKind::Refused(status.as_u16())).next(match status.as_u16() {
        401 => {
            "Check user, password, project and domains: OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, \
                OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME, or the cloud's entry in clouds.yaml."
        }
        _ => "Check OS_AUTH_URL, or auth_url in clouds.yaml.",
    })
}

/// A URL without user, password and query: each of them may be a secret.
pub(super) fn without_secrets(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    match bare.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
        Some((scheme, Some((user, rest)))) if !user.contains('/') => format!("{scheme}://{rest}"),
        _ => bare.to_owned(),
    }
}

pub(super) fn lost(error: &reqwest::Error, url: &str) -> ClientError {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let (text, next) = match () {
        () if error.is_timeout() => {
            (format!("{url} did not respond in time."), "Try again, or increase --api-timeout.")
        }
        () if innermost.to_string().contains("certificate") => (
            format!("Unable to establish connection to {url}: {innermost}"),
            "Set OS_CACERT to the CA certificates to trust; --insecure skips verification.",
        ),
        () if error.is_connect() => (
            format!("Unable to establish connection to {url}: {innermost}"),
            "Check that the service is running and that OS_AUTH_URL and the catalogue are correct.",
        ),
        () if error.is_builder() => (
            format!("{url} is not a valid URL: {innermost}"),
            "It must begin with http:// or https://.",
        ),
        () => (format!("The connection to {url} broke: {innermost}"), "Try again."),
    };
    ClientError::new(text).next(next).of(ClientErrorKind::Lost)
}
