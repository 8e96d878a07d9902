//! The attacker of `xtask bench hostile`.
//!
//! He stands for other machines, so he runs in a process of his own, with the lowest priority: what his requests cost the
//! service is measured, not what it costs to make them. His CPU time is printed.

use crate::bench_service::{Caller, ServiceAddress, cpu_time};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

/// What is added to the niceness of the attacker: that makes the lowest priority of every usual one.
const NICENESS: i32 = 19;

/// The address of the attacker, so that limits per address do not count the honest tenant's connections.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The kinds of hostile load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attack {
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
    pub(crate) const ALL: [Attack; 9] = [
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

    pub(crate) fn name(self) -> &'static str {
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

/// The results of requests.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) served: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Counts {
    /// Counts a request; one without a reply is refused.
    pub(crate) fn add(&self, status: io::Result<u16>) {
        let is_served = status.is_ok_and(|status| status < 400);
        let count = if is_served { &self.served } else { &self.refused };
        count.fetch_add(1, Relaxed);
    }
}

/// The process of the attacker, which ends with this value.
pub(crate) struct Attacker {
    process: Child,
    /// A line ends the attack.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Attacker {
    fn drop(&mut self) {
        // The process may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What an attack came to.
pub(crate) struct Toll {
    pub(crate) served: u64,
    pub(crate) refused: u64,
    /// The CPU time of the attacker, in hundredths of a second.
    pub(crate) cpu: u64,
}

impl Attacker {
    /// Starts the attack, and returns when everything that it needs is there.
    pub(crate) fn start(service: &ServiceAddress, attack: Attack) -> io::Result<Attacker> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["attack", attack.name(), &service.address, &service.identity])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(input), Some(output)) = pipes else { return Err(io::Error::other("no pipes")) };
        let mut attacker = Attacker { process, input, output: BufReader::new(output) };
        match attacker.line()?.as_str() {
            "ready" => Ok(attacker),
            _ => Err(io::Error::other("the attacker did not begin")),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Ends the attack.
    pub(crate) fn end(mut self) -> io::Result<Toll> {
        use std::io::Write as _;
        self.input.write_all(b"\n")?;
        let line = self.line()?;
        let mut words = line.split(' ').filter_map(|word| word.parse().ok());
        let mut next = || words.next().ok_or_else(|| io::Error::other("the attacker failed"));
        Ok(Toll { served: next()?, refused: next()?, cpu: next()? })
    }
}

/// `xtask attack NAME ADDRESS IDENTITY`: attacks until a line is read.
pub(crate) fn run(args: &[String]) -> io::Result<String> {
    let [name, address, identity] = args else { return Err(io::Error::other("three arguments")) };
    let attack = Attack::ALL.into_iter().find(|attack| attack.name() == name);
    let attack = attack.ok_or_else(|| io::Error::other("no such attack"))?;
    let service = ServiceAddress { address: address.clone(), identity: identity.clone() };
    crate::bench_service::allow_many_files()?;
    // Before the first thread is started, since each thread has its own.
    rustix::process::nice(NICENESS)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let counts = runtime.block_on(attack_until_line(&service, attack))?;
    let (served, refused) = (counts.served.load(Relaxed), counts.refused.load(Relaxed));
    let line = format!("{served} {refused} {}", cpu_time(std::process::id())?);
    runtime.shutdown_background();
    Ok(line)
}

async fn attack_until_line(service: &ServiceAddress, attack: Attack) -> io::Result<Counts> {
    let mallory = Caller::log_in_from(service, "mallory", ATTACKER).await?;
    let target = prepare(&mallory, attack).await?;
    println!("ready");
    let counts = Counts::default();
    let attackers = (0..attack.clients()).map(|number| {
        let (mallory, target, counts) = (&mallory, &target, &counts);
        async move {
            for turn in 0_u64.. {
                let id = format!("{number}-{turn}");
                counts.add(strike(mallory, attack, target, &id).await);
            }
        }
    });
    let attacking = async {
        futures_util::future::join_all(attackers).await;
        std::future::pending::<()>().await;
    };
    let end = tokio::task::spawn_blocking(|| io::stdin().read(&mut [0]));
    tokio::select! {
        () = attacking => {}
        end = end => {
            end.map_err(io::Error::other)??;
        }
    }
    Ok(counts)
}

/// Creates what an attack needs, and returns the path that it strikes.
async fn prepare(mallory: &Caller, attack: Attack) -> io::Result<String> {
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
async fn make(mallory: &Caller, state: &str, text: &str, parameters: Value) -> io::Result<String> {
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
async fn strike(mallory: &Caller, attack: Attack, target: &str, id: &str) -> io::Result<u16> {
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
async fn copying(mallory: &Caller, id: &str) -> io::Result<u16> {
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
async fn read_list(mallory: &Caller, path: &str) -> io::Result<u16> {
    let url = format!("http://{}/v1/{}{path}", mallory.service.address, mallory.project);
    let request = mallory.client.get(url).header("X-Auth-Token", &mallory.token);
    let mut reply = request.send().await.map_err(io::Error::other)?;
    while reply.chunk().await.map_err(io::Error::other)?.is_some() {}
    Ok(reply.status().as_u16())
}

/// Connects, sends the head of a request, and then a bit every second until the service closes the connection.
async fn hold(mallory: &Caller, head: &str, bit: &str) -> io::Result<u16> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((ATTACKER, 0)))?;
    let address = mallory.service.address.parse().map_err(io::Error::other)?;
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
