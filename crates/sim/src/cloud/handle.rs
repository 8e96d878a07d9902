//! The path of a request through the cloud: pending changes, authentication, dispatch to the service, faults.

use std::time::Duration;

use serde_json::{Value, json};

use super::Cloud;
use super::control;
use super::faults::FaultKind;
use super::http::Outcome;
use super::request::{Caller, Content, Refusal, Reply, Request, RequestContext};
use super::services::{self, SERVICES, Service};
use super::state::{CloudState, Pending};

/// The delay after which a change is written to disk, together with all changes in between.
const WRITE_DELAY: Duration = Duration::from_millis(300);

impl Cloud {
    /// Returns the fault that is injected into this request.
    pub(super) fn fault(&self, request: &Request) -> Option<FaultKind> {
        let mut state = self.state();
        let state = &mut *state;
        let path = format!("{}/{}", request.service, request.path.join("/"));
        if request.service == "/sim" {
            return None;
        }
        let service = request.service.trim_start_matches('/');
        state.faults.next_fault(&mut state.random, service, &request.method, &path)
    }

    /// Answers one request.
    pub(super) fn answer(&self, request: Request, fault: Option<FaultKind>) -> Outcome {
        let mut state = self.state();
        let state = &mut *state;
        let now = self.0.options.clock.micros();
        self.run_pending(state, now);
        state.now = now;
        *state.calls.entry(route_template(&request)).or_default() += 1;
        let before = state.changes;
        let outcome = match fault {
            Some(FaultKind::Status(status)) => Outcome::Answered(refuse(state, &request, status)),
            Some(FaultKind::Garbage) => Outcome::Answered(garbled_reply()),
            Some(FaultKind::Dropped) => Outcome::Silent,
            Some(FaultKind::Late(millis)) => {
                let delay = i64::try_from(millis).unwrap_or(i64::MAX / 1_000);
                state.schedule(delay.saturating_mul(1_000), Pending::Late(Box::new(request)));
                Outcome::Silent
            }
            Some(FaultKind::Failed(status)) => {
                self.handle(state, &request);
                Outcome::Answered(refuse(state, &request, status))
            }
            Some(FaultKind::Lost) => {
                self.handle(state, &request);
                Outcome::Silent
            }
            Some(FaultKind::BuildFailure) => {
                state.fail_builds = true;
                let reply = self.handle(state, &request);
                state.fail_builds = false;
                Outcome::Answered(reply)
            }
            Some(FaultKind::Slow(_)) | None => Outcome::Answered(self.handle(state, &request)),
        };
        // Without a build time, pending changes are due at once.
        if state.build_time == 0 {
            self.run_pending(state, now);
        }
        if state.changes != before {
            self.write_soon();
        }
        outcome
    }

    /// Carries out the changes that are due at this time.
    fn run_pending(&self, state: &mut CloudState, by: i64) {
        while let Some((at, what)) = state.due(by) {
            state.now = at;
            match what {
                Pending::Set { table, key, fields } => {
                    state.set(&table, &key, Value::from(fields));
                }
                Pending::Remove { table, key } => {
                    state.remove(&table, &key);
                }
                Pending::Step { name, key } => services::step(state, &name, &key),
                Pending::Late(request) => {
                    self.handle(state, &request);
                }
            }
        }
    }

    fn handle(&self, state: &mut CloudState, request: &Request) -> Reply {
        let request_id = format!("req-{}", state.random.uuid());
        if request.service == "/sim" {
            return match self.caller(request) {
                Some(caller) if caller.is_admin => control::serve(state, request),
                Some(_) => Reply::json(
                    403,
                    json!({ "error": { "code": 403, "message": "Administrators only." } }),
                ),
                None => unauthorized(request),
            };
        }
        let prefix = request.service.trim_start_matches('/');
        let Some(service) = services::find(prefix) else { return unknown_service(request) };
        let mut reply = match self.dispatch(state, service, request) {
            Ok(reply) => reply,
            Err(refusal) => {
                let (kind, body) = service.dialect.render(&refusal, &request_id);
                Reply {
                    status: refusal.status,
                    headers: Vec::new(),
                    body: Content::Bytes(kind.to_owned(), body.into_bytes()),
                }
            }
        };
        reply = reply.with("x-openstack-request-id", request_id.clone());
        // Cinder answers so to a request over a quota, too.
        if prefix == "volume" && reply.status == 413 {
            reply = reply.with("retry-after", "0");
        }
        if prefix == "compute" {
            reply = reply.with("x-compute-request-id", request_id);
        }
        with_version(service, request, reply)
    }

    fn dispatch(
        &self,
        state: &mut CloudState,
        service: &'static Service,
        request: &Request,
    ) -> Result<Reply, Refusal> {
        let parts = request.parts();
        if matches!(request.method.as_str(), "GET" | "HEAD")
            && let Some((status, document)) =
                (service.versions)(&format!("{}/{}", request.base, service.prefix), &parts)
        {
            return Ok(Reply::json(status, document));
        }
        let caller = match self.caller(request) {
            Some(caller) => caller,
            None if service.prefix == "object-store" || service.prefix == "messaging" => {
                Caller::default()
            }
            None => return Ok(unauthorized(request)),
        };
        let version = requested_version(service, request)?;
        let body = match serde_json::from_slice(&request.bytes) {
            Ok(body) => body,
            Err(_) if request.bytes.iter().all(u8::is_ascii_whitespace) => json!({}),
            Err(_) if is_json(request) => {
                return Err(service.dialect.generic(400, "Malformed request body"));
            }
            Err(_) => Value::Null,
        };
        let mut ctx = RequestContext { state, request, caller, body, version };
        (service.serve)(&mut ctx)
    }

