//! The CloudWatch API: alarms, and what is measured.

use crate::app::App;
use crate::aws::{self, Action, Interface};
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use std::sync::Arc;

/// Its actions.
pub static ACTIONS: &[Action] = &[];

static CLOUDWATCH: Interface = Interface { scope: "cloudwatch", actions: ACTIONS };

/// Answers a request to the CloudWatch API.
pub async fn answer(app: Arc<App>, request: Request<Body>) -> Response {
    aws::answer(app, request, |app, request| CLOUDWATCH.route(app, request)).await
}
