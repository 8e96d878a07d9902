//! `/v3/groups`, and who is in them.

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::{Group, Membership, membership_id};
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::token::Subject;
use super::users::{home_domain, show_user};

const FIELDS: &[Field] = &[
    ("name", Kind::Name(255), true),
    ("description", Kind::Note, false),
    ("domain_id", Kind::Text, false),
];

const KNOWN: &[&str] = &["description", "domain_id", "id", "links", "name"];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    caller.may("list_groups", Target::default())?;
    let rows = ask.identity.look(|state| {
        let own = caller.own_domain();
        let seen = state.groups.iter().filter(|group| own.is_none_or(|own| group.domain_id == own));
        seen.map(|group| show_group(ask, group)).collect()
    });
    ask.list("groups", rows, &["domain_id", "name"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "group", FIELDS)?;
    let domain = home_domain(&caller, asked);
    caller.may("create_group", Target { domains: &[&domain], ..Target::default() })?;
    let description = match asked.get("description") {
        Some(said) => said.as_str().map(str::to_owned),
        None => Some(String::new()),
    };
    let group = Group {
        id: new_id()?,
        domain_id: domain,
        name: shape::text(asked, "name").unwrap_or_default(),
        description,
        extra: shape::others(asked, KNOWN),
    };
    let shown = show_group(ask, &group);
    ask.identity.change(|state| {
        if !state.domains.has(&group.domain_id) {
            return Err(Problem::missing("domain", &group.domain_id));
        }
        let taken = format!(
            "Duplicate entry found with name {} at domain ID {}",
            group.name, group.domain_id
        );
        state.groups.add(group).map_err(|_| Problem::conflict("group", taken))
    })?;
    Ok(Reply::created(json!({ "group": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let group = ask.identity.look(|state| find(state, ask.param(0), &caller, "get_group"))?;
    Ok(Reply::ok(json!({ "group": show_group(ask, &group) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let group = ask.identity.change(|state| {
        let group = find(state, ask.param(0), &caller, "update_group")?;
        let asked = shape::change(&ask.body, "group", &fields)?;
        let differs = |field: &str, now: &str| {
            asked.get(field).is_some_and(|value| value.as_str() != Some(now))
        };
        if differs("id", &group.id) {
            return Err(Problem::bad("Cannot change ID"));
        }
        if differs("domain_id", &group.domain_id) {
            return Err(Problem::bad("Cannot change Domain ID"));
        }
        let mut fresh = group;
        if let Some(name) = shape::text(asked, "name") {
            fresh.name = name;
        }
        if asked.contains_key("description") {
            fresh.description = shape::text(asked, "description");
        }
        fresh.extra.extend(shape::others(asked, KNOWN));
        let taken = format!("Duplicate entry found with name {}", fresh.name);
        state.groups.put(fresh.clone()).map_err(|_| Problem::conflict("group", taken))?;
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "group": show_group(ask, &group) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let group = find(state, ask.param(0), &caller, "delete_group")?;
        state.remove_group(&group.id);
        Ok(Reply::done())
    })
}

pub(in super::super) fn members(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let rows = ask.identity.look(|state| {
        let group = find(state, ask.param(0), &caller, "list_users_in_group")?;
        let users = state.members_of(&group.id).map(|user| show_user(ask, user));
        Ok::<Vec<Value>, Problem>(users.collect())
    })?;
    ask.list("users", rows, &["domain_id", "enabled", "name"])
}

pub(in super::super) fn check_member(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.look(|state| {
        let member = membership(ask, state, &caller, "check_user_in_group")?;
        let is_in = state.memberships.has(&membership_id(&member.user, &member.group));
        if is_in { Ok(Reply::done()) } else { Err(stranger(&member)) }
    })
}

pub(in super::super) fn add_member(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let member = membership(ask, state, &caller, "add_user_to_group")?;
        // Whoever is in it already stays in it.
        let _ = state.memberships.put(member);
        Ok(Reply::done())
    })
}

pub(in super::super) fn remove_member(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let member = membership(ask, state, &caller, "remove_user_from_group")?;
        let gone = state.memberships.remove(&membership_id(&member.user, &member.group));
        gone.map(|_| Reply::done()).ok_or_else(|| stranger(&member))
    })
}

/// The membership that the path names, if the caller may and both sides of it exist.
fn membership(
    ask: &Ask<'_>,
    state: &State,
    caller: &Subject,
    rule: &str,
) -> Result<Membership, Problem> {
    let (group, user) = (state.groups.get(ask.param(0)), state.users.get(ask.param(1)));
    let both = group.zip(user).map(|(group, user)| [&*group.domain_id, &*user.domain_id]);
    let domains = both.as_ref().map_or(&[][..], |both| both.as_slice());
    caller.may(rule, Target { domains, ..Target::default() })?;
    let group = group.ok_or_else(|| Problem::missing("group", ask.param(0)))?;
    let user = user.ok_or_else(|| Problem::missing("user", ask.param(1)))?;
    Ok(Membership { group: group.id.clone(), user: user.id.clone() })
}

fn stranger(member: &Membership) -> Problem {
    Problem::not_found(format!("User '{}' not found in group '{}'", member.user, member.group))
}

/// A group that the caller may do this with. Only those who may are told that there is none.
fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Group, Problem> {
    let Some(group) = state.groups.get(id) else {
        caller.may(rule, Target::default())?;
        return Err(Problem::missing("group", id));
    };
    caller.may(rule, Target { domains: &[&group.domain_id], ..Target::default() })?;
    Ok(group.clone())
}

pub(super) fn show_group(ask: &Ask<'_>, group: &Group) -> Value {
    let mut shown = group.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(group.id));
    tell("name", json!(group.name));
    tell("domain_id", json!(group.domain_id));
    tell("description", json!(group.description));
    ask.linked(Value::Object(shown), "groups", &group.id)
}
