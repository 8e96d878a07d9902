//! Tokens: signed claims, and their validation.
//!
//! Tokens are not stored. A token carries the claims of the login (user, methods, scope, expiry) and a signature with
//! a key from the state. So a login writes nothing, tokens need no memory, and they survive a restart. Every use of a
//! token looks up the users, projects, roles, trusts and application credentials as they are at that time. A change
//! that must invalidate tokens although the record stays (a new password, a disabled user) increments the epoch of
//! the record, which the token also carries; the revocation of a single token is stored by its audit id until the
//! token would have expired.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::records::{AppCredential, Domain, Project, Role, Scope, Trust, User};
use super::secret;
use super::state::State;
use super::time::Moment;

/// The maximal length of a token.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// The claims of a token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Claims {
    /// The user who logged in; with a trust, the trustee.
    #[serde(rename = "u")]
    pub(super) user: String,
    #[serde(rename = "m")]
    pub(super) methods: Vec<String>,
    #[serde(rename = "s")]
    pub(super) scope: Option<Scope>,
    /// The audit id of this token, and that of the first token in its chain.
    #[serde(rename = "a")]
    pub(super) audit: Vec<String>,
    #[serde(rename = "i")]
    pub(super) issued: Moment,
    #[serde(rename = "e")]
    pub(super) expires: Moment,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(super) trust: Option<String>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub(super) app_credential: Option<String>,
    /// The epochs of the user, the project and the trustor.
    #[serde(rename = "n")]
    pub(super) epochs: [u64; 3],
}

/// The parameters of a new token for an authenticated user.
#[derive(Clone, Debug)]
pub(super) struct TokenRequest {
    pub(super) user: String,
    pub(super) methods: Vec<String>,
    pub(super) scope: Option<Scope>,
    /// The audit id of the first token in the chain.
    pub(super) chain: Option<String>,
    pub(super) expires: Moment,
    pub(super) trust: Option<String>,
    pub(super) app_credential: Option<String>,
}

/// A valid token: its claims and the records that they refer to.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) claims: Claims,
    /// The user as whom the token acts: with impersonation, the trustor.
    pub(super) user: User,
    pub(super) roles: Vec<Role>,
    pub(super) project: Option<Project>,
    pub(super) domain: Option<Domain>,
    pub(super) trust: Option<Trust>,
    pub(super) app_credential: Option<AppCredential>,
}

/// Builds the claims of a login, which still have to be examined.
pub(super) fn claims(
    state: &State,
    token_request: TokenRequest,
    now: Moment,
) -> Result<Claims, ApiError> {
    let user_epoch = |id: &str| state.users.get(id).map_or(0, |user| user.epoch);
    let project_epoch = match &token_request.scope {
        Some(Scope::Project(id)) => state.projects.get(id).map_or(0, |project| project.epoch),
        _ => 0,
    };
    let trust = token_request.trust.as_deref().and_then(|id| state.trusts.get(id));
    let epochs = [
        user_epoch(&token_request.user),
        project_epoch,
        trust.map_or(0, |trust| user_epoch(&trust.trustor)),
    ];
    let audit = std::iter::once(secret::audit_id()?).chain(token_request.chain).collect();
    Ok(Claims {
        user: token_request.user,
        methods: token_request.methods,
        scope: token_request.scope,
        audit,
        issued: now,
        expires: token_request.expires,
        trust: token_request.trust,
        app_credential: token_request.app_credential,
        epochs,
    })
}

/// Signs the claims and encodes them as a token.
pub(super) fn sign(key: &[u8], claims: &Claims) -> Result<String, ApiError> {
    let body = serde_json::to_vec(claims).map_err(ApiError::internal)?;
    let body = URL_SAFE_NO_PAD.encode(body);
    let tag = URL_SAFE_NO_PAD.encode(secret::hmac(key, body.as_bytes()));
    Ok(format!("{body}.{tag}"))
}

/// Decodes a token and verifies its signature.
pub(super) fn open(key: &[u8], token: &str) -> Option<Claims> {
    if token.len() > MAX_TOKEN_BYTES {
        return None;
    }
    let (body, tag) = token.split_once('.')?;
    if !secret::hmac_is(key, body.as_bytes(), &URL_SAFE_NO_PAD.decode(tag).ok()?) {
        return None;
    }
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
}

/// Validates the claims against the state. Expired tokens are accepted for the grace period in seconds.
pub(super) fn examine(
    state: &State,
    claims: Claims,
    now: Moment,
    grace: u64,
) -> Result<Subject, ApiError> {
    let void = || ApiError::not_found("Failed to validate token");
    let floor = state.keys.get("keys").map_or(Moment(i64::MAX), |keys| keys.floor);
    let revoked = claims.audit.first().and_then(|id| state.revocations.named("token", id));
    if claims.expires.plus_seconds(grace) <= now || claims.issued <= floor || revoked.is_some() {
        return Err(void());
    }
    let live_user = |id: &str, epoch: u64| {
        let user = state.users.get(id).ok_or_else(|| ApiError::missing("user", id))?;
        if state.is_user_active(user) && user.epoch == epoch {
            Ok(user.clone())
        } else {
            Err(void())
        }
    };
    let mut user = live_user(&claims.user, claims.epochs[0])?;
    let trust = claims.trust.as_deref().map(|id| live_trust(state, id, now)).transpose()?;
    if let Some(trust) = &trust {
        let trustor = live_user(&trust.trustor, claims.epochs[2])?;
        if trust.impersonation {
            user = trustor;
        }
    }
    let app_credential =
        claims.app_credential.as_deref().map(|id| live_app(state, id, now)).transpose()?;
    let project = live_project(state, &claims)?;
    let domain = live_domain(state, &claims)?;
    let mut subject =
        Subject { claims, user, roles: Vec::new(), project, domain, trust, app_credential };
    subject.roles = roles(state, &subject)?;
    Ok(subject)
}

