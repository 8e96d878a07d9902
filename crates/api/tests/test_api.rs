//! An API with a store in memory and an engine behind it, and callers by their tokens.

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request as HttpRequest};
use axum::response::Response as HttpResponse;
use kiln_api::auth::{Authenticator, Reason, Rejection, SignatureError};
use kiln_api::caller::{Caller, Scope};
use kiln_api::{App, Metrics, Options, RateLimit};
use kiln_cloud::{NoCloud, Transport};
use kiln_engine::loopback::Loopback;
use kiln_engine::store::Store;
use kiln_engine::{
    Config, Engine, EngineSettings, MemoryStore, Rules, Service, SharedGlobalEnvironment,
};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The callers that there are: a token, and what they are.
const CALLERS: [(&str, &str, &[&str]); 12] = [
    ("demo", "demo", &["member", "reader"]),
    ("other", "other", &["member", "reader"]),
    ("reader", "demo", &["reader"]),
    ("nobody", "demo", &[]),
    ("stack-user", "demo", &["heat_stack_user"]),
    ("admin", "admin", &["admin", "manager", "member", "reader"]),
    ("homeless", "", &["member", "reader"]),
    ("demo-admin", "demo", &["admin", "manager", "member", "reader"]),
    ("manager", "demo", &["manager", "member", "reader"]),
    ("service", "demo", &["service"]),
    ("system-admin", "", &["admin", "manager", "member", "reader"]),
    ("system-reader", "", &["reader"]),
];

pub(crate) struct Tokens;

#[async_trait]
impl Authenticator for Tokens {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        _: Option<&str>,
    ) -> Result<Caller, Rejection> {
        let token = headers.get("x-auth-token").and_then(|it| it.to_str().ok());
        caller(token.unwrap_or_default())
            .ok_or_else(|| Rejection::new(Reason::Token("http://identity".into()), headers))
    }

    /// The key is what would be the token; a good signature says so.
    async fn authenticate_signed(&self, said: &Json) -> Result<Caller, SignatureError> {
        let said = &said["ec2Credentials"];
        let known = caller(said["access"].as_str().unwrap_or_default());
        match said["signature"].as_str().is_some_and(|it| it.starts_with("good")) {
            true => known.ok_or(SignatureError::UnknownKey),
            false => Err(SignatureError::Wrong),
        }
    }
}

/// The parameters of a signature that no other request has, of the key of a caller.
pub(crate) fn signature(key: &str) -> String {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    let now = kiln_engine::now();
    format!("AWSAccessKeyId={key}&Signature=good{number}&SignatureVersion=2&Timestamp={now}")
}

/// The caller with a token.
fn caller(token: &str) -> Option<Caller> {
    let (name, project, roles) = CALLERS.iter().find(|(known, ..)| *known == token)?;
    Some(Caller {
        user_id: format!("{name}-id"),
        user_name: (*name).into(),
        project_id: (*project).into(),
        project_name: (*project).into(),
        scope: if name.starts_with("system-") { Scope::System } else { Scope::Project },
        roles: roles.iter().map(|role| (*role).into()).collect(),
        is_admin_project: true,
        ..Caller::default()
    })
}

/// An API and all that is behind it.
pub(crate) struct TestApi {
    pub(crate) app: Arc<App>,
    pub(crate) engine: Engine,
    config: Arc<Config>,
    store: Arc<dyn Store>,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
    }
}

impl TestApi {
    pub(crate) fn new() -> TestApi {
        TestApi::with(Rules { allows_adopt: true, allows_abandon: true, ..Rules::default() })
    }

    pub(crate) fn with(rules: Rules) -> TestApi {
        TestApi::made(rules, Options::default())
    }

    pub(crate) fn made(rules: Rules, options: Options) -> TestApi {
        TestApi::telling(rules, options, Vec::new())
    }

    /// An API whose alarms may call webhooks with these prefixes.
    pub(crate) fn telling(rules: Rules, options: Options, starts: Vec<String>) -> TestApi {
        TestApi::on(Arc::new(NoCloud), rules, options, starts)
    }

