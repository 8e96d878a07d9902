//! A plan is a contract: an update does what its plan shows, or stops.

use crate::simulation::check::events_of;
use crate::simulation::contract::{Tally, contract, created, planned_updates, update};
use crate::simulation::script::{CHILD, Plan as Wanted, wish};
use crate::simulation::world::{World, recipe};
use kiln_engine::preview::{Plan, shown};
use kiln_engine::{Recipe, StackSettings};
use kiln_template::Value;

fn plan(world: &mut World, recipe: &Recipe) -> Plan {
    world.tree_mut().unwrap().plan(recipe).unwrap()
}

fn told(plan: &Plan) -> Vec<String> {
    let told = plan.steps.iter().map(|step| {
        let changes = step.detail.changes.iter().map(|it| {
            let force = if it.forces_replacement { "!" } else { "" };
            format!(" {}{force}: {:?}", it.path, it.causes)
        });
        format!("{} {}{}", step.act.name(), step.path, changes.collect::<String>())
    });
    told.collect()
}

const FIRST: &str = "heat_template_version: 2021-04-16
parameters: {size: {type: number, default: 1}, secret: {type: string, hidden: true, default: one}}
resources:
  a: {type: Test::Thing, properties: {size: {get_param: size}}}
  b: {type: Test::Thing, properties: {value: {get_param: secret}, needs: [{get_resource: a}]}}
  c: {type: Test::Thing, properties: {value: x}}
  n: {type: child.yaml, properties: {value: x, size: 1}}
";

#[test]
fn a_plan_says_what_changes_and_why() {
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, FIRST, &[("child.yaml", CHILD)]);
    world.create(first, StackSettings::default());
    world.run();
    let second = FIRST
        .replace("default: 1", "default: 2")
        .replace("default: one", "default: two")
        .replace("c: {type: Test::Thing, properties: {value: x}}", "d: {type: Test::Thing}");
    let second = recipe(&mut world.rng, &second, &[("child.yaml", CHILD)]);
    let plan = plan(&mut world, &second);
    assert_eq!(
        told(&plan),
        [
            "replace a properties.size!: [Parameter(\"size\")]",
            "create d",
            "no-op n",
            "no-op n/inner",
            "no-op n/outer",
            "update b properties.needs: [Resource(\"a\", None)] \
             properties.value: [Parameter(\"secret\")]",
            "delete c",
        ]
    );
    assert_eq!(plan.tally().to_string(), "+1 ~1 ±1 -1");
    let b = plan.steps.iter().find(|step| &*step.path == "b").unwrap();
    assert_eq!(shown(&b.detail.changes[1].after), "******".into());
    let unknown = Value::map([("unknown", Value::from("known after a is created"))]);
    assert_eq!(shown(&b.detail.changes[0].after), Value::list([unknown]));
    let line = b.detail.changes[0].location.as_ref().map(|it| it.line);
    assert_eq!(line, Some(5));
    assert_eq!(b.detail.waits_for, ["a".into()]);
}

#[test]
fn a_plan_of_nothing_is_empty_and_one_of_a_removal_goes_backwards() {
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, FIRST, &[("child.yaml", CHILD)]);
    world.create(first.clone(), StackSettings::default());
    world.run();
    assert!(plan(&mut world, &first).is_empty());
    let removal = world.tree().unwrap().plan_delete().unwrap();
    assert_eq!(removal.tally().delete, 6);
    let place = |path: &str| removal.steps.iter().position(|it| &*it.path == path).unwrap();
    assert!(place("b") < place("a"));
}

#[test]
fn what_a_plan_does_not_show_stops_the_update() {
    let (first, second) = (Wanted::of("a x; b x a"), Wanted::of("a x*2; b x a"));
    let mut world = created(1, &first);
    let second = wish(&mut world.rng, &second);
    // A contract for nothing at all.
    let nothing = wish(&mut world.rng, &first);
    let nothing = plan(&mut world, &nothing);
    let contract = contract(&world, &nothing, false);
    let deeds = world.cloud.deeds.len();
    update(&mut world, &second, Some(contract));
    assert_eq!(world.cloud.deeds.len(), deeds, "{:?}", &world.cloud.deeds[deeds..]);
    let events = events_of(&world, world.root);
    let why = "The plan does not show that a is replaced because of properties.size. Make a new \
               plan, or allow replacements.";
    assert!(events.iter().any(|reason| reason.contains(why)), "{events:#?}");
}

#[test]
fn a_plan_for_another_record_changes_nothing() {
    let mut world = created(1, &Wanted::of("a x"));
    let second = wish(&mut world.rng, &Wanted::of("a y"));
    let plan = plan(&mut world, &second);
    let contract = contract(&world, &plan, false);
    let between = wish(&mut world.rng, &Wanted::of("a z"));
    update(&mut world, &between, None);
    let deeds = world.cloud.deeds.clone();
    update(&mut world, &second, Some(contract));
    assert_eq!(world.cloud.deeds, deeds);
    let events = events_of(&world, world.root);
    assert!(events.iter().any(|it| it.contains("The plan was not applied")), "{events:#?}");
}

/// How many updates are planned and run.
const UPDATES: u64 = 2_000;

#[test]
fn no_update_does_what_its_plan_does_not_show() {
    let tally = planned_updates(0..UPDATES).unwrap_or_else(|flaw| panic!("{flaw}"));
    println!("{tally}");
    let Tally { changed, record_moved, template_moved, object_moved, stopped, .. } = tally;
    assert!(
        [changed, record_moved, template_moved, object_moved, stopped].iter().all(|it| *it > 0)
    );
}
