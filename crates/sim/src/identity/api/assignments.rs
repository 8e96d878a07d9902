//! `/v3/role_assignments`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::{ActorType, Grant, Scope};
use super::super::request::{Answer, Request};
use super::super::state::State;

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    caller.authorize("list_role_assignments", Target::default())?;
    let value_of = |name: &str| request.query(name).filter(|value| !value.is_empty());
    let scopes = ["scope.domain.id", "scope.project.id", "scope.system"];
    if scopes.iter().filter(|name| value_of(name).is_some()).count() > 1 {
        return Err(ApiError::bad("Specify a domain or project, not both"));
    }
    if value_of("user.id").is_some() && value_of("group.id").is_some() {
        return Err(ApiError::bad("Specify a user or group, not both"));
    }
    let effective = request.has_flag("effective");
    if effective && value_of("group.id").is_some() {
        return Err(ApiError::bad(
            "Combining effective and group filter will always result in an empty list.",
        ));
    }
    // Inherited assignments are not supported.
    if value_of("scope.OS-INHERIT:inherited_to").is_some() {
        return request.list("role_assignments", Vec::new(), &[]);
    }
    let rows = request.identity.read(|state| {
        let mut rows = Vec::new();
        for grant in state.grants.iter() {
            let here = match (&grant.scope, caller.scope_domain()) {
                (_, None) => true,
                (Scope::Domain(id), Some(own)) => id == own,
                (Scope::Project(id), Some(own)) => {
                    state.projects.get(id).is_some_and(|project| project.domain_id == own)
                }
                (Scope::System, Some(_)) => false,
            };
            if !here || !matches_scope(request, grant) {
                continue;
            }
            for effective_grant in holders(state, grant, effective) {
                if matches_actor(request, &effective_grant) {
                    rows.extend(show(request, state, &effective_grant, effective));
                }
            }
        }
        rows
    });
    request.list("role_assignments", rows, &[])
}

/// A grant and the user or group that has it.
struct EffectiveGrant<'a> {
    grant: &'a Grant,
    holder: &'a str,
    kind: ActorType,
}

/// Returns the holders of a grant; for effective assignments, the members of a group in place of the group.
fn holders<'a>(state: &'a State, grant: &'a Grant, effective: bool) -> Vec<EffectiveGrant<'a>> {
    if effective && grant.actor_type == ActorType::Group {
        let members = state.members_of(&grant.actor);
        return members
            .map(|user| EffectiveGrant { grant, holder: &user.id, kind: ActorType::User })
            .collect();
    }
    vec![EffectiveGrant { grant, holder: &grant.actor, kind: grant.actor_type }]
}

/// Reports whether a value matches a query parameter; an absent parameter matches everything.
fn matches(request: &Request<'_>, name: &str, value: Option<&str>) -> bool {
    let wanted = request.query(name).filter(|word| !word.is_empty());
    wanted.is_none_or(|word| value == Some(word))
}

fn matches_actor(request: &Request<'_>, effective_grant: &EffectiveGrant<'_>) -> bool {
    let actor_of =
        |kind: ActorType| (effective_grant.kind == kind).then_some(effective_grant.holder);
    matches(request, "user.id", actor_of(ActorType::User))
        && matches(request, "group.id", actor_of(ActorType::Group))
}

fn matches_scope(request: &Request<'_>, grant: &Grant) -> bool {
    let (project, domain, system) = match &grant.scope {
        Scope::Project(id) => (Some(id.as_str()), None, None),
        Scope::Domain(id) => (None, Some(id.as_str()), None),
        Scope::System => (None, None, Some("all")),
    };
    matches(request, "scope.project.id", project)
        && matches(request, "scope.domain.id", domain)
        && matches(request, "scope.system", system)
}

/// Renders a grant and, for effective assignments, the implied roles. The role filter is applied here because it may
/// name an implied role.
fn show(
    request: &Request<'_>,
    state: &State,
    effective_grant: &EffectiveGrant<'_>,
    effective: bool,
) -> Vec<Value> {
    let grant = effective_grant.grant;
    let roles = if effective {
        state.with_implied(BTreeSet::from([grant.role.clone()]))
    } else {
        BTreeSet::from([grant.role.clone()])
    };
    let asked_for = request.query("role.id").filter(|word| !word.is_empty());
    let roles = roles.iter().filter(|role| asked_for.is_none_or(|wanted| *role == wanted));
    roles.map(|role| row(request, state, effective_grant, role)).collect()
}

fn row(
    request: &Request<'_>,
    state: &State,
    effective_grant: &EffectiveGrant<'_>,
    role: &str,
) -> Value {
    let grant = effective_grant.grant;
    let names = request.has_flag("include_names");
    let path = match &grant.scope {
        Scope::Project(id) => format!("projects/{id}"),
        Scope::Domain(id) => format!("domains/{id}"),
        Scope::System => "system".to_owned(),
    };
    let word = grant.actor_type.word();
    let link = request.link(&format!("{path}/{word}s/{}/roles/{}", grant.actor, grant.role));
    let mut links = json!({ "assignment": link });
    if effective_grant.kind != grant.actor_type {
        let membership = format!("groups/{}/users/{}", grant.actor, effective_grant.holder);
        links["membership"] = json!(request.link(&membership));
    }
    if role != grant.role {
        links["prior_role"] =
            json!(request.link(&format!("prior_role/{role}/implies/{}", grant.role)));
    }
    let domain = |id: &str| {
        let name = state.domains.get(id).map_or("", |domain| domain.name.as_str());
        if names { json!({ "id": id, "name": name }) } else { json!({ "id": id }) }
    };
    let named = |id: &str, found: Option<(&str, &str)>| match found.filter(|_| names) {
        Some((name, home)) => json!({ "id": id, "name": name, "domain": domain(home) }),
        None => json!({ "id": id }),
    };
    let scope = match &grant.scope {
        Scope::Project(id) => {
            let project = state.projects.get(id);
            let found = project.map(|project| (project.name.as_str(), project.domain_id.as_str()));
            json!({ "project": named(id, found) })
        }
        Scope::Domain(id) => json!({ "domain": domain(id) }),
        Scope::System => json!({ "system": { "all": true } }),
    };
    let holder = match effective_grant.kind {
        ActorType::User => {
            state.users.get(effective_grant.holder).map(|it| (&*it.name, &*it.domain_id))
        }
        ActorType::Group => {
            state.groups.get(effective_grant.holder).map(|it| (&*it.name, &*it.domain_id))
        }
    };
    let holder = named(effective_grant.holder, holder);
    let mut rendered_role = json!({ "id": role });
    if let Some(known) = state.roles.get(role).filter(|_| names) {
        rendered_role["name"] = json!(known.name);
    }
    json!({ "links": links, "scope": scope, effective_grant.kind.word(): holder, "role": rendered_role })
}
