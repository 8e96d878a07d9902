//! The CloudFormation API: actions on stacks, and signals through signed addresses.
//!
//! Whoever asks is known by a signature that the identity service examines. For actions, rules decide what
//! they may; for signals, which stack they are a user of.

mod cost;
mod events;
mod names;
mod prices;
mod request;
mod resources;
mod signals;
mod stacks;

pub use prices::Prices;

use crate::app::App;
use crate::aws::{self, Action, Form, Interface, Params, action};
use crate::body::Carried;
use crate::query::percent;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::response::Response;
use std::sync::Arc;

/// Its actions.
#[rustfmt::skip]
pub static ACTIONS: &[Action] = &[
    action!("CancelUpdateStack", Changes, stacks::cancel_update),
    action!("CreateStack", Changes, stacks::create),
    action!("DeleteStack", Changes, stacks::delete),
    action!("DescribeStackEvents", Reads, events::describe),
    action!("DescribeStackResource", Reads, resources::describe_one),
    action!("DescribeStackResources", Reads, resources::describe),
    action!("DescribeStacks", Reads, stacks::describe),
    action!("EstimateTemplateCost", Reads, cost::estimate),
    action!("GetTemplate", Reads, stacks::get_template),
    action!("ListStackResources", Reads, resources::list),
    action!("ListStacks", Reads, stacks::list),
    action!("UpdateStack", Changes, stacks::update),
    action!("ValidateTemplate", Reads, stacks::validate),
];

static CLOUDFORMATION: Interface = Interface { scope: "cloudformation", actions: ACTIONS };

/// Answers a request to the CloudFormation API.
pub async fn answer(app: Arc<App>, request: Request<Body>) -> Response {
    aws::answer(app, request, route).await
}

async fn route(app: Arc<App>, request: Request<Carried>) -> Response {
    let path = percent::decode(request.uri().path());
    let parts: Vec<&str> = path.splitn(4, '/').collect();
    let (arn, is_wait_condition) = match (request.method(), parts.as_slice()) {
        (&Method::PUT, ["", "v1", "waitcondition", arn]) => (*arn, true),
        (&Method::POST, ["", "v1", "signal", arn]) => (*arn, false),
        _ => return CLOUDFORMATION.route(app, request).await,
    };
    let params = Params::of(&request);
    let form = Form::of(&params);
    // Addresses are signed once and used many times.
    let ask = match aws::admitted(app, &request, &params, form).await {
        Ok(ask) => ask,
        Err(refused) => return refused,
    };
    let answered = match is_wait_condition {
        true => signals::wait_condition(ask, &request, arn, form).await,
        false => signals::signal(ask, &request, arn).await,
    };
    answered.unwrap_or_else(|fault| fault.into_response(form))
}
