//! The way of a request through the cloud: what is due, who asks, which service, what goes wrong.

use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use super::Cloud;
use super::ask::{Ask, Content, Refusal, Reply, Turn, Who};
use super::control;
use super::faults::Kind;
use super::http::Outcome;
use super::services::{self, SERVICES, Service};
use super::world::{Pending, World};

/// So long after a change the state is written to disk, with all that changed in between.
const WRITE_AFTER: Duration = Duration::from_millis(300);

impl Cloud {
    /// What goes wrong with this request.
    pub(super) fn fault(&self, ask: &Ask) -> Option<Kind> {
        let mut world = self.world();
        let world = &mut *world;
        let path = format!("{}/{}", ask.service, ask.path.join("/"));
        if ask.service == "/sim" {
            return None;
        }
        let service = ask.service.trim_start_matches('/');
        world.faults.strikes(&mut world.random, service, &ask.method, &path)
    }

    /// Answers one request.
    pub(super) fn answer(&self, ask: Ask, fault: Option<Kind>) -> Outcome {
        let mut world = self.world();
        let world = &mut *world;
        let now = self.0.options.clock.micros();
        self.settle(world, now);
        world.now = now;
        *world.calls.entry(template(&ask)).or_default() += 1;
        let before = world.changes;
        let outcome = match fault {
            Some(Kind::Status(status)) => Outcome::Answered(refused(world, &ask, status)),
            Some(Kind::Garbage) => Outcome::Answered(garbage()),
            Some(Kind::Dropped) => Outcome::Silent,
            Some(Kind::Late(millis)) => {
                let delay = i64::try_from(millis).unwrap_or(i64::MAX / 1_000);
                world.later(delay.saturating_mul(1_000), Pending::Late(Box::new(ask)));
                Outcome::Silent
            }
            Some(Kind::Lost) => {
                self.carry_out(world, &ask);
                Outcome::Silent
            }
            Some(Kind::BuildFailure) => {
                world.fails_to_build = true;
                let reply = self.carry_out(world, &ask);
                world.fails_to_build = false;
                Outcome::Answered(reply)
            }
            Some(Kind::Slow(_)) | None => Outcome::Answered(self.carry_out(world, &ask)),
        };
        // Without time passing, nothing takes time.
        if world.build_time == 0 {
            self.settle(world, now);
        }
        if world.changes != before {
            self.write_soon();
        }
        outcome
    }

    /// Carries out what is due by then.
    fn settle(&self, world: &mut World, by: i64) {
        while let Some((at, what)) = world.due(by) {
            world.now = at;
            match what {
                Pending::Set { table, key, fields } => {
                    world.set(&table, &key, Value::from(fields));
                }
                Pending::Remove { table, key } => {
                    world.remove(&table, &key);
                }
                Pending::Step { name, key } => services::step(world, &name, &key),
                Pending::Late(ask) => {
                    self.carry_out(world, &ask);
                }
            }
        }
    }

    fn carry_out(&self, world: &mut World, ask: &Ask) -> Reply {
        let request_id = format!("req-{}", world.random.uuid());
        if ask.service == "/sim" {
            return match self.caller(ask) {
                Some(who) if who.is_admin => control::serve(world, ask),
                Some(_) => Reply::json(
                    403,
                    json!({ "error": { "code": 403, "message": "Administrators only." } }),
                ),
                None => unauthorized(ask),
            };
        }
        let prefix = ask.service.trim_start_matches('/');
        let Some(service) = services::at(prefix) else { return nothing_here(ask) };
        let mut reply = match self.served(world, service, ask) {
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
        if prefix == "compute" {
            reply = reply.with("x-compute-request-id", request_id);
        }
        with_version(service, ask, reply)
    }

    fn served(
        &self,
        world: &mut World,
        service: &'static Service,
        ask: &Ask,
    ) -> Result<Reply, Refusal> {
        let parts = ask.parts();
        if matches!(ask.method.as_str(), "GET" | "HEAD")
            && let Some((status, document)) =
                (service.versions)(&format!("{}/{}", ask.base, service.prefix), &parts)
        {
            return Ok(Reply::json(status, document));
        }
        let who = match self.caller(ask) {
            Some(who) => who,
            None if service.prefix == "object-store" || service.prefix == "messaging" => {
                Who::default()
            }
            None => return Ok(unauthorized(ask)),
        };
        let version = asked_version(service, ask)?;
        let body = match serde_json::from_slice(&ask.bytes) {
            Ok(body) => body,
            Err(_) if ask.bytes.iter().all(u8::is_ascii_whitespace) => json!({}),
            Err(_) if is_json(ask) => {
                return Err(service.dialect.plain(400, "Malformed request body"));
            }
            Err(_) => Value::Null,
        };
        let mut turn = Turn { world, ask, who, body, version };
        (service.serve)(&mut turn)
    }

    /// Who asks: nobody without a token that holds.
    fn caller(&self, ask: &Ask) -> Option<Who> {
        let token = ask.header("x-auth-token")?;
        let known = self.0.identity.who(token)?;
        Some(Who {
            user: known.user_id,
            project: known.project_id.unwrap_or_default(),
            is_admin: known.roles.iter().any(|role| role == "admin"),
        })
    }

    /// Writes the state a moment from now, unless somebody is about to anyway.
    fn write_soon(&self) {
        if self.0.options.file.is_none() {
            return;
        }
        let mut written = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        // Outside of a runtime there is nobody to do it later: whoever closes the cloud will.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if std::mem::replace(&mut written.1, true) {
            return;
        }
        let cloud = self.clone();
        runtime.spawn(async move {
            tokio::time::sleep(WRITE_AFTER).await;
            cloud.0.written.lock().unwrap_or_else(PoisonError::into_inner).1 = false;
            // A disk that is full shows when the cloud is closed; until then memory is the truth.
            let _ = tokio::task::spawn_blocking(move || cloud.close()).await;
        });
    }
}

