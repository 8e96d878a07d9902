//! Updates that are planned and then run, half of them in a world that has moved in between.

use super::check::events_of;
use super::script::{Plan as Wanted, wish};
use super::story::on_all_processors;
use super::swarm::Swarm;
use super::world::{Rng, World};
use kiln_engine::preview::{Act, Contract, Plan, Step};
use kiln_engine::{Command, Recipe, StackSettings};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

/// What became of updates that were planned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Updates that were planned and run.
    pub run: u64,
    /// Those of them that changed objects.
    pub changed: u64,
    /// Those that were not begun, because the record had moved.
    pub record_moved: u64,
    /// Those that were to another template than the plan.
    pub template_moved: u64,
    /// Those of them for which another plan would have shown something else.
    pub other_plan: u64,
    /// Updates before which an object was removed or changed outside of the engine.
    pub object_moved: u64,
    /// Those that stopped at something that the plan does not show.
    pub stopped: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Tally) {
        self.run += more.run;
        self.changed += more.changed;
        self.record_moved += more.record_moved;
        self.template_moved += more.template_moved;
        self.other_plan += more.other_plan;
        self.object_moved += more.object_moved;
        self.stopped += more.stopped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  planned and run", self.run)?;
        writeln!(f, "{:>9}    of which changed objects", self.changed)?;
        writeln!(f, "{:>9}  the record had moved: nothing was called", self.record_moved)?;
        writeln!(f, "{:>9}  to another template than the plan", self.template_moved)?;
        writeln!(f, "{:>9}    of which another plan would have shown more", self.other_plan)?;
        writeln!(f, "{:>9}  an object had been changed or removed", self.object_moved)?;
        writeln!(f, "{:>9}  stopped at what the plan does not show", self.stopped)?;
        write!(f, "{:>9}  actions that no plan showed", 0)
    }
}

/// Plans updates and runs them, on all processors; returns what they came to, or what is wrong with the first that did
/// what its plan does not show.
pub fn planned_updates(seeds: std::ops::Range<u64>) -> Result<Tally, String> {
    on_all_processors(seeds, planned_update, |all: &mut Tally, one| *all += one)
}

/// A stack that was created.
pub fn created(seed: u64, wanted: &Wanted) -> World {
    let mut world = World::new(seed);
    let recipe = wish(&mut world.rng, wanted);
    world.create(recipe, StackSettings::default());
    world.run();
    world
}

/// Updates the stack to a recipe, with a contract that may be another recipe's.
pub fn update(world: &mut World, recipe: &Arc<Recipe>, contract: Option<Contract>) {
    let recipe = Recipe { contract: contract.map(Arc::new), ..(**recipe).clone() };
    let settings = StackSettings::default();
    let now = world.now;
    world.command_at(now, Command::Update { recipe: Arc::new(recipe), settings });
    world.run();
}

pub fn contract(world: &World, plan: &Plan, allows_replacement: bool) -> Contract {
    Contract::new(plan, world.tree().unwrap().record_hash(), allows_replacement)
}

