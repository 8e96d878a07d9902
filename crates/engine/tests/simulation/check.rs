//! What must be true when a world has come to rest.

use super::script::{Kind, MAX_SIZE, Plan, Planned, Wanted};
use super::world::{World, now};
use kiln_engine::store::{EventQuery, ResourceRow, SnapshotRow, StackRow, Store};
use kiln_engine::{Action, StackId, Status};
use std::collections::{BTreeMap, BTreeSet};

/// All that the store holds of the tree.
pub struct Books {
    pub root: Option<StackRow>,
    pub stacks: Vec<StackRow>,
    pub resources: Vec<ResourceRow>,
    pub snapshots: Vec<SnapshotRow>,
}

pub fn books(world: &World) -> Books {
    let root = now(world.store.stack(world.root)).unwrap();
    let rows = now(world.store.load_tree(world.root)).unwrap();
    let rows = rows.unwrap_or_default();
    Books { root, stacks: rows.stacks, resources: rows.resources, snapshots: rows.snapshots }
}

/// What is wrong with a world at rest.
pub fn flaws(world: &World) -> Vec<String> {
    let mut flaws: Vec<String> = world.cloud.violations.clone();
    let books = books(world);
    for stack in &books.stacks {
        if stack.summary.state.status == Status::InProgress {
            flaws.push(format!("stack {} is stuck in {}", stack.summary.name, stack.summary.state));
        }
    }
    let mut known: BTreeMap<&str, &ResourceRow> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for row in &books.resources {
        if row.summary.state.status == Status::InProgress {
            flaws.push(format!("resource {} is stuck in {}", row.summary.name, row.summary.state));
        }
        let stack = books.stacks.iter().find(|stack| stack.id == row.stack);
        let has_object = ["Test::Thing", "OS::Heat::Stack"].contains(&&*row.summary.type_name);
        if has_object && stack.is_some() {
            let stack = stack.map_or("", |stack| &stack.summary.name);
            names.insert(row.id.physical_name(stack, &row.summary.name, 255));
            if let Some(id) = &row.summary.physical_id {
                known.insert(id.text(), row);
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (id, thing) in &world.cloud.things {
        if !seen.insert(&thing.name) {
            flaws.push(format!("{} is there twice", thing.name));
        }
        // What is in doubt is not in the books by its id, but it is by its name.
        if !known.contains_key(id.as_str()) && !names.contains(&thing.name) {
            flaws.push(format!("{id} ({}) is an orphan", thing.name));
        }
    }
    for (id, row) in &known {
        let is_there = world.cloud.things.contains_key(*id);
        // Such an update is complete because another resource takes its place: it says nothing of the object, which may be
        // what was found to be gone. The other resource is there.
        let is_other = |other: &&ResourceRow| {
            other.id != row.id && other.stack == row.stack && other.summary.name == row.summary.name
        };
        let is_replaced = row.summary.reason.ends_with("requires replacement.")
            && books.resources.iter().filter(is_other).any(|it| it.number > row.number);
        if !is_there
            && !is_replaced
            && row.summary.state.status == Status::Complete
            && row.summary.state.action != Action::Delete
        {
            flaws.push(format!("{} ({id}) is in the books and not in the cloud", row.summary.name));
        }
    }
    flaws.extend(flaws_of_copies(world, &books));
    flaws.extend(flaws_of_events(world, &books));
    flaws
}

/// Every copy belongs to a snapshot, or was made before a thing was removed and has its name; and a
/// snapshot that is complete has all of its copies.
fn flaws_of_copies(world: &World, books: &Books) -> Vec<String> {
    let mut flaws = Vec::new();
    let mut wanted: BTreeMap<String, &SnapshotRow> = BTreeMap::new();
    let root = books.root.as_ref().map_or("", |root| &root.summary.name);
    for snapshot in &books.snapshots {
        if snapshot.state.status == Status::InProgress {
            flaws.push(format!("snapshot {} is stuck in {}", snapshot.id, snapshot.state));
        }
        for row in books.resources.iter().filter(|row| row.stack.0 == snapshot.id.0) {
            // The snapshots of a stack go with it.
            let is_stack = &*row.summary.type_name == "OS::Heat::Stack";
            let id = row.summary.physical_id.as_ref().map_or("", |id| id.text());
            if is_stack && !world.cloud.things.contains_key(id) {
                continue;
            }
            wanted.insert(row.id.physical_name(root, &row.summary.name, 255), snapshot);
        }
    }
    let mut seen = BTreeSet::new();
    for (id, copy) in &world.cloud.copies {
        // One that failed may have left two: both go with it.
        let is_failed = wanted.get(&copy.name).is_some_and(|it| it.state.status == Status::Failed);
        if !seen.insert(&copy.name) && !is_failed {
            flaws.push(format!("there are two copies {}", copy.name));
        }
        if !wanted.contains_key(&copy.name) && !world.cloud.names.contains(&copy.name) {
            flaws.push(format!("the copy {id} ({}) is an orphan", copy.name));
        }
    }
    for (name, snapshot) in wanted {
        if snapshot.state.is(Action::Create, Status::Complete) && !seen.contains(&name) {
            flaws.push(format!("the copy {name} is in the books and not in the cloud"));
        }
    }
    flaws
}

fn flaws_of_events(world: &World, books: &Books) -> Vec<String> {
    let stacks: Vec<StackId> = books.stacks.iter().map(|stack| stack.id).collect();
    let query =
        EventQuery { stacks, filters: vec![], descending: false, marker: None, limit: None };
    let events = now(world.store.events(&query)).unwrap();
    let mut flaws = Vec::new();
    let is_ordered = events.windows(2).all(|two| two[0].number < two[1].number);
    if !is_ordered {
        flaws.push("events are out of order".to_owned());
    }
    if events.windows(2).any(|two| two[0].time > two[1].time) {
        flaws.push("events go back in time".to_owned());
    }
    flaws
}

/// Whether the cloud has exactly what a plan says; what differs.
pub fn differs(world: &World, wanted: &Wanted) -> Vec<String> {
    let plan = match wanted {
        Wanted::Plan(plan) => plan.clone(),
        Wanted::Nothing => Plan::default(),
    };
    let mut found: Vec<(String, u64)> =
        world.cloud.things.values().map(|it| (it.value.clone(), it.size as u64)).collect();
    found.sort();
    let is_found = found.clone();
    let mut missing = Vec::new();
    // A scaling group may have grown: that is looked at when everything else has been taken away.
    for (thing, count, _) in plan.resources.iter().flat_map(things) {
        for _ in 0..count {
            match found.iter().position(|it| *it == thing) {
                Some(at) => _ = found.remove(at),
                None => missing.push(thing.clone()),
            }
        }
    }
    for (thing, _, more) in plan.resources.iter().flat_map(things) {
        for _ in 0..more {
            if let Some(at) = found.iter().position(|it| *it == thing) {
                found.remove(at);
            }
        }
    }
    match found.is_empty() && missing.is_empty() {
        true => Vec::new(),
        false => vec![format!("the cloud has {is_found:?}: without {missing:?}, with {found:?}")],
    }
}

/// The things that a planned resource stands for: how many of each, and how many more there may be.
fn things(resource: &Planned) -> Vec<((String, u64), u64, u64)> {
    let thing = (resource.value.clone(), resource.size);
    match resource.kind {
        Kind::Thing => vec![(thing, 1, 0)],
        Kind::Remote => vec![((resource.value.clone(), 1), 1, 0)],
        Kind::Nested => vec![((resource.value.clone(), 1), 1, 0), (thing, 1, 0)],
        Kind::Group { count, .. } => vec![(thing, count, 0)],
        Kind::Scaling { size } => vec![(thing, size, MAX_SIZE - size)],
    }
}

/// The state of the root stack and the things in the cloud, in short: `CREATE_COMPLETE: x y*2`.
pub fn outcome(world: &World) -> String {
    let root = now(world.store.stack(world.root)).unwrap().unwrap();
    let thing = |it: &super::cloud::Thing| match it.size {
        1 => it.value.clone(),
        size => format!("{}*{size}", it.value),
    };
    let mut things: Vec<String> = world.cloud.things.values().map(thing).collect();
    things.sort();
    let mut copies: Vec<&str> = world.cloud.copies.values().map(|it| it.value.as_str()).collect();
    copies.sort();
    let copies = if copies.is_empty() { String::new() } else { format!(" + {}", copies.join(" ")) };
    format!("{}: {}{copies}", root.summary.state, things.join(" "))
}

/// The events of the root stack, as text.
pub fn events_of(world: &World, stack: StackId) -> Vec<String> {
    let stacks = vec![stack];
    let query =
        EventQuery { stacks, filters: vec![], descending: false, marker: None, limit: None };
    let events = now(world.store.events(&query)).unwrap();
    events.iter().map(|it| format!("{} {} {}", it.resource, it.state, it.reason)).collect()
}
