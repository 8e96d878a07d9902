//! `POST /v3/auth/tokens`: authentication and the choice of the scope.

use super::super::error::ApiError;
use super::super::records::{AppCredential, Project, Scope, User};
use super::super::request::{Answer, Reply, Request};
use super::super::secret;
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::{Subject, TokenRequest};
use super::auth_request::{
    self, AppRef, AuthMethod, DomainRef, ProjectRef, RequestedScope, UserRef,
};
use super::issue::{body, issue};

/// The result of authentication.
struct Authenticated {
    user: String,
    methods: Vec<String>,
    chain: Option<String>,
    expires: Moment,
    app_credential: Option<AppCredential>,
}

pub(in super::super) fn login(request: &Request<'_>) -> Answer {
    let auth_request = auth_request::read(&request.body)?;
    let mut authenticated: Option<Authenticated> = None;
    for auth_method in &auth_request.auth_methods {
        let next = authenticate(request, auth_method, &auth_request.scope)?;
        authenticated = Some(match authenticated {
            None => next,
            Some(before) => both(before, next)?,
        });
    }
    let authenticated = authenticated.ok_or_else(ApiError::unauthorized)?;
    let token_request = request.identity.read(|state| {
        build_token_request(state, authenticated, &auth_request.scope, request.now)
    })?;
    let with_trust = token_request.trust.is_some();
    let (token, subject) =
        issue(request.identity, token_request, request.now).map_err(|api_error| match api_error
            .status
        {
            // The trustor has lost a delegated role.
            404 if with_trust => ApiError::forbidden(""),
            404 => ApiError::unauthorized(),
            _ => api_error,
        })?;
    let document =
        request.identity.read(|state| body(state, &subject, !request.has_flag("nocatalog")));
    Ok(Reply::created(document).with("x-subject-token", token))
}

fn authenticate(
    request: &Request<'_>,
    auth_method: &AuthMethod,
    scope: &RequestedScope,
) -> Result<Authenticated, ApiError> {
    let token_expiry = request.token_expiry();
    match auth_method {
        AuthMethod::Password { user, password } => {
            let user = request.identity.read(|state| find_user(state, user).cloned());
            let hash = user.as_ref().and_then(|user| user.password.as_deref());
            let right = secret::password_is(password.as_deref().unwrap_or_default(), hash);
            let user = user.filter(|_| right && password.is_some());
            let user = user.ok_or_else(ApiError::unauthorized)?;
            Ok(Authenticated::new("password", user.id, token_expiry))
        }
        AuthMethod::Token(token) => {
            let subject = request.examine(token, 0)?;
            may_be_exchanged(&subject, scope)?;
            let Subject { claims, .. } = subject;
            // A token never lasts longer than the token that it was issued for.
            let mut authenticated = Authenticated::new("token", claims.user, claims.expires);
            authenticated
                .methods
                .extend(claims.methods.into_iter().filter(|method| method != "token"));
            authenticated.chain = claims.audit.last().cloned();
            Ok(authenticated)
        }
        AuthMethod::AppCredential { which, secret } => {
            if !matches!(scope, RequestedScope::Unspecified | RequestedScope::Unscoped) {
                let why = "Error authenticating with application credential: \
                           Application credentials cannot request a scope.";
                return Err(ApiError::login(why).with_identity(serde_json::json!({})));
            }
            let credential = request.identity.read(|state| find_app(state, which).cloned())?;
            let right = secret::password_is(
                secret.as_deref().unwrap_or_default(),
                Some(&credential.secret),
            );
            if !right || secret.is_none() {
                return Err(ApiError::unauthorized());
            }
            let end = credential.expires_at.map_or(token_expiry, |end| end.min(token_expiry));
            let mut authenticated =
                Authenticated::new("application_credential", credential.user_id.clone(), end);
            authenticated.app_credential = Some(credential);
            Ok(authenticated)
        }
    }
}

impl Authenticated {
    fn new(method: &str, user: String, expires: Moment) -> Authenticated {
        let methods = vec![method.to_owned()];
        Authenticated { user, methods, chain: None, expires, app_credential: None }
    }
}

/// Combines two authentication methods, which must be for the same user.
fn both(one: Authenticated, other: Authenticated) -> Result<Authenticated, ApiError> {
    if one.user != other.user {
        return Err(ApiError::unauthorized());
    }
    let mut methods = one.methods;
    methods.extend(other.methods);
    let mut seen = Vec::new();
    methods.retain(|method| {
        !seen.contains(method) && {
            seen.push(method.clone());
            true
        }
    });
    Ok(Authenticated {
        user: one.user,
        methods,
        chain: one.chain.or(other.chain),
        expires: one.expires.min(other.expires),
        app_credential: one.app_credential.or(other.app_credential),
    })
}

