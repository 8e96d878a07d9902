//! `xtask bench guests`: ten thousand servers that wait for a change of their metadata, each on its own connection.
//!
//! The service is a separate process: `kiln dev`, as built beside this program. Guests are bare connections, so that
//! the figures are those of the service.

use crate::bench::milliseconds;
use crate::bench_service::{Caller, Kiln, allow_many_files};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const GUESTS: usize = 10_000;

/// The number of resources in the second round; several guests share each.
const RESOURCES: usize = 100;

/// The number of guests that connect at the same time.
const CONCURRENT_CONNECTS: usize = 50;

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    if allow_many_files()?.is_some_and(|most| most < GUESTS as u64 + 1_000) {
        return writeln!(out, "\nguests: skipped, `ulimit -Hn` allows too few connections");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(out, "\nguests: {GUESTS} long polls, each on its own connection")?;
    let Some(service) = Kiln::start()? else {
        return writeln!(
            out,
            "  left out: build the service first (cargo build --release -p kiln)"
        );
    };
    runtime.block_on(round(out, &service))
}

impl Caller {
    /// Returns the ETag of a path.
    async fn tag(&self, path: &str) -> io::Result<String> {
        let url = format!("http://{}/v1/{}{path}", self.service.address, self.project);
        let request = self.client.get(url).header("X-Auth-Token", &self.token);
        let reply = request.send().await.map_err(io::Error::other)?;
        let tag = reply.headers().get("etag").and_then(|it| it.to_str().ok());
        tag.map(str::to_owned).ok_or_else(|| io::Error::other(format!("{path} has no tag")))
    }

    /// Connects guests, each of which waits at one of the paths. Each returns the time of its answer.
    async fn guests(
        &self,
        places: &[(String, String)],
    ) -> io::Result<JoinSet<io::Result<Instant>>> {
        let mut waiting = JoinSet::new();
        for chunk in (0..GUESTS).collect::<Vec<_>>().chunks(CONCURRENT_CONNECTS) {
            let mut connecting = JoinSet::new();
            for number in chunk {
                let (path, tag) = places[number % places.len()].clone();
                let request = format!(
                    "GET /v1/{}{path}?wait=60 HTTP/1.1\r\nHost: {}\r\nX-Auth-Token: {}\r\n\
                     If-None-Match: {tag}\r\n\r\n",
                    self.project, self.service.address, self.token
                );
                let address = self.service.address.clone();
                connecting.spawn(async move {
                    let mut stream = TcpStream::connect(address).await?;
                    stream.write_all(request.as_bytes()).await?;
                    Ok::<_, io::Error>(stream)
                });
            }
            while let Some(stream) = connecting.join_next().await {
                waiting.spawn(wait_for_answer(stream.map_err(io::Error::other)??));
            }
        }
        Ok(waiting)
    }
}

/// Waits for the answer to a long poll.
async fn wait_for_answer(mut stream: TcpStream) -> io::Result<Instant> {
    let mut start = [0; 12];
    stream.read_exact(&mut start).await?;
    if &start == b"HTTP/1.1 200" {
        Ok(Instant::now())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&start).into_owned()))
    }
}

async fn round(out: &mut dyn Write, kiln: &Kiln) -> io::Result<()> {
    let caller = Caller::log_in(&kiln.service, "demo").await?;
    let made = caller.request("POST", "/software_configs", Some(json!({ "name": "c" }))).await?;
    let config = made["software_config"]["id"].clone();

    let path = "/software_deployments/metadata/server".to_owned();
    let places = [(path.clone(), caller.tag(&path).await?)];
    let before = kiln.memory()?;
    let mut guests = connected(out, kiln, &caller, &places, before).await?;
    let begun = Instant::now();
    let body = json!({ "config_id": config, "server_id": "server" });
    caller.request("POST", "/software_deployments", Some(body)).await?;
    write_times(out, "a deployment on the server that all wait for", begun, &mut guests).await?;

    let mut text = String::from(
        "heat_template_version: 2021-04-16\nparameters: {word: {type: string}}\nresources:\n",
    );
    for number in 0..RESOURCES {
        _ = writeln!(
            text,
            "  r{number}: {{type: OS::Heat::Value, properties: {{value: x}}, metadata: {{word: {{get_param: word}}}}}}"
        );
    }
    let stack = |word: &str| json!({ "stack_name": "guests", "template": text, "parameters": { "word": word } });
    let made = caller.request("POST", "/stacks", Some(stack("one"))).await?;
    let id = made["stack"]["id"].as_str().unwrap_or_default().to_owned();
    let stack_path = format!("/stacks/guests/{id}");
    kiln.wait_until_idle().await?;
    let mut places = Vec::new();
    for number in 0..RESOURCES {
        let path = format!("{stack_path}/resources/r{number}/metadata");
        let tag = caller.tag(&path).await?;
        places.push((path, tag));
    }
    let mut guests = connected(out, kiln, &caller, &places, before).await?;
    let begun = Instant::now();
    caller.request("PUT", &stack_path, Some(stack("two"))).await?;
    write_times(out, "an update of the stack whose resources they wait for", begun, &mut guests)
        .await
}

async fn connected(
    out: &mut dyn Write,
    kiln: &Kiln,
    caller: &Caller,
    places: &[(String, String)],
    before: u64,
) -> io::Result<JoinSet<io::Result<Instant>>> {
    let begun = Instant::now();
    let guests = caller.guests(places).await?;
    let sent = begun.elapsed();
    kiln.wait_until_idle().await?;
    let more = kiln.memory()?.saturating_sub(before);
    writeln!(
        out,
        "  {} places: connected in {:.0} ms, {more} KiB more in the service, {:.1} KiB for each guest",
        places.len(),
        milliseconds(sent),
        more as f64 / GUESTS as f64,
    )?;
    Ok(guests)
}

async fn write_times(
    out: &mut dyn Write,
    what: &str,
    begun: Instant,
    guests: &mut JoinSet<io::Result<Instant>>,
) -> io::Result<()> {
    let (mut times, mut failed) = (Vec::new(), 0);
    while let Some(answer) = guests.join_next().await {
        match answer.map_err(io::Error::other)? {
            Ok(at) => times.push(at.saturating_duration_since(begun)),
            Err(_) => failed += 1,
        }
    }
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).map_or(0.0, |it| milliseconds(*it));
    let last = times.last().map_or(0.0, |it| milliseconds(*it));
    writeln!(
        out,
        "    {what}: seen by half after {:.0} ms, by 99 % after {:.0} ms, by all after {last:.0} ms; {failed} not notified",
        at(50),
        at(99),
    )
}
