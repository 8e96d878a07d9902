//! Promises that nobody kept: a user lent something, and whoever asked for it died before a stack had it.

use super::{Engine, now};
use crate::ids::StackId;
use crate::machine::Command;
use crate::objects::{ObjectKind, ObjectQuery, ObjectRow};
use crate::service::promise_of;
use crate::store::StoreError;
use crate::view::read_tree;
use kiln_cloud::Credential;
use std::time::Duration;

/// No more are looked at in one go.
const AT_ONCE: u64 = 100;

impl Engine {
    /// Looks for promises again and again.
    pub(super) async fn keep_promises(self) {
        loop {
            self.settle_promises().await;
            let pause = self.inner.settings.promises / 3;
            tokio::time::sleep(pause.max(Duration::from_secs(1))).await;
        }
    }

    /// Gives back what was lent on promises that are older than any request, and that no stack has.
    async fn settle_promises(&self) {
        let query = ObjectQuery { limit: Some(AT_ONCE), ..ObjectQuery::of(ObjectKind::Promise) };
        let Ok(promises) = self.inner.store.objects(&query).await else { return };
        let latest = now() - self.inner.settings.promises;
        for row in promises.iter().filter(|row| row.created <= latest) {
            if let Err(error) = self.settle_promise(row).await {
                tracing::warn!("what {} may have lent is looked for later: {error}", row.subject);
            }
        }
    }

    async fn settle_promise(
        &self,
        row: &ObjectRow,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let told = |error: kiln_cloud::CallError| error.to_string();
        let transport = &self.inner.transport;
        for credential in transport.find_delegations(&promise_of(row)).await.map_err(told)? {
            let is_used = match row.uses {
                Some(root) => self.uses(StackId(root), &credential).await?,
                None => false,
            };
            if !is_used {
                transport.revoke(&credential).await.map_err(told)?;
            }
        }
        self.inner.store.drop_object(ObjectKind::Promise, row.id).await?;
        Ok(())
    }

    /// Whether a stack acts with something that was lent, will, or is about to give it back.
    async fn uses(&self, root: StackId, lent: &Credential) -> Result<bool, StoreError> {
        let read = read_tree(&*self.inner.store, &self.inner.config, root).await?;
        let Some((tree, commands)) = read else { return Ok(false) };
        let is_it = |it: &Credential| it.auth == lent.auth;
        let is_wanted = commands.iter().any(|row| match Command::decode(&row.body) {
            Ok(Command::Update { settings, .. }) => {
                settings.credential.is_some_and(|it| is_it(&it))
            }
            _ => false,
        });
        Ok(is_wanted || is_it(&tree.credential) || tree.to_revoke.iter().any(|it| is_it(it)))
    }
}
