//! Signals to resources: of wait conditions, and of everything else.

use super::fault::{CfnFault, XML, escape};
use super::signature::signer;
use crate::answer::Answer;
use crate::app::App;
use crate::ask::Ask;
use crate::body::Carried;
use crate::query::Query;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use kiln_engine::gaps::Part;
use kiln_engine::store::StackRow;
use kiln_engine::view::StackView;
use kiln_template::{Value, json};
use std::sync::Arc;

/// A resource, by its ARN.
struct Named {
    stack: String,
    id: String,
    resource: String,
}

impl Named {
    fn read(arn: &str) -> Option<Named> {
        let (_, rest) = arn.strip_prefix("arn:openstack:heat::")?.split_once(":stacks/")?;
        let (stack, rest) = rest.split_once('/')?;
        let (id, rest) = rest.split_once('/')?;
        let resource = rest.strip_prefix("resources/")?;
        let [stack, id, resource] = [stack, id, resource].map(str::to_owned);
        (!resource.is_empty()).then_some(Named { stack, id, resource })
    }
}

/// A signal to a handle of a wait condition; the answer tells all that it has had.
pub(super) async fn wait_condition(
    app: Arc<App>,
    request: &Request<Carried>,
    arn: &str,
    is_json: bool,
) -> Result<Response, CfnFault> {
    let (ask, named) = asked(app, request, arn).await?;
    let Some(details) = object(request)? else {
        return Err(CfnFault::new("InvalidParameterValue", "Metadata format invalid"));
    };
    let stack = ask.live_stack().await?;
    let resource = named.resource.as_str();
    let hears = |_: &StackRow, seen: &StackView<'_>| match seen.resource(resource) {
        Some(found) => Ok(seen.hears(&found, &details)),
        // What is not there is told of when it is signalled.
        None => Ok(Ok(())),
    };
    if let Err(why) = ask.look_at(&stack, Part::Resource(resource), hears).await? {
        return Err(CfnFault::new("InvalidParameterValue", why));
    }
    ask.service().signal(&stack, resource, details.clone()).await?;
    if !is_json {
        let body = format!("<resource>{}</resource>", escape(resource));
        return Ok(Answer::of(XML, Body::from(body)).into_response());
    }
    let show = |_: &StackRow, seen: &StackView<'_>| {
        Ok(seen.resource(resource).map(|found| seen.metadata(&found)).unwrap_or_default())
    };
    let metadata = ask.look_at(&stack, Part::Resource(resource), show).await?;
    let body = Value::map([("resource", Value::from(resource)), ("metadata", metadata)]);
    Ok(Answer::ok(&body).into_response())
}

/// A signal to any other resource.
pub(super) async fn signal(
    app: Arc<App>,
    request: &Request<Carried>,
    arn: &str,
) -> Result<Response, CfnFault> {
    let (ask, named) = asked(app, request, arn).await?;
    let details = object(request)?.unwrap_or_default();
    let stack = ask.live_stack().await?;
    ask.service().signal(&stack, &named.resource, details).await?;
    Ok(Answer::of("text/html; charset=UTF-8", Body::empty()).into_response())
}

/// The request, by whoever signed it.
async fn asked(
    app: Arc<App>,
    request: &Request<Carried>,
    arn: &str,
) -> Result<(Ask, Named), CfnFault> {
    let caller = Arc::new(signer(&app, request).await?);
    let Some(named) = Named::read(arn) else {
        let message = format!("\"{arn}\" is not the ARN of a resource");
        return Err(CfnFault::new("InvalidParameterValue", message));
    };
    let path = vec![("stack_name", named.stack.clone()), ("stack_id", named.id.clone())];
    let is_admin = app.policy.is_admin(&caller);
    let ask = Ask {
        app,
        caller,
        is_admin,
        path,
        query: Query::default(),
        body: None,
        base: String::new(),
        accept: String::new(),
        last_event: None,
    };
    Ok((ask, named))
}

/// The object in the body; nothing if there is none.
fn object(request: &Request<Carried>) -> Result<Option<Value>, CfnFault> {
    let Some(bytes) = request.body() else { return Err(CfnFault::bare("RequestLimitExceeded")) };
    let bad = |why: String| CfnFault::new("InvalidParameterValue", why);
    if bytes.first() != Some(&b'{') {
        return Ok(None);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| bad(error.to_string()))?;
    json::value(text).map(Some).map_err(|why| bad(why.to_string()))
}
