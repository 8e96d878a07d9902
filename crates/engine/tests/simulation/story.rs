//! The story of a seed, from a stack's creation to its end.

use super::check::{differs, flaws};
use super::script::{Wanted, random_story};
use super::world::{Faults, World, now};
use kiln_engine::machine::Command;
use kiln_engine::state::{Action, Status};
use kiln_engine::store::Store;
use std::sync::atomic::{AtomicU64, Ordering};

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
        // A rollback of a rollback is none: what it went back to is one of the plans. So is what a
        // snapshot was taken of.
        Action::Rollback | Action::Restore if is_done => {
            let fits = |plan: &Wanted| differs(&world, plan).is_empty();
            if !wanted.iter().any(fits) && !fits(&Wanted::Nothing) {
                let action = root.state.action;
                found.push(format!("{action} ended in a state that nobody ever wanted"));
            }
        }
        // The others do not make a stack what it should be.
        Action::Create | Action::Update | Action::Delete if is_done => {
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
pub fn story_or_breakdown(seed: u64) -> Result<u64, String> {
    let told = |is_told| {
        std::panic::catch_unwind(|| story(seed, is_told))
            .unwrap_or_else(|_| Err(format!("seed {seed}: the engine broke down")))
    };
    // What went wrong is told once more, with all that happened.
    told(false).or_else(|_| told(true))
}

/// The stories of many seeds, on all processors; the first that ends badly, or the number of places
/// where the engine might have died.
pub fn stories(seeds: std::ops::Range<u64>) -> Result<u64, String> {
    let next = AtomicU64::new(seeds.start);
    let tell = || -> Result<u64, String> {
        let mut boundaries = 0;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(boundaries);
            }
            match story_or_breakdown(seed) {
                Ok(count) => boundaries += count,
                Err(flaws) => {
                    next.store(seeds.end, Ordering::Relaxed);
                    return Err(flaws);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<Result<u64, String>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(tell)).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    results.into_iter().sum()
}
