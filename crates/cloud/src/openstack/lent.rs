//! What users lend so that stacks can act for them: a trust in whoever runs the engine or, where none can be made, an
//! application credential.
//!
//! Both carry a mark that is known before they are asked for. A trust has no name: its mark is when it ends, some
//! thousands of years from now.

use super::OpenStack;
use super::login::lost;
use crate::http::exchange;
use crate::{CallError, Credential, Promise, Proof, Reply, Visitor};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The beginning of the year 2200, and how many bits of seconds may come after it: until about the year 6550.
const FIRST_END: i64 = 7_258_118_400;
const END_BITS: u32 = 37;

impl OpenStack {
    /// Has a visitor lend their rights to whoever runs the engine.
    pub(super) async fn delegated(
        &self,
        visitor: &Visitor,
        promise: &Promise,
    ) -> Result<Credential, CallError> {
        let Visitor { user, project, .. } = visitor.clone();
        let proof = match &visitor.password {
            Some(password) => Proof::Password(password.clone()),
            None => match self.trusted(visitor, promise).await {
                Err(error) if is_no_place_for_trusts(&error) => {
                    // If neither can be had, why there is no trust says more.
                    self.applied(visitor, promise).await.map_err(|_| error)?
                }
                trusted => trusted?,
            },
        };
        Ok(Credential { project, user, proof, is_borrowed: false })
    }

    async fn trusted(&self, visitor: &Visitor, promise: &Promise) -> Result<Proof, CallError> {
        let trust = json!({ "trust": {
            "trustor_user_id": *visitor.user,
            "trustee_user_id": *self.trustee_id().await?,
            "project_id": *visitor.project,
            "impersonation": true,
            "roles": self.lent_roles(visitor),
            "expires_at": end(promise),
        } });
        let request = self.client.post(self.identity("/OS-TRUST/trusts"));
        let request = request.header("X-Auth-Token", &*visitor.token).json(&trust);
        let reply = exchange(request).await?;
        match reply.text("/trust/id") {
            Some(id) => Ok(Proof::Trust(id.into())),
            None => Err(CallError::Lost("the identity service named no trust".into())),
        }
    }

    /// Has a visitor make an application credential for the engine.
    async fn applied(&self, visitor: &Visitor, promise: &Promise) -> Result<Proof, CallError> {
        let credential = json!({ "application_credential": {
            "name": name(promise),
            "secret": *promise.secret.0,
            "description": "Lets a stack act for its user; goes with the stack.",
            "roles": self.lent_roles(visitor),
            // It has to be able to remove itself.
            "unrestricted": true,
        } });
        let path = format!("/users/{}/application_credentials", visitor.user);
        let request = self.client.post(self.identity(&path));
        let request = request.header("X-Auth-Token", &*visitor.token).json(&credential);
        let reply = exchange(request).await?;
        match reply.text("/application_credential/id") {
            Some(id) => Ok(Proof::Application { id: id.into(), secret: promise.secret.0.clone() }),
            None => Err(CallError::Lost("the identity service named no credential".into())),
        }
    }

    fn lent_roles(&self, visitor: &Visitor) -> Vec<Value> {
        match self.settings.roles.is_empty() {
            true => visitor.roles.iter().map(|name| json!({ "name": **name })).collect(),
            false => self.settings.roles.iter().map(|name| json!({ "name": name })).collect(),
        }
    }

    async fn trustee_id(&self) -> Result<&str, CallError> {
        let identity = self.trustee()?;
        let log_in = || async { Ok(self.log_in_with(json!({ "identity": identity })).await?.user) };
        self.trustee.get_or_try_init(log_in).await.map(|id| &**id)
    }

    /// What was lent on a promise.
    pub(super) async fn lent_on(&self, promise: &Promise) -> Result<Vec<Credential>, CallError> {
        let trust = self.trust_of(promise).await?;
        let application = self.application_of(promise).await?;
        let (project, user) = (&promise.project, &promise.user);
        let credential = |proof| Credential {
            project: project.clone(),
            user: user.clone(),
            proof,
            is_borrowed: false,
        };
        Ok(trust.into_iter().chain(application).map(credential).collect())
    }

