//! An identity service of our own making: Keystone's API as its documentation has it, with a clock that
//! tests set.

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use axum::routing::{get, post};
use axum::{Json, Router};
use kiln_api::auth::Clock;
use kiln_engine::Time;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A running identity service.
pub(super) struct Fake {
    pub(super) url: String,
    shared: Shared,
    server: tokio::task::JoinHandle<()>,
}

type Shared = Arc<Inner>;

struct Inner {
    state: Mutex<Known>,
    /// Validations pass one for each permit.
    gate: Semaphore,
}

/// The state of the service, and the requests that it got.
pub(super) struct Known {
    pub(super) now: Time,
    /// Descriptions by token.
    pub(super) tokens: BTreeMap<String, Value>,
    /// Passwords by user.
    pub(super) passwords: BTreeMap<String, String>,
    /// The keys that requests are signed with: the good signature, and whose it is.
    pub(super) keys: BTreeMap<String, (String, String)>,
    /// The tokens of Kiln's own account that are accepted.
    own: Vec<String>,
    pub(super) events: Vec<Value>,
    /// The status of the response to the list of events.
    pub(super) events_status: u16,
    pub(super) logins: Vec<Value>,
    pub(super) validations: usize,
    /// The moments since which events were asked for.
    pub(super) since: Vec<String>,
}

pub(super) fn at(seconds: i64) -> Time {
    Time::from_micros((1_794_000_000 + seconds) * 1_000_000)
}

impl Fake {
    pub(super) async fn start() -> Fake {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Known {
            now: at(0),
            tokens: BTreeMap::new(),
            passwords: [("kiln", "own-password"), ("ann", "ann-password")]
                .map(|(user, password)| (user.to_owned(), password.to_owned()))
                .into(),
            keys: BTreeMap::new(),
            own: Vec::new(),
            events: Vec::new(),
            events_status: 200,
            logins: Vec::new(),
            validations: 0,
            since: Vec::new(),
        };
        let gate = Semaphore::new(1 << 20);
        let shared = Arc::new(Inner { state: Mutex::new(state), gate });
        let app = Router::new()
            .route("/v3/auth/tokens", get(validate).post(log_in))
            .route("/v3/OS-REVOKE/events", get(events))
            .route("/v3/ec2tokens", post(exchange_token))
            .with_state(shared.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Fake { url, shared, server }
    }

    pub(super) fn token_key(&self) -> MutexGuard<'_, Known> {
        self.shared.state.lock().unwrap()
    }

    /// How often it was asked about a token, and how often for one.
    pub(super) fn counts(&self) -> (usize, usize) {
        let token_key = self.token_key();
        (token_key.validations, token_key.logins.len())
    }

    /// A clock that shows what the service's shows.
    pub(super) fn clock(&self) -> Clock {
        let shared = self.shared.clone();
        Arc::new(move || shared.state.lock().unwrap().now)
    }

    pub(super) fn set_time(&self, seconds: i64) {
        self.token_key().now = at(seconds);
    }

    /// Issues a token of a user for a project, valid for so many seconds.
    pub(super) fn give(&self, token: &str, user: &str, roles: &[&str], seconds: u64) {
        let mut token_key = self.token_key();
        let now = token_key.now;
        let description = description(user, "p1", roles, now, seconds);
        token_key.tokens.insert(token.to_owned(), description);
    }

    /// Ends all sessions of Kiln's own account.
    pub(super) fn end_own(&self) {
        self.token_key().own.clear();
    }

    /// Validations wait from now on, for [`Fake::release`].
    pub(super) fn hold(&self) {
        self.shared.gate.forget_permits(1 << 20);
    }

    pub(super) fn release(&self) {
        self.shared.gate.add_permits(1 << 20);
    }

    /// Takes the service down.
    pub(super) async fn stop(&mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn written(moment: Time) -> String {
    moment.to_string().replace('Z', ".000000Z")
}

fn description(user: &str, project: &str, roles: &[&str], now: Time, seconds: u64) -> Value {
    let roles: Vec<_> =
        roles.iter().map(|role| json!({ "id": format!("id-of-{role}"), "name": role })).collect();
    json!({ "token": {
        "methods": ["password"],
        "user": { "id": format!("id-of-{user}"), "name": user, "domain": { "id": "default" } },
        "project": { "id": project, "name": "demo", "domain": { "id": "default" } },
        "roles": roles,
        "audit_ids": [format!("audit-of-{user}")],
        "issued_at": written(now),
        "expires_at": written(now + Duration::from_secs(seconds)),
        "catalog": [{ "type": "orchestration", "endpoints": [] }],
    } })
}

fn refuse(status: u16) -> HttpResponse {
    let body = json!({ "error": { "code": status, "message": "no", "title": "no" } });
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

async fn log_in(State(shared): State<Shared>, Json(request): Json<Value>) -> HttpResponse {
    let mut token_key = shared.state.lock().unwrap();
    token_key.logins.push(request.clone());
    let user = &request["auth"]["identity"]["password"]["user"];
    let name = user["name"].as_str().unwrap_or_default();
    if token_key.passwords.get(name).is_none_or(|password| user["password"] != json!(password)) {
        return refuse(401);
    }
    let scope = &request["auth"]["scope"]["project"];
    let project = scope["id"].as_str().or(scope["name"].as_str()).unwrap_or_default();
    let token = format!("token-{}-of-{name}", token_key.logins.len());
    let description = description(name, project, &["member", "reader"], token_key.now, 3600);
    if name == "kiln" {
        token_key.own.push(token.clone());
    }
    (StatusCode::CREATED, [("x-subject-token", token)], Json(description)).into_response()
}

async fn validate(
    State(shared): State<Shared>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> HttpResponse {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    shared.state.lock().unwrap().validations += 1;
    let _passed = shared.gate.acquire().await.unwrap();
    let token_key = shared.state.lock().unwrap();
    if !token_key.own.iter().any(|own| own == header("x-auth-token")) {
        return refuse(401);
    }
    let Some(description) = token_key.tokens.get(header("x-subject-token")) else {
        return refuse(404);
    };
    let over =
        description["token"]["expires_at"].as_str().unwrap() <= written(token_key.now).as_str();
    match over && query.get("allow_expired").is_none_or(|allowed| allowed != "1") {
        true => refuse(404),
        false => Json(description.clone()).into_response(),
    }
}

async fn exchange_token(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> HttpResponse {
    let token_key = shared.state.lock().unwrap();
    let own = headers.get("x-auth-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !token_key.own.iter().any(|token_key| token_key == own) {
        return refuse(401);
    }
    let signed_request = &request["ec2Credentials"];
    let access = signed_request["access"].as_str().unwrap_or_default();
    let Some((signature, user)) = token_key.keys.get(access) else { return refuse(404) };
    if signed_request["signature"] != json!(signature) {
        return refuse(401);
    }
    let description = description(user, "p1", &["member"], token_key.now, 3600);
    (StatusCode::OK, [("x-subject-token", format!("token-for-{access}"))], Json(description))
        .into_response()
}

async fn events(
    State(shared): State<Shared>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> HttpResponse {
    let mut token_key = shared.state.lock().unwrap();
    token_key.since.push(query.get("since").cloned().unwrap_or_default());
    let own = headers.get("x-auth-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !token_key.own.iter().any(|token_key| token_key == own) {
        return refuse(401);
    }
    match token_key.events_status {
        200 => Json(json!({ "events": token_key.events, "links": {} })).into_response(),
        status => refuse(status),
    }
}
