//! The CloudFormation API: signals through signed addresses.
//!
//! Whoever asks is known by a signature that the identity service examines; what they may is decided by
//! which stack they are a user of. The actions on stacks are still to come, and are refused.

mod fault;
mod signals;
mod signature;

use crate::answer::Answer;
use crate::app::App;
use crate::body::{self, Carried};
use crate::fault::no_route;
use crate::query::{Query, percent};
use crate::serve::{REQUEST_ID, origin, text, versions};
use axum::body::Body;
use axum::http::header::ACCEPT;
use axum::http::{Method, Request, StatusCode};
use axum::response::Response;
use fault::CfnFault;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

/// Answers a request to the CloudFormation API.
pub async fn answer(app: Arc<App>, request: Request<Body>) -> Response {
    let id = format!("req-{}", app.new_id());
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let request = body::taken(request, app.options.max_body_bytes).await;
    let response = AssertUnwindSafe(route(app.clone(), request)).catch_unwind().await;
    let mut response = response.unwrap_or_else(|_| {
        tracing::error!(request = %id, %method, %path, "a handler panicked: this is a defect");
        CfnFault::bare("InternalFailure").into_response(false)
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
    let path = percent::decode(request.uri().path());
    let is_json =
        Query::parse(request.uri().query().unwrap_or("")).get("ContentType") == Some("JSON");
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    match (request.method(), parts.as_slice()) {
        (_, ["", ""] | ["", "versions"]) => versions(&origin(request.headers(), &app.options)),
        (_, ["", "healthcheck"]) => Answer::text(StatusCode::OK, "").into_response(),
        (&Method::PUT, ["", "v1", "waitcondition", arn]) => {
            let answered = signals::wait_condition(app, &request, arn, is_json).await;
            answered.unwrap_or_else(|fault| fault.into_response(is_json))
        }
        (&Method::POST, ["", "v1", "signal", arn]) => {
            let answered = signals::signal(app, &request, arn).await;
            answered.unwrap_or_else(|fault| fault.into_response(is_json))
        }
        (_, ["", "v1", ""] | ["", "v1", "stacks", ..]) => {
            CfnFault::bare("InvalidAction").into_response(is_json)
        }
        _ => no_route(&accept),
    }
}
