//! The simulated cloud, in a process of its own that outlives all others; and the requests by which it is inspected.

use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{self, Clock, Identity, IdentityOptions, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// How long a call takes, and how long objects are built.
const LATENCY: Duration = Duration::from_millis(10);
const BUILD_TIME: Duration = Duration::from_millis(200);

/// Where the cloud is, and how services log in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CloudAddress {
    pub(super) identity_port: u16,
    pub(super) services_port: u16,
    pub(super) password: String,
    pub(super) domain_id: String,
    pub(super) domain_admin: String,
    pub(super) domain_password: String,
}

/// The process of the cloud, which ends with this.
pub(super) struct CloudProcess {
    process: Child,
    pub(super) address: CloudAddress,
}

impl Drop for CloudProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl CloudProcess {
    /// Starts the cloud; its catalogue names the ports of the orchestration and CloudFormation APIs.
    pub(super) fn start(api: u16, cfn: u16) -> io::Result<CloudProcess> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["chaos-cloud", &api.to_string(), &cfn.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let printed = process.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        BufReader::new(printed).read_line(&mut line)?;
        let address = serde_json::from_str(&line)?;
        Ok(CloudProcess { process, address })
    }
}

/// Runs the cloud until the other end of the standard input is closed.
pub(crate) fn serve(arguments: &[String]) -> Result<String, String> {
    let [api, cfn] = arguments else { return Err("usage: xtask chaos-cloud PORT PORT".to_owned()) };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(run(api, cfn)).map_err(|error| error.to_string())?;
    // It ends with the process that started it.
    _ = io::stdin().read_to_end(&mut Vec::new());
    Ok(String::new())
}

fn microseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

async fn run(api: &str, cfn: &str) -> io::Result<()> {
    let [front, back] =
        [TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?];
    let (identity_port, services_port) = (front.local_addr()?.port(), back.local_addr()?.port());
    let [identity_url, services_url] =
        [identity_port, services_port].map(|port| format!("http://127.0.0.1:{port:05}"));
    let clock = Clock::new(microseconds);
    let seed = Seed::new(&identity_url)
        .service("orchestration", "heat", &format!("http://127.0.0.1:{api}/v1/%(project_id)s"))
        .service("cloudformation", "heat-cfn", &format!("http://127.0.0.1:{cfn}/v1"))
        .services(Cloud::catalogue(&services_url));
    let identity = Identity::open(None, IdentityOptions::new(seed, clock.clone()));
    let identity = Arc::new(identity.map_err(io::Error::other)?);
    let options = Options {
        quota: Some(-1),
        latency: LATENCY,
        build_time: BUILD_TIME,
        ..Options::new(clock)
    };
    let cloud = Cloud::open(options, identity.clone()).map_err(io::Error::other)?;
    let (own, domain) = (identity.service_login(), identity.domain_admin_login());
    let address = CloudAddress {
        identity_port,
        services_port,
        password: own.password.clone(),
        domain_id: identity.stack_domain_id().to_owned(),
        domain_admin: domain.user_name.clone(),
        domain_password: domain.password.clone(),
    };
    tokio::spawn(axum::serve(back, cloud.router()).into_future());
    tokio::spawn(axum::serve(front, identity::router(identity)).into_future());
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&address)?)?;
    out.flush()
}

/// A user with a token, who calls the cloud directly.
#[derive(Clone)]
pub(super) struct CloudUser {
    client: reqwest::Client,
    pub(super) token: String,
    pub(super) project: String,
    address: CloudAddress,
}

/// Everything there is: the ids in each collection.
pub(super) type Objects = BTreeMap<String, BTreeSet<String>>;

impl CloudUser {
    /// Logs in as a user whose password and project have the user's name.
    pub(super) async fn log_in(address: &CloudAddress, name: &str) -> io::Result<CloudUser> {
        let client = kiln_cloud::client_builder().timeout(Duration::from_secs(20)).build();
        let client = client.map_err(io::Error::other)?;
        let domain = json!({ "id": "default" });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "name": name, "password": name, "domain": domain },
            } },
            "scope": { "project": { "name": name, "domain": domain } },
        } });
        let url = format!("http://127.0.0.1:{}/v3/auth/tokens", address.identity_port);
        let reply = client.post(url).json(&body).send().await.map_err(io::Error::other)?;
        let token = reply.headers().get("x-subject-token").and_then(|it| it.to_str().ok());
        let token = token.unwrap_or_default().to_owned();
        let shown: Value = reply.json().await.map_err(io::Error::other)?;
        let project = shown["token"]["project"]["id"].as_str().unwrap_or_default().to_owned();
        Ok(CloudUser { client, token, project, address: address.clone() })
    }

    async fn send(
        &self,
        method: &str,
        url: String,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        let method = method.parse().map_err(io::Error::other)?;
        let mut request = self.client.request(method, url).header("X-Auth-Token", &self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.map_err(io::Error::other)?;
        let status = reply.status().as_u16();
        Ok((status, reply.json().await.unwrap_or_default()))
    }

    /// Asks a service; the path begins with its prefix.
    pub(super) async fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        self.send(method, format!("http://127.0.0.1:{:05}{path}", self.address.services_port), body)
            .await
    }

    /// Has the cloud go wrong as these rules say.
    pub(super) async fn set_faults(&self, rules: &Value) -> io::Result<()> {
        match self.ask("POST", "/sim/faults", Some(rules)).await? {
            (204, _) => Ok(()),
            (status, body) => {
                Err(io::Error::other(format!("the rules are refused: {status} {body}")))
            }
        }
    }

    /// Everything there is in the cloud and in its identity service.
    pub(super) async fn objects(&self) -> io::Result<Objects> {
        let mut objects = Objects::new();
        let listed = self.ask("GET", "/sim/objects", None).await?.1;
        for (name, collection) in listed["objects"].as_object().into_iter().flatten() {
            let keys = collection["projects"].as_object().into_iter().flatten();
            let keys = keys.flat_map(|(_, keys)| keys.as_array().cloned().unwrap_or_default());
            let keys = keys.filter_map(|key| key.as_str().map(str::to_owned)).collect();
            objects.insert(name.clone(), keys);
        }
        for (path, many) in [
            ("users", "users"),
            ("projects", "projects"),
            ("credentials", "credentials"),
            ("OS-TRUST/trusts", "trusts"),
        ] {
            let url = format!("http://127.0.0.1:{:05}/v3/{path}", self.address.identity_port);
            let listed = self.send("GET", url, None).await?.1;
            let all = listed[many].as_array().into_iter().flatten();
            let ids = all.filter_map(|object| object["id"].as_str().map(str::to_owned)).collect();
            objects.insert(format!("identity.{many}"), ids);
        }
        objects.retain(|_, ids| !ids.is_empty());
        Ok(objects)
    }
}
