//! The credential of a tree's calls.

use super::is_false;
use kiln_cloud::{Auth, Credential};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The credential of a tree's calls.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialBody {
    pub(crate) project: Arc<str>,
    pub(crate) user: Arc<str>,
    pub(crate) auth: AuthBody,
    /// Whether it belongs to another stack, which revokes it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) inherited: bool,
}

/// The means by which a tree authenticates with Keystone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum AuthBody {
    /// Nothing.
    None,
    /// The id of a trust.
    Trust(Arc<str>),
    /// An application credential.
    ApplicationCredential {
        /// Its id.
        id: Arc<str>,
        /// Its secret.
        secret: Arc<str>,
    },
    /// The user's password.
    Password(Arc<str>),
}

impl fmt::Debug for CredentialBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let auth = match &self.auth {
            AuthBody::None => "nothing",
            AuthBody::Trust(_) => "a trust",
            AuthBody::ApplicationCredential { .. } => "an application credential",
            AuthBody::Password(_) => "a password",
        };
        let whose = if self.inherited { " of another stack" } else { "" };
        write!(f, "user {} in project {} with {auth}{whose}", self.user, self.project)
    }
}

impl From<&Credential> for CredentialBody {
    /// A token expires soon and is not stored.
    fn from(credential: &Credential) -> CredentialBody {
        let auth = match &credential.auth {
            Auth::None | Auth::Token(_) | Auth::StackDomain => AuthBody::None,
            Auth::Trust(id) => AuthBody::Trust(id.clone()),
            Auth::ApplicationCredential { id, secret } => {
                AuthBody::ApplicationCredential { id: id.clone(), secret: secret.expose().into() }
            }
            Auth::Password(password) => AuthBody::Password(password.expose().into()),
        };
        CredentialBody {
            project: credential.project.clone(),
            user: credential.user.clone(),
            auth,
            inherited: credential.is_inherited,
        }
    }
}

impl From<CredentialBody> for Credential {
    fn from(body: CredentialBody) -> Credential {
        let auth = match body.auth {
            AuthBody::None => Auth::None,
            AuthBody::Trust(id) => Auth::Trust(id),
            AuthBody::ApplicationCredential { id, secret } => {
                Auth::ApplicationCredential { id, secret: secret.into() }
            }
            AuthBody::Password(password) => Auth::Password(password.into()),
        };
        Credential { project: body.project, user: body.user, auth, is_inherited: body.inherited }
    }
}
