//! `xtask bench hostile`: an honest tenant beside a hostile one.
//!
//! Each attack runs against a fresh service (`kiln dev` in a process of its own) from another address than the honest
//! tenant's requests. The figures of the honest tenant stand beside those without an attack.

use crate::bench::milliseconds;
use crate::bench_service::{Caller, Kiln, allow_many_files};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// How long the honest tenant is measured.
const TIME: Duration = Duration::from_secs(8);

/// The address of the attacker, so that limits per address do not count the honest tenant's connections.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The kinds of hostile load.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// None: the figures to compare with.
    None,
    /// Previews of groups of groups of 999 × 999 resources.
    PreviewBomb,
    /// Stacks that copy a text of 10 MiB thirty times.
    CopyingTemplate,
    /// Large signals to a wait handle.
    SignalFlood,
    /// Connections that send half a request head.
    HalfHeads,
    /// Connections that send a body byte by byte.
    SlowBodies,
    /// Deployments with large inputs.
    DeploymentFlood,
    /// Streams of events.
    StreamFlood,
    /// Lists of a thousand large rows.
    LargeList,
}

impl Attack {
    const ALL: [Attack; 9] = [
        Attack::None,
        Attack::PreviewBomb,
        Attack::CopyingTemplate,
        Attack::SignalFlood,
        Attack::HalfHeads,
        Attack::SlowBodies,
        Attack::DeploymentFlood,
        Attack::StreamFlood,
        Attack::LargeList,
    ];

    fn name(self) -> &'static str {
        match self {
            Attack::None => "no attack",
            Attack::PreviewBomb => "preview of 999 x 999, 8 at once",
            Attack::CopyingTemplate => "template that copies 10 MiB, 4 at once",
            Attack::SignalFlood => "signals of 200 KB, 8 at once",
            Attack::HalfHeads => "half a request head, 600 connections",
            Attack::SlowBodies => "slow bodies, 200 connections",
            Attack::DeploymentFlood => "deployments of 200 KB, 8 at once",
            Attack::StreamFlood => "streams of events, 500 connections",
            Attack::LargeList => "list of 900 large rows, 4 at once",
        }
    }

    /// The number of clients that attack at the same time.
    fn clients(self) -> usize {
        match self {
            Attack::None => 0,
            Attack::PreviewBomb | Attack::SignalFlood | Attack::DeploymentFlood => 8,
            Attack::CopyingTemplate | Attack::LargeList => 4,
            Attack::HalfHeads => 600,
            Attack::SlowBodies => 200,
            Attack::StreamFlood => 500,
        }
    }
}

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    allow_many_files()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(
        out,
        "\nhostile: an honest tenant beside a hostile one; times in ms, {} s for each row",
        TIME.as_secs()
    )?;
    writeln!(
        out,
        "{:<40} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "list", "list", "create", "create", "honest", "attacks", "attacks", "health", "peak"
    )?;
    writeln!(
        out,
        "{:<40} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "p50", "p99", "p50", "p99", "refused", "served", "refused", "worst", "MiB"
    )?;
    for attack in Attack::ALL {
        let Some(kiln) = Kiln::start()? else {
            return writeln!(
                out,
                "  left out: build the service first (cargo build --release -p kiln)"
            );
        };
        runtime.block_on(round(out, &kiln, attack))?;
    }
    Ok(())
}

/// The results of requests.
#[derive(Default)]
struct Counts {
    served: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    /// Counts a request; one without a reply is refused.
    fn add(&self, status: io::Result<u16>) {
        let is_served = status.is_ok_and(|status| status < 400);
        let count = if is_served { &self.served } else { &self.refused };
        count.fetch_add(1, Relaxed);
    }
}

/// Measures the honest tenant during one attack.
async fn round(out: &mut dyn Write, kiln: &Kiln, attack: Attack) -> io::Result<()> {
    Caller::log_in(kiln, "admin").await?.add_user("mallory").await?;
    let honest = Caller::log_in(kiln, "demo").await?;
    let mallory = Caller::log_in_from(kiln, "mallory", ATTACKER).await?;
    let target = prepare(&mallory, attack).await?;
    let (attacks, refused) = (Counts::default(), Counts::default());
    let attackers = (0..attack.clients()).map(|number| {
        let (mallory, target, attacks) = (&mallory, &target, &attacks);
        async move {
            for turn in 0_u64.. {
                let id = format!("{number}-{turn}");
                attacks.add(strike(mallory, attack, target, &id).await);
            }
        }
    });
    let attacking = async {
        futures_util::future::join_all(attackers).await;
        std::future::pending::<Infallible>().await
    };
    let end = Instant::now() + TIME;
    let measured = async {
        tokio::join!(
            lists(&honest, end, &refused),
            creates(&honest, end, &refused),
            health(kiln, end, &refused),
        )
    };
    let (lists, creates, health) = tokio::select! {
        never = attacking => match never {},
        figures = measured => figures,
    };
    writeln!(
        out,
        "{:<40} {:>7.1} {:>7.1} {:>7.1} {:>8.1} {:>8} {:>8} {:>8} {:>8.1} {:>8.0}",
        attack.name(),
        quantile(&lists, 50),
        quantile(&lists, 99),
        quantile(&creates, 50),
        quantile(&creates, 99),
        refused.refused.load(Relaxed),
        attacks.served.load(Relaxed),
        attacks.refused.load(Relaxed),
        quantile(&health, 100),
        kiln.peak_memory()? as f64 / 1024.0,
    )
}

