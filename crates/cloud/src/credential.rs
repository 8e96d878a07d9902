//! Credentials: the identity under which calls are made.

use crate::Secret;
use std::fmt;
use std::sync::Arc;

/// The identity under which calls are made. It can be stored and used for as long as the stack needs it.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Credential {
    /// The id of the project.
    pub project: Arc<str>,
    /// The id of the user for whom the calls are made.
    pub user: Arc<str>,
    /// How the identity service is convinced of it.
    pub auth: Auth,
    /// Whether a trust or application credential belongs to another holder, such as the parent stack: only that
    /// holder revokes it.
    pub is_inherited: bool,
}

/// How the holder of a credential authenticates with the identity service.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub enum Auth {
    /// Not at all: for clouds without authentication, and for stacks that make no calls.
    #[default]
    None,
    /// By the id of a trust of the user in the engine's own account.
    Trust(Arc<str>),
    /// By an application credential of the user.
    ApplicationCredential {
        /// The id of the application credential.
        id: Arc<str>,
        /// The secret of the application credential.
        secret: Secret,
    },
    /// By the user's password.
    Password(Secret),
    /// By a token of the user. It expires soon and is not stored.
    Token(Secret),
    /// As the administrator of the domain in which stacks have their users.
    StackDomain,
}

/// A trust or application credential that is about to be created. It is written down first, so that the object can be
/// found by its mark if the reply is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDelegation {
    /// The mark that the object will carry, unique to it.
    pub mark: u128,
    /// The secret of an application credential, if one has to be created.
    pub secret: Secret,
    /// The id of the user.
    pub user: Arc<str>,
    /// The id of the project.
    pub project: Arc<str>,
}

/// The token that a user sent with a request, and what the identity service said of it.
#[derive(Clone, Default)]
pub struct UserToken {
    /// The token itself; empty where requests need none.
    pub token: Secret,
    /// The id of the user.
    pub user: Arc<str>,
    /// The id of the project.
    pub project: Arc<str>,
    /// The names of the roles.
    pub roles: Vec<Arc<str>>,
    /// The user's password, if the request had one.
    pub password: Option<Secret>,
    /// The credential of the stack that makes the request, if a stack does: it is used instead of the token.
    pub delegated: Option<Arc<Credential>>,
}

impl UserToken {
    /// A credential for calls while the token is valid.
    pub fn credential(&self) -> Credential {
        if let Some(delegated) = &self.delegated {
            return Credential { is_inherited: true, ..(**delegated).clone() };
        }
        let auth = if self.token.is_empty() { Auth::None } else { Auth::Token(self.token.clone()) };
        let (project, user) = (self.project.clone(), self.user.clone());
        Credential { project, user, auth, is_inherited: false }
    }
}

impl Credential {
    /// A credential for calls as the administrator of the domain in which stacks have their users.
    pub fn stack_domain() -> Credential {
        Credential { auth: Auth::StackDomain, ..Credential::default() }
    }

    /// A credential for calls as a user with a password, in a project.
    pub fn with_password(user: &str, password: &str, project: &str) -> Credential {
        Credential {
            project: project.into(),
            user: user.into(),
            auth: Auth::Password(password.into()),
            is_inherited: false,
        }
    }

    /// Whether there is a trust or an application credential that its holder has to revoke one day.
    pub fn needs_revoking(&self) -> bool {
        let is_delegated = matches!(self.auth, Auth::Trust(_) | Auth::ApplicationCredential { .. });
        is_delegated && !self.is_inherited
    }
}

/// Names the user and the project, without the secret.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {} in project {}", self.user, self.project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proves_it_is_never_shown() {
        let secret = Auth::ApplicationCredential { id: "i".into(), secret: "hunter2".into() };
        for auth in [Auth::None, Auth::Trust("t".into()), secret, Auth::Password("p".into())] {
            let (project, user) = ("a".into(), "b".into());
            let credential = Credential { project, user, auth, is_inherited: true };
            assert_eq!(format!("{credential:?}"), "user b in project a");
        }
    }
}
