//! A tree as one document.

use crate::simulation::check::events_of;
use crate::simulation::script::{Kind, Plan, Planned, wish};
use crate::simulation::world::World;
use kiln_engine::{Command, StackSettings};
use kiln_template::Value;

/// Creates a stack with a resource and a nested stack; returns its plan and its export.
fn create_and_export() -> (Plan, World, Value) {
    let planned = |name: &str, is_nested| Planned {
        name: name.into(),
        value: "x".into(),
        size: 1,
        needs: Vec::new(),
        kind: Kind::of(is_nested),
    };
    let plan = Plan { resources: vec![planned("a", false), planned("n", true)], ..Plan::default() };
    let mut world = World::new(3);
    let recipe = wish(&mut world.rng, &plan);
    world.create(recipe, StackSettings::default());
    world.run();
    let export = world.tree().unwrap().export();
    (plan, world, export)
}

#[test]
fn an_export_has_every_stack_and_every_object() {
    let (_, world, export) = create_and_export();
    let part = |value: &Value, path: &[&str]| {
        let mut at = value.clone();
        for key in path {
            at = at.as_map().and_then(|members| members.get(*key)).cloned().unwrap_or_default();
        }
        at.as_text().map(|text| text.to_string()).unwrap_or_default()
    };
    assert_eq!(part(&export, &["action"]) + &part(&export, &["status"]), "CREATECOMPLETE");
    assert_eq!(part(&export, &["template", "resources", "a", "type"]), "Test::Thing");
    assert_eq!(part(&export, &["resources", "a", "type"]), "Test::Thing");
    let inner = part(&export, &["resources", "n", "resources", "inner", "resource_id"]);
    let ids = [part(&export, &["resources", "a", "resource_id"]), inner];
    assert!(ids.iter().all(|id| world.cloud.things.contains_key(id)), "{ids:?}");
}

#[test]
fn a_stack_adopts_the_objects_of_an_abandoned_one() {
    let (plan, mut world, export) = create_and_export();
    let things = world.cloud.things.clone();
    world.command_at(world.now, Command::Abandon);
    world.run();
    assert_eq!(world.cloud.things, things, "an abandoned stack leaves its objects alone");

    let mut other = World::new(4);
    other.cloud = std::mem::take(&mut world.cloud);
    let recipe = wish(&mut other.rng, &plan);
    let Some(Value::Map(resources)) = export.as_map().and_then(|it| it.get("resources")) else {
        panic!("an export has resources");
    };
    other.adopt(recipe, resources.clone());
    other.run();
    assert_eq!(other.cloud.things, things, "nothing is made anew");
    let root = other.root;
    assert_eq!(
        events_of(&other, root),
        [
            "s ADOPT_IN_PROGRESS Stack ADOPT started",
            "a ADOPT_IN_PROGRESS state changed",
            "a ADOPT_COMPLETE state changed",
            "n ADOPT_IN_PROGRESS state changed",
            "n ADOPT_COMPLETE state changed",
            "s ADOPT_COMPLETE Stack ADOPT completed successfully",
        ]
    );
    other.command_at(other.now, Command::Delete);
    other.run();
    assert!(other.cloud.things.is_empty());
}

#[test]
fn an_adoption_that_fails_leaves_all_objects_alone() {
    let planned = |name: &str| Planned {
        name: name.into(),
        value: "x".into(),
        size: 1,
        needs: Vec::new(),
        kind: Kind::Thing,
    };
    let plan = Plan { resources: vec![planned("a"), planned("b")], ..Plan::default() };
    let mut world = World::new(3);
    let recipe = wish(&mut world.rng, &plan);
    world.create(recipe, StackSettings::default());
    world.run();
    let export = world.tree().unwrap().export();
    let things = world.cloud.things.clone();
    let mut other = World::new(4);
    other.cloud = std::mem::take(&mut world.cloud);
    let recipe = wish(&mut other.rng, &plan);
    let Some(Value::Map(resources)) = export.as_map().and_then(|it| it.get("resources")) else {
        panic!("an export has resources");
    };
    let mut resources = (**resources).clone();
    resources.shift_remove("b");
    other.adopt(recipe, resources.into());
    other.run();
    assert_eq!(other.cloud.things, things);
    let events = events_of(&other, other.root);
    let failure = "s ADOPT_FAILED Resource ADOPT failed: Exception: resources.b: Resource ID was not provided.";
    assert!(events.iter().any(|event| event == failure), "{events:#?}");
    assert_eq!(events.last().unwrap(), "s ROLLBACK_COMPLETE Stack ROLLBACK completed successfully");
}
