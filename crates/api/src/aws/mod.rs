//! The common part of the AWS-style APIs, CloudFormation's and CloudWatch's.
//!
//! A request names an action and is signed. Its parameters are in the query or in a form. Responses are XML, or JSON on
//! demand. An action is a row of its API's table, and is run only for a caller that the policy allows it to.

mod cbor;
mod encoding;
mod fault;
mod params;
mod render;
mod replay;
mod rpc;
mod signature;

pub use fault::{AwsFault, Code};
pub use params::Params;
pub(crate) use render::{Format, XML, escape};
pub use replay::{ReplayGuard, keep_syncing};

use crate::app::{App, Options};
use crate::body::{self, PendingBody, RawBody, TooManyBytes, without_body};
use crate::caller::Caller;
use crate::fault::no_route;
use crate::query::percent;
use crate::request::Request;
use crate::serve::{health, observe, origin, record_route, text, versions};
use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_ENCODING, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, Request as HttpRequest};
use axum::response::Response as HttpResponse;
use encoding::decompressed;
use kiln_engine::now;
use kiln_template::Value;
use replay::VALIDITY;
use rpc::RpcCall;
use signature::{Signature, authenticate_signer};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// The handler of an action: it returns the content of `{Action}Result`.
pub type Handler =
    fn(Request, Params) -> Pin<Box<dyn Future<Output = Result<Value, AwsFault>> + Send>>;

/// The scheme under which clients reach an API: an extension that the listener adds to requests.
#[derive(Clone, Copy, Debug)]
pub struct Scheme(pub &'static str);

/// An interface: its actions, and how their rules are called.
pub struct Interface {
    /// The prefix of the names of its policy rules, before the colon.
    pub scope: &'static str,
    /// Its actions, sorted by name.
    pub actions: &'static [Action],
}

/// An action of an API.
pub struct Action {
    /// Its name.
    pub name: &'static str,
    /// Its effect.
    pub effect: Effect,
    /// The function that carries it out.
    pub handler: Handler,
}

/// The effect of an action on stacks and alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The action only reads.
    Reads,
    /// The action changes something.
    Changes,
    /// The action reports something that others may report identically: the servers of a group have one key.
    Reports,
}

/// A row of a table of actions: `action!("ListStacks", Reads, stacks::list)`.
macro_rules! action {
    ($name:literal, $effect:ident, $handler:path) => {
        $crate::aws::Action {
            name: $name,
            effect: $crate::aws::Effect::$effect,
            handler: |request, params| Box::pin($handler(request, params)),
        }
    };
}
pub(crate) use action;

/// The name of the share of the requests whose project is not known yet.
const UNKNOWN_PROJECT: &str = "";

/// Answers a request to an interface by whatever routes it, once its body is unpacked.
pub(crate) async fn answer<F>(
    app: Arc<App>,
    http: HttpRequest<Body>,
    route: impl FnOnce(Arc<App>, HttpRequest<RawBody>) -> F,
) -> HttpResponse
where
    F: Future<Output = HttpResponse>,
{
    let internal_error = || AwsFault::bare(Code::InternalFailure).into_response(Format::Xml);
    let routed = |app: Arc<App>, http: HttpRequest<PendingBody>| async move {
        let http = match is_signed(http.uri().path()) {
            // The signature of a form is in the form.
            true => match body::receive(http, app.body_limits(), &app.body_bytes).await {
                Ok(http) => http,
                Err(TooManyBytes) => return unavailable(),
            },
            false => without_body(http),
        };
        // A small body may be large when it is decompressed. The project is not known yet.
        let limit = app.options.max_body_bytes;
        let bytes = http.headers().get(CONTENT_ENCODING).map_or(0, |_| limit);
        let share = app.service.workers().share(UNKNOWN_PROJECT);
        match share.work_on(bytes, || decompressed(http, limit)).await {
            Ok(http) => route(app, http).await,
            Err((fault, format)) => fault.into_response(format),
        }
    };
    observe(app, http, internal_error, routed).await
}

/// Whether requests to a path are signed. The others are answered without looking at their body.
fn is_signed(path: &str) -> bool {
    const SIGNED: [&str; 5] = ["", "service", "signal", "stacks", "waitcondition"];
    let path = percent::decode(path);
    let mut parts = path.splitn(4, '/').skip(1);
    parts.next() == Some("v1") && parts.next().is_none_or(|part| SIGNED.contains(&part))
}

