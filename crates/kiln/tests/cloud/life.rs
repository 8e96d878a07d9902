//! The whole life of a stack: created, updated with no change, checked, deleted; and nothing is left.

use super::kiln_process::{KilnProcess, Reply, Who};
use serde_json::{Value as Json, json};

/// Whether an administrator has to do it.
pub(crate) async fn who_may(kiln: &KilnProcess, body: &Json) -> Who {
    let mut body = body.clone();
    body["stack_name"] = "preview".into();
    let reply = kiln.ask(Who::Demo, "POST", "/stacks/preview", Some(body)).await;
    if reply.status == 403 { Who::Admin } else { Who::Demo }
}

/// Lives through all of it; tells what went wrong. Whatever happens, the stack is deleted in the end. Objects of one
/// collection may stay.
pub(crate) async fn live_and_die(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
    body: &Json,
    kept: Option<&str>,
) -> Result<(), String> {
    let before = kiln.objects().await;
    let lived = live(kiln, who, stack, body).await;
    let deleted = delete(kiln, who, stack).await;
    let mut wrong: Vec<String> = [lived, deleted].into_iter().filter_map(Result::err).collect();
    wrong.extend(kiln.changed_besides(&before, kept).await);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
}

async fn live(kiln: &KilnProcess, who: Who, stack: &str, body: &Json) -> Result<(), String> {
    let mut new = body.clone();
    new["stack_name"] = stack.into();
    expect(kiln.ask(who, "POST", "/stacks", Some(new)).await, "create")?;
    ended(kiln, who, stack, "CREATE_COMPLETE").await?;
    update(kiln, who, stack, body).await?;
    check(kiln, who, stack).await
}

/// The body of a successful response.
pub(crate) fn expect(reply: Reply, what: &str) -> Result<Json, String> {
    match reply.status {
        200..=299 => Ok(reply.body),
        status => {
            Err(format!("{what} is refused with {status}: {}", reply.body["error"]["message"]))
        }
    }
}

/// Waits until a stack has come to rest, which should be in this state.
pub(crate) async fn ended(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
    wanted: &str,
) -> Result<(), String> {
    match kiln.rest(who, stack).await {
        Some((status, _)) if status == wanted => Ok(()),
        Some((status, reason)) => Err(format!("{status}: {reason}")),
        None => Err("the stack is gone".into()),
    }
}

/// Updates a stack.
pub(crate) async fn update(
    kiln: &KilnProcess,
    who: Who,
    stack: &str,
    body: &Json,
) -> Result<(), String> {
    let path = path(kiln, who, stack).await;
    expect(kiln.ask(who, "PUT", &path, Some(body.clone())).await, "update")?;
    ended(kiln, who, stack, "UPDATE_COMPLETE").await
}

/// Checks a stack.
pub(crate) async fn check(kiln: &KilnProcess, who: Who, stack: &str) -> Result<(), String> {
    let actions = format!("{}/actions", path(kiln, who, stack).await);
    expect(kiln.ask(who, "POST", &actions, Some(json!({ "check": null }))).await, "check")?;
    ended(kiln, who, stack, "CHECK_COMPLETE").await
}

/// Deletes a stack, if there is one.
pub(crate) async fn delete(kiln: &KilnProcess, who: Who, stack: &str) -> Result<(), String> {
    let found = kiln.ask(who, "GET", &format!("/stacks/{stack}"), None).await;
    if found.status == 404 {
        return Ok(());
    }
    let id = found.body["stack"]["id"].as_str().unwrap_or_default().to_owned();
    expect(kiln.ask(who, "DELETE", &format!("/stacks/{stack}/{id}"), None).await, "delete")?;
    match kiln.rest(who, &format!("{stack}/{id}")).await {
        None => Ok(()),
        Some((status, _)) if status == "DELETE_COMPLETE" => Ok(()),
        Some((status, reason)) => Err(format!("{status}: {reason}")),
    }
}

/// The path of a stack.
pub(crate) async fn path(kiln: &KilnProcess, who: Who, stack: &str) -> String {
    let found = kiln.ask(who, "GET", &format!("/stacks/{stack}"), None).await;
    format!("/stacks/{stack}/{}", found.body["stack"]["id"].as_str().unwrap_or_default())
}
