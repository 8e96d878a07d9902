//! Hooks: where a stack waits until it is told to go on.

use crate::lifecycle_rules::{PAIR, created, recipe_with, send, things, updated, waiting};
use crate::simulation::check::{events_of, flaws, outcome};
use crate::simulation::world::World;
use kiln_engine::{Command, StackSettings};
use kiln_template::Value;

fn hooks(resource: &str, hooks: &str) -> String {
    format!("resource_registry: {{resources: {{{resource}: {{hooks: {hooks}}}}}}}")
}

fn clears(world: &World, resource: &str, hook: &str) -> Command {
    let details = Value::map([("unset_hook", Value::from(hook))]);
    Command::Signal { stack: world.root, resource: resource.into(), details }
}

#[test]
fn a_create_waits_before_and_after() {
    let environment = hooks("a", "[pre-create, post-create]");
    let mut world = waiting(&things(&PAIR), &environment);
    for (seconds, hook) in [(10, "pre-create"), (40, "pre-create"), (80, "post-create")] {
        let command = clears(&world, "a", hook);
        send(&mut world, seconds, command);
    }
    world.run();
    assert_eq!(
        events_of(&world, world.root),
        [
            "s CREATE_IN_PROGRESS Stack CREATE started",
            "a INIT_COMPLETE CREATE paused until Hook pre-create is cleared",
            "a INIT_COMPLETE Hook pre-create is cleared",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "a CREATE_COMPLETE CREATE paused until Hook post-create is cleared",
            "a CREATE_COMPLETE Hook post-create is cleared",
            "b CREATE_IN_PROGRESS state changed",
            "b CREATE_COMPLETE state changed",
            "s CREATE_COMPLETE Stack CREATE completed successfully",
        ]
    );
}

#[test]
fn a_hook_outlives_the_engine() {
    let environment = hooks("a", "[pre-create, post-create]");
    let mut expected = None;
    for crash_at in 0..60 {
        let mut world = waiting(&things(&PAIR), &environment);
        world.crash_at = Some(crash_at);
        for (seconds, hook) in [(60, "pre-create"), (200, "post-create")] {
            let command = clears(&world, "a", hook);
            send(&mut world, seconds, command);
        }
        world.run();
        let events = events_of(&world, world.root);
        let paused = events.iter().filter(|it| it.contains("paused")).count();
        assert_eq!((paused, outcome(&world)), (2, "CREATE_COMPLETE: x y".into()), "{events:#?}");
        assert_eq!(*expected.get_or_insert(events.len()), events.len(), "{events:#?}");
    }
}

#[test]
fn an_update_waits_before_and_after() {
    let environment = hooks("a", "[pre-update, post-update]");
    let mut world = created(&things(&PAIR), &environment);
    let other = things(&["a: {value: z}", PAIR[1]]);
    let recipe = recipe_with(&mut world, &other, &environment);
    send(&mut world, 1, Command::Update { recipe, settings: StackSettings::default() });
    for (seconds, hook) in [(10, "pre-update"), (40, "post-update")] {
        let command = clears(&world, "a", hook);
        send(&mut world, seconds, command);
    }
    let before = events_of(&world, world.root).len();
    world.run();
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            "a CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared",
            "a CREATE_COMPLETE Hook pre-update is cleared",
            "a UPDATE_IN_PROGRESS state changed",
            "a UPDATE_COMPLETE state changed",
            "a UPDATE_COMPLETE UPDATE paused until Hook post-update is cleared",
            "a UPDATE_COMPLETE Hook post-update is cleared",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
}

/// The events of an update that waits at a hook of `a`, from which it is let go.
fn updated_through(world: &mut World, template: &str, environment: &str) -> Vec<String> {
    let recipe = recipe_with(world, template, environment);
    send(world, 1, Command::Update { recipe, settings: StackSettings::default() });
    let command = clears(world, "a", "pre-update");
    send(world, 100, command);
    let before = events_of(world, world.root).len();
    world.run();
    assert_eq!(flaws(world), Vec::<String>::new());
    events_of(world, world.root).split_off(before)
}

const PAUSED: &str = "a CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared";

