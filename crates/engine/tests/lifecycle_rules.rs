//! Hooks, restrictions, policies, timeouts, retries and checks: event by event.

use crate::reader;
use crate::simulation::check::{books, events_of, flaws, outcome};
use crate::simulation::cloud::Thing;
use crate::simulation::world::{World, now, recipe};
use kiln_engine::store::Store;
use kiln_engine::{Action, Command, Recipe, StackSettings, View};
use kiln_template::environment::Environment;
use kiln_template::{Limits, Sources, Value};
use std::sync::Arc;
use std::time::Duration;

/// A template of things, one a line: `a: {value: x}`.
pub fn things(lines: &[&str]) -> String {
    let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for line in lines {
        let (name, properties) = line.split_once(": ").unwrap();
        text.push_str(&format!("  {name}: {{type: Test::Thing, properties: {properties}}}\n"));
    }
    text
}

pub const PAIR: [&str; 2] = ["a: {value: x}", "b: {value: y, needs: [{get_resource: a}]}"];

pub fn recipe_with(world: &mut World, template: &str, environment: &str) -> Arc<Recipe> {
    let file = Sources::new().add("environment", environment);
    let (environment, problems) = Environment::read(file, environment, &Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    let plain = recipe(&mut world.rng, template, &[]);
    let mut whole = Arc::into_inner(plain).unwrap();
    whole.environment = Arc::new(environment);
    Arc::new(whole)
}

pub fn created(template: &str, environment: &str) -> World {
    created_with(template, environment, StackSettings::default())
}

pub fn created_with(template: &str, environment: &str, settings: StackSettings) -> World {
    let mut world = World::new(1);
    let recipe = recipe_with(&mut world, template, environment);
    world.create(recipe, settings);
    world.run();
    world
}

pub fn told(world: &mut World, command: Command) -> Vec<String> {
    let before = events_of(world, world.root).len();
    world.command_at(world.now + Duration::from_secs(1), command);
    world.run();
    assert_eq!(flaws(world), Vec::<String>::new());
    events_of(world, world.root).split_off(before)
}

pub fn updated(world: &mut World, template: &str, environment: &str) -> Vec<String> {
    let recipe = recipe_with(world, template, environment);
    told(world, Command::Update { recipe, settings: StackSettings::default() })
}

/// A world in which a stack waits at a hook: it comes to rest only when its time is over.
pub fn waiting(template: &str, environment: &str) -> World {
    let mut world = World::new(1);
    let recipe = recipe_with(&mut world, template, environment);
    world.create(recipe, StackSettings::default());
    world
}

pub fn send(world: &mut World, seconds: u64, command: Command) {
    world.command_at(world.now + Duration::from_secs(seconds), command);
}

// --- what may not be ---

#[test]
fn a_restricted_resource_is_left_alone() {
    let environment =
        "resource_registry: {resources: {a: {restricted_actions: [update, replace]}}}";
    let mut world = created(&things(&PAIR), environment);
    let other = things(&["a: {value: z}", PAIR[1]]);
    let reason = "ResourceActionRestricted: resources.a: update is restricted for resource.";
    assert_eq!(
        updated(&mut world, &other, environment),
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started".to_owned(),
            "a UPDATE_FAILED update is restricted for resource.".to_owned(),
            format!("s UPDATE_FAILED Resource UPDATE failed: {reason}"),
        ]
    );
    let state =
        books(&world).resources.iter().find(|it| &*it.summary.name == "a").unwrap().summary.state;
    assert_eq!(state.to_string(), "CREATE_COMPLETE");
    let other = things(&["a: {value: x, size: 3}", PAIR[1]]);
    let events = updated(&mut world, &other, environment);
    assert_eq!(events[1], "a UPDATE_FAILED replace is restricted for resource.");
}

#[test]
fn an_immutable_property_stays() {
    let mut world = created(&things(&PAIR), "");
    let other = things(&["a: {value: x, colour: red}", PAIR[1]]);
    let reason = "NotSupported: resources.a: Update to properties colour of a (Test::Thing) is not \
                  supported.";
    assert_eq!(
        updated(&mut world, &other, ""),
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started".to_owned(),
            "a UPDATE_IN_PROGRESS state changed".to_owned(),
            format!("a UPDATE_FAILED {reason}"),
            format!("s UPDATE_FAILED Resource UPDATE failed: {reason}"),
        ]
    );
}

