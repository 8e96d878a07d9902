//! Names and passwords in the headers, for deployments without tokens at hand.
//!
//! Each is a login at the identity service; a client that sends the same again within a few seconds is
//! remembered, by a hash with a key of this process.

use super::auth_url::AuthUrl;
use super::cache::{Cache, Key, key};
use super::headers::{add_client_options, header, reveal, secret_header};
use super::identity::{IdentityClient, IdentityError};
use super::login::{AuthScope, Login};
use super::single_flight::SingleFlight;
use super::token::Token;
use super::{Authenticator, Clock, Reason, Rejection};
use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use kiln_cloud::EntityRef;
use kiln_template::Secret;
use std::sync::Arc;
use std::time::Duration;

/// Authenticates callers by user and password, for the project in the path.
pub struct Password {
    identity: IdentityClient,
    auth_url: AuthUrl,
    clock: Clock,
    cache_time: Duration,
    /// The salt of the hashes of passwords: they cannot be guessed from the memory of another process.
    salt: [u8; 32],
    logins: Cache<Arc<CachedLogin>>,
    refused: Cache<()>,
    in_flight: SingleFlight<Key, Verdict>,
}

/// A login that worked.
struct CachedLogin {
    token: Token,
    secret: Secret,
}

#[derive(Clone)]
enum Verdict {
    Valid(Arc<CachedLogin>),
    Invalid,
    /// The identity service is not available.
    Unknown,
}

/// How many are remembered.
const CACHE_SIZE: usize = 10_000;

/// The domain of users who do not say theirs.
const DEFAULT_DOMAIN: &str = "default";

impl Password {
    /// Logs users in at the identity service that is chosen for the request, over the connections of this
    /// one. A login is remembered for the time given, which should be seconds.
    pub fn new(
        identity: IdentityClient,
        auth_url: AuthUrl,
        cache_time: Duration,
        clock: Clock,
    ) -> Result<Password, getrandom::Error> {
        let mut salt = [0; 32];
        getrandom::fill(&mut salt)?;
        Ok(Password {
            identity,
            auth_url,
            clock,
            cache_time,
            salt,
            logins: Cache::new(CACHE_SIZE),
            refused: Cache::new(CACHE_SIZE),
            in_flight: SingleFlight::default(),
        })
    }

    async fn verdict(&self, auth_url: &str, login: &Login, token_key: Key) -> Verdict {
        let now = (self.clock)();
        if let Some(login) = self.logins.get(&token_key, now) {
            return Verdict::Valid(login);
        }
        if self.refused.get(&token_key, now).is_some() {
            return Verdict::Invalid;
        }
        self.in_flight.join(token_key, self.log_in(auth_url, login, token_key)).await
    }

    async fn log_in(&self, auth_url: &str, login: &Login, token_key: Key) -> Verdict {
        let issued = match self.identity.at(auth_url).login(login).await {
            Ok(issued) => issued,
            Err(IdentityError::Refused | IdentityError::Forbidden | IdentityError::Malformed) => {
                self.refused.insert(token_key, (), (self.clock)() + self.cache_time);
                return Verdict::Invalid;
            }
            Err(error) => {
                tracing::warn!(
                    ?error,
                    "could not check a password: the identity service is not available"
                );
                return Verdict::Unknown;
            }
        };
        let Some(token) = Token::read(&issued.body) else {
            tracing::error!("the identity service's description of a token is invalid");
            return Verdict::Unknown;
        };
        let now = (self.clock)();
        let lifetime = token.expires_at.since(token.issued_at).min(token.expires_at.since(now));
        let login = Arc::new(CachedLogin { token, secret: issued.token });
        self.logins.insert(token_key, login.clone(), now + self.cache_time.min(lifetime));
        Verdict::Valid(login)
    }
}

#[async_trait]
impl Authenticator for Password {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection> {
        let auth_url = self.auth_url.choose(headers)?;
        let refuse = |reason| Rejection::new(reason, headers);
        let user = header(headers, "x-auth-user");
        let password = secret_header(headers, "x-auth-key");
        let project = project_in_path.filter(|project| !project.is_empty());
        let (Some(user), Some(password), Some(project)) = (user, password, project) else {
            return Err(refuse(Reason::Password(auth_url.to_owned())));
        };
        let domain = header(headers, "x-user-domain-id").unwrap_or(DEFAULT_DOMAIN);
        let token_key = key(&self.salt, &[auth_url, user, domain, project, reveal(&password)]);
        let login = Login {
            user: EntityRef::NameInDomainId { name: user.to_owned(), domain_id: domain.to_owned() },
            password,
            scope: AuthScope::Project(EntityRef::Id(project.to_owned())),
        };
        let login = match self.verdict(auth_url, &login, token_key).await {
            Verdict::Valid(login) => login,
            Verdict::Invalid => return Err(refuse(Reason::Password(auth_url.to_owned()))),
            Verdict::Unknown => return Err(refuse(Reason::Unavailable)),
        };
        let mut caller = login.token.caller.clone();
        caller.token = Some(login.secret.clone());
        add_client_options(&mut caller, headers);
        Ok(Caller { auth_url: auth_url.to_owned(), ..caller })
    }
}
