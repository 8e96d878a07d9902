//! `/v3/projects`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::{Domain, Place, Project};
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;
use super::super::token::Subject;
use super::users::{home_domain, set_options};

const FIELDS: &[Field] = &[
    ("name", Kind::Name(64), true),
    ("description", Kind::Note, false),
    ("domain_id", Kind::Note, false),
    ("enabled", Kind::Flag, false),
    ("is_domain", Kind::Flag, false),
    ("options", Kind::Options(&["immutable"]), false),
    ("parent_id", Kind::Note, false),
    ("tags", Kind::Tags, false),
];

const KNOWN: &[&str] = &[
    "description",
    "domain_id",
    "enabled",
    "id",
    "is_domain",
    "links",
    "name",
    "options",
    "parent_id",
    "tags",
];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    caller.may("list_projects", Target::default())?;
    let wanted: Option<BTreeSet<&str>> = ask.query("tags").map(|tags| tags.split(',').collect());
    let rows = ask.identity.look(|state| {
        if ask.query("is_domain").is_some_and(|word| shape::truth(word) == Some(true)) {
            return state.domains.iter().map(|domain| show_domain(ask, domain)).collect();
        }
        let own = caller.own_domain();
        let seen = candidates(ask, state).into_iter().filter(|project| {
            let tagged = |tags: &BTreeSet<&str>| {
                tags.iter().all(|tag| project.tags.iter().any(|own| own == tag))
            };
            own.is_none_or(|own| project.domain_id == own) && wanted.as_ref().is_none_or(tagged)
        });
        seen.map(|project| show_project(ask, project)).collect()
    });
    ask.list("projects", rows, &["domain_id", "enabled", "name", "parent_id"])
}

pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "project", FIELDS)?;
    let parent = shape::text(asked, "parent_id");
    // A project under another one is in the domain of that one.
    let above =
        parent.as_deref().map(|id| ask.identity.look(|state| above(state, id))).transpose()?;
    let domain = match (asked.get("domain_id"), above) {
        (None | Some(Value::Null), Some(domain)) => domain,
        (said, Some(domain)) if said.and_then(Value::as_str) != Some(&domain) => {
            return Err(Problem::bad(
                "Cannot create project, since it specifies its domain_id differently from its parent.",
            ));
        }
        _ => home_domain(&caller, asked),
    };
    caller.may("create_project", Target { domains: &[&domain], ..Target::default() })?;
    if shape::flag(asked, "is_domain") == Some(true) {
        return Err(Problem::refused("Projects acting as domains are made with POST /v3/domains."));
    }
    let project = Project {
        id: new_id()?,
        parent_id: parent.unwrap_or_else(|| domain.clone()),
        domain_id: domain,
        name: shape::text(asked, "name").unwrap_or_default(),
        description: description(asked),
        enabled: shape::flag(asked, "enabled").unwrap_or(true),
        tags: tags(asked).unwrap_or_default(),
        options: set_options(Map::new(), asked),
        extra: shape::others(asked, KNOWN),
        epoch: 0,
    };
    let shown = show_project(ask, &project);
    ask.identity.change(|state| {
        if !state.domains.has(&project.domain_id) {
            return Err(Problem::bad(format!("Could not find domain: {}.", project.domain_id)));
        }
        let clash = clash(&project);
        state.projects.add(project).map_err(|_| clash)
    })?;
    Ok(Reply::created(json!({ "project": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let project = ask.identity.look(|state| find(state, ask.param(0), &caller, "get_project"))?;
    Ok(Reply::ok(json!({ "project": show_project(ask, &project) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let project = ask.identity.change(|state| {
        let project = find(state, ask.param(0), &caller, "update_project")?;
        let asked = shape::object(&ask.body, "project", &fields)?;
        let fresh = changed(&project, asked)?;
        let off = project.enabled && !fresh.enabled;
        if off && children(state, &project.id).any(|child| child.enabled) {
            return Err(Problem::refused(format!(
                "Cannot disable project {} since its subtree contains enabled projects.",
                project.id
            )));
        }
        let clash = clash(&fresh);
        state.projects.put(fresh.clone()).map_err(|_| clash)?;
        if off {
            state.void_project(&project.id, ask.now, ask.horizon());
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "project": show_project(ask, &project) })))
}

pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    ask.identity.change(|state| {
        let project = find(state, ask.param(0), &caller, "delete_project")?;
        immutable(&project, "delete")?;
        if children(state, &project.id).next().is_some() {
            return Err(Problem::refused(format!(
                "Cannot delete the project {} since it is not a leaf in the hierarchy. Use the cascade option if \
                 you want to delete a whole subtree.",
                project.id
            )));
        }
        state.void_project(&project.id, ask.now, ask.horizon());
        state.remove_project(&project.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// The projects in which a user has a role.
pub(super) fn of_user(ask: &Ask<'_>, user: &str) -> Vec<Value> {
    ask.identity.look(|state| {
        let projects = state.places_of(user).into_iter().filter_map(|place| match place {
            Place::Project(id) => state.projects.get(id),
            _ => None,
        });
        projects
            .filter(|project| project.enabled)
            .map(|project| show_project(ask, project))
            .collect()
    })
}

fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Project, Problem> {
    let Some(project) = state.projects.get(id) else {
        caller.may(rule, Target::default())?;
        return Err(Problem::missing("project", id));
    };
    let target = Target { domains: &[&project.domain_id], users: &[], project: Some(&project.id) };
    caller.may(rule, target)?;
    Ok(project.clone())
}

/// The domain of what a new project is to be under, which may be a domain itself.
fn above(state: &State, id: &str) -> Result<String, Problem> {
    let domain = state.domains.get(id).map(|domain| domain.id.clone());
    let parent = || state.projects.get(id).map(|project| project.domain_id.clone());
    domain.or_else(parent).ok_or_else(|| Problem::bad(format!("Could not find project: {id}.")))
}

fn candidates<'a>(ask: &Ask<'_>, state: &'a State) -> Vec<&'a Project> {
    match (ask.query("domain_id"), ask.query("name")) {
        (Some(domain), Some(name)) => state.projects.named(domain, name).into_iter().collect(),
        (Some(domain), None) => state.projects.in_scope(domain).collect(),
        _ => state.projects.iter().collect(),
    }
}

fn children<'a>(state: &'a State, id: &'a str) -> impl Iterator<Item = &'a Project> {
    state.projects.iter().filter(move |project| project.parent_id == id)
}

fn clash(project: &Project) -> Problem {
    Problem::conflict(
        "project",
        format!(
            "it is not permitted to have two projects with either the same name or same id in the same domain: \
             name is {}, project id {}",
            project.name, project.id
        ),
    )
}

fn immutable(project: &Project, verb: &str) -> Result<(), Problem> {
    if project.options.get("immutable") == Some(&json!(true)) {
        return Err(Problem::refused(format!(
            "Unable to {verb} immutable project resource: `{}. Set resource option \"immutable\" to false first.",
            project.id
        )));
    }
    Ok(())
}

fn changed(project: &Project, asked: &Map<String, Value>) -> Result<Project, Problem> {
    let differs =
        |field: &str, now: &str| asked.get(field).is_some_and(|value| value.as_str() != Some(now));
    if differs("id", &project.id) {
        return Err(Problem::bad("Cannot change ID"));
    }
    if differs("domain_id", &project.domain_id) {
        return Err(Problem::bad("Cannot change Domain ID"));
    }
    if differs("parent_id", &project.parent_id) {
        return Err(Problem::refused("Update of `parent_id` is not allowed."));
    }
    let mut fresh = project.clone();
    fresh.options = set_options(fresh.options, asked);
    if fresh.options.get("immutable") == Some(&json!(true)) {
        immutable(project, "update")?;
    }
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
    fresh.extra.extend(shape::others(asked, KNOWN));
    Ok(fresh)
}

/// Nothing said is an empty description; null is null.
pub(super) fn description(asked: &Map<String, Value>) -> Option<String> {
    match asked.get("description") {
        None => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    }
}

/// The tags of a request that has been checked.
pub(super) fn tags(asked: &Map<String, Value>) -> Option<Vec<String>> {
    let tags = asked.get("tags")?.as_array()?;
    Some(tags.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn show_project(ask: &Ask<'_>, project: &Project) -> Value {
    let mut shown = project.extra.clone();
    let mut tell = |key: &str, value: Value| shown.insert(key.to_owned(), value);
    tell("id", json!(project.id));
    tell("name", json!(project.name));
    tell("domain_id", json!(project.domain_id));
    tell("description", json!(project.description));
    tell("enabled", json!(project.enabled));
    tell("parent_id", json!(project.parent_id));
    tell("is_domain", json!(false));
    tell("tags", json!(project.tags));
    tell("options", json!(project.options));
    ask.linked(Value::Object(shown), "projects", &project.id)
}

/// A domain, for those who want to see it as a project.
fn show_domain(ask: &Ask<'_>, domain: &Domain) -> Value {
    let shown = json!({
        "id": domain.id, "name": domain.name, "domain_id": null, "description": domain.description,
        "enabled": domain.enabled, "parent_id": null, "is_domain": true, "tags": domain.tags,
        "options": domain.options,
    });
    ask.linked(shown, "projects", &domain.id)
}
