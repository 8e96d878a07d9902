//! Definitions and operations, and their records.

use super::Unreadable;
use super::v1::names::Word;
use super::v1::{
    CooldownBody, DefinitionBody, ErrorBody, OperationBody, OperationName, PauseBody, StepBody,
};
use super::value::{Id, Stored, StoredMembers};
use crate::ids::{ResourceId, SnapshotId};
use crate::time::Time;
use crate::tree::{HandlerRun, OpId, Operation, Origin, Pause, Stages, Work};
use kiln_cloud::Reply;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Failure, FailureClass, Journal, Step};
use kiln_resources::scaling::Cooldown;
use kiln_template::{DeletionPolicy, ResolvedDefinition};
use std::sync::Arc;
use std::time::Duration;

impl From<&ResolvedDefinition> for DefinitionBody {
    fn from(definition: &ResolvedDefinition) -> DefinitionBody {
        DefinitionBody {
            type_name: definition.type_name.clone(),
            properties: StoredMembers(definition.properties.clone()),
            metadata: Stored(definition.metadata.clone()),
            update_policy: Stored(definition.update_policy.clone()),
            deletion_policy: match definition.deletion_policy {
                DeletionPolicy::Delete => None,
                other => Some(Word(other)),
            },
            depends_on: definition.depends_on.to_vec(),
            external_id: definition.external_id.clone(),
        }
    }
}

impl From<DefinitionBody> for ResolvedDefinition {
    fn from(body: DefinitionBody) -> ResolvedDefinition {
        ResolvedDefinition {
            type_name: body.type_name,
            properties: body.properties.0,
            metadata: body.metadata.0,
            update_policy: body.update_policy.0,
            deletion_policy: body.deletion_policy.map_or(DeletionPolicy::Delete, |word| word.0),
            depends_on: body.depends_on.into(),
            external_id: body.external_id,
        }
    }
}

impl From<&Cooldown> for CooldownBody {
    fn from(cooldown: &Cooldown) -> CooldownBody {
        CooldownBody { micros: micros(cooldown.length), reason: cooldown.reason.clone() }
    }
}

