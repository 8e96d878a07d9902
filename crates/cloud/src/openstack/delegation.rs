//! Delegations: the trusts and application credentials by which stacks act for their users.
//!
//! A trust in the engine's own account is preferred; where none can be made, an application credential is created.
//! Both carry a mark that is known before they are created. A trust has no name, so its mark is its expiry, some
//! thousands of years from now.

use super::OpenStack;
use super::login::not_sent;
use crate::http::exchange;
use crate::{Auth, CallError, CallPath, Credential, PendingDelegation, Reply, Service, UserToken};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The first second of the year 2200, from which trusts expire.
const FIRST_EXPIRY_SECS: i64 = 7_258_118_400;

/// How many bits of a mark are the seconds after that: until about the year 6550.
const EXPIRY_BITS: u32 = 37;

impl OpenStack {
    /// Creates a credential for acting in the name of a user.
    pub(super) async fn create_delegation(
        &self,
        user: &UserToken,
        pending: &PendingDelegation,
    ) -> Result<Credential, CallError> {
        let auth = match &user.password {
            Some(password) => Auth::Password(password.clone()),
            None => match self.create_trust(user, pending).await {
                Err(error) if allows_no_trusts(&error) => {
                    // If neither works, the reason why there is no trust helps more.
                    let created = self.create_application_credential(user, pending).await;
                    created.map_err(|_| error)?
                }
                trust => trust?,
            },
        };
        let UserToken { user, project, .. } = user.clone();
        Ok(Credential { project, user, auth, is_inherited: false })
    }

    async fn create_trust(
        &self,
        user: &UserToken,
        pending: &PendingDelegation,
    ) -> Result<Auth, CallError> {
        let trust = json!({ "trust": {
            "trustor_user_id": *user.user,
            "trustee_user_id": *self.trustee_id().await?,
            "project_id": *user.project,
            "impersonation": true,
            "roles": self.delegated_roles(user),
            "expires_at": expiry(pending),
            "allow_redelegation": self.settings.allows_redelegation,
        } });
        let request = self.client(Service::Identity).post(self.identity_url("/OS-TRUST/trusts")?);
        let request = request.header("X-Auth-Token", user.token.expose()).json(&trust);
        let reply = exchange(request).await?;
        match reply.text("/trust/id") {
            Some(id) => Ok(Auth::Trust(id.into())),
            None => Err(CallError::Lost("the identity service named no trust".into())),
        }
    }

    async fn create_application_credential(
        &self,
        user: &UserToken,
        pending: &PendingDelegation,
    ) -> Result<Auth, CallError> {
        let credential = json!({ "application_credential": {
            "name": name(pending),
            "secret": pending.secret.expose(),
            "description": "Lets a stack act for its user; goes with the stack.",
            "roles": self.delegated_roles(user),
            // An application credential has to be able to delete itself.
            "unrestricted": true,
        } });
        let path = CallPath::from("/users").id(&user.user).then("/application_credentials");
        let request = self.client(Service::Identity).post(self.identity_url(path)?);
        let request = request.header("X-Auth-Token", user.token.expose()).json(&credential);
        let reply = exchange(request).await?;
        match reply.text("/application_credential/id") {
            Some(id) => {
                Ok(Auth::ApplicationCredential { id: id.into(), secret: pending.secret.clone() })
            }
            None => Err(CallError::Lost("the identity service named no credential".into())),
        }
    }

    fn delegated_roles(&self, user: &UserToken) -> Vec<Value> {
        if self.settings.roles.is_empty() {
            user.roles.iter().map(|name| json!({ "name": **name })).collect()
        } else {
            self.settings.roles.iter().map(|name| json!({ "name": name })).collect()
        }
    }

    async fn trustee_id(&self) -> Result<&str, CallError> {
        let identity = self.trustee()?;
        let log_in = || async { Ok(self.log_in_with(json!({ "identity": identity })).await?.user) };
        self.trustee.get_or_try_init(log_in).await.map(|id| &**id)
    }

    /// The credentials that carry the mark of a pending delegation.
    pub(super) async fn delegations_for(
        &self,
        pending: &PendingDelegation,
    ) -> Result<Vec<Credential>, CallError> {
        let trust = self.find_trust(pending).await?;
        let application = self.find_application_credential(pending).await?;
        let credential = |auth| Credential {
            project: pending.project.clone(),
            user: pending.user.clone(),
            auth,
            is_inherited: false,
        };
        Ok(trust.into_iter().chain(application).map(credential).collect())
    }

