//! Snapshots of stacks.

use super::{RequestError, Requester, Service};
use crate::error_type::ErrorType;
use crate::ids::{Ids, SnapshotId};
use crate::machine::Command;
use crate::runtime::SystemIds;
use crate::state::{Action, State, Status};
use crate::store::{SnapshotRow, StackRow};
use std::sync::Arc;
use uuid::Uuid;

impl Service {
    /// Takes a snapshot of a stack.
    pub async fn take_snapshot(
        &self,
        requester: &Requester,
        stack: &StackRow,
        name: Option<Arc<str>>,
    ) -> Result<SnapshotRow, RequestError> {
        if Service::is_in_progress(stack) {
            return Err(RequestError::action_in_progress(
                &stack.summary.name,
                stack.summary.state.action,
            ));
        }
        let limit = self.rules.max_snapshots.filter(|_| !requester.is_admin);
        self.check_snapshot_quota(stack, limit).await?;
        let id = SnapshotId(SystemIds::default().next());
        self.command(stack.root, Command::Snapshot { id, name, limit }).await?;
        match self.store.snapshot(id).await? {
            Some(snapshot) => Ok(snapshot),
            None => {
                // Requests that came at the same time were quicker.
                self.check_snapshot_quota(stack, limit).await?;
                Err(not_found(&id.to_string()))
            }
        }
    }

    async fn check_snapshot_quota(
        &self,
        stack: &StackRow,
        limit: Option<u64>,
    ) -> Result<(), RequestError> {
        let taken = self.store.snapshots(stack.id).await?.len() as u64;
        match limit.filter(|limit| taken >= *limit) {
            None => Ok(()),
            Some(limit) => Err(RequestError::limit_exceeded(format_args!(
                "You have reached the maximum snapshots per stack, {limit}. Please delete some \
                 snapshots."
            ))),
        }
    }

    /// The snapshots of a stack, the oldest first.
    pub async fn snapshots(
        &self,
        requester: &Requester,
        stack: &StackRow,
    ) -> Result<Vec<SnapshotRow>, RequestError> {
        let mut snapshots = self.store.snapshots(stack.id).await?;
        snapshots.retain(|snapshot| snapshot.project == requester.project);
        Ok(snapshots)
    }

    /// A snapshot of a stack.
    pub async fn snapshot(
        &self,
        requester: &Requester,
        stack: &StackRow,
        id: &str,
    ) -> Result<SnapshotRow, RequestError> {
        let found = match Uuid::parse_str(id) {
            Ok(id) => self.store.snapshot(SnapshotId(id)).await?,
            Err(_) => None,
        };
        let found = found.filter(|snapshot| snapshot.project == requester.project);
        let snapshot = found.ok_or_else(|| not_found(id))?;
        match snapshot.stack == stack.id {
            true => Ok(snapshot),
            false => Err(RequestError::new(
                ErrorType::SnapshotNotFound,
                format!(
                    "The Snapshot ({id}) for Stack ({}) could not be found.",
                    stack.summary.name
                ),
            )),
        }
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(
        &self,
        requester: &Requester,
        stack: &StackRow,
        id: &str,
    ) -> Result<(), RequestError> {
        let snapshot = self.snapshot(requester, stack, id).await?;
        if snapshot.state == State::new(Action::Create, Status::InProgress) {
            return Err(RequestError::unsupported("Deleting in-progress snapshot"));
        }
        self.command(stack.root, Command::DeleteSnapshot(snapshot.id)).await
    }

    /// Restores a stack from a snapshot.
    pub async fn restore(
        &self,
        requester: &Requester,
        stack: &StackRow,
        id: &str,
    ) -> Result<(), RequestError> {
        let snapshot = self.snapshot(requester, stack, id).await?;
        if snapshot.state != State::new(Action::Create, Status::Complete) {
            return Err(RequestError::unsupported("Restoring incomplete snapshot"));
        }
        if Service::is_in_progress(stack) {
            return Err(RequestError::action_in_progress(
                &stack.summary.name,
                stack.summary.state.action,
            ));
        }
        self.command(stack.root, Command::Restore(snapshot.id)).await
    }
}

fn not_found(id: &str) -> RequestError {
    RequestError::new(ErrorType::NotFound, format!("Snapshot with id {id} not found"))
}