impl From<CooldownBody> for Cooldown {
    fn from(body: CooldownBody) -> Cooldown {
        Cooldown { length: Duration::from_micros(body.micros), reason: body.reason }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl From<OperationKind> for OperationName {
    fn from(kind: OperationKind) -> OperationName {
        match kind {
            OperationKind::Create => OperationName::Create,
            OperationKind::Update => OperationName::Update,
            OperationKind::Delete => OperationName::Delete,
            OperationKind::Check => OperationName::Check,
            OperationKind::Refresh => OperationName::Refresh,
            OperationKind::Suspend => OperationName::Suspend,
            OperationKind::Resume => OperationName::Resume,
            OperationKind::Snapshot => OperationName::Snapshot,
            OperationKind::DeleteSnapshot => OperationName::DeleteSnapshot,
            OperationKind::ResolveDoubt => OperationName::ResolveDoubt,
            OperationKind::Observe => OperationName::Observe,
            OperationKind::Cancel => OperationName::Cancel,
        }
    }
}

impl From<OperationName> for OperationKind {
    fn from(name: OperationName) -> OperationKind {
        match name {
            OperationName::Create => OperationKind::Create,
            OperationName::Update => OperationKind::Update,
            OperationName::Delete => OperationKind::Delete,
            OperationName::Check => OperationKind::Check,
            OperationName::Refresh => OperationKind::Refresh,
            OperationName::Suspend => OperationKind::Suspend,
            OperationName::Resume => OperationKind::Resume,
            OperationName::Snapshot => OperationKind::Snapshot,
            OperationName::DeleteSnapshot => OperationKind::DeleteSnapshot,
            OperationName::ResolveDoubt => OperationKind::ResolveDoubt,
            OperationName::Observe => OperationKind::Observe,
            OperationName::Cancel => OperationKind::Cancel,
        }
    }
}

pub(super) fn ids(ids: &[ResourceId]) -> Vec<Id> {
    ids.iter().map(|id| Id(id.0)).collect()
}

pub(super) fn resource_ids(ids: &[Id]) -> Vec<ResourceId> {
    ids.iter().map(|id| ResourceId(id.0)).collect()
}

impl From<&Operation> for OperationBody {
    fn from(operation: &Operation) -> OperationBody {
        let run = operation.handler().cloned().unwrap_or_default();
        let stages = operation.stages().copied().unwrap_or_default();
        let steps = run.journal.iter().map(|(name, step)| (name.clone(), step.into()));
        OperationBody {
            kind: operation.kind.into(),
            action: Word(operation.action),
            target: operation.target.as_deref().map(DefinitionBody::from),
            requires: ids(&operation.requires),
            journal: steps.collect(),
            drifted: StoredMembers(run.drifted),
            failures: run.failures,
            first_failure: run.first_failure.map(|failure| ErrorBody {
                class: failure.class.name().into(),
                message: failure.message,
            }),
            pause: operation.pause.map(|pause| match pause {
                Pause::Retry(time) => PauseBody::Retry(time.micros()),
                Pause::Stage(time) => PauseBody::Stage(time.micros()),
            }),
            awaited: operation.origin != Origin::Detached,
            snapshot: run.snapshot.map(|id| Id(id.0)),
            keeps_copy: run.snapshot_before_delete,
            last_stage: stages.is_last,
            stage_pause_micros: micros(stages.pause),
            stages: stages.count,
        }
    }
}

impl OperationBody {
    /// The operation, under a number of its own; of a nested stack, or of an object.
    pub(super) fn into_operation(self, id: OpId, is_nested: bool) -> Result<Operation, Unreadable> {
        let mut journal = Journal::default();
        for (name, step) in self.journal {
            let step = Step::try_from(step).map_err(|error| error.within(&name))?;
            journal.set(&name, step);
        }
        // A type that was removed since would pass for a template: what its handler has begun counts.
        let work = match is_nested && journal.iter().next().is_none() {
            true => Work::Nested(Stages {
                is_last: self.last_stage,
                pause: Duration::from_micros(self.stage_pause_micros),
                count: self.stages,
            }),
            false => Work::Handler(HandlerRun {
                journal,
                failures: self.failures,
                first_failure: self.first_failure.map(|failure| Failure {
                    class: FailureClass::from_name(&failure.class),
                    message: failure.message,
                    is_retryable: true,
                    status: None,
                }),
                too_large: None,
                drifted: self.drifted.0,
                snapshot: self.snapshot.map(|id| SnapshotId(id.0)),
                snapshot_before_delete: self.keeps_copy,
            }),
        };
        Ok(Operation {
            id,
            kind: self.kind.into(),
            origin: if self.awaited { Origin::Interrupted } else { Origin::Detached },
            action: self.action.0,
            target: self.target.map(|target| Arc::new(target.into())),
            requires: resource_ids(&self.requires),
            is_stopping: false,
            pause: self.pause.map(|pause| match pause {
                PauseBody::Retry(micros) => Pause::Retry(Time::from_micros(micros)),
                PauseBody::Stage(micros) => Pause::Stage(Time::from_micros(micros)),
            }),
            work,
        })
    }
}

impl From<&Step> for StepBody {
    fn from(step: &Step) -> StepBody {
        match step {
            Step::Begun => StepBody::Begun,
            Step::Settled => StepBody::Settled,
            Step::Refused => StepBody::Refused,
            Step::Until(micros) => StepBody::Until(*micros),
            Step::Replied(reply) => {
                StepBody::Replied { status: reply.status, body: reply.body.to_string() }
            }
        }
    }
}

impl TryFrom<StepBody> for Step {
    type Error = Unreadable;

    fn try_from(body: StepBody) -> Result<Step, Unreadable> {
        Ok(match body {
            StepBody::Begun => Step::Begun,
            StepBody::Settled => Step::Settled,
            StepBody::Refused => Step::Refused,
            StepBody::Until(micros) => Step::Until(micros),
            StepBody::Replied { status, body } => {
                let body = serde_json::from_str(&body);
                let body = body.map_err(|_| Unreadable::malformed("a reply is not JSON"))?;
                Step::Replied(Reply::new(status, body))
            }
        })
    }
}
