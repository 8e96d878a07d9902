//! Nested stacks and groups in updates, checks and cancelled actions, as the real Heat treats them.

use crate::lifecycle_rules::{recipe_with, send, things, told};
use crate::simulation::check::{books, events_of, flaws, outcome};
use crate::simulation::world::{World, recipe};
use kiln_engine::preview::Fate;
use kiln_engine::{Action, Command, Recipe, StackSettings};
use std::sync::Arc;
use std::time::Duration;

/// A template of resources, one a line: `n: {type: inner.yaml}`.
fn template(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| format!("  {line}\n"));
    format!("heat_template_version: 2021-04-16\nresources:\n{}", lines.collect::<String>())
}

fn created(template: &str, files: &[(&str, &str)]) -> World {
    let mut world = World::new(1);
    let recipe = recipe(&mut world.rng, template, files);
    world.create(recipe, StackSettings::default());
    world.run();
    world
}

fn update(world: &mut World, template: &str, files: &[(&str, &str)]) -> Command {
    Command::Update {
        recipe: recipe(&mut world.rng, template, files),
        settings: StackSettings::default(),
    }
}

fn updated(world: &mut World, template: &str, files: &[(&str, &str)]) -> Vec<String> {
    let command = update(world, template, files);
    told(world, command)
}

/// The resources of all stacks with their states, in the order of their names: `a CREATE_COMPLETE`.
fn states(world: &World) -> Vec<String> {
    let rows = books(world).resources;
    let mut states: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row.summary.name, row.summary.state)).collect();
    states.sort();
    states
}

/// The physical id of a resource.
fn physical_id(world: &World, name: &str) -> String {
    let books = books(world);
    let row = books.resources.iter().find(|row| &*row.summary.name == name).unwrap();
    row.summary.physical_id.as_ref().unwrap().text().to_string()
}

// --- what belongs to the parent resource ---

#[test]
fn a_deletion_policy_can_be_that_of_the_parent_resource() {
    let inner = "heat_template_version: 2021-04-16\nresources:\n  t:\n    type: Test::Thing\n    \
                 deletion_policy: {resource_facade: deletion_policy}\n    properties: {value: x}\n";
    let files = [("inner.yaml", inner)];
    let deleted = template(&["n: {type: inner.yaml}"]);
    let retained = template(&["n: {type: inner.yaml, deletion_policy: Retain}"]);

    let mut world = created(&deleted, &files);
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x");
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");

    let mut world = created(&deleted, &files);
    updated(&mut world, &retained, &files);
    let without = template(&["n: {type: OS::Heat::None}"]);
    let command = update(&mut world, &without, &files);
    send(&mut world, 1, command);
    world.run();
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: x");
}

// --- types that change their names ---

#[test]
fn a_nested_stack_is_updated_in_place_to_another_file() {
    let inner = things(&["t: {value: x}"]);
    let mut world = created(&template(&["n: {type: a.yaml}"]), &[("a.yaml", &inner)]);
    let id = physical_id(&world, "n");
    let other = things(&["t: {value: y}", "more: {value: z}"]);
    let events = updated(&mut world, &template(&["n: {type: b.yaml}"]), &[("b.yaml", &other)]);
    assert_eq!(
        events[1..3],
        ["n UPDATE_IN_PROGRESS state changed", "n UPDATE_COMPLETE state changed"]
    );
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: y z");
    assert!(world.cloud.things.contains_key("t1"), "the thing in it was kept");
    assert_eq!(physical_id(&world, "n"), id);
    let row = books(&world).resources.into_iter().find(|row| &*row.summary.name == "n").unwrap();
    assert_eq!(&*row.summary.type_name, "b.yaml");
}

#[test]
fn a_nested_stack_is_updated_in_place_to_another_name_of_the_registry() {
    let inner = things(&["t: {value: x}"]);
    let named = |world: &mut World, name: &str| -> Arc<Recipe> {
        let environment = "resource_registry: {My::A: a.yaml, My::B: b.yaml}";
        let text = template(&[&format!("n: {{type: {name}}}")]);
        let mut whole = Arc::into_inner(recipe_with(world, &text, environment)).unwrap();
        let files = ["a.yaml", "b.yaml"].map(|file| (file.into(), inner.as_str().into()));
        whole.files = Arc::new(files.into_iter().collect());
        Arc::new(whole)
    };
    let mut world = World::new(1);
    let first = named(&mut world, "My::A");
    world.create(first, StackSettings::default());
    world.run();
    let recipe = named(&mut world, "My::B");
    world.cloud.deeds.clear();
    told(&mut world, Command::Update { recipe, settings: StackSettings::default() });
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: x");
    assert_eq!(world.cloud.deeds, Vec::<String>::new());
}

