//! What happens to stacks when all goes well, and when something does not: event by event.

use crate::simulation::check::{differs, events_of, flaws};
use crate::simulation::script::{Kind, Plan, Planned, Wanted, wish};
use crate::simulation::world::World;
use kiln_engine::{Command, StackSettings};
use std::time::Duration;

fn planned(name: &str, value: &str, size: u64, needs: &[&str]) -> Planned {
    let needs = needs.iter().map(|need| (*need).to_owned()).collect();
    Planned { name: name.into(), value: value.into(), size, needs, kind: Kind::Thing }
}

fn plan(resources: &[Planned]) -> Plan {
    Plan { resources: resources.to_vec(), ..Plan::default() }
}

fn created(plan: &Plan) -> World {
    let mut world = World::new(1);
    let recipe = wish(&mut world.rng, plan);
    world.create(recipe, StackSettings::default());
    world.run();
    world
}

fn update(world: &mut World, plan: &Plan) {
    let recipe = wish(&mut world.rng, plan);
    let command = Command::Update { recipe, settings: StackSettings::default() };
    world.command_at(world.now + Duration::from_secs(5), command);
    world.run();
}

fn at_rest(world: &World, wanted: &Plan) {
    assert_eq!(flaws(world), Vec::<String>::new());
    assert_eq!(differs(world, &Wanted::Plan(wanted.clone())), Vec::<String>::new());
}

#[test]
fn required_resources_are_created_first() {
    let wanted = plan(&[planned("a", "x", 1, &[]), planned("b", "y", 1, &["a"])]);
    let world = created(&wanted);
    at_rest(&world, &wanted);
    assert_eq!(
        events_of(&world, world.root),
        [
            "s CREATE_IN_PROGRESS Stack CREATE started",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "b CREATE_IN_PROGRESS state changed",
            "b CREATE_COMPLETE state changed",
            "s CREATE_COMPLETE Stack CREATE completed successfully",
        ]
    );
}

#[test]
fn an_update_changes_replaces_and_removes() {
    let first = plan(&[
        planned("a", "x", 1, &[]),
        planned("b", "y", 1, &["a"]),
        planned("gone", "z", 1, &["a"]),
    ]);
    let mut world = created(&first);
    let before = events_of(&world, world.root).len();
    let second = plan(&[planned("a", "x", 2, &[]), planned("b", "y", 1, &["a"])]);
    update(&mut world, &second);
    at_rest(&world, &second);
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            "a UPDATE_IN_PROGRESS state changed",
            "a UPDATE_COMPLETE The Resource a requires replacement.",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "b UPDATE_IN_PROGRESS state changed",
            "b UPDATE_COMPLETE state changed",
            "gone DELETE_IN_PROGRESS state changed",
            "gone DELETE_COMPLETE state changed",
            "a DELETE_IN_PROGRESS state changed",
            "a DELETE_COMPLETE state changed",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
}

#[test]
fn an_update_without_changes_touches_nothing() {
    let wanted = plan(&[planned("a", "x", 1, &[]), planned("b", "y", 1, &["a"])]);
    let mut world = created(&wanted);
    let before = events_of(&world, world.root).len();
    update(&mut world, &wanted);
    at_rest(&world, &wanted);
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
}

#[test]
fn dependents_are_deleted_first() {
    let wanted = plan(&[planned("a", "x", 1, &[]), planned("b", "y", 1, &["a"])]);
    let mut world = created(&wanted);
    let before = events_of(&world, world.root).len();
    world.command_at(world.now, Command::Delete);
    world.run();
    at_rest(&world, &plan(&[]));
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s DELETE_IN_PROGRESS Stack DELETE started",
            "b DELETE_IN_PROGRESS state changed",
            "b DELETE_COMPLETE state changed",
            "a DELETE_IN_PROGRESS state changed",
            "a DELETE_COMPLETE state changed",
            "s DELETE_COMPLETE Stack DELETE completed successfully",
        ]
    );
}

#[test]
fn nested_stacks_are_stacks() {
    let mut inner = planned("n", "x", 1, &[]);
    inner.kind = Kind::Nested;
    let wanted = plan(&[inner.clone(), planned("b", "y", 1, &["n"])]);
    let mut world = created(&wanted);
    at_rest(&world, &wanted);
    let before = events_of(&world, world.root).len();
    inner.value = "other".into();
    let second = plan(&[inner, planned("b", "y", 1, &["n"])]);
    update(&mut world, &second);
    at_rest(&world, &second);
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            "n UPDATE_IN_PROGRESS state changed",
            "n UPDATE_COMPLETE state changed",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
    world.command_at(world.now, Command::Delete);
    world.run();
    at_rest(&world, &plan(&[]));
}
