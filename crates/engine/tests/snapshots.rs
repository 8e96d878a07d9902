//! Snapshots: taken, gone back to and let go of, event by event.

use crate::simulation::check::{books, events_of, flaws, outcome};
use crate::simulation::script::{CHILD, Plan, wish};
use crate::simulation::world::{World, now, recipe};
use kiln_engine::store::{SnapshotRow, Store};
use kiln_engine::{Command, Ids, SnapshotId, StackSettings, read_snapshot};
use kiln_template::Value;
use std::time::Duration;

fn created(plan: &str) -> World {
    let mut world = World::new(1);
    let recipe = wish(&mut world.rng, &Plan::of(plan));
    world.create(recipe, StackSettings::default());
    world.run();
    world
}

/// Has something wanted; gives the events of the root stack since.
fn told(world: &mut World, command: Command) -> Vec<String> {
    let before = events_of(world, world.root).len();
    world.command_at(world.now + Duration::from_secs(1), command);
    world.run();
    assert_eq!(flaws(world), Vec::<String>::new());
    events_of(world, world.root).split_off(before)
}

fn taken(world: &mut World, name: &str) -> (SnapshotId, Vec<String>) {
    let id = SnapshotId(Ids::next(&mut world.rng));
    let events = told(world, Command::Snapshot { id, name: Some(name.into()), limit: None });
    (id, events)
}

fn updated(world: &mut World, plan: &str) -> Vec<String> {
    let recipe = wish(&mut world.rng, &Plan::of(plan));
    told(world, Command::Update { recipe, settings: StackSettings::default() })
}

fn snapshot(world: &World, id: SnapshotId) -> Option<SnapshotRow> {
    now(world.store.snapshot(id)).unwrap()
}

fn told_of(row: &SnapshotRow) -> String {
    format!("{} {}", row.state, row.reason)
}

fn part(value: &Value, path: &[&str]) -> String {
    let mut at = value.clone();
    for key in path {
        at = at.as_map().and_then(|members| members.get(*key)).cloned().unwrap_or_default();
    }
    at.as_text().map(|text| text.to_string()).unwrap_or_default()
}

#[test]
fn a_snapshot_goes_over_every_resource_and_keeps_the_stack_as_a_document() {
    let mut world = created("a x; b y a; @n z");
    let (id, events) = taken(&mut world, "before");
    assert_eq!(events.first().unwrap(), "s SNAPSHOT_IN_PROGRESS Stack SNAPSHOT started");
    assert_eq!(events.last().unwrap(), "s SNAPSHOT_COMPLETE Stack SNAPSHOT completed successfully");
    let mut inside: Vec<&String> = events[1..events.len() - 1].iter().collect();
    inside.sort();
    assert_eq!(
        inside,
        [
            "a SNAPSHOT_COMPLETE state changed",
            "a SNAPSHOT_IN_PROGRESS state changed",
            "b SNAPSHOT_COMPLETE state changed",
            "b SNAPSHOT_IN_PROGRESS state changed",
            "n SNAPSHOT_COMPLETE state changed",
            "n SNAPSHOT_IN_PROGRESS state changed",
        ]
    );
    // Nothing of a nested stack is kept but its document.
    assert_eq!(outcome(&world), "SNAPSHOT_COMPLETE: x y z z + x y");
    let row = snapshot(&world, id).unwrap();
    assert_eq!(told_of(&row), "CREATE_COMPLETE Stack SNAPSHOT completed successfully");
    assert_eq!((row.name.as_deref(), row.stack, &*row.project), (Some("before"), world.root, "p"));
    let data = read_snapshot(&row).unwrap();
    assert_eq!(part(&data, &["action"]) + &part(&data, &["status"]), "CREATECOMPLETE");
    assert_eq!(part(&data, &["template", "resources", "a", "type"]), "Test::Thing");
    let copy = part(&data, &["resources", "a", "resource_data", "copy"]);
    assert_eq!(world.cloud.copies[&copy].value, "x");
    assert_eq!(part(&data, &["resources", "n", "resources", "inner", "type"]), "Test::Thing");
    let listed = kiln_engine::store::SnapshotRow { body: Vec::new(), ..row };
    assert_eq!(now(world.store.snapshots(world.root)).unwrap(), [listed]);
    // What stands for the copies is no resource of the stack.
    assert_eq!(now(world.store.resources(&[world.root])).unwrap().len(), 3);
}

