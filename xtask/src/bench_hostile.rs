//! `xtask bench hostile`: an honest tenant beside a hostile one.
//!
//! Each attack runs against a fresh service (`kiln dev` in a process of its own) from another address than the honest
//! tenant's requests, and from a process of its own (`bench_attacker.rs`). The figures of the honest tenant stand beside
//! those without an attack.

use crate::bench::milliseconds;
use crate::bench_attacker::{Attack, Attacker, Counts};
use crate::bench_service::{Caller, Kiln, ServiceAddress, allow_many_files};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// How long the honest tenant is measured.
const TIME: Duration = Duration::from_secs(8);

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    allow_many_files()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(
        out,
        "\nhostile: an honest tenant beside a hostile one; times in ms, {} s for each row. The attacker's client stands\n\
         for other machines: it is a process of the lowest priority, its CPU time is in the last column",
        TIME.as_secs()
    )?;
    writeln!(
        out,
        "{:<40} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "",
        "list",
        "list",
        "create",
        "create",
        "honest",
        "attacks",
        "attacks",
        "health",
        "peak",
        "service",
        "client"
    )?;
    writeln!(
        out,
        "{:<40} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "",
        "p50",
        "p99",
        "p50",
        "p99",
        "refused",
        "served",
        "refused",
        "worst",
        "MiB",
        "% core",
        "% core"
    )?;
    for attack in Attack::ALL {
        let Some(kiln) = Kiln::start()? else {
            return writeln!(
                out,
                "  left out: build the service first (cargo build --release -p kiln)"
            );
        };
        round(out, &runtime, &kiln, attack)?;
    }
    Ok(())
}

/// Measures the honest tenant during one attack.
fn round(out: &mut dyn Write, runtime: &Runtime, kiln: &Kiln, attack: Attack) -> io::Result<()> {
    let service = &kiln.service;
    let honest = runtime.block_on(async {
        Caller::log_in(service, "admin").await?.add_user("mallory").await?;
        Caller::log_in(service, "demo").await
    })?;
    let attacker = Attacker::start(service, attack)?;
    let refused = Counts::default();
    let before = kiln.work()?;
    let (lists, creates, health) = runtime.block_on(async {
        let end = Instant::now() + TIME;
        tokio::join!(
            lists(&honest, end, &refused),
            creates(&honest, end, &refused),
            health(service, end, &refused),
        )
    });
    let cpu = kiln.work()? - before;
    let toll = attacker.end()?;
    let of_a_core = |cpu: u64| cpu as f64 / TIME.as_secs_f64();
    writeln!(
        out,
        "{:<40} {:>7.1} {:>7.1} {:>7.1} {:>8.1} {:>8} {:>8} {:>8} {:>8.1} {:>8.0} {:>8.0} {:>8.0}",
        attack.name(),
        quantile(&lists, 50),
        quantile(&lists, 99),
        quantile(&creates, 50),
        quantile(&creates, 99),
        refused.refused.load(Relaxed),
        toll.served,
        toll.refused,
        quantile(&health, 100),
        kiln.peak_memory()? as f64 / 1024.0,
        of_a_core(cpu),
        of_a_core(toll.cpu),
    )
}

/// A quantile of sorted times, in milliseconds.
fn quantile(times: &[Duration], percent: usize) -> f64 {
    let last = times.len().saturating_sub(1);
    times.get(last * percent / 100).map_or(f64::NAN, |time| milliseconds(*time))
}

// --- the honest tenant ---

/// Lists stacks, one request after the other, and returns the sorted times.
async fn lists(honest: &Caller, end: Instant, refused: &Counts) -> Vec<Duration> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let begun = Instant::now();
        refused.add(honest.send("GET", "/stacks", None).await.map(|it| it.0));
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    times.sort();
    times
}

/// Creates small stacks and waits until each is complete; then it is deleted. Returns the sorted times.
async fn creates(honest: &Caller, end: Instant, refused: &Counts) -> Vec<Duration> {
    let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for number in 0..10 {
        _ = writeln!(text, "  r{number}: {{type: OS::Heat::RandomString}}");
    }
    let mut times = Vec::new();
    for number in 0.. {
        if Instant::now() >= end {
            break;
        }
        let body = json!({ "stack_name": format!("s{number}"), "template": text });
        let begun = Instant::now();
        let made = honest.send("POST", "/stacks", Some(&body)).await;
        let Ok((201, made)) = made else {
            refused.add(made.map(|it| it.0));
            continue;
        };
        let id = made["stack"]["id"].as_str().unwrap_or_default();
        let path = format!("/stacks/s{number}/{id}");
        loop {
            let shown = honest.request("GET", &path, None).await.unwrap_or_default();
            match shown["stack"]["stack_status"].as_str() {
                Some("CREATE_IN_PROGRESS") => tokio::time::sleep(Duration::from_millis(2)).await,
                Some("CREATE_COMPLETE") => break,
                _ => {
                    refused.add(Err(io::ErrorKind::Other.into()));
                    break;
                }
            }
        }
        times.push(begun.elapsed());
        refused.add(honest.send("DELETE", &path, None).await.map(|it| it.0));
    }
    times.sort();
    times
}

/// Asks for the health of the service, as a load balancer does, each time on a new connection.
async fn health(service: &ServiceAddress, end: Instant, refused: &Counts) -> Vec<Duration> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let begun = Instant::now();
        let ask = async {
            let mut stream = TcpStream::connect(&service.address).await?;
            let request = "GET /healthcheck HTTP/1.1\r\nHost: kiln\r\nConnection: close\r\n\r\n";
            stream.write_all(request.as_bytes()).await?;
            status(&mut stream).await
        };
        refused.add(ask.await);
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    times.sort();
    times
}

/// Reads the status of a reply.
async fn status(stream: &mut TcpStream) -> io::Result<u16> {
    let mut start = [0; 12];
    stream.read_exact(&mut start).await?;
    let digits = String::from_utf8_lossy(&start[9..]).into_owned();
    digits.parse().map_err(io::Error::other)
}