/// Rejects tokens that cannot be exchanged for others, such as delegated ones.
fn may_be_exchanged(subject: &Subject, scope: &RequestedScope) -> Result<(), ApiError> {
    if subject.trust.is_some() {
        return Err(ApiError::forbidden(
            "Using trust-scoped token to create another token. Create a new trust-scoped token instead",
        ));
    }
    if subject.is_system()
        && matches!(scope, RequestedScope::Project(_) | RequestedScope::Domain(_))
    {
        return Err(ApiError::forbidden(
            "Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.",
        ));
    }
    if subject.is_delegated() {
        return Err(ApiError::forbidden(
            "Using a delegated token to create another token is not allowed.",
        ));
    }
    Ok(())
}

fn build_token_request(
    state: &State,
    authenticated: Authenticated,
    scope: &RequestedScope,
    now: Moment,
) -> Result<TokenRequest, ApiError> {
    let mut token_request = TokenRequest {
        user: authenticated.user,
        methods: authenticated.methods,
        scope: None,
        chain: authenticated.chain,
        expires: authenticated.expires,
        trust: None,
        app_credential: None,
    };
    if let Some(credential) = authenticated.app_credential {
        token_request.scope = credential.project_id.map(Scope::Project);
        token_request.app_credential = Some(credential.id);
        return Ok(token_request);
    }
    token_request.scope = match scope {
        RequestedScope::Unspecified => default_project(state, &token_request.user),
        RequestedScope::Unscoped => None,
        RequestedScope::Project(project) => Some(Scope::Project(
            find_project(state, project).ok_or_else(ApiError::unauthorized)?.id.clone(),
        )),
        RequestedScope::Domain(domain) => {
            Some(Scope::Domain(find_domain(state, domain).ok_or_else(ApiError::unauthorized)?))
        }
        RequestedScope::System => Some(Scope::System),
        RequestedScope::Trust(id) => return with_trust(state, token_request, id, now),
    };
    Ok(token_request)
}

fn with_trust(
    state: &State,
    token_request: TokenRequest,
    id: &str,
    now: Moment,
) -> Result<TokenRequest, ApiError> {
    let trust = state.trusts.get(id).filter(|trust| {
        trust.expires_at.is_none_or(|end| end > now) && trust.remaining_uses != Some(0)
    });
    let trust = trust.ok_or_else(ApiError::unauthorized)?;
    if trust.trustee != token_request.user {
        return Err(ApiError::forbidden(""));
    }
    Ok(TokenRequest {
        scope: trust.project_id.clone().map(Scope::Project),
        expires: trust
            .expires_at
            .map_or(token_request.expires, |end| end.min(token_request.expires)),
        trust: Some(trust.id.clone()),
        ..token_request
    })
}

/// Returns the default project of a user, if the user has a role on it.
fn default_project(state: &State, user: &str) -> Option<Scope> {
    let id = state.users.get(user)?.default_project_id.as_deref()?;
    let project = state.projects.get(id).filter(|project| state.is_project_active(project))?;
    let scope = Scope::Project(project.id.clone());
    (!state.roles_at(user, &scope).is_empty()).then_some(scope)
}

fn find_user<'a>(state: &'a State, user: &UserRef) -> Option<&'a User> {
    let found = match user {
        UserRef::Id(id) => state.users.get(id),
        UserRef::Named(name, domain) => state.users.named(&find_domain(state, domain)?, name),
    };
    found.filter(|user| state.is_user_active(user))
}

fn find_domain(state: &State, domain: &DomainRef) -> Option<String> {
    let found = match domain {
        DomainRef::Id(id) => state.domains.get(id),
        DomainRef::Name(name) => state.domains.named("", name),
    };
    found.filter(|domain| domain.enabled).map(|domain| domain.id.clone())
}

fn find_project<'a>(state: &'a State, project: &ProjectRef) -> Option<&'a Project> {
    let found = match project {
        ProjectRef::Id(id) => state.projects.get(id),
        ProjectRef::Named(name, domain) => state.projects.named(&find_domain(state, domain)?, name),
    };
    found.filter(|project| state.is_project_active(project))
}

fn find_app<'a>(state: &'a State, which: &AppRef) -> Result<&'a AppCredential, ApiError> {
    match which {
        AppRef::Id(id) => {
            let missing = || ApiError::missing("Application Credential", id);
            state.app_credentials.get(id).ok_or_else(missing)
        }
        AppRef::Named(name, user) => {
            let user = find_user(state, user).ok_or_else(ApiError::unauthorized)?;
            let missing = || ApiError::missing("Application Credential", name);
            state.app_credentials.named(&user.id, name).ok_or_else(missing)
        }
    }
}
