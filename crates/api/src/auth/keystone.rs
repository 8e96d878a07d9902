//! Tokens, validated at the identity service and remembered for a while.
//!
//! A cached token is dropped when it expires, when its time in the cache is over, and when the
//! identity service lists an event that ends it.

use super::auth_url::AuthUrl;
use super::cache::{Cache, Key, key};
use super::headers::{add_client_options, reveal, secret_header};
use super::identity::{IdentityClient, IdentityError};
use super::login::Login;
use super::revocation::Revocations;
use super::service_account::ServiceAccount;
use super::signature::verify_signature;
use super::single_flight::SingleFlight;
use super::token::Token;
use super::{Authenticator, Clock, Reason, Rejection, SignatureError};
use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use kiln_engine::Time;
use kiln_template::Secret;
use parking_lot::Mutex;
use serde_json::Value as Json;
use std::sync::Arc;
use std::time::Duration;

/// The operator's settings for tokens.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL from which clients get tokens.
    pub www_authenticate_uri: String,
    /// The URL of the identity service, for calls on behalf of users.
    pub auth_url: AuthUrl,
    /// How long a valid token is remembered at most; not at all if zero.
    pub cache_time: Duration,
    /// How many are.
    pub cache_size: usize,
    /// How long it is remembered that a token is not valid.
    pub refusal_time: Duration,
    /// How often the identity service is polled for revoked tokens; never if zero.
    pub revocation_interval: Duration,
    /// A service with one of these roles may make requests for a user whose token has expired.
    pub service_token_roles: Vec<String>,
    /// Whether a service without any of them may make no requests for users at all.
    pub service_token_roles_required: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            www_authenticate_uri: String::new(),
            auth_url: AuthUrl::default(),
            cache_time: Duration::from_secs(300),
            cache_size: 10_000,
            refusal_time: Duration::from_secs(5),
            revocation_interval: Duration::from_secs(5),
            service_token_roles: vec!["service".to_owned()],
            service_token_roles_required: true,
        }
    }
}

/// Authenticates callers by their tokens.
pub struct Keystone {
    settings: Settings,
    service: ServiceAccount,
    clock: Clock,
    valid: Cache<Arc<Token>>,
    /// Refused tokens, apart from the valid ones: invented tokens must not evict those.
    refused: Cache<()>,
    in_flight: SingleFlight<Key, Verdict>,
    /// Rung when a token is remembered.
    filled: tokio::sync::Notify,
    polling: Mutex<Polling>,
}

/// The validity of a token.
#[derive(Clone, Debug)]
enum Verdict {
    Valid(Arc<Token>),
    Invalid,
    /// The identity service is not available.
    Unknown,
}

#[derive(Clone, Copy, Debug, Default)]
struct Polling {
    /// Revocations before this time are known, while tokens are cached.
    known_until: Option<Time>,
    /// The earliest time of the next poll, if the identity service does not support polling.
    not_before: Time,
}

/// The result of a poll for revoked tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationPoll {
    /// No token is cached, so there was no poll.
    Idle,
    /// This many cached tokens were dropped.
    Dropped(usize),
    /// The identity service does not list revocations: tokens are cached for the full time.
    Unsupported,
    /// The identity service is not available.
    Failed,
}

/// Longer tokens are refused without a request.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// How late an event may appear: clocks differ, and databases replicate.
const MAX_EVENT_DELAY: Duration = Duration::from_secs(60);

/// How long polls pause where they are not supported.
const RETRY_UNSUPPORTED_AFTER: Duration = Duration::from_secs(600);

impl Keystone {
    /// Validates tokens at an identity service with a service account.
    pub fn new(
        identity: IdentityClient,
        login: Login,
        settings: Settings,
        clock: Clock,
    ) -> Keystone {
        Keystone {
            service: ServiceAccount::new(identity, login, clock.clone()),
            clock,
            valid: Cache::new(settings.cache_size),
            refused: Cache::new(settings.cache_size),
            in_flight: SingleFlight::default(),
            filled: tokio::sync::Notify::new(),
            polling: Mutex::default(),
            settings,
        }
    }

    /// Polls for revoked tokens as long as tokens are cached. It never ends unless polling is switched off, and is to
    /// be run beside the server.
    pub async fn watch(&self) {
        while !self.settings.revocation_interval.is_zero() {
            while self.valid.is_empty() {
                self.filled.notified().await;
            }
            tokio::time::sleep(self.settings.revocation_interval).await;
            self.poll_revocations().await;
        }
    }

    /// Polls once for revoked tokens, and drops them from the cache.
    pub async fn poll_revocations(&self) -> RevocationPoll {
        let now = (self.clock)();
        self.valid.purge(now);
        if self.valid.is_empty() {
            self.polling(|polling| polling.known_until = None);
            return RevocationPoll::Idle;
        }
        let polling = self.polling(|polling| *polling);
        if now < polling.not_before {
            return RevocationPoll::Unsupported;
        }
        let since = polling.known_until.unwrap_or(now - self.settings.cache_time) - MAX_EVENT_DELAY;
        let since = self.service.identity_time(since).to_string();
        match self.service.get("/OS-REVOKE/events", &[("since", &since)], None).await {
            Ok(list) => {
                let revocations = Revocations::read(&list);
                let forgotten = self.valid.retain(|token| !revocations.end(token));
                self.polling(|polling| polling.known_until = Some(now));
                RevocationPoll::Dropped(forgotten)
            }
            Err(IdentityError::NotFound | IdentityError::Forbidden) => {
                tracing::info!(
                    "the identity service does not tell which tokens were revoked: they are accepted until \
                     they leave the cache"
                );
                self.polling(|polling| polling.not_before = now + RETRY_UNSUPPORTED_AFTER);
                RevocationPoll::Unsupported
            }
            Err(error) => {
                tracing::warn!(?error, "could not poll for revoked tokens");
                RevocationPoll::Failed
            }
        }
    }

