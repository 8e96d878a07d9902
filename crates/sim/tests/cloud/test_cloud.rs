//! A cloud with a clock that stands still, and short functions to call it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{Clock, Identity, IdentityOptions, Seed};
use serde_json::{Value, json};
use tower::ServiceExt;

/// 2026-11-16 08:00 UTC.
const MORNING: i64 = 1_794_816_000;

pub struct TestCloud {
    pub cloud: Cloud,
    pub identity: Arc<Identity>,
    router: Router,
    clock: Arc<AtomicI64>,
    runtime: tokio::runtime::Runtime,
    demo: String,
    admin: String,
}

/// A reply.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl TestCloud {
    /// Returns a cloud in which every build takes ten seconds.
    pub fn new() -> TestCloud {
        TestCloud::with(|_| {})
    }

    pub fn with(set: impl Fn(&mut Options)) -> TestCloud {
        let hand = Arc::new(AtomicI64::new(MORNING * 1_000_000));
        let time = Arc::clone(&hand);
        let clock = Clock::new(move || time.load(Ordering::SeqCst));
        let seed = Seed::new("http://cloud.example:5000")
            .services(Cloud::catalogue("http://cloud.example"));
        let identity =
            Arc::new(Identity::open(None, IdentityOptions::new(seed, clock.clone())).unwrap());
        let mut options = Options::new(clock);
        options.build_time = Duration::from_secs(10);
        set(&mut options);
        let cloud = Cloud::open(options, Arc::clone(&identity)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let token = |user, project| identity.login(user, project).unwrap().id;
        let (demo, admin) = (token("demo", "demo"), token("admin", "admin"));
        TestCloud { router: cloud.router(), cloud, identity, clock: hand, runtime, demo, admin }
    }

    pub fn later(&self, seconds: i64) {
        self.clock.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    pub fn demo_project(&self) -> String {
        kiln_sim::identity::project_id("demo")
    }

    /// Sends a request; `None` if the connection breaks.
    pub fn send(&self, request: Request<Body>) -> Option<Answer> {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = to_bytes(body, usize::MAX).await.ok()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let body = serde_json::from_str(&text).unwrap_or(Value::Null);
            Some(Answer { status: parts.status.as_u16(), headers: parts.headers, body, text })
        })
    }

    pub fn ask(&self, token: &str, method: &str, path: &str, body: Value) -> Option<Answer> {
        self.ask_with(token, method, path, &[], body)
    }

    pub fn ask_with(
        &self,
        token: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Option<Answer> {
        let mut request =
            Request::builder().method(method).uri(path).header("Host", "cloud.example");
        if !token.is_empty() {
            request = request.header("X-Auth-Token", token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Value::Null => Body::empty(),
            Value::String(text) => Body::from(text),
            body => {
                if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                    request = request.header("Content-Type", "application/json");
                }
                Body::from(body.to_string())
            }
        };
        self.send(request.body(body).unwrap())
    }

    /// Sends a request as the user `demo`; method and path are one text, `GET /network/v2.0/ports`.
    #[track_caller]
    pub fn demo(&self, what: &str, body: Value) -> Answer {
        self.as_whom(&self.demo, what, body)
    }

    #[track_caller]
    pub fn admin(&self, what: &str, body: Value) -> Answer {
        self.as_whom(&self.admin, what, body)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.demo(&format!("GET {path}"), Value::Null).has(200).body
    }

    /// Sends a request as the user `demo`, with headers.
    #[track_caller]
    pub fn demo_with(&self, what: &str, headers: &[(&str, &str)], body: Value) -> Answer {
        let (method, path) = what.split_once(' ').unwrap();
        self.ask_with(&self.demo, method, path, headers, body).expect("an answer")
    }

    pub fn admin_token(&self) -> &str {
        &self.admin
    }

    pub fn demo_token(&self) -> &str {
        &self.demo
    }

    #[track_caller]
    fn as_whom(&self, token: &str, what: &str, body: Value) -> Answer {
        let (method, path) = what.split_once(' ').unwrap();
        self.ask(token, method, path, body).expect("an answer")
    }

    /// Creates an object and returns its id.
    #[track_caller]
    pub fn make(&self, path: &str, one: &str, fields: Value) -> String {
        let answer = self.demo(&format!("POST {path}"), json!({ one: fields }));
        assert!((200..=202).contains(&answer.status), "{}: {}", answer.status, answer.text);
        answer.body[one]["id"]
            .as_str()
            .unwrap_or_else(|| panic!("no id: {}", answer.text))
            .to_owned()
    }

    /// Returns the number of objects in a collection.
    pub fn count(&self, collection: &str) -> u64 {
        let all = self.admin("GET /sim/objects", Value::Null).has(200).body;
        all["objects"][collection]["count"].as_u64().unwrap_or_default()
    }
}

impl Answer {
    /// Asserts the status.
    #[track_caller]
    pub fn has(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Asserts an error of the network service: status, name of the exception, message.
    #[track_caller]
    pub fn neutron(self, status: u16, kind: &str, message: &str) {
        assert_eq!(self.body["NeutronError"]["message"], message, "{}", self.text);
        assert_eq!(self.body["NeutronError"]["type"], kind);
        self.has(status);
    }
}
