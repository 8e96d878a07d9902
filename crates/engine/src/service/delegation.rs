//! Delegating the rights of a user to a stack, so that no trust or application credential is forgotten.
//!
//! A pending delegation is stored first, with the mark that the trust or application credential will carry, and
//! deleted when the stack that uses it is stored. If a process dies in between, the engine finds the trust by its mark
//! and revokes it (`runtime/delegation.rs`).

use super::{RequestError, Requester, Service};
use crate::error_type::ErrorType;
use crate::ids::{Ids, StackId};
use crate::objects::{ObjectKind, ObjectRow};
use crate::record::Record;
use crate::record::v1::PendingDelegationBody;
use crate::runtime::{SystemIds, now};
use crate::store::StoreError;
use kiln_cloud::{CallError, Credential, PendingDelegation};
use std::sync::Arc;
use uuid::Uuid;

/// The credential of a stack that is not stored yet.
pub(super) struct Delegation {
    pub(super) credential: Arc<Credential>,
    /// The pending delegation that is stored for it, if it needs one.
    pending: Option<Uuid>,
}

impl Service {
    /// Creates a credential with which the engine can act for the requester later.
    pub(super) async fn delegate(
        &self,
        requester: &Requester,
        root: StackId,
    ) -> Result<Delegation, RequestError> {
        let mut ids = SystemIds::default();
        let id: Uuid = ids.next();
        let secret: [Uuid; 2] = [ids.next(), ids.next()];
        let user = &requester.user_token;
        let pending = PendingDelegation {
            mark: id.as_u128(),
            secret: secret.map(|it| it.simple().to_string()).concat().into(),
            user: user.user.clone(),
            project: user.project.clone(),
        };
        let is_stored = self.transport.needs_delegation(user);
        if is_stored {
            self.store.put_object(row(id, &pending, root)).await?;
        }
        match self.transport.delegate(user, &pending).await {
            Ok(credential) => {
                let (credential, pending) = (Arc::new(credential), is_stored.then_some(id));
                Ok(Delegation { credential, pending })
            }
            Err(error) => {
                // If the trust may exist all the same, the engine looks for it later.
                let is_certain = match &error {
                    CallError::Refused(reply) => reply.status < 500,
                    CallError::NotSent(_)
                    | CallError::Impossible(_)
                    | CallError::Down(_)
                    | CallError::Fenced => true,
                    CallError::Lost(_) => false,
                };
                if is_stored && is_certain {
                    self.store.drop_object(ObjectKind::PendingDelegation, id).await?;
                }
                Err(request_error(error))
            }
        }
    }

    /// Ends a delegation: its stack is stored, or the credential is revoked because there is no stack.
    pub(super) async fn commit_delegation<T>(
        &self,
        delegation: Option<Delegation>,
        written: Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        let Some(Delegation { credential, pending: Some(id) }) = delegation else { return written };
        if written.is_err()
            && let Err(error) = self.transport.revoke(&credential).await
        {
            tracing::warn!(%error, ?credential, "could not revoke the credential of a stack that was not created: retrying later");
            return written;
        }
        if let Err(error) = self.store.drop_object(ObjectKind::PendingDelegation, id).await {
            // The engine finds the record later, and nothing to do for it.
            tracing::warn!(%error, delegation = %id, "could not delete a pending delegation");
        }
        written
    }
}

fn request_error(error: CallError) -> RequestError {
    match error {
        CallError::Refused(reply) if reply.status < 500 => {
            let text = reply.error_text().unwrap_or_else(|| format!("HTTP {}", reply.status));
            RequestError::new(
                ErrorType::AuthorizationFailure,
                format!("Authorization failed: {text}"),
            )
        }
        CallError::Impossible(why) => RequestError::new(ErrorType::AuthorizationFailure, why),
        error => {
            tracing::warn!(%error, "the identity service cannot be reached");
            let message = format!("The identity service cannot be reached: {error}");
            RequestError::new(ErrorType::HttpServiceUnavailable, message)
        }
    }
}

fn row(id: Uuid, pending: &PendingDelegation, root: StackId) -> ObjectRow {
    ObjectRow {
        id,
        kind: ObjectKind::PendingDelegation,
        project: pending.project.clone(),
        subject: pending.user.clone(),
        uses: Some(root.0),
        created: now(),
        updated: None,
        body: PendingDelegationBody { secret: pending.secret.expose().into() }.encode(),
    }
}

/// The pending delegation of a row.
pub(crate) fn pending_delegation(row: &ObjectRow) -> Result<PendingDelegation, StoreError> {
    let PendingDelegationBody { secret } = PendingDelegationBody::read(&row.body, row.id)?;
    Ok(PendingDelegation {
        mark: row.id.as_u128(),
        secret: secret.into(),
        user: row.subject.clone(),
        project: row.project.clone(),
    })
}
