//! Revoking trusts and application credentials: those that a tree does not need any more, and those of pending
//! delegations whose process died before a stack used them.

use super::{Engine, now};
use crate::ids::StackId;
use crate::machine::Command;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::service::pending_delegation;
use crate::store::StoreError;
use crate::view::read_tree;
use kiln_cloud::{CallError, Credential, Transport};
use std::time::Duration;

/// How many pending delegations are checked in one scan at most.
const MAX_PER_SCAN: u64 = 100;

/// The first pause before a credential is revoked again, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY: Duration = Duration::from_secs(60);

/// Why a pending delegation could not be reaped.
#[derive(Debug, thiserror::Error)]
enum ReapError {
    #[error("the identity service: {0}")]
    Identity(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CallError> for ReapError {
    fn from(error: CallError) -> ReapError {
        ReapError::Identity(error.to_string())
    }
}

/// Revokes a credential, however long the identity service cannot be reached. If the identity service refuses,
/// nothing else can be done: the refusal is logged, and the credential counts as revoked.
pub(super) async fn revoke(transport: &dyn Transport, credential: &Credential) {
    let mut pause = FIRST_RETRY;
    loop {
        match transport.revoke(credential).await {
            Ok(()) => return,
            Err(CallError::Refused(reply)) if reply.status < 500 && reply.status != 429 => {
                let (status, error) = (reply.status, reply.error_text().unwrap_or_default());
                let request_id = reply.request_id();
                tracing::warn!(
                    ?credential,
                    status,
                    error,
                    request_id,
                    "could not delete the trust or application credential of a user: the identity service refuses"
                );
                return;
            }
            Err(CallError::Impossible(error)) => {
                tracing::warn!(
                    ?credential,
                    error,
                    "could not delete the trust or application credential of a user"
                );
                return;
            }
            Err(error) => {
                let retry_millis = pause.as_millis() as u64;
                tracing::warn!(?credential, %error, retry_millis, "could not delete the trust or application credential of a user: retrying");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_RETRY);
    }
}

impl Engine {
    /// Revokes the credentials of abandoned pending delegations, again and again.
    pub(super) async fn reap_delegations(self) {
        loop {
            if let Err(error) = self.reap_due_delegations().await {
                tracing::warn!(%error, "could not read the pending delegations: retrying");
            }
            let pause = self.inner.settings.delegation_grace / 3;
            tokio::time::sleep(pause.max(Duration::from_secs(1))).await;
        }
    }

    /// Revokes the credentials of pending delegations that are older than any request, and that no stack uses.
    async fn reap_due_delegations(&self) -> Result<(), StoreError> {
        let query = ObjectQuery {
            limit: Some(MAX_PER_SCAN),
            ..ObjectQuery::new(ObjectKind::PendingDelegation)
        };
        let pending = self.inner.store.objects(&query).await?;
        let latest = now() - self.inner.settings.delegation_grace;
        for row in pending.iter().filter(|row| row.created <= latest) {
            if let Err(error) = self.reap_delegation(row).await {
                tracing::warn!(user = &*row.subject, delegation = %row.id, %error, "could not resolve a pending delegation: retrying");
            }
        }
        Ok(())
    }

    async fn reap_delegation(&self, row: &ObjectRow) -> Result<(), ReapError> {
        let transport = &self.inner.transport;
        for credential in transport.find_delegations(&pending_delegation(row)?).await? {
            let is_used = match row.uses {
                Some(root) => self.is_used(StackId(root), &credential).await?,
                None => false,
            };
            if !is_used {
                transport.revoke(&credential).await?;
            }
        }
        self.inner.store.drop_object(ObjectKind::PendingDelegation, row.id).await?;
        Ok(())
    }

    /// Whether a stack uses a credential, will use it, or is about to revoke it.
    async fn is_used(&self, root: StackId, credential: &Credential) -> Result<bool, StoreError> {
        let read =
            read_tree(&*self.inner.store, &self.inner.config, &self.inner.workers, root).await?;
        let Some((tree, commands)) = read else { return Ok(false) };
        let is_it = |it: &Credential| it.auth == credential.auth;
        let is_wanted = commands.iter().any(|row| match Command::read(row) {
            Ok(Command::Update { settings, .. }) => {
                settings.credential.is_some_and(|it| is_it(&it))
            }
            _ => false,
        });
        Ok(is_wanted || is_it(&tree.credential) || tree.to_revoke.iter().any(|it| is_it(it)))
    }
}