#[test]
fn a_nested_stack_that_becomes_a_thing_is_replaced() {
    let inner = things(&["t: {value: x}"]);
    let mut world = created(&template(&["n: {type: a.yaml}"]), &[("a.yaml", &inner)]);
    let plain = template(&["n: {type: Test::Thing, properties: {value: y}}"]);
    let recipe = recipe(&mut world.rng, &plain, &[]);
    let forecasts = world.tree_mut().unwrap().preview(&recipe).unwrap();
    let [n] = &forecasts[..] else { panic!("{forecasts:?}") };
    let inside: Vec<_> = n.inside.iter().map(|it| (&*it.resource.name, it.fate)).collect();
    assert_eq!((n.fate, inside), (Fate::Replaced, vec![("t", Fate::Deleted)]));
    assert_eq!(n.inside[0].resource.parent_resource.as_deref(), Some("n"));
    updated(&mut world, &plain, &[]);
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: y");
}

#[test]
fn a_group_is_updated_in_place_to_the_successor_of_its_type() {
    let group = |kind: &str| {
        template(&[&format!("g: {{type: {kind}, properties: {{config: c, servers: {{}}}}}}")])
    };
    let mut world = created(&group("OS::Heat::SoftwareDeployments"), &[]);
    let id = physical_id(&world, "g");
    updated(&mut world, &group("OS::Heat::SoftwareDeploymentGroup"), &[]);
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: ");
    assert_eq!(physical_id(&world, "g"), id);
    updated(&mut world, &group("OS::Heat::SoftwareDeployments"), &[]);
    assert_ne!(physical_id(&world, "g"), id, "the way back is not open");
}

#[test]
fn members_that_wait_for_their_batch_need_the_file_that_the_request_left_out() {
    let group = |file: &str| {
        template(&[
            &format!(
                "g: {{type: OS::Heat::ResourceGroup, properties: {{count: 4, resource_def: {{type: {file}}}}},"
            ),
            "  update_policy: {rolling_update: {min_in_service: 1, max_batch_size: 3}}}",
        ])
    };
    for crash_at in [None, Some(30), Some(60), Some(90)] {
        let mut world = World::new(1);
        let inner = things(&["t: {value: x}"]);
        let first = recipe(&mut world.rng, &group("a.yaml"), &[("a.yaml", &inner)]);
        world.create(first, StackSettings::default());
        world.run();
        assert_eq!(outcome(&world), "CREATE_COMPLETE: x x x x");
        world.crash_at = crash_at.map(|at| world.boundaries + at);
        let other = things(&["t: {value: y}"]);
        updated(&mut world, &group("b.yaml"), &[("b.yaml", &other)]);
        assert_eq!(outcome(&world), "UPDATE_COMPLETE: y y y y");
        let kept = ["t1", "t2", "t3", "t4"].iter().all(|id| world.cloud.things.contains_key(*id));
        assert!(kept, "{:?}", world.cloud.things);
    }
}

// --- every update goes into every nested stack ---

