//! The delegations that a tree acts with, and their revocation.
//!
//! A tree with delegations to revoke has work to do: if its engine dies before they are revoked, another engine adopts the tree
//! and revokes them. No delegation is revoked while the tree has work in progress, because that may still use the former
//! user's delegation.

use crate::state::{Action, Status};
use crate::tree::Tree;
use kiln_cloud::Credential;
use std::sync::Arc;

impl Tree {
    /// Makes the tree's calls with this credential from now on; the former delegation is revoked.
    pub(crate) fn use_credential(&mut self, credential: Arc<Credential>) {
        if *credential != *self.credential {
            let former = std::mem::replace(&mut self.credential, credential);
            self.revoke_later(former);
        }
    }

    /// Records that a delegation is to be revoked, because the tree does not need it.
    pub(crate) fn revoke_later(&mut self, credential: Arc<Credential>) {
        if credential.needs_revoking() {
            self.to_revoke.push(credential);
            self.changes.stacks.insert(self.root_key());
        }
    }

    /// Returns the delegations that have to be revoked now.
    pub(crate) fn to_revoke(&self) -> Vec<Arc<Credential>> {
        if self.has_work() {
            return Vec::new();
        }
        let own = self.is_gone() && self.credential.needs_revoking();
        self.to_revoke.iter().chain(own.then_some(&self.credential)).cloned().collect()
    }

    /// Whether a delegation has to be revoked, now or when the tree has no more work in progress.
    pub(crate) fn has_revocations(&self) -> bool {
        !self.to_revoke.is_empty() || self.is_gone() && self.credential.needs_revoking()
    }

    /// Records that a delegation was revoked.
    pub(crate) fn revoked(&mut self, credential: &Credential) {
        self.to_revoke.retain(|it| **it != *credential);
        if *self.credential == *credential {
            self.credential = Arc::default();
        }
        self.changes.stacks.insert(self.root_key());
    }

    fn is_gone(&self) -> bool {
        self.root_state().0.is(Action::Delete, Status::Complete)
    }
}
