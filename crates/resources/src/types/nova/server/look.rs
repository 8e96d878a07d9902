//! Reading a server: its path, its progress, and what is kept for attributes.

use crate::declare::{Value, map};
use crate::op::{FailureClass, Op, OpError, Progress};
use crate::wire;
use kiln_cloud::{Call, CallPath, Marker, Reply, Service, Sharing, get, post};
use serde_json::Value as Json;
use std::time::Duration;

/// The statuses that a server leaves by itself.
const ON_THE_WAY: [&str; 10] = [
    "BUILD",
    "HARD_REBOOT",
    "PASSWORD",
    "REBOOT",
    "RESCUE",
    "RESIZE",
    "REVERT_RESIZE",
    "SHUTOFF",
    "SUSPENDED",
    "VERIFY_RESIZE",
];

/// The path of the resource's server.
pub(crate) fn path(op: &Op) -> CallPath {
    path_of(op.id().map_or("", |id| id))
}

/// The path of a server.
pub(crate) fn path_of(id: &str) -> CallPath {
    CallPath::from("/servers").id(id)
}

/// The call that reads the resource's server.
pub(crate) fn look(op: &Op) -> Call {
    get(Service::Compute, path(op))
}

/// The call for an action on the server, which can be repeated.
pub(crate) fn action(op: &Op, body: Json) -> Call {
    post(Service::Compute, path(op).then("/action"), body).may_be_repeated()
}

/// The status of a server, without the details in brackets that some services add.
pub(crate) fn status(reply: &Reply) -> &str {
    let status = reply.text("/server/status").unwrap_or_default();
    status.split('(').next().unwrap_or(status)
}

/// The current task of a server; `None` if it has none.
pub(crate) fn task(reply: &Reply) -> Option<&str> {
    reply.text("/server/OS-EXT-STS:task_state")
}

/// The progress of a server towards a status.
pub(crate) fn progress_to(reply: &Reply, wanted: &str) -> Progress {
    match status(reply) {
        status if status == wanted => Progress::Ready,
        "ERROR" => Progress::Failed(failed(reply)),
        "ACTIVE" => Progress::NotYet,
        status if ON_THE_WAY.contains(&status) => Progress::NotYet,
        status => Progress::Unknown(unknown(status)),
    }
}

fn unknown(status: &str) -> String {
    format!("Server is not active - Unknown status {status} due to \"Unknown\"")
}

/// What is wrong with a server in error.
pub(super) fn failed(reply: &Reply) -> String {
    let (message, code) = fault(reply);
    format!("Went to status ERROR due to \"Message: {message}, Code: {code}\"")
}

/// The fault of a server: message and code.
pub(crate) fn fault(reply: &Reply) -> (String, String) {
    let fault = &reply.body["server"]["fault"];
    let message = fault["message"].as_str().unwrap_or("Unknown").to_owned();
    let code = match &fault["code"] {
        Json::Null => "Unknown".to_owned(),
        code => code.to_string(),
    };
    (message, code)
}

/// Polls the server until it is ready, also across failures of the service.
pub(crate) async fn until(
    op: &mut Op,
    call: Call,
    mut progress: impl FnMut(&Reply) -> Progress,
) -> Result<Reply, OpError> {
    loop {
        match op.until(call.clone(), &mut progress).await {
            Err(OpError::Failed(it))
                if matches!(it.class, FailureClass::HttpError | FailureClass::OverLimit) => {}
            other => return other,
        }
        op.pause(Duration::from_secs(5)).await?;
    }
}

/// Waits until the server has a status.
pub(crate) async fn until_is(op: &mut Op, wanted: &str) -> Result<Reply, OpError> {
    let call = look(op).among(building(op));
    until(op, call, |reply| progress_to(reply, wanted)).await
}

/// A marker that lists the servers in status `BUILD`: many resources poll one list instead of their own
/// servers.
fn building(op: &Op) -> Marker {
    Marker {
        list: get(Service::Compute, "/servers/detail").query("status", "BUILD"),
        objects: "/servers".into(),
        field: "/id".into(),
        value: op.id().map_or("", |id| id).into(),
        envelope: Some("server".into()),
        path: "/servers".into(),
        id: "/id".into(),
    }
}

/// Reads the server and its ports, and keeps the replies for attributes.
pub(crate) async fn show(op: &mut Op) -> Result<Reply, OpError> {
    let server = op.read(look(op)).await?;
    keep(op, server).await
}

/// Like [`show`], for a server that was just read.
pub(crate) async fn keep(op: &mut Op, server: Reply) -> Result<Reply, OpError> {
    let id = op.id().map_or("", |id| id).to_owned();
    let ports = listed(op, "/ports", [("device_id", id)]).await?;
    let of = |field: &str, query: &'static str| -> Vec<(&'static str, String)> {
        let ids = ports.iter().filter_map(|port| port[field].as_str());
        let mut ids: Vec<String> = ids.map(str::to_owned).collect();
        ids.sort();
        ids.dedup();
        ids.into_iter().map(|id| (query, id)).collect()
    };
    let subnets = ports.iter().flat_map(|port| port["fixed_ips"].as_array().into_iter().flatten());
    let mut subnets: Vec<(&str, String)> =
        subnets.filter_map(|fixed| Some(("id", fixed["subnet_id"].as_str()?.to_owned()))).collect();
    subnets.sort();
    subnets.dedup();
    let floating = listed(op, "/floatingips", of("id", "port_id")).await?;
    let networks = listed(op, "/networks", of("network_id", "id")).await?;
    let subnets = listed(op, "/subnets", subnets).await?;
    let all = |objects: Vec<Json>| wire::value(&objects.into());
    op.set_remote(map([
        ("server", wire::value(&server.body["server"])),
        ("ports", all(ports)),
        ("floatingips", all(floating)),
        ("networks", all(networks)),
        ("subnets", all(subnets)),
    ]));
    Ok(server)
}

/// Lists objects of the network service by ids; empty without ids or without the service.
async fn listed(
    op: &mut Op,
    path: &'static str,
    query: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Vec<Json>, OpError> {
    let mut call = get(Service::Network, path).together(path);
    if matches!(path, "/networks" | "/subnets") {
        // Many servers share the same networks and subnets, which rarely change.
        call.sharing = Sharing::MayBeOld;
    }
    for (name, value) in query {
        call = call.query(name, value);
    }
    if call.request.query.is_empty() {
        return Ok(Vec::new());
    }
    match op.read(call).await {
        Ok(reply) => Ok(reply.body[&path[1..]].as_array().cloned().unwrap_or_default()),
        Err(OpError::Failed(it)) if it.class == FailureClass::EndpointNotFound => Ok(Vec::new()),
        Err(stop) => Err(stop),
    }
}

/// One of the replies that [`show`] keeps.
pub(crate) fn part<'v>(shown: &'v Value, name: &str) -> Option<&'v Value> {
    shown.as_map()?.get(name)
}