#[test]
fn a_failed_snapshot_has_a_reason_and_leaves_no_copies_when_it_is_deleted() {
    let mut world = created("a x; b shy a; c x b");
    let (id, events) = taken(&mut world, "s");
    let why = "Resource SNAPSHOT failed: BadRequest: resources.b: the cloud refuses (HTTP 400). Next: change what the template asks for, and update the stack.";
    assert_eq!(events.last().unwrap(), &format!("s SNAPSHOT_FAILED {why}"));
    assert_eq!(told_of(&snapshot(&world, id).unwrap()), format!("CREATE_FAILED {why}"));
    assert_eq!(outcome(&world), "SNAPSHOT_FAILED: shy x x + x");
    assert_eq!(told(&mut world, Command::Restore(id)), Vec::<String>::new());
    assert_eq!(told(&mut world, Command::DeleteSnapshot(id)), Vec::<String>::new());
    assert_eq!(snapshot(&world, id), None);
    assert_eq!(outcome(&world), "SNAPSHOT_FAILED: shy x x");
}

#[test]
fn a_snapshot_of_a_stack_in_progress_fails_with_a_reason() {
    let mut world = created("a x");
    let recipe = wish(&mut world.rng, &Plan::of("a slow*2"));
    let update = Command::Update { recipe, settings: StackSettings::default() };
    world.command_at(world.now + Duration::from_secs(1), update);
    let id = SnapshotId(Ids::next(&mut world.rng));
    world.command_at(
        world.now + Duration::from_secs(3),
        Command::Snapshot { id, name: None, limit: None },
    );
    world.run();
    assert_eq!(flaws(&world), Vec::<String>::new());
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: slow*2");
    let row = snapshot(&world, id).unwrap();
    let why = "Stack s already has an action (UPDATE) in progress.";
    assert_eq!(told_of(&row), format!("CREATE_FAILED {why}"));
}

#[test]
fn a_restore_returns_a_stack_to_its_snapshot() {
    let mut world = created("a x; b y a; @n z");
    let (id, _) = taken(&mut world, "s");
    updated(&mut world, "a v; c w; @n v");
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: v v v w + x y");
    let events = told(&mut world, Command::Restore(id));
    assert_eq!(events.first().unwrap(), "s RESTORE_IN_PROGRESS Stack RESTORE started");
    assert_eq!(events.last().unwrap(), "s RESTORE_COMPLETE Stack RESTORE completed successfully");
    for event in [
        "a UPDATE_COMPLETE state changed",
        "b CREATE_COMPLETE state changed",
        "c DELETE_COMPLETE state changed",
    ] {
        assert!(events.iter().any(|it| it == event), "{events:#?}");
    }
    assert_eq!(outcome(&world), "RESTORE_COMPLETE: x y z z + x y");
    // Each is made of its copy: that is what the type asks for.
    let export = world.tree().unwrap().export();
    let copy = part(&export, &["template", "resources", "a", "properties", "source"]);
    assert_eq!(world.cloud.copies[&copy].value, "x");
    // The snapshot is as good as before.
    assert!(snapshot(&world, id).is_some());
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
    assert_eq!(snapshot(&world, id), None);
}

#[test]
fn a_template_that_no_type_changes_is_the_same_text_again() {
    let template = "heat_template_version: 2021-04-16\n# with a comment\nresources:\n  \
                    n: {type: child.yaml, properties: {value: x, size: 1}}\n";
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, template, &[("child.yaml", CHILD)]);
    world.create(first, StackSettings::default());
    world.run();
    let (id, _) = taken(&mut world, "s");
    updated(&mut world, "a y");
    told(&mut world, Command::Restore(id));
    assert_eq!(outcome(&world), "RESTORE_COMPLETE: x x");
    let (again, _) = taken(&mut world, "again");
    let data = |id| read_snapshot(&snapshot(&world, id).unwrap()).unwrap();
    assert_eq!(part(&data(id), &["files", "child.yaml"]), CHILD);
    assert_eq!(part(&data(again), &["files", "child.yaml"]), CHILD);
    let template = |id| data(id).as_map().unwrap().get("template").cloned();
    assert_eq!(template(id), template(again));
}

