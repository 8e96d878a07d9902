//! `xtask bench engine`: stacks of trivial resources on a durable store, from the request until the engine is idle.

use crate::bench::{context, milliseconds};
use kiln_cloud::{NoCloud, Transport};
use kiln_engine::{
    Command, Config, Engine, EngineSettings as Pace, Ids, NewStack, Recipe, RecipeId, Rules,
    Service, Source, StackId, StackSettings, Status, SystemIds,
};
use kiln_resources::constraints::offline;
use kiln_store::SqlStore;
use kiln_template::Sources;
use kiln_template::validate::{Input, validate};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The engine under test.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    store: Arc<SqlStore>,
    folder: PathBuf,
    chance: SystemIds,
    pub(crate) root: StackId,
    /// The options of new stacks.
    pub(crate) settings: StackSettings,
    commands: u64,
}

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(all(out))
}

async fn all(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nengine: trivial resources on SQLite, durable, from the request until idle")?;
    writeln!(
        out,
        "{:<32} {:>10} {:>10} {:>12} {:>9} {:>8}",
        "", "resources", "ms", "resources/s", "us each", "commits"
    )?;
    let mut bench = Bench::new().await?;
    let (time, commits) = bench.timed_create(&template(1_000, false, "x"), &[]).await?;
    row(out, "flat, create, just started", 1_000, time, commits)?;
    bench.shut_down().await?;
    let mut creates = Vec::new();
    for (count, rounds) in [(1_000, 31), (10_000, 9), (100_000, 3)] {
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(flat(count).await?);
        }
        for (at, what) in OPERATIONS.into_iter().enumerate() {
            let mut times: Vec<_> = all.iter().map(|stages| stages[at]).collect();
            times.sort();
            let (time, commits) = times[rounds / 2];
            row(out, &format!("flat, {what}"), count, time, commits)?;
            if at == 0 {
                creates.push(time.as_secs_f64() / count as f64);
            }
        }
    }
    let growth = |at: usize| (creates[at] / creates[0] - 1.0) * 100.0;
    writeln!(
        out,
        "flat, create: medians of several; each resource {:+.0} % with 10,000, {:+.0} % with 100,000",
        growth(1),
        growth(2)
    )?;
    let chain = template(1_000, true, "x");
    one(out, "chain of 1,000", 1_000, &chain, &[]).await?;
    let (root, child) = cern();
    one(out, "1,000 stacks of 21", 22_000, &root, &[("child.yaml", &child)]).await
}

/// The operations on a flat stack, in order.
const OPERATIONS: [&str; 4] = ["create", "update, no change", "update, one change", "delete"];

async fn flat(count: usize) -> io::Result<[(Duration, u64); 4]> {
    let first = template(count, false, "x");
    let mut bench = Bench::new().await?;
    bench.warm_up().await?;
    let create = bench.timed_create(&first, &[]).await?;
    let same = bench.timed_update(&first).await?;
    let other = bench.timed_update(&first.replacen(": x", ": other", 1)).await?;
    Ok([create, same, other, bench.timed_delete().await?])
}

async fn one(
    out: &mut dyn Write,
    what: &str,
    count: usize,
    root: &str,
    files: &[(&str, &str)],
) -> io::Result<()> {
    let mut bench = Bench::new().await?;
    let (time, commits) = bench.timed_create(root, files).await?;
    row(out, &format!("{what}, create"), count, time, commits)?;
    let (time, commits) = bench.timed_delete().await?;
    row(out, &format!("{what}, delete"), count, time, commits)
}

fn row(
    out: &mut dyn Write,
    what: &str,
    count: usize,
    time: Duration,
    commits: u64,
) -> io::Result<()> {
    let seconds = time.as_secs_f64();
    writeln!(
        out,
        "{what:<32} {count:>10} {:>10.1} {:>12.0} {:>9.2} {commits:>8}",
        milliseconds(time),
        count as f64 / seconds,
        seconds * 1e6 / count as f64,
    )
}

/// Builds a template of values, independent or chained.
fn template(count: usize, is_chain: bool, value: &str) -> String {
    let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for n in 0..count {
        _ = write!(
            text,
            "  r{n}:\n    type: OS::Heat::Value\n    properties:\n      value: {value}\n"
        );
        if is_chain && n > 0 {
            _ = writeln!(text, "    depends_on: r{}", n - 1);
        }
    }
    text
}

/// Builds a group of stacks with 21 resources each.
fn cern() -> (String, String) {
    let mut root = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for n in 0..1_000 {
        _ = writeln!(root, "  n{n}: {{type: child.yaml, properties: {{size: {n}}}}}");
    }
    let mut child = String::from(
        "heat_template_version: 2021-04-16\nparameters:\n  size: {type: number}\nresources:\n",
    );
    for n in 0..21 {
        _ = writeln!(
            child,
            "  r{n}: {{type: OS::Heat::Value, properties: {{value: {{get_param: size}}}}}}"
        );
    }
    (root, child)
}

impl Bench {
    async fn new() -> io::Result<Bench> {
        Bench::with(Arc::new(NoCloud)).await
    }