    /// A world whose service has this way to the cloud.
    pub(crate) fn on(
        cloud: Arc<dyn Transport>,
        rules: Rules,
        options: Options,
        starts: Vec<String>,
    ) -> TestApi {
        let (store, auth) = (Arc::new(MemoryStore::new()), Arc::new(Tokens));
        TestApi::assembled((store, cloud, auth), rules, options, starts)
    }

    /// A world whose engine is configured otherwise.
    pub(crate) fn configured(
        rules: Rules,
        options: Options,
        change: impl FnOnce(Config) -> Config,
    ) -> TestApi {
        let (store, auth) = (Arc::new(MemoryStore::new()), Arc::new(Tokens));
        let parts = (
            store as Arc<dyn Store>,
            Arc::new(NoCloud) as Arc<dyn Transport>,
            auth as Arc<dyn Authenticator>,
        );
        TestApi::composed(parts, rules, options, Vec::new(), change)
    }

    /// A world of these parts: a store, a way to the cloud, and what authenticates callers.
    pub(crate) fn assembled(
        (store, cloud, auth): (Arc<dyn Store>, Arc<dyn Transport>, Arc<dyn Authenticator>),
        rules: Rules,
        options: Options,
        starts: Vec<String>,
    ) -> TestApi {
        TestApi::composed((store, cloud, auth), rules, options, starts, |config| config)
    }

    fn composed(
        (store, cloud, auth): (Arc<dyn Store>, Arc<dyn Transport>, Arc<dyn Authenticator>),
        rules: Rules,
        options: Options,
        starts: Vec<String>,
        change: impl FnOnce(Config) -> Config,
    ) -> TestApi {
        let config = Arc::new(change(Config {
            global: Arc::new(SharedGlobalEnvironment::new(kiln_resources::environment::shipped())),
            region: Some("here".into()),
            // No call takes effect late here.
            lost_call_window: std::time::Duration::from_millis(1),
            webhook_client: Arc::new(kiln_api::WebhookSender::new(starts)),
            ..Config::default()
        }));
        let settings = EngineSettings::default();
        let loopback = Arc::new(Loopback::new(Arc::new(NoCloud)));
        let engine = Engine::start(config.clone(), store.clone(), loopback.clone(), settings);
        let reads = Arc::new(Loopback::new(cloud));
        let service =
            Service::new(store.clone(), config.clone(), rules, reads.clone(), Some(engine.clone()));
        let app = Arc::new(App {
            service,
            auth,
            policy: Default::default(),
            options,
            metrics: Metrics::default(),
            long_polls: Default::default(),
            event_streams: Default::default(),
            rate: None,
            replay_guard: Default::default(),
            body_bytes: Default::default(),
        });
        loopback.connect(&app);
        reads.connect(&app);
        TestApi { app, engine, config, store }
    }

    /// The same after a restart with another configuration.
    pub(crate) async fn with_config(self, change: impl FnOnce(Config) -> Config) -> TestApi {
        self.engine.stop().await;
        let parts = (self.store, Arc::new(NoCloud) as Arc<dyn Transport>, self.app.auth.clone());
        let config = change((*self.config).clone());
        TestApi::composed(
            parts,
            self.app.service.rules().clone(),
            self.app.options.clone(),
            Vec::new(),
            |_| config,
        )
    }

    /// Another process on the same store.
    pub(crate) fn beside(&self) -> TestApi {
        TestApi {
            app: self.app.clone(),
            engine: self.engine.clone(),
            config: self.config.clone(),
            store: self.store.clone(),
        }
        .with_rate(None)
    }

    /// The same with a limit on how often a project may ask in a second.
    pub(crate) fn asked_so_often(self, rate: u32) -> TestApi {
        self.with_rate(Some(RateLimit::new(rate)))
    }

    fn with_rate(self, rate: Option<RateLimit>) -> TestApi {
        let options = self.app.options.clone();
        self.rebuilt(rate, options)
    }

    /// The same where an operator allows old signatures.
    pub(crate) fn with_old_signatures(self) -> TestApi {
        let options = Options { allows_old_signatures: true, ..self.app.options.clone() };
        self.rebuilt(None, options)
    }

