//! `xtask bench servers`: two hundred servers, each with a port and a floating IP address, on the simulated cloud.
//!
//! All calls go over HTTP to local services with a fixed latency. The time for a single server is the critical path
//! of the stack. With many servers, calls wait for each other, because the number of concurrent calls to a service is
//! limited. Any time beyond that is overhead of Kiln.

use crate::bench::milliseconds;
use crate::bench_engine::Bench;
use kiln_cloud::{Auth, Credential, OpenStack, Settings};
use kiln_engine::now;
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{Clock, Identity, Seed, project_id, router, user_id};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// The latency of the cloud, and the build time of a server.
const LATENCY: Duration = Duration::from_millis(50);
const SERVERS: usize = 200;
const ROUNDS: usize = 3;

pub(crate) fn run(out: &mut dyn Write) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    writeln!(
        out,
        "\nservers: {SERVERS}, each with a port and a floating IP address; {} ms latency per call",
        LATENCY.as_millis()
    )?;
    for build in [Duration::ZERO, Duration::from_secs(3)] {
        runtime.block_on(round(out, build))?;
    }
    Ok(())
}

async fn round(out: &mut dyn Write, build: Duration) -> io::Result<()> {
    let place = LocalCloud::open(build).await?;
    let alone = place.best(1).await?;
    let many = place.best(SERVERS).await?;
    let allowed = Settings::new("").max_calls;
    let path = alone.time + LATENCY * (min_rounds(SERVERS, allowed) - min_rounds(1, allowed));
    let over = (many.time.as_secs_f64() / path.as_secs_f64() - 1.0) * 100.0;
    let calls: u64 = many.calls.values().sum();
    writeln!(
        out,
        "  ready after {} ms: one alone {:.0} ms; {SERVERS} with {allowed} calls at once to a service: critical path \
         {:.0} ms, took {:.0} ms ({over:+.1} %); {calls} calls, {:.2} a resource",
        build.as_millis(),
        milliseconds(alone.time),
        milliseconds(path),
        milliseconds(many.time),
        calls as f64 / (3 * SERVERS) as f64,
    )?;
    let mut rows: Vec<_> = many.calls.iter().collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    for (name, count) in rows.iter().take(12) {
        writeln!(out, "    {count:>6} {name}")?;
    }
    writeln!(out, "    deleted after {:.0} ms", milliseconds(many.removal))
}

/// Returns the minimal number of sequential rounds of calls until all servers have their ports and addresses and have
/// been read; in each round every service answers as many calls as may be concurrent.
fn min_rounds(servers: usize, allowed: usize) -> u32 {
    /// The purpose of a call.
    #[derive(Clone, Copy)]
    enum Purpose {
        Port,
        Floating,
        Server,
        Look,
    }
    let (mut network, mut compute) =
        (VecDeque::from(vec![Purpose::Port; servers]), VecDeque::new());
    let mut min_rounds = 0;
    while !network.is_empty() || !compute.is_empty() {
        min_rounds += 1;
        let answered = network.drain(..network.len().min(allowed)).collect::<Vec<_>>();
        let shown = compute.drain(..compute.len().min(allowed)).collect::<Vec<_>>();
        for done in answered.into_iter().chain(shown) {
            match done {
                Purpose::Port => {
                    network.push_back(Purpose::Floating);
                    compute.push_back(Purpose::Server);
                }
                Purpose::Server => compute.push_back(Purpose::Look),
                Purpose::Floating | Purpose::Look => {}
            }
        }
    }
    min_rounds
}

/// The result of a run.
struct Outcome {
    time: Duration,
    removal: Duration,
    calls: BTreeMap<String, u64>,
}

/// A simulated cloud on local ports.
struct LocalCloud {
    identity_url: String,
    cloud_url: String,
    client: reqwest::Client,
    admin: String,
}

