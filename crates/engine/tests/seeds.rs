//! Stories made up from seeds.

use crate::simulation::check::{differs, flaws};
use crate::simulation::script::{Wanted, random_story};
use crate::simulation::world::{Faults, World, now};
use kiln_engine::machine::Command;
use kiln_engine::state::{Action, Status};
use kiln_engine::store::Store;

/// Lets the story of a seed happen; tells what is wrong afterwards.
pub fn story(seed: u64, is_told: bool) -> Result<u64, String> {
    let mut world = World::new(seed);
    world.log = is_told.then(Vec::new);
    let wanted = random_story(&mut world);
    world.run();
    let mut found = flaws(&world);
    let root = now(world.store.stack(world.root)).unwrap().unwrap();
    let is_done = root.state.status == Status::Complete;
    match root.state.action {
        // A rollback of a rollback is none: what it went back to is one of the plans.
        Action::Rollback if is_done => {
            let fits = |plan: &Wanted| differs(&world, plan).is_empty();
            if !wanted.iter().any(fits) && !fits(&Wanted::Nothing) {
                found.push("a rollback ended in a state that nobody ever wanted".into());
            }
        }
        _ if is_done => {
            let last = wanted.last().cloned().unwrap_or(Wanted::Nothing);
            found.extend(differs(&world, &last));
        }
        _ => {}
    }
    // Whatever happened, it can be deleted, and nothing is left.
    world.faults = Faults::default();
    world.command_at(world.now, Command::Delete);
    world.run();
    found.extend(flaws(&world));
    found.extend(differs(&world, &Wanted::Nothing));
    let root = now(world.store.stack(world.root)).unwrap().unwrap();
    if !root.state.is(Action::Delete, Status::Complete) {
        found.push(format!("the stack ended in {}: {}", root.state, root.reason));
    }
    match found.is_empty() {
        true => Ok(world.boundaries),
        false => {
            let log = world.log.take().unwrap_or_default().join("\n");
            Err(format!("{log}\nseed {seed}: {found:#?}"))
        }
    }
}

/// The story of a seed, in which the engine itself may break down.
fn story_or_breakdown(seed: u64) -> Result<u64, String> {
    let told = |is_told| {
        std::panic::catch_unwind(|| story(seed, is_told))
            .unwrap_or_else(|_| Err(format!("seed {seed}: the engine broke down")))
    };
    // What went wrong is told once more, with all that happened.
    told(false).or_else(|_| told(true))
}

#[test]
fn stories_end_well() {
    let all = std::env::var("KILN_SEEDS").ok().and_then(|text| text.parse().ok());
    for seed in 0..all.unwrap_or(2_000) {
        if let Err(flaws) = story_or_breakdown(seed) {
            panic!("{flaws}");
        }
    }
}
