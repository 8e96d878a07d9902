//! `/v3/domains`.

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::Domain;
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::token::Subject;
use super::projects::{description, tags};
use super::users::set_options;

const FIELDS: &[Field] = &[
    ("name", Kind::Name(64), true),
    ("description", Kind::Note, false),
    ("enabled", Kind::Flag, false),
    ("options", Kind::Options(&["immutable"]), false),
    ("tags", Kind::Tags, false),
];

const KNOWN: &[&str] = &["description", "enabled", "id", "links", "name", "options", "tags"];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    caller.may("list_domains", Target::default())?;
    let rows = ask.identity.look(|state| {
        let own = caller.own_domain();
        let seen = state.domains.iter().filter(|domain| own.is_none_or(|own| domain.id == own));
        seen.map(|domain| show_domain(ask, domain)).collect()
    });
    ask.list("domains", rows, &["enabled", "name"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "domain", FIELDS)?;
    caller.may("create_domain", Target::default())?;
    let domain = Domain {
        id: new_id()?,
        name: shape::text(asked, "name").unwrap_or_default(),
        description: description(asked),
        enabled: shape::flag(asked, "enabled").unwrap_or(true),
        tags: tags(asked).unwrap_or_default(),
        options: set_options(Map::new(), asked),
        extra: shape::others(asked, KNOWN),
    };
    let shown = show_domain(ask, &domain);
    ask.identity.change(|state| {
        let clash = clash(&domain);
        state.domains.add(domain).map_err(|_| clash)
    })?;
    Ok(Reply::created(json!({ "domain": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let domain = ask.identity.look(|state| find(state, ask.param(0), &caller, "get_domain"))?;
    Ok(Reply::ok(json!({ "domain": show_domain(ask, &domain) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let domain = ask.identity.change(|state| {
        let domain = find(state, ask.param(0), &caller, "update_domain")?;
        let asked = shape::change(&ask.body, "domain", &fields)?;
        let mut fresh = domain.clone();
        if let Some(name) = shape::text(asked, "name") {
            fresh.name = name;
        }
        if asked.contains_key("description") {
            fresh.description = shape::text(asked, "description");
        }
        if let Some(enabled) = shape::flag(asked, "enabled") {
            fresh.enabled = enabled;
        }
        if let Some(tags) = tags(asked) {
            fresh.tags = tags;
        }
        fresh.options = set_options(fresh.options, asked);
        fresh.extra.extend(shape::others(asked, KNOWN));
        let clash = clash(&fresh);
        state.domains.put(fresh.clone()).map_err(|_| clash)?;
        if domain.enabled && !fresh.enabled {
            void_all(ask, state, &domain.id);
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "domain": show_domain(ask, &domain) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let domain = find(state, ask.param(0), &caller, "delete_domain")?;
        if domain.enabled {
            return Err(Problem::refused(
                "Cannot delete a domain that is enabled, please disable it first.",
            ));
        }
        state.remove_domain(&domain.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// The tokens of a disabled domain's users and projects do not come back when it is enabled again.
fn void_all(ask: &Ask<'_>, state: &mut State, domain: &str) {
    let users: Vec<String> = state.users.in_scope(domain).map(|user| user.id.clone()).collect();
    users.iter().for_each(|user| state.void_user(user, ask.now, ask.horizon()));
    let projects: Vec<String> =
        state.projects.in_scope(domain).map(|project| project.id.clone()).collect();
    projects.iter().for_each(|project| state.void_project(project, ask.now, ask.horizon()));
}

fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Domain, Problem> {
    let Some(domain) = state.domains.get(id) else {
        caller.may(rule, Target::default())?;
        return Err(Problem::missing("domain", id));
    };
    caller.may(rule, Target { domains: &[&domain.id], ..Target::default() })?;
    Ok(domain.clone())
}

fn clash(domain: &Domain) -> Problem {
    Problem::conflict(
        "project",
        format!(
            "it is not permitted to have two projects acting as domains with the same name: {}",
            domain.name
        ),
    )
}

pub(super) fn show_domain(ask: &Ask<'_>, domain: &Domain) -> Value {
    let mut shown = domain.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(domain.id));
    tell("name", json!(domain.name));
    tell("description", json!(domain.description));
    tell("enabled", json!(domain.enabled));
    tell("tags", json!(domain.tags));
    tell("options", json!(domain.options));
    ask.linked(Value::Object(shown), "domains", &domain.id)
}
