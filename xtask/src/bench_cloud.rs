//! `xtask bench cloud`: stacks on a cloud with latency.

use crate::bench::milliseconds;
use crate::bench_engine::Bench;
use kiln_cloud::{Call, CallError, Credential, Method, Reply, Transport};
use kiln_engine::Command;
use kiln_resources::behaviour::OperationKind;
use kiln_resources::op::{Answer, Context, Demand, OpPoll, RunningOperation};
use kiln_resources::registry::Registry;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The latency of the cloud.
const LATENCY: Duration = Duration::from_millis(150);
const LAYERS: usize = 10;
const WIDTH: usize = 100;
const ROUNDS: usize = 5;

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(out, "\ncloud: {} ms latency per call", LATENCY.as_millis())?;
    runtime.block_on(makespan(out))?;
    runtime.block_on(cancel(out))?;
    polls(out)
}

/// A cloud that creates volumes, with the same latency for any number of calls.
#[derive(Default)]
struct SlowCloud {
    made: AtomicU64,
    calls: AtomicU64,
}

#[async_trait::async_trait]
impl Transport for SlowCloud {
    async fn send(&self, _by: &Credential, call: Call) -> Result<Reply, CallError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(LATENCY).await;
        let id = match call.request.method {
            Method::Post => format!("volume-{}", self.made.fetch_add(1, Ordering::Relaxed)),
            _ => call.request.path.checked()?.rsplit('/').next().unwrap_or_default().to_owned(),
        };
        let body = json!({ "volume": { "id": id, "status": "available" } });
        Ok(Reply::new(200, body))
    }
}

/// Builds ten layers of a hundred volumes, each of which depends on one in the previous layer.
fn layers() -> String {
    let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for layer in 0..LAYERS {
        for n in 0..WIDTH {
            _ = write!(text, "  n{layer}_{n}: {{type: OS::Cinder::Volume, properties: {{size: 1}}");
            _ = match layer {
                0 => writeln!(text, "}}"),
                _ => writeln!(text, ", depends_on: n{}_{}}}", layer - 1, (n * 7) % WIDTH),
            };
        }
    }
    text
}

async fn makespan(out: &mut dyn Write) -> io::Result<()> {
    let text = layers();
    let (mut rounds, mut calls) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let cloud = Arc::new(SlowCloud::default());
        let mut bench = Bench::with(cloud.clone()).await?;
        rounds.push(bench.timed_create(&text, &[]).await?);
        calls = cloud.calls.load(Ordering::Relaxed);
        bench.shut_down().await?;
    }
    // Every volume makes its calls in sequence, and every layer waits for the previous one.
    let each = calls as f64 / (LAYERS * WIDTH) as f64;
    let ideal = LATENCY.mul_f64(each * LAYERS as f64);
    let over = |time: Duration| (time.as_secs_f64() / ideal.as_secs_f64() - 1.0) * 100.0;
    rounds.sort();
    let (best, middle) = (rounds[0], rounds[ROUNDS / 2]);
    writeln!(
        out,
        "  {} volumes in {LAYERS} layers of {each} calls each, critical path {:.0} ms: best {:.0} ms \
         ({:+.1} %, {} commits), median {:.0} ms ({:+.1} %)",
        LAYERS * WIDTH,
        milliseconds(ideal),
        milliseconds(best.0),
        over(best.0),
        best.1,
        milliseconds(middle.0),
        over(middle.0),
    )
}

/// Measures the time from a cancel request until the stack is idle, with a hundred calls in flight.
async fn cancel(out: &mut dyn Write) -> io::Result<()> {
    let mut bench = Bench::with(Arc::new(SlowCloud::default())).await?;
    bench.create(&layers(), &[]).await?;
    // This is in the middle of the calls of the third layer, which are waited for.
    tokio::time::sleep(LATENCY * 4 + LATENCY / 3).await;
    let begun = Instant::now();
    let wish = Command::Cancel { with_rollback: false };
    bench.engine.command(bench.root, wish).await.map_err(io::Error::other)?;
    let rest = bench.engine.wait_until_idle(bench.root, 1).await;
    let rest = rest.ok_or_else(|| io::Error::other("the tree is not there"))?;
    let time = milliseconds(begun.elapsed());
    bench.shut_down().await?;
    writeln!(out, "  a cancelled create is idle after {time:.0} ms: {}", rest.state)
}

/// Counts the polls of an object that takes half a minute, and measures how late its completion is noticed.
fn polls(out: &mut dyn Write) -> io::Result<()> {
    const BUILD_MICROS: i64 = 30_000_000;
    let kind = Registry::builtin().get("OS::Cinder::Volume");
    let kind = kind.ok_or_else(|| io::Error::other("there are no volumes"))?;
    let context = Context { physical_name: "volume".into(), ..Context::default() };
    let mut running = RunningOperation::new(kind, OperationKind::Create, context);
    let (mut now, mut answer, mut looks) = (0, None, 0);
    let call_takes = LATENCY.as_micros() as i64;
    loop {
        let demand = match running.poll(now, answer).0 {
            OpPoll::Demands(demand) => demand,
            OpPoll::Finished(Ok(())) => break,
            OpPoll::Finished(Err(stop)) => return Err(io::Error::other(format!("{stop:?}"))),
        };
        let reply = |status: &str| {
            let body = json!({ "volume": { "id": "volume-1", "status": status } });
            Some(Answer::Reply(Ok(Reply::new(200, body))))
        };
        answer = match demand {
            Demand::Call { .. } => {
                now += call_takes;
                reply("creating")
            }
            Demand::Read(_) => {
                (looks, now) = (looks + 1, now + call_takes);
                reply(if now < BUILD_MICROS { "creating" } else { "available" })
            }
            Demand::Until(then) => {
                now = then;
                Some(Answer::Woken)
            }
            other => return Err(io::Error::other(format!("nobody fulfils {other:?}"))),
        };
    }
    let late = (now - BUILD_MICROS) as f64 / 1e6;
    writeln!(
        out,
        "  an object that takes 30 s is looked at {looks} times, and ready {late:.1} s late"
    )
}