#[test]
fn an_update_without_changes_goes_into_nested_stacks_and_touches_no_thing() {
    let wanted = template(&[
        "n: {type: outer.yaml}",
        "u: {type: Test::Thing, properties: {value: {get_attr: [n, it]}}}",
        "g: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: inner.yaml}}}",
    ]);
    let outer = template(&["in: {type: inner.yaml}"]) + "outputs: {it: {value: 5}}\n";
    let inner = things(&["t: {value: x}"]);
    let files = [("outer.yaml", &*outer), ("inner.yaml", &*inner)];
    let mut world = created(&wanted, &files);
    let before = books(&world);
    let recipe = recipe(&mut world.rng, &wanted, &files);
    let forecasts = world.tree_mut().unwrap().preview(&recipe).unwrap();
    let fate = |name: &str| forecasts.iter().find(|it| &*it.resource.name == name).unwrap();
    assert_eq!(fate("n").fate, Fate::Updated);
    assert_eq!(fate("n").inside[0].fate, Fate::Updated);
    assert_eq!(fate("n").inside[0].inside[0].fate, Fate::Unchanged);
    assert_eq!(fate("u").fate, Fate::Unchanged, "what it needs of n stays the same");
    let events = updated(&mut world, &wanted, &files);
    let mut events: Vec<&str> = events.iter().map(String::as_str).collect();
    events.sort_unstable();
    assert_eq!(
        events,
        [
            "g UPDATE_COMPLETE state changed",
            "g UPDATE_IN_PROGRESS state changed",
            "n UPDATE_COMPLETE state changed",
            "n UPDATE_IN_PROGRESS state changed",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
        ]
    );
    let after = books(&world);
    assert!(after.stacks.iter().all(|it| it.summary.state.to_string() == "UPDATE_COMPLETE"));
    assert!(after.stacks.iter().all(|it| it.summary.updated.is_some()));
    for row in before.resources.iter().filter(|row| &*row.summary.type_name == "Test::Thing") {
        let now = after.resources.iter().find(|it| it.id == row.id).unwrap();
        assert_eq!(
            (now.summary.state, now.summary.updated, &now.body),
            (row.summary.state, row.summary.updated, &row.body)
        );
    }
}

// --- work that is no longer wanted ---

#[test]
fn an_update_that_removes_a_busy_nested_stack_does_not_wait_for_it() {
    let slow = things(&["t: {value: slow}", "later: {value: y, needs: [{get_resource: t}]}"]);
    let outer = template(&["in: {type: slow.yaml}"]);
    let with = |file: &str| template(&[&format!("n: {{type: {file}}}"), KEPT]);
    let without = template(&[KEPT]);
    for (busy, rest) in [(with("slow.yaml"), &without), (with("outer.yaml"), &with("none.yaml"))] {
        let files = [("slow.yaml", &*slow), ("outer.yaml", &*outer), ("none.yaml", NOTHING)];
        let mut world = created(&without, &files);
        let before = world.now;
        let command = update(&mut world, &busy, &files);
        send(&mut world, 1, command);
        let command = update(&mut world, rest, &files);
        send(&mut world, 10, command);
        world.run();
        assert_eq!(flaws(&world), Vec::<String>::new());
        assert_eq!(outcome(&world), "UPDATE_COMPLETE: k");
        assert!(!world.cloud.deeds.contains(&"make y".to_owned()), "{:?}", world.cloud.deeds);
        assert!(world.now.since(before) < Duration::from_secs(40), "a slow thing takes a minute");
    }
}

const KEPT: &str = "k: {type: Test::Thing, properties: {value: k}}";
const NOTHING: &str = "heat_template_version: 2021-04-16\n";

#[test]
fn a_cancel_without_rollback_lets_running_work_end_and_begins_nothing() {
    let inner = things(&["x: {value: slow}", "z: {value: z, needs: [{get_resource: x}]}"]);
    let wanted = template(&[
        "a: {type: Test::Thing, properties: {value: slow}}",
        "b: {type: Test::Thing, properties: {value: b, needs: [{get_resource: a}]}}",
        "n: {type: inner.yaml}",
        "m: {type: Test::Thing, depends_on: n}",
    ]);
    for crash_at in [None, Some(12), Some(16), Some(24)] {
        let mut world = World::new(1);
        let first = recipe(&mut world.rng, &wanted, &[("inner.yaml", &inner)]);
        world.create(first, StackSettings::default());
        send(&mut world, 10, Command::Cancel { with_rollback: false });
        world.crash_at = crash_at;
        world.run();
        assert_eq!(outcome(&world), "CREATE_FAILED: slow slow");
        assert_eq!(states(&world), ["a CREATE_COMPLETE", "n CREATE_FAILED", "x CREATE_COMPLETE"]);
        let events = events_of(&world, world.root);
        let at = |event: &str| events.iter().position(|it| it == event);
        assert!(
            at("s CREATE_FAILED Stack CREATE cancelled") < at("a CREATE_COMPLETE state changed")
        );
        assert!(at("s CREATE_FAILED Stack CREATE cancelled").is_some(), "{events:#?}");
        world.cloud.deeds.clear();
        updated(&mut world, &wanted, &[("inner.yaml", &inner)]);
        assert_eq!(outcome(&world), "UPDATE_COMPLETE: - b slow slow z");
        assert_eq!(world.cloud.deeds.len(), 3, "what was done is not done again");
    }
}

