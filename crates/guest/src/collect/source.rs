//! Sources of metadata that are asked over the network, and what is remembered of them between rounds.

use super::Settings;
use crate::host::Host;
use crate::http::{Http, Reply, Request};
use crate::identity::{Login, Session};
use crate::json;
use crate::problem::Problem;
use crate::sign::{self, Call, Key};
use crate::xml;
use serde_json::{Map, Value};
use std::time::Instant;

/// The header in which a server tells how many seconds it lets somebody wait for a change.
const OFFER: &str = "X-Kiln-Wait";

/// Why a source has nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nobody said where it is.
    NotConfigured,
    /// It does not answer, or not well.
    NotAvailable(String),
}

impl From<Problem> for Missing {
    fn from(problem: Problem) -> Missing {
        Missing::NotAvailable(problem.to_string())
    }
}

/// What is remembered of a source.
#[derive(Default)]
pub(crate) struct Memory {
    /// What it said last, and how to ask whether that is still so.
    last: Option<(Value, Option<(&'static str, String)>)>,
    /// Whether that was asked a moment ago, by waiting.
    is_fresh: bool,
    session: Option<Session>,
    /// How long it lets somebody wait.
    pub(crate) offer: Option<u64>,
    /// When it last failed.
    pub(crate) failed: Option<Instant>,
}

impl Memory {
    /// What was said last, if that was asked a moment ago.
    fn fresh(&mut self) -> Option<Value> {
        let is_fresh = std::mem::take(&mut self.is_fresh);
        self.last.as_ref().filter(|_| is_fresh).map(|(value, _)| value.clone())
    }

    /// The header that asks whether something changed.
    fn condition(&self) -> Option<(&'static str, String)> {
        self.last.as_ref().and_then(|(_, tag)| tag.clone())
    }

    /// Takes an answer in.
    fn take(
        &mut self,
        reply: &Reply,
        read: impl FnOnce(&Reply) -> Option<Value>,
    ) -> Result<Value, Missing> {
        self.offer = reply.header(OFFER).and_then(|it| it.parse().ok()).filter(|it| *it > 0);
        if let (304, Some((value, _))) = (reply.status, &self.last) {
            return Ok(value.clone());
        }
        if !reply.is_good() {
            return Err(Missing::NotAvailable(format!("answered with {}", reply.status)));
        }
        let Some(value) = read(reply) else {
            return Err(Missing::NotAvailable("answered with something else than metadata".into()));
        };
        let tag = |header: &str, ask: &'static str| Some((ask, reply.header(header)?.to_owned()));
        let tag =
            tag("ETag", "If-None-Match").or_else(|| tag("Last-Modified", "If-Modified-Since"));
        self.last = Some((value.clone(), tag));
        Ok(value)
    }
}

/// How long somebody waits for a change; nothing means not at all.
pub(crate) type Wait = Option<u64>;

/// Waits at a source for a change, and remembers what it said.
pub(crate) fn wait(
    collect: impl FnOnce(&mut Memory, Wait) -> Result<Value, Missing>,
    memory: &mut Memory,
    seconds: u64,
) -> Result<(), Missing> {
    collect(memory, Some(seconds))?;
    memory.is_fresh = true;
    Ok(())
}

fn ask(http: &Http, mut request: Request, memory: &Memory, wait: Wait) -> Result<Reply, Missing> {
    if let Some((name, value)) = memory.condition() {
        request = request.with(name, value);
    }
    if let Some(seconds) = wait {
        request.timeout += std::time::Duration::from_secs(seconds);
    }
    http.send(&request).map_err(|failed| Missing::NotAvailable(failed.to_string()))
}

// --- the orchestration API ---

/// Metadata of a resource, asked with a password.
pub(crate) fn heat(
    http: &Http,
    settings: &Settings,
    memory: &mut Memory,
    wait: Wait,
) -> Result<Value, Missing> {
    if let Some(value) = memory.fresh() {
        return Ok(value);
    }
    let keys = ["auth_url", "user_id", "password", "project_id", "stack_id", "resource_name"];
    let Some([auth_url, user, password, project, stack, resource]) = settings.every("heat", keys)
    else {
        return Err(Missing::NotConfigured);
    };
    let region = settings.get("heat", "region_name");
    let login = Login { auth_url, user, password, project, region };
    // A token that has ended is found out by using it.
    for is_last in [false, true] {
        let session = match memory.session.take() {
            Some(session) => session,
            None => login.log_in(http)?,
        };
        let base = session.endpoint("orchestration")?;
        let stack: Vec<String> = stack.split('/').map(sign::encoded).collect();
        let mut url = format!(
            "{base}/stacks/{}/resources/{}/metadata",
            stack.join("/"),
            sign::encoded(resource)
        );
        if let Some(seconds) = wait {
            url.push_str(&format!("?wait={seconds}"));
        }
        let request = Request::new("GET", url).with("X-Auth-Token", session.token.clone());
        let request = request.with("Accept", "application/json");
        let reply = ask(http, request, memory, wait)?;
        if reply.status == 401 && !is_last {
            continue;
        }
        memory.session = Some(session);
        return memory.take(&reply, |reply| {
            let body: Value = serde_json::from_slice(&reply.body).ok()?;
            body.get("metadata").filter(|it| it.is_object()).cloned()
        });
    }
    Err(Missing::NotAvailable("the token is refused".into()))
}

// --- the CloudFormation API ---

/// Metadata of resources, asked with a signature.
pub(crate) fn cfn(
    host: &Host,
    http: &Http,
    settings: &Settings,
    memory: &mut Memory,
    wait: Wait,
) -> Result<Value, Missing> {
    let keys = ["stack_name", "access_key_id", "secret_access_key"];
    let Some([stack, id, secret]) = settings.every("cfn", keys) else {
        return Err(Missing::NotConfigured);
    };
    let paths = settings.all("cfn", "path");
    let Some(url) = cfn_url(host, settings) else { return Err(Missing::NotConfigured) };
    if paths.is_empty() {
        return Err(Missing::NotConfigured);
    }
    let mut fresh = memory.fresh();
    let mut merged = Map::new();
    for path in paths {
        let steps: Vec<&str> = path.split('.').collect();
        let [resource, field, inner @ ..] = steps.as_slice() else {
            return Err(Missing::NotAvailable(format!("path {path:?} has no field")));
        };
        if paths.len() > 1 {
            // What is remembered is of one resource.
            *memory = Memory::default();
        }
        let value = match fresh.take() {
            Some(value) => value,
            None => {
                let of = Described { stack, resource, field, key: Key { id, secret }, url: &url };
                described(http, settings, memory, of, wait.filter(|_| paths.len() == 1))?
            }
        };
        match json::find(&value, inner) {
            Some(Value::Object(map)) => merged.extend(map.clone()),
            _ => return Err(Missing::NotAvailable(format!("{path} is no map"))),
        }
    }
    if paths.len() > 1 {
        memory.offer = None;
    }
    Ok(Value::Object(merged))
}

/// A field of a resource's description, and how to ask for it.
struct Described<'d> {
    stack: &'d str,
    resource: &'d str,
    field: &'d str,
    key: Key<'d>,
    url: &'d str,
}

fn described(
    http: &Http,
    settings: &Settings,
    memory: &mut Memory,
    of: Described<'_>,
    wait: Wait,
) -> Result<Value, Missing> {
    let known = memory.condition().map(|(_, tag)| tag).unwrap_or_default();
    let seconds = wait.unwrap_or(0).to_string();
    let mut parameters = vec![
        ("Action", "DescribeStackResource"),
        ("StackName", of.stack),
        ("LogicalResourceId", of.resource),
    ];
    // Whoever does not know these leaves them aside; whoever does tells a tag.
    parameters.push(("Wait", seconds.as_str()));
    if wait.is_some() {
        parameters.push(("Known", known.as_str()));
    }
    let (at, path) = sign::parts(of.url);
    let call = Call { method: "GET", host: at, path, parameters: &parameters };
    let query = sign::version_2(of.key, call);
    let request = Request::new("GET", format!("{}?{query}", of.url))
        .with("Content-Type", "application/json")
        .within(settings.number("cfn", "timeout", 10) + wait.unwrap_or(0));
    let reply = http.send(&request);
    let reply = reply.map_err(|failed| Missing::NotAvailable(failed.to_string()))?;
    let text = reply.text();
    let part = |field: &str| {
        xml::text_at(&text, &["DescribeStackResourceResult", "StackResourceDetail", field])
    };
    let value = memory.take(&reply, |_| serde_json::from_str(&part(of.field)?).ok())?;
    memory.offer = part("MetadataWait").and_then(|it| it.parse().ok()).filter(|it| *it > 0);
    if let (Some((_, tag)), Some(told)) = (&mut memory.last, part("MetadataTag")) {
        *tag = Some(("Known", told));
    }
    Ok(value)
}

fn cfn_url(host: &Host, settings: &Settings) -> Option<String> {
    if let Some(url) = settings.get("cfn", "metadata_url") {
        return Some(url.to_owned());
    }
    let usual = "/var/lib/heat-cfntools/cfn-metadata-server";
    let hint = settings.get("cfn", "heat_metadata_hint").unwrap_or(usual);
    let told = crate::files::text(&host.path(hint))?;
    let base = told.trim().trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    Some(format!("{base}/v1/"))
}

// --- an address of its own ---

/// What was left at an address.
pub(crate) fn request(
    http: &Http,
    settings: &Settings,
    memory: &mut Memory,
) -> Result<Value, Missing> {
    let Some(url) = settings.get("request", "metadata_url") else {
        return Err(Missing::NotConfigured);
    };
    let request = Request::new("GET", url).within(settings.number("request", "timeout", 10));
    let reply = ask(http, request, memory, None)?;
    memory.take(&reply, |reply| serde_json::from_slice(&reply.body).ok().filter(Value::is_object))
}

// --- a queue ---

/// The next message of a queue; what it said before, if there is none.
pub(crate) fn zaqar(
    http: &Http,
    settings: &Settings,
    memory: &mut Memory,
) -> Result<Value, Missing> {
    let keys = ["auth_url", "user_id", "password", "project_id", "queue_id"];
    let Some([auth_url, user, password, project, queue]) = settings.every("zaqar", keys) else {
        return Err(Missing::NotConfigured);
    };
    let region = settings.get("zaqar", "region_name");
    let login = Login { auth_url, user, password, project, region };
    for is_last in [false, true] {
        let session = match memory.session.take() {
            Some(session) => session,
            None => login.log_in(http)?,
        };
        let base = session.endpoint("messaging")?;
        let url = format!("{base}/v2/queues/{}/messages?pop=1", sign::encoded(queue));
        let request = queue_request("DELETE", url, &session, project);
        let reply = ask(http, request, &Memory::default(), None)?;
        if reply.status == 401 && !is_last {
            continue;
        }
        memory.session = Some(session);
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let message = body.pointer("/messages/0/body").filter(|it| it.is_object());
        if let Some(message) = message {
            memory.last = Some((message.clone(), None));
        }
        return match &memory.last {
            Some((value, _)) => Ok(value.clone()),
            None => Err(Missing::NotAvailable("the queue is empty".into())),
        };
    }
    Err(Missing::NotAvailable("the token is refused".into()))
}

/// A request to the messaging service.
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
