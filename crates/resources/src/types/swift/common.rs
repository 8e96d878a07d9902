//! Containers of the object store. Their names are their ids, so they need no mark; their metadata are headers.

use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::open;
use kiln_cloud::{Call, CallPath, Reply, delete, get, head, post, put};
use kiln_template::print;
use serde_json::Value as Json;

/// The number of objects in a page, which are listed and deleted together.
const PAGE: &str = "1000";

fn path(op: &Op) -> CallPath {
    CallPath::from("").id_or_url(op.id().map_or("", |id| id))
}

/// Headers from the members of a map, each behind a prefix.
pub(crate) fn headers(prefix: &str, members: &Value) -> Vec<(String, String)> {
    let members = open(members).as_map().into_iter().flatten();
    members.map(|(name, value)| (format!("{prefix}{name}"), print::plain(open(value)))).collect()
}

fn with_headers(call: Call, headers: Vec<(String, String)>) -> Call {
    headers.into_iter().fold(call.empty(), |call, (name, value)| call.header(name, value))
}

/// Creates a container, and keeps the headers of the reply.
pub(crate) async fn create(
    op: &mut Op,
    name: &str,
    headers: Vec<(String, String)>,
) -> Result<(), OpError> {
    op.set_id(name);
    let call = with_headers(put(Service::ObjectStore, path(op), Json::Null), headers);
    op.call("create", call).await?;
    look(op).await
}

/// Sets headers of the account.
pub(crate) async fn describe_account(
    op: &mut Op,
    headers: Vec<(String, String)>,
) -> Result<(), OpError> {
    if !headers.is_empty() {
        let call = with_headers(post(Service::ObjectStore, "", Json::Null), headers);
        op.call("account", call.may_be_repeated()).await?;
    }
    Ok(())
}

/// Reads the container, and keeps its headers for attributes.
pub(crate) async fn look(op: &mut Op) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    let reply = op.read(head(Service::ObjectStore, path(op))).await?;
    op.set_remote(shown(&reply));
    Ok(())
}

fn shown(reply: &Reply) -> Value {
    let number = |name: &str| {
        let number = reply.header(name).and_then(|it| it.parse::<i64>().ok());
        number.map_or(Value::Null, Value::from)
    };
    let headers = reply.headers.iter().filter(|(name, _)| *name != "content-location");
    let headers = headers.map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
    let address = reply.address().unwrap_or_default();
    let root = address.rsplit_once('/').map_or("", |it| it.0);
    let host = address.split_once("://").map_or("", |it| it.1);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    map([
        ("BytesUsed", number("x-container-bytes-used")),
        ("DomainName", host.into()),
        ("HeadContainer", Value::map(headers)),
        ("ObjectCount", number("x-container-object-count")),
        ("RootURL", root.into()),
        ("WebsiteURL", address.into()),
    ])
}

/// Deletes a container. If it is not empty, its objects are deleted first, or the deletion fails with this
/// message.
pub(crate) async fn remove(op: &mut Op, refusal: Option<String>) -> Result<(), OpError> {
    if op.id().is_none() {
        return Ok(());
    }
    loop {
        match op.remove("delete", delete(Service::ObjectStore, path(op))).await {
            Err(stop) if stop.is_conflict() => match &refusal {
                Some(refusal) => {
                    let message = format!("{refusal} is not supported for resource.");
                    return Err(OpError::failed(FailureClass::ResourceActionNotSupported, message));
                }
                None => empty(op).await?,
            },
            Err(stop) => return Err(stop),
            Ok(()) => break,
        }
    }
    op.clear_id();
    Ok(())
}

/// Deletes the objects in the container, a page at a time.
async fn empty(op: &mut Op) -> Result<(), OpError> {
    let container = path(op);
    let list =
        get(Service::ObjectStore, container.clone()).query("format", "json").query("limit", PAGE);
    loop {
        let listed = match op.read(list.clone()).await {
            Err(stop) if stop.is_not_found() => return Ok(()),
            listed => listed?,
        };
        let objects = listed.body.as_array().into_iter().flatten();
        let paths: Vec<CallPath> = objects
            .filter_map(|object| object["name"].as_str())
            .map(|name| container.clone().object(name))
            .collect();
        let Some(first) = paths.first() else { return Ok(()) };
        let names = paths.iter().map(CallPath::checked).collect::<Result<Vec<_>, _>>()?;
        let bulk = post(Service::ObjectStore, "", Json::String(names.join("\n")))
            .query("bulk-delete", "true")
            .header("Content-Type", "text/plain")
            .header("Accept", "application/json")
            .may_be_repeated();
        let done = op.call(&format!("empty {first}"), bulk).await?;
        if done.body.get("Number Deleted").and_then(Json::as_u64).unwrap_or_default() == 0 {
            // The object store has no bulk deletion, or still lists deleted objects.
            for path in &paths {
                op.remove(&format!("remove {path}"), delete(Service::ObjectStore, path.clone()))
                    .await?;
            }
        }
        op.pause(std::time::Duration::from_millis(200)).await?;
    }
}
