//! `xtask bench guests`: ten thousand servers that wait for their metadata to change, over as many connections.
//!
//! The service is a process of its own: `kiln dev`, as it was built beside this program. Guests are connections and
//! nothing else, so that what is measured is the service.

use crate::bench::milliseconds;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const GUESTS: usize = 10_000;

/// Resources that the guests of the second round wait for: so many guests share each.
const RESOURCES: usize = 100;

/// So many guests connect at the same time.
const AT_ONCE: usize = 50;

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, most)?;
    if limit.maximum.is_some_and(|most| most < GUESTS as u64 + 1_000) {
        return writeln!(out, "\nguests: left out, `ulimit -Hn` allows too few connections");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(out, "\nguests: {GUESTS} that wait, each over a connection of its own")?;
    let Some(service) = Kiln::start()? else {
        return writeln!(
            out,
            "  left out: build the service first (cargo build --release -p kiln)"
        );
    };
    runtime.block_on(round(out, &service))
}

/// The service, which ends with this.
struct Kiln {
    process: Child,
    /// Host and port of the API.
    address: String,
    identity: String,
}

impl Drop for Kiln {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Kiln {
    fn start() -> io::Result<Option<Kiln>> {
        let program = std::env::current_exe()?.with_file_name("kiln");
        if !program.exists() {
            return Ok(None);
        }
        let mut process = Command::new(program)
            .args(["dev", "--free-ports", "--no-cloud"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let printed = process.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let (mut address, mut identity) = (String::new(), String::new());
        for line in BufReader::new(printed).lines().map_while(Result::ok) {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("orchestration"), Some(url)) => {
                    let rest = url.trim_start_matches("http://");
                    address = rest.split('/').next().unwrap_or_default().to_owned();
                }
                (Some("identity"), Some(url)) => identity = url.to_owned(),
                _ => {}
            }
            if line.starts_with("Stop with") {
                break;
            }
        }
        Ok(Some(Kiln { process, address, identity }))
    }

    /// What the system tells of the process.
    fn told(&self, file: &str) -> io::Result<String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id()))
    }

    /// The memory that it has, in kilobytes.
    fn memory(&self) -> io::Result<u64> {
        let status = self.told("status")?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        Ok(line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or(0))
    }

    /// How long it has worked, in hundredths of a second.
    fn work(&self) -> io::Result<u64> {
        let stat = self.told("stat")?;
        let behind = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<u64> = behind.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        // The state is a letter, so that the tenth number is the time as a user.
        Ok(fields.get(10).unwrap_or(&0) + fields.get(11).unwrap_or(&0))
    }

    /// Waits until it has nothing to do but to wait.
    async fn settle(&self) -> io::Result<()> {
        loop {
            let before = self.work()?;
            tokio::time::sleep(Duration::from_secs(1)).await;
            if self.work()? - before <= 10 {
                return Ok(());
            }
        }
    }
}

/// Somebody who asks the service for things that change it.
struct Caller<'k> {
    kiln: &'k Kiln,
    client: reqwest::Client,
    token: String,
    project: String,
}