// --- objects that stay ---

const EXTERNAL: &str = "heat_template_version: 2021-04-16\n\
    resources:\n\
    \x20 theirs: {type: Test::Thing, external_id: e1}\n\
    \x20 text: {type: OS::Heat::RandomString, external_id: r1}\n";

#[test]
fn an_external_object_is_adopted_checked_and_left() {
    let mut world = World::new(1);
    let theirs =
        Thing { name: "theirs".into(), value: "theirs".into(), size: 1, ..Thing::default() };
    world.cloud.things.insert("e1".into(), theirs);
    let recipe = recipe_with(&mut world, EXTERNAL, "");
    world.create(recipe, StackSettings::default());
    world.run();
    let mut events = events_of(&world, world.root);
    events.sort();
    assert_eq!(
        events,
        [
            "s CREATE_COMPLETE Stack CREATE completed successfully",
            "s CREATE_IN_PROGRESS Stack CREATE started",
            "text ADOPT_COMPLETE state changed",
            "text ADOPT_IN_PROGRESS state changed",
            "text CHECK_COMPLETE CHECK not supported for OS::Heat::RandomString",
            "theirs ADOPT_COMPLETE state changed",
            "theirs ADOPT_IN_PROGRESS state changed",
            "theirs CHECK_COMPLETE state changed",
            "theirs CHECK_IN_PROGRESS state changed",
        ]
    );
    let events = updated(&mut world, &EXTERNAL.replace("e1", "e2"), "");
    let reason = "Update to property external_id of theirs (Test::Thing) is not supported.";
    assert!(events.iter().any(|it| it.contains(reason)), "{events:?}");
    send(&mut world, 1, Command::Delete);
    world.run();
    assert_eq!(outcome(&world), "DELETE_COMPLETE: theirs");
}

#[test]
fn an_external_object_that_does_not_exist_fails_its_resource() {
    let world = created(EXTERNAL, "");
    let reason = "NotFound: resources.theirs: it is not there (HTTP 404). Next: bring it back, or update the stack, which makes another.";
    let (state, why) = world.tree().unwrap().root_state();
    assert_eq!(state.to_string(), "CREATE_FAILED");
    assert_eq!(&*why, format!("Resource CHECK failed: {reason}"));
}

#[test]
fn a_retained_object_stays_and_its_record_is_deleted() {
    let template = format!(
        "{}  kept: {{type: Test::Thing, deletion_policy: retain, properties: {{value: k}}}}\n",
        things(&["a: {value: x}"])
    );
    let mut world = created(&template, "");
    let before = events_of(&world, world.root).len();
    send(&mut world, 1, Command::Delete);
    world.run();
    let events = events_of(&world, world.root).split_off(before);
    assert!(events.contains(&"kept DELETE_COMPLETE state changed".to_owned()), "{events:?}");
    assert_eq!(outcome(&world), "DELETE_COMPLETE: k");
}

#[test]
fn an_abandoned_stack_leaves_its_objects() {
    let mut world = created(&things(&PAIR), "");
    send(&mut world, 1, Command::Abandon);
    world.run();
    assert_eq!(outcome(&world), "DELETE_COMPLETE: x y");
    assert!(books(&world).resources.is_empty());
}

#[test]
fn a_condition_decides_whether_there_is_a_resource() {
    let template = |is_there: bool| {
        format!(
            "heat_template_version: 2021-04-16\nconditions: {{it: {is_there}}}\nresources:\n  \
             a: {{type: Test::Thing, condition: it, properties: {{value: x}}}}\n  \
             b: {{type: Test::Thing, depends_on: a, properties: {{value: y}}}}\n"
        )
    };
    let mut world = created(&template(false), "");
    assert_eq!(outcome(&world), "CREATE_COMPLETE: y");
    updated(&mut world, &template(true), "");
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: x y");
    updated(&mut world, &template(false), "");
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: y");
}

// --- time, and trying again ---