fn is_json(ask: &Ask) -> bool {
    ask.header("content-type").is_some_and(|kind| kind.starts_with("application/json"))
}

/// The request without what is different every time.
fn template(ask: &Ask) -> String {
    let part = |part: &String| {
        let is_id = super::check::is_uuid(part)
            || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            || part.strip_prefix("AUTH_").is_some_and(super::check::is_uuid);
        if is_id { "{id}".to_owned() } else { part.clone() }
    };
    let parts: Vec<String> = ask.path.iter().map(part).collect();
    format!("{} {}/{}", ask.method, ask.service, parts.join("/"))
}

fn refused(world: &mut World, ask: &Ask, status: u16) -> Reply {
    let request_id = format!("req-{}", world.random.uuid());
    let prefix = ask.service.trim_start_matches('/');
    let message = "The service was told to refuse this request.";
    let Some(service) = SERVICES.iter().find(|service| service.prefix == prefix) else {
        return Reply::empty(status);
    };
    let refusal = service.dialect.plain(status, message);
    let (kind, body) = service.dialect.render(&refusal, &request_id);
    let body = Content::Bytes(kind.to_owned(), body.into_bytes());
    let reply = Reply { status, headers: Vec::new(), body };
    let reply = reply.with("x-openstack-request-id", request_id);
    if status == 429 || status == 503 { reply.with("retry-after", "1") } else { reply }
}

/// What a proxy in between says that has lost its mind.
fn garbage() -> Reply {
    let page = b"<html><body><h1>It works!</h1></body></html>".to_vec();
    Reply { status: 200, headers: Vec::new(), body: Content::Bytes("text/html".to_owned(), page) }
}

fn nothing_here(ask: &Ask) -> Reply {
    let message = format!("There is no service at {}.", ask.service);
    Reply::json(404, json!({ "error": { "code": 404, "message": message, "title": "Not Found" } }))
}

/// What the middleware in front of every service says to strangers.
fn unauthorized(ask: &Ask) -> Reply {
    let error = json!({
        "code": 401, "title": "Unauthorized",
        "message": "The request you have made requires authentication.",
    });
    let reply = Reply::json(401, json!({ "error": error }));
    reply.with("www-authenticate", format!("Keystone uri=\"{}\"", ask.base))
}

/// The minor version that the client asks for.
fn asked_version(service: &Service, ask: &Ask) -> Result<u32, Refusal> {
    let Some(known) = &service.microversions else { return Ok(0) };
    let new = ask.header("openstack-api-version").and_then(|words| {
        let mut words = words.split(',').filter_map(|word| word.trim().split_once(' '));
        words.find(|(name, _)| *name == known.name).map(|(_, version)| version.trim())
    });
    let asked = new.or_else(|| known.old_header.and_then(|header| ask.header(header)));
    let Some(asked) = asked else { return Ok(known.oldest) };
    if asked == "latest" {
        return Ok(known.newest);
    }
    let Some((major, minor)) = asked.split_once('.') else {
        let message = format!(
            "API Version String {asked} is of invalid format. Must be of format MajorNum.MinorNum."
        );
        return Err(service.dialect.plain(400, &message));
    };
    let within = |minor: &u32| (known.oldest..=known.newest).contains(minor);
    match (major.parse::<u32>(), minor.parse::<u32>().ok().filter(within)) {
        (Ok(major), Some(minor)) if major == known.major => Ok(minor),
        _ => {
            let (major, oldest, newest) = (known.major, known.oldest, known.newest);
            let message = format!(
                "Version {asked} is not supported by the API. Minimum is {major}.{oldest} and maximum is {major}.{newest}."
            );
            Err(service.dialect.plain(406, &message))
        }
    }
}

fn with_version(service: &Service, ask: &Ask, reply: Reply) -> Reply {
    let Some(known) = &service.microversions else { return reply };
    let Ok(minor) = asked_version(service, ask) else { return reply };
    let version = format!("{}.{minor}", known.major);
    let reply = reply
        .with("openstack-api-version", format!("{} {version}", known.name))
        .with("vary", "OpenStack-API-Version");
    match known.old_header {
        Some(header) => reply.with(header, version),
        None => reply,
    }
}