#[test]
fn an_update_waits_also_before_it_leaves_alone_or_replaces() {
    let environment = hooks("a", "[pre-update, post-update]");
    let mut world = created(&things(&PAIR), &environment);
    let nothing = updated_through(&mut world, &things(&PAIR), &environment);
    assert_eq!(
        nothing,
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            PAUSED,
            "a CREATE_COMPLETE Hook pre-update is cleared",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
    let other = things(&["a: {value: x, size: 2}", PAIR[1]]);
    let replaced = updated_through(&mut world, &other, &environment);
    assert_eq!(replaced[1..3], nothing[1..3]);
    assert_eq!(replaced[4], "a UPDATE_COMPLETE The Resource a requires replacement.");

    // What becomes something else altogether is not updated.
    let value =
        other.replacen("Test::Thing, properties: {value: x, size: 2}", "OS::Heat::Value", 1);
    let changed = updated(&mut world, &value, &environment);
    assert!(!changed.iter().any(|event| event.contains("paused")), "{changed:#?}");
}

#[test]
fn an_update_waits_once_wherever_the_engine_dies() {
    let environment = hooks("a", "pre-update");
    let (before, after) = (things(&PAIR), things(&["a: {value: z}", PAIR[1], "c: {value: w}"]));
    let crashes = (0..60).map(Some).chain([None]);
    for (crash_at, after) in crashes.flat_map(|at| [(at, &before), (at, &after)]) {
        let mut world = created(&before, &environment);
        world.crash_at = crash_at.map(|at| world.boundaries + at + 1);
        let events = updated_through(&mut world, after, &environment);
        let paused = events.iter().filter(|it| it.contains("paused")).count();
        assert_eq!(paused, 1, "{crash_at:?} {events:#?}");
        assert!(outcome(&world).starts_with("UPDATE_COMPLETE"), "{events:#?}");
    }
}

#[test]
fn a_stub_does_not_look_at_its_properties() {
    let template = r#"
heat_template_version: 2021-04-16
resources:
  v: {type: OS::Heat::Value, properties: {value: {a: 1}}}
  n:
    type: OS::Heat::None
    metadata: {seen: {get_attr: [v, value]}}
    properties: {p: {str_split: [",", {get_attr: [v, value]}]}}
"#;
    let world = created(template, "");
    assert!(outcome(&world).starts_with("CREATE_COMPLETE"), "{:#?}", events_of(&world, world.root));
}

#[test]
fn a_delete_waits_before_and_after() {
    let environment = hooks("b", "[pre-delete, post-delete]");
    let mut world = created(&things(&PAIR), &environment);
    let before = events_of(&world, world.root).len();
    send(&mut world, 1, Command::Delete);
    for (seconds, hook) in [(10, "pre-delete"), (40, "post-delete")] {
        let command = clears(&world, "b", hook);
        send(&mut world, seconds, command);
    }
    world.run();
    assert_eq!(
        &events_of(&world, world.root)[before..],
        [
            "s DELETE_IN_PROGRESS Stack DELETE started",
            "b CREATE_COMPLETE DELETE paused until Hook pre-delete is cleared",
            "b CREATE_COMPLETE Hook pre-delete is cleared",
            "b DELETE_IN_PROGRESS state changed",
            "b DELETE_COMPLETE state changed",
            "b DELETE_COMPLETE DELETE paused until Hook post-delete is cleared",
            "b DELETE_COMPLETE Hook post-delete is cleared",
            "a DELETE_IN_PROGRESS state changed",
            "a DELETE_COMPLETE state changed",
            "s DELETE_COMPLETE Stack DELETE completed successfully",
        ]
    );
}

#[test]
fn no_resource_waits_at_a_hook_of_a_failed_or_replaced_traversal() {
    let template = things(&["a: {value: x}", "b: {value: refused}"]);
    let world = created(&template, &hooks("a", "pre-create"));
    assert_eq!(
        events_of(&world, world.root)[1..],
        [
            "a INIT_COMPLETE CREATE paused until Hook pre-create is cleared",
            "b CREATE_IN_PROGRESS state changed",
            "b CREATE_FAILED BadRequest: resources.b: the cloud refuses (HTTP 400). Next: change what the template asks for, and update the stack.",
            "a INIT_COMPLETE Failure occurred while waiting.",
            "s CREATE_FAILED Resource CREATE failed: BadRequest: resources.b: the cloud refuses (HTTP 400). Next: change what the template asks for, and update the stack.",
        ]
    );
    let mut world = waiting(&things(&["a: {value: x}"]), &hooks("a", "pre-create"));
    send(&mut world, 10, Command::Delete);
    world.run();
    assert_eq!(
        events_of(&world, world.root)[2..],
        [
            "s CREATE_FAILED Stack CREATE cancelled",
            "a INIT_COMPLETE Failure occurred while waiting.",
            "s DELETE_IN_PROGRESS Stack DELETE started",
            "s DELETE_COMPLETE Stack DELETE completed successfully",
        ]
    );
}
