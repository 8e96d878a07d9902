//! `xtask bench start` and `xtask bench load`: the API as clients see it.

use crate::bench::milliseconds;
use axum::Router;
use axum::serve::ListenerExt;
use kiln_api::auth::NoAuth;
use kiln_api::{App, Metrics, Options};
use kiln_cloud::NoCloud;
use kiln_engine::store::{StackQuery, Store};
use kiln_engine::{
    Config, Engine, EngineSettings, Requester, Rules, Service, StackRequest, TemplateSource,
};
use kiln_store::SqlStore;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

// --- start ---

/// The number of starts.
const STARTS: usize = 10;

/// Measures the time from the start of the binary to its first answer, and its idle memory.
pub(crate) fn start(out: &mut dyn Write) -> io::Result<()> {
    let build =
        Command::new("cargo").args(["build", "--release", "--quiet", "-p", "kiln"]).status();
    if !build?.success() {
        return Err(io::Error::other("the binary cannot be built"));
    }
    let binary = std::env::current_dir()?.join("target/release/kiln");
    let folder = std::env::temp_dir().join(format!("kiln-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut times = Vec::new();
    let mut memory = 0;
    for _ in 0..STARTS {
        let (time, resident) = start_once(&binary, &folder)?;
        times.push(time);
        memory = resident;
    }
    std::fs::remove_dir_all(&folder)?;
    times.sort();
    writeln!(out, "\nstart: kiln dev, from the start of the process to its first answer")?;
    writeln!(
        out,
        "best {:.1} ms, median {:.1} ms of {STARTS}; {:.1} MiB resident when idle",
        milliseconds(times[0]),
        milliseconds(times[STARTS / 2]),
        memory as f64 / 1024.0,
    )
}

fn start_once(binary: &Path, folder: &Path) -> io::Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut process = Command::new(binary)
        .args(["dev", "--free-ports"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?).lines();
    let line = lines.find_map(|line| {
        let line = line.ok()?;
        line.strip_prefix("orchestration").map(|rest| rest.trim().to_owned())
    });
    let url = line.unwrap_or_default();
    let host = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let answer = get(host, "/healthcheck")?;
    let time = begun.elapsed();
    if !answer.starts_with("HTTP/1.1 200") {
        return Err(io::Error::other(format!("no answer: {answer}")));
    }
    // Deferred work of the start is done by then.
    std::thread::sleep(Duration::from_millis(500));
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|it| it.trim().split(' ').next()?.parse().ok());
    Command::new("kill").args(["-TERM", &process.id().to_string()]).status()?;
    process.wait()?;
    Ok((time, resident.unwrap_or(0)))
}

fn get(host: &str, path: &str) -> io::Result<String> {
    let mut stream = std::net::TcpStream::connect(host)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    io::read_to_string(stream)
}

// --- load ---

const STACKS: usize = 10_000;
const RESOURCES: usize = 100;
const READERS: usize = 4;
const READS: usize = 2_000;

/// Measures mixed reads over many stacks while others are created.
pub(crate) fn load(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run_load(out))
}

/// A service with its store in a temporary directory.
struct BenchServer {
    service: Service,
    engine: Engine,
    asker: Requester,
    url: String,
}

