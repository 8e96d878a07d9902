//! An identity service with a clock that stands still, and short functions to call it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use kiln_sim::identity::{Clock, Identity, IdentityOptions, OpenError, Seed, router};
use serde_json::{Value, json};
use tower::ServiceExt;

pub const BASE: &str = "http://identity.example:5000";

/// 2026-11-16 08:00 UTC.
pub const MORNING: i64 = 1_794_816_000;

pub struct TestIdentity {
    pub identity: Arc<Identity>,
    router: Router,
    clock: Arc<AtomicI64>,
    runtime: tokio::runtime::Runtime,
}

/// A reply.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

pub fn seed() -> Seed {
    let mut seed = Seed::new(BASE)
        .service("orchestration", "heat", "http://heat.example:8004/v1/%(project_id)s")
        .service("cloudformation", "heat-cfn", "http://heat.example:8000/v1");
    seed.service_password = Some("secret".to_owned());
    seed.domain_admin_password = Some("secret".to_owned());
    seed
}

impl TestIdentity {
    pub fn new() -> TestIdentity {
        TestIdentity::open(None, |_| {}).unwrap()
    }

    pub fn with(set: impl Fn(&mut IdentityOptions)) -> TestIdentity {
        TestIdentity::open(None, set).unwrap()
    }

    pub fn open(
        path: Option<&Path>,
        set: impl Fn(&mut IdentityOptions),
    ) -> Result<TestIdentity, OpenError> {
        let clock = Arc::new(AtomicI64::new(MORNING * 1_000_000));
        let hand = Arc::clone(&clock);
        let mut settings =
            IdentityOptions::new(seed(), Clock::new(move || hand.load(Ordering::SeqCst)));
        set(&mut settings);
        let identity = Arc::new(Identity::open(path, settings)?);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Ok(TestIdentity { router: router(Arc::clone(&identity)), identity, clock, runtime })
    }

    pub fn later(&self, seconds: i64) {
        self.clock.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    pub fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = to_bytes(body, usize::MAX).await.unwrap();
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            Answer { status: parts.status.as_u16(), headers: parts.headers, body, text }
        })
    }

    /// Sends a request with a token (none if it is empty) and a body (none if it is null).
    pub fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> Answer {
        self.ask_about(method, path, token, "", body)
    }

    /// Sends a request about another token.
    pub fn ask_about(
        &self,
        method: &str,
        path: &str,
        token: &str,
        subject: &str,
        body: Value,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("Host", "identity.example:5000");
        if !token.is_empty() {
            request = request.header("X-Auth-Token", token);
        }
        if !subject.is_empty() {
            request = request.header("X-Subject-Token", subject);
        }
        let body = if body.is_null() {
            Body::empty()
        } else {
            request = request.header("Content-Type", "application/json");
            Body::from(body.to_string())
        };
        self.send(request.body(body).unwrap())
    }

    pub fn get(&self, path: &str, token: &str) -> Answer {
        self.ask("GET", path, token, Value::Null)
    }

    pub fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.ask("POST", path, token, body)
    }

    pub fn patch(&self, path: &str, token: &str, body: Value) -> Answer {
        self.ask("PATCH", path, token, body)
    }

    pub fn put(&self, path: &str, token: &str) -> Answer {
        self.ask("PUT", path, token, Value::Null)
    }

    pub fn head(&self, path: &str, token: &str) -> Answer {
        self.ask("HEAD", path, token, Value::Null)
    }

    pub fn delete(&self, path: &str, token: &str) -> Answer {
        self.ask("DELETE", path, token, Value::Null)
    }

    pub fn log_in(&self, body: Value) -> Answer {
        self.post("/v3/auth/tokens", "", body)
    }

    pub fn validate(&self, token: &str) -> Answer {
        self.ask_about("GET", "/v3/auth/tokens", &self.admin(), token, Value::Null)
    }

    pub fn admin(&self) -> String {
        self.log_in(password("admin", "admin", project("admin"))).token()
    }

    pub fn demo(&self) -> String {
        self.log_in(password("demo", "demo", project("demo"))).token()
    }

    pub fn heat(&self) -> String {
        self.log_in(password("heat", "secret", project("service"))).token()
    }

    pub fn domain_admin(&self) -> String {
        self.log_in(domain_admin()).token()
    }

    pub fn role(&self, name: &str) -> String {
        let found = self.get(&format!("/v3/roles?name={name}"), &self.admin());
        found.text_at("/roles/0/id")
    }

    /// Creates a user with a role in the project demo.
    pub fn user(&self, name: &str, role: &str) -> String {
        let admin = self.admin();
        let user = json!({ "user": { "name": name, "password": name } });
        let id = self.post("/v3/users", &admin, user).text_at("/user/id");
        if !role.is_empty() {
            self.put(&self.grant_path("demo", &id, role), &admin).has(204);
        }
        id
    }

    /// Grants the role `member` to a user or a group below `roles`, and revokes it.
    #[track_caller]
    pub fn check_grant(&self, roles: &str, holder: &str, scope: &str) {
        let (admin, role) = (self.admin(), self.role("member"));
        let path = format!("{roles}/{role}");
        assert_eq!(self.get(roles, &admin).has(200).body["roles"], json!([]));
        self.put(&path, &admin).has(204);
        self.put(&path, &admin).has(204);
        self.head(&path, &admin).has(204);
        self.get(&path, &admin).has(204);
        assert_eq!(self.get(roles, &admin).column("roles", "name"), ["member"]);
        self.delete(&path, &admin).has(204);
        let gone = format!(
            "Could not find role assignment with role: {role}, user or group: {holder}, project, domain, or system: {scope}."
        );
        self.get(&path, &admin).says(404, &gone);
        self.delete(&path, &admin).says(404, &gone);
    }

    pub fn grant_path(&self, project: &str, user: &str, role: &str) -> String {
        let project = kiln_sim::identity::project_id(project);
        format!("/v3/projects/{project}/users/{user}/roles/{}", self.role(role))
    }
}

