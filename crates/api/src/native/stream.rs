//! Events as they happen: server-sent events, resumable by the id of the last one seen.
//!
//! Events come from the store, so that a client that loses its connection loses no event, and events of other engines appear
//! as well. A stream ends when its stack is no longer in progress, when its caller is no longer authenticated or allowed to
//! read it, and when its client does not read it.

use super::events::listed;
use crate::event_streams::{EventPage, OpenStream, read_shared};
use crate::fault::Fault;
use crate::request::Request;
use crate::response::Response;
use crate::serve::EVENT_STREAM;
use axum::body::Body;
use kiln_engine::store::StackRow;
use kiln_engine::{ChangeTopic, EventId, Status};
use kiln_template::Value;
use kiln_template::print::{self, Keys};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use uuid::Uuid;

/// The policy rule of event streams.
const RULE: &str = "events:index";

pub(crate) async fn events(request: Request) -> Result<Response, Fault> {
    let stack = request.stack().await?;
    let depth = request.query.count("nested_depth")?.unwrap_or(0);
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let marker = request.last_event.as_deref().or(request.query.get("marker"));
    let marker = marker.and_then(|id| Uuid::parse_str(id).ok()).map(EventId);
    let open = OpenStream::open(&request.app, &request.caller.project_id)?;
    // Little is sent ahead: what a client does not read is kept for it.
    let (send, receive) = mpsc::channel(1);
    #[allow(clippy::disallowed_methods, reason = "it ends when the client closes the connection")]
    tokio::spawn(follow(request, stack, depth, marker, send));
    let reader = (receive, open);
    let body = Body::from_stream(futures_util::stream::unfold(reader, |mut reader| async {
        let text: String = reader.0.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(text), reader))
    }));
    Ok(Response::with_body(EVENT_STREAM, body))
}

/// Sends events until the stream ends.
async fn follow(
    request: Request,
    stack: StackRow,
    depth: usize,
    mut marker: Option<EventId>,
    send: mpsc::Sender<String>,
) {
    let (app, options) = (request.app.clone(), &request.app.options);
    let mut watch = request.service().watch(ChangeTopic::Tree(stack.root), None);
    let group = app.event_streams.group(&request, stack.id, depth);
    let mut check = every(options.stream_check_interval);
    let mut keep_alive = every(options.stream_keep_alive);
    let deliver = async |text: String| {
        let sent = tokio::time::timeout(options.stream_send_timeout, send.send(text)).await;
        matches!(sent, Ok(Ok(())))
    };
    loop {
        let read = read_shared(&group, &request, (&stack, depth), watch.count(), marker);
        // The future of a read is large: it is not kept in the future of a stream that waits.
        let Ok(page) = Box::pin(read).await else { return };
        if page.events.is_empty() {
            let state = page.stacks.first().map(|it| &it.summary.state);
            if state.is_none_or(|it| it.status != Status::InProgress) {
                let state = state.map(ToString::to_string).unwrap_or_default();
                deliver(format!("event: rest\ndata: \"{state}\"\n\n")).await;
                return;
            }
        } else {
            marker = page.events.last().map(|event| event.id);
            if !deliver(shown(&request, &stack, &page)).await {
                return;
            }
            keep_alive.reset();
        }
        let has_more = !page.events.is_empty();
        drop(page);
        loop {
            tokio::select! {
                biased;
                () = send.closed() => return,
                _ = check.tick() => if !Box::pin(is_still_allowed(&request)).await {
                    return;
                },
                _ = keep_alive.tick() => if !deliver(": still here\n\n".to_owned()).await {
                    return;
                },
                () = std::future::ready(()), if has_more => break,
                () = watch.changed() => break,
            }
        }
    }
}

/// The events of a page as they are sent.
fn shown(request: &Request, stack: &StackRow, page: &EventPage) -> String {
    let mut text = String::new();
    for event in &page.events {
        let Some(of) = page.by_id.get(&event.stack) else { continue };
        let mut shown = listed(request, of, event, Some(stack));
        shown.insert("resource_type".into(), Value::Text(event.kind.clone()));
        let data = print::json(&Value::Map(Arc::new(shown)), Keys::Ordered);
        _ = write!(text, "id: {}\nevent: event\ndata: {data}\n\n", event.id);
    }
    text
}

/// Ticks of an interval, the first after the first interval.
fn every(interval: Duration) -> Interval {
    let interval = interval.max(Duration::from_millis(1));
    let mut ticks = interval_at(Instant::now() + interval, interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Whether the same request would be authenticated and allowed now.
async fn is_still_allowed(request: &Request) -> bool {
    let Some(headers) = &request.stream_headers else { return true };
    let (app, project) = (&request.app, request.part("tenant_id"));
    let Ok(caller) = app.auth.authenticate(headers, Some(project)).await else { return false };
    let is_admin = app.policy.get().is_admin(&caller);
    // Reads are shared by project and rights: they must be those that the stream was opened with.
    let is_same = caller.project_id == request.caller.project_id && is_admin == request.is_admin;
    let project = if is_admin { caller.project_id.as_str() } else { project };
    is_same && app.allow(RULE, &caller, project).is_ok()
}