fn planned_update(seed: u64) -> Result<Tally, String> {
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
    let mut tally = Tally::default();
    let Ok(plan) = world.tree_mut().unwrap().plan(&wanted) else { return Ok(tally) };
    let contract = contract(&world, &plan, false);
    let flaw = |what: String| Err(format!("seed {seed}: {what}\n{:#?}", plan.lines()));
    match rng.below(6) {
        // The record moves: another update comes first.
        0 => {
            let other = first.changed(&mut rng, &swarm);
            let other = wish(&mut world.rng, &other);
            let hash = world.tree().unwrap().record_hash();
            update(&mut world, &other, None);
            if world.tree().unwrap().record_hash() == hash {
                return flaw("an update left the hash of the record as it was".to_owned());
            }
            let deeds = world.cloud.deeds.clone();
            update(&mut world, &wanted, Some(contract));
            if world.cloud.deeds != deeds {
                return flaw("the record had moved, and objects were changed".to_owned());
            }
            tally.record_moved = 1;
        }
        // What is asked for moves: the update is to another template than the plan.
        1 => {
            let other = between.changed(&mut rng, &swarm);
            let other = wish(&mut world.rng, &other);
            let now = world.tree_mut().unwrap().plan(&other);
            tally.other_plan = u64::from(now.is_ok_and(|now| now.lines() != plan.lines()));
            tally.template_moved = 1;
            let found = run_to(&mut world, &other, &contract);
            if !found.is_empty() {
                return flaw(format!("{found:?}"));
            }
        }
        // An object moves: it is removed or changed outside of the engine.
        2 => {
            if !meddle(&mut world, &mut rng) {
                return Ok(tally);
            }
            tally.object_moved = 1;
            let found = run_to(&mut world, &wanted, &contract);
            if !found.is_empty() {
                return flaw(format!("{found:?}"));
            }
        }
        _ => {
            let deeds = world.cloud.deeds.len();
            let found = run_to(&mut world, &wanted, &contract);
            if !found.is_empty() {
                return flaw(format!("{found:?}"));
            }
            // Only what was not known beforehand may turn out to be something else.
            let is_open = plan.steps.iter().any(|it| it.detail.inside_unknown.is_some());
            if let (Some(departed), false) = (departure(&world), is_open) {
                return flaw(format!("nothing had moved: {departed}"));
            }
            tally.run = 1;
            tally.changed = u64::from(world.cloud.deeds.len() > deeds);
        }
    }
    tally.stopped = u64::from(departure(&world).is_some());
    Ok(tally)
}

/// Updates the stack under a contract; returns what was done that the contract does not allow.
fn run_to(world: &mut World, recipe: &Arc<Recipe>, contract: &Contract) -> Vec<String> {
    let before = objects(world);
    update(world, recipe, Some(contract.clone()));
    unplanned(&before, &objects(world), contract)
}

/// Changes or removes one of the objects; returns whether there was one.
fn meddle(world: &mut World, rng: &mut Rng) -> bool {
    let ids: Vec<String> = world.cloud.things.keys().cloned().collect();
    if ids.is_empty() {
        return false;
    }
    let id = &ids[rng.below(ids.len() as u64) as usize];
    if rng.happens(500) {
        world.cloud.things.remove(id);
    } else if let Some(thing) = world.cloud.things.get_mut(id) {
        thing.size += 1;
    }
    true
}

/// The event of what the plan does not show, if there is one.
fn departure(world: &World) -> Option<String> {
    let reasons = events_of(world, world.root);
    reasons.into_iter().find(|reason| reason.contains("The plan does not show"))
}

/// An object of the tree: the path of its resource, and what it is like.
type Object = (String, String);

/// The objects of the tree by their ids. A resource that is being replaced has two.
fn objects(world: &World) -> BTreeMap<String, Object> {
    let all = world.tree().unwrap().plan_delete().unwrap();
    let object = |step: &Step| {
        let id = step.physical_id.as_deref()?.to_owned();
        let thing = world.cloud.things.get(&id)?;
        let like = format!("{} {} {:?}", thing.value, thing.size, thing.needs);
        Some((id, (step.path.to_string(), like)))
    };
    all.steps.iter().filter_map(object).collect()
}

/// What was done to objects that the contract does not allow.
fn unplanned(
    before: &BTreeMap<String, Object>,
    after: &BTreeMap<String, Object>,
    contract: &Contract,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |path: &str, acts: &[Act]| {
        if !acts.iter().any(|act| contract.allows(path, *act)) {
            found.push(format!("{} {path}", acts[0].name()));
        }
    };
    let had_one = |path: &String| before.values().any(|(other, _)| other == path);
    for (id, (path, like)) in after {
        match before.get(id) {
            None if had_one(path) => check(path, &[Act::Replace, Act::Create]),
            None => check(path, &[Act::Create]),
            Some((_, former)) if former != like => check(path, &[Act::Update]),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|(id, _)| !after.contains_key(*id));
    gone.for_each(|(_, (path, _))| check(path, &[Act::Delete]));
    found
}
