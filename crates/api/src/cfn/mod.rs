//! The CloudFormation API: actions on stacks, and signals through signed addresses.
//!
//! The identity service verifies the signature of a request. The policy decides on actions; a signal is allowed to
//! users of the resource's own stack.

mod change_sets;
mod cost;
mod events;
mod names;
mod prices;
mod resources;
mod signals;
mod stack_request;
mod stacks;

pub use prices::Prices;

use crate::app::App;
use crate::aws::{self, Action, Format, Interface, Params, action};
use crate::body::RawBody;
use crate::query::percent;
use axum::body::Body;
use axum::http::{Method, Request as HttpRequest};
use axum::response::Response as HttpResponse;
use std::sync::Arc;

/// Its actions.
#[rustfmt::skip]
pub static ACTIONS: &[Action] = &[
    action!("CancelUpdateStack", Changes, stacks::cancel_update),
    action!("CreateChangeSet", Changes, change_sets::create),
    action!("CreateStack", Changes, stacks::create),
    action!("DeleteChangeSet", Changes, change_sets::delete),
    action!("DeleteStack", Changes, stacks::delete),
    action!("DescribeChangeSet", Reads, change_sets::describe),
    action!("DescribeStackEvents", Reads, events::describe),
    action!("DescribeStackResource", Reads, resources::describe_one),
    action!("DescribeStackResources", Reads, resources::describe),
    action!("DescribeStacks", Reads, stacks::describe),
    action!("EstimateTemplateCost", Reads, cost::estimate),
    action!("ExecuteChangeSet", Changes, change_sets::execute),
    action!("GetTemplate", Reads, stacks::get_template),
    action!("GetTemplateSummary", Reads, stacks::summary),
    action!("ListChangeSets", Reads, change_sets::list),
    action!("ListStackResources", Reads, resources::list),
    action!("ListStacks", Reads, stacks::list),
    action!("UpdateStack", Changes, stacks::update),
    action!("ValidateTemplate", Reads, stacks::validate),
];

static CLOUDFORMATION: Interface = Interface { scope: "cloudformation", actions: ACTIONS };

/// Answers a request to the CloudFormation API.
pub async fn answer(app: Arc<App>, http: HttpRequest<Body>) -> HttpResponse {
    aws::answer(app, http, route).await
}

async fn route(app: Arc<App>, http: HttpRequest<RawBody>) -> HttpResponse {
    let path = percent::decode(http.uri().path());
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    let (arn, is_wait_condition) = match (http.method(), parts.as_slice()) {
        (&Method::PUT, ["", "v1", "waitcondition", arn]) => (*arn, true),
        (&Method::POST, ["", "v1", "signal", arn]) => (*arn, false),
        _ => return CLOUDFORMATION.route(app, http).await,
    };
    let params = Params::parse(&http);
    let format = Format::parse(&params);
    if let Err(fault) = aws::check_address(&app, &http, &params) {
        return fault.into_response(format);
    }
    // Addresses are signed once and used many times.
    let request = match aws::authenticate(app, &http, &params, format).await {
        Ok(request) => request,
        Err(refused) => return refused,
    };
    let response = if is_wait_condition {
        signals::wait_condition(request, &http, arn, format).await
    } else {
        signals::signal(request, &http, arn).await
    };
    response.unwrap_or_else(|fault| fault.into_response(format))
}
