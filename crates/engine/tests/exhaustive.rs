//! Small stories, each told once for every place where the engine may die in it.

use crate::simulation::check::{books, flaws, outcome};
use crate::simulation::cloud::Thing;
use crate::simulation::script::{Plan, wish};
use crate::simulation::world::{World, now, recipe};
use kiln_engine::store::Store;
use kiln_engine::{
    Action, Command, Ids, Input, OpId, Reached, SnapshotId, StackId, StackSettings, Status,
};
use kiln_template::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A story, and the ways in which it may end: when the engine dies, some things happen in another
/// order.
struct Scenario {
    name: &'static str,
    story: fn(&mut World),
    ends: &'static [&'static str],
}

const fn scenario(
    name: &'static str,
    story: fn(&mut World),
    ends: &'static [&'static str],
) -> Scenario {
    Scenario { name, story, ends }
}

const SCENARIOS: &[Scenario] = &[
    scenario("a diamond is created", |w| create(w, DIAMOND), &["CREATE_COMPLETE: x x x x"]),
    scenario("a create fails", |w| create(w, "a x; b refused a; c x b"), &["CREATE_FAILED: x"]),
    scenario("a create meets broken things", |w| create(w, "a broken"), &["CREATE_FAILED: broken"]),
    scenario(
        "a create fails and is undone",
        |w| create_undone(w, "a x; b refused a; c x a"),
        &["ROLLBACK_COMPLETE: "],
    ),
    scenario(
        "an update in place",
        |w| {
            create(w, "a x; b x a");
            update(w, "a y; b z a");
        },
        &["UPDATE_COMPLETE: y z"],
    ),
    scenario(
        "a replacement with dependents",
        |w| {
            create(w, "a x; b x a; c x b");
            update(w, "a x*2; b x a; c x b");
        },
        &["UPDATE_COMPLETE: x x x*2"],
    ),
    scenario(
        "a replacement that fails and is undone",
        |w| {
            create_undone(w, "a x; b x a");
            update(w, "a x*2; b refused a");
        },
        &["ROLLBACK_COMPLETE: x x"],
    ),
    scenario(
        "a removal",
        |w| {
            create(w, DIAMOND);
            update(w, "a x; b x a");
        },
        &["UPDATE_COMPLETE: x x"],
    ),
    scenario(
        "a failed update, then a good one",
        |w| {
            create(w, "a x; b x a");
            update(w, "a x*2; b refused*2 a; c x b");
            update(w, "a x*3; b y a; c x b");
        },
        &["UPDATE_COMPLETE: x x*3 y"],
    ),
    scenario(
        "an update is cancelled",
        |w| {
            create(w, "a x; b x a");
            later(w, 1, change("a slow*2; b y a"));
            later(w, 9, |_| Command::Cancel { with_rollback: false });
            w.run();
        },
        &["UPDATE_FAILED: slow*2 x x", "UPDATE_FAILED: x x", "UPDATE_COMPLETE: slow*2 y"],
    ),
    scenario(
        "an update is cancelled and undone",
        |w| {
            create(w, "a x; b x a");
            later(w, 1, change("a slow*2; b y a"));
            later(w, 9, |_| Command::Cancel { with_rollback: true });
            w.run();
        },
        &["ROLLBACK_COMPLETE: x x", "UPDATE_COMPLETE: slow*2 y"],
    ),
    scenario(
        "an unhealthy resource of a type that keeps its objects is as it should be",
        |w| {
            let wanted =
                "heat_template_version: 2021-04-16\nresources: {h: {type: Test::Homing}}\n";
            let first = recipe(&mut w.rng, wanted, &[]);
            w.create(first, StackSettings::default());
            w.run();
            let (stack, resource, reason) = (w.root, "h".into(), "".into());
            later(w, 1, |_| Command::Mark { stack, resource, is_healthy: false, reason });
            let recipe = recipe(&mut w.rng, wanted, &[]);
            let settings = StackSettings::default();
            later(w, 20, |_| Command::Update { recipe, settings });
            w.run();
        },
        &["UPDATE_COMPLETE: "],
    ),
    scenario(
        "an update overtakes another",
        |w| {
            create(w, "a x; b x a");
            later(w, 1, change("a slow*2; b y a; c y a"));
            later(w, 9, change("a x*3; b z a; d z b"));
            w.run();
        },
        &["UPDATE_COMPLETE: x*3 z z"],
    ),
    scenario(
        "a stack is deleted while it is created",
        |w| {
            later(w, 3, |_| Command::Delete);
            create(w, "a x; b slow a; c x b; d slow");
        },
        &["DELETE_COMPLETE: "],
    ),
    scenario(
        "a stack is deleted while it is updated",
        |w| {
            create(w, "a x; b x a; @n x");
            later(w, 1, change("a slow*2; b y a; @n slow"));
            later(w, 8, |_| Command::Delete);
            w.run();
        },
        &["DELETE_COMPLETE: "],
    ),
    scenario(
        "a nested stack is created, updated and removed",
        |w| {
            create(w, "@n x; b x n");
            update(w, "@n y; b x n");
            update(w, "b x");
        },
        &["UPDATE_COMPLETE: x"],
    ),
    scenario(
        "a stack of its own is created, updated and removed",
        |w| {
            create(w, "~r x; b x r");
            update(w, "~r y; b x r");
            update(w, "b x");
        },
        &["UPDATE_COMPLETE: x"],
    ),
    scenario(
        "a stack of its own fails and is undone",
        |w| create_undone(w, "a x; ~r refused a; ~s x a"),
        &["ROLLBACK_COMPLETE: "],
    ),
    scenario(
        "a snapshot of a stack of its own is gone back to, and goes",
        |w| {
            create(w, "~r x");
            let id = snapshot(w);
            update(w, "~r y");
            later(w, 1, move |_| Command::Restore(id));
            w.run();
            later(w, 1, move |_| Command::DeleteSnapshot(id));
            w.run();
        },
        &["RESTORE_COMPLETE: x"],
    ),
    scenario(
        "a replacement in a nested stack is used outside",
        |w| {
            create(w, "@n x; b x n; c x b");
            update(w, "@n y*2; b x n; c x b");
        },
        &["UPDATE_COMPLETE: x x y y*2"],
    ),
    scenario(
        "a replacement in a nested stack was used by what goes",
        |w| {
            create(w, "1#g x; b x g; c x b");
            update(w, "1#g x*2");
        },
        &["UPDATE_COMPLETE: x*2"],
    ),
    scenario(
        "a stack of a file changes and goes",
        |w| {
            let inner = "heat_template_version: 2021-04-16\nparameters: {v: {type: string}}\n\
                resources: {t: {type: Test::Thing, properties: {value: {get_param: v}}}}\n";
            let outer = |value: &str| {
                format!(
                    "heat_template_version: 2021-04-16\nresources:\n  \
                     n: {{type: AWS::CloudFormation::Stack, properties: \
                     {{TemplateURL: t.yaml, Parameters: {{v: {value}}}}}}}\n"
                )
            };
            let first = recipe(&mut w.rng, &outer("x"), &[("t.yaml", inner)]);
            w.create(first, StackSettings::default());
            w.run();
            let second = recipe(&mut w.rng, &outer("y"), &[("t.yaml", inner)]);
            let settings = StackSettings::default();
            later(w, 1, move |_| Command::Update { recipe: second, settings });
            w.run();
        },
        &["UPDATE_COMPLETE: y"],
    ),
    scenario(
        "a nested stack fails and is undone",
        |w| {
            create_undone(w, "@n x; b x n");
            update(w, "@n refused*2; b y n");
        },
        &["ROLLBACK_COMPLETE: x x x"],
    ),
    scenario(
        "a group grows and shrinks",
        |w| {
            create(w, "a x; 2#g y a; b z g");
            update(w, "a x; 4#g y a; b z g");
            update(w, "a x; 1#g y*2 a; b z g");
        },
        &["UPDATE_COMPLETE: x y*2 z"],
    ),
    scenario(
        "a group changes in batches",
        |w| {
            create(w, "3/2#g x");
            update(w, "3/2#g y*2");
        },
        &["UPDATE_COMPLETE: y*2 y*2 y*2"],
    ),
    scenario(
        "a group fails in the middle of a batch, then not",
        |w| {
            create(w, "3/1#g x");
            update(w, "3/1#g refused");
            update(w, "3/1#g y");
        },
        &["UPDATE_COMPLETE: y y y"],
    ),
    scenario(
        "a scaling group is scaled",
        |w| {
            create(w, "1^s x");
            signal(w, 1, "s_more");
            w.run();
            signal(w, 1, "s_more");
            w.run();
        },
        &["CREATE_COMPLETE: x x x"],
    ),
    scenario(
        "a balanced group is scaled and changed",
        crate::balanced::story,
        &["UPDATE_COMPLETE: lb x*3"],
    ),
    scenario(
        "a stack rests, is woken and looked at",
        |w| {
            create(w, "a x; b x a; @n x");
            for action in [Action::Suspend, Action::Resume, Action::Check] {
                let root = w.root;
                later(w, 1, move |_| Command::ForEach(root, action));
                w.run();
            }
        },
        &["CHECK_COMPLETE: x x x x"],
    ),
    scenario(
        "a snapshot is taken, gone back to and let go of",
        |w| {
            create(w, "a x; b y a; @n z");
            let id = snapshot(w);
            update(w, "a v; c w");
            later(w, 1, move |_| Command::Restore(id));
            w.run();
            later(w, 1, move |_| Command::DeleteSnapshot(id));
            w.run();
        },
        &["RESTORE_COMPLETE: x y z z"],
    ),
    scenario(
        "a snapshot is overtaken and let go of",
        |w| {
            create(w, "a x; b y a; c z b");
            let id = SnapshotId(Ids::next(&mut w.rng));
            later(w, 1, move |_| Command::Snapshot { id, name: None, limit: None });
            later(w, 3, change("a v; c z"));
            later(w, 4, move |_| Command::DeleteSnapshot(id));
            w.run();
        },
        &["UPDATE_COMPLETE: v z"],
    ),
    scenario(
        "a stack with snapshots is deleted",
        |w| {
            create(w, "a x; b y a");
            snapshot(w);
            let id = snapshot(w);
            later(w, 1, move |_| Command::DeleteSnapshot(id));
            later(w, 2, |_| Command::Delete);
            w.run();
        },
        &["DELETE_COMPLETE: "],
    ),
    scenario(
        "a copy is made before an object goes",
        |w| {
            let kept = "heat_template_version: 2021-04-16\nresources:\n  \
                a: {type: Test::Thing, deletion_policy: Snapshot, properties: {value: x}}\n";
            let first = recipe(&mut w.rng, kept, &[]);
            w.create(first, StackSettings::default());
            w.run();
            update(w, "b y");
            // What was kept on purpose stays: the story ends without it.
            let copies = std::mem::take(&mut w.cloud.copies);
            assert_eq!(copies.values().map(|it| it.value.as_str()).collect::<Vec<_>>(), ["x"]);
        },
        &["UPDATE_COMPLETE: y"],
    ),
    scenario(
        "a stack is deleted after a failed delete",
        |w| {
            create(w, "a stuck; b x a");
            w.cloud.is_sticky = true;
            later(w, 1, |_| Command::Delete);
            w.run();
            w.cloud.is_sticky = false;
        },
        &["DELETE_FAILED: stuck"],
    ),
    scenario(
        "what drifted is mended and what is gone is made again",
        |w| {
            let plan = "a x; b y a; @n x; 2#g y";
            create(w, plan);
            tamper(w);
            w.cloud.things.pop_last();
            w.cloud.things.pop_first();
            let settings = StackSettings { converges: true, ..StackSettings::default() };
            later(w, 1, move |w| {
                let recipe = wish(&mut w.rng, &Plan::of(plan));
                Command::Update { recipe, settings }
            });
            w.run();
        },
        &["UPDATE_COMPLETE: x x x y y y"],
    ),
    scenario(
        "what drifted stays as it is if nobody looks",
        |w| {
            create(w, "a x; b y a");
            tamper(w);
            update(w, "a x; b y a; c z");
        },
        &["UPDATE_COMPLETE: other other z"],
    ),
    scenario(
        "a sick thing is replaced",
        |w| {
            create(w, "a x; b x a");
            let (stack, resource) = (w.root, "a".into());
            later(w, 1, move |_| Command::Mark {
                stack,
                resource,
                is_healthy: false,
                reason: "".into(),
            });
            w.run();
            update(w, "a x; b x a");
        },
        &["UPDATE_COMPLETE: x x"],
    ),
    scenario(
        "a stack adopts things that exist",
        |w| {
            let ids = existing(w, &["x", "y"]);
            let adopted = |id: &String| Value::map([("resource_id", Value::from(id.as_str()))]);
            let adopted = Value::map([("a", adopted(&ids[0])), ("b", adopted(&ids[1]))]);
            let recipe = wish(&mut w.rng, &Plan::of("a x; b y a"));
            w.adopt(recipe, adopted.as_map().unwrap().clone().into());
            w.run();
            update(w, "a z; b y a");
        },
        &["UPDATE_COMPLETE: y z"],
    ),
    scenario(
        "things of others are checked, and stay when the stack does without them",
        |w| {
            let ids = existing(w, &["theirs"]);
            let template = format!(
                "heat_template_version: 2021-04-16\nresources:\n  \
                 t: {{type: Test::Thing, external_id: {}}}\n  r: {{type: OS::Heat::RandomString, external_id: r1}}\n",
                ids[0]
            );
            let recipe = recipe(&mut w.rng, &template, &[]);
            w.create(recipe, StackSettings::default());
            w.run();
            update(w, "a x");
            assert!(w.cloud.things.remove(&ids[0]).is_some(), "it is not ours to remove");
        },
        &["UPDATE_COMPLETE: x"],
    ),
    scenario(
        "a thing that is gone is replaced when it is to be changed",
        |w| {
            create(w, "a x; b y a");
            w.cloud.things.pop_first();
            update(w, "a z; b y a");
        },
        &["UPDATE_COMPLETE: y z"],
    ),
    scenario(
        "a change that is not possible, then one that is",
        |w| {
            let coloured = |colour: &str| {
                format!(
                    "heat_template_version: 2021-04-16\nresources:\n  \
                     a: {{type: Test::Thing, properties: {{value: x, colour: {colour}}}}}\n"
                )
            };
            for colour in ["red", "blue", "red"] {
                let recipe = recipe(&mut w.rng, &coloured(colour), &[]);
                match w.tree() {
                    None => w.create(recipe, StackSettings::default()),
                    Some(_) => {
                        let settings = StackSettings::default();
                        later(w, 1, move |_| Command::Update { recipe, settings });
                    }
                }
                w.run();
            }
        },
        &["UPDATE_COMPLETE: x"],
    ),
    scenario(
        "a definition cannot be resolved until the template is corrected",
        |w| {
            let template = "heat_template_version: 2021-04-16\nresources:\n  \
                a: {type: Test::Thing, properties: {value: x}}\n  \
                b: {type: Test::Thing, properties: {value: {str_split: [',', {get_attr: [a, users]}]}}}\n";
            let recipe = recipe(&mut w.rng, template, &[]);
            w.create(recipe, StackSettings::default());
            w.run();
            update(w, "a x; b y a");
        },
        &["UPDATE_COMPLETE: x y"],
    ),
    scenario(
        "dependencies are turned round, back again, and the stack is deleted meanwhile",
        |w| {
            create_undone(w, "a x; b slow a");
            later(w, 1, change("b z; a x*2 b; c refused a"));
            later(w, 7, |_| Command::Delete);
            w.run();
        },
        &["DELETE_COMPLETE: "],
    ),
    scenario(
        "a group changes in batches with pauses",
        |w| {
            let group = |value: &str| {
                format!(
                    "heat_template_version: 2021-04-16\nresources:\n  \
                     g:\n    type: OS::Heat::ResourceGroup\n    \
                     update_policy: {{rolling_update: {{max_batch_size: 1, pause_time: 20}}}}\n    \
                     properties: {{count: 3, resource_def: {{type: Test::Thing, properties: {{value: {value}}}}}}}\n"
                )
            };
            let first = recipe(&mut w.rng, &group("x"), &[]);
            w.create(first, StackSettings::default());
            w.run();
            let recipe = recipe(&mut w.rng, &group("y"), &[]);
            let settings = StackSettings::default();
            later(w, 1, move |_| Command::Update { recipe, settings });
            w.run();
        },
        &["UPDATE_COMPLETE: y y y"],
    ),
    scenario(
        "a check finds two things gone that a third one needs",
        |w| {
            create(w, "a x; b y; c z a b; d v");
            w.cloud.things.retain(|_, thing| thing.value != "x" && thing.value != "y");
            let root = w.root;
            later(w, 1, move |_| Command::ForEach(root, Action::Check));
            w.run();
            update(w, "a x; b y; c z a b; d v");
        },
        &["UPDATE_COMPLETE: v x y z"],
    ),
    scenario(
        "copies that cannot be removed are removed later",
        |w| {
            create(w, "a stuck");
            let id = snapshot(w);
            w.cloud.is_sticky = true;
            later(w, 1, move |_| Command::DeleteSnapshot(id));
            w.run();
            w.cloud.is_sticky = false;
            later(w, 1, move |_| Command::DeleteSnapshot(id));
            w.run();
        },
        &["SNAPSHOT_COMPLETE: stuck"],
    ),
    scenario(
        "an operation that is over reports something",
        |w| {
            create(w, "a x");
            w.report(Input::Stopped(OpId(u64::MAX)));
            w.report(Input::StepBegun(OpId(u64::MAX), "create".into()));
            w.run();
        },
        &["CREATE_COMPLETE: x"],
    ),
    scenario(
        "three generations of a thing, and back to the first",
        |w| {
            create_undone(w, "a x; b y a");
            later(w, 1, change("a slow*2; b y a; c refused a"));
            later(w, 4, change("a slow*3; b y a; c refused a"));
            later(w, 7, change("a slow*4; b y a; c refused a"));
            w.run();
        },
        &["ROLLBACK_COMPLETE: x y"],
    ),
];

