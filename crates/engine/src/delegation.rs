//! What users lent to a tree so that it can act in their names, and giving it back.
//!
//! A tree that owes something has work to do: whatever dies before it was given back, somebody takes the tree up and
//! gives it back then. Nothing is given back while something is under way, which may be done in the former user's
//! name.

use crate::state::{Action, Status};
use crate::tree::Tree;
use kiln_cloud::Credential;
use std::sync::Arc;

impl Tree {
    /// From now on the tree's calls are made in this name; what was lent before goes back.
    pub(crate) fn use_credential(&mut self, credential: Arc<Credential>) {
        if *credential != *self.credential {
            let former = std::mem::replace(&mut self.credential, credential);
            self.revoke_later(former);
        }
    }

    /// Something that was lent is not needed, or not any more.
    pub(crate) fn revoke_later(&mut self, credential: Arc<Credential>) {
        if credential.needs_revoking() {
            self.to_revoke.push(credential);
            self.changes.stacks.insert(self.root_key());
        }
    }

    /// What has to be given back now.
    pub(crate) fn to_revoke(&self) -> Vec<Arc<Credential>> {
        if self.has_work() {
            return Vec::new();
        }
        let own = self.is_gone() && self.credential.needs_revoking();
        self.to_revoke.iter().chain(own.then_some(&self.credential)).cloned().collect()
    }

    /// Whether something has to be given back, now or when nothing is under way any more.
    pub(crate) fn has_revocations(&self) -> bool {
        !self.to_revoke.is_empty() || self.is_gone() && self.credential.needs_revoking()
    }

    /// Something was given back.
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
