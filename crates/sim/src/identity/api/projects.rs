//! `/v3/projects`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{Domain, Project, Scope};
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::token::Subject;
use super::super::validation::{self, Field, FieldType};
use super::named_entity::NamedEntity;
use super::users::home_domain;

const FIELDS: &[Field] = &[
    ("name", FieldType::Name(64), true),
    ("description", FieldType::Note, false),
    ("domain_id", FieldType::Note, false),
    ("enabled", FieldType::Flag, false),
    ("is_domain", FieldType::Flag, false),
    ("options", FieldType::Options(&["immutable"]), false),
    ("parent_id", FieldType::Note, false),
    ("tags", FieldType::Tags, false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    caller.authorize("list_projects", Target::default())?;
    let wanted: Option<BTreeSet<&str>> =
        request.query("tags").map(|tags| tags.split(',').collect());
    let rows = request.identity.read(|state| {
        if request.query("is_domain").is_some_and(|word| validation::parse_bool(word) == Some(true))
        {
            return state.domains.iter().map(|domain| show_domain(request, domain)).collect();
        }
        let own = caller.scope_domain();
        let seen = candidates(request, state).into_iter().filter(|project| {
            let tagged = |tags: &BTreeSet<&str>| {
                tags.iter().all(|tag| project.tags.iter().any(|own| own == tag))
            };
            own.is_none_or(|own| project.domain_id == own) && wanted.as_ref().is_none_or(tagged)
        });
        seen.map(|project| show_project(request, project)).collect()
    });
    request.list("projects", rows, &["domain_id", "enabled", "name", "parent_id"])
}

pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "project", FIELDS)?;
    let parent = validation::text(requested, "parent_id");
    // A child project is in the domain of its parent.
    let parent_domain = parent
        .as_deref()
        .map(|id| request.identity.read(|state| parent_domain(state, id)))
        .transpose()?;
    let domain = match (requested.get("domain_id"), parent_domain) {
        (None | Some(Value::Null), Some(domain)) => domain,
        (requested, Some(domain)) if requested.and_then(Value::as_str) != Some(&domain) => {
            return Err(ApiError::bad(
                "Cannot create project, since it specifies its domain_id differently from its parent.",
            ));
        }
        _ => home_domain(&caller, requested),
    };
    caller.authorize("create_project", Target { domains: &[&domain], ..Target::default() })?;
    if validation::flag(requested, "is_domain") == Some(true) {
        return Err(ApiError::refused(
            "Projects acting as domains are made with POST /v3/domains.",
        ));
    }
    let mut project = Project {
        id: new_id()?,
        parent_id: parent.unwrap_or_else(|| domain.clone()),
        domain_id: domain,
        ..Project::default()
    };
    project.initialize(requested);
    let rendered = show_project(request, &project);
    request.identity.update(|state| {
        if !state.domains.has(&project.domain_id) {
            return Err(ApiError::bad(format!("Could not find domain: {}.", project.domain_id)));
        }
        let name_conflict = name_conflict(&project);
        state.projects.add(project).map_err(|_| name_conflict)
    })?;
    Ok(Reply::created(json!({ "project": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let project =
        request.identity.read(|state| find(state, request.param(0), &caller, "get_project"))?;
    Ok(Reply::ok(json!({ "project": show_project(request, &project) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let fields: Vec<Field> = FIELDS.iter().map(|(name, kind, _)| (*name, *kind, false)).collect();
    let project = request.identity.update(|state| {
        let project = find(state, request.param(0), &caller, "update_project")?;
        let requested = validation::object(&request.body, "project", &fields)?;
        let fresh = changed(&project, requested)?;
        let off = project.enabled && !fresh.enabled;
        if off && children(state, &project.id).any(|child| child.enabled) {
            return Err(ApiError::refused(format!(
                "Cannot disable project {} since its subtree contains enabled projects.",
                project.id
            )));
        }
        let name_conflict = name_conflict(&fresh);
        state.projects.put(fresh.clone()).map_err(|_| name_conflict)?;
        if off {
            state.revoke_project_tokens(&project.id, request.now, request.token_expiry());
        }
        Ok(fresh)
    })?;
    Ok(Reply::ok(json!({ "project": show_project(request, &project) })))
}

pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    request.identity.update(|state| {
        let project = find(state, request.param(0), &caller, "delete_project")?;
        check_mutable(&project, "delete")?;
        if children(state, &project.id).next().is_some() {
            return Err(ApiError::refused(format!(
                "Cannot delete the project {} since it is not a leaf in the hierarchy. Use the cascade option if \
                 you want to delete a whole subtree.",
                project.id
            )));
        }
        state.revoke_project_tokens(&project.id, request.now, request.token_expiry());
        state.remove_project(&project.id);
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Returns the projects on which a user has a role.
pub(super) fn of_user(request: &Request<'_>, user: &str) -> Vec<Value> {
    request.identity.read(|state| {
        let projects = state.scopes_of(user).into_iter().filter_map(|scope| match scope {
            Scope::Project(id) => state.projects.get(id),
            _ => None,
        });
        projects
            .filter(|project| project.enabled)
            .map(|project| show_project(request, project))
            .collect()
    })
}

fn find(state: &State, id: &str, caller: &Subject, rule: &str) -> Result<Project, ApiError> {
    let Some(project) = state.projects.get(id) else {
        caller.authorize(rule, Target::default())?;
        return Err(ApiError::missing("project", id));
    };
    let target = Target { domains: &[&project.domain_id], users: &[], project: Some(&project.id) };
    caller.authorize(rule, target)?;
    Ok(project.clone())
}

/// Returns the domain of the parent of a new project; the parent may be a domain itself.
fn parent_domain(state: &State, id: &str) -> Result<String, ApiError> {
    let domain = state.domains.get(id).map(|domain| domain.id.clone());
    let parent = || state.projects.get(id).map(|project| project.domain_id.clone());
    domain.or_else(parent).ok_or_else(|| ApiError::bad(format!("Could not find project: {id}.")))
}

fn candidates<'a>(request: &Request<'_>, state: &'a State) -> Vec<&'a Project> {
    match (request.query("domain_id"), request.query("name")) {
        (Some(domain), Some(name)) => state.projects.named(domain, name).into_iter().collect(),
        (Some(domain), None) => state.projects.in_scope(domain).collect(),
        _ => state.projects.iter().collect(),
    }
}

fn children<'a>(state: &'a State, id: &'a str) -> impl Iterator<Item = &'a Project> {
    state.projects.iter().filter(move |project| project.parent_id == id)
}

fn name_conflict(project: &Project) -> ApiError {
    ApiError::conflict(
        "project",
        format!(
            "it is not permitted to have two projects with either the same name or same id in the same domain: \
             name is {}, project id {}",
            project.name, project.id
        ),
    )
}

fn check_mutable(project: &Project, verb: &str) -> Result<(), ApiError> {
    if project.options.get("immutable") == Some(&json!(true)) {
        return Err(ApiError::refused(format!(
            "Unable to {verb} immutable project resource: `{}. Set resource option \"immutable\" to false first.",
            project.id
        )));
    }
    Ok(())
}

fn changed(project: &Project, requested: &Map<String, Value>) -> Result<Project, ApiError> {
    let differs = |field: &str, now: &str| {
        requested.get(field).is_some_and(|value| value.as_str() != Some(now))
    };
    if differs("id", &project.id) {
        return Err(ApiError::bad("Cannot change ID"));
    }
    if differs("domain_id", &project.domain_id) {
        return Err(ApiError::bad("Cannot change Domain ID"));
    }
    if differs("parent_id", &project.parent_id) {
        return Err(ApiError::refused("Update of `parent_id` is not allowed."));
    }
    let mut fresh = project.clone();
    fresh.apply(requested);
    if fresh.options.get("immutable") == Some(&json!(true)) {
        check_mutable(project, "update")?;
    }
    Ok(fresh)
}

fn show_project(request: &Request<'_>, project: &Project) -> Value {
    let mut rendered = project.clone().render();
    rendered.insert("id".to_owned(), json!(project.id));
    rendered.insert("domain_id".to_owned(), json!(project.domain_id));
    rendered.insert("parent_id".to_owned(), json!(project.parent_id));
    rendered.insert("is_domain".to_owned(), json!(false));
    request.with_self_link(Value::Object(rendered), "projects", &project.id)
}

/// Renders a domain as a project.
fn show_domain(request: &Request<'_>, domain: &Domain) -> Value {
    let rendered = json!({
        "id": domain.id, "name": domain.name, "domain_id": null, "description": domain.description,
        "enabled": domain.enabled, "parent_id": null, "is_domain": true, "tags": domain.tags,
        "options": domain.options,
    });
    request.with_self_link(rendered, "projects", &domain.id)
}
