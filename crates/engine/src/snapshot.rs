//! Snapshots: the stored state of a stack, to which a restore returns it.

use crate::ids::SnapshotId;
use crate::record::v1::SnapshotBody;
use crate::record::{Record, StoredMembers};
use crate::state::State;
use crate::store::{SnapshotRow, StoreError};
use crate::time::Time;
use crate::tree::Tree;
use kiln_template::{Members, Value};
use std::sync::Arc;

/// A snapshot of a stack.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) name: Option<Arc<str>>,
    /// Its action and status: the create or the delete of the snapshot.
    pub(crate) state: State,
    pub(crate) reason: Arc<str>,
    pub(crate) created: Time,
    /// The stack as a document, the form of [`Tree::export`].
    pub(crate) data: Arc<Members>,
    /// The text of its template, as it was sent.
    pub(crate) text: Option<Arc<str>>,
}

/// Reads the document of a snapshot: what [`Tree::export`] returned when the snapshot was created.
pub fn read_snapshot(row: &SnapshotRow) -> Result<Value, StoreError> {
    Ok(Value::Map(SnapshotBody::read(&row.body, row.id)?.data.0))
}

impl Snapshot {
    pub(crate) fn of_row(row: SnapshotRow) -> Result<Snapshot, StoreError> {
        let SnapshotBody { data: StoredMembers(data), text } =
            SnapshotBody::read(&row.body, row.id)?;
        let SnapshotRow { name, state, reason, created, .. } = row;
        Ok(Snapshot { name, state, reason, created, data, text })
    }
}

impl Tree {
    /// The row of a snapshot, unless it is deleted.
    pub(crate) fn snapshot_row(&self, id: SnapshotId) -> Option<SnapshotRow> {
        let snapshot = self.snapshots.get(&id)?;
        let body = SnapshotBody {
            data: StoredMembers(snapshot.data.clone()),
            text: snapshot.text.clone(),
        };
        Some(SnapshotRow {
            id,
            root: self.root,
            stack: self.root,
            project: self.project.clone(),
            name: snapshot.name.clone(),
            state: snapshot.state,
            reason: snapshot.reason.clone(),
            created: snapshot.created,
            body: body.encode(),
        })
    }
}
