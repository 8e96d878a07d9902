//! `/v3/auth`: validation and revocation of tokens, and the scopes that a user can choose.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Revoked, Scope};
use super::super::request::{Answer, Reply, Request};
use super::super::token::Subject;
use super::catalogue::catalogue;
use super::issue::body;
use super::{domains, projects};

/// The time in seconds for which a service can still validate an expired token, because work may take longer than a
/// token lasts.
const GRACE_SECS: u64 = 48 * 3600;

pub(in super::super) fn validate(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let (token, subject) = subject(request, request.has_flag("allow_expired"))?;
    // A token belongs to the user who logged in, not to the user on whose behalf it acts.
    let target = Target { users: &[&subject.claims.user], ..Target::default() };
    caller.authorize("validate_token", target)?;
    let document =
        request.identity.read(|state| body(state, &subject, !request.has_flag("nocatalog")));
    Ok(Reply::ok(document).with("x-subject-token", token))
}

pub(in super::super) fn revoke(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let (_, subject) = subject(request, false)?;
    let target = Target { users: &[&subject.claims.user], ..Target::default() };
    caller.authorize("revoke_token", target)?;
    let claims = subject.claims;
    let id = claims.audit.into_iter().next().unwrap_or_default();
    request.identity.update(|state| {
        state.revoke(
            Revoked::Token(id, claims.issued),
            request.now,
            claims.expires.plus_seconds(GRACE_SECS),
        );
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn catalog(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let project = caller.project.as_ref().ok_or_else(|| ApiError::forbidden(""))?;
    let rendered =
        request.identity.read(|state| catalogue(state, Some(&project.id), &caller.user.id));
    let links = json!({ "self": request.link("auth/catalog") });
    Ok(Reply::ok(json!({ "catalog": rendered, "links": links })))
}

pub(in super::super) fn projects(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.list("projects", projects::of_user(request, &caller.user.id), &[])
}

pub(in super::super) fn domains(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let rows: Vec<Value> = request.identity.read(|state| {
        let scopes = state.scopes_of(&caller.user.id);
        let mine = scopes.into_iter().filter_map(|scope| match scope {
            Scope::Domain(id) => state.domains.get(id),
            _ => None,
        });
        let mine = mine.filter(|domain| domain.enabled);
        mine.map(|domain| domains::show_domain(request, domain)).collect()
    });
    request.list("domains", rows, &[])
}

pub(in super::super) fn system(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let is_there =
        request.identity.read(|state| state.scopes_of(&caller.user.id).contains(&Scope::System));
    let system = if is_there { json!([{ "all": true }]) } else { json!([]) };
    Ok(Reply::ok(json!({ "system": system, "links": { "self": request.link("auth/system") } })))
}

fn subject(request: &Request<'_>, even_expired: bool) -> Result<(String, Subject), ApiError> {
    let none = || ApiError::not_found("No token in the request");
    let token = request.subject.clone().ok_or_else(none)?;
    let subject = request.examine(&token, if even_expired { GRACE_SECS } else { 0 })?;
    Ok((token, subject))
}
