//! Carrying calls out.

use crate::{Call, CallError, Credential, Promise, Reply, Visitor};
use async_trait::async_trait;

/// Carries calls out, in somebody's name.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Makes a call. A reply with a status of 400 or more is [`CallError::Refused`]; what is not certain
    /// to have been kept from the service is [`CallError::Lost`].
    async fn send(&self, by: &Credential, call: Call) -> Result<Reply, CallError>;

    /// Whether there is a cloud at all.
    fn is_there(&self) -> bool {
        true
    }

    /// Whether somebody who comes like this has to lend something, which has to be given back one day.
    fn borrows(&self, _visitor: &Visitor) -> bool {
        false
    }

    /// Makes it possible to act for somebody when they have left. What they lend for that carries the mark of the
    /// promise.
    async fn deputise(
        &self,
        visitor: &Visitor,
        _promise: &Promise,
    ) -> Result<Credential, CallError> {
        let Visitor { user, project, .. } = visitor.clone();
        Ok(Credential { project, user, ..Credential::default() })
    }

    /// What was lent on a promise, if anything was.
    async fn find_lent(&self, _promise: &Promise) -> Result<Vec<Credential>, CallError> {
        Ok(Vec::new())
    }

    /// Whether one can act in a name now. If that cannot be found out, it is not denied.
    async fn holds(&self, _credential: &Credential) -> bool {
        true
    }

    /// Ends that. That it ended already is as good.
    async fn dismiss(&self, _credential: &Credential) -> Result<(), CallError> {
        Ok(())
    }

    /// Removes the project of the users of a stack that is gone, by its name. That there is none is as good.
    async fn remove_users(&self, _project: &str) -> Result<(), CallError> {
        Ok(())
    }
}

/// No cloud at all: for stacks that need none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCloud;

#[async_trait]
impl Transport for NoCloud {
    fn is_there(&self) -> bool {
        false
    }

    async fn send(&self, _by: &Credential, call: Call) -> Result<Reply, CallError> {
        let service = call.service.catalogue_type();
        Err(CallError::Impossible(format!(
            "There is no cloud to ask for {service}. Next: start Kiln with one (keystone_authtoken in its \
             configuration), or try it with `kiln dev`."
        )))
    }
}
