//! `/v3/OS-TRUST/trusts`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Revoked, Scope, Trust};
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::time::Moment;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::app_credentials::{expiry, named_role};
use super::roles::show_role;

const FIELDS: &[Field] = &[
    ("trustor_user_id", FieldType::Text, true),
    ("trustee_user_id", FieldType::Text, true),
    ("impersonation", FieldType::Flag, true),
    ("allow_redelegation", FieldType::Switch, false),
    ("expires_at", FieldType::Note, false),
    ("project_id", FieldType::Note, false),
    ("redelegation_count", FieldType::Count, false),
    ("remaining_uses", FieldType::Count, false),
    ("roles", FieldType::Objects, false),
];

/// The maximal length of a chain of redelegated trusts.
const MAX_REDELEGATIONS: u64 = 3;

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(request, &caller)?;
    let (trustor, trustee) = (request.query("trustor_user_id"), request.query("trustee_user_id"));
    if trustor.is_none() && trustee.is_none() {
        caller.authorize("list_trusts", Target::default())?;
    }
    if let Some(user) = trustor {
        let target = Target { users: &[user], ..Target::default() };
        caller.authorize("list_trusts_for_trustor", target)?;
    }
    if let Some(user) = trustee {
        let target = Target { users: &[user], ..Target::default() };
        caller.authorize("list_trusts_for_trustee", target)?;
    }
    let rows = request.identity.read(|state| {
        let live = state.trusts.iter().filter(|trust| lives(trust, request.now));
        live.map(|trust| show_trust(request, trust)).collect()
    });
    request.list("trusts", rows, &["trustee_user_id", "trustor_user_id"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    primary(request, &caller)?;
    let requested = validation::object(&request.body, "trust", FIELDS)?;
    let text = |name: &str| validation::text(requested, name);
    let trustor = text("trustor_user_id").unwrap_or_default();
    caller.authorize("create_trust", Target { users: &[&trustor], ..Target::default() })?;
    let mut trust = Trust {
        id: new_id()?,
        trustor,
        trustee: text("trustee_user_id").unwrap_or_default(),
        project_id: text("project_id"),
        impersonation: validation::flag(requested, "impersonation").unwrap_or(false),
        roles: Vec::new(),
        expires_at: expiry(requested, request.now)?,
        remaining_uses: requested.get("remaining_uses").and_then(Value::as_u64),
        redelegated_trust_id: None,
        redelegation_count: redelegations(requested)?,
    };
    if trust.redelegation_count > 0 && trust.remaining_uses.is_some() {
        return Err(ApiError::bad("remaining_uses must not be set if redelegation is allowed"));
    }
    let rendered = request.identity.update(|state| {
        if !state.users.has(&trust.trustee) {
            return Err(ApiError::missing("user", &trust.trustee));
        }
        trust.roles = roles(state, &trust, requested)?;
        if let Some(source) = &caller.trust {
            redelegate(state, source, &mut trust)?;
        }
        let rendered = show_whole(request, state, &trust);
        let _ = state.trusts.put(trust);
        Ok(rendered)
    })?;
    Ok(Reply::created(json!({ "trust": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let trust = find(request, "get_trust")?;
    let rendered = request.identity.read(|state| show_whole(request, state, &trust));
    Ok(Reply::ok(json!({ "trust": rendered })))
}

/// Removes a trust and the trusts that were redelegated from it.
pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let trust = find(request, "delete_trust")?;
    request.identity.update(|state| {
        let mut gone = vec![trust.id];
        while let Some(id) = gone.pop() {
            state.trusts.remove(&id);
            let from = |trust: &&Trust| trust.redelegated_trust_id.as_ref() == Some(&id);
            gone.extend(state.trusts.iter().filter(from).map(|trust| trust.id.clone()));
            state.revoke(Revoked::Trust(id), request.now, request.token_expiry());
        }
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn roles_of(request: &Request<'_>) -> Answer {
    let trust = find(request, "list_roles_for_trust")?;
    let roles = request.identity.read(|state| show_roles(request, state, &trust));
    Ok(Reply::ok(json!({ "roles": roles, "links": roles_links(request, &trust) })))
}

pub(in super::super) fn role(request: &Request<'_>) -> Answer {
    let trust = find(request, "get_role_for_trust")?;
    let id = request.param(1);
    request.identity.read(|state| {
        let role = state.roles.get(id).filter(|role| trust.roles.contains(&role.id));
        let role = role.ok_or_else(|| ApiError::missing("role", id))?;
        Ok(Reply::ok(json!({ "role": show_role(request, role) })))
    })
}

/// Rejects delegated tokens, which must not gain rights through a trust.
///
/// Before release 30, Keystone accepted EC2 keys and unrestricted application credentials here, and orchestration
/// depends on it for such logins; see `IdentityOptions::delegated_trusts`.
fn primary(request: &Request<'_>, caller: &Subject) -> Result<(), ApiError> {
    let restricted = caller.app_credential.as_ref().map(|own| own.unrestricted != Some(true));
    let by_key = caller.claims.methods.iter().any(|method| method == "ec2credential");
    let refused = match restricted {
        Some(true) => true,
        Some(false) => !request.identity.delegated_trusts,
        None => by_key && !request.identity.delegated_trusts,
    };
    if refused {
        return Err(ApiError::forbidden("Delegated tokens cannot manage trusts."));
    }
    Ok(())
}

fn lives(trust: &Trust, now: Moment) -> bool {
    trust.expires_at.is_none_or(|end| end > now)
}

/// Finds a trust and authorizes the caller; every caller learns that a trust does not exist.
fn find(request: &Request<'_>, rule: &str) -> Result<Trust, ApiError> {
    let caller = request.caller()?;
    primary(request, &caller)?;
    let id = request.param(0);
    let trust = request.identity.read(|state| state.trusts.get(id).cloned());
    let trust = trust.filter(|trust| lives(trust, request.now));
    let trust = trust.ok_or_else(|| ApiError::missing("trust", id))?;
    let both = [trust.trustor.as_str(), trust.trustee.as_str()];
    let users = if rule == "delete_trust" { &both[..1] } else { &both[..] };
    caller.authorize(rule, Target { users, ..Target::default() })?;
    Ok(trust)
}

/// Returns the roles to delegate, all of which the trustor must have.
fn roles(
    state: &State,
    trust: &Trust,
    requested: &Map<String, Value>,
) -> Result<Vec<String>, ApiError> {
    let role_refs = requested.get("roles").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let Some(project) = &trust.project_id else {
        if role_refs.is_empty() {
            return Ok(Vec::new());
        }
        return Err(ApiError::bad("A trust with roles needs a project_id."));
    };
    if !state.projects.has(project) {
        return Err(ApiError::missing("project", project));
    }
    if role_refs.is_empty() {
        return Err(ApiError::forbidden("At least one role should be specified"));
    }
    let held = state.roles_at(&trust.trustor, &Scope::Project(project.clone()));
    let mut roles = Vec::new();
    for role in role_refs {
        let id = named_role(state, role)?;
        if !held.contains(&id) {
            return Err(ApiError::missing("role", &id));
        }
        if !roles.contains(&id) {
            roles.push(id);
        }
    }
    Ok(roles)
}

fn redelegations(requested: &Map<String, Value>) -> Result<u64, ApiError> {
    if validation::flag(requested, "allow_redelegation") != Some(true) {
        return Ok(0);
    }
    match requested.get("redelegation_count").and_then(Value::as_u64) {
        None => Ok(MAX_REDELEGATIONS),
        Some(count) if count <= MAX_REDELEGATIONS => Ok(count),
        Some(count) => Err(ApiError::refused(format!(
            "Requested redelegation depth of {count} is greater than allowed {MAX_REDELEGATIONS}"
        ))),
    }
}

/// Limits a redelegated trust to the rights of its source.
fn redelegate(state: &State, source: &Trust, trust: &mut Trust) -> Result<(), ApiError> {
    let all = state.with_implied(source.roles.iter().cloned().collect::<BTreeSet<_>>());
    let longer = source.expires_at.is_some_and(|end| trust.expires_at.is_none_or(|own| own > end));
    if source.redelegation_count == 0
        || trust.trustor != source.trustor
        || trust.project_id != source.project_id
        || longer
        || trust.roles.iter().any(|role| !all.contains(role))
    {
        return Err(ApiError::forbidden(""));
    }
    trust.redelegated_trust_id = Some(source.id.clone());
    trust.redelegation_count = trust.redelegation_count.min(source.redelegation_count - 1);
    Ok(())
}

fn show_trust(request: &Request<'_>, trust: &Trust) -> Value {
    let rendered = json!({
        "id": trust.id, "trustor_user_id": trust.trustor, "trustee_user_id": trust.trustee,
        "project_id": trust.project_id, "impersonation": trust.impersonation,
        "expires_at": trust.expires_at.map(Moment::zulu), "remaining_uses": trust.remaining_uses,
        "deleted_at": null, "redelegated_trust_id": trust.redelegated_trust_id,
        "redelegation_count": trust.redelegation_count,
    });
    request.with_self_link(rendered, "OS-TRUST/trusts", &trust.id)
}

fn show_whole(request: &Request<'_>, state: &State, trust: &Trust) -> Value {
    let mut rendered = show_trust(request, trust);
    rendered["roles"] = json!(show_roles(request, state, trust));
    rendered["roles_links"] = roles_links(request, trust);
    rendered
}

fn show_roles(request: &Request<'_>, state: &State, trust: &Trust) -> Vec<Value> {
    let roles = trust.roles.iter().filter_map(|id| state.roles.get(id));
    roles.map(|role| show_role(request, role)).collect()
}

fn roles_links(request: &Request<'_>, trust: &Trust) -> Value {
    let own = request.link(&format!("OS-TRUST/trusts/{}/roles", trust.id));
    json!({ "self": own, "next": null, "previous": null })
}
