//! `POST /v3/auth/tokens`: who is it, and what may they have.

use super::super::ask::{Answer, Ask, Reply};
use super::super::problem::Problem;
use super::super::records::{AppCredential, Place, Project, User};
use super::super::secret;
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::{Grantee, Subject};
use super::issue::{body, issue};
use super::wish::{self, AppRef, DomainRef, ProjectRef, Proof, Scope, UserRef};

/// What the proofs of a login amount to.
struct Proved {
    user: String,
    methods: Vec<String>,
    chain: Option<String>,
    expires: Moment,
    app_credential: Option<AppCredential>,
}

pub(in super::super) fn login(ask: &Ask<'_>) -> Answer {
    let wish = wish::read(&ask.body)?;
    let mut proved: Option<Proved> = None;
    for proof in &wish.proofs {
        let next = prove(ask, proof, &wish.scope)?;
        proved = Some(match proved {
            None => next,
            Some(before) => both(before, next)?,
        });
    }
    let proved = proved.ok_or_else(Problem::unauthorized)?;
    let who = ask.identity.look(|state| grantee(state, proved, &wish.scope, ask.now))?;
    let with_trust = who.trust.is_some();
    let (token, subject) =
        issue(ask.identity, who, ask.now).map_err(|problem| match problem.status {
            // The trustor no longer has what they handed on.
            404 if with_trust => Problem::forbidden(""),
            404 => Problem::unauthorized(),
            _ => problem,
        })?;
    let told = ask.identity.look(|state| body(state, &subject, !ask.asks_for("nocatalog")));
    Ok(Reply::created(told).with("x-subject-token", token))
}

fn prove(ask: &Ask<'_>, proof: &Proof, scope: &Scope) -> Result<Proved, Problem> {
    let horizon = ask.horizon();
    match proof {
        Proof::Password { user, password } => {
            let user = ask.identity.look(|state| find_user(state, user).cloned());
            let hash = user.as_ref().and_then(|user| user.password.as_deref());
            let right = secret::password_is(password.as_deref().unwrap_or_default(), hash);
            let user = user.filter(|_| right && password.is_some());
            let user = user.ok_or_else(Problem::unauthorized)?;
            Ok(Proved::by("password", user.id, horizon))
        }
        Proof::Token(token) => {
            let subject = ask.examine(token, 0)?;
            may_be_exchanged(&subject, scope)?;
            let Subject { claims, .. } = subject;
            // A chain of tokens never lasts longer than its first one.
            let mut proved = Proved::by("token", claims.user, claims.expires);
            proved.methods.extend(claims.methods.into_iter().filter(|method| method != "token"));
            proved.chain = claims.audit.last().cloned();
            Ok(proved)
        }
        Proof::AppCredential { which, secret } => {
            if !matches!(scope, Scope::Unsaid | Scope::Unscoped) {
                let why = "Error authenticating with application credential: \
                           Application credentials cannot request a scope.";
                return Err(Problem::login(why).with_identity(serde_json::json!({})));
            }
            let credential = ask.identity.look(|state| find_app(state, which).cloned())?;
            let right = secret::password_is(
                secret.as_deref().unwrap_or_default(),
                Some(&credential.secret),
            );
            if !right || secret.is_none() {
                return Err(Problem::unauthorized());
            }
            let end = credential.expires_at.map_or(horizon, |end| end.min(horizon));
            let mut proved = Proved::by("application_credential", credential.user_id.clone(), end);
            proved.app_credential = Some(credential);
            Ok(proved)
        }
    }
}

impl Proved {
    fn by(method: &str, user: String, expires: Moment) -> Proved {
        let methods = vec![method.to_owned()];
        Proved { user, methods, chain: None, expires, app_credential: None }
    }
}

