//! The store in memory is the other's twin: whatever is done to both, they answer alike.

use crate::test_store::{TestStore, at, batch, scatter, text};
use kiln_engine::store::{
    Batch, EventQuery, Lease, StackField, StackQuery, StackRow, StackSort, Store, TagQuery,
};
use kiln_engine::{Action, EngineId, MemoryStore, StackId, State, Status};
use std::sync::Arc;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 += 1;
        (scatter(self.0) % limit as u64) as usize
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// The same call to both, answers compared. The arguments are evaluated twice.
macro_rules! same {
    ($test:expr, $twin:expr, $step:expr, $method:ident ( $($argument:expr),* )) => {{
        let ours = $test.store.$method($($argument),*).await.map_err(|error| error.to_string());
        let theirs = $twin.$method($($argument),*).await.map_err(|error| error.to_string());
        let same = format!("{ours:?}") == format!("{theirs:?}");
        assert!(same, "step {}: {}\n  {ours:?}\n  {theirs:?}", $step, stringify!($method));
        ours
    }};
}

struct Known {
    engines: Vec<EngineId>,
    stacks: Vec<StackRow>,
    leases: Vec<Lease>,
    numbers: u64,
}

pub(crate) async fn behaves_like_the_store_in_memory(test: TestStore) {
    let twin = MemoryStore::new();
    let mut dice = Dice(7);
    let engines = vec![test.engine(), test.engine(), test.engine()];
    let mut known = Known { engines, stacks: Vec::new(), leases: Vec::new(), numbers: 0 };
    for step in 0..250_i64 {
        let now = at(step);
        act(&test, &twin, &mut dice, &mut known, step).await;
        look(&test, &twin, &mut dice, &known, step).await;
        if step % 40 == 39 {
            let limit = dice.below(9) as u64;
            _ = same!(test, twin, step, prune_events(5, limit));
            // The encrypted rows are somewhat larger than those in memory.
            let keep = *dice.one_of(&[0, u64::MAX]);
            _ = same!(test, twin, step, prune_event_bytes(keep, limit));
            let project = dice.chance().then_some("p1");
            _ = same!(test, twin, step, purge(now, project, 2));
        }
    }
}

async fn act(test: &TestStore, twin: &dyn Store, dice: &mut Dice, known: &mut Known, step: i64) {
    let now = at(step);
    let engine = *dice.one_of(&known.engines);
    match dice.below(8) {
        0 => {
            let project = *dice.one_of(&["p1", "p2"]);
            let mut tree = test.tree(project, ["a", "b", "c", "d"][dice.below(4)]);
            tree.stack.summary.created = now;
            tree.owner = dice.chance().then(|| (engine, at(step + 20)));
            tree.contents = vec![text(["x", "y", "z"][dice.below(3)])];
            tree.recipe.contents = vec![tree.contents[0].hash];
            let (stack, owner) = (tree.stack.clone(), tree.owner);
            if same!(test, twin, step, create_tree(tree.clone())).is_ok() {
                let lease = owner.map(|(engine, until)| (stack.id, engine, until));
                known.leases.extend(lease.map(|(root, engine, until)| Lease {
                    root,
                    engine,
                    fence: 1,
                    until,
                }));
                known.stacks.push(stack);
            }
        }
        1 => {
            let limit = dice.below(3);
            let taken = same!(test, twin, step, claim(engine, now, at(step + 15), limit));
            known.leases.extend(taken.unwrap());
        }
        2 if !known.stacks.is_empty() => {
            let root = dice.one_of(&known.stacks).root;
            let taken = same!(test, twin, step, claim_tree(engine, root, now, at(step + 10)));
            known.leases.extend(taken.unwrap());
        }
        3 => _ = same!(test, twin, step, renew(engine, at(step + 12))),
        4 if !known.leases.is_empty() && dice.chance() => {
            let lease = *dice.one_of(&known.leases);
            _ = same!(test, twin, step, release(lease));
        }
        5 if !known.stacks.is_empty() => {
            let mut command = test.command(dice.one_of(&known.stacks).root);
            command.time = now;
            _ = same!(test, twin, step, submit(command.clone()));
        }
        _ if !known.leases.is_empty() => {
            let batches = [make_batch(test, twin, dice, known, step).await];
            let written = same!(test, twin, step, commit(&batches)).unwrap();
            if written == [true] {
                known.stacks.extend(batches[0].stacks.iter().cloned());
            }
        }
        _ => {}
    }
}