impl LocalCloud {
    async fn open(build_time: Duration) -> io::Result<LocalCloud> {
        let front = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let back = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let identity_url = format!("http://{}", front.local_addr()?);
        let cloud_url = format!("http://{}", back.local_addr()?);
        let seed = Seed::new(&identity_url).services(Cloud::catalogue(&cloud_url));
        let clock = Clock::new(|| now().micros());
        let settings = kiln_sim::identity::IdentityOptions::new(seed, clock.clone());
        let identity = Arc::new(Identity::open(None, settings).map_err(io::Error::other)?);
        let (latency, quota) = (LATENCY, Some(-1));
        let options = Options { latency, build_time, quota, ..Options::new(clock) };
        let cloud = Cloud::open(options, identity.clone()).map_err(io::Error::other)?;
        tokio::spawn(axum::serve(back, cloud.router()).into_future());
        tokio::spawn(axum::serve(front, router(identity)).into_future());
        let client = kiln_cloud::client_builder().build().map_err(io::Error::other)?;
        let admin = login(&client, &identity_url).await.map_err(io::Error::other)?;
        Ok(LocalCloud { identity_url, cloud_url, client, admin })
    }

    async fn best(&self, servers: usize) -> io::Result<Outcome> {
        let mut best = self.once(servers).await?;
        for _ in 1..ROUNDS {
            let next = self.once(servers).await?;
            if next.time < best.time {
                best = next;
            }
        }
        Ok(best)
    }

    async fn once(&self, servers: usize) -> io::Result<Outcome> {
        // A new transport has no cached data; filling the caches is part of the measured time.
        let transport = OpenStack::new(Settings::new(&self.identity_url));
        let transport = transport.map_err(|error| io::Error::other(error.to_string()))?;
        let mut bench = Bench::with(Arc::new(transport)).await?;
        let auth = Auth::Password("demo".into());
        let (project, user) = (project_id("demo").into(), user_id("demo").into());
        let credential = Credential { project, user, auth, is_inherited: false };
        bench.settings = kiln_engine::StackSettings {
            credential: Some(Arc::new(credential)),
            ..Default::default()
        };
        self.ask("DELETE").await?;
        let (time, _) = bench.timed_create(&template(servers), &[]).await?;
        let calls = self.ask("GET").await?;
        let (removal, _) = bench.timed_delete().await?;
        let calls = calls["calls"].as_object().cloned().unwrap_or_default();
        let calls = calls.into_iter().filter(|(name, _)| !name.contains("/sim"));
        let calls = calls.filter_map(|(name, count)| Some((name, count.as_u64()?))).collect();
        Ok(Outcome { time, removal, calls })
    }

    async fn ask(&self, method: &str) -> io::Result<Value> {
        let method = method.parse().map_err(io::Error::other)?;
        let request = self.client.request(method, format!("{}/sim/calls", self.cloud_url));
        let reply = request.header("X-Auth-Token", &self.admin).send().await;
        let text = reply.map_err(io::Error::other)?.text().await.map_err(io::Error::other)?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}

async fn login(client: &reqwest::Client, identity_url: &str) -> Result<String, reqwest::Error> {
    let domain = json!({ "id": "default" });
    let body = json!({ "auth": {
        "identity": { "methods": ["password"], "password": {
            "user": { "name": "admin", "password": "admin", "domain": domain },
        } },
        "scope": { "project": { "name": "admin", "domain": domain } },
    } });
    let request = client.post(format!("{identity_url}/v3/auth/tokens"));
    let reply = request.json(&body).send().await?.error_for_status()?;
    let token = reply.headers().get("x-subject-token").and_then(|it| it.to_str().ok());
    Ok(token.unwrap_or_default().to_owned())
}

fn template(servers: usize) -> String {
    let mut text = String::from(
        "heat_template_version: 2021-04-16\nresources:\n  net: {type: OS::Neutron::Net}\n  \
         subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.60.0.0/22}}\n  \
         router: {type: OS::Neutron::Router, properties: {external_gateway_info: {network: public}}}\n  \
         interface:\n    type: OS::Neutron::RouterInterface\n    \
         properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}\n",
    );
    for n in 0..servers {
        _ = write!(
            text,
            "  p{n}: {{type: OS::Neutron::Port, properties: {{network: {{get_resource: net}}, \
             fixed_ips: [{{subnet: {{get_resource: subnet}}}}]}}}}\n  \
             s{n}: {{type: OS::Nova::Server, properties: {{flavor: m1.small, image: cirros, \
             networks: [{{port: {{get_resource: p{n}}}}}]}}}}\n  \
             f{n}: {{type: OS::Neutron::FloatingIP, depends_on: interface, properties: \
             {{floating_network: public, port_id: {{get_resource: p{n}}}}}}}\n"
        );
    }
    text
}