/// The response if too many bodies are under way.
fn unavailable() -> HttpResponse {
    let mut response = AwsFault::bare(Code::ServiceUnavailable).into_response(Format::Xml);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

impl Interface {
    /// Answers what all interfaces answer alike: versions, health, actions.
    pub(crate) async fn route(&self, app: Arc<App>, http: HttpRequest<RawBody>) -> HttpResponse {
        let path = percent::decode(http.uri().path());
        let parts: Vec<&str> = path.splitn(4, '/').collect();
        let is_other_version = |part: &str| {
            let number = part.strip_prefix('v');
            number.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
                && !["v1", "v1.0"].contains(&part)
        };
        match parts.as_slice() {
            ["", "" | "versions"] => versions(&base_url(&app, &http)),
            ["", "healthcheck"] => health(&app.options).into_response(),
            // Tools of AWS leave the slash out where the address of an interface ends without one.
            ["", "v1"] | ["", "v1", ""] => {
                let wanted = ActionRequest::of(&app, &http).await;
                self.act(app, &http, wanted).await
            }
            ["", "v1", "stacks", ..] => {
                let wanted = ActionRequest { action: None, ..ActionRequest::of(&app, &http).await };
                self.act(app, &http, wanted).await
            }
            ["", "v1", "service", _] if RpcCall::parse(&http).is_some() => {
                let wanted = ActionRequest::of(&app, &http).await;
                self.act(app, &http, wanted).await
            }
            ["", version, ..] if is_other_version(version) => versions(&base_url(&app, &http)),
            _ => no_route(text(http.headers(), &ACCEPT).unwrap_or_default()),
        }
    }

    /// Runs the action of a request.
    async fn act(
        &self,
        app: Arc<App>,
        http: &HttpRequest<RawBody>,
        wanted: ActionRequest,
    ) -> HttpResponse {
        let ActionRequest { action, signed: params, format, more } = wanted;
        if http.body().is_none() {
            return AwsFault::bare(Code::RequestLimitExceeded).into_response(format);
        }
        let signature = Signature::parse(http, &params).ok();
        let signed = signature.as_ref().and_then(|it| it.time);
        let now = now();
        if signed.is_some_and(|time| now.since(time) > VALIDITY || time.since(now) > VALIDITY) {
            return AwsFault::bare(Code::RequestExpired).into_response(format);
        }
        let key = signature.as_ref().filter(|it| it.time.is_some()).map(Signature::key);
        let request = match authenticate(app.clone(), http, &params, format).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
        let Some(action) = self.actions.iter().find(|it| Some(it.name) == action.as_deref()) else {
            return AwsFault::bare(Code::InvalidAction).into_response(format);
        };
        record_route(action.name, &request.caller);
        if let Err(fault) = self.allow(&request, action) {
            return fault.into_response(format);
        }
        if action.effect != Effect::Reads && !app.options.allows_old_signatures {
            let checked = signature.as_ref().map_or(Ok(()), Signature::check_for_change);
            if let Err(fault) = checked {
                return fault.into_response(format);
            }
        }
        let params = match more.unwrap_or(Ok(params)) {
            Ok(params) => params,
            Err(fault) => return fault.into_response(format),
        };
        let answer = match (key, action.effect) {
            (Some(key), Effect::Changes) => Some(app.replay_guard.answer(key, now)),
            _ => None,
        };
        let mut answer = match &answer {
            Some(answer) => Some(answer.lock().await),
            None => None,
        };
        if let Some(former) = answer.as_ref().and_then(|it| it.as_ref()) {
            return match former {
                Ok(result) => render::action_response(action.name, result, format),
                Err(fault) => fault.clone().into_response(format),
            };
        }
        if let Some(key) = key {
            match app.replay_guard.admit(&**app.service.store(), key, action.effect, now).await {
                Ok(true) => {}
                Ok(false) => {
                    let why = "This signature was used already: sign the request anew.";
                    return AwsFault::new(Code::RequestExpired, why).into_response(format);
                }
                Err(error) => {
                    tracing::warn!("could not store a used signature: {error}");
                    return AwsFault::bare(Code::ServiceUnavailable).into_response(format);
                }
            }
        }
        let share = request.share();
        let outcome = (action.handler)(request, params).await;
        if let Some(answer) = answer.as_mut() {
            // An internal error may be tried again.
            **answer = Some(outcome.clone()).filter(|it| !matches!(it, Err(it) if it.is_ours()));
        }
        match outcome {
            Ok(result) => {
                let render = || render::action_response(action.name, &result, format);
                share.work_on(result.byte_size(), render).await
            }
            Err(fault) => {
                if let Some(key) = key.filter(|_| fault.is_ours()) {
                    app.replay_guard.forget(&**app.service.store(), &key, action.effect).await;
                }
                fault.into_response(format)
            }
        }
    }

    /// Checks the policy rule of an action. A caller without a project is refused.
    fn allow(&self, request: &Request, action: &Action) -> Result<(), AwsFault> {
        let rule = format!("{}:{}", self.scope, action.name);
        let project = request.caller.project_id.as_str();
        if project.is_empty() || request.app.allow(&rule, &request.caller, project).is_err() {
            let why = format!("Action {} not allowed for user", action.name);
            Err(AwsFault::new(Code::AccessDenied, why))
        } else {
            Ok(())
        }
    }
}

/// The action that a request wants.
struct ActionRequest {
    /// The name of the action.
    action: Option<String>,
    /// The parameters that may have a signature in them.
    signed: Params,
    /// The parameters of the action, if they are not the signed ones; or why they are invalid.
    more: Option<Result<Params, AwsFault>>,
    /// How to answer.
    format: Format,
}

impl ActionRequest {
    async fn of(app: &App, http: &HttpRequest<RawBody>) -> ActionRequest {
        let bytes = http.body().as_ref().map_or(0, |bytes| bytes.len());
        let share = app.service.workers().share(UNKNOWN_PROJECT);
        share.work_on(bytes, || ActionRequest::parse(http)).await
    }

    fn parse(http: &HttpRequest<RawBody>) -> ActionRequest {
        if let Some(call) = RpcCall::parse(http) {
            let (action, more) = (Some(call.action.to_owned()), Some(call.params(http)));
            return ActionRequest { action, signed: Params::default(), more, format: call.format };
        }
        let signed = Params::parse(http);
        let (action, format) = (signed.get("Action").map(str::to_owned), Format::parse(&signed));
        ActionRequest { action, signed, more: None, format }
    }
}

/// The URL of the interface, as the client knows it.
fn base_url(app: &App, http: &HttpRequest<RawBody>) -> String {
    match http.extensions().get::<Scheme>() {
        Some(Scheme(scheme)) => origin(http.headers(), &Options { scheme, ..app.options.clone() }),
        None => origin(http.headers(), &app.options),
    }
}

/// Checks the version of the signature of an address that a stack has signed itself.
pub(crate) fn check_address(
    app: &App,
    http: &HttpRequest<RawBody>,
    params: &Params,
) -> Result<(), AwsFault> {
    match Signature::parse(http, params) {
        Ok(signature) if !app.options.allows_old_signatures => signature.check_for_address(),
        // Requests without a signature are authenticated by a token, or refused.
        _ => Ok(()),
    }
}

/// Authenticates a request and checks the rate limit.
pub(crate) async fn authenticate(
    app: Arc<App>,
    http: &HttpRequest<RawBody>,
    params: &Params,
    format: Format,
) -> Result<Request, HttpResponse> {
    let caller = match authenticate_signer(&app, http, params).await {
        Ok(caller) => caller,
        // A request with a user but without a signature has a token.
        Err(fault) if fault.is_unsigned() && http.headers().contains_key("x-auth-user") => {
            by_token(&app, http.headers()).await?
        }
        Err(fault) => return Err(fault.into_response(format)),
    };
    let rate = app.rate.as_ref();
    if rate.is_some_and(|rate| !rate.allows(&caller.project_id, Instant::now())) {
        return Err(AwsFault::bare(Code::Throttling).into_response(format));
    }
    Ok(Request::from_caller(app, Arc::new(caller)))
}

async fn by_token(app: &App, headers: &HeaderMap) -> Result<Caller, HttpResponse> {
    use axum::response::IntoResponse;
    app.auth.authenticate(headers, None).await.map_err(IntoResponse::into_response)
}
