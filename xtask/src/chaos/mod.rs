//! `xtask chaos`: the real programs under faults, with a workload of all kinds, and the books checked at the end.
//!
//! Two API processes and three engines share a database, and a simulated cloud that outlives them. What is done and what goes
//! wrong is drawn from a seed; what happens in between is up to the machine, so that a seed makes the same choices and
//! not the same run.

mod api;
mod books;
#[allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    reason = "the harness of the tests stops where it cannot go on"
)]
#[path = "../../../crates/bus/tests/broker.rs"]
mod broker;
mod cloud;
mod database;
mod experiment;
mod faults;
mod ledger;
mod link;
mod options;
mod person;
mod random;
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the harness of the tests stops where it cannot go on"
)]
#[path = "../../../crates/store/tests/servers.rs"]
mod servers;
mod site;
mod stack;
mod templates;

pub(crate) use cloud::serve as serve_cloud;

use cloud::CloudUser;
use experiment::{Experiment, Steward};
use ledger::Ledger;
use options::{DatabaseKind, Options, USAGE};
use site::{Foundation, Site};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Runs chaos on each of the chosen databases, and says what was found.
pub(crate) fn run(arguments: &[String]) -> Result<String, String> {
    if arguments.iter().any(|argument| argument == "--help") {
        return Ok(USAGE.to_owned());
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let options = Options::parse(arguments, since.as_secs())?;
    let mut violations = 0;
    for kind in &options.databases {
        let found = run_on(*kind, &options).map_err(|error| format!("{}: {error}", kind.name()))?;
        violations += found;
    }
    match violations {
        0 => Ok("chaos: no violations".to_owned()),
        count => Err(format!("chaos: {count} violations")),
    }
}

/// Runs chaos on a database, prints its figures, and returns the number of violations.
fn run_on(kind: DatabaseKind, options: &Options) -> io::Result<usize> {
    let name = format!("kiln-chaos-{}-{}", kind.name(), std::process::id());
    let directory = std::env::temp_dir().join(name);
    println!(
        "chaos on {}: {:?}, seed {}, logs in {}",
        kind.name(),
        options.time,
        options.seed,
        directory.display()
    );
    let foundation = Foundation::lay(kind, options, directory.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let began = Instant::now();
    let experiment = runtime.block_on(play(foundation, options))?;
    let took = began.elapsed();
    let violations = experiment.ledger.violations();
    println!("{}", report(&experiment, &format!("{}, {:.0} s", kind.name(), took.as_secs_f64())));
    // The servers end before their directory goes.
    drop(experiment);
    drop(runtime);
    tidy_up(directory, options.keep || !violations.is_empty())?;
    Ok(violations.len())
}

fn tidy_up(directory: PathBuf, stays: bool) -> io::Result<()> {
    if stays {
        println!("The logs are in {}.", directory.display());
        return Ok(());
    }
    std::fs::remove_dir_all(directory)
}

async fn play(foundation: Foundation, options: &Options) -> io::Result<Arc<Experiment>> {
    let site = Site::start(foundation).await?;
    let admin = CloudUser::log_in(&site.cloud.address, "admin").await?;
    let demo = CloudUser::log_in(&site.cloud.address, "demo").await?;
    books::add_foreign_objects(&demo).await?;
    let before = admin.objects().await?;
    let experiment = Arc::new(Experiment {
        options: options.clone(),
        site,
        ledger: Ledger::new(),
        admin,
        demo,
        before,
        steward: Steward::hire(),
        is_over: AtomicBool::new(false),
    });
    let foreign = books::foreign_objects(&experiment).await?;
    let mut people = tokio::task::JoinSet::new();
    for number in 1..=options.people {
        people.spawn(person::work(experiment.clone(), number));
    }
    faults::strike(experiment.clone(), options.time).await;
    // Everything is well again, and everybody ends what they do.
    experiment.is_over.store(true, Ordering::SeqCst);
    restore(&experiment)?;
    let mut stacks = Vec::new();
    while let Some(done) = people.join_next().await {
        match done {
            Ok(Ok(stack)) => stacks.extend(stack),
            Ok(Err(error)) => experiment.ledger.violated("harness", error, Vec::new()),
            Err(error) => experiment.ledger.violated("harness", error.to_string(), Vec::new()),
        }
    }
    for stack in &mut stacks {
        // What is wrong with it is in the ledger.
        _ = stack.rest_again().await;
    }
    books::compare(&experiment).await?;
    books::clear(&experiment, stacks).await?;
    if books::foreign_objects(&experiment).await? != foreign {
        experiment.ledger.violated("foreign object touched", foreign.to_string(), Vec::new());
    }
    Ok(experiment)
}

/// Starts processes that have ended by themselves, which none may, and replaces those whose clocks are wrong.
fn restore(experiment: &Experiment) -> io::Result<()> {
    for member in &experiment.site.members {
        if let Some(status) = member.ended() {
            let what = format!("{} ended by itself: {status}", member.name);
            experiment.ledger.violated("process ended", what, Vec::new());
        }
        member.links.iter().for_each(|(_, link)| link.heal());
        if member.is_engine {
            experiment.site.replace(member, 0)?;
        }
    }
    Ok(())
}

/// The figures of a run, and its violations with the lines of the logs.
fn report(experiment: &Experiment, title: &str) -> String {
    let mut text = format!("\n{title}, seed {}\n", experiment.options.seed);
    for (what, count) in experiment.ledger.table() {
        _ = writeln!(text, "  {what:<44} {count:>10}");
    }
    let violations = experiment.ledger.violations();
    _ = writeln!(text, "  {:<44} {:>10}", "violations", violations.len());
    for violation in violations {
        let after = violation.after.as_secs_f64();
        _ = writeln!(text, "\n{} after {after:.1} s: {}", violation.kind, violation.what);
        for line in violation.lines {
            _ = writeln!(text, "    {line}");
        }
    }
    text
}