    async fn trust_of(&self, promise: &Promise) -> Result<Option<Proof>, CallError> {
        let Ok(identity) = self.trustee() else { return Ok(None) };
        let token = self.log_in_with(json!({ "identity": identity })).await?;
        let path = format!("/OS-TRUST/trusts?trustee_user_id={}", token.user);
        let request = self.client.get(self.identity(&path));
        let reply = exchange(request.header("X-Auth-Token", &token.text)).await.map_err(lost)?;
        let trusts = reply.body["trusts"].as_array().into_iter().flatten();
        let mut ours = trusts.filter(|trust| {
            let ends = trust["expires_at"].as_str().and_then(|it| it.parse::<Timestamp>().ok());
            trust["trustor_user_id"] == *promise.user
                && trust["project_id"] == *promise.project
                && ends.is_some_and(|ends| ends.as_second() == end_second(promise))
        });
        let id = ours.find_map(|trust| trust["id"].as_str());
        Ok(id.map(|id| Proof::Trust(id.into())))
    }

    async fn application_of(&self, promise: &Promise) -> Result<Option<Proof>, CallError> {
        let auth = json!({ "auth": { "identity": {
            "methods": ["application_credential"],
            "application_credential": {
                "name": name(promise),
                "user": { "id": *promise.user },
                "secret": *promise.secret.0,
            },
        } } });
        let request = self.client.post(self.identity("/auth/tokens")).json(&auth);
        match exchange(request).await.map_err(lost) {
            Ok(reply) => {
                let id = reply.text("/token/application_credential/id");
                let secret = promise.secret.0.clone();
                Ok(id.map(|id| Proof::Application { id: id.into(), secret }))
            }
            Err(CallError::Refused(Reply { status: 400..500, .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives back what a user lent.
    pub(super) async fn give_back(&self, credential: &Credential) -> Result<(), CallError> {
        let path = match &credential.proof {
            Proof::Trust(id) => format!("/OS-TRUST/trusts/{id}"),
            Proof::Application { id, .. } => {
                format!("/users/{}/application_credentials/{id}", credential.user)
            }
            _ => return Ok(()),
        };
        let token = self.log_in(credential).await?;
        let request = self.client.delete(self.identity(&path));
        exchange(request.header("X-Auth-Token", &token.text)).await.map(drop)
    }
}

/// Whether trusts cannot be made at all, or not by whoever comes like this.
fn is_no_place_for_trusts(error: &CallError) -> bool {
    match error {
        CallError::Impossible(_) => true,
        CallError::Refused(reply) => matches!(reply.status, 403 | 404 | 405 | 410 | 501),
        _ => false,
    }
}

fn end_second(promise: &Promise) -> i64 {
    let bits = promise.mark & ((1 << END_BITS) - 1);
    FIRST_END + i64::try_from(bits).unwrap_or_default()
}

/// When a trust ends that carries the mark of a promise.
fn end(promise: &Promise) -> String {
    let end = Timestamp::from_second(end_second(promise)).unwrap_or(Timestamp::MAX);
    end.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()
}

/// The name of an application credential that carries the mark of a promise.
fn name(promise: &Promise) -> String {
    format!("kiln-{:032x}", promise.mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_a_moment_far_away() {
        for mark in [0, u128::MAX, 0x0123_4567_89ab_cdef] {
            let (user, project, secret) = Default::default();
            let promise = Promise { mark, secret, user, project };
            let end = end(&promise);
            let read: Timestamp = end.parse().expect("a moment");
            assert_eq!(read.as_second(), end_second(&promise), "{end}");
            assert!(("2200"..="6600").contains(&&end[..4]), "{end}");
        }
    }
}