async fn make_batch(
    test: &TestStore,
    twin: &dyn Store,
    dice: &mut Dice,
    known: &mut Known,
    step: i64,
) -> Batch {
    // The latest leases are the likeliest to be current.
    let recent = known.leases.len().saturating_sub(4);
    let lease = *dice.one_of(&known.leases[recent..]);
    let mut batch = Batch { has_work: dice.chance(), ..batch(lease) };
    let Some(tree) = twin.load_tree(lease.root).await.unwrap() else { return batch };
    let mut stack = dice.one_of(&tree.stacks).clone();
    stack.summary.state =
        State::new(Action::Update, *dice.one_of(&[Status::Complete, Status::Failed]));
    stack.summary.updated = Some(at(step));
    stack.summary.tags =
        ["x", "y", "z"].into_iter().filter(|_| dice.chance()).map(Arc::from).collect();
    stack.summary.deleted = (dice.below(4) == 0).then(|| at(step));
    if dice.chance() {
        batch.stacks.push(test.nested(&stack, ["n1", "n2"][dice.below(2)]));
    }
    for _ in 0..dice.below(6) {
        known.numbers += 1;
        batch.resources.push(test.resource(&stack, known.numbers));
        batch.events.push(test.event(&stack, known.numbers));
    }
    for row in &tree.resources {
        if dice.below(5) == 0 {
            batch.dropped_resources.push(row.id);
        }
    }
    if dice.below(3) == 0 {
        let mut snapshot = test.snapshot(&stack, ["s1", "s2"][dice.below(2)]);
        snapshot.created = at(dice.below(50) as i64);
        known.numbers += 1;
        batch.resources.push(test.copy(&snapshot, known.numbers));
        batch.snapshots.push(snapshot);
    }
    for row in &tree.snapshots {
        if dice.below(4) == 0 {
            batch.dropped_snapshots.push(row.id);
        }
    }
    if dice.chance() {
        batch.done.extend(tree.commands.first().map(|command| command.id));
    }
    batch.stacks.push(stack);
    batch
}

async fn look(test: &TestStore, twin: &dyn Store, dice: &mut Dice, known: &Known, step: i64) {
    let Some(stack) = (!known.stacks.is_empty()).then(|| dice.one_of(&known.stacks)) else {
        return;
    };
    _ = same!(test, twin, step, load_tree(stack.root));
    _ = same!(test, twin, step, load_stacks(stack.root));
    let tree = twin.load_tree(stack.root).await.unwrap().unwrap_or_default();
    let names = tree.resources.iter().map(|row| row.summary.name.clone());
    let names: Vec<Arc<str>> = names.filter(|_| dice.chance()).chain(["none".into()]).collect();
    _ = same!(test, twin, step, resources_named(stack.root, &names));
    _ = same!(test, twin, step, lean_resources(stack.root));
    _ = same!(test, twin, step, last_events(&[stack.root]));
    for engine in &known.engines {
        _ = same!(test, twin, step, commands_for(*engine));
    }
    _ = same!(test, twin, step, stack(stack.id));
    _ = same!(test, twin, step, resources(&[stack.id]));
    let snapshots = same!(test, twin, step, snapshots(stack.id)).unwrap();
    if let Some(snapshot) = snapshots.first() {
        _ = same!(test, twin, step, snapshot(snapshot.id));
    }
    _ = same!(test, twin, step, recipe(stack.recipe));
    _ = same!(test, twin, step, stack_by_name(&stack.project, &stack.summary.name));
    for name in ["x", "y", "z"] {
        _ = same!(test, twin, step, content(text(name).hash));
    }
    let sorts = [StackSort::Name, StackSort::Status, StackSort::Created, StackSort::Updated];
    let tags = |dice: &mut Dice| {
        ["x", "y"].into_iter().filter(|_| dice.below(4) == 0).map(Arc::from).collect()
    };
    let query = StackQuery {
        project: (dice.below(3) == 0).then(|| "p1".into()),
        parent: (dice.below(5) == 0).then_some(stack.root),
        nested: dice.chance(),
        deleted: dice.chance(),
        filters: match dice.below(4) {
            0 => vec![(StackField::Name, vec!["a".into(), "n1".into()])],
            1 => vec![(StackField::Status, vec!["FAILED".into()])],
            _ => Vec::new(),
        },
        tags: TagQuery { all: tags(dice), any: tags(dice), not_all: tags(dice), none: Vec::new() },
        sort: sorts.into_iter().filter(|_| dice.below(3) == 0).collect(),
        descending: dice.chance(),
        marker: dice.chance().then_some(stack.id),
        limit: dice.chance().then_some(dice.below(5) as u64),
        with_bodies: dice.chance(),
    };
    _ = same!(test, twin, step, stacks(&query));
    _ = same!(test, twin, step, count_stacks(&query));
    let stacks: Vec<StackId> =
        known.stacks.iter().map(|stack| stack.id).filter(|_| dice.below(3) == 0).collect();
    let (descending, limit) = (dice.chance(), Some(20));
    let events = EventQuery { stacks, filters: Vec::new(), descending, marker: None, limit };
    let page = same!(test, twin, step, events(&events)).unwrap();
    if let Some(event) = page.first() {
        _ = same!(test, twin, step, event(event.id));
        let next = EventQuery { marker: Some(event.id), ..events };
        _ = same!(test, twin, step, events(&next));
    }
}