/// A quantile of sorted times, in milliseconds.
fn quantile(times: &[Duration], percent: usize) -> f64 {
    let last = times.len().saturating_sub(1);
    times.get(last * percent / 100).map_or(f64::NAN, |time| milliseconds(*time))
}

// --- the honest tenant ---

/// Lists stacks, one request after the other, and returns the sorted times.
async fn lists(honest: &Caller<'_>, end: Instant, refused: &Counts) -> Vec<Duration> {
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
async fn creates(honest: &Caller<'_>, end: Instant, refused: &Counts) -> Vec<Duration> {
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
async fn health(kiln: &Kiln, end: Instant, refused: &Counts) -> Vec<Duration> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let begun = Instant::now();
        let ask = async {
            let mut stream = TcpStream::connect(&kiln.address).await?;
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

// --- the attacker ---

/// Creates what an attack needs, and returns the path that it strikes.
async fn prepare(mallory: &Caller<'_>, attack: Attack) -> io::Result<String> {
    let version = "heat_template_version: 2021-04-16\n";
    match attack {
        Attack::SignalFlood => {
            let text = format!(
                "{version}resources:\n  h: {{type: OS::Heat::WaitConditionHandle}}\n  \
                 w: {{type: OS::Heat::WaitCondition, properties: {{handle: {{get_resource: h}}, \
                 timeout: 3600, count: 100000}}}}\n"
            );
            let path = make(mallory, "CREATE_IN_PROGRESS", &text, json!({})).await?;
            Ok(format!("{path}/resources/h/signal"))
        }
        Attack::StreamFlood => {
            let text = format!(
                "{version}resources:\n  h: {{type: OS::Heat::WaitConditionHandle}}\n  \
                 w: {{type: OS::Heat::WaitCondition, properties: {{handle: {{get_resource: h}}, \
                 timeout: 3600}}}}\n"
            );
            let path = make(mallory, "CREATE_IN_PROGRESS", &text, json!({})).await?;
            Ok(format!("{path}/events"))
        }
        Attack::LargeList => {
            let mut text = format!("{version}parameters: {{p: {{type: string}}}}\nresources:\n");
            for number in 0..900 {
                _ = writeln!(
                    text,
                    "  r{number}: {{type: OS::Heat::Value, properties: {{value: {{get_param: p}}}}}}"
                );
            }
            let parameters = json!({ "p": "x".repeat(32 << 10) });
            let path = make(mallory, "CREATE_COMPLETE", &text, parameters).await?;
            Ok(format!("{path}/resources?with_detail=true"))
        }
        Attack::DeploymentFlood => {
            let body = json!({ "name": "c", "config": "true" });
            let made = mallory.request("POST", "/software_configs", Some(body)).await?;
            Ok(made["software_config"]["id"].as_str().unwrap_or_default().to_owned())
        }
        _ => Ok(String::new()),
    }
}

/// Creates the attacker's stack and waits for a state. Returns its path.
async fn make(
    mallory: &Caller<'_>,
    state: &str,
    text: &str,
    parameters: Value,
) -> io::Result<String> {
    let body = json!({ "stack_name": "m", "template": text, "parameters": parameters });
    let made = mallory.request("POST", "/stacks", Some(body)).await?;
    let path = format!("/stacks/m/{}", made["stack"]["id"].as_str().unwrap_or_default());
    loop {
        let shown = mallory.request("GET", &path, None).await?;
        let status = shown["stack"]["stack_status"].as_str().unwrap_or("none");
        let is_ready = state != "CREATE_IN_PROGRESS"
            || mallory.send("GET", &format!("{path}/resources/h"), None).await?.0 == 200;
        if status == state && is_ready {
            return Ok(path);
        }
        if status != "CREATE_IN_PROGRESS" {
            return Err(io::Error::other(format!("the attacker's stack: {shown}")));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Makes one request of an attack, and returns the status of its reply.
async fn strike(mallory: &Caller<'_>, attack: Attack, target: &str, id: &str) -> io::Result<u16> {
    let project = &mallory.project;
    match attack {
        Attack::None => Ok(200),
        Attack::PreviewBomb => {
            let body = json!({ "stack_name": "bomb", "template": PREVIEW_BOMB });
            Ok(mallory.send("POST", "/stacks/preview", Some(&body)).await?.0)
        }
        Attack::CopyingTemplate => copying(mallory, id).await,
        Attack::SignalFlood => {
            let body = json!({ "id": id, "status": "SUCCESS", "data": "x".repeat(200_000) });
            Ok(mallory.send("POST", target, Some(&body)).await?.0)
        }
        Attack::DeploymentFlood => {
            let input = json!({ "text": "x".repeat(200_000) });
            let body = json!({ "config_id": target, "server_id": id, "input_values": input });
            Ok(mallory.send("POST", "/software_deployments", Some(&body)).await?.0)
        }
        Attack::LargeList => read_list(mallory, target).await,
        Attack::HalfHeads => hold(mallory, "GET /v1/x/stacks HT", "").await,
        Attack::SlowBodies => {
            let head = format!(
                "POST /v1/{project}/stacks HTTP/1.1\r\nHost: kiln\r\nX-Auth-Token: {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
                mallory.token
            );
            hold(mallory, &head, " ").await
        }
        Attack::StreamFlood => {
            let head = format!(
                "GET /v1/{project}{target}?nested_depth=3 HTTP/1.1\r\nHost: kiln\r\n\
                 Accept: text/event-stream\r\nX-Auth-Token: {}\r\n\r\n",
                mallory.token
            );
            hold(mallory, &head, "").await
        }
    }
}

/// Groups of groups.
const PREVIEW_BOMB: &str = "
heat_template_version: 2021-04-16
resources:
  outer:
    type: OS::Heat::ResourceGroup
    properties:
      count: 999
      resource_def:
        type: OS::Heat::ResourceGroup
        properties: {count: 999, resource_def: {type: OS::Heat::None}}
";

/// Creates a stack whose resources copy a text of 10 MiB, and deletes it.
async fn copying(mallory: &Caller<'_>, id: &str) -> io::Result<u16> {
    let mut text = String::from(
        "heat_template_version: 2021-04-16\nparameters: {p: {type: string}}\nresources:\n  \
         big: {type: OS::Heat::Value, properties: {value: {list_join: ['', [",
    );
    text.push_str(&["{get_param: p}"; 40].join(", "));
    text.push_str("]]}}}\n");
    for number in 0..30 {
        _ = writeln!(
            text,
            "  r{number}: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [big, value]}}}}}}"
        );
    }
    let body = json!({
        "stack_name": format!("m{id}"),
        "template": text,
        "parameters": { "p": "x".repeat(256 << 10) },
    });
    let (status, made) = mallory.send("POST", "/stacks", Some(&body)).await?;
    if status == 201 {
        let path = format!("/stacks/m{id}/{}", made["stack"]["id"].as_str().unwrap_or_default());
        mallory.send("DELETE", &path, None).await?;
    }
    Ok(status)
}

/// Reads a list piece by piece, without keeping it.
async fn read_list(mallory: &Caller<'_>, path: &str) -> io::Result<u16> {
    let url = format!("http://{}/v1/{}{path}", mallory.kiln.address, mallory.project);
    let request = mallory.client.get(url).header("X-Auth-Token", &mallory.token);
    let mut reply = request.send().await.map_err(io::Error::other)?;
    while reply.chunk().await.map_err(io::Error::other)?.is_some() {}
    Ok(reply.status().as_u16())
}

/// Connects, sends the head of a request, and then a bit every second until the service closes the connection.
async fn hold(mallory: &Caller<'_>, head: &str, bit: &str) -> io::Result<u16> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((ATTACKER, 0)))?;
    let address = mallory.kiln.address.parse().map_err(io::Error::other)?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(head.as_bytes()).await?;
    let (mut answer, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        match tokio::time::timeout(Duration::from_secs(1), stream.read(&mut bytes)).await {
            Ok(Ok(0)) => return Ok(status_of(&answer).unwrap_or(408)),
            Ok(Ok(count)) if answer.is_empty() => answer.extend_from_slice(&bytes[..count]),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => stream.write_all(bit.as_bytes()).await?,
        }
    }
}

/// The status in the head of a reply.
fn status_of(answer: &[u8]) -> Option<u16> {
    std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()
}
