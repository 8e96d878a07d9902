//! Kiln's own account at the identity service: logged in when it is needed, again when it ends.

use super::Clock;
use super::identity::{IdentityClient, IdentityError, IssuedToken};
use super::login::Login;
use super::single_flight::SingleFlight;
use super::token::Token;
use kiln_engine::time::Time;
use kiln_template::value::Secret;
use serde_json::Value as Json;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A token is not used any more so long before its end.
const MARGIN: Duration = Duration::from_secs(60);

/// After a refused login the next one is not tried before this: accounts get locked.
const LOGIN_BACKOFF: Duration = Duration::from_secs(10);

/// Kiln's own account at the identity service.
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
    /// By how many microseconds our clock is ahead of the identity service's, or somewhat less.
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

    /// What the clock of the identity service says when ours says this: too late by the time that a login
    /// takes, never too early by more than the second that it does not tell.
    pub(super) fn identity_time(&self, ours: Time) -> Time {
        Time::from_micros(ours.micros().saturating_sub(self.state().clock_offset))
    }

    /// The login to use: the one there is, or a new one.
    async fn session(&self) -> Result<Session, IdentityError> {
        if let Some(session) = self.current() {
            return Ok(session);
        }
        self.in_flight.join((), self.log_in()).await
    }

    /// Reads something of the identity service, about a token if a subject is given. If our own token is
    /// not accepted any more, logs in again and tries once more.
    pub(super) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        subject: Option<&Secret>,
    ) -> Result<Json, IdentityError> {
        let session = self.session().await?;
        let answer = self.identity.get(&session.token, path, query, subject).await;
        if answer != Err(IdentityError::Refused) {
            return answer;
        }
        self.forget(&session);
        let session = self.session().await?;
        match self.identity.get(&session.token, path, query, subject).await {
            Err(IdentityError::Refused) => Err(IdentityError::Unavailable(
                "it does not accept the token that it has just given us".into(),
            )),
            answer => answer,
        }
    }

    /// Has the identity service examine something. That it refuses means that what is examined is no good,
    /// unless it is our own token that is not accepted any more.
    pub(super) async fn exchange_token(
        &self,
        path: &str,
        body: &Json,
    ) -> Result<IssuedToken, IdentityError> {
        let session = self.session().await?;
        let answer = self.identity.exchange(&session.token, path, body).await;
        if !matches!(answer, Err(IdentityError::Refused)) {
            return answer;
        }
        let own = Some(&session.token);
        if self.identity.get(&session.token, "/auth/tokens", &[], own).await.is_ok() {
            return answer;
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
        // Somebody may have finished a login since we looked.
        if let Some(session) = self.current() {
            return Ok(session);
        }
        let now = (self.clock)();
        if now < self.state().refused_until {
            return Err(IdentityError::Unavailable("it refused our own login a moment ago".into()));
        }
        let issued = match self.identity.login(&self.login).await {
            Ok(issued) => issued,
            Err(IdentityError::Unavailable(why)) => return Err(IdentityError::Unavailable(why)),
            Err(_) => {
                self.state().refused_until = now + LOGIN_BACKOFF;
                tracing::error!(
                    "the identity service refuses Kiln's own login: check the name, the password, the \
                     project and the domains of the service user"
                );
                return Err(IdentityError::Unavailable("it refuses our own login".into()));
            }
        };
        let Some(token) = Token::read(&issued.body) else {
            return Err(IdentityError::Unavailable(
                "its description of our token cannot be read".into(),
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