impl Caller<'_> {
    async fn log_in(kiln: &Kiln) -> Result<Caller<'_>, reqwest::Error> {
        let client = kiln_cloud::client_builder().build()?;
        let domain = json!({ "id": "default" });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "name": "demo", "password": "demo", "domain": domain },
            } },
            "scope": { "project": { "name": "demo", "domain": domain } },
        } });
        let url = format!("{}/auth/tokens", kiln.identity);
        let reply = client.post(url).json(&body).send().await?;
        let token = reply.headers().get("x-subject-token").and_then(|it| it.to_str().ok());
        let token = token.unwrap_or_default().to_owned();
        let shown: Value = reply.json().await?;
        let project = shown["token"]["project"]["id"].as_str().unwrap_or_default().to_owned();
        Ok(Caller { kiln, client, token, project })
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> io::Result<Value> {
        let url = format!("http://{}/v1/{}{path}", self.kiln.address, self.project);
        let method = method.parse().map_err(io::Error::other)?;
        let mut request = self.client.request(method, url).header("X-Auth-Token", &self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let text = request.send().await.map_err(io::Error::other)?;
        let text = text.text().await.map_err(io::Error::other)?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// The tag of what is at a path.
    async fn tag(&self, path: &str) -> io::Result<String> {
        let url = format!("http://{}/v1/{}{path}", self.kiln.address, self.project);
        let request = self.client.get(url).header("X-Auth-Token", &self.token);
        let reply = request.send().await.map_err(io::Error::other)?;
        let tag = reply.headers().get("etag").and_then(|it| it.to_str().ok());
        tag.map(str::to_owned).ok_or_else(|| io::Error::other(format!("{path} has no tag")))
    }

    /// Connects guests, each of which waits at one of these places. Each ends with the moment of its answer.
    async fn guests(
        &self,
        places: &[(String, String)],
    ) -> io::Result<JoinSet<io::Result<Instant>>> {
        let mut waiting = JoinSet::new();
        for chunk in (0..GUESTS).collect::<Vec<_>>().chunks(AT_ONCE) {
            let mut connecting = JoinSet::new();
            for number in chunk {
                let (path, tag) = places[number % places.len()].clone();
                let request = format!(
                    "GET /v1/{}{path}?wait=60 HTTP/1.1\r\nHost: {}\r\nX-Auth-Token: {}\r\n\
                     If-None-Match: {tag}\r\n\r\n",
                    self.project, self.kiln.address, self.token
                );
                let address = self.kiln.address.clone();
                connecting.spawn(async move {
                    let mut stream = TcpStream::connect(address).await?;
                    stream.write_all(request.as_bytes()).await?;
                    Ok::<_, io::Error>(stream)
                });
            }
            while let Some(stream) = connecting.join_next().await {
                waiting.spawn(answered(stream.map_err(io::Error::other)??));
            }
        }
        Ok(waiting)
    }
}

/// Waits for an answer, which tells of a change.
async fn answered(mut stream: TcpStream) -> io::Result<Instant> {
    let mut start = [0; 12];
    stream.read_exact(&mut start).await?;
    if &start == b"HTTP/1.1 200" {
        Ok(Instant::now())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&start).into_owned()))
    }
}

async fn round(out: &mut dyn Write, kiln: &Kiln) -> io::Result<()> {
    let caller = Caller::log_in(kiln).await.map_err(io::Error::other)?;
    let made = caller.ask("POST", "/software_configs", Some(json!({ "name": "c" }))).await?;
    let config = made["software_config"]["id"].clone();

    let path = "/software_deployments/metadata/server".to_owned();
    let places = [(path.clone(), caller.tag(&path).await?)];
    let before = kiln.memory()?;
    let mut guests = connected(out, kiln, &caller, &places, before).await?;
    let begun = Instant::now();
    let body = json!({ "config_id": config, "server_id": "server" });
    caller.ask("POST", "/software_deployments", Some(body)).await?;
    told(out, "a deployment on the server that all wait for", begun, &mut guests).await?;

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
    let made = caller.ask("POST", "/stacks", Some(stack("one"))).await?;
    let id = made["stack"]["id"].as_str().unwrap_or_default().to_owned();
    let stack_path = format!("/stacks/guests/{id}");
    kiln.settle().await?;
    let mut places = Vec::new();
    for number in 0..RESOURCES {
        let path = format!("{stack_path}/resources/r{number}/metadata");
        let tag = caller.tag(&path).await?;
        places.push((path, tag));
    }
    let mut guests = connected(out, kiln, &caller, &places, before).await?;
    let begun = Instant::now();
    caller.ask("PUT", &stack_path, Some(stack("two"))).await?;
    told(out, "an update of the stack whose resources they wait for", begun, &mut guests).await
}

async fn connected(
    out: &mut dyn Write,
    kiln: &Kiln,
    caller: &Caller<'_>,
    places: &[(String, String)],
    before: u64,
) -> io::Result<JoinSet<io::Result<Instant>>> {
    let begun = Instant::now();
    let guests = caller.guests(places).await?;
    let sent = begun.elapsed();
    kiln.settle().await?;
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

async fn told(
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
        "    {what}: seen by half after {:.0} ms, by 99 % after {:.0} ms, by all after {last:.0} ms; {failed} not told",
        at(50),
        at(99),
    )
}
