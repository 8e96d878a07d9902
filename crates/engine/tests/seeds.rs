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

#[test]
fn stories_end_well() {
    for seed in 0..20_000 {
        if story(seed, false).is_err() {
            // The same once more, with all that happened.
            panic!("{}", story(seed, true).unwrap_err());
        }
    }
}
