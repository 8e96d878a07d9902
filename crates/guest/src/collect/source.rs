//! The sources of metadata on the network, and their state between rounds.

use super::Config;
use crate::error::GuestError;
use crate::host::Host;
use crate::http::{Http, Reply, Request};
use crate::identity::{Login, Session};
use crate::json;
use crate::sign::{self, Call, Key};
use serde_json::{Map, Value};
use std::time::Instant;

/// The response header with the number of seconds for which a server supports long polling.
const WAIT_HEADER: &str = "X-Kiln-Wait";

/// The reason why a source has no metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceError {
    /// The source is not configured.
    NotConfigured,
    /// The source does not respond, or responds with an error.
    NotAvailable(String),
}

impl From<GuestError> for SourceError {
    fn from(error: GuestError) -> SourceError {
        SourceError::NotAvailable(error.to_string())
    }
}

/// The state of a source.
#[derive(Default)]
pub(crate) struct SourceState {
    /// The last metadata, and the header of a conditional request for it.
    last: Option<(Value, Option<(&'static str, String)>)>,
    /// Whether the last metadata comes from a long poll that has just ended.
    is_fresh: bool,
    session: Option<Session>,
    /// The number of seconds for which the source supports long polling.
    pub(crate) max_wait: Option<u64>,
    /// The time of the last failure.
    pub(crate) failed: Option<Instant>,
}

impl SourceState {
    /// Returns the last metadata, if it comes from a long poll that has just ended.
    fn take_fresh(&mut self) -> Option<Value> {
        let is_fresh = std::mem::take(&mut self.is_fresh);
        self.last.as_ref().filter(|_| is_fresh).map(|(value, _)| value.clone())
    }

    /// Returns the header of a conditional request.
    fn condition(&self) -> Option<(&'static str, String)> {
        self.last.as_ref().and_then(|(_, tag)| tag.clone())
    }

    /// Processes a response.
    fn take(
        &mut self,
        reply: &Reply,
        read: impl FnOnce(&Reply) -> Option<Value>,
    ) -> Result<Value, SourceError> {
        self.max_wait =
            reply.header(WAIT_HEADER).and_then(|it| it.parse().ok()).filter(|it| *it > 0);
        if let (304, Some((value, _))) = (reply.status, &self.last) {
            return Ok(value.clone());
        }
        if !reply.is_good() {
            return Err(SourceError::NotAvailable(format!(
                "the response has status {}",
                reply.status
            )));
        }
        let Some(value) = read(reply) else {
            return Err(SourceError::NotAvailable("the response is not metadata".into()));
        };
        let tag = |header: &str, condition: &'static str| {
            // A value that cannot be sent back would make every later request fail.
            let value = reply.header(header)?;
            let is_plain = value.bytes().all(|it| it == b' ' || it.is_ascii_graphic());
            is_plain.then(|| (condition, value.to_owned()))
        };
        let tag =
            tag("ETag", "If-None-Match").or_else(|| tag("Last-Modified", "If-Modified-Since"));
        self.last = Some((value.clone(), tag));
        Ok(value)
    }
}

/// The seconds of a long poll; `None` for an immediate answer.
pub(crate) type Wait = Option<u64>;

/// Waits for a change at a source, and keeps its response.
pub(crate) fn wait(
    collect: impl FnOnce(&mut SourceState, Wait) -> Result<Value, SourceError>,
    state: &mut SourceState,
    seconds: u64,
) -> Result<(), SourceError> {
    collect(state, Some(seconds))?;
    state.is_fresh = true;
    Ok(())
}

fn send_conditional(
    http: &Http,
    mut request: Request,
    state: &SourceState,
    wait: Wait,
) -> Result<Reply, SourceError> {
    if let Some((name, value)) = state.condition() {
        request = request.with(name, value);
    }
    if let Some(seconds) = wait {
        request.timeout += std::time::Duration::from_secs(seconds);
    }
    http.send(&request).map_err(|failed| SourceError::NotAvailable(failed.to_string()))
}

// --- the orchestration API ---

/// Requests the metadata of a resource with a password.
pub(crate) fn heat(
    http: &Http,
    config: &Config,
    state: &mut SourceState,
    wait: Wait,
) -> Result<Value, SourceError> {
    if let Some(value) = state.take_fresh() {
        return Ok(value);
    }
    let keys = ["auth_url", "user_id", "password", "project_id", "stack_id", "resource_name"];
    let Some([auth_url, user, password, project, stack, resource]) = config.every("heat", keys)
    else {
        return Err(SourceError::NotConfigured);
    };
    let region = config.get("heat", "region_name");
    let login = Login { auth_url, user, password, project, region };
    // An expired token is only detected when it is used.
    for is_last in [false, true] {
        let session = match state.session.take() {
            Some(session) => session,
            None => login.log_in(http)?,
        };
        let base = session.endpoint("orchestration")?;
        let stack: Vec<String> = stack.split('/').map(sign::percent_encode).collect();
        let mut url = format!(
            "{base}/stacks/{}/resources/{}/metadata",
            stack.join("/"),
            sign::percent_encode(resource)
        );
        if let Some(seconds) = wait {
            url.push_str(&format!("?wait={seconds}"));
        }
        let request = Request::new("GET", url).with("X-Auth-Token", session.token.clone());
        let request = request.with("Accept", "application/json");
        let reply = send_conditional(http, request, state, wait)?;
        if reply.status == 401 && !is_last {
            continue;
        }
        state.session = Some(session);
        return state.take(&reply, |reply| {
            let body: Value = serde_json::from_slice(&reply.body).ok()?;
            body.get("metadata").filter(|it| it.is_object()).cloned()
        });
    }
    Err(SourceError::NotAvailable("the token was rejected".into()))
}

// --- the CloudFormation API ---

/// Requests the metadata of resources with a signature.
pub(crate) fn cfn(
    host: &Host,
    http: &Http,
    config: &Config,
    state: &mut SourceState,
    wait: Wait,
) -> Result<Value, SourceError> {
    let keys = ["stack_name", "access_key_id", "secret_access_key"];
    let Some([stack, id, secret]) = config.every("cfn", keys) else {
        return Err(SourceError::NotConfigured);
    };
    let paths = config.all("cfn", "path");
    let Some(url) = cfn_url(host, config) else { return Err(SourceError::NotConfigured) };
    if paths.is_empty() {
        return Err(SourceError::NotConfigured);
    }
    let mut fresh = state.take_fresh();
    let mut merged = Map::new();
    for path in paths {
        let steps: Vec<&str> = path.split('.').collect();
        let [resource, field, inner @ ..] = steps.as_slice() else {
            return Err(SourceError::NotAvailable(format!("path {path:?} has no field")));
        };
        if paths.len() > 1 {
            // The state belongs to a single resource.
            *state = SourceState::default();
        }
        let value = match fresh.take() {
            Some(value) => value,
            None => {
                let field =
                    ResourceField { stack, resource, field, key: Key { id, secret }, url: &url };
                describe_field(http, config, state, field, wait.filter(|_| paths.len() == 1))?
            }
        };
        match json::find(&value, inner) {
            Some(Value::Object(map)) => merged.extend(map.clone()),
            _ => return Err(SourceError::NotAvailable(format!("{path} is not a map"))),
        }
    }
    if paths.len() > 1 {
        state.max_wait = None;
    }
    Ok(Value::Object(merged))
}

/// The path of the description in the response of `DescribeStackResource`.
pub(crate) const RESOURCE_DETAIL: &str =
    "/DescribeStackResourceResponse/DescribeStackResourceResult/StackResourceDetail";

/// A field of the description of a resource, and the request for it.
struct ResourceField<'d> {
    stack: &'d str,
    resource: &'d str,
    field: &'d str,
    key: Key<'d>,
    url: &'d str,
}

