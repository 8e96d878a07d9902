//! The service account at the identity service: logs in when needed, and again before the token expires.

use super::Clock;
use super::identity::{IdentityClient, IdentityError, IssuedToken};
use super::login::Login;
use super::single_flight::SingleFlight;
use super::token::Token;
use kiln_engine::Time;
use kiln_template::Secret;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value as Json;
use std::time::Duration;

/// How long before its expiry a token is replaced.
const MARGIN: Duration = Duration::from_secs(60);

/// How long no login is tried after a refused one: accounts get locked.
const LOGIN_BACKOFF: Duration = Duration::from_secs(10);

/// The service account at the identity service.
pub(super) struct ServiceAccount {
    identity: IdentityClient,
    login: Login,
    clock: Clock,
    state: Mutex<State>,
    in_flight: SingleFlight<(), Result<Session, IdentityError>>,
}

#[derive(Default)]
struct State {
    session: Option<Session>,
    sessions: u64,
    refused_until: Time,
    /// How many microseconds the local clock is ahead of the identity service's, or somewhat less.
    clock_offset: i64,
}

/// A login that worked.
#[derive(Clone, Debug)]
struct Session {
    number: u64,
    token: Secret,
    renew_at: Time,
}

impl ServiceAccount {
    pub(super) fn new(identity: IdentityClient, login: Login, clock: Clock) -> ServiceAccount {
        ServiceAccount {
            identity,
            login,
            clock,
            state: Mutex::default(),
            in_flight: SingleFlight::default(),
        }
    }

    /// The identity service's time at a local time: late by the duration of a login at most, and early by less than a
    /// second.
    pub(super) fn identity_time(&self, ours: Time) -> Time {
        Time::from_micros(ours.micros().saturating_sub(self.state().clock_offset))
    }

    /// The current session, or a new one.
    async fn session(&self) -> Result<Session, IdentityError> {
        if let Some(session) = self.current() {
            return Ok(session);
        }
        self.in_flight.join((), self.log_in()).await
    }

    /// Reads from the identity service, about a token if a subject is given. If the service account's token is refused,
    /// logs in again and tries once more.
    pub(super) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        subject: Option<&Secret>,
    ) -> Result<Json, IdentityError> {
        let session = self.session().await?;
        let reply = self.identity.get(&session.token, path, query, subject).await;
        if reply != Err(IdentityError::Refused) {
            return reply;
        }
        self.forget(&session);
        let session = self.session().await?;
        match self.identity.get(&session.token, path, query, subject).await {
            Err(IdentityError::Refused) => Err(IdentityError::Unavailable(
                "it refuses the token that it has just issued".into(),
            )),
            reply => reply,
        }
    }

    /// Exchanges something for a token. A refusal means that it is invalid, unless the service account's own token is
    /// refused.
    pub(super) async fn exchange_token(
        &self,
        path: &str,
        body: &Json,
    ) -> Result<IssuedToken, IdentityError> {
        let session = self.session().await?;
        let reply = self.identity.exchange(&session.token, path, body).await;
        if !matches!(reply, Err(IdentityError::Refused)) {
            return reply;
        }
        let own = Some(&session.token);
        if self.identity.get(&session.token, "/auth/tokens", &[], own).await.is_ok() {
            return reply;
        }
        self.forget(&session);
        let session = self.session().await?;
        self.identity.exchange(&session.token, path, body).await
    }

    fn current(&self) -> Option<Session> {
        let now = (self.clock)();
        self.state().session.clone().filter(|session| now < session.renew_at)
    }

    fn forget(&self, session: &Session) {
        let mut state = self.state();
        if state.session.as_ref().is_some_and(|current| current.number == session.number) {
            state.session = None;
        }
    }

    async fn log_in(&self) -> Result<Session, IdentityError> {
        // Another caller may have logged in in the meantime.
        if let Some(session) = self.current() {
            return Ok(session);
        }
        let now = (self.clock)();
        if now < self.state().refused_until {
            return Err(IdentityError::Unavailable(
                "it refused the login of the service account a moment ago".into(),
            ));
        }
        let issued = match self.identity.login(&self.login).await {
            Ok(issued) => issued,
            Err(IdentityError::Unavailable(why)) => return Err(IdentityError::Unavailable(why)),
            Err(_) => {
                self.state().refused_until = now + LOGIN_BACKOFF;
                tracing::error!(
                    "the identity service refuses the login of the service account: check the name, the password, the \
                     project and the domains of the service user"
                );
                return Err(IdentityError::Unavailable(
                    "it refuses the login of the service account".into(),
                ));
            }
        };
        let Some(token) = Token::read(&issued.body) else {
            return Err(IdentityError::Unavailable(
                "its description of the token is invalid".into(),
            ));
        };
        let lifetime = token.expires_at.since(token.issued_at);
        let mut state = self.state();
        state.sessions += 1;
        state.clock_offset = now.micros().saturating_sub(token.issued_at.micros());
        let session = Session {
            number: state.sessions,
            token: issued.token,
            renew_at: now + lifetime.saturating_sub(MARGIN),
        };
        state.session = Some(session.clone());
        Ok(session)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
