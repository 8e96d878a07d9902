//! What goes wrong, and when: drawn from the seed.

use super::experiment::Experiment;
use super::options::Fault;
use super::random::Random;
use super::site::{LEASE, Member, QUIET, Site};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The pause between two faults, in milliseconds.
const PAUSE: std::ops::Range<u64> = 500..2500;

/// How often each fault is chosen, as a weight, and how long it is not chosen again.
const FREQUENCIES: [(Fault, u64, Duration); 8] = [
    (Fault::Kill, 10, Duration::ZERO),
    (Fault::Pause, 3, Duration::from_secs(5)),
    (Fault::Clock, 2, Duration::from_secs(5)),
    (Fault::Database, 1, Duration::from_secs(25)),
    (Fault::Broker, 1, Duration::from_secs(40)),
    (Fault::Cloud, 2, Duration::from_secs(30)),
    (Fault::Network, 3, Duration::from_secs(5)),
    (Fault::Disk, 1, Duration::from_secs(30)),
];

/// Has things go wrong until the time is over, and waits until all of that has ended.
pub(super) async fn strike(experiment: Arc<Experiment>, time: Duration) {
    let mut random = Random::new(experiment.options.seed, usize::MAX);
    let end = Instant::now() + time;
    let mut not_before = FREQUENCIES.map(|_| Instant::now());
    let mut under_way = tokio::task::JoinSet::new();
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(random.between(PAUSE.start, PAUSE.end))).await;
        let now = Instant::now();
        let mut due = Vec::new();
        for (at, (fault, weight, _)) in FREQUENCIES.iter().enumerate() {
            if experiment.options.faults.contains(fault)
                && not_before[at] <= now
                && applies(&experiment, *fault)
            {
                due.extend((0..*weight).map(|_| at));
            }
        }
        let Some(at) = random.pick(&due).copied() else { continue };
        let (fault, _, rest) = FREQUENCIES[at];
        not_before[at] = now + rest;
        let random = Random::new(random.between(0, u64::MAX), 0);
        let experiment = experiment.clone();
        under_way.spawn(async move {
            if let Err(error) = cause(&experiment, fault, random).await {
                experiment.ledger.violated(
                    "harness",
                    format!("{}: {error}", fault.name()),
                    Vec::new(),
                );
            }
        });
    }
    while under_way.join_next().await.is_some() {}
}

/// Whether a fault can be caused at this site.
fn applies(experiment: &Experiment, fault: Fault) -> bool {
    match fault {
        // The clock of SQLite is that of the process, and all processes are on one machine.
        Fault::Clock => Site::can_set_clocks() && !experiment.is_sqlite(),
        Fault::Broker => experiment.site.broker.is_some(),
        Fault::Database => !experiment.is_sqlite(),
        Fault::Disk => experiment.site.small_disk.is_some(),
        _ => true,
    }
}

async fn cause(
    experiment: &Arc<Experiment>,
    fault: Fault,
    mut random: Random,
) -> std::io::Result<()> {
    let engines: Vec<&Member> = experiment.site.members.iter().filter(|it| it.is_engine).collect();
    let Some(engine) = random.pick(&engines) else { return Ok(()) };
    let Some(member) = random.pick(&experiment.site.members) else { return Ok(()) };
    let struck = |what: &str| experiment.ledger.struck(format!("{} {what}", fault.name()));
    match fault {
        Fault::Kill => {
            // Engines are killed more often than APIs.
            let member = if random.percent(75) { engine } else { member };
            struck(if member.is_engine { "engine" } else { "api" });
            experiment.site.replace(member, 0)
        }
        Fault::Pause => {
            // An API that stands still for long is one that no balancer would ask.
            let pause = match member.is_engine {
                true => {
                    LEASE.mul_f64(random.between(12, 40) as f64 / 10.0)
                        + QUIET * u32::from(random.percent(30))
                }
                false => Duration::from_millis(random.between(500, 4000)),
            };
            struck(if member.is_engine { "engine" } else { "api" });
            member.signal(Signal::STOP);
            tokio::time::sleep(pause).await;
            member.signal(Signal::CONT);
            Ok(())
        }
        Fault::Clock => {
            let hours = if random.percent(50) { 1 } else { -1 };
            struck(&format!("{hours:+} h"));
            experiment.site.replace(engine, hours)
        }
        Fault::Database => {
            struck("restarted");
            let shared = experiment.clone();
            let restart = move || {
                let mut database =
                    shared.site.database.lock().unwrap_or_else(PoisonError::into_inner);
                database.restart();
            };
            experiment.steward.run(restart).await
        }
        Fault::Broker => {
            struck("restarted");
            let shared = experiment.clone();
            let restart = move || {
                let Some(broker) = &shared.site.broker else { return };
                let mut broker = broker.lock().unwrap_or_else(PoisonError::into_inner);
                broker.stop();
                broker.start_again();
            };
            experiment.steward.run(restart).await
        }
        Fault::Cloud => {
            struck("bad for a while");
            experiment.ledger.cloud_is_bad();
            experiment.admin.set_faults(&bad_cloud()).await?;
            tokio::time::sleep(Duration::from_secs(random.between(5, 15))).await;
            experiment.admin.set_faults(&json!([])).await?;
            // What was sent before may still fail.
            tokio::time::sleep(QUIET).await;
            experiment.ledger.cloud_is_well();
            Ok(())
        }
        Fault::Network => {
            let Some((name, link)) = random.pick(&member.links) else { return Ok(()) };
            let kind = if member.is_engine { "engine" } else { "api" };
            struck(&format!("{kind} and {name}"));
            // Calls that wait in a link are carried out late.
            let longest = if *name == "cloud" { QUIET.mul_f64(0.8) } else { LEASE * 3 };
            let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
            link.cut(Duration::from_millis(random.between(500, longest))).await;
            Ok(())
        }
        Fault::Disk => {
            let Some(disk) = experiment.site.small_disk.clone() else { return Ok(()) };
            struck("full for a while");
            let time = Duration::from_millis(random.between(1000, 5000));
            let filled = tokio::task::spawn_blocking(move || fill(&disk.0).map(|()| disk));
            let disk = filled.await.map_err(std::io::Error::other)??;
            tokio::time::sleep(time).await;
            std::fs::remove_file(disk.0.join("filling"))
        }
    }
}

/// Fills a small disk.
fn fill(directory: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::create(directory.join("filling"))?;
    let block = vec![1; 64 << 10];
    while file.write_all(&block).is_ok() {}
    Ok(())
}

/// A cloud in which every twentieth call or so goes wrong, in each of the usual ways.
fn bad_cloud() -> Value {
    let mut rules = Vec::new();
    for service in ["network", "compute", "volume"] {
        let mut add = |rate: f64, kind: Value| {
            rules.push(json!({ "service": service, "when": { "rate": rate }, "kind": kind }));
        };
        add(0.02, json!({ "status": 500 }));
        add(0.02, json!({ "status": 429 }));
        add(0.04, json!({ "status": 503 }));
        add(0.03, json!("lost"));
        add(0.02, json!("dropped"));
        add(0.02, json!("garbage"));
        add(0.02, json!({ "late": 2000 }));
        add(0.02, json!({ "slow": 1500 }));
    }
    Value::from(rules)
}
