//! Snapshots of stacks.

use super::show::{document, members, wrapped};
use crate::fault::Fault;
use crate::request::{Request, moment};
use crate::response::{Response, accepted};
use futures_util::stream::{self, StreamExt};
use kiln_engine::store::SnapshotRow;
use kiln_engine::{Action, RequestError, Status, read_snapshot};
use kiln_template::{Members, Value, print};
use std::sync::Arc;

fn shown(row: &SnapshotRow) -> Result<Value, Fault> {
    let data = document(&as_taken(row, read_snapshot(row).map_err(RequestError::from)?));
    let reason = match &*row.reason {
        "" => Value::Null,
        reason => reason.into(),
    };
    Ok(Value::Map(Arc::new(members([
        ("id", row.id.to_string().into()),
        ("name", row.name.clone().map(Value::Text).unwrap_or_default()),
        ("action", row.state.action.name().into()),
        ("status", row.state.status.name().into()),
        ("status_reason", reason),
        ("data", data),
        ("creation_time", moment(row.created)),
    ]))))
}

/// The data of a snapshot. Its action is that of taking it; members for internal use are not shown.
fn as_taken(row: &SnapshotRow, data: Value) -> Value {
    let Value::Map(mut data) = data else { return data };
    let shown = Arc::make_mut(&mut data);
    if row.state.is(Action::Create, Status::Complete) {
        shown.insert("action".into(), Action::Snapshot.name().into());
        shown.insert("status".into(), Status::Complete.name().into());
    }
    if let Some(Value::Map(environment)) = shown.get_mut("environment") {
        Arc::make_mut(environment).shift_remove("encrypted_param_names");
    }
    Value::Map(data)
}

pub(crate) async fn take(request: Request) -> Result<Response, Fault> {
    let name = match request.field("name") {
        None => None,
        Some(Value::Text(name)) => Some(name.clone()),
        Some(other) => Some(print::plain(other).into()),
    };
    let stack = request.live_stack().await?;
    let snapshot = request.service().take_snapshot(&request.requester(), &stack, name).await?;
    Ok(Response::ok(&shown(&snapshot)?))
}

pub(crate) async fn index(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let snapshots = request.service().snapshots(&request.requester(), &stack).await?;
    let share = request.share();
    // A snapshot contains a whole stack: one after the other is read.
    let rows = stream::iter(snapshots).filter_map(move |row| {
        let service = request.service().clone();
        async move {
            match service.store().snapshot(row.id).await {
                Ok(Some(row)) => Some(shown(&row)),
                Ok(None) => None,
                Err(error) => Some(Err(RequestError::from(error).into())),
            }
        }
    });
    Response::list(share, "snapshots", rows, Members::new()).await
}

pub(crate) async fn show(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    let id = request.part("snapshot_id");
    let snapshot = request.service().snapshot(&request.requester(), &stack, id).await?;
    Ok(Response::ok(&wrapped("snapshot", shown(&snapshot)?)))
}

pub(crate) async fn delete(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    request
        .service()
        .delete_snapshot(&request.requester(), &stack, request.part("snapshot_id"))
        .await?;
    Ok(Response::no_content())
}

pub(crate) async fn restore(request: Request) -> Result<Response, Fault> {
    let stack = request.live_stack().await?;
    request.service().restore(&request.requester(), &stack, request.part("snapshot_id")).await?;
    Ok(accepted(&request.accept))
}