    fn polling<T>(&self, look: impl FnOnce(&mut Polling) -> T) -> T {
        look(&mut self.polling.lock())
    }

    /// The cached validity of a token, or the identity service's answer.
    async fn verdict(&self, token: &Secret, allow_expired: bool) -> Verdict {
        let text = reveal(token);
        if text.len() > MAX_TOKEN_BYTES {
            return Verdict::Invalid;
        }
        let now = (self.clock)();
        let token_key = key(b"", &[text]);
        if let Some(token) = self.valid.get(&token_key, now) {
            return Verdict::Valid(token);
        }
        // An expired token is valid in a request of a trusted service.
        let request_key = if allow_expired { key(b"expired", &[text]) } else { token_key };
        if self.refused.get(&request_key, now).is_some() {
            return Verdict::Invalid;
        }
        self.in_flight
            .join(request_key, self.request(token, token_key, request_key, allow_expired))
            .await
    }

    async fn request(
        &self,
        token: &Secret,
        token_key: Key,
        request_key: Key,
        allow_expired: bool,
    ) -> Verdict {
        let query: &[_] = if allow_expired { &[("allow_expired", "1")] } else { &[] };
        let reply = self.service.get("/auth/tokens", query, Some(token)).await;
        let now = (self.clock)();
        match reply.map(|description| Token::read(&description)) {
            Ok(Some(token)) => {
                let token = Arc::new(token);
                self.remember(token_key, &token, now);
                Verdict::Valid(token)
            }
            Err(IdentityError::NotFound) => {
                self.refused.insert(request_key, (), now + self.settings.refusal_time);
                Verdict::Invalid
            }
            Ok(None) => {
                tracing::error!("the identity service's description of a token is invalid");
                Verdict::Unknown
            }
            Err(IdentityError::Forbidden) => {
                tracing::error!(
                    "the service account may not validate tokens: give it the role `service` or `admin`"
                );
                Verdict::Unknown
            }
            Err(error) => {
                tracing::warn!(
                    ?error,
                    "could not validate a token: the identity service is not available"
                );
                Verdict::Unknown
            }
        }
    }

    /// Caches a token, but not beyond its expiry by either clock.
    fn remember(&self, token_key: Key, token: &Arc<Token>, now: Time) {
        let left = [now, self.service.identity_time(now)].map(|now| token.expires_at.since(now));
        let time = left.into_iter().fold(self.settings.cache_time, Duration::min);
        if !time.is_zero() {
            self.valid.insert(token_key, token.clone(), now + time);
            self.filled.notify_one();
        }
    }

    /// The roles of the service that makes the request for a user, and whether the user's token may have expired; an
    /// error if the service may not make it.
    async fn service_roles(&self, headers: &HeaderMap) -> Result<(Vec<String>, bool), Reason> {
        let Some(token) = secret_header(headers, "x-service-token") else {
            return Ok((Vec::new(), false));
        };
        let token = self.valid(&token, false).await?;
        let roles = &token.caller.roles;
        let is_service = roles.iter().any(|it| self.settings.service_token_roles.contains(it));
        if is_service || !self.settings.service_token_roles_required {
            Ok((roles.clone(), is_service))
        } else {
            Err(self.refused_token())
        }
    }

    async fn valid(&self, token: &Secret, allow_expired: bool) -> Result<Arc<Token>, Reason> {
        match self.verdict(token, allow_expired).await {
            Verdict::Valid(token) => Ok(token),
            Verdict::Invalid => Err(self.refused_token()),
            Verdict::Unknown => Err(Reason::Unavailable),
        }
    }

    fn refused_token(&self) -> Reason {
        Reason::Token(self.settings.www_authenticate_uri.clone())
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Reason> {
        let (service_roles, may_be_expired) = self.service_roles(headers).await?;
        let Some(token) = secret_header(headers, "x-auth-token") else {
            return Err(self.refused_token());
        };
        let valid = self.valid(&token, may_be_expired).await?;
        let mut caller = valid.caller.clone();
        caller.token = Some(token);
        caller.service_roles = service_roles;
        add_client_options(&mut caller, headers);
        Ok(caller)
    }
}

#[async_trait]
impl Authenticator for Keystone {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        _project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection> {
        let auth_url = self.settings.auth_url.choose(headers)?;
        let caller = self.caller(headers).await.map_err(|why| Rejection::new(why, headers))?;
        Ok(Caller { auth_url: auth_url.to_owned(), ..caller })
    }

    async fn authenticate_signed(&self, signed_request: &Json) -> Result<Caller, SignatureError> {
        verify_signature(&self.service, &self.settings.auth_url.configured, signed_request).await
    }
}
