//! The resources of stacks.

use super::resource_pages;
use super::show::{details, resource, wrapped};
use super::software::applied_config;
use super::stacks::split_state;
use crate::fault::Fault;
use crate::long_poll::{self, MAX_WAIT_SECS, Metadata, WAIT_HEADER};
use crate::query::flag;
use crate::request::Request;
use crate::response::Response;
use axum::http::header::ETAG;
use kiln_engine::store::StackRow;
use kiln_engine::{ErrorType, RequestError, ResourceView, StackView, TreePart};
use kiln_template::Value;
use kiln_template::print;
use std::sync::Arc;

/// The parameters of the list that are no filters.
const OPTIONS: [&str; 2] = ["nested_depth", "with_detail"];

/// The names by which resources can be filtered.
const FILTERS: [&str; 6] = ["type", "status", "name", "action", "id", "physical_resource_id"];

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    let unknown: Vec<Value> = request
        .query
        .names()
        .filter(|name| !OPTIONS.contains(name) && !FILTERS.contains(name))
        .map(Value::from)
        .collect();
    if !unknown.is_empty() {
        let names = print::repr(&Value::list(unknown));
        return Err(Fault::bad(format!("Invalid filter parameters {names}")));
    }
    let depth = request.query.count("nested_depth")?.unwrap_or(0);
    let with_detail = request.query.flag("with_detail")?.unwrap_or(false);
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let depth = depth.min(request.service().config().max_depth);
    if !with_detail {
        let show = |stack: &StackRow, seen: &StackView<'_>| {
            let rows = resources(&request, *seen, depth)?.into_iter();
            let shown = rows.map(|(seen, found)| listed(&request, stack, &seen, &found, false));
            Ok(shown.collect::<Vec<Value>>())
        };
        let shown = request.read(TreePart::Resources, show).await?;
        return Response::list_of(request.share(), "resources", shown.into_iter()).await;
    }
    resource_pages::with_detail(request, depth).await
}

/// The resources of a stack and of its nested stacks, down to a depth, that pass the filters of the query.
pub(super) fn resources<'v>(
    request: &Request,
    seen: StackView<'v>,
    depth: usize,
) -> Result<Vec<(StackView<'v>, ResourceView)>, Fault> {
    let mut all = Vec::new();
    let mut level = vec![seen];
    for _ in 0..=depth {
        let mut next = Vec::new();
        for seen in level {
            for found in seen.resources() {
                next.extend(seen.nested(&found));
                if passes(request, &seen, &found)? {
                    all.push((seen, found));
                }
            }
        }
        level = next;
    }
    Ok(all)
}

pub(super) fn listed(
    request: &Request,
    stack: &StackRow,
    seen: &StackView<'_>,
    found: &ResourceView,
    with_detail: bool,
) -> Value {
    let mut shown = resource(request, stack, seen, found);
    if with_detail {
        shown.extend(details(request, seen, found, &[]));
    }
    Value::Map(Arc::new(shown))
}

/// Whether a resource passes the filters of the query.
fn passes(request: &Request, seen: &StackView<'_>, found: &ResourceView) -> Result<bool, Fault> {
    let query = &request.query;
    let any = |name: &'static str, holds: &dyn Fn(&str) -> bool| {
        let mut values = query.all(name).peekable();
        values.peek().is_none() || values.any(holds)
    };
    if query.all("type").count() > 1 {
        return Err(Fault::malformed());
    }
    let (action, status) = (found.summary.state.action.name(), found.summary.state.status);
    let has_state = |text: &str| match split_state(text) {
        Some((Some(wanted), wanted_status)) => wanted == action && wanted_status == status,
        Some((None, wanted_status)) => wanted_status == status,
        None => false,
    };
    let id = seen.resource_id(found).map(|id| id.to_string()).unwrap_or_default();
    let has_physical_id = |id: &str| match &found.summary.physical_id {
        Some(_) => found.has_physical_id(id),
        None => id.is_empty(),
    };
    Ok(any("type", &|it| found.summary.type_name.contains(it))
        && any("name", &|it| *found.summary.name == *it)
        && any("action", &|it| it == action)
        && any("status", &has_state)
        && any("id", &|it| it == id)
        && any("physical_resource_id", &has_physical_id))
}

/// The resource that the path names.
fn named(stack: &StackRow, seen: &StackView<'_>, name: &str) -> Result<ResourceView, Fault> {
    seen.resource(name).ok_or_else(|| {
        let stack = &stack.summary.name;
        let message = format!("The Resource ({name}) could not be found in Stack {stack}.");
        RequestError::new(ErrorType::ResourceNotFound, message).into()
    })
}

pub(crate) async fn show(request: Request) -> Result<Response, Fault> {
    let wanted: Vec<Arc<str>> = request.query.all("with_attr").map(Arc::from).collect();
    let name = request.part("resource_name");
    let show = |stack: &StackRow, seen: &StackView<'_>| {
        let found = named(stack, seen, name)?;
        check_guest(&request, seen, &found)?;
        let mut shown = resource(&request, stack, seen, &found);
        shown.extend(details(&request, seen, &found, &wanted));
        Ok(shown)
    };
    let shown = request.read_live(name, show).await?;
    Ok(Response::ok(&wrapped("resource", Value::Map(Arc::new(shown)))))
}

pub(crate) async fn metadata(request: Request) -> Result<Response, Fault> {
    let seconds = request.query.count("wait")?;
    let (name, stack) = (request.part("resource_name"), request.stack().await?);
    let read = || with_metadata(&request, &stack, name, |_, seen, found| server_of(seen, found));
    let place = (Some((stack.id, stack.root)), name);
    let metadata =
        long_poll::wait_for_change(&request, place, request.known.as_deref(), seconds, read)
            .await?;
    Ok(tagged(&request, &metadata))
}