#[test]
fn an_action_ends_at_its_timeout() {
    let template = things(&["a: {value: slow}", "b: {value: y, needs: [{get_resource: a}]}"]);
    let settings =
        StackSettings { timeout: Some(Duration::from_secs(20)), ..StackSettings::default() };
    let world = created_with(&template, "", settings);
    let events = events_of(&world, world.root);
    let id = world.root;
    assert_eq!(
        events[1..],
        [
            "a CREATE_IN_PROGRESS state changed".to_owned(),
            format!(
                "a CREATE_FAILED CREATE aborted (Task create from Thing \"a\" [t1] Stack \"s\" \
                 [{id}] Timed out)"
            ),
            "s CREATE_FAILED Timed out".to_owned(),
        ]
    );
}

#[test]
fn a_conflict_is_tried_again() {
    let mut world = World::new(1);
    world.cloud.conflicts = 5;
    let recipe = recipe_with(&mut world, &things(&["a: {value: x}"]), "");
    world.create(recipe, StackSettings::default());
    world.run();
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x");
    let events = events_of(&world, world.root);
    let failed = "a CREATE_FAILED Conflict: resources.a: the cloud refuses (HTTP 409). Next: see what it clashes with, and update the stack when that is over.";
    assert_eq!(events.iter().filter(|it| *it == failed).count(), 5);
    assert_eq!(
        events[2..5],
        [failed, "a DELETE_IN_PROGRESS state changed", "a DELETE_COMPLETE state changed"]
    );
}

#[test]
fn a_resource_whose_create_was_refused_is_deleted_without_a_wait() {
    let mut world = created(&things(&["a: {value: refused}"]), "");
    assert_eq!(outcome(&world), "CREATE_FAILED: ");
    let begun = world.now;
    send(&mut world, 1, Command::Delete);
    world.run();
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
    let took = world.now.since(begun);
    assert!(
        took < world.config.lost_call_window,
        "nothing can come yet of what was refused: {took:?}"
    );
}

#[test]
fn the_reason_is_the_first_failure() {
    let mut world = World::new(1);
    world.cloud.conflicts = 1;
    let recipe = recipe_with(&mut world, &things(&["a: {value: broken}"]), "");
    world.create(recipe, StackSettings::default());
    world.run();
    let (_, why) = world.tree().unwrap().root_state();
    assert_eq!(
        &*why,
        "Resource CREATE failed: Conflict: resources.a: the cloud refuses (HTTP 409). Next: see what it clashes with, and update the stack when that is over."
    );
    assert_eq!(world.cloud.deeds.iter().filter(|it| *it == "make broken").count(), 5);
}

// --- looking, resting, marking ---

#[test]
fn a_check_reports_failures_and_an_update_repairs_them() {
    let template = format!("{}  r: {{type: OS::Heat::RandomString}}\n", things(&PAIR));
    let mut world = created(&template, "");
    let root = world.root;
    let events = told(&mut world, Command::ForEach(root, Action::Check));
    assert!(
        events.contains(&"r CHECK_COMPLETE CHECK not supported for OS::Heat::RandomString".into())
    );
    assert_eq!(
        events.last().unwrap(),
        "s CHECK_COMPLETE Stack CHECK completed successfully. 'CHECK' not fully supported (see \
         resources)"
    );
    world.cloud.things.remove("t1");
    let events = told(&mut world, Command::ForEach(root, Action::Check));
    let reason = "NotFound: resources.a: it is not there (HTTP 404). Next: bring it back, or update the stack, which makes another. 'CHECK' not fully supported (see resources)";
    assert_eq!(
        events.last().unwrap(),
        &format!("s CHECK_FAILED Resource CHECK failed: a: Resource CHECK failed: {reason}")
    );
    assert!(!events.iter().any(|it| it.starts_with("b ")), "b needs a: {events:?}");
    let events = updated(&mut world, &template, "");
    assert_eq!(events[1], "a CREATE_IN_PROGRESS state changed");
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: x y");
}

