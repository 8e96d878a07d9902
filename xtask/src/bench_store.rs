//! `xtask bench store`: writing and reading the rows of a large stack on SQLite.
//!
//! The file is created on the disk of the current directory, because a directory in memory would not measure
//! durability.

use kiln_engine::store::{
    Batch, EventQuery, EventRow, NewTree, RecipeRow, ResourceRow, StackRow, Store,
};
use kiln_engine::{
    Action, EngineId, EventId, PhysicalId, RecipeId, ResourceId, ResourceSummary, StackId,
    StackSummary, State, Status, Time,
};
use kiln_store::SqlStore;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use uuid::Uuid;

const RESOURCES: u64 = 100_000;
const BATCH_SIZE: u64 = 5_000;
const STATE: State = State::new(Action::Create, Status::Complete);
const NOW: Time = Time::from_micros(1_800_000_000_000_000);

/// Writes 100,000 resources and 200,000 events in batches of 5,000 resources.
pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let folder = Folder::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&folder.0, out))
}

/// A directory that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        let path = std::env::current_dir()?.join(format!(".bench-store-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn measure(folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let url = format!("sqlite://{}/kiln.db", folder.display());
    let store = SqlStore::open(&url, &folder.join("keys")).await.map_err(io::Error::other)?;
    let stack = make_tree(&store).await?;
    let before = store.commits();
    let (mut spent, mut first) = (Duration::ZERO, 1);
    while first <= RESOURCES {
        let batch = make_batch(&stack, first);
        let start = Instant::now();
        let written = store.commit(&[batch]).await.map_err(io::Error::other)?;
        spent += start.elapsed();
        if written != [true] {
            return Err(io::Error::other("the store refused a batch"));
        }
        first += BATCH_SIZE;
    }
    let commits = store.commits() - before;
    let start = Instant::now();
    let tree = store.load_tree(stack.id).await.map_err(io::Error::other)?;
    let loading = start.elapsed();
    let start = Instant::now();
    let query = EventQuery {
        stacks: vec![stack.id],
        filters: Vec::new(),
        descending: true,
        marker: None,
        limit: Some(1000),
    };
    let page = store.events(&query).await.map_err(io::Error::other)?.len();
    let listing = start.elapsed();
    let one = one_row(&store, &stack).await?;
    store.close().await;
    let size = std::fs::metadata(folder.join("kiln.db"))?.len();
    let rows = RESOURCES * 3;
    let loaded = tree.map_or(0, |tree| tree.resources.len());
    writeln!(out, "\nstore: {RESOURCES} resources and twice as many events on SQLite")?;
    writeln!(
        out,
        "  {rows} rows in {:.2} s: {:.0} rows/s, {commits} durable transactions, {:.0} MB",
        spent.as_secs_f64(),
        rows as f64 / spent.as_secs_f64(),
        size as f64 / 1e6
    )?;
    writeln!(out, "  a transaction with one row: {:.2} ms", one.as_secs_f64() * 1e3)?;
    writeln!(out, "  the tree with {loaded} resources loaded in {:.2} s", loading.as_secs_f64())?;
    writeln!(out, "  a page of {page} events in {:.1} ms", listing.as_secs_f64() * 1e3)
}

/// Measures a small transaction: the median of many.
async fn one_row(store: &SqlStore, stack: &StackRow) -> io::Result<Duration> {
    let mut times = Vec::new();
    for number in 0..100 {
        let mut batch = make_batch(stack, RESOURCES + number);
        batch.resources.truncate(1);
        batch.events.clear();
        let start = Instant::now();
        store.commit(&[batch]).await.map_err(io::Error::other)?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times.get(50).copied().unwrap_or_default())
}

async fn make_tree(store: &SqlStore) -> io::Result<StackRow> {
    let (id, recipe) = (StackId(id(1, 0)), RecipeId(id(2, 0)));
    let stack = StackRow {
        id,
        root: id,
        parent: None,
        project: "3f5c8d0e9b2a4f7c8e1d6a5b4c3d2e1f".into(),
        user_name: "demo".into(),
        summary: StackSummary {
            reason: "Stack CREATE started".into(),
            ..StackSummary::new("bench".into(), STATE, NOW)
        },
        recipe,
        previous: None,
        body: Vec::new(),
    };
    let recipe = RecipeRow { id: recipe, root: id, contents: Vec::new(), body: Vec::new() };
    let owner = Some((EngineId(self::id(3, 0)), Time::NEVER));
    let stack_row = stack.clone();
    let tree = NewTree {
        stack,
        recipe,
        contents: Vec::new(),
        events: Vec::new(),
        owner,
        max_stacks: None,
    };
    store.create_tree(tree).await.map_err(io::Error::other)?;
    Ok(stack_row)
}

fn make_batch(stack: &StackRow, first: u64) -> Batch {
    let numbers = first..first + BATCH_SIZE;
    Batch {
        root: stack.id,
        fence: 1,
        contents: Vec::new(),
        recipes: Vec::new(),
        dropped_recipes: Vec::new(),
        stacks: vec![stack.clone()],
        resources: numbers.clone().map(|number| resource(stack, number)).collect(),
        dropped_resources: Vec::new(),
        snapshots: Vec::new(),
        dropped_snapshots: Vec::new(),
        events: numbers
            .flat_map(|number| [2 * number, 2 * number + 1])
            .map(|n| event(stack, n))
            .collect(),
        done: Vec::new(),
        has_work: true,
    }
}

fn resource(stack: &StackRow, number: u64) -> ResourceRow {
    ResourceRow {
        id: ResourceId(id(4, number)),
        stack: stack.id,
        root: stack.root,
        number,
        summary: ResourceSummary {
            name: format!("server_{number}").into(),
            type_name: "OS::Nova::Server".into(),
            state: STATE,
            reason: "state changed".into(),
            physical_id: Some(PhysicalId::new(id(5, number).to_string())),
            created: NOW,
            updated: NOW,
        },
        body: vec![b'x'; 400],
    }
}

fn event(stack: &StackRow, number: u64) -> EventRow {
    EventRow {
        id: EventId(id(6, number)),
        stack: stack.id,
        root: stack.root,
        number,
        time: NOW,
        resource: format!("server_{}", number / 2).into(),
        kind: "OS::Nova::Server".into(),
        physical_id: id(5, number / 2).to_string().into(),
        state: STATE,
        reason: "state changed".into(),
        body: Vec::new(),
    }
}

/// Returns an id that looks random.
fn id(kind: u64, number: u64) -> Uuid {
    let mix = |seed: u64| {
        let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 27)
    };
    Uuid::from_u64_pair(mix(kind << 40 | number), mix(kind << 41 | number | 1 << 60))
}