    fn rebuilt(self, rate: Option<RateLimit>, options: Options) -> TestApi {
        let app = &self.app;
        let app = App {
            service: app.service.clone(),
            auth: app.auth.clone(),
            policy: app.policy.clone(),
            options,
            metrics: Metrics::default(),
            long_polls: Default::default(),
            event_streams: Default::default(),
            rate,
            replay_guard: Default::default(),
            body_bytes: Default::default(),
        };
        TestApi { app: Arc::new(app), ..self }
    }

    /// Sends a request; the path stands behind the version.
    pub(crate) async fn send(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Reply {
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        self.raw(token, method, &format!("/v1{path}"), &text).await
    }

    pub(crate) async fn raw(&self, token: &str, method: &str, path: &str, body: &str) -> Reply {
        let request = HttpRequest::builder()
            .method(method)
            .uri(path)
            .header("host", "kiln.example:8004")
            .header("x-auth-token", token)
            .header("accept", "application/json")
            .header("content-type", "application/json")
            .header("content-length", body.len())
            .body(Body::from(body.to_owned()))
            .expect("a request");
        reply(kiln_api::answer(self.app.clone(), request).await).await
    }

    /// Asks for something of which a tag is known.
    pub(crate) async fn knowing(&self, token: &str, path: &str, known: &str) -> Reply {
        let request = HttpRequest::builder().uri(path).header("x-auth-token", token);
        let request = request.header("if-none-match", known).body(Body::empty());
        reply(kiln_api::answer(self.app.clone(), request.expect("a request")).await).await
    }

    /// Sends a request to the CloudFormation API, signed with the key of a caller.
    pub(crate) async fn cfn(&self, key: &str, query: &str) -> Reply {
        self.cfn_signed(&signature(key), query).await
    }

    /// Sends a request to the CloudFormation API with this signature.
    pub(crate) async fn cfn_signed(&self, signature: &str, query: &str) -> Reply {
        let path = format!("/v1/?{signature}&{query}");
        let request = HttpRequest::builder().uri(path).header("host", "kiln.example:8000");
        self.cfn_raw(request.body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn cfn_raw(&self, request: HttpRequest<Body>) -> Reply {
        reply(kiln_api::cfn::answer(self.app.clone(), request).await).await
    }

    /// Reads a stream of events to its end.
    pub(crate) async fn stream(&self, token: &str, path: &str, last: Option<&str>) -> String {
        let body = self.open_stream(token, path, last).await.into_body();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body");
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    /// Opens a stream of events.
    pub(crate) async fn open_stream(
        &self,
        token: &str,
        path: &str,
        last: Option<&str>,
    ) -> HttpResponse {
        let mut request = HttpRequest::builder()
            .uri(path)
            .header("x-auth-token", token)
            .header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Body::empty()).expect("a request");
        kiln_api::answer(self.app.clone(), request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("demo", "GET", path, None).await
    }

    /// Makes a stack and waits until it is done; gives the path of the stack.
    pub(crate) async fn create(&self, name: &str, template: &str) -> String {
        self.create_with(json!({"stack_name": name, "template": template})).await
    }

    pub(crate) async fn create_with(&self, body: Json) -> String {
        let reply = self.send("demo", "POST", "/demo/stacks", Some(body)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        let url = reply.header("location").to_owned();
        let path = url.split_once("/v1").map(|(_, path)| path.to_owned()).expect("a path");
        self.rest(&path).await;
        path
    }

    /// Waits until nothing is being done with a stack.
    pub(crate) async fn rest(&self, path: &str) {
        let id = path.rsplit('/').next().and_then(|id| uuid::Uuid::parse_str(id).ok());
        let id = kiln_engine::StackId(id.expect("an id"));
        self.engine.wait_until_idle(id, 0).await;
    }

    /// The state of a stack.
    pub(crate) async fn status(&self, path: &str) -> String {
        let reply = self.get(path).await;
        reply.json()["stack"]["stack_status"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) async fn reply(response: HttpResponse) -> Reply {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.expect("a body");
    Reply {
        status: parts.status.as_u16(),
        headers: parts.headers,
        text: String::from_utf8(bytes.to_vec()).expect("UTF-8"),
    }
}
