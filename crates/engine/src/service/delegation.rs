//! Having users lend their rights, so that nothing lent is forgotten.
//!
//! What is about to be lent is written down first, with the mark it will carry, and struck out when the stack that has it
//! is written down. Whatever dies in between, [`Engine::settle_promises`](crate::runtime::Engine) finds it by its mark
//! and gives it back.

use super::{RequestError, Requester, Service};
use crate::codec;
use crate::ids::{Ids, StackId};
use crate::objects::{ObjectKind, ObjectRow};
use crate::runtime::{SystemIds, now};
use kiln_cloud::{CallError, Credential, PendingDelegation};
use kiln_template::Value;
use std::sync::Arc;
use uuid::Uuid;

/// What a user lent for a stack that is not written down yet.
pub(super) struct Delegation {
    pub(super) credential: Arc<Credential>,
    promise: Option<Uuid>,
}

impl Service {
    /// Sees to it that the engine can act for whoever asks, also when they have left.
    pub(super) async fn delegate(
        &self,
        requester: &Requester,
        root: StackId,
    ) -> Result<Delegation, RequestError> {
        let mut ids = SystemIds::default();
        let id: Uuid = ids.next();
        let secret: [Uuid; 2] = [ids.next(), ids.next()];
        let promise = PendingDelegation {
            mark: id.as_u128(),
            secret: secret.map(|it| it.simple().to_string()).concat().into(),
            user: requester.visitor.user.clone(),
            project: requester.visitor.project.clone(),
        };
        let is_noted = self.transport.needs_delegation(&requester.visitor);
        if is_noted {
            self.store.put_object(row(id, &promise, root)).await?;
        }
        match self.transport.delegate(&requester.visitor, &promise).await {
            Ok(credential) => {
                let (credential, promise) = (Arc::new(credential), is_noted.then_some(id));
                Ok(Delegation { credential, promise })
            }
            Err(error) => {
                // If it may have been lent all the same, that is found out later.
                let is_certain = match &error {
                    CallError::Refused(reply) => reply.status < 500,
                    CallError::NotSent(_) | CallError::Impossible(_) => true,
                    CallError::Lost(_) => false,
                };
                if is_noted && is_certain {
                    self.store.drop_object(ObjectKind::PendingDelegation, id).await?;
                }
                Err(refusal(error))
            }
        }
    }

    /// What was lent is written down with its stack, or goes back because there is none.
    pub(super) async fn commit_delegation<T>(
        &self,
        loan: Option<Delegation>,
        written: Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        let Some(Delegation { credential, promise: Some(id) }) = loan else { return written };
        let is_settled = match &written {
            Ok(_) => true,
            Err(_) => self.transport.revoke(&credential).await.is_ok(),
        };
        if is_settled {
            // If that fails, somebody looks later and finds nothing to do.
            _ = self.store.drop_object(ObjectKind::PendingDelegation, id).await;
        }
        written
    }
}

fn refusal(error: CallError) -> RequestError {
    match error {
        CallError::Refused(reply) => {
            let said = reply.error_text().unwrap_or_else(|| format!("HTTP {}", reply.status));
            RequestError::new("AuthorizationFailure", format!("Authorization failed: {said}"))
        }
        CallError::Impossible(why) => RequestError::new("AuthorizationFailure", why),
        error => RequestError::new("ServiceUnavailable", format!("The identity service: {error}")),
    }
}

fn row(id: Uuid, promise: &PendingDelegation, root: StackId) -> ObjectRow {
    ObjectRow {
        id,
        kind: ObjectKind::PendingDelegation,
        project: promise.project.clone(),
        subject: promise.user.clone(),
        uses: Some(root.0),
        created: now(),
        updated: None,
        body: codec::encode(&Value::Text(promise.secret.expose().into())),
    }
}

/// The promise that was written down.
pub(crate) fn pending_delegation(row: &ObjectRow) -> PendingDelegation {
    let secret = match codec::decode(&row.body) {
        Ok(Value::Text(secret)) => secret,
        _ => "".into(),
    };
    PendingDelegation {
        mark: row.id.as_u128(),
        secret: secret.into(),
        user: row.subject.clone(),
        project: row.project.clone(),
    }
}
