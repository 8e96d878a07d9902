//! From a request to its response: version, route, caller, body, policy, handler.

use crate::app::{App, Options};
use crate::body::{self, PendingBody, RawBody};
use crate::caller::Caller;
use crate::cors;
use crate::fault::{Fault, no_route};
use crate::query::{Query, percent};
use crate::request::Request;
use crate::response::{Response, framework};
use crate::routes::{self, BodyNeed, Match, Route, Rule};
use axum::body::Body;
use axum::http::header::{ACCEPT, ALLOW, HOST, IF_NONE_MATCH, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request as HttpRequest, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use futures_util::FutureExt;
use kiln_cloud::{REQUEST_ID_HEADER, is_request_id, new_request_id, with_request_id};
use kiln_engine::{ErrorType, RequestId};
use kiln_template::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument;

/// The header of request ids.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static(REQUEST_ID_HEADER);

/// The media type that asks for this API without a version in the path.
const MEDIA_TYPE: &str = "application/vnd.openstack.orchestration-v";

/// The media type of event streams.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Answers a request to the native API.
pub async fn answer(app: Arc<App>, http: HttpRequest<Body>) -> HttpResponse {
    let origin = cors::origin(http.headers(), &app.options.origins);
    let allowed = origin.as_ref().map(|_| (http.method(), http.headers()));
    let preflight = allowed.and_then(|(method, headers)| cors::preflight(method, headers));
    let internal_error = || Fault::bare(ErrorType::InternalError).into_response();
    let handler = |app, http| async move {
        match preflight {
            Some(response) => response,
            None => route(app, http).await,
        }
    };
    let mut response = observe(app, http, internal_error, handler).await;
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// Runs the handler of a request: with a request id, in a span, counted and logged, and with a response even if the
/// handler panics.
pub(crate) async fn observe<F>(
    app: Arc<App>,
    http: HttpRequest<Body>,
    internal_error: fn() -> HttpResponse,
    handler: impl FnOnce(Arc<App>, HttpRequest<PendingBody>) -> F,
) -> HttpResponse
where
    F: Future<Output = HttpResponse>,
{
    let request_id = new_request_id();
    let global_request_id = text(http.headers(), &REQUEST_ID).filter(|id| is_request_id(id));
    let span = tracing::info_span!(
        "request",
        request_id,
        global_request_id,
        method = %http.method(),
        route = tracing::field::Empty,
        project = tracing::field::Empty,
    );
    // The calls that are made for this request carry the id by which its sender knows it.
    let sent_id = global_request_id.unwrap_or(&request_id).to_owned();
    let answered = run(app, http, internal_error, handler);
    // The commands that the request submits carry its own id, which is unique.
    let answered = async {
        match RequestId::parse(&request_id) {
            Some(id) => id.scope(answered).await,
            None => answered.await,
        }
    };
    let observed = with_request_id(sent_id, answered);
    let mut response = observed.instrument(span).await;
    if let Ok(id) = request_id.parse() {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn run<F>(
    app: Arc<App>,
    http: HttpRequest<Body>,
    internal_error: fn() -> HttpResponse,
    handler: impl FnOnce(Arc<App>, HttpRequest<PendingBody>) -> F,
) -> HttpResponse
where
    F: Future<Output = HttpResponse>,
{
    let started = Instant::now();
    let (method, path) = (http.method().clone(), http.uri().path().to_owned());
    let http = PendingBody::of(http);
    let pending = http.body().clone();
    // The future of a handler is large: on the heap, the futures around it stay small.
    let handled = Box::pin(handler(app.clone(), http));
    // A panic ends one request, and not the connection, which other requests share.
    let response = AssertUnwindSafe(handled).catch_unwind().await;
    let response = response.unwrap_or_else(|_| {
        tracing::error!(%method, path, "a handler panicked: this is a defect");
        internal_error()
    });
    pending.skip().await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    app.metrics.count(method.as_str(), status, took);
    tracing::info!(%method, path, status, millis = took.as_millis() as u64, "answered");
    response
}

/// Adds the route of a request and its caller's project to the request's span.
pub(crate) fn record_route(route: &str, caller: &Caller) {
    let span = tracing::Span::current();
    span.record("route", route).record("project", caller.project_id.as_str());
}

async fn route(app: Arc<App>, http: HttpRequest<PendingBody>) -> HttpResponse {
    let accept = text(http.headers(), &ACCEPT).unwrap_or_default().to_owned();
    let path = http.uri().path();
    if !percent::is_utf8(path) {
        return framework(StatusCode::BAD_REQUEST, "The path is not UTF-8.", &accept)
            .into_response();
    }
    let ends_in_slash = path.len() > 1 && path.ends_with('/');
    let mut parts: Vec<String> =
        path.split('/').filter(|part| !part.is_empty()).map(percent::decode).collect();
    let origin = origin(http.headers(), &app.options);
    match parts.first().map(String::as_str) {
        Some("healthcheck") if parts.len() == 1 => {
            return health(&app.options).into_response();
        }
        Some("openapi.json") if parts.len() == 1 => {
            return Response::ok(&crate::openapi::document()).into_response();
        }
        None | Some("versions") => return versions(&origin),
        _ => {}
    }
    match version(&parts, &accept) {
        Version::Ours { in_path: true } => _ = parts.remove(0),
        Version::Ours { in_path: false } => {}
        Version::Another => return versions(&origin),
        Version::None => return no_route(&accept),
    }
    if ends_in_slash {
        return no_route(&accept);
    }
    match routes::find(http.method().as_str(), &parts) {
        Match::Nothing => no_route(&accept),
        Match::OtherMethods(methods) if http.method() == Method::OPTIONS => {
            Response::no_content().with(ALLOW, methods.join(",")).into_response()
        }
        Match::OtherMethods(_) if parts.get(1).is_some_and(|it| it == "services") => {
            no_route(&accept)
        }
        Match::OtherMethods(methods) => {
            // Only an authenticated client learns which methods there are.
            let project = parts.first().map(String::as_str);
            if let Err(rejection) = app.auth.authenticate(http.headers(), project).await {
                return rejection.into_response();
            }
            let mut response = Fault::general(ErrorType::HttpMethodNotAllowed).into_response();
            if let Ok(methods) = methods.join(",").parse() {
                response.headers_mut().insert(ALLOW, methods);
            }
            response
        }
        Match::Route(route, path) => {
            let base = format!("{origin}/v1");
            let (project, accept) = (parts.first().map(String::as_str), accept);
            let caller = match app.auth.authenticate(http.headers(), project).await {
                Ok(caller) => Arc::new(caller),
                Err(rejection) => return rejection.into_response(),
            };
            record_route(route.path, &caller);
            let rate = app.rate.as_ref();
            if rate.is_some_and(|rate| !rate.allows(&caller.project_id, Instant::now())) {
                return Fault::general(ErrorType::HttpTooManyRequests).into_response();
            }
            // The body of a caller who is not known is neither waited for nor held.
            let received = body::receive(http, app.body_limits(), &app.body_bytes).await;
            let Ok(http) = received else {
                let mut response =
                    Fault::general(ErrorType::HttpServiceUnavailable).into_response();
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                return response;
            };
            let is_admin = app.policy.get().is_admin(&caller);
            let request = Request {
                query: Query::parse(http.uri().query().unwrap_or("")),
                last_event: text(http.headers(), &HeaderName::from_static("last-event-id"))
                    .map(str::to_owned),
                known: text(http.headers(), &IF_NONE_MATCH).map(str::to_owned),
                stream_headers: accept.starts_with(EVENT_STREAM).then(|| http.headers().clone()),
                app,
                caller,
                is_admin,
                path,
                body: None,
                base,
                accept,
            };
            let share = request.share();
            match handle(route, request, http).await {
                Ok(response) => {
                    let bytes = response.bytes_to_print();
                    share.work_on(bytes, || response.into_response()).await
                }
                Err(fault) => fault.into_response(),
            }
        }
    }
}

async fn handle(
    route: &Route,
    mut request: Request,
    http: HttpRequest<RawBody>,
) -> Result<Response, Fault> {
    let project = request.part("tenant_id").to_owned();
    if project != request.caller.project_id && !request.is_admin {
        return Err(Fault::general(ErrorType::HttpForbidden));
    }
    if route.body != BodyNeed::Ignored {
        let (parts, body) = http.into_parts();
        let declared = request.query.get("ContentType").filter(|_| parts.method == Method::GET);
        let limit = request.app.options.max_body_bytes;
        let bytes = body.as_ref().map_or(0, |bytes| bytes.len());
        let read = || body::read(&parts.headers, declared, body, limit);
        request.body = request.work_on(bytes, read).await?;
    }
    if let Rule::Named(rule) = route.rule {
        allow(&request, rule)?;
    }
    match (route.body, &request.body) {
        (BodyNeed::Object, None) | (BodyNeed::None, Some(_)) => return Err(Fault::malformed()),
        _ => {}
    }
    if let Rule::OfBody(choose, _) = route.rule {
        let rule = choose(&request)?;
        allow(&request, rule)?;
    }
    (route.handler)(request).await
}

/// Checks a policy rule. An administrator acts for the project of the token.
fn allow(request: &Request, rule: &str) -> Result<(), Fault> {
    let project = if request.is_admin {
        request.caller.project_id.as_str()
    } else {
        request.part("tenant_id")
    };
    request.app.allow(rule, &request.caller, project)
}

enum Version {
    Ours { in_path: bool },
    Another,
    None,
}

/// The version that a request is for.
fn version(parts: &[String], accept: &str) -> Version {
    let judge = |version: Option<(u32, u32)>, in_path| match version {
        Some((1, 0)) => Version::Ours { in_path },
        _ => Version::Another,
    };
    if let Some(first) = parts.first()
        && let Some(rest) = first.strip_prefix('v')
        && rest.starts_with(|it: char| it.is_ascii_digit())
    {
        return judge(numbers(rest), true);
    }
    match accept.strip_prefix(MEDIA_TYPE) {
        Some(rest) => judge(numbers(rest), false),
        None => Version::None,
    }
}

/// Reads a version such as `1` or `1.0`, whatever follows it.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let digits = |text: &str| text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (major, rest) = text.split_at(digits(text));
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let minor = &rest[..digits(rest)];
    let minor = if minor.is_empty() { Some(0) } else { minor.parse().ok() };
    Some((major.parse().ok()?, minor?))
}

pub(crate) fn versions(origin: &str) -> HttpResponse {
    let this = Value::map([
        ("id", Value::from("v1.0")),
        ("status", "CURRENT".into()),
        ("links", Value::list([crate::request::link("self", format!("{origin}/v1/"))])),
    ]);
    let body = Value::map([("versions", Value::list([this]))]);
    Response::json(StatusCode::MULTIPLE_CHOICES, &body).into_response()
}

/// Scheme and host, as the client knows them.
pub(crate) fn origin(headers: &HeaderMap, options: &Options) -> String {
    let host_header = text(headers, &HOST).unwrap_or("localhost");
    if !options.trusts_proxy {
        return format!("{}://{host_header}", options.scheme);
    }
    // Every proxy appends its value: the first one is what the client sees.
    let first = |name: &'static str| {
        let value = text(headers, &HeaderName::from_static(name))?;
        value.split(',').next().map(str::trim).filter(|value| !value.is_empty())
    };
    // If the standard header is there, the others are ignored.
    let (scheme, host, prefix) = match first("forwarded") {
        Some(proxy) => (forwarded(proxy, "proto"), forwarded(proxy, "host"), None),
        None => {
            (first("x-forwarded-proto"), first("x-forwarded-host"), first("x-forwarded-prefix"))
        }
    };
    let (scheme, host) = (scheme.unwrap_or(options.scheme), host.unwrap_or(host_header));
    format!("{scheme}://{host}{}", prefix.unwrap_or("").trim_end_matches('/'))
}

/// A parameter of a `Forwarded` header: `for=10.0.0.1;proto=https;host="cloud.example:8004"`.
fn forwarded<'h>(proxy: &'h str, name: &str) -> Option<&'h str> {
    let pairs = proxy.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    let value = values.next()?.1.trim().trim_matches('"');
    Some(value).filter(|value| !value.is_empty())
}

/// The health of this process, for load balancers.
pub(crate) fn health(options: &Options) -> Response {
    match &options.health_file {
        None => Response::text(StatusCode::OK, ""),
        Some(file) if file.exists() => {
            Response::text(StatusCode::SERVICE_UNAVAILABLE, "DISABLED BY FILE")
        }
        Some(_) => Response::text(StatusCode::OK, "OK"),
    }
}

pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
