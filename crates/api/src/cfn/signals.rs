//! Signals to resources: of wait conditions, and of everything else.

use super::names::Named;
use crate::aws::{AwsFault, Code, Format, XML, escape};
use crate::body::RawBody;
use crate::native::resources::check_signaller;
use crate::request::Request;
use crate::response::Response;
use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::response::Response as HttpResponse;
use kiln_engine::store::StackRow;
use kiln_engine::{StackView, TreePart};
use kiln_template::{Value, json};

/// A signal to the handle of a wait condition. The response shows the handle's metadata with all its signals.
pub(super) async fn wait_condition(
    request: Request,
    http: &HttpRequest<RawBody>,
    arn: &str,
    format: Format,
) -> Result<HttpResponse, AwsFault> {
    let (request, resource) = about(request, arn)?;
    let Some(details) = object(http)? else {
        return Err(AwsFault::bad("Metadata format invalid"));
    };
    let stack = request.live_stack().await?;
    let hears = |_: &StackRow, seen: &StackView<'_>| match seen.resource(resource) {
        Some(found) => Ok(seen.check_signal_details(&found, &details)),
        // A missing resource is reported when it is signalled.
        None => Ok(Ok(())),
    };
    if let Err(why) = request.read_stack(&stack, TreePart::Resource(resource), hears).await? {
        return Err(AwsFault::bad(why));
    }
    check_signaller(&request, &stack, resource, &details).await?;
    request.service().signal(&stack, resource, details.clone()).await?;
    if format == Format::Xml {
        let body = format!("<resource>{}</resource>", escape(resource));
        return Ok(Response::with_body(XML, Body::from(body)).into_response());
    }
    let show = |_: &StackRow, seen: &StackView<'_>| {
        Ok(seen.resource(resource).map(|found| seen.metadata(&found)).unwrap_or_default())
    };
    let metadata = request.read_stack(&stack, TreePart::Resource(resource), show).await?;
    let body = Value::map([("resource", Value::from(resource)), ("metadata", metadata)]);
    Ok(Response::ok(&body).into_response())
}

/// A signal to any other resource.
pub(super) async fn signal(
    request: Request,
    http: &HttpRequest<RawBody>,
    arn: &str,
) -> Result<HttpResponse, AwsFault> {
    let (request, resource) = about(request, arn)?;
    let details = object(http)?.unwrap_or_default();
    let stack = request.live_stack().await?;
    check_signaller(&request, &stack, resource, &details).await?;
    request.service().signal(&stack, resource, details).await?;
    Ok(Response::with_body("text/html; charset=UTF-8", Body::empty()).into_response())
}

/// The same request, for the stack of a resource; and the resource.
fn about(request: Request, arn: &str) -> Result<(Request, &str), AwsFault> {
    let named = Named::read(arn).and_then(|named| Some((named.resource?, named)));
    let Some((resource, Named { stack, id, .. })) = named else {
        return Err(AwsFault::bad(format!("\"{arn}\" is not the ARN of a resource")));
    };
    let path = vec![("stack_name", stack.to_owned()), ("stack_id", id.to_owned())];
    Ok((Request { path, ..request }, resource))
}

/// The object in the body; nothing if there is none.
fn object(http: &HttpRequest<RawBody>) -> Result<Option<Value>, AwsFault> {
    let Some(bytes) = http.body() else {
        return Err(AwsFault::bare(Code::RequestLimitExceeded));
    };
    if bytes.first() != Some(&b'{') {
        return Ok(None);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| AwsFault::bad(error.to_string()))?;
    json::parse(text).map(Some).map_err(AwsFault::bad)
}