fn live_trust(state: &State, id: &str, now: Moment) -> Result<Trust, ApiError> {
    let trust = state.trusts.get(id).ok_or_else(|| ApiError::missing("trust", id))?;
    match trust.expires_at {
        Some(end) if end <= now => Err(ApiError::missing("trust", id)),
        _ => Ok(trust.clone()),
    }
}

fn live_app(state: &State, id: &str, now: Moment) -> Result<AppCredential, ApiError> {
    let missing = || ApiError::missing("Application Credential", id);
    let credential = state.app_credentials.get(id).ok_or_else(missing)?;
    match credential.expires_at {
        Some(end) if end <= now => Err(missing()),
        _ => Ok(credential.clone()),
    }
}

fn live_project(state: &State, claims: &Claims) -> Result<Option<Project>, ApiError> {
    let Some(Scope::Project(id)) = &claims.scope else { return Ok(None) };
    let project = state.projects.get(id).ok_or_else(|| ApiError::missing("project", id))?;
    if !state.is_project_active(project) {
        return Err(ApiError::not_found(format!(
            "Unable to validate token because project {id} is disabled"
        )));
    }
    if project.epoch != claims.epochs[1] {
        return Err(ApiError::not_found("Failed to validate token"));
    }
    Ok(Some(project.clone()))
}

fn live_domain(state: &State, claims: &Claims) -> Result<Option<Domain>, ApiError> {
    let Some(Scope::Domain(id)) = &claims.scope else { return Ok(None) };
    match state.domains.get(id) {
        Some(domain) if domain.enabled => Ok(Some(domain.clone())),
        Some(_) => Err(ApiError::not_found(format!(
            "Unable to validate token because domain {id} is disabled"
        ))),
        None => Err(ApiError::missing("domain", id)),
    }
}

/// Returns the roles of a scoped token. A scope without any role is invalid.
fn roles(state: &State, subject: &Subject) -> Result<Vec<Role>, ApiError> {
    let Some(scope) = &subject.claims.scope else { return Ok(Vec::new()) };
    let mut ids = match &subject.trust {
        Some(trust) => delegated(state, trust, scope)?,
        None => state.roles_at(&subject.user.id, scope),
    };
    if let Some(credential) = &subject.app_credential {
        ids.retain(|id| credential.roles.contains(id));
    }
    if ids.is_empty() {
        return Err(ApiError::not_found("Failed to validate token"));
    }
    let mut roles: Vec<Role> = ids.iter().filter_map(|id| state.roles.get(id)).cloned().collect();
    roles.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(roles)
}

/// Returns the roles that a trust delegates. The trustor must still have all of them.
fn delegated(state: &State, trust: &Trust, scope: &Scope) -> Result<BTreeSet<String>, ApiError> {
    let held = state.roles_at(&trust.trustor, scope);
    if trust.roles.iter().any(|role| !held.contains(role)) {
        return Err(ApiError::not_found("Failed to validate token"));
    }
    Ok(state.with_implied(trust.roles.iter().cloned().collect()))
}

impl Subject {
    pub(super) fn has_role(&self, name: &str) -> bool {
        self.roles.iter().any(|role| role.name == name)
    }

    pub(super) fn is_system(&self) -> bool {
        self.claims.scope == Some(Scope::System)
    }

    /// Reports whether the token comes from a delegation, which must not be delegated further.
    pub(super) fn is_delegated(&self) -> bool {
        self.trust.is_some()
            || self.app_credential.is_some()
            || self.claims.methods.iter().any(|method| method == "ec2credential")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims {
            user: "u".into(),
            methods: vec!["password".into()],
            scope: Some(Scope::Project("p".into())),
            audit: vec!["a".into()],
            issued: Moment(1),
            expires: Moment(2),
            trust: None,
            app_credential: None,
            epochs: [0; 3],
        }
    }

    #[test]
    fn a_token_is_read_back_with_the_key_that_signed_it_only() {
        let token = sign(b"key", &claims()).unwrap();
        assert_eq!(open(b"key", &token), Some(claims()));
        assert_eq!(open(b"other", &token), None);
        assert_eq!(open(b"key", &token[..token.len() - 2]), None);
        assert_eq!(open(b"key", &token.replacen('e', "f", 1)), None);
        for text in ["", ".", "a.b", "é.é", &"x".repeat(10_000)] {
            assert_eq!(open(b"key", text), None);
        }
    }

    #[test]
    fn a_token_issued_before_forgotten_revocations_is_void() {
        use super::super::records::{Extra, Keys};
        let mut state = State::default();
        let mut keys = Keys { signing: String::new(), floor: Moment(0), next: 0 };
        state.keys.put(keys.clone()).unwrap();
        let (id, name) = ("d".to_owned(), "d".to_owned());
        let (options, extra) = (Extra::new(), Extra::new());
        let domain =
            Domain { id, name, description: None, enabled: true, tags: vec![], options, extra };
        state.domains.put(domain).unwrap();
        let user = User {
            id: "u".into(),
            domain_id: "d".into(),
            name: "u".into(),
            enabled: true,
            password: None,
            default_project_id: None,
            options: Extra::new(),
            extra: Extra::new(),
            epoch: 0,
        };
        state.users.put(user).unwrap();
        let claims = Claims { scope: None, ..claims() };
        assert!(examine(&state, claims.clone(), Moment(1), 0).is_ok());
        keys.floor = claims.issued;
        state.keys.put(keys).unwrap();
        assert!(examine(&state, claims, Moment(1), 0).is_err());
    }
}