    async fn find_trust(&self, pending: &PendingDelegation) -> Result<Option<Auth>, CallError> {
        let Ok(identity) = self.trustee() else { return Ok(None) };
        let token = self.log_in_with(json!({ "identity": identity })).await?;
        let request = self.client(Service::Identity).get(self.identity_url("/OS-TRUST/trusts")?);
        let request = request.query(&[("trustee_user_id", &*token.user)]);
        let request = request.header("X-Auth-Token", token.secret.expose());
        let reply = exchange(request).await.map_err(not_sent)?;
        let trusts = reply.body["trusts"].as_array().into_iter().flatten();
        let mut marked = trusts.filter(|trust| {
            let expiry = trust["expires_at"].as_str().and_then(|it| it.parse::<Timestamp>().ok());
            trust["trustor_user_id"] == *pending.user
                && trust["project_id"] == *pending.project
                && expiry.is_some_and(|expiry| expiry.as_second() == expiry_second(pending))
        });
        let id = marked.find_map(|trust| trust["id"].as_str());
        Ok(id.map(|id| Auth::Trust(id.into())))
    }

    async fn find_application_credential(
        &self,
        pending: &PendingDelegation,
    ) -> Result<Option<Auth>, CallError> {
        let auth = json!({ "auth": { "identity": {
            "methods": ["application_credential"],
            "application_credential": {
                "name": name(pending),
                "user": { "id": *pending.user },
                "secret": pending.secret.expose(),
            },
        } } });
        let request =
            self.client(Service::Identity).post(self.identity_url("/auth/tokens")?).json(&auth);
        match exchange(request).await.map_err(not_sent) {
            Ok(reply) => {
                let id = reply.text("/token/application_credential/id");
                let secret = pending.secret.clone();
                Ok(id.map(|id| Auth::ApplicationCredential { id: id.into(), secret }))
            }
            Err(CallError::Refused(Reply { status: 400..500, .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes the trust or application credential of a credential.
    pub(super) async fn delete_delegation(&self, credential: &Credential) -> Result<(), CallError> {
        let path = match &credential.auth {
            Auth::Trust(id) => CallPath::from("/OS-TRUST/trusts").id(id),
            Auth::ApplicationCredential { id, .. } => {
                let user = CallPath::from("/users").id(&credential.user);
                user.then("/application_credentials").id(id)
            }
            _ => return Ok(()),
        };
        let token = self.log_in(credential).await?;
        let request = self.client(Service::Identity).delete(self.identity_url(path)?);
        exchange(request.header("X-Auth-Token", token.secret.expose())).await.map(drop)
    }
}

/// Whether an error means that trusts cannot be made at all, or not by a user with this kind of token.
fn allows_no_trusts(error: &CallError) -> bool {
    match error {
        CallError::Impossible(_) => true,
        CallError::Refused(reply) => matches!(reply.status, 403 | 404 | 405 | 410 | 501),
        _ => false,
    }
}

fn expiry_second(pending: &PendingDelegation) -> i64 {
    let bits = pending.mark & ((1 << EXPIRY_BITS) - 1);
    FIRST_EXPIRY_SECS + i64::try_from(bits).unwrap_or_default()
}

/// The expiry of the trust that carries the mark of a pending delegation.
fn expiry(pending: &PendingDelegation) -> String {
    let expiry = Timestamp::from_second(expiry_second(pending)).unwrap_or(Timestamp::MAX);
    expiry.strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()
}

/// The name of the application credential that carries the mark of a pending delegation.
fn name(pending: &PendingDelegation) -> String {
    format!("kiln-{:032x}", pending.mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_a_moment_far_away() {
        for mark in [0, u128::MAX, 0x0123_4567_89ab_cdef] {
            let (user, project, secret) = Default::default();
            let pending = PendingDelegation { mark, secret, user, project };
            let expiry = expiry(&pending);
            let read: Timestamp = expiry.parse().expect("a moment");
            assert_eq!(read.as_second(), expiry_second(&pending), "{expiry}");
            assert!(("2200"..="6600").contains(&&expiry[..4]), "{expiry}");
        }
    }
}
