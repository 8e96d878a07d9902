//! What came back, judged: an answer, or a refusal in the service's own words.

use super::connection::Loudness;
use super::problem::{Kind, Problem, Result};
use reqwest::StatusCode;
use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The body; null if there was none or it was no JSON.
    pub(crate) body: Value,
    /// The status.
    pub(crate) status: StatusCode,
    /// Where to go instead.
    pub(crate) location: Option<String>,
}

/// What came back, before it is judged.
pub(super) struct Received {
    pub(super) status: StatusCode,
    pub(super) body: Value,
    pub(super) location: Option<String>,
    /// What the service calls the request.
    pub(super) id: Option<String>,
    /// The beginning of the body.
    pub(super) text: String,
}

/// An answer, unless the service refused.
pub(super) fn judged(received: Received, loudness: Loudness) -> Result<Answer> {
    let Received { status, body, location, id, text } = received;
    if status == StatusCode::MULTIPLE_CHOICES {
        return Err(Problem::new("Requested version of Heat API is not available.").next(
            "Check that the orchestration endpoint ends in /v1/ and the id of the project.",
        ));
    }
    if status.as_u16() < 400 {
        return Ok(Answer { status, body, location });
    }
    let mut problem = refused(status, &body, id.as_deref(), &text);
    // Where in the service it went wrong, if it tells.
    let trace = body["error"]["traceback"].as_str().filter(|trace| !trace.is_empty());
    if let Some(trace) = trace.filter(|_| loudness.is_loud()) {
        problem.text = format!("{}\n{}", problem.text, trace.trim_end());
    }
    Err(problem)
}

/// A refusal in the service's own words, as far as it has any.
fn refused(status: StatusCode, body: &Value, id: Option<&str>, text: &str) -> Problem {
    let error = &body["error"];
    let kind = Kind::Refused(status.as_u16());
    if let Some(message) = error["message"].as_str().filter(|message| !message.is_empty()) {
        let problem = Problem::new(format!("ERROR: {message}")).of(kind);
        return match id {
            Some(id) if status.is_server_error() => {
                problem.next(format!("The request was {id}: tell it to the operator."))
            }
            Some(id) => problem.hint(format!("The request was {id}.")),
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
    let problem = Problem::new(format!("ERROR: {title}{of}{said}")).of(kind);
    match id {
        Some(id) => problem.next(format!(
            "The service gave no reason. The request was {id}: tell it to the operator."
        )),
        None => problem,
    }
}

/// The first line of a page, without its marks.
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
) -> Problem {
    let message = body["error"]["message"].as_str();
    let message = message
        .map_or_else(|| format!("{} is no identity service.", without_secrets(url)), str::to_owned);
    let id = id.map(|id| format!(" (Request-ID: {id})")).unwrap_or_default();
    let problem = Problem::new(format!("{message} (HTTP {}){id}", status.as_u16()));
    problem.of(Kind::Refused(status.as_u16())).next(match status.as_u16() {
        401 => {
            "Check user, password, project and domains: OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, \
                OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME, or the cloud's entry in clouds.yaml."
        }
        _ => "Check OS_AUTH_URL, or auth_url in clouds.yaml.",
    })
}

/// An address without user, password and query: each of them may be a secret.
pub(super) fn without_secrets(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    match bare.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
        Some((scheme, Some((user, rest)))) if !user.contains('/') => format!("{scheme}://{rest}"),
        _ => bare.to_owned(),
    }
}

pub(super) fn lost(error: &reqwest::Error, url: &str) -> Problem {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let (text, next) = match () {
        () if error.is_timeout() => (
            format!("{url} did not answer in time."),
            "Try again; --api-timeout gives it more seconds.",
        ),
        () if innermost.to_string().contains("certificate") => (
            format!("Unable to establish connection to {url}: {innermost}"),
            "Name the certificates to trust with OS_CACERT; --insecure takes any.",
        ),
        () if error.is_connect() => (
            format!("Unable to establish connection to {url}: {innermost}"),
            "Check that the service runs and that OS_AUTH_URL and the catalogue name the right address.",
        ),
        () if error.is_builder() => (
            format!("{url} is no address: {innermost}"),
            "It has to begin with http:// or https://.",
        ),
        () => (format!("The connection to {url} broke: {innermost}"), "Try again."),
    };
    Problem::new(text).next(next).of(Kind::Lost)
}