#[test]
fn a_restore_that_fails_is_undone() {
    let mut world = World::new(1);
    let first = wish(&mut world.rng, &Plan::of("a x; b y a"));
    let settings = StackSettings { is_rolled_back: Some(true), ..StackSettings::default() };
    world.create(first, settings);
    world.run();
    let (id, _) = taken(&mut world, "s");
    updated(&mut world, "a v");
    // Making the other one again meets one conflict after the other.
    world.cloud.conflicts = 100;
    let events = told(&mut world, Command::Restore(id));
    let failed = events.iter().position(|it| it.starts_with("s RESTORE_FAILED")).unwrap();
    assert_eq!(events[failed + 1], "s ROLLBACK_IN_PROGRESS Stack ROLLBACK started");
    assert_eq!(outcome(&world), "ROLLBACK_COMPLETE: v + x y");
}

#[test]
fn a_copy_that_cannot_be_deleted_fails_the_deletion_of_its_snapshot() {
    let mut world = created("a stuck; b y");
    let (id, _) = taken(&mut world, "s");
    world.cloud.is_sticky = true;
    assert_eq!(told(&mut world, Command::DeleteSnapshot(id)), Vec::<String>::new());
    let row = snapshot(&world, id).unwrap();
    assert_eq!(
        told_of(&row),
        "DELETE_FAILED BadRequest: resources.a: the cloud refuses (HTTP 400). Next: change what the template asks for, and update the stack."
    );
    assert_eq!(outcome(&world), "SNAPSHOT_COMPLETE: stuck y + stuck");
    let recipe = wish(&mut world.rng, &Plan::of("b y"));
    world.cloud.is_sticky = false;
    told(&mut world, Command::Update { recipe, settings: StackSettings::default() });
    world.cloud.is_sticky = true;
    let events = told(&mut world, Command::Delete);
    let why = "Snapshot deletion failed: BadRequest: resources.a: the cloud refuses (HTTP 400). Next: change what the template asks for, and update the stack.";
    assert_eq!(events.last().unwrap(), &format!("s DELETE_FAILED {why}"));
    world.cloud.is_sticky = false;
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
    assert!(books(&world).snapshots.is_empty());
}

#[test]
fn an_update_overtakes_a_snapshot() {
    let mut world = created("a x; b y a; c z b");
    let id = SnapshotId(Ids::next(&mut world.rng));
    let start = world.now;
    world.command_at(
        start + Duration::from_secs(1),
        Command::Snapshot { id, name: None, limit: None },
    );
    let recipe = wish(&mut world.rng, &Plan::of("a v; c z"));
    let update = Command::Update { recipe, settings: StackSettings::default() };
    world.command_at(start + Duration::from_secs(2), update);
    world.command_at(start + Duration::from_secs(3), Command::DeleteSnapshot(id));
    world.run();
    assert_eq!(flaws(&world), Vec::<String>::new());
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: v z");
    assert_eq!(snapshot(&world, id), None);
}

#[test]
fn an_abandoned_stack_leaves_its_copies() {
    let mut world = created("a x");
    let (id, _) = taken(&mut world, "s");
    world.command_at(world.now, Command::Abandon);
    world.run();
    assert_eq!(outcome(&world), "DELETE_COMPLETE: x + x");
    assert_eq!(snapshot(&world, id), None);
    assert!(books(&world).resources.is_empty());
}

#[test]
fn a_copy_is_made_before_an_object_goes_if_its_policy_says_so() {
    let template = "heat_template_version: 2021-04-16\nresources:\n  \
        kept: {type: Test::Thing, deletion_policy: Snapshot, properties: {value: x}}\n  \
        shy: {type: Test::Thing, deletion_policy: Snapshot, properties: {value: broken}}\n";
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, template, &[]);
    world.create(first, StackSettings::default());
    world.run();
    let events = told(&mut world, Command::Delete);
    assert_eq!(events.last().unwrap(), "s DELETE_COMPLETE Stack DELETE completed successfully");
    // There is no copy of what was never well.
    assert_eq!(outcome(&world), "DELETE_COMPLETE:  + x");
    let copy = world.cloud.copies.values().next().unwrap();
    assert!(copy.name.starts_with("s-kept-"), "{}", copy.name);
}
