//! `/v3/auth`: tokens that exist, and what their holder can reach.

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply};
use super::super::problem::Problem;
use super::super::records::{Place, Revoked};
use super::super::rights::Target;
use super::super::token::Subject;
use super::catalogue::catalogue;
use super::issue::body;
use super::{domains, projects};

/// An expired token is still shown for so many seconds to a service that asks for it: work may take longer than a token lasts.
const GRACE: u64 = 48 * 3600;

pub(in super::super) fn validate(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let (token, subject) = subject(ask, ask.asks_for("allow_expired"))?;
    // A token is its holder's: of the one who logged in, not of the one they act for.
    let target = Target { users: &[&subject.claims.user], ..Target::default() };
    caller.may("validate_token", target)?;
    let told = ask.identity.look(|state| body(state, &subject, !ask.asks_for("nocatalog")));
    Ok(Reply::ok(told).with("x-subject-token", token))
}

pub(in super::super) fn revoke(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let (_, subject) = subject(ask, false)?;
    let target = Target { users: &[&subject.claims.user], ..Target::default() };
    caller.may("revoke_token", target)?;
    let claims = subject.claims;
    let id = claims.audit.into_iter().next().unwrap_or_default();
    ask.identity.change(|state| {
        state.revoke(
            Revoked::Token(id, claims.issued),
            ask.now,
            claims.expires.plus_seconds(GRACE),
        );
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn catalog(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let project = caller.project.as_ref().ok_or_else(|| Problem::forbidden(""))?;
    let shown = ask.identity.look(|state| catalogue(state, Some(&project.id), &caller.user.id));
    let links = json!({ "self": ask.link("auth/catalog") });
    Ok(Reply::ok(json!({ "catalog": shown, "links": links })))
}

pub(in super::super) fn projects(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.list("projects", projects::of_user(ask, &caller.user.id), &[])
}

pub(in super::super) fn domains(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let rows: Vec<Value> = ask.identity.look(|state| {
        let places = state.places_of(&caller.user.id);
        let mine = places.into_iter().filter_map(|place| match place {
            Place::Domain(id) => state.domains.get(id),
            _ => None,
        });
        let mine = mine.filter(|domain| domain.enabled);
        mine.map(|domain| domains::show_domain(ask, domain)).collect()
    });
    ask.list("domains", rows, &[])
}

pub(in super::super) fn system(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let is_there =
        ask.identity.look(|state| state.places_of(&caller.user.id).contains(&Place::System));
    let system = if is_there { json!([{ "all": true }]) } else { json!([]) };
    Ok(Reply::ok(json!({ "system": system, "links": { "self": ask.link("auth/system") } })))
}

fn subject(ask: &Ask<'_>, even_expired: bool) -> Result<(String, Subject), Problem> {
    let none = || Problem::not_found("No token in the request");
    let token = ask.subject.clone().ok_or_else(none)?;
    let subject = ask.examine(&token, if even_expired { GRACE } else { 0 })?;
    Ok((token, subject))
}
