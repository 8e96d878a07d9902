//! In whose name calls are made.

use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// In whose name calls are made. It can be kept for as long as it is needed.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Credential {
    /// The id of the project.
    pub project: Arc<str>,
    /// The id of the user on whose behalf it is.
    pub user: Arc<str>,
    /// What is shown to the identity service.
    pub proof: Proof,
    /// Whether it is somebody else's: whoever has it does not give back what was lent.
    pub is_borrowed: bool,
}

/// What is shown to the identity service.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Nothing: for clouds that ask nobody, and stacks that need none.
    #[default]
    None,
    /// A trust of the user in whoever runs the engine.
    Trust(Arc<str>),
    /// An application credential of the user.
    Application {
        /// Its id.
        id: Arc<str>,
        /// Its secret.
        secret: Arc<str>,
    },
    /// The user's password.
    Password(Arc<str>),
    /// A token of the user: it ends soon, and is not kept.
    Token(Arc<str>),
    /// Nothing of the user's: whoever owns the domain of the users of stacks is meant.
    StackDomain,
}

/// What a user is about to lend, known before it is asked for: by this it is found if nobody hears of it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Its mark, which nothing else has.
    pub mark: u128,
    /// What proves it, if that is for us to choose.
    pub secret: Secret,
    /// The id of the user.
    pub user: Arc<str>,
    /// The id of the project.
    pub project: Arc<str>,
}

/// A text that is not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub Arc<str>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Somebody who is here in person, with a token that ends soon.
#[derive(Clone, Default)]
pub struct Visitor {
    /// The token.
    pub token: Arc<str>,
    /// The id of the user.
    pub user: Arc<str>,
    /// The id of the project.
    pub project: Arc<str>,
    /// The names of the roles.
    pub roles: Vec<Arc<str>>,
    /// The user's password, if it came along.
    pub password: Option<Arc<str>>,
    /// What they lent already: a stack that makes another has its own rights to give.
    pub lent: Option<Arc<Credential>>,
}

impl Visitor {
    /// Lets calls be made in their name while their token lasts.
    pub fn credential(&self) -> Credential {
        let proof = match self.token.is_empty() {
            true => Proof::None,
            false => Proof::Token(self.token.clone()),
        };
        if let Some(lent) = &self.lent {
            return Credential { is_borrowed: true, ..(**lent).clone() };
        }
        let (project, user) = (self.project.clone(), self.user.clone());
        Credential { project, user, proof, is_borrowed: false }
    }
}

impl Credential {
    /// Lets calls be made by whoever owns the domain of the users of stacks.
    pub fn of_stack_domain() -> Credential {
        Credential { proof: Proof::StackDomain, ..Credential::default() }
    }

    /// Lets calls be made by a user with a password, in a project.
    pub fn of_user(user: &str, password: &str, project: &str) -> Credential {
        Credential {
            project: project.into(),
            user: user.into(),
            proof: Proof::Password(password.into()),
            is_borrowed: false,
        }
    }

    /// Whether the user gave something for it that has to be given back, by whoever has this.
    pub fn is_lent(&self) -> bool {
        let is_made = matches!(self.proof, Proof::Trust(_) | Proof::Application { .. });
        is_made && !self.is_borrowed
    }

    /// As it is kept. It must be kept secret: whoever has it may act for the user.
    pub fn stored(&self) -> Value {
        let proof = match &self.proof {
            Proof::None | Proof::Token(_) | Proof::StackDomain => json!(null),
            Proof::Trust(id) => json!({ "trust": **id }),
            Proof::Application { id, secret } => json!({ "application": **id, "secret": **secret }),
            Proof::Password(password) => json!({ "password": **password }),
        };
        json!({
            "project": *self.project,
            "user": *self.user,
            "proof": proof,
            "borrowed": self.is_borrowed,
        })
    }

    /// Read again.
    pub fn of_stored(stored: &Value) -> Credential {
        let text = |name: &str| stored.pointer(name).and_then(Value::as_str).map(Arc::<str>::from);
        let proof =
            match (text("/proof/trust"), text("/proof/application"), text("/proof/password")) {
                (Some(id), ..) => Proof::Trust(id),
                (_, Some(id), _) => {
                    Proof::Application { id, secret: text("/proof/secret").unwrap_or_default() }
                }
                (.., Some(password)) => Proof::Password(password),
                _ => Proof::None,
            };
        Credential {
            project: text("/project").unwrap_or_default(),
            user: text("/user").unwrap_or_default(),
            proof,
            is_borrowed: stored["borrowed"] == true,
        }
    }
}

/// Tells whose it is, not what proves it.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {} in project {}", self.user, self.project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_again_and_never_shown() {
        let secret = Proof::Application { id: "i".into(), secret: "hunter2".into() };
        for proof in [Proof::None, Proof::Trust("t".into()), secret, Proof::Password("p".into())] {
            let (project, user) = ("a".into(), "b".into());
            let credential = Credential { project, user, proof, is_borrowed: true };
            assert_eq!(Credential::of_stored(&credential.stored()), credential);
            assert_eq!(format!("{credential:?}"), "user b in project a");
        }
    }
}