#[test]
fn a_stack_can_be_updated_and_suspended_while_a_cancelled_action_winds_down() {
    let slow = template(&["a: {type: Test::Thing, properties: {value: slow}}", KEPT]);
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, &slow, &[]);
    world.create(first, StackSettings::default());
    send(&mut world, 10, Command::Cancel { with_rollback: false });
    let command = update(&mut world, &template(&[KEPT]), &[]);
    send(&mut world, 12, command);
    world.run();
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: k");
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, &slow, &[]);
    world.create(first, StackSettings::default());
    send(&mut world, 10, Command::Cancel { with_rollback: false });
    let root = world.root;
    send(&mut world, 12, Command::ForEach(root, Action::Suspend));
    world.run();
    assert_eq!(outcome(&world), "SUSPEND_COMPLETE: k slow");
}

#[test]
fn a_service_hears_that_an_operation_was_stopped() {
    let slow = things(&["t: {value: slow}"]);
    let wanted = template(&["n: {type: slow.yaml}"]);
    let timeout = Some(Duration::from_secs(20));
    for crash_at in [None, Some(8), Some(10), Some(12), Some(14)] {
        let mut world = World::new(1);
        let first = recipe(&mut world.rng, &wanted, &[("slow.yaml", &slow)]);
        world.create(first, StackSettings { timeout, ..StackSettings::default() });
        world.crash_at = crash_at;
        world.run();
        assert_eq!(outcome(&world), "CREATE_FAILED: slow");
        assert_eq!(world.cloud.deeds, ["make slow", "hush slow"]);
        assert_eq!(states(&world), ["n CREATE_FAILED", "t CREATE_FAILED"]);
    }
    // Before it is deleted.
    let mut world = World::new(1);
    let first = recipe(&mut world.rng, &wanted, &[("slow.yaml", &slow)]);
    world.create(first, StackSettings::default());
    send(&mut world, 10, Command::Delete);
    world.run();
    assert_eq!(world.cloud.deeds, ["make slow", "hush slow", "remove slow"]);
}

// --- members that a group loses ---

#[test]
fn what_a_nested_template_no_longer_has_goes_even_if_another_resource_fails() {
    let wanted = |count: u64, value: &str, size: u64| {
        let group = format!(
            "g: {{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: \
             {{type: Test::Thing, properties: {{value: m, size: {size}}}}}}}}}"
        );
        template(&[&group, &format!("f: {{type: Test::Thing, properties: {{value: {value}}}}}")])
    };
    for crash_at in [None, Some(8), Some(12), Some(16), Some(20), Some(24), Some(28)] {
        let mut world = created(&wanted(3, "f", 1), &[]);
        world.crash_at = crash_at.map(|at| world.boundaries + at);
        updated(&mut world, &wanted(1, "refused", 1), &[]);
        assert_eq!(outcome(&world), "UPDATE_FAILED: f m");
    }
    // What was replaced stays until an update succeeds.
    let mut world = created(&wanted(3, "f", 1), &[]);
    updated(&mut world, &wanted(1, "refused", 2), &[]);
    assert_eq!(outcome(&world), "UPDATE_FAILED: f m m*2");
    updated(&mut world, &wanted(1, "g", 2), &[]);
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: g m*2");
}

#[test]
fn a_rollback_finds_the_members_that_a_group_was_to_lose() {
    let wanted = |count: u64, value: &str| {
        let group = format!(
            "g: {{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: \
             {{type: Test::Thing, properties: {{value: m}}}}}}}}"
        );
        template(&[&group, &format!("f: {{type: Test::Thing, properties: {{value: {value}}}}}")])
    };
    let mut world = created(&wanted(2, "f"), &[]);
    world.cloud.deeds.clear();
    let is_rolled_back = Some(true);
    let recipe = recipe(&mut world.rng, &wanted(1, "refused"), &[]);
    let settings = StackSettings { is_rolled_back, ..StackSettings::default() };
    told(&mut world, Command::Update { recipe, settings });
    assert_eq!(outcome(&world), "ROLLBACK_COMPLETE: f m m");
    assert!(!world.cloud.deeds.contains(&"remove m".to_owned()), "{:?}", world.cloud.deeds);
}