/// Metadata with its tag; the tag alone for a client that knows the metadata.
pub(super) fn tagged(request: &Request, metadata: &Metadata) -> Response {
    let response = if request.known.as_deref() == Some(metadata.tag.as_str()) {
        Response::not_modified()
    } else {
        Response::ok(&wrapped("metadata", metadata.value.clone()))
    };
    response.with(ETAG, metadata.tag.as_str()).with(WAIT_HEADER, MAX_WAIT_SECS.to_string())
}

/// The server that a resource is, if it is one.
pub(crate) fn server_of(seen: &StackView<'_>, found: &ResourceView) -> Option<Arc<str>> {
    let is_server = seen.builtin(found).is_some_and(|kind| kind.behaviour.metadata.is_some());
    found.summary.physical_id.as_ref().filter(|_| is_server).map(|id| id.text().clone())
}

/// Restricts a stack user to its own resource.
fn check_guest(request: &Request, seen: &StackView<'_>, found: &ResourceView) -> Result<(), Fault> {
    let is_guest = request.app.options.is_guest(&request.caller);
    if is_guest && !seen.may_be_read_by(found, &request.caller.user_id) {
        let message = "You are not authorized to use this action.";
        Err(RequestError::new(ErrorType::Forbidden, message).into())
    } else {
        Ok(())
    }
}

/// Restricts the signals of a stack user: it signals the resource that it was created for, and clears no hooks, which are
/// for the people who own the stack.
pub(crate) async fn check_signaller(
    request: &Request,
    stack: &StackRow,
    name: &str,
    details: &Value,
) -> Result<(), Fault> {
    if !request.app.options.is_guest(&request.caller) {
        return Ok(());
    }
    let may_signal = |stack: &StackRow, seen: &StackView<'_>| {
        let found = named(stack, seen, name)?;
        Ok(seen.may_be_signalled_by(&found, &request.caller.user_id))
    };
    let may_signal = request.read_stack(stack, TreePart::Resource(name), may_signal).await?;
    let is_hook = details.as_map().is_some_and(|details| details.contains_key("unset_hook"));
    if may_signal && !is_hook {
        return Ok(());
    }
    let message = "You are not authorized to use this action.";
    Err(RequestError::new(ErrorType::Forbidden, message).into())
}

/// A part of a resource, and its metadata with the configurations that its server has to apply. A stack user reads its
/// own resource alone, and sees the hidden values that are meant for it. Those who may update the stack see the
/// credentials of the server's agent, with which they configure servers that they have deployed themselves.
pub(crate) async fn with_metadata<T: Send>(
    request: &Request,
    stack: &StackRow,
    name: &str,
    show: impl Fn(&StackRow, &StackView<'_>, &ResourceView) -> T + Send + Sync,
) -> Result<(T, Value), Fault> {
    let is_guest = request.app.options.is_guest(&request.caller);
    let read = |stack: &StackRow, seen: &StackView<'_>| {
        let found = named(stack, seen, name)?;
        check_guest(request, seen, &found)?;
        let server = server_of(seen, &found);
        Ok((show(stack, seen, &found), seen.metadata(&found), server))
    };
    let (shown, mut metadata, server) =
        request.read_stack(stack, TreePart::Resource(name), read).await?;
    if let (Some(server), Value::Map(members)) = (server, &mut metadata) {
        let configs = request.service().project_server_configs(&stack.project, &server).await?;
        if !configs.is_empty() {
            let configs = configs.iter().map(|stored| applied_config(request, stored));
            Arc::make_mut(members).insert("deployments".into(), Value::list(configs));
        }
    }
    if is_guest {
        metadata = metadata.exposed();
    } else if request.may_have_credentials()
        && let Value::Map(members) = &mut metadata
        && let Some(collecting) = members.get("os-collect-config").map(Value::exposed)
    {
        Arc::make_mut(members).insert("os-collect-config".into(), collecting);
    }
    Ok((shown, metadata))
}

pub(crate) async fn signal(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let details = request.body.clone().map(Value::Map).unwrap_or_default();
    let name = request.part("resource_name");
    check_signaller(&request, &stack, name, &details).await?;
    request.service().signal(&stack, name, details).await?;
    Ok(Response::ok(&Value::Null))
}

pub(crate) async fn mark(request: Request) -> Result<Response, Fault> {
    const KEYS: [&str; 2] = ["mark_unhealthy", "resource_status_reason"];
    let body = request.object()?;
    let unknown: Vec<Value> = body
        .keys()
        .filter(|name| !KEYS.contains(&&***name))
        .map(|name| Value::Text(name.clone()))
        .collect();
    if !unknown.is_empty() {
        let list = print::repr(&Value::list(unknown));
        let set = list.trim_start_matches('[').trim_end_matches(']');
        return Err(Fault::bad(format!("Invalid keys in resource mark unhealthy {{{set}}}")));
    }
    let Some(is_unhealthy) = body.get("mark_unhealthy") else {
        let message = "Missing mandatory (mark_unhealthy) key from mark unhealthy request";
        return Err(Fault::bad(message));
    };
    let is_unhealthy = flag("mark_unhealthy", is_unhealthy)?;
    let reason = request.field("resource_status_reason").map(print::plain).unwrap_or_default();
    let stack = request.live_stack().await?;
    let resource = request.part("resource_name");
    request.service().mark(&stack, resource, !is_unhealthy, &reason).await?;
    Ok(Response::ok(&Value::Null))
}
