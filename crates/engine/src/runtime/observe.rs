//! What the driver of a tree logs and counts.

use crate::activity::Activity;
use crate::metrics::Metrics;
use crate::owner::Owner;
use crate::request_id::RequestId;
use crate::state::{State, Status};
use crate::store::Batch;
use crate::tree::Tree;
use kiln_cloud::{CallError, Reply};
use std::sync::Arc;

/// Logs and counts what the owner of a tree does. Its shares of gauges go with it.
pub(super) struct Observer {
    metrics: Arc<Metrics>,
    running: i64,
    revoking: i64,
    doubts: i64,
    /// Whether resources may be in doubt: only then they are counted.
    may_doubt: bool,
}

/// The type of events about a stack itself.
const STACK_TYPE: &str = "OS::Heat::Stack";

impl Observer {
    pub(super) fn new(metrics: Arc<Metrics>, tree: &Tree) -> Observer {
        let mut observer =
            Observer { metrics, running: 0, revoking: 0, doubts: 0, may_doubt: true };
        observer.count_doubts(tree);
        observer
    }

    /// Logs and counts what the owner did since the last time.
    pub(super) fn observe(&mut self, owner: &mut Owner) {
        for activity in owner.take_activity() {
            self.count(&activity);
            log(&activity);
        }
        for bug in owner.take_bugs() {
            self.metrics.bugs.inc();
            tracing::error!(stack = %bug.stack, what = bug.what, "internal error: a state that cannot occur; the stack fails, please report this");
        }
        self.count_doubts(owner.tree());
    }

    fn count(&mut self, activity: &Activity) {
        let metrics = &self.metrics;
        let change = match activity {
            Activity::Started(info) => {
                metrics.operations_started.get_or_create(&[("operation", info.operation)]).inc();
                1
            }
            Activity::Ended(info, error) => {
                if error.is_some() {
                    metrics.operations_failed.get_or_create(&[("operation", info.operation)]).inc();
                }
                -1
            }
            Activity::Stopped(_) => -1,
            Activity::Retried(operation) => {
                metrics.operations_retried.get_or_create(&[("operation", *operation)]).inc();
                0
            }
        };
        self.running += change;
        metrics.operations_running.inc_by(change);
    }

    /// Counts the reply to a call.
    pub(super) fn count_answer(&mut self, answer: &Result<Reply, CallError>) {
        if let Err(CallError::Lost(why)) = answer {
            self.may_doubt = true;
            self.metrics.doubts_opened.inc();
            tracing::warn!(
                why,
                "the reply to a call was lost: its effect is looked for by its mark"
            );
        }
    }

    /// Sets how many delegations of the tree are being revoked.
    pub(super) fn count_revoking(&mut self, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.metrics.delegations_to_revoke.inc_by(count - self.revoking);
        self.revoking = count;
    }

    fn count_doubts(&mut self, tree: &Tree) {
        if self.may_doubt {
            let count = i64::try_from(tree.count_doubts()).unwrap_or(i64::MAX);
            self.metrics.doubts_open.inc_by(count - self.doubts);
            self.doubts = count;
            self.may_doubt = count > 0;
        }
    }

    /// The changes of state in a batch that are logged once the batch is durable.
    pub(super) fn state_changes(&self, batch: &Batch, tree: &Tree) -> Vec<StateChange> {
        let is_logged = |kind: &str, status: Status| kind == STACK_TYPE || status == Status::Failed;
        let events = batch.events.iter();
        let events = events.filter(|event| is_logged(&event.kind, event.state.status));
        let change = |event: &crate::store::EventRow| StateChange {
            stack: event.stack.to_string(),
            // An event of a stack that this batch removes has no request any more.
            request: tree.key_of(event.stack).and_then(|key| tree.request_of(key)),
            name: event.resource.clone(),
            type_name: event.kind.clone(),
            state: event.state,
            reason: event.reason.clone(),
        };
        events.map(change).collect()
    }
}

/// The shares of a tree that is released do not count any more.
impl Drop for Observer {
    fn drop(&mut self) {
        self.metrics.operations_running.dec_by(self.running);
        self.metrics.delegations_to_revoke.dec_by(self.revoking);
        self.metrics.doubts_open.dec_by(self.doubts);
    }
}

/// A change of the state of a stack, or the failure of a resource.
pub(super) struct StateChange {
    stack: String,
    request: Option<RequestId>,
    name: Arc<str>,
    type_name: Arc<str>,
    state: State,
    reason: Arc<str>,
}

impl StateChange {
    pub(super) fn log(&self) {
        let StateChange { stack, name, state, reason, .. } = self;
        let request_id = self.request.map(tracing::field::display);
        if &*self.type_name == STACK_TYPE {
            tracing::info!(stack, name = &**name, %state, reason = &**reason, request_id, "stack state changed");
        } else {
            let resource_type = &*self.type_name;
            tracing::info!(stack, resource = &**name, resource_type, %state, reason = &**reason, request_id, "resource failed");
        }
    }
}

fn log(activity: &Activity) {
    let (info, error) = match activity {
        Activity::Started(info) | Activity::Stopped(info) => (info, None),
        Activity::Ended(info, error) => (info, error.as_deref()),
        Activity::Retried(operation) => {
            return tracing::warn!(operation, "an operation failed: it is tried again");
        }
    };
    let (stack, resource, resource_type) = (&info.stack, &*info.resource, &*info.type_name);
    let (operation, op) = (info.operation, info.op.0);
    let request_id = info.request.map(tracing::field::display);
    match (activity, error) {
        (_, Some(error)) => {
            tracing::info!(%stack, resource, resource_type, operation, op, request_id, error, "operation failed");
        }
        (Activity::Started(_), _) => {
            tracing::debug!(%stack, resource, resource_type, operation, op, request_id, "operation started");
        }
        (Activity::Stopped(_), _) => {
            tracing::debug!(%stack, resource, resource_type, operation, op, request_id, "operation stopped");
        }
        _ => {
            tracing::debug!(%stack, resource, resource_type, operation, op, request_id, "operation ended");
        }
    }
}
