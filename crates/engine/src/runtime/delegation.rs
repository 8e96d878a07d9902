//! Promises that nobody kept: a user delegation something, and whoever asked for it died before a stack had it.

use super::{Engine, now};
use crate::ids::StackId;
use crate::machine::Command;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::service::pending_delegation;
use crate::store::StoreError;
use crate::view::read_tree;
use kiln_cloud::Credential;
use std::time::Duration;

/// No more are looked at in one go.
const MAX_PER_SCAN: u64 = 100;

impl Engine {
    /// Looks for pending again and again.
    pub(super) async fn reap_delegations(self) {
        loop {
            self.reap_due_delegations().await;
            let pause = self.inner.settings.delegation_grace / 3;
            tokio::time::sleep(pause.max(Duration::from_secs(1))).await;
        }
    }

    /// Gives back what was delegation on pending that are older than any request, and that no stack has.
    async fn reap_due_delegations(&self) {
        let query = ObjectQuery {
            limit: Some(MAX_PER_SCAN),
            ..ObjectQuery::new(ObjectKind::PendingDelegation)
        };
        let Ok(pending) = self.inner.store.objects(&query).await else { return };
        let latest = now() - self.inner.settings.delegation_grace;
        for row in pending.iter().filter(|row| row.created <= latest) {
            if let Err(error) = self.reap_delegation(row).await {
                tracing::warn!(
                    "what {} may have delegation is looked for later: {error}",
                    row.subject
                );
            }
        }
    }

    async fn reap_delegation(
        &self,
        row: &ObjectRow,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let text = |error: kiln_cloud::CallError| error.to_string();
        let transport = &self.inner.transport;
        for credential in
            transport.find_delegations(&pending_delegation(row)).await.map_err(text)?
        {
            let is_used = match row.uses {
                Some(root) => self.is_used(StackId(root), &credential).await?,
                None => false,
            };
            if !is_used {
                transport.revoke(&credential).await.map_err(text)?;
            }
        }
        self.inner.store.drop_object(ObjectKind::PendingDelegation, row.id).await?;
        Ok(())
    }

    /// Whether a stack acts with something that was delegation, will, or is about to give it back.
    async fn is_used(&self, root: StackId, delegation: &Credential) -> Result<bool, StoreError> {
        let read = read_tree(&*self.inner.store, &self.inner.config, root).await?;
        let Some((tree, commands)) = read else { return Ok(false) };
        let is_it = |it: &Credential| it.auth == delegation.auth;
        let is_wanted = commands.iter().any(|row| match Command::decode(&row.body) {
            Ok(Command::Update { settings, .. }) => {
                settings.credential.is_some_and(|it| is_it(&it))
            }
            _ => false,
        });
        Ok(is_wanted || is_it(&tree.credential) || tree.to_revoke.iter().any(|it| is_it(it)))
    }
}