#[test]
fn an_unhealthy_resource_is_replaced_by_an_update_without_changes() {
    let mut world = created(&things(&["a: {value: x}"]), "");
    let (stack, reason) = (world.root, "it coughs".into());
    let mark = Command::Mark { stack, resource: "a".into(), is_healthy: false, reason };
    assert_eq!(told(&mut world, mark), ["a CHECK_FAILED it coughs"]);
    assert_eq!(
        updated(&mut world, &things(&["a: {value: x}"]), ""),
        [
            "s UPDATE_IN_PROGRESS Stack UPDATE started",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "a DELETE_IN_PROGRESS state changed",
            "a DELETE_COMPLETE state changed",
            "s UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
}

#[test]
fn dependents_are_suspended_first_and_resumed_last() {
    let mut world = created(&things(&PAIR), "");
    let root = world.root;
    world.cloud.deeds.clear();
    told(&mut world, Command::ForEach(root, Action::Suspend));
    told(&mut world, Command::ForEach(root, Action::Resume));
    assert_eq!(world.cloud.deeds, ["rest y", "rest x", "wake x", "wake y"]);
}

#[test]
fn a_suspended_resource_takes_no_signals() {
    let template = "heat_template_version: 2021-04-16\nresources:\n  \
                    h: {type: OS::Heat::WaitConditionHandle}\n";
    let mut world = created(template, "");
    let root = world.root;
    let signal = || Command::Signal { stack: root, resource: "h".into(), details: Value::Null };
    assert_eq!(told(&mut world, signal()).len(), 1);
    told(&mut world, Command::ForEach(root, Action::Suspend));
    assert_eq!(
        told(&mut world, signal()),
        ["h SUSPEND_COMPLETE Cannot signal resource during SUSPEND"]
    );
}

#[test]
fn a_rollback_revives_what_was_replaced() {
    let settings = StackSettings { is_rolled_back: Some(true), ..StackSettings::default() };
    let mut world = created_with(&things(&PAIR), "", settings);
    world.cloud.deeds.clear();
    let other =
        ["a: {value: x, size: 2}", PAIR[1], "c: {value: refused, needs: [{get_resource: b}]}"];
    updated(&mut world, &things(&other), "");
    assert_eq!(outcome(&world), "ROLLBACK_COMPLETE: x y");
    assert!(world.cloud.things.contains_key("t1"));
    assert_eq!(world.cloud.deeds, ["make x", "change y to y", "change y to y", "remove x"]);
}

#[test]
fn a_resource_restored_by_a_rollback_gets_back_what_its_replacement_took() {
    let with = |size: u32, value: &str| {
        let things = things(&[
            "a: {value: x}",
            &format!("c: {{value: {value}, needs: [{{get_resource: a}}]}}"),
        ]);
        format!("{things}  h: {{type: Test::Homing, properties: {{size: {size}}}}}\n")
    };
    let settings = StackSettings { is_rolled_back: Some(true), ..StackSettings::default() };
    let mut world = created_with(&with(1, "y"), "", settings);
    let events = updated(&mut world, &with(2, "refused"), "");
    assert_eq!(outcome(&world), "ROLLBACK_COMPLETE: x y");
    let of_it: Vec<&str> = events
        .iter()
        .filter_map(|event| event.strip_prefix("h "))
        .map(|it| it.split(' ').next().unwrap_or(it))
        .collect();
    let back = of_it.iter().rposition(|event| *event == "UPDATE_COMPLETE");
    assert!(back > of_it.iter().position(|event| *event == "CREATE_COMPLETE"), "{events:#?}");
}

// --- more than is good ---

#[test]
fn a_million_members_are_too_many() {
    let template = "heat_template_version: 2021-04-16\nresources:\n  g: {type: \
        OS::Heat::ResourceGroup, properties: {count: 1000000, resource_def: {type: Test::Thing}}}\n";
    let world = created(template, "");
    let (state, why) = world.tree().unwrap().root_state();
    assert_eq!(state.to_string(), "CREATE_FAILED");
    assert_eq!(
        &*why,
        "Resource CREATE failed: RequestLimitExceeded: resources.g: Request limit exceeded: \
         Maximum resources per stack exceeded."
    );
}

#[test]
fn groups_in_groups_share_what_the_limit_leaves() {
    let inner = "{type: OS::Heat::ResourceGroup, properties: {count: 5, resource_def: {type: Test::Thing}}}";
    let template = format!(
        "heat_template_version: 2021-04-16\nresources:\n  g: {{type: OS::Heat::ResourceGroup, properties: \
         {{count: 4, resource_def: {inner}}}}}\n"
    );
    // The outer group, four inner ones, and five members of each. All inner groups begin before any has a member.
    for (limit, state, fewest, most) in
        [(25, "CREATE_COMPLETE", 20, 20), (24, "CREATE_FAILED", 0, 15)]
    {
        let mut world = World::new(1);
        Arc::make_mut(&mut world.config).max_resources = Some(limit);
        let recipe = recipe_with(&mut world, &template, "");
        world.create(recipe, StackSettings::default());
        world.run();
        let (found, why) = world.tree().unwrap().root_state();
        assert_eq!(found.to_string(), state, "{why}");
        let made = world.cloud.things.len();
        assert!((fewest..=most).contains(&made), "{made} things with a limit of {limit}");
    }
}

#[test]
fn an_update_beyond_the_limit_fails_and_its_rollback_does_not() {
    let mut world = World::new(1);
    Arc::make_mut(&mut world.config).max_resources = Some(3);
    let group = |count: usize| {
        format!(
            "heat_template_version: 2021-04-16\nresources:\n  g: {{type: OS::Heat::ResourceGroup, properties: \
             {{count: {count}, resource_def: {{type: Test::Thing, properties: {{value: x}}}}}}}}\n"
        )
    };
    let settings = || StackSettings { is_rolled_back: Some(true), ..StackSettings::default() };
    let recipe = recipe_with(&mut world, &group(2), "");
    world.create(recipe, settings());
    world.run();
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x x");
    let recipe = recipe_with(&mut world, &group(3), "");
    told(&mut world, Command::Update { recipe, settings: settings() });
    assert_eq!(outcome(&world), "ROLLBACK_COMPLETE: x x");
}

#[test]
fn a_type_that_panics_fails_alone() {
    let template = format!("{}  p: {{type: Test::Panics}}\n", things(&["a: {value: x}"]));
    let mut world = created(&template, "");
    let (state, why) = world.tree().unwrap().root_state();
    assert_eq!(state.to_string(), "CREATE_FAILED");
    assert!(why.contains("InternalError: resources.p: "), "{why}");
    assert!(why.contains("panicked"), "{why}");
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
}

#[test]
fn a_type_that_panics_anywhere_fails_alone() {
    let fragile = |at: &str, uses: &str| {
        let user = "u: {type: OS::Heat::Value, properties: {value:";
        format!(
            "{}  f: {{type: Test::Fragile, properties: {{at: {at}}}}}\n  {user} {uses}}}}}\n",
            things(&["a: {value: x}"])
        )
    };
    for (at, uses) in [("reference", "{get_resource: f}"), ("attribute", "{get_attr: [f, value]}")]
    {
        let mut world = created(&fragile(at, uses), "");
        let (state, why) = world.tree().unwrap().root_state();
        assert_eq!(state.to_string(), "CREATE_FAILED", "{at}");
        assert!(why.contains(&format!("type's {at} panicked (a fault in {at})")), "{why}");
        told(&mut world, Command::Delete);
        assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
    }
    let mut world = created(&fragile("none", "1"), "");
    let events = updated(&mut world, &fragile("replacement", "1"), "");
    let why = "UPDATE_FAILED InternalError: resources.f: the resource type's rule of replacement \
               panicked (a fault in replacement): please report this";
    assert!(events.contains(&format!("f {why}")), "{events:#?}");
    let mut world = created(&fragile("signal", "1"), "");
    let signal = Command::Signal { stack: world.root, resource: "f".into(), details: Value::Null };
    let why = "InternalError: resources.f: the resource type's signal panicked (a fault in signal): \
               please report this";
    assert_eq!(told(&mut world, signal), [format!("f SIGNAL_FAILED {why}")]);
    let group = format!("{}  g: {{type: Test::FragileGroup}}\n", things(&["a: {value: x}"]));
    let mut world = created(&group, "");
    let (_, why) = world.tree().unwrap().root_state();
    assert!(why.contains("type's stages panicked (a fault in stages)"), "{why}");
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
}

#[test]
fn a_stack_can_be_made_of_a_file_by_its_url() {
    let inner = "HeatTemplateFormatVersion: '2012-12-12'\nParameters: {V: {Type: String}}\n\
        Resources: {T: {Type: Test::Thing, Properties: {value: {Ref: V}}}}\n\
        Outputs: {It: {Value: {'Fn::GetAtt': [T, value]}}}\n";
    let outer = |value: &str| {
        format!(
            "heat_template_version: 2021-04-16\nresources:\n  \
             n: {{type: AWS::CloudFormation::Stack, properties: \
             {{TemplateURL: 'http://x/t.yaml', Parameters: {{V: {value}}}}}}}\n  \
             u: {{type: Test::Thing, properties: {{value: {{get_attr: [n, Outputs.It]}}}}}}\n"
        )
    };
    let mut world = World::new(1);
    let files = [("http://x/t.yaml", inner)];
    let first = recipe(&mut world.rng, &outer("x"), &files);
    world.create(first, StackSettings::default());
    world.run();
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x x");
    let second = recipe(&mut world.rng, &outer("y"), &files);
    told(&mut world, Command::Update { recipe: second, settings: StackSettings::default() });
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: y y");
    let other = inner.replace("{Ref: V}", "z");
    let third = recipe(&mut world.rng, &outer("y"), &[("http://x/t.yaml", &other)]);
    told(&mut world, Command::Update { recipe: third, settings: StackSettings::default() });
    assert_eq!(outcome(&world), "UPDATE_COMPLETE: z z");
    let none = recipe(&mut world.rng, &outer("y"), &[]);
    let events =
        told(&mut world, Command::Update { recipe: none, settings: StackSettings::default() });
    let why = "Could not fetch remote template \"http://x/t.yaml\"";
    assert!(events.last().unwrap().contains(why), "{events:#?}");
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
}

#[test]
fn a_signal_to_a_resource_reaches_the_metadata_of_others() {
    let template = "heat_template_version: 2021-04-16\nresources:\n  \
        h: {type: OS::Heat::WaitConditionHandle}\n  \
        w: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: h}, timeout: 600}}\n  \
        a: {type: Test::Thing, metadata: {said: {get_attr: [w, data]}}, properties: {value: x}}\n  \
        b: {type: Test::Thing, metadata: {fixed: 1}, properties: {value: y}}\n";
    let mut world = waiting(template, "");
    let says = |world: &World, id: &str, data: &str| Command::Signal {
        stack: world.root,
        resource: "h".into(),
        details: Value::map([
            ("status", Value::from("SUCCESS")),
            ("id", id.into()),
            ("data", data.into()),
        ]),
    };
    let first = says(&world, "1", "one");
    send(&mut world, 10, first);
    world.run();
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x y");
    let said = |world: &World, name: &str| {
        let export = world.tree().unwrap().export();
        let resources = export.as_map().unwrap().get("resources").unwrap().as_map().unwrap();
        let entry = resources.get(name).unwrap().as_map().unwrap();
        kiln_template::print::plain(entry.get("metadata").unwrap())
    };
    assert!(said(&world, "a").contains("one"), "{}", said(&world, "a"));
    let before = said(&world, "h");
    let second = says(&world, "2", "two");
    let events = told(&mut world, second);
    assert_eq!(events.len(), 1, "{events:#?}");
    assert!(said(&world, "a").contains("two"), "{}", said(&world, "a"));
    assert!(said(&world, "b").contains("fixed"));
    assert_ne!(said(&world, "h"), before, "what it was told is its own");
    // It is what the template says: an update finds nothing to do.
    assert_eq!(updated(&mut world, template, "").len(), 2);
}

#[test]
fn a_long_message_is_cut() {
    let template = format!("{}  w: {{type: Test::Wordy}}\n", things(&["a: {value: x}"]));
    let mut world = created(&template, "");
    let (state, why) = world.tree().unwrap().root_state();
    assert_eq!(state.to_string(), "CREATE_FAILED");
    assert!(why.starts_with("Resource CREATE failed: Wordy: resources.w: word word"));
    assert!(why.len() < 65_536, "{}", why.len());
    told(&mut world, Command::Delete);
    assert_eq!(outcome(&world), "DELETE_COMPLETE: ");
}

#[test]
fn a_nested_stack_may_have_less_time_than_the_stack_around_it() {
    let template = r#"
heat_template_version: 2021-04-16
resources:
  n: {type: "AWS::CloudFormation::Stack", properties: {TemplateURL: n.yaml, TimeoutInMinutes: 2}}
"#;
    let inner = r#"
heat_template_version: 2021-04-16
resources:
  w: {type: OS::Heat::TestResource, properties: {wait_secs: 1000}}
"#;
    for crash_at in [None, Some(6), Some(9)] {
        let mut world = World::new(1);
        world.crash_at = crash_at;
        let start = world.now;
        let recipe = recipe(&mut world.rng, template, &[("n.yaml", inner)]);
        world.create(recipe, StackSettings::default());
        world.run();
        let events = events_of(&world, world.root);
        assert!(outcome(&world).starts_with("CREATE_FAILED"), "{events:#?}");
        assert!(events.iter().any(|event| event.contains("Timed out")), "{events:#?}");
        assert!(world.now.since(start) < Duration::from_secs(200), "{:?}", world.now.since(start));
    }
}

// --- outputs ---

/// What the outputs say, name by name.
fn outputs(world: &World) -> Vec<(String, Value)> {
    let view = now(View::open(&reader(&*world.store, &world.config), world.root)).unwrap().unwrap();
    let outputs = view.root().outputs();
    outputs.into_iter().map(|it| (it.name.to_string(), it.value.unwrap())).collect()
}

#[test]
fn outputs_show_attributes_that_dependents_changed() {
    let told =
        |lines: &[&str]| things(lines) + "outputs:\n  users: {value: {get_attr: [a, users]}}\n";
    let users = |count: i64| vec![("users".to_owned(), Value::from(count))];
    let mut world = created(&told(&PAIR), "");
    assert_eq!(outputs(&world), users(1));
    let third = "c: {needs: [{get_resource: a}]}";
    updated(&mut world, &told(&[PAIR[0], PAIR[1], third]), "");
    assert_eq!(outputs(&world), users(2), "one came");
    updated(&mut world, &told(&PAIR[..1]), "");
    assert_eq!(outputs(&world), users(0), "all went");
}

#[test]
fn a_stack_completes_even_if_the_read_for_its_outputs_gets_no_reply() {
    let template = things(&PAIR) + "outputs:\n  users: {value: {get_attr: [a, users]}}\n";
    let mut world = World::new(1);
    world.cloud.is_blind_to = Some("x".into());
    let recipe = recipe_with(&mut world, &template, "");
    world.create(recipe, StackSettings::default());
    world.run();
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x y");
}

#[test]
fn while_a_service_is_down_the_stack_says_what_it_waits_for() {
    let mut world = World::new(1);
    // The flaws that the observer reports are what users read.
    world.observer = Some(|world| {
        let stack = now(world.store.stack(world.root)).unwrap()?;
        let mut rows = now(world.store.resources(&[world.root])).unwrap().into_iter();
        let resource = rows.find(|row| &*row.summary.name == "a")?;
        let is_waiting = stack.summary.reason.contains(" waits: ");
        is_waiting.then(|| format!("{} | {}", stack.summary.reason, resource.summary.reason))
    });
    world.cloud.outage = 8;
    let recipe = recipe_with(&mut world, &things(&PAIR), "");
    world.create(recipe, StackSettings::default());
    world.run();
    let told = std::mem::take(&mut world.cloud.violations);
    let (stack, resource) = told.first().expect("a reason").split_once(" | ").unwrap();
    assert!(resource.starts_with("Waiting for the "), "{resource}");
    assert!(resource.contains("HTTP 503") && resource.contains("15 min"), "{resource}");
    assert_eq!(stack, format!("Stack CREATE waits: a: {resource}"));
    assert_eq!(outcome(&world), "CREATE_COMPLETE: x y");
    assert_eq!(flaws(&world), Vec::<String>::new());
}
