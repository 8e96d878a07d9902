//! `xtask bench signals`: what a signal costs after few and after many others.

use crate::bench::milliseconds;
use crate::bench_service::{Caller, Kiln};
use serde_json::json;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How many signals a handle gets.
const SIGNALS: usize = 1000;

/// How many signals a figure is the median of.
const WINDOW: usize = 20;

const TEMPLATE: &str = "
heat_template_version: 2021-04-16
resources:
  h: {type: OS::Heat::WaitConditionHandle}
  w: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: h}, timeout: 3600, count: 100000}}
";

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let Some(kiln) = Kiln::start()? else {
        return writeln!(
            out,
            "\nsignals: left out: build the service first (cargo build --release -p kiln)"
        );
    };
    let times = runtime.block_on(signals(&kiln))?;
    let median = |around: usize| {
        let first = around.saturating_sub(WINDOW / 2).min(times.len().saturating_sub(WINDOW));
        let mut window = times[first..first + WINDOW].to_vec();
        window.sort();
        milliseconds(window[WINDOW / 2])
    };
    writeln!(
        out,
        "\nsignals: to one handle, one after the other, ms until accepted: the 10th {:.2}, the 100th {:.2}, the 1000th {:.2}",
        median(10),
        median(100),
        median(SIGNALS)
    )
}

/// Sends all signals, and returns how long each took.
async fn signals(kiln: &Kiln) -> io::Result<Vec<Duration>> {
    let caller = Caller::log_in(&kiln.service, "demo").await?;
    let body = json!({ "stack_name": "signals", "template": TEMPLATE });
    let made = caller.request("POST", "/stacks", Some(body)).await?;
    let id = made["stack"]["id"].as_str().unwrap_or_default();
    let handle = format!("/stacks/signals/{id}/resources/h");
    while caller.send("GET", &handle, None).await?.0 != 200 {}
    let mut times = Vec::with_capacity(SIGNALS);
    while times.len() < SIGNALS {
        let body = json!({ "id": times.len().to_string(), "status": "SUCCESS", "data": "small" });
        let begun = Instant::now();
        let (status, reply) = caller.send("POST", &format!("{handle}/signal"), Some(&body)).await?;
        match status {
            200 => times.push(begun.elapsed()),
            // The handle may have yet to be created.
            404 | 400 if times.is_empty() => {}
            _ => return Err(io::Error::other(format!("a signal is refused: {status} {reply}"))),
        }
    }
    Ok(times)
}