/// Things that exist before the stack does; gives their ids.
fn existing(world: &mut World, values: &[&str]) -> Vec<String> {
    let id = |value: &str| format!("existing-{value}");
    for value in values {
        let (name, value) = ((*value).to_owned(), (*value).to_owned());
        let thing = Thing { name, value: value.clone(), size: 1, ..Thing::default() };
        world.cloud.things.insert(id(&value), thing);
    }
    values.iter().map(|value| id(value)).collect()
}

const DIAMOND: &str = "a x; b x a; c x a; d x b c";

fn create(world: &mut World, plan: &str) {
    let recipe = wish(&mut world.rng, &Plan::of(plan));
    world.create(recipe, StackSettings::default());
    world.run();
}

fn create_undone(world: &mut World, plan: &str) {
    let recipe = wish(&mut world.rng, &Plan::of(plan));
    world.create(recipe, StackSettings { is_rolled_back: Some(true), ..StackSettings::default() });
    world.run();
}

fn change(plan: &'static str) -> impl FnOnce(&mut World) -> Command {
    move |world| {
        let recipe = wish(&mut world.rng, &Plan::of(plan));
        Command::Update { recipe, settings: StackSettings::default() }
    }
}

fn update(world: &mut World, plan: &'static str) {
    later(world, 1, change(plan));
    world.run();
}

