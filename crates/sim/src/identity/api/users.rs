//! `/v3/users`.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::User;
use super::super::rights::Target;
use super::super::secret;
use super::super::seed::DEFAULT_DOMAIN;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::token::Subject;
use super::groups::show_group;
use super::projects::of_user;

const OPTIONS: &[&str] = &[
    "ignore_change_password_upon_first_use",
    "ignore_lockout_failure_attempts",
    "ignore_password_expiry",
    "ignore_user_inactivity",
    "lock_password",
    "multi_factor_auth_enabled",
    "multi_factor_auth_rules",
];

const FIELDS: &[Field] = &[
    ("name", Kind::Name(255), true),
    ("default_project_id", Kind::Note, false),
    ("description", Kind::Note, false),
    ("domain_id", Kind::Text, false),
    ("enabled", Kind::Flag, false),
    ("options", Kind::Options(OPTIONS), false),
    ("password", Kind::Note, false),
];

/// The fields of a request that are not just kept.
const KNOWN: &[&str] =
    &["default_project_id", "domain_id", "enabled", "id", "links", "name", "options", "password"];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    caller.may("list_users", Target::default())?;
    let rows = ask.identity.look(|state| {
        let own = caller.own_domain();
        let seen = candidates(ask, state)
            .into_iter()
            .filter(|user| own.is_none_or(|own| user.domain_id == own));
        seen.map(|user| show_user(ask, user)).collect()
    });
    ask.list("users", rows, &["domain_id", "enabled", "name"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "user", FIELDS)?;
    let domain = home_domain(&caller, asked);
    caller.may("create_user", Target { domains: &[&domain], ..Target::default() })?;
    let name = shape::text(asked, "name").unwrap_or_default();
    let password = shape::text(asked, "password").map(|password| secret::hash_password(&password));
    let user = User {
        id: new_id()?,
        domain_id: domain,
        name,
        enabled: shape::flag(asked, "enabled").unwrap_or(true),
        password: password.transpose()?,
        default_project_id: shape::text(asked, "default_project_id"),
        options: set_options(Map::new(), asked),
        extra: shape::others(asked, KNOWN),
        epoch: 0,
    };
    let shown = show_user(ask, &user);
    ask.identity.change(|state| {
        if !state.domains.has(&user.domain_id) {
            return Err(Problem::missing("domain", &user.domain_id));
        }
        let taken = format!(
            "Duplicate entry found with name {} at domain ID {}",
            user.name, user.domain_id
        );
        state.users.add(user).map_err(|_| Problem::conflict("user", taken))
    })?;
    Ok(Reply::created(json!({ "user": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let user = ask.identity.look(|state| find(state, ask.param(0), &caller, "get_user"))?;
    Ok(Reply::ok(json!({ "user": show_user(ask, &user) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.look(|state| find(state, ask.param(0), &caller, "update_user"))?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let asked = shape::change(&ask.body, "user", &fields)?;
    // Hashing takes its time: nobody has to wait for it.
    let password = match asked.get("password") {
        None => None,
        Some(password) => Some(password.as_str().map(secret::hash_password).transpose()?),
    };
    let user = ask.identity.change(|state| {
        let user = find(state, ask.param(0), &caller, "update_user")?;
        let fresh = changed(&user, asked, password.clone())?;
        let taken = format!("Duplicate entry found with name {}", fresh.name);
        let void = password.is_some() || (user.enabled && !fresh.enabled);
        state.users.put(fresh.clone()).map_err(|_| Problem::conflict("user", taken))?;
        if void {
            state.void_user(&user.id, ask.now, ask.horizon());
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "user": show_user(ask, &user) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let user = find(state, ask.param(0), &caller, "delete_user")?;
        state.void_user(&user.id, ask.now, ask.horizon());
        state.remove_user(&user.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Whoever knows the old password may set a new one; no token is asked for.
pub(in super::super) fn change_password(ask: &Ask<'_>) -> Answer {
    let fields = [("original_password", Kind::Text, true), ("password", Kind::Text, true)];
    let asked = shape::object(&ask.body, "user", &fields)?;
    let (old, new) = (shape::text(asked, "original_password"), shape::text(asked, "password"));
    let (old, new) = old.zip(new).ok_or_else(Problem::unauthorized)?;
    let user = ask.identity.look(|state| state.users.get(ask.param(0)).cloned());
    let hash = user.as_ref().filter(|user| user.enabled).and_then(|user| user.password.as_deref());
    if !secret::password_is(&old, hash) {
        return Err(Problem::unauthorized());
    }
    let password = secret::hash_password(&new)?;
    ask.identity.change(|state| {
        let user = state.users.get(ask.param(0)).ok_or_else(Problem::unauthorized)?;
        let user = User { password: Some(password), ..user.clone() };
        let id = user.id.clone();
        let _ = state.users.put(user);
        state.void_user(&id, ask.now, ask.horizon());
        Ok(())
    })?;
    Ok(Reply::done())
}

pub(in super::super) fn projects(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let user =
        ask.identity.look(|state| find(state, ask.param(0), &caller, "list_user_projects"))?;
    ask.list("projects", of_user(ask, &user.id), &["domain_id", "enabled", "name"])
}

pub(in super::super) fn groups(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let rows = ask.identity.look(|state| {
        let user = find(state, ask.param(0), &caller, "list_groups_for_user")?;
        let groups = state.groups_of(&user.id).map(|group| show_group(ask, group));
        Ok::<Vec<Value>, Problem>(groups.collect())
    })?;
    ask.list("groups", rows, &["name"])
}

/// The domain that something new belongs to when the request does not say.
pub(super) fn home_domain(caller: &Subject, asked: &Map<String, Value>) -> String {
    let said = shape::text(asked, "domain_id");
    let own = || match (caller.own_domain(), &caller.project) {
        (Some(own), _) => own.to_owned(),
        (None, Some(project)) => project.domain_id.clone(),
        (None, None) => DEFAULT_DOMAIN.to_owned(),
    };
    said.unwrap_or_else(own)
}

/// The options with those of the request; null takes one away.
pub(super) fn set_options(
    mut options: Map<String, Value>,
    asked: &Map<String, Value>,
) -> Map<String, Value> {
    for (name, value) in asked.get("options").and_then(Value::as_object).into_iter().flatten() {
        if value.is_null() {
            options.shift_remove(name);
        } else {
            options.insert(name.clone(), value.clone());
        }
    }
    options
}

/// A user that the caller may do this with. Only those who may are told that there is none.
fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<User, Problem> {
    let Some(user) = state.users.get(id) else {
        caller.may(rule, Target::default())?;
        return Err(Problem::missing("user", id));
    };
    caller.may(rule, Target { domains: &[&user.domain_id], users: &[&user.id], project: None })?;
    Ok(user.clone())
}

/// The users to look at: one at most, if the query names it.
fn candidates<'a>(ask: &Ask<'_>, state: &'a State) -> Vec<&'a User> {
    match (ask.query("domain_id"), ask.query("name")) {
        (Some(domain), Some(name)) => state.users.named(domain, name).into_iter().collect(),
        (Some(domain), None) => state.users.in_scope(domain).collect(),
        _ => state.users.iter().collect(),
    }
}

fn changed(
    user: &User,
    asked: &Map<String, Value>,
    password: Option<Option<String>>,
) -> Result<User, Problem> {
    let differs =
        |field: &str, now: &str| asked.get(field).is_some_and(|value| value.as_str() != Some(now));
    if differs("id", &user.id) {
        return Err(Problem::bad("Cannot change ID"));
    }
    if differs("domain_id", &user.domain_id) {
        return Err(Problem::bad("Cannot change Domain ID"));
    }
    let mut fresh = user.clone();
    if let Some(name) = shape::text(asked, "name") {
        fresh.name = name;
    }
    if let Some(enabled) = shape::flag(asked, "enabled") {
        fresh.enabled = enabled;
    }
    if asked.contains_key("default_project_id") {
        fresh.default_project_id = shape::text(asked, "default_project_id");
    }
    if let Some(password) = password {
        fresh.password = password;
    }
    fresh.options = set_options(fresh.options, asked);
    fresh.extra.extend(shape::others(asked, KNOWN));
    Ok(fresh)
}

pub(super) fn show_user(ask: &Ask<'_>, user: &User) -> Value {
    let mut shown = user.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(user.id));
    tell("name", json!(user.name));
    tell("domain_id", json!(user.domain_id));
    tell("enabled", json!(user.enabled));
    if let Some(project) = &user.default_project_id {
        tell("default_project_id", json!(project));
    }
    tell("password_expires_at", Value::Null);
    tell("options", json!(user.options));
    ask.linked(Value::Object(shown), "users", &user.id)
}
