//! `/v3/OS-TRUST/trusts`: one user lets another act for them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::{Place, Revoked, Trust};
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::Subject;
use super::app_credentials::{expiry, named_role};
use super::roles::show_role;

const FIELDS: &[Field] = &[
    ("trustor_user_id", Kind::Text, true),
    ("trustee_user_id", Kind::Text, true),
    ("impersonation", Kind::Flag, true),
    ("allow_redelegation", Kind::Switch, false),
    ("expires_at", Kind::Note, false),
    ("project_id", Kind::Note, false),
    ("redelegation_count", Kind::Count, false),
    ("remaining_uses", Kind::Count, false),
    ("roles", Kind::Objects, false),
];

/// A trust can be handed on so many times.
const MOST_REDELEGATIONS: u64 = 3;

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(ask, &caller)?;
    let (trustor, trustee) = (ask.query("trustor_user_id"), ask.query("trustee_user_id"));
    if trustor.is_none() && trustee.is_none() {
        caller.may("list_trusts", Target::default())?;
    }
    if let Some(user) = trustor {
        let target = Target { users: &[user], ..Target::default() };
        caller.may("list_trusts_for_trustor", target)?;
    }
    if let Some(user) = trustee {
        let target = Target { users: &[user], ..Target::default() };
        caller.may("list_trusts_for_trustee", target)?;
    }
    let rows = ask.identity.look(|state| {
        let live = state.trusts.iter().filter(|trust| lives(trust, ask.now));
        live.map(|trust| show_trust(ask, trust)).collect()
    });
    ask.list("trusts", rows, &["trustee_user_id", "trustor_user_id"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    primary(ask, &caller)?;
    let asked = shape::object(&ask.body, "trust", FIELDS)?;
    let text = |name: &str| shape::text(asked, name);
    let trustor = text("trustor_user_id").unwrap_or_default();
    caller.may("create_trust", Target { users: &[&trustor], ..Target::default() })?;
    let mut trust = Trust {
        id: new_id()?,
        trustor,
        trustee: text("trustee_user_id").unwrap_or_default(),
        project_id: text("project_id"),
        impersonation: shape::flag(asked, "impersonation").unwrap_or(false),
        roles: Vec::new(),
        expires_at: expiry(asked, ask.now)?,
        remaining_uses: asked.get("remaining_uses").and_then(Value::as_u64),
        redelegated_trust_id: None,
        redelegation_count: redelegations(asked)?,
    };
    if trust.redelegation_count > 0 && trust.remaining_uses.is_some() {
        return Err(Problem::bad("remaining_uses must not be set if redelegation is allowed"));
    }
    let shown = ask.identity.change(|state| {
        if !state.users.has(&trust.trustee) {
            return Err(Problem::missing("user", &trust.trustee));
        }
        trust.roles = roles(state, &trust, asked)?;
        if let Some(source) = &caller.trust {
            redelegate(state, source, &mut trust)?;
        }
        let shown = show_whole(ask, state, &trust);
        let _ = state.trusts.put(trust);
        Ok(shown)
    })?;
    Ok(Reply::created(json!({ "trust": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let trust = find(ask, "get_trust")?;
    let shown = ask.identity.look(|state| show_whole(ask, state, &trust));
    Ok(Reply::ok(json!({ "trust": shown })))
}

/// Removes a trust and those that were made of it.
pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let trust = find(ask, "delete_trust")?;
    ask.identity.change(|state| {
        let mut gone = vec![trust.id];
        while let Some(id) = gone.pop() {
            state.trusts.remove(&id);
            let from = |trust: &&Trust| trust.redelegated_trust_id.as_ref() == Some(&id);
            gone.extend(state.trusts.iter().filter(from).map(|trust| trust.id.clone()));
            state.revoke(Revoked::Trust(id), ask.now, ask.horizon());
        }
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn roles_of(ask: &Ask<'_>) -> Answer {
    let trust = find(ask, "list_roles_for_trust")?;
    let roles = ask.identity.look(|state| show_roles(ask, state, &trust));
    Ok(Reply::ok(json!({ "roles": roles, "links": roles_links(ask, &trust) })))
}

pub(in super::super) fn role(ask: &Ask<'_>) -> Answer {
    let trust = find(ask, "get_role_for_trust")?;
    let id = ask.param(1);
    ask.identity.look(|state| {
        let role = state.roles.get(id).filter(|role| trust.roles.contains(&role.id));
        let role = role.ok_or_else(|| Problem::missing("role", id))?;
        Ok(Reply::ok(json!({ "role": show_role(ask, role) })))
    })
}

/// Whoever logged in with something narrower than themselves must not widen it by way of a trust.
///
/// An EC2 key or an unrestricted application credential could be used to make a trust with every Keystone before
/// release 30, and orchestration behind such a login needs it; see `Settings::delegated_trusts`.
fn primary(ask: &Ask<'_>, caller: &Subject) -> Result<(), Problem> {
    let restricted = caller.app_credential.as_ref().map(|own| own.unrestricted != Some(true));
    let by_key = caller.claims.methods.iter().any(|method| method == "ec2credential");
    let refused = match restricted {
        Some(true) => true,
        Some(false) => !ask.identity.delegated_trusts,
        None => by_key && !ask.identity.delegated_trusts,
    };
    if refused {
        return Err(Problem::forbidden("Delegated tokens cannot manage trusts."));
    }
    Ok(())
}

fn lives(trust: &Trust, now: Moment) -> bool {
    trust.expires_at.is_none_or(|end| end > now)
}

/// A trust that the caller may do this with; everybody is told that there is none.
fn find(ask: &Ask<'_>, rule: &str) -> Result<Trust, Problem> {
    let caller = ask.caller()?;
    primary(ask, &caller)?;
    let id = ask.param(0);
    let trust = ask.identity.look(|state| state.trusts.get(id).cloned());
    let trust = trust.filter(|trust| lives(trust, ask.now));
    let trust = trust.ok_or_else(|| Problem::missing("trust", id))?;
    let both = [trust.trustor.as_str(), trust.trustee.as_str()];
    let users = if rule == "delete_trust" { &both[..1] } else { &both[..] };
    caller.may(rule, Target { users, ..Target::default() })?;
    Ok(trust)
}

/// The roles that are handed on; the trustor has to have them.
fn roles(state: &State, trust: &Trust, asked: &Map<String, Value>) -> Result<Vec<String>, Problem> {
    let said = asked.get("roles").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let Some(project) = &trust.project_id else {
        if said.is_empty() {
            return Ok(Vec::new());
        }
        return Err(Problem::bad("A trust with roles needs a project_id."));
    };
    if !state.projects.has(project) {
        return Err(Problem::missing("project", project));
    }
    if said.is_empty() {
        return Err(Problem::forbidden("At least one role should be specified"));
    }
    let held = state.roles_at(&trust.trustor, &Place::Project(project.clone()));
    let mut roles = Vec::new();
    for role in said {
        let id = named_role(state, role)?;
        if !held.contains(&id) {
            return Err(Problem::missing("role", &id));
        }
        if !roles.contains(&id) {
            roles.push(id);
        }
    }
    Ok(roles)
}

fn redelegations(asked: &Map<String, Value>) -> Result<u64, Problem> {
    if shape::flag(asked, "allow_redelegation") != Some(true) {
        return Ok(0);
    }
    match asked.get("redelegation_count").and_then(Value::as_u64) {
        None => Ok(MOST_REDELEGATIONS),
        Some(count) if count <= MOST_REDELEGATIONS => Ok(count),
        Some(count) => Err(Problem::refused(format!(
            "Requested redelegation depth of {count} is greater than allowed {MOST_REDELEGATIONS}"
        ))),
    }
}

/// A trust made with a trust: never more than that one allows.
fn redelegate(state: &State, source: &Trust, trust: &mut Trust) -> Result<(), Problem> {
    let all = state.with_implied(source.roles.iter().cloned().collect::<BTreeSet<_>>());
    let longer = source.expires_at.is_some_and(|end| trust.expires_at.is_none_or(|own| own > end));
    if source.redelegation_count == 0
        || trust.trustor != source.trustor
        || trust.project_id != source.project_id
        || longer
        || trust.roles.iter().any(|role| !all.contains(role))
    {
        return Err(Problem::forbidden(""));
    }
    trust.redelegated_trust_id = Some(source.id.clone());
    trust.redelegation_count = trust.redelegation_count.min(source.redelegation_count - 1);
    Ok(())
}

fn show_trust(ask: &Ask<'_>, trust: &Trust) -> Value {
    let shown = json!({
        "id": trust.id, "trustor_user_id": trust.trustor, "trustee_user_id": trust.trustee,
        "project_id": trust.project_id, "impersonation": trust.impersonation,
        "expires_at": trust.expires_at.map(Moment::zulu), "remaining_uses": trust.remaining_uses,
        "deleted_at": null, "redelegated_trust_id": trust.redelegated_trust_id,
        "redelegation_count": trust.redelegation_count,
    });
    ask.linked(shown, "OS-TRUST/trusts", &trust.id)
}

fn show_whole(ask: &Ask<'_>, state: &State, trust: &Trust) -> Value {
    let mut shown = show_trust(ask, trust);
    shown["roles"] = json!(show_roles(ask, state, trust));
    shown["roles_links"] = roles_links(ask, trust);
    shown
}

fn show_roles(ask: &Ask<'_>, state: &State, trust: &Trust) -> Vec<Value> {
    let roles = trust.roles.iter().filter_map(|id| state.roles.get(id));
    roles.map(|role| show_role(ask, role)).collect()
}

fn roles_links(ask: &Ask<'_>, trust: &Trust) -> Value {
    let own = ask.link(&format!("OS-TRUST/trusts/{}/roles", trust.id));
    json!({ "self": own, "next": null, "previous": null })
}
