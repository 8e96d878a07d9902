//! `/v3/groups` and their members.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Group, Membership, membership_id};
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::users::{home_domain, show_user};

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(255), true),
    ("description", FieldType::Note, false),
    ("domain_id", FieldType::Text, false),
];

const KNOWN: &[&str] = &["description", "domain_id", "id", "links", "name"];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    caller.authorize("list_groups", Target::default())?;
    let rows = request.identity.read(|state| {
        let own = caller.scope_domain();
        let seen = state.groups.iter().filter(|group| own.is_none_or(|own| group.domain_id == own));
        seen.map(|group| show_group(request, group)).collect()
    });
    request.list("groups", rows, &["domain_id", "name"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "group", FIELDS)?;
    let domain = home_domain(&caller, requested);
    caller.authorize("create_group", Target { domains: &[&domain], ..Target::default() })?;
    let description = match requested.get("description") {
        Some(value) => value.as_str().map(str::to_owned),
        None => Some(String::new()),
    };
    let group = Group {
        id: new_id()?,
        domain_id: domain,
        name: validation::text(requested, "name").unwrap_or_default(),
        description,
        extra: validation::extra_fields(requested, KNOWN),
    };
    let rendered = show_group(request, &group);
    request.identity.update(|state| {
        if !state.domains.has(&group.domain_id) {
            return Err(ApiError::missing("domain", &group.domain_id));
        }
        let taken = format!(
            "Duplicate entry found with name {} at domain ID {}",
            group.name, group.domain_id
        );
        state.groups.add(group).map_err(|_| ApiError::conflict("group", taken))
    })?;
    Ok(Reply::created(json!({ "group": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let group =
        request.identity.read(|state| find(state, request.param(0), &caller, "get_group"))?;
    Ok(Reply::ok(json!({ "group": show_group(request, &group) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let group = request.identity.update(|state| {
        let group = find(state, request.param(0), &caller, "update_group")?;
        let requested = validation::non_empty_object(&request.body, "group", &fields)?;
        let differs = |field: &str, now: &str| {
            requested.get(field).is_some_and(|value| value.as_str() != Some(now))
        };
        if differs("id", &group.id) {
            return Err(ApiError::bad("Cannot change ID"));
        }
        if differs("domain_id", &group.domain_id) {
            return Err(ApiError::bad("Cannot change Domain ID"));
        }
        let mut fresh = group;
        if let Some(name) = validation::text(requested, "name") {
            fresh.name = name;
        }
        if requested.contains_key("description") {
            fresh.description = validation::text(requested, "description");
        }
        fresh.extra.extend(validation::extra_fields(requested, KNOWN));
        let taken = format!("Duplicate entry found with name {}", fresh.name);
        state.groups.put(fresh.clone()).map_err(|_| ApiError::conflict("group", taken))?;
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "group": show_group(request, &group) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let group = find(state, request.param(0), &caller, "delete_group")?;
        state.remove_group(&group.id);
        Ok(Reply::done())
    })
}

pub(in super::super) fn members(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let rows = request.identity.read(|state| {
        let group = find(state, request.param(0), &caller, "list_users_in_group")?;
        let users = state.members_of(&group.id).map(|user| show_user(request, user));
        Ok::<Vec<Value>, ApiError>(users.collect())
    })?;
    request.list("users", rows, &["domain_id", "enabled", "name"])
}

pub(in super::super) fn check_member(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.read(|state| {
        let member = membership(request, state, &caller, "check_user_in_group")?;
        let is_in = state.memberships.has(&membership_id(&member.user, &member.group));
        if is_in { Ok(Reply::done()) } else { Err(not_a_member(&member)) }
    })
}

pub(in super::super) fn add_member(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let member = membership(request, state, &caller, "add_user_to_group")?;
        // Adding a member again is not an error.
        let _ = state.memberships.put(member);
        Ok(Reply::done())
    })
}

pub(in super::super) fn remove_member(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let member = membership(request, state, &caller, "remove_user_from_group")?;
        let gone = state.memberships.remove(&membership_id(&member.user, &member.group));
        gone.map(|_| Reply::done()).ok_or_else(|| not_a_member(&member))
    })
}

/// Returns the membership in the path, if the caller is authorized and both records exist.
fn membership(
    request: &Request<'_>,
    state: &State,
    caller: &Subject,
    rule: &str,
) -> Result<Membership, ApiError> {
    let (group, user) = (state.groups.get(request.param(0)), state.users.get(request.param(1)));
    let both = group.zip(user).map(|(group, user)| [&*group.domain_id, &*user.domain_id]);
    let domains = both.as_ref().map_or(&[][..], |both| both.as_slice());
    caller.authorize(rule, Target { domains, ..Target::default() })?;
    let group = group.ok_or_else(|| ApiError::missing("group", request.param(0)))?;
    let user = user.ok_or_else(|| ApiError::missing("user", request.param(1)))?;
    Ok(Membership { group: group.id.clone(), user: user.id.clone() })
}

fn not_a_member(member: &Membership) -> ApiError {
    ApiError::not_found(format!("User '{}' not found in group '{}'", member.user, member.group))
}

/// Finds a group and authorizes the caller. Only an authorized caller learns that a group does not exist.
fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Group, ApiError> {
    let Some(group) = state.groups.get(id) else {
        caller.authorize(rule, Target::default())?;
        return Err(ApiError::missing("group", id));
    };
    caller.authorize(rule, Target { domains: &[&group.domain_id], ..Target::default() })?;
    Ok(group.clone())
}

pub(super) fn show_group(request: &Request<'_>, group: &Group) -> Value {
    let mut rendered = group.extra.clone();
    let mut set = |key: &str, value: Value| rendered.insert(key.to_owned(), value);
    set("id", json!(group.id));
    set("name", json!(group.name));
    set("domain_id", json!(group.domain_id));
    set("description", json!(group.description));
    request.with_self_link(Value::Object(rendered), "groups", &group.id)
}
