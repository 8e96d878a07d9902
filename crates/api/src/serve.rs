//! From a request to an answer: version, route, caller, rights, body, handler.

use crate::answer::{Answer, framework};
use crate::app::{App, Options};
use crate::ask::Ask;
use crate::body::{self, Carried};
use crate::caller::Caller;
use crate::cors;
use crate::fault::{Fault, no_route};
use crate::query::{Query, percent};
use crate::routes::{self, BodyNeed, Match, Route, Rule};
use axum::body::Body;
use axum::http::header::{ACCEPT, ALLOW, HOST, IF_NONE_MATCH, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use kiln_template::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

/// The header in which every answer says which request it is for.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");

/// The media type that asks for this API without saying so in the path.
const MEDIA_TYPE: &str = "application/vnd.openstack.orchestration-v";

/// Who asks, where that is known beforehand: put to a request by ourselves, and by nobody else.
#[derive(Clone)]
pub(crate) struct Known(pub(crate) Arc<Caller>);

/// Answers a request.
pub async fn answer(app: Arc<App>, request: Request<Body>) -> Response {
    let origin = cors::origin(request.headers(), &app.options.origins);
    let asked = origin.as_ref().map(|_| (request.method(), request.headers()));
    let beforehand = asked.and_then(|(method, headers)| cors::beforehand(method, headers));
    let broken = || Fault::bare("InternalError").into_response();
    let routed = |app, request| async move {
        match beforehand {
            Some(response) => response,
            None => route(app, request).await,
        }
    };
    let mut response = accounted(app, request, broken, routed).await;
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// Answers a request by whatever routes it: with a number, counted, and whatever happens.
pub(crate) async fn accounted<F>(
    app: Arc<App>,
    request: Request<Body>,
    broken: fn() -> Response,
    route: impl FnOnce(Arc<App>, Request<Carried>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let id = format!("req-{}", app.new_id());
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let request = body::taken(request, app.options.max_body_bytes).await;
    // A defect of ours ends one request, not the connection that others share.
    let response = AssertUnwindSafe(route(app.clone(), request)).catch_unwind().await;
    let mut response = response.unwrap_or_else(|_| {
        tracing::error!(request = %id, %method, %path, "a handler panicked: this is a defect");
        broken()
    });
    let status = response.status().as_u16();
    app.metrics.count(method.as_str(), status, started.elapsed());
    tracing::info!(request = %id, %method, %path, status, micros = started.elapsed().as_micros() as u64, "answered");
    if let Ok(id) = id.parse() {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn route(app: Arc<App>, request: Request<Carried>) -> Response {
    let accept = text(request.headers(), &ACCEPT).unwrap_or_default().to_owned();
    let path = request.uri().path();
    if !percent::is_utf8(path) {
        return framework(StatusCode::BAD_REQUEST, "The path is not UTF-8.", &accept)
            .into_response();
    }
    let ends_in_slash = path.len() > 1 && path.ends_with('/');
    let mut parts: Vec<String> =
        path.split('/').filter(|part| !part.is_empty()).map(percent::decode).collect();
    let origin = origin(request.headers(), &app.options);
    match parts.first().map(String::as_str) {
        Some("healthcheck") if parts.len() == 1 => {
            return health(&app.options).into_response();
        }
        Some("openapi.json") if parts.len() == 1 => {
            return Answer::ok(&crate::openapi::document()).into_response();
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
    match routes::find(request.method().as_str(), &parts) {
        Match::Nothing => no_route(&accept),
        Match::OtherMethods(methods) if request.method() == Method::OPTIONS => {
            Answer::nothing().with(ALLOW, methods.join(",")).into_response()
        }
        Match::OtherMethods(_) if parts.get(1).is_some_and(|it| it == "services") => {
            no_route(&accept)
        }
        Match::OtherMethods(methods) => {
            // Only those who are known learn which methods there are.
            let project = parts.first().map(String::as_str);
            if let Err(refusal) = app.auth.authenticate(request.headers(), project).await {
                return refusal.into_response();
            }
            let mut response = Fault::general("HTTPMethodNotAllowed").into_response();
            if let Ok(methods) = methods.join(",").parse() {
                response.headers_mut().insert(ALLOW, methods);
            }
            response
        }
        Match::Route(route, path) => {
            let base = format!("{origin}/v1");
            let (project, accept) = (parts.first().map(String::as_str), accept);
            let known = request.extensions().get::<Known>().map(|known| known.0.clone());
            let is_own = known.is_some();
            let caller = match known {
                Some(caller) => caller,
                None => match app.auth.authenticate(request.headers(), project).await {
                    Ok(caller) => Arc::new(caller),
                    Err(refusal) => return refusal.into_response(),
                },
            };
            // What stacks do for themselves is limited by other means.
            let rate = app.rate.as_ref().filter(|_| !is_own);
            if rate.is_some_and(|rate| !rate.allows(&caller.project_id, Instant::now())) {
                let mut response = Fault::general("HTTPTooManyRequests").into_response();
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                return response;
            }
            let is_admin = app.policy.is_admin(&caller);
            let ask = Ask {
                query: Query::parse(request.uri().query().unwrap_or("")),
                last_event: text(request.headers(), &HeaderName::from_static("last-event-id"))
                    .map(str::to_owned),
                known: text(request.headers(), &IF_NONE_MATCH).map(str::to_owned),
                app,
                caller,
                is_admin,
                path,
                body: None,
                base,
                accept,
            };
            match handle(route, ask, request).await {
                Ok(answer) => answer.into_response(),
                Err(fault) => fault.into_response(),
            }
        }
    }
}

async fn handle(route: &Route, mut ask: Ask, request: Request<Carried>) -> Result<Answer, Fault> {
    let project = ask.part("tenant_id").to_owned();
    if project != ask.caller.project_id && !ask.is_admin {
        return Err(Fault::general("HTTPForbidden"));
    }
    if route.body != BodyNeed::Ignored {
        let (parts, body) = request.into_parts();
        let declared = ask.query.get("ContentType").filter(|_| parts.method == Method::GET);
        let limit = ask.app.options.max_body_bytes;
        ask.body = body::read(&parts.headers, declared, body, limit)?;
    }
    if let Rule::Named(rule) = route.rule {
        allow(&ask, rule)?;
    }
    match (route.body, &ask.body) {
        (BodyNeed::Object, None) | (BodyNeed::None, Some(_)) => return Err(Fault::malformed()),
        _ => {}
    }
    if let Rule::OfBody(choose, _) = route.rule {
        let rule = choose(&ask)?;
        allow(&ask, rule)?;
    }
    (route.handler)(ask).await
}

/// Lets the caller pass, or not. An administrator acts for the project that they are of.
fn allow(ask: &Ask, rule: &str) -> Result<(), Fault> {
    let project = match ask.is_admin {
        true => ask.caller.project_id.as_str(),
        false => ask.part("tenant_id"),
    };
    ask.app.allow(rule, &ask.caller, project)
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

/// `1`, `1.0`, and whatever follows.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let digits = |text: &str| text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (major, rest) = text.split_at(digits(text));
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let minor = &rest[..digits(rest)];
    let minor = if minor.is_empty() { Some(0) } else { minor.parse().ok() };
    Some((major.parse().ok()?, minor?))
}

pub(crate) fn versions(origin: &str) -> Response {
    let this = Value::map([
        ("id", Value::from("v1.0")),
        ("status", "CURRENT".into()),
        ("links", Value::list([crate::ask::link("self", format!("{origin}/v1/"))])),
    ]);
    let body = Value::map([("versions", Value::list([this]))]);
    Answer::json(StatusCode::MULTIPLE_CHOICES, &body).into_response()
}

/// Scheme and host, as the client knows them.
pub(crate) fn origin(headers: &HeaderMap, options: &Options) -> String {
    let told = text(headers, &HOST).unwrap_or("localhost");
    if !options.trusts_proxy {
        return format!("{}://{told}", options.scheme);
    }
    // Every proxy adds itself: the first one is what the client sees.
    let first = |name: &'static str| {
        let value = text(headers, &HeaderName::from_static(name))?;
        value.split(',').next().map(str::trim).filter(|value| !value.is_empty())
    };
    // The standard's header counts alone if it is there.
    let (scheme, host, prefix) = match first("forwarded") {
        Some(proxy) => (forwarded(proxy, "proto"), forwarded(proxy, "host"), None),
        None => {
            (first("x-forwarded-proto"), first("x-forwarded-host"), first("x-forwarded-prefix"))
        }
    };
    let (scheme, host) = (scheme.unwrap_or(options.scheme), host.unwrap_or(told));
    format!("{scheme}://{host}{}", prefix.unwrap_or("").trim_end_matches('/'))
}

/// A part of what a proxy says of itself: `for=10.0.0.1;proto=https;host="cloud.example:8004"`.
fn forwarded<'h>(proxy: &'h str, name: &str) -> Option<&'h str> {
    let pairs = proxy.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    let value = values.next()?.1.trim().trim_matches('"');
    Some(value).filter(|value| !value.is_empty())
}

/// Whether requests should be sent here, for whoever distributes them.
pub(crate) fn health(options: &Options) -> Answer {
    match &options.health_file {
        None => Answer::text(StatusCode::OK, ""),
        Some(file) if file.exists() => {
            Answer::text(StatusCode::SERVICE_UNAVAILABLE, "DISABLED BY FILE")
        }
        Some(_) => Answer::text(StatusCode::OK, "OK"),
    }
}

pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
