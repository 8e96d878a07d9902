//! Snapshots of stacks.

use super::show::{document, members, wrapped};
use crate::answer::{Answer, accepted};
use crate::ask::{Ask, moment};
use crate::fault::Fault;
use kiln_engine::state::{Action, Status};
use kiln_engine::store::SnapshotRow;
use kiln_engine::{service::Refusal, snapshot};
use kiln_template::Value;
use kiln_template::print;
use std::sync::Arc;

fn shown(row: &SnapshotRow) -> Result<Value, Fault> {
    let data = document(&as_taken(row, snapshot::data(row).map_err(Refusal::from)?));
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

/// What a snapshot keeps. When it is taken, the last that was done with the stack was to take it; what is
/// only of use to us is not shown.
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

pub(crate) async fn take(ask: Ask) -> Result<Answer, Fault> {
    let name = match ask.field("name") {
        None => None,
        Some(Value::Text(name)) => Some(name.clone()),
        Some(other) => Some(print::plain(other).into()),
    };
    let stack = ask.live_stack().await?;
    let snapshot = ask.service().take_snapshot(&ask.asker(), &stack, name).await?;
    Ok(Answer::ok(&shown(&snapshot)?))
}

pub(crate) async fn index(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    let snapshots = ask.service().snapshots(&ask.asker(), &stack).await?;
    let snapshots: Result<Vec<Value>, Fault> = snapshots.iter().map(shown).collect();
    Ok(Answer::ok(&wrapped("snapshots", Value::list(snapshots?))))
}

pub(crate) async fn show(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    let id = ask.part("snapshot_id");
    let snapshot = ask.service().snapshot(&ask.asker(), &stack, id).await?;
    Ok(Answer::ok(&wrapped("snapshot", shown(&snapshot)?)))
}

pub(crate) async fn delete(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    ask.service().delete_snapshot(&ask.asker(), &stack, ask.part("snapshot_id")).await?;
    Ok(Answer::nothing())
}

pub(crate) async fn restore(ask: Ask) -> Result<Answer, Fault> {
    let stack = ask.live_stack().await?;
    ask.service().restore(&ask.asker(), &stack, ask.part("snapshot_id")).await?;
    Ok(accepted(&ask.accept))
}