/// Somebody changes every thing behind the engine's back.
fn tamper(world: &mut World) {
    world.cloud.things.values_mut().for_each(|thing| thing.value = "other".into());
}

fn snapshot(world: &mut World) -> SnapshotId {
    let id = SnapshotId(Ids::next(&mut world.rng));
    later(world, 1, move |_| Command::Snapshot { id, name: None, limit: None });
    world.run();
    id
}

fn signal(world: &mut World, seconds: u64, resource: &str) {
    let (stack, resource) = (world.root, resource.into());
    later(world, seconds, move |_| Command::Signal { stack, resource, details: Value::Null });
}

/// Has something wanted in so many seconds.
fn later(world: &mut World, seconds: u64, command: impl FnOnce(&mut World) -> Command) {
    let command = command(world);
    world.command_at(world.now + Duration::from_secs(seconds), command);
}

/// Tells a story in which the engine dies at a place; gives the number of places there are.
fn tell(scenario: &Scenario, crash_at: Option<u64>) -> Result<(u64, Reached), String> {
    let mut world = World::new(1);
    world.crash_at = crash_at;
    world.log = Some(Vec::new());
    (scenario.story)(&mut world);
    let mut found = flaws(&world);
    let end = outcome(&world);
    if !scenario.ends.contains(&end.as_str()) {
        found.push(format!("it ended in {end}"));
    }
    let leftover: Vec<StackId> = books(&world).stacks.iter().map(|stack| stack.id).collect();
    world.command_at(world.now, Command::Delete);
    world.run();
    found.extend(flaws(&world));
    let end = outcome(&world);
    if end != "DELETE_COMPLETE: " {
        found.push(format!("after the delete there was {end}"));
    }
    for id in leftover {
        let stack = now(world.store.stack(id)).unwrap();
        if stack.is_some_and(|it| !it.summary.state.is(Action::Delete, Status::Complete)) {
            found.push(format!("the stack {id} is still there"));
        }
    }
    match found.is_empty() {
        true => Ok((world.boundaries, world.reached)),
        false => {
            let log = world.log.take().unwrap_or_default().join("\n");
            Err(format!("{log}\n{}, death at {crash_at:?}: {found:#?}", scenario.name))
        }
    }
}