    /// Returns the owner of the token; `None` without a valid token.
    fn caller(&self, request: &Request) -> Option<Caller> {
        let token = request.header("x-auth-token")?;
        let known = self.0.identity.token_info(token)?;
        Some(Caller {
            user: known.user_id,
            project: known.project_id.unwrap_or_default(),
            is_admin: known.roles.iter().any(|role| role == "admin"),
        })
    }

    /// Schedules writing the state, unless that has been scheduled already.
    fn write_soon(&self) {
        if self.0.options.file.is_none() {
            return;
        }
        let mut written = self.0.written.lock();
        // Without an async runtime nothing can be scheduled; the state is written when the cloud is closed.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if std::mem::replace(&mut written.1, true) {
            return;
        }
        let cloud = self.clone();
        runtime.spawn(async move {
            tokio::time::sleep(WRITE_DELAY).await;
            cloud.0.written.lock().1 = false;
            // An error such as a full disk is reported when the cloud is closed; until then the state is in memory.
            let _ = tokio::task::spawn_blocking(move || cloud.close()).await;
        });
    }
}

fn is_json(request: &Request) -> bool {
    request.header("content-type").is_some_and(|kind| kind.starts_with("application/json"))
}

/// Returns the method and path of a request with `{id}` in place of ids.
fn route_template(request: &Request) -> String {
    let part = |part: &String| {
        let is_id = super::check::is_uuid(part)
            || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            || part.strip_prefix("AUTH_").is_some_and(super::check::is_uuid);
        if is_id { "{id}".to_owned() } else { part.clone() }
    };
    let parts: Vec<String> = request.path.iter().map(part).collect();
    format!("{} {}/{}", request.method, request.service, parts.join("/"))
}

fn refuse(state: &mut CloudState, request: &Request, status: u16) -> Reply {
    let request_id = format!("req-{}", state.random.uuid());
    let prefix = request.service.trim_start_matches('/');
    let message = "The service was told to refuse this request.";
    let Some(service) = SERVICES.iter().find(|service| service.prefix == prefix) else {
        return Reply::empty(status);
    };
    let refusal = service.dialect.generic(status, message);
    let (kind, body) = service.dialect.render(&refusal, &request_id);
    let body = Content::Bytes(kind.to_owned(), body.into_bytes());
    let reply = Reply { status, headers: Vec::new(), body };
    let reply = reply.with("x-openstack-request-id", request_id);
    if status == 429 || status == 503 { reply.with("retry-after", "1") } else { reply }
}

/// The reply of a broken proxy.
fn garbled_reply() -> Reply {
    let page = b"<html><body><h1>It works!</h1></body></html>".to_vec();
    Reply { status: 200, headers: Vec::new(), body: Content::Bytes("text/html".to_owned(), page) }
}

fn unknown_service(request: &Request) -> Reply {
    let message = format!("There is no service at {}.", request.service);
    Reply::json(404, json!({ "error": { "code": 404, "message": message, "title": "Not Found" } }))
}

/// The reply of the authentication middleware to a request without a valid token.
fn unauthorized(request: &Request) -> Reply {
    let error = json!({
        "code": 401, "title": "Unauthorized",
        "message": "The request you have made requires authentication.",
    });
    let reply = Reply::json(401, json!({ "error": error }));
    reply.with("www-authenticate", format!("Keystone uri=\"{}\"", request.base))
}

/// Returns the minor version that the client requests.
fn requested_version(service: &Service, request: &Request) -> Result<u32, Refusal> {
    let Some(known) = &service.microversions else { return Ok(0) };
    let new = request.header("openstack-api-version").and_then(|strings| {
        let mut strings = strings.split(',').filter_map(|word| word.trim().split_once(' '));
        strings.find(|(name, _)| *name == known.name).map(|(_, version)| version.trim())
    });
    let requested = new.or_else(|| known.old_header.and_then(|header| request.header(header)));
    let Some(requested) = requested else { return Ok(known.oldest) };
    if requested == "latest" {
        return Ok(known.newest);
    }
    let Some((major, minor)) = requested.split_once('.') else {
        let message = format!(
            "API Version String {requested} is of invalid format. Must be of format MajorNum.MinorNum."
        );
        return Err(service.dialect.generic(400, &message));
    };
    let within = |minor: &u32| (known.oldest..=known.newest).contains(minor);
    match (major.parse::<u32>(), minor.parse::<u32>().ok().filter(within)) {
        (Ok(major), Some(minor)) if major == known.major => Ok(minor),
        _ => {
            let (major, oldest, newest) = (known.major, known.oldest, known.newest);
            let message = format!(
                "Version {requested} is not supported by the API. Minimum is {major}.{oldest} and maximum is {major}.{newest}."
            );
            Err(service.dialect.generic(406, &message))
        }
    }
}

fn with_version(service: &Service, request: &Request, reply: Reply) -> Reply {
    let Some(known) = &service.microversions else { return reply };
    let Ok(minor) = requested_version(service, request) else { return reply };
    let version = format!("{}.{minor}", known.major);
    let reply = reply
        .with("openstack-api-version", format!("{} {version}", known.name))
        .with("vary", "OpenStack-API-Version");
    match known.old_header {
        Some(header) => reply.with(header, version),
        None => reply,
    }
}