// --- resources that were never created, and resources that failed ---

#[test]
fn a_check_finds_that_a_resource_was_never_created() {
    let wanted = template(&[
        "bad: {type: Test::Thing, properties: {value: refused}}",
        "after: {type: Test::Thing, depends_on: bad}",
        "n: {type: inner.yaml}",
        "none: {type: AWS::CloudFormation::Stack, properties: {TemplateURL: 'http://none/'}}",
    ]);
    let inner = things(&["x: {value: refused}", "y: {needs: [{get_resource: x}]}"]);
    let mut world = created(&wanted, &[("inner.yaml", &inner)]);
    let root = world.root;
    let events = told(&mut world, Command::ForEach(root, Action::Check));
    assert!(
        events.contains(&"bad CHECK_FAILED Exception: resources.bad: Resource not created".into())
    );
    let nested = "none CHECK_FAILED Error: resources.none: Cannot check none, stack not created";
    assert!(events.contains(&nested.into()), "{events:#?}");
    assert!(events.last().unwrap().starts_with("s CHECK_FAILED Resource CHECK failed: "));
    assert_eq!(
        states(&world),
        ["bad CHECK_FAILED", "n CHECK_FAILED", "none CHECK_FAILED", "x CHECK_FAILED",]
    );
}

#[test]
fn a_check_finds_that_a_member_of_a_group_was_never_created() {
    let wanted = template(&[
        "g: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: Test::Thing, properties: {value: refused}}}}",
    ]);
    let mut world = created(&wanted, &[]);
    let root = world.root;
    told(&mut world, Command::ForEach(root, Action::Check));
    assert_eq!(states(&world), ["0 CHECK_FAILED", "g CHECK_FAILED"]);
    assert_eq!(outcome(&world), "CHECK_FAILED: ");
}

#[test]
fn a_stack_with_a_failed_resource_is_neither_suspended_nor_resumed_in_part() {
    let wanted = |value: &str| {
        things(&["a: {value: x}", &format!("f: {{value: {value}}}"), "z: {value: y}"])
    };
    let mut world = created(&wanted("f"), &[]);
    updated(&mut world, &wanted("refused"), &[]);
    let (root, before) = (world.root, states(&world));
    world.cloud.deeds.clear();
    let refusals = [
        (Action::Suspend, "resources.f: State ('UPDATE', 'FAILED') invalid for suspend"),
        (Action::Resume, "resources.a: State ('CREATE', 'COMPLETE') invalid for resume"),
    ];
    for (action, why) in refusals {
        let why = format!("Resource {action} failed: Error: {why}");
        let events = told(&mut world, Command::ForEach(root, action));
        assert_eq!(
            events,
            [
                format!("s {action}_IN_PROGRESS Stack {action} started"),
                format!("s {action}_FAILED {why}")
            ]
        );
        assert_eq!((states(&world), world.cloud.deeds.len()), (before.clone(), 0));
    }
}

// --- signals ---

#[test]
fn metadata_follows_the_size_of_a_group() {
    let wanted = template(&[
        "g: {type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 3, cooldown: 0, resource: {type: Test::Thing}}}",
        "more: {type: OS::Heat::ScalingPolicy, properties: {auto_scaling_group_id: {get_resource: g}, cooldown: 0, adjustment_type: change_in_capacity, scaling_adjustment: 1}}",
        "u: {type: Test::Thing, metadata: {size: {get_attr: [g, current_size]}}}",
    ]);
    let mut world = created(&wanted, &[]);
    let metadata = |world: &World| {
        let export = world.tree().unwrap().export();
        let resources = export.as_map().unwrap().get("resources").unwrap().as_map().unwrap();
        let u = resources.get("u").unwrap().as_map().unwrap();
        kiln_template::print::plain(u.get("metadata").unwrap())
    };
    assert_eq!(metadata(&world), "{'size': 1}");
    let details = kiln_template::Value::Null;
    let signal = Command::Signal { stack: world.root, resource: "more".into(), details };
    told(&mut world, signal);
    assert_eq!(outcome(&world), "CREATE_COMPLETE: - - -");
    assert_eq!(metadata(&world), "{'size': 2}");
}