/// Tells a story once for every place; gives the number of places.
fn tell_all(scenario: &Scenario) -> Result<u64, String> {
    let told = |crash_at| {
        std::panic::catch_unwind(|| tell(scenario, crash_at)).unwrap_or_else(|_| {
            Err(format!("{}, death at {crash_at:?}: the engine broke down", scenario.name))
        })
    };
    let (places, _) = told(None)?;
    for place in 1..=places {
        told(Some(place))?;
    }
    Ok(places)
}

/// The transitions that the engines of all stories go through if none dies.
pub fn reached_by_stories() -> Reached {
    let mut all = Reached::default();
    for scenario in SCENARIOS {
        match tell(scenario, None) {
            Ok((_, reached)) => all.add(&reached),
            Err(what) => panic!("{what}"),
        }
    }
    all
}

#[test]
fn stories_end_well_wherever_the_engine_dies() {
    let next = AtomicUsize::new(0);
    let (places, failed) = (Mutex::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(scenario) = SCENARIOS.get(next.fetch_add(1, Ordering::Relaxed)) {
            match tell_all(scenario) {
                Ok(count) => *places.lock().unwrap() += count,
                Err(what) => failed.lock().unwrap().push(what),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| _ = scope.spawn(work));
    });
    let (places, failed) = (places.into_inner().unwrap(), failed.into_inner().unwrap());
    println!("{} stories, {places} places to die at", SCENARIOS.len());
    assert!(failed.is_empty(), "{} stories ended badly:\n{}", failed.len(), failed.join("\n\n"));
}
