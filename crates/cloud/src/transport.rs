//! The interface through which calls are made.

use crate::{Call, CallError, Credential, PendingDelegation, Reply, UserToken};
use async_trait::async_trait;

/// Makes calls to a cloud under a credential.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Makes a call. A reply with a status of 400 or more is [`CallError::Refused`]; a call that may have reached the
    /// service without a reply is [`CallError::Lost`].
    async fn send(&self, credential: &Credential, call: Call) -> Result<Reply, CallError>;

    /// Whether there is a cloud at all.
    fn has_cloud(&self) -> bool {
        true
    }

    /// Whether acting for this user later takes a trust or an application credential, which has to be revoked one day.
    fn needs_delegation(&self, _user: &UserToken) -> bool {
        false
    }

    /// Creates a credential with which the engine can act for a user after the token has expired. A trust or
    /// application credential that is created for it carries the mark of the pending delegation.
    async fn delegate(
        &self,
        user: &UserToken,
        _pending: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        let UserToken { user, project, .. } = user.clone();
        Ok(Credential { project, user, ..Credential::default() })
    }

    /// Finds the trusts and application credentials that carry the mark of a pending delegation.
    async fn find_delegations(
        &self,
        _pending: &PendingDelegation,
    ) -> Result<Vec<Credential>, CallError> {
        Ok(Vec::new())
    }

    /// Whether the identity service accepts a credential now. If it cannot be asked, the answer is yes.
    async fn accepts(&self, _credential: &Credential) -> bool {
        true
    }

    /// Deletes the trust or application credential of a credential. One that is gone already is a success.
    async fn revoke(&self, _credential: &Credential) -> Result<(), CallError> {
        Ok(())
    }

    /// Deletes the project, by its name, in which a deleted stack had its users. A project that is gone already is a
    /// success.
    async fn delete_user_project(&self, _project: &str) -> Result<(), CallError> {
        Ok(())
    }
}

/// No cloud at all: for stacks that make no calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCloud;

#[async_trait]
impl Transport for NoCloud {
    fn has_cloud(&self) -> bool {
        false
    }

    async fn send(&self, _credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let service = call.request.service.catalogue_type();
        Err(CallError::Impossible(format!(
            "There is no cloud to ask for {service}. Next: start Kiln with one (keystone_authtoken in its \
             configuration), or try it with `kiln dev`."
        )))
    }
}
