//! `/v3/regions`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::ask::{Answer, Ask, Reply, new_id};
use super::super::problem::Problem;
use super::super::records::Region;
use super::super::rights::Target;
use super::super::shape::{self, Field, Kind};
use super::super::state::State;

const FIELDS: &[Field] = &[
    ("description", Kind::Note, false),
    ("id", Kind::Name(255), false),
    ("parent_region_id", Kind::Note, false),
];

pub(in super::super) fn list(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("list_regions", Target::default())?;
    let rows = ask
        .identity
        .look(|state| state.regions.iter().map(|region| show_region(ask, region)).collect());
    ask.list("regions", rows, &["parent_region_id"])
}

/// A `PUT` names the region in its path, a `POST` in its body or not at all.
pub(in super::super) fn create(ask: &Ask<'_>) -> Answer {
    let caller = ask.caller()?;
    let asked = shape::object(&ask.body, "region", FIELDS)?;
    caller.may("create_region", Target::default())?;
    let said = shape::text(asked, "id");
    let id = match (ask.param(0), said) {
        ("", Some(id)) => id,
        ("", None) => new_id()?,
        (path, Some(id)) if path != id => {
            return Err(Problem::bad("The region id in the URL and the one in the body differ."));
        }
        (path, _) => path.to_owned(),
    };
    let region = Region {
        id,
        description: shape::text(asked, "description").unwrap_or_default(),
        parent_region_id: shape::text(asked, "parent_region_id"),
    };
    let shown = show_region(ask, &region);
    ask.identity.change(|state| {
        if let Some(parent) = region.parent_region_id.as_deref().filter(|id| !state.regions.has(id))
        {
            return Err(Problem::missing("region", parent));
        }
        let taken = format!("Duplicate ID, {}.", region.id);
        state.regions.add(region).map_err(|_| Problem::conflict("region", taken))
    })?;
    Ok(Reply::created(json!({ "region": shown })))
}

pub(in super::super) fn show(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("get_region", Target::default())?;
    let region = ask.identity.look(|state| find(state, ask.param(0)))?;
    Ok(Reply::ok(json!({ "region": show_region(ask, &region) })))
}

pub(in super::super) fn update(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("update_region", Target::default())?;
    let region = ask.identity.change(|state| {
        let mut region = find(state, ask.param(0))?;
        let asked = shape::change(&ask.body, "region", FIELDS)?;
        if shape::text(asked, "id").is_some_and(|id| id != region.id) {
            return Err(Problem::bad("Cannot change ID"));
        }
        if let Some(description) = shape::text(asked, "description") {
            region.description = description;
        }
        if asked.contains_key("parent_region_id") {
            region.parent_region_id = shape::text(asked, "parent_region_id");
            let parent = region.parent_region_id.as_deref().unwrap_or_default();
            if !parent.is_empty() && !state.regions.has(parent) {
                return Err(Problem::missing("region", parent));
            }
            if family(state, &region.id).contains(parent) {
                return Err(Problem::bad("A region cannot be within itself."));
            }
        }
        let _ = state.regions.put(region.clone());
        Ok(region)
    })?;
    Ok(Reply::ok(json!({ "region": show_region(ask, &region) })))
}

/// Removes a region with those within it, if nothing is there.
pub(in super::super) fn delete(ask: &Ask<'_>) -> Answer {
    ask.caller()?.may("delete_region", Target::default())?;
    ask.identity.change(|state| {
        let region = find(state, ask.param(0))?;
        let gone = family(state, &region.id);
        let used = |id: &Option<String>| id.as_ref().is_some_and(|id| gone.contains(id));
        if state.endpoints.iter().any(|endpoint| used(&endpoint.region_id)) {
            return Err(Problem::refused(format!(
                "Unable to delete region {} because it or its child regions have associated endpoints.",
                region.id
            )));
        }
        gone.iter().for_each(|id| drop(state.regions.remove(id)));
        Ok(())
    })?;
    Ok(Reply::done())
}

/// A region and all that are within it.
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

fn find(state: &State, id: &str) -> Result<Region, Problem> {
    state.regions.get(id).cloned().ok_or_else(|| Problem::missing("region", id))
}

fn show_region(ask: &Ask<'_>, region: &Region) -> Value {
    let shown = json!({
        "id": region.id, "description": region.description,
        "parent_region_id": region.parent_region_id,
    });
    ask.linked(shown, "regions", &region.id)
}
