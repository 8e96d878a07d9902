//! The dashboard: a page that the orchestration API's port serves under `/dashboard/` ([docs/dashboard.md]).
//!
//! The page talks to public APIs alone. This module hands out its files, tells it where the services are (`config.json`),
//! and passes on what browsers may not ask other origins for (`proxy.rs`).
//!
//! [docs/dashboard.md]: ../../../../docs/dashboard.md

mod assets;
mod proxy;

pub(crate) use proxy::Keystone;

use axum::extract::{Form, Path, Request};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What the page may do: run its own scripts, use its own styles, ask its own origin.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The settings of the dashboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct DashboardSettings {
    /// Users that may log in with one click, with their names as passwords and projects.
    pub(crate) users: Vec<&'static str>,
    /// Keystone's URL for browsers, for single sign-on.
    pub(crate) public_identity: String,
    /// The protocols of single sign-on, and their names for people.
    pub(crate) websso: Vec<(String, String)>,
}

/// The routes of the dashboard.
pub(crate) fn router(keystone: Keystone, settings: &DashboardSettings) -> Router {
    let config = config(settings);
    let config = move || async move { ([(CACHE_CONTROL, "no-store")], Json(config)) };
    let routes = Router::new()
        .route("/dashboard/", get(|headers: HeaderMap| page(headers, assets::INDEX.to_owned())))
        .route("/dashboard/config.json", get(config))
        .route("/dashboard/websso", post(signed_on))
        .route("/dashboard/{*name}", get(|Path(name), headers: HeaderMap| page(headers, name)))
        .layer(from_fn(secured));
    Router::new()
        .route("/dashboard", get(|| async { Redirect::permanent("/dashboard/") }))
        .route("/dashboard/identity/v3/{*path}", any(proxy::identity))
        .route("/dashboard/services/{service}/{*path}", get(proxy::service))
        .with_state(keystone)
        .merge(routes)
}

/// Where the page finds the services.
fn config(settings: &DashboardSettings) -> Value {
    let user = |name| json!({"name": name, "password": name, "project": name});
    let users: Vec<Value> = settings.users.iter().map(user).collect();
    let websso = settings.websso.iter().map(|(id, label)| json!({"id": id, "label": label}));
    let public = settings.public_identity.trim_end_matches('/').trim_end_matches("/v3");
    json!({
        "identity": "identity/v3",
        "orchestration": "/v1/{project_id}",
        "services": "services/{type}",
        "users": users,
        "websso": websso.collect::<Vec<Value>>(),
        "websso_url": format!("{public}/v3"),
    })
}

async fn page(headers: HeaderMap, name: String) -> Response {
    assets::respond(&name, &headers)
}

/// Single sign-on ends here: Keystone makes the browser send a token. The page finds it in its head, and removes it.
async fn signed_on(Form(form): Form<HashMap<String, String>>) -> Response {
    let token = form.get("token").map(String::as_str).unwrap_or_default();
    let is_plain = token.chars().all(|it| it.is_ascii_alphanumeric() || "-_=.".contains(it));
    let token = if is_plain { token } else { "" };
    let meta = format!("<head>\n    <meta name=\"kiln-token\" content=\"{token}\" />");
    let page = assets::index().replacen("<head>", &meta, 1);
    ([(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-store")], page)
        .into_response()
}

/// Adds the headers that restrict the page.
async fn secured(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let isolated = HeaderName::from_static("cross-origin-opener-policy");
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (isolated, "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