impl Answer {
    /// Asserts the status.
    #[track_caller]
    pub fn has(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Asserts an error and its message.
    #[track_caller]
    pub fn says(self, status: u16, message: &str) -> Answer {
        assert_eq!(self.body["error"]["message"], message);
        assert_eq!(self.body["error"]["code"], status);
        self.has(status)
    }

    #[track_caller]
    pub fn token(&self) -> String {
        let token = self.headers.get("x-subject-token");
        token.unwrap_or_else(|| panic!("no token: {}", self.text)).to_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn text_at(&self, pointer: &str) -> String {
        let text = self.body.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("nothing at {pointer}: {}", self.text)).to_owned()
    }

    /// Returns one field of every row of a list.
    #[track_caller]
    pub fn column(&self, list: &str, field: &str) -> Vec<String> {
        let rows = self.body[list].as_array().unwrap_or_else(|| panic!("no {list}: {}", self.text));
        rows.iter().map(|row| row[field].as_str().unwrap_or("-").to_owned()).collect()
    }

    pub fn roles(&self) -> Vec<String> {
        let roles = self.body["token"]["roles"].as_array().cloned().unwrap_or_default();
        roles.iter().map(|role| role["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub const NOT_LOGGED_IN: &str = "The request you have made requires authentication.";

pub fn forbidden(rule: &str) -> String {
    format!("You are not authorized to perform the requested action: {rule}.")
}

/// Builds a login with a password for a user of the domain default; a null scope is left out.
pub fn password(user: &str, password: &str, scope: Value) -> Value {
    let user = json!({ "name": user, "domain": { "id": "default" }, "password": password });
    by_user(user, scope)
}

pub fn by_user(user: Value, scope: Value) -> Value {
    let identity = json!({ "methods": ["password"], "password": { "user": user } });
    with_scope(identity, scope)
}

pub fn by_token(token: &str, scope: Value) -> Value {
    with_scope(json!({ "methods": ["token"], "token": { "id": token } }), scope)
}

pub fn with_scope(identity: Value, scope: Value) -> Value {
    let mut auth = json!({ "identity": identity });
    if !scope.is_null() {
        auth["scope"] = scope;
    }
    json!({ "auth": auth })
}

pub fn project(name: &str) -> Value {
    json!({ "project": { "name": name, "domain": { "id": "default" } } })
}

pub fn domain_admin() -> Value {
    let heat = json!({ "name": "heat" });
    let user = json!({ "name": "heat_domain_admin", "domain": heat, "password": "secret" });
    by_user(user, json!({ "domain": heat }))
}