    pub(crate) async fn with(transport: Arc<dyn Transport>) -> io::Result<Bench> {
        // Every run has its own directory, so that the end of one does not meet the beginning of the next.
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = format!("kiln-bench-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder)?;
        let url = format!("sqlite://{}/kiln.db", folder.display());
        let store = SqlStore::open(&url, &folder.join("keys")).await.map_err(io::Error::other)?;
        let store = Arc::new(store);
        let config = Config { max_resources: None, ..Config::default() };
        let engine = Engine::start(
            Arc::new(config),
            store.clone(),
            transport,
            Pace {
                lease_duration: Duration::from_secs(600),
                // A tree of 100,000 resources stays in memory between two commands, as it did before there was a limit.
                max_idle_bytes: usize::MAX,
                ..Pace::default()
            },
        );
        let mut chance = SystemIds::default();
        let root = StackId(chance.next());
        let settings = StackSettings::default();
        Ok(Bench { engine, store, folder, chance, root, settings, commands: 0 })
    }

    fn recipe(&mut self, template: &str, files: &[(&str, &str)]) -> Arc<Recipe> {
        let files = files.iter().map(|(name, text)| ((*name).into(), (*text).into()));
        Arc::new(Recipe {
            id: RecipeId(self.chance.next()),
            template: Source::Text(template.into()),
            files: Arc::new(files.collect()),
            environment: Arc::default(),
            parameters: Arc::default(),
            aliases: Vec::new(),
            forbidden: Default::default(),
            contract: None,
            created_by: Default::default(),
        })
    }

    pub(crate) async fn timed_create(
        &mut self,
        template: &str,
        files: &[(&str, &str)],
    ) -> io::Result<(Duration, u64)> {
        let before = self.store.commits();
        let start = Instant::now();
        check(template, files)?;
        self.create(template, files).await?;
        self.wait_until_idle().await?;
        Ok((start.elapsed(), self.store.commits() - before))
    }

    /// Creates a stack once, because a server that has just started opens connections and prepares its statements,
    /// for one row and for a hundred.
    async fn warm_up(&mut self) -> io::Result<()> {
        let id = StackId(self.chance.next());
        self.create_as(id, "first", &template(1_000, false, "x"), &[]).await?;
        _ = self.engine.wait_until_idle(id, 0).await;
        Ok(())
    }

    /// Starts the creation of a stack.
    pub(crate) async fn create(
        &mut self,
        template: &str,
        files: &[(&str, &str)],
    ) -> io::Result<()> {
        self.create_as(self.root, "bench", template, files).await
    }

    async fn create_as(
        &mut self,
        id: StackId,
        name: &str,
        template: &str,
        files: &[(&str, &str)],
    ) -> io::Result<()> {
        let recipe = self.recipe(template, files);
        let new = NewStack {
            id,
            name: name.into(),
            project: "project".into(),
            user_name: "user".into(),
            recipe,
            settings: self.settings.clone(),
            adopted: None,
            makers: 0,
            request: None,
        };
        self.engine.create(new, None).await.map_err(io::Error::other)
    }

    async fn timed_update(&mut self, template: &str) -> io::Result<(Duration, u64)> {
        let recipe = self.recipe(template, &[]);
        let before = self.store.commits();
        let start = Instant::now();
        check(template, &[])?;
        self.command(Command::Update { recipe, settings: StackSettings::default() }).await?;
        Ok((start.elapsed(), self.store.commits() - before))
    }

    pub(crate) async fn timed_delete(&mut self) -> io::Result<(Duration, u64)> {
        let before = self.store.commits();
        let start = Instant::now();
        self.command(Command::Delete).await?;
        let result = (start.elapsed(), self.store.commits() - before);
        self.shut_down().await?;
        Ok(result)
    }

    /// Stops the engine and removes its files.
    pub(crate) async fn shut_down(&self) -> io::Result<()> {
        self.engine.stop().await;
        self.store.close().await;
        std::fs::remove_dir_all(&self.folder)
    }

    async fn command(&mut self, command: Command) -> io::Result<()> {
        self.commands += 1;
        self.engine.command(self.root, command).await.map_err(io::Error::other)?;
        self.wait_until_idle().await
    }

    /// Returns the service on the same store.
    pub(crate) fn service(&self) -> Service {
        let (store, engine) = (self.store.clone(), Some(self.engine.clone()));
        Service::new(store, Arc::default(), Rules::default(), Arc::new(NoCloud), engine)
    }

    /// Returns the number of durable transactions.
    pub(crate) fn commits(&self) -> u64 {
        self.store.commits()
    }

    /// Counts a command that another component issued.
    pub(crate) fn count(&mut self) {
        self.commands += 1;
    }

    /// Waits until the engine is idle.
    pub(crate) async fn wait_until_idle(&self) -> io::Result<()> {
        match self.engine.wait_until_idle(self.root, self.commands).await {
            Some(glance) if glance.state.status == Status::Complete => Ok(()),
            Some(glance) => Err(io::Error::other(format!("{}: {}", glance.state, glance.reason))),
            None => Err(io::Error::other("the tree is not there")),
        }
    }
}

/// Validates a template as the service does before accepting it.
fn check(template: &str, files: &[(&str, &str)]) -> io::Result<()> {
    let custom = offline(0);
    let mut sources = Sources::new();
    let file = sources.add("bench.yaml", template);
    let mut input = Input::new(file);
    let files = files.iter().map(|(name, text)| ((*name).into(), (*text).into()));
    input.files = Arc::new(files.collect());
    let report = validate(&context(&custom), &mut sources, input);
    match report.diagnostics.iter().find(|found| found.is_error()) {
        Some(found) => Err(io::Error::other(found.text())),
        None => Ok(()),
    }
}