fn describe_field(
    http: &Http,
    config: &Config,
    state: &mut SourceState,
    wanted: ResourceField<'_>,
    wait: Wait,
) -> Result<Value, SourceError> {
    let known = state.condition().map(|(_, tag)| tag).unwrap_or_default();
    let seconds = wait.unwrap_or(0).to_string();
    let mut parameters = vec![
        ("Action", "DescribeStackResource"),
        ("ContentType", "JSON"),
        ("StackName", wanted.stack),
        ("LogicalResourceId", wanted.resource),
    ];
    // A service that does not know these parameters ignores them; one that does returns a tag.
    parameters.push(("Wait", seconds.as_str()));
    if wait.is_some() {
        parameters.push(("Known", known.as_str()));
    }
    let (at, path) = sign::split_url(wanted.url);
    let call = Call { method: "GET", host: at, path, parameters: &parameters };
    let query = sign::version_2(wanted.key, call);
    let request = Request::new("GET", format!("{}?{query}", wanted.url))
        .with("Content-Type", "application/json")
        .with_timeout(config.seconds("cfn", "timeout", 10) + wait.unwrap_or(0));
    let reply = http.send(&request);
    let reply = reply.map_err(|failed| SourceError::NotAvailable(failed.to_string()))?;
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let detail = body.pointer(RESOURCE_DETAIL).unwrap_or(&Value::Null);
    let value = state.take(&reply, |_| match detail.get(wanted.field)? {
        Value::String(text) => serde_json::from_str(text).ok(),
        value => Some(value.clone()),
    })?;
    let seconds = detail.get("MetadataWait").map(json::plain);
    state.max_wait = seconds.and_then(|it| it.parse().ok()).filter(|it| *it > 0);
    if let (Some((_, known)), Some(tag)) = (&mut state.last, json::text(detail, "MetadataTag")) {
        *known = Some(("Known", tag.to_owned()));
    }
    Ok(value)
}

