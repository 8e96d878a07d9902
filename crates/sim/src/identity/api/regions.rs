//! `/v3/regions`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::super::policy::Target;
use super::super::records::Region;
use super::super::request::{Answer, Reply, Request, new_id};
use super::super::state::State;
use super::super::validation::{self, Field, FieldType};

const FIELDS: &[Field] = &[
    ("description", FieldType::Note, false),
    ("id", FieldType::Name(255), false),
    ("parent_region_id", FieldType::Note, false),
];

pub(in super::super) fn list(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("list_regions", Target::default())?;
    let rows = request
        .identity
        .read(|state| state.regions.iter().map(|region| show_region(request, region)).collect());
    request.list("regions", rows, &["parent_region_id"])
}

/// Creates a region. A `PUT` has the id in its path, a `POST` has it in its body or not at all.
pub(in super::super) fn create(request: &Request<'_>) -> Answer {
    let caller = request.caller()?;
    let requested = validation::object(&request.body, "region", FIELDS)?;
    caller.authorize("create_region", Target::default())?;
    let body_id = validation::text(requested, "id");
    let id = match (request.param(0), body_id) {
        ("", Some(id)) => id,
        ("", None) => new_id()?,
        (path, Some(id)) if path != id => {
            return Err(ApiError::bad("The region id in the URL and the one in the body differ."));
        }
        (path, _) => path.to_owned(),
    };
    let region = Region {
        id,
        description: validation::text(requested, "description").unwrap_or_default(),
        parent_region_id: validation::text(requested, "parent_region_id"),
    };
    let rendered = show_region(request, &region);
    request.identity.update(|state| {
        if let Some(parent) = region.parent_region_id.as_deref().filter(|id| !state.regions.has(id))
        {
            return Err(ApiError::missing("region", parent));
        }
        let taken = format!("Duplicate ID, {}.", region.id);
        state.regions.add(region).map_err(|_| ApiError::conflict("region", taken))
    })?;
    Ok(Reply::created(json!({ "region": rendered })))
}

pub(in super::super) fn show(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("get_region", Target::default())?;
    let region = request.identity.read(|state| find(state, request.param(0)))?;
    Ok(Reply::ok(json!({ "region": show_region(request, &region) })))
}

pub(in super::super) fn update(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("update_region", Target::default())?;
    let region = request.identity.update(|state| {
        let mut region = find(state, request.param(0))?;
        let requested = validation::non_empty_object(&request.body, "region", FIELDS)?;
        if validation::text(requested, "id").is_some_and(|id| id != region.id) {
            return Err(ApiError::bad("Cannot change ID"));
        }
        if let Some(description) = validation::text(requested, "description") {
            region.description = description;
        }
        if requested.contains_key("parent_region_id") {
            region.parent_region_id = validation::text(requested, "parent_region_id");
            let parent = region.parent_region_id.as_deref().unwrap_or_default();
            if !parent.is_empty() && !state.regions.has(parent) {
                return Err(ApiError::missing("region", parent));
            }
            if family(state, &region.id).contains(parent) {
                return Err(ApiError::bad("A region cannot be within itself."));
            }
        }
        let _ = state.regions.put(region.clone());
        Ok(region)
    })?;
    Ok(Reply::ok(json!({ "region": show_region(request, &region) })))
}

/// Removes a region with its children, unless endpoints use them.
pub(in super::super) fn delete(request: &Request<'_>) -> Answer {
    request.caller()?.authorize("delete_region", Target::default())?;
    request.identity.update(|state| {
        let region = find(state, request.param(0))?;
        let gone = family(state, &region.id);
        let used = |id: &Option<String>| id.as_ref().is_some_and(|id| gone.contains(id));
        if state.endpoints.iter().any(|endpoint| used(&endpoint.region_id)) {
            return Err(ApiError::refused(format!(
                "Unable to delete region {} because it or its child regions have associated endpoints.",
                region.id
            )));
        }
        gone.iter().for_each(|id| drop(state.regions.remove(id)));
        Ok(())
    })?;
    Ok(Reply::done())
}

/// Returns a region and its descendants.
fn family(state: &State, id: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::from([id.to_owned()]);
    loop {
        let within =
            |region: &&Region| region.parent_region_id.as_ref().is_some_and(|id| all.contains(id));
        let more: Vec<String> = state
            .regions
            .iter()
            .filter(within)
            .filter(|region| !all.contains(&region.id))
            .map(|region| region.id.clone())
            .collect();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

fn find(state: &State, id: &str) -> Result<Region, ApiError> {
    state.regions.get(id).cloned().ok_or_else(|| ApiError::missing("region", id))
}

fn show_region(request: &Request<'_>, region: &Region) -> Value {
    let rendered = json!({
        "id": region.id, "description": region.description,
        "parent_region_id": region.parent_region_id,
    });
    request.with_self_link(rendered, "regions", &region.id)
}
