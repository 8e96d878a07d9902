//! A plan is a contract: an update does what its plan shows, or stops.

use crate::simulation::check::events_of;
use crate::simulation::script::{CHILD, Plan as Wanted, wish};
use crate::simulation::swarm::Swarm;
use crate::simulation::world::{Rng, World, recipe};
use kiln_engine::preview::{Act, Contract, Plan, shown};
use kiln_engine::{Command, Recipe, StackSettings};
use kiln_template::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stack that was created.
fn created(seed: u64, wanted: &Wanted) -> World {
    let mut world = World::new(seed);
    let recipe = wish(&mut world.rng, wanted);
    world.create(recipe, StackSettings::default());
    world.run();
    world
}

fn plan(world: &mut World, recipe: &Recipe) -> Plan {
    world.tree_mut().unwrap().plan(recipe).unwrap()
}

/// Updates the stack to a recipe, with a contract that may be another recipe's.
fn update(world: &mut World, recipe: &Arc<Recipe>, contract: Option<Contract>) {
    let recipe = Recipe { contract: contract.map(Arc::new), ..(**recipe).clone() };
    let settings = StackSettings::default();
    let now = world.now;
    world.command_at(now, Command::Update { recipe: Arc::new(recipe), settings });
    world.run();
}

fn contract(world: &mut World, plan: &Plan, allows_replacement: bool) -> Contract {
    Contract::new(plan, world.tree().unwrap().record_hash(), allows_replacement)
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
    let contract = contract(&mut world, &nothing, false);
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
    let contract = contract(&mut world, &plan, false);
    let between = wish(&mut world.rng, &Wanted::of("a z"));
    update(&mut world, &between, None);
    let deeds = world.cloud.deeds.clone();
    update(&mut world, &second, Some(contract));
    assert_eq!(world.cloud.deeds, deeds);
    let events = events_of(&world, world.root);
    assert!(events.iter().any(|it| it.contains("The plan was not applied")), "{events:#?}");
}

/// The objects of the tree by the paths of their resources, and what they are like.
fn objects(world: &World) -> BTreeMap<String, (String, String)> {
    let all = world.tree().unwrap().plan_delete().unwrap();
    let object = |step: &kiln_engine::preview::Step| {
        let id = step.physical_id.as_deref()?.to_owned();
        let thing = world.cloud.things.get(&id)?;
        let like = format!("{} {} {:?}", thing.value, thing.size, thing.needs);
        Some((step.path.to_string(), (id, like)))
    };
    all.steps.iter().filter_map(object).collect()
}

/// What was done to objects that the contract does not allow.
fn unplanned(
    before: &BTreeMap<String, (String, String)>,
    after: &BTreeMap<String, (String, String)>,
    contract: &Contract,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |path: &str, act: Act| {
        if !contract.allows(path, act) {
            found.push(format!("{} {path}", act.name()));
        }
    };
    for (path, (id, like)) in after {
        match before.get(path) {
            None => check(path, Act::Create),
            Some((former, _)) if former != id => check(path, Act::Replace),
            Some((_, former)) if former != like => check(path, Act::Update),
            Some(_) => {}
        }
    }
    before.keys().filter(|path| !after.contains_key(*path)).for_each(|it| check(it, Act::Delete));
    found
}

/// How many updates were planned and run.
const UPDATES: u64 = 2_000;

#[test]
fn no_update_does_what_its_plan_does_not_show() {
    let (mut quiet, mut moved, mut changed, mut stopped) = (0, 0, 0, 0);
    for seed in 0..UPDATES {
        let mut rng = Rng(seed);
        let swarm = Swarm { hooks: 0, restrictions: 0, ..Swarm::draw(&mut rng) };
        let first = Wanted::random(&mut rng, &swarm);
        let mut world = created(seed, &first);
        // Some begin with a stack of which an update has failed half-way.
        let between = first.changed(&mut rng, &swarm);
        if rng.happens(300) {
            let recipe = wish(&mut world.rng, &between);
            update(&mut world, &recipe, None);
        }
        let wanted = between.changed(&mut rng, &swarm);
        let wanted = wish(&mut world.rng, &wanted);
        let Ok(plan) = world.tree_mut().unwrap().plan(&wanted) else { continue };
        let contract = contract(&mut world, &plan, false);
        match rng.below(4) {
            // The record moves: another update comes first.
            0 => {
                let other = first.changed(&mut rng, &swarm);
                let other = wish(&mut world.rng, &other);
                let hash = world.tree().unwrap().record_hash();
                update(&mut world, &other, None);
                assert_ne!(world.tree().unwrap().record_hash(), hash, "seed {seed}");
                let deeds = world.cloud.deeds.clone();
                update(&mut world, &wanted, Some(contract));
                assert_eq!(world.cloud.deeds, deeds, "seed {seed}: the record had moved");
                moved += 1;
            }
            // What is asked for moves: the update is to another template than the plan.
            1 => {
                let other = between.changed(&mut rng, &swarm);
                let other = wish(&mut world.rng, &other);
                let before = objects(&world);
                let is_other = match world.tree_mut().unwrap().plan(&other) {
                    Ok(now) => now.lines() != plan.lines(),
                    Err(_) => true,
                };
                update(&mut world, &other, Some(contract.clone()));
                let found = unplanned(&before, &objects(&world), &contract);
                assert!(
                    found.is_empty(),
                    "seed {seed}: {found:?}
{:#?}",
                    plan.lines()
                );
                stopped += u64::from(is_other);
                moved += 1;
            }
            _ => {
                let before = objects(&world);
                update(&mut world, &wanted, Some(contract.clone()));
                let after = objects(&world);
                let found = unplanned(&before, &after, &contract);
                assert!(found.is_empty(), "seed {seed}: {found:?}\n{:#?}", plan.lines());
                let reasons = events_of(&world, world.root);
                let departed = reasons.iter().find(|it| it.contains("The plan does not show"));
                // Only what was not known beforehand may turn out to be something else.
                let is_open = plan.steps.iter().any(|it| it.detail.inside_unknown.is_some());
                let departed = departed.filter(|_| !is_open);
                assert_eq!(departed, None, "seed {seed}: {:#?}", plan.lines());
                quiet += 1;
                changed += u64::from(before != after);
            }
        }
    }
    println!(
        "planned and run: {quiet}, of which {changed} changed objects; moved in between: {moved}, of which {stopped} to \
         another template; actions that no plan showed: 0"
    );
    assert!(changed > 0 && moved > 0);
}