async fn server(folder: &Path) -> io::Result<BenchServer> {
    let url = format!("sqlite://{}", folder.join("kiln.db").display());
    let store = SqlStore::open(&url, &folder.join("kiln.keys")).await.map_err(io::Error::other)?;
    let store: Arc<dyn Store> = Arc::new(store);
    let config = Arc::new(Config::default());
    let pace = EngineSettings {
        is_alone: true,
        idle_timeout: Duration::from_secs(1),
        ..EngineSettings::default()
    };
    let engine = Engine::start(config.clone(), store.clone(), Arc::new(NoCloud), pace);
    let rules = Rules { max_stacks: None, ..Rules::default() };
    let service = Service::new(store, config, rules, Arc::new(NoCloud), Some(engine.clone()));
    let app = Arc::new(App {
        service: service.clone(),
        auth: Arc::new(NoAuth::default()),
        policy: Default::default(),
        options: Options::default(),
        metrics: Metrics::default(),
        long_polls: Default::default(),
        event_streams: Default::default(),
        rate: None,
        replay_guard: Default::default(),
        body_bytes: Default::default(),
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1/admin", listener.local_addr()?);
    let router = Router::new().fallback(move |request| kiln_api::answer(app.clone(), request));
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let asker = Requester {
        project: "admin".into(),
        user_name: "admin".into(),
        user_token: Default::default(),
        is_admin: true,
        stack_user_project: None,
        created_by: Default::default(),
        may_use: Arc::new(|_| true),
        has_service: Arc::new(|_| true),
    };
    Ok(BenchServer { service, engine, asker, url })
}

fn template() -> String {
    let mut text = String::from("heat_template_version: 2021-04-16\nresources:\n");
    for n in 0..RESOURCES {
        _ = writeln!(text, "  r{n}: {{type: OS::Heat::Value, properties: {{value: v{n}}}}}");
    }
    text.push_str("outputs:\n  first: {value: {get_attr: [r0, value]}}\n");
    text
}

async fn make(server: &BenchServer, name: &str, text: &Arc<str>) -> io::Result<()> {
    let template = TemplateSource::Text(text.clone());
    let request = StackRequest { template, ..StackRequest::default() };
    let id = server.service.create(&server.asker, name, request).await;
    let id = id.map_err(|refusal| io::Error::other(refusal.to_string()))?;
    server.engine.wait_until_idle(id, 0).await;
    Ok(())
}

async fn run_load(out: &mut dyn Write) -> io::Result<()> {
    let folder = std::env::temp_dir().join(format!("kiln-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let server = Arc::new(server(&folder).await?);
    let text: Arc<str> = template().into();
    let begun = Instant::now();
    let makers = (0..8).map(|maker| {
        let (server, text) = (server.clone(), text.clone());
        tokio::spawn(async move {
            for n in (maker..STACKS).step_by(8) {
                make(&server, &format!("s{n}"), &text).await?;
            }
            Ok::<(), io::Error>(())
        })
    });
    for maker in makers.collect::<Vec<_>>() {
        maker.await.map_err(io::Error::other)??;
    }
    let count = STACKS * RESOURCES;
    writeln!(
        out,
        "\nload: {STACKS} stacks with {count} resources, created in {:.0} s",
        begun.elapsed().as_secs_f64()
    )?;
    mixed_reads(out, &server, &text).await?;
    pages(out, &server).await?;
    server.engine.stop().await;
    std::fs::remove_dir_all(&folder)
}

/// The kinds of reads.
const READS_BY_KIND: [&str; 5] = ["list of 20", "stack", "resources", "resource", "events"];

async fn mixed_reads(
    out: &mut dyn Write,
    server: &Arc<BenchServer>,
    text: &Arc<str>,
) -> io::Result<()> {
    let all = server.service.list(&server.asker, StackQuery::default(), false, true).await;
    let all = all.map_err(|refusal| io::Error::other(refusal.to_string()))?;
    let ids: Arc<Vec<(String, String)>> = Arc::new(
        all.stacks.iter().map(|it| (it.summary.name.to_string(), it.id.to_string())).collect(),
    );
    let (making, text) = (server.clone(), text.clone());
    let maker = tokio::spawn(async move {
        for n in 0.. {
            if make(&making, &format!("new{n}"), &text).await.is_err() {
                return;
            }
        }
    });
    let begun = Instant::now();
    let readers = (0..READERS).map(|reader| {
        let (url, ids) = (server.url.clone(), ids.clone());
        tokio::spawn(async move { read(&url, &ids, reader).await })
    });
    let mut times: Vec<(usize, Duration)> = Vec::new();
    for reader in readers.collect::<Vec<_>>() {
        times.extend(reader.await.map_err(io::Error::other)??);
    }
    let took = begun.elapsed();
    maker.abort();
    writeln!(
        out,
        "mixed reads by {READERS} clients while stacks of {RESOURCES} are made, one after the other:"
    )?;
    writeln!(
        out,
        "{:<12} {:>8} {:>10} {:>10} {:>10}",
        "", "reads", "p50 ms", "p99 ms", "worst ms"
    )?;
    for (kind, name) in READS_BY_KIND.iter().enumerate() {
        let of_kind = times.iter().filter(|(it, _)| *it == kind).map(|(_, time)| *time);
        quantiles(out, name, of_kind.collect())?;
    }
    quantiles(out, "all", times.iter().map(|(_, time)| *time).collect())?;
    let rate = times.len() as f64 / took.as_secs_f64();
    writeln!(out, "{rate:.0} reads per second, no response with status 500")
}

fn quantiles(out: &mut dyn Write, name: &str, mut times: Vec<Duration>) -> io::Result<()> {
    times.sort();
    let at = |part: f64| milliseconds(times[((times.len() - 1) as f64 * part) as usize]);
    let (count, half, most, worst) = (times.len(), at(0.5), at(0.99), at(1.0));
    writeln!(out, "{name:<12} {count:>8} {half:>10.2} {most:>10.2} {worst:>10.2}")
}

async fn read(
    url: &str,
    ids: &[(String, String)],
    reader: usize,
) -> io::Result<Vec<(usize, Duration)>> {
    let client = kiln_cloud::client_builder().build().map_err(io::Error::other)?;
    let mut times = Vec::with_capacity(READS);
    for n in 0..READS {
        // The positions are scattered, and the same in every run.
        let at = (n * 7919 + reader * 104_729) % ids.len();
        let (name, id) = &ids[at];
        let kind = n % READS_BY_KIND.len();
        let path = match kind {
            0 => format!("/stacks?limit=20&marker={id}"),
            1 => format!("/stacks/{name}/{id}"),
            2 => format!("/stacks/{name}/{id}/resources"),
            3 => format!("/stacks/{name}/{id}/resources/r{}", n % RESOURCES),
            _ => format!("/stacks/{name}/{id}/events?limit=50"),
        };
        let begun = Instant::now();
        fetch(&client, &format!("{url}{path}")).await?;
        times.push((kind, begun.elapsed()));
    }
    Ok(times)
}

async fn fetch(client: &reqwest::Client, url: &str) -> io::Result<Json> {
    let response = client.get(url).header("X-Auth-User", "admin").send().await;
    let response = response.map_err(io::Error::other)?;
    let status = response.status();
    let body: Json = response.json().await.map_err(io::Error::other)?;
    if status.is_success() {
        Ok(body)
    } else {
        Err(io::Error::other(format!("{url}: {status}: {body}")))
    }
}

/// Reads the first page of a list, and the hundredth.
async fn pages(out: &mut dyn Write, server: &BenchServer) -> io::Result<()> {
    let client = kiln_cloud::client_builder().build().map_err(io::Error::other)?;
    let mut marker = String::new();
    let mut times = Vec::new();
    for _ in 0..100 {
        let url = format!("{}/stacks?limit=50{marker}", server.url);
        let mut best = Duration::MAX;
        let mut body = json!(null);
        for _ in 0..5 {
            let begun = Instant::now();
            body = fetch(&client, &url).await?;
            best = best.min(begun.elapsed());
        }
        times.push(best);
        let last = body["stacks"].as_array().and_then(|it| it.last()?["id"].as_str());
        marker = format!("&marker={}", last.unwrap_or_default());
    }
    writeln!(
        out,
        "pages of 50 stacks: the first {:.2} ms, the hundredth {:.2} ms",
        milliseconds(times[0]),
        milliseconds(times[99]),
    )
}
