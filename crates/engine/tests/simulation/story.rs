//! The story of a seed, from a stack's creation to its end.

use super::check::{differs, flaws};
use super::script::{Wanted, random_story};
use super::world::{Faults, World, now};
use kiln_engine::store::Store;
use kiln_engine::{Action, Command, Reached, Status};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Lets the story of a seed happen; tells what is wrong afterwards.
pub fn story(seed: u64, is_told: bool) -> Result<(u64, Reached), String> {
    let mut world = World::new(seed);
    world.log = is_told.then(Vec::new);
    let wanted = random_story(&mut world);
    world.run();
    let mut found = flaws(&world);
    let root = now(world.store.stack(world.root)).unwrap().unwrap();
    let is_done = root.summary.state.status == Status::Complete;
    match root.summary.state.action {
        // A rollback of a rollback is none: what it went back to is one of the plans. So is what a
        // snapshot was taken of.
        Action::Rollback | Action::Restore if is_done => {
            let fits = |plan: &Wanted| differs(&world, plan).is_empty();
            if !wanted.iter().any(fits) && !fits(&Wanted::Nothing) {
                let action = root.summary.state.action;
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
    // Only a story that leaves little time for an action may need another delete, after one that timed out.
    for _ in 0..if world.has_timeout { 3 } else { 1 } {
        world.command_at(world.now, Command::Delete);
        world.run();
        let root = now(world.store.stack(world.root)).unwrap().unwrap();
        if root.summary.state.is(Action::Delete, Status::Complete) {
            break;
        }
    }
    found.extend(flaws(&world));
    found.extend(differs(&world, &Wanted::Nothing));
    let root = now(world.store.stack(world.root)).unwrap().unwrap();
    if !root.summary.state.is(Action::Delete, Status::Complete) {
        found.push(format!("the stack ended in {}: {}", root.summary.state, root.summary.reason));
    }
    match found.is_empty() {
        true => Ok((world.boundaries, world.reached)),
        false => {
            let log = world.log.take().unwrap_or_default().join("\n");
            Err(format!("{log}\nseed {seed}: {found:#?}"))
        }
    }
}

/// The story of a seed, in which the engine itself may break down.
pub fn story_or_breakdown(seed: u64) -> Result<(u64, Reached), String> {
    let told = |is_told| {
        std::panic::catch_unwind(|| story(seed, is_told))
            .unwrap_or_else(|_| Err(format!("seed {seed}: the engine broke down")))
    };
    // What went wrong is told once more, with all that happened.
    told(false).or_else(|_| told(true))
}

/// What the stories of many seeds came to.
#[derive(Default)]
pub struct Stories {
    /// How many places there were where the engine might have died.
    pub boundaries: u64,
    /// Which transitions the engines went through.
    pub reached: Reached,
}

impl Stories {
    /// The transitions, with how often each happened, as a table.
    pub fn table(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (transition, count) in self.reached.counts() {
            let mark = if count == 0 { "  <- never" } else { "" };
            lines.push(format!("{count:>12}  {}{mark}", transition.description()));
        }
        lines.join("\n")
    }
}

/// The stories of many seeds, on all processors; or what is wrong with the first that ends badly.
pub fn stories(seeds: std::ops::Range<u64>) -> Result<Stories, String> {
    on_all_processors(seeds, story_or_breakdown, |all: &mut Stories, (boundaries, reached)| {
        all.boundaries += boundaries;
        all.reached.add(&reached);
    })
}

/// Does the work of many seeds on all processors, and adds up the results; or tells what is wrong with the first that ends
/// badly.
pub fn on_all_processors<All: Default + Send, One: Send>(
    seeds: std::ops::Range<u64>,
    work: fn(u64) -> Result<One, String>,
    add: fn(&mut All, One),
) -> Result<All, String> {
    let (next, all) = (AtomicU64::new(seeds.start), Mutex::new(All::default()));
    let run = || -> Result<(), String> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(());
            }
            match work(seed) {
                Ok(one) => add(&mut all.lock().unwrap(), one),
                Err(flaws) => {
                    next.store(seeds.end, Ordering::Relaxed);
                    return Err(flaws);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    results.into_iter().collect::<Result<Vec<()>, String>>()?;
    Ok(all.into_inner().unwrap())
}