fn cfn_url(host: &Host, config: &Config) -> Option<String> {
    if let Some(url) = config.get("cfn", "metadata_url") {
        return Some(url.to_owned());
    }
    let default = "/var/lib/heat-cfntools/cfn-metadata-server";
    let hint = config.get("cfn", "heat_metadata_hint").unwrap_or(default);
    let url = crate::files::text(&host.path(hint))?;
    let base = url.trim().trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    Some(format!("{base}/v1/"))
}

// --- a URL ---

/// Requests the metadata at a URL.
pub(crate) fn request(
    http: &Http,
    config: &Config,
    state: &mut SourceState,
) -> Result<Value, SourceError> {
    let Some(url) = config.get("request", "metadata_url") else {
        return Err(SourceError::NotConfigured);
    };
    let request = Request::new("GET", url).with_timeout(config.seconds("request", "timeout", 10));
    let reply = send_conditional(http, request, state, None)?;
    state.take(&reply, |reply| serde_json::from_slice(&reply.body).ok().filter(Value::is_object))
}

// --- a queue ---

/// Takes the next message of a queue; if there is none, returns the previous one.
pub(crate) fn zaqar(
    http: &Http,
    config: &Config,
    state: &mut SourceState,
) -> Result<Value, SourceError> {
    let keys = ["auth_url", "user_id", "password", "project_id", "queue_id"];
    let Some([auth_url, user, password, project, queue]) = config.every("zaqar", keys) else {
        return Err(SourceError::NotConfigured);
    };
    let region = config.get("zaqar", "region_name");
    let login = Login { auth_url, user, password, project, region };
    for is_last in [false, true] {
        let session = match state.session.take() {
            Some(session) => session,
            None => login.log_in(http)?,
        };
        let base = session.endpoint("messaging")?;
        let url = format!("{base}/v2/queues/{}/messages?pop=1", sign::percent_encode(queue));
        let request = queue_request("DELETE", url, &session, project);
        let reply = send_conditional(http, request, &SourceState::default(), None)?;
        if reply.status == 401 && !is_last {
            continue;
        }
        state.session = Some(session);
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let message = body.pointer("/messages/0/body").filter(|it| it.is_object());
        if let Some(message) = message {
            state.last = Some((message.clone(), None));
        }
        return match &state.last {
            Some((value, _)) => Ok(value.clone()),
            None => Err(SourceError::NotAvailable("the queue is empty".into())),
        };
    }
    Err(SourceError::NotAvailable("the token was rejected".into()))
}

/// Builds a request to the messaging service.
pub(crate) fn queue_request(
    method: &'static str,
    url: String,
    session: &Session,
    project: &str,
) -> Request {
    Request::new(method, url)
        .with("X-Auth-Token", session.token.clone())
        .with("X-Project-Id", project)
        .with("Client-ID", "6b696c6e-0000-4000-8000-000000000000")
        .with("Content-Type", "application/json")
        .with("Accept", "application/json")
}