/// Two proofs have to be about the same user.
fn both(one: Proved, other: Proved) -> Result<Proved, Problem> {
    if one.user != other.user {
        return Err(Problem::unauthorized());
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
    Ok(Proved {
        user: one.user,
        methods,
        chain: one.chain.or(other.chain),
        expires: one.expires.min(other.expires),
        app_credential: one.app_credential.or(other.app_credential),
    })
}

/// What was delegated cannot be turned into something else.
fn may_be_exchanged(subject: &Subject, scope: &Scope) -> Result<(), Problem> {
    if subject.trust.is_some() {
        return Err(Problem::forbidden(
            "Using trust-scoped token to create another token. Create a new trust-scoped token instead",
        ));
    }
    if subject.is_system() && matches!(scope, Scope::Project(_) | Scope::Domain(_)) {
        return Err(Problem::forbidden(
            "Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.",
        ));
    }
    if subject.is_delegated() {
        return Err(Problem::forbidden(
            "Using a delegated token to create another token is not allowed.",
        ));
    }
    Ok(())
}

fn grantee(state: &State, proved: Proved, scope: &Scope, now: Moment) -> Result<Grantee, Problem> {
    let mut who = Grantee {
        user: proved.user,
        methods: proved.methods,
        scope: None,
        chain: proved.chain,
        expires: proved.expires,
        trust: None,
        app_credential: None,
    };
    if let Some(credential) = proved.app_credential {
        who.scope = credential.project_id.map(Place::Project);
        who.app_credential = Some(credential.id);
        return Ok(who);
    }
    who.scope = match scope {
        Scope::Unsaid => default_project(state, &who.user),
        Scope::Unscoped => None,
        Scope::Project(project) => Some(Place::Project(
            find_project(state, project).ok_or_else(Problem::unauthorized)?.id.clone(),
        )),
        Scope::Domain(domain) => {
            Some(Place::Domain(find_domain(state, domain).ok_or_else(Problem::unauthorized)?))
        }
        Scope::System => Some(Place::System),
        Scope::Trust(id) => return with_trust(state, who, id, now),
    };
    Ok(who)
}

fn with_trust(state: &State, who: Grantee, id: &str, now: Moment) -> Result<Grantee, Problem> {
    let trust = state.trusts.get(id).filter(|trust| {
        trust.expires_at.is_none_or(|end| end > now) && trust.remaining_uses != Some(0)
    });
    let trust = trust.ok_or_else(Problem::unauthorized)?;
    if trust.trustee != who.user {
        return Err(Problem::forbidden(""));
    }
    Ok(Grantee {
        scope: trust.project_id.clone().map(Place::Project),
        expires: trust.expires_at.map_or(who.expires, |end| end.min(who.expires)),
        trust: Some(trust.id.clone()),
        ..who
    })
}

/// The project that a user works in when they do not say, if they may.
fn default_project(state: &State, user: &str) -> Option<Place> {
    let id = state.users.get(user)?.default_project_id.as_deref()?;
    let project = state.projects.get(id).filter(|project| state.project_lives(project))?;
    let place = Place::Project(project.id.clone());
    (!state.roles_at(user, &place).is_empty()).then_some(place)
}

fn find_user<'a>(state: &'a State, user: &UserRef) -> Option<&'a User> {
    let found = match user {
        UserRef::Id(id) => state.users.get(id),
        UserRef::Named(name, domain) => state.users.named(&find_domain(state, domain)?, name),
    };
    found.filter(|user| state.user_lives(user))
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
    found.filter(|project| state.project_lives(project))
}

fn find_app<'a>(state: &'a State, which: &AppRef) -> Result<&'a AppCredential, Problem> {
    match which {
        AppRef::Id(id) => {
            let missing = || Problem::missing("Application Credential", id);
            state.app_credentials.get(id).ok_or_else(missing)
        }
        AppRef::Named(name, user) => {
            let user = find_user(state, user).ok_or_else(Problem::unauthorized)?;
            let missing = || Problem::missing("Application Credential", name);
            state.app_credentials.named(&user.id, name).ok_or_else(missing)
        }
    }
}
