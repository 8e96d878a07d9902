//! The service as benchmarks need it: `kiln dev` in a process of its own, as built beside this program, and its clients.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Raises the number of files that may be open to the hard limit, and returns that.
pub(crate) fn allow_many_files() -> io::Result<Option<u64>> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, most)?;
    Ok(limit.maximum)
}

/// Returns the CPU time of a process in hundredths of a second.
pub(crate) fn cpu_time(process: u32) -> io::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = behind.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    // The state field is a letter and is skipped, so these are the user and system times.
    Ok(fields.get(10).unwrap_or(&0) + fields.get(11).unwrap_or(&0))
}

/// The service process, which ends with this value.
pub(crate) struct Kiln {
    process: Child,
    /// Where it listens.
    pub(crate) service: ServiceAddress,
}

/// Where a service listens.
#[derive(Clone)]
pub(crate) struct ServiceAddress {
    /// Host and port of the API.
    pub(crate) address: String,
    /// The URL of the identity service.
    pub(crate) identity: String,
}

impl Drop for Kiln {
    fn drop(&mut self) {
        // The process may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Kiln {
    /// Starts the service; `None` if it is not built.
    pub(crate) fn start() -> io::Result<Option<Kiln>> {
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
        Ok(Some(Kiln { process, service: ServiceAddress { address, identity } }))
    }

    /// Reads a file of the process below `/proc`.
    fn proc_file(&self, file: &str) -> io::Result<String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.process.id()))
    }

    /// Returns the resident memory in kilobytes.
    pub(crate) fn memory(&self) -> io::Result<u64> {
        self.status("VmRSS:")
    }

    /// Returns the most resident memory that there ever was, in kilobytes.
    pub(crate) fn peak_memory(&self) -> io::Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> io::Result<u64> {
        let status = self.proc_file("status")?;
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        Ok(line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or(0))
    }

    /// Returns the CPU time in hundredths of a second.
    pub(crate) fn work(&self) -> io::Result<u64> {
        cpu_time(self.process.id())
    }

    /// Waits until the service is idle.
    pub(crate) async fn wait_until_idle(&self) -> io::Result<()> {
        loop {
            let before = self.work()?;
            tokio::time::sleep(Duration::from_secs(1)).await;
            if self.work()? - before <= 10 {
                return Ok(());
            }
        }
    }
}

/// A client with a token.
pub(crate) struct Caller {
    pub(crate) service: ServiceAddress,
    pub(crate) client: reqwest::Client,
    pub(crate) token: String,
    pub(crate) project: String,
}

impl Caller {
    /// Logs in as a user whose password and project have the user's name.
    pub(crate) async fn log_in(service: &ServiceAddress, user: &str) -> io::Result<Caller> {
        Caller::log_in_from(service, user, Ipv4Addr::LOCALHOST).await
    }

    /// The same from an address of this machine.
    pub(crate) async fn log_in_from(
        service: &ServiceAddress,
        user: &str,
        address: Ipv4Addr,
    ) -> io::Result<Caller> {
        let client = kiln_cloud::client_builder().local_address(IpAddr::from(address));
        let client = client.timeout(Duration::from_secs(60)).build();
        let client = client.map_err(io::Error::other)?;
        let domain = json!({ "id": "default" });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "name": user, "password": user, "domain": domain },
            } },
            "scope": { "project": { "name": user, "domain": domain } },
        } });
        let url = format!("{}/auth/tokens", service.identity);
        let reply = client.post(url).json(&body).send().await.map_err(io::Error::other)?;
        let token = reply.headers().get("x-subject-token").and_then(|it| it.to_str().ok());
        let token = token.unwrap_or_default().to_owned();
        let shown: Value = reply.json().await.map_err(io::Error::other)?;
        let project = shown["token"]["project"]["id"].as_str().unwrap_or_default().to_owned();
        Ok(Caller { service: service.clone(), client, token, project })
    }

    /// Sends a request to the orchestration API, and returns the status and the body of its reply.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        let url = format!("http://{}/v1/{}{path}", self.service.address, self.project);
        self.send_to(method, &url, body).await
    }

    /// The same without the status.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> io::Result<Value> {
        Ok(self.send(method, path, body.as_ref()).await?.1)
    }

    async fn send_to(
        &self,
        method: &str,
        url: &str,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        let method = method.parse().map_err(io::Error::other)?;
        let mut request = self.client.request(method, url).header("X-Auth-Token", &self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.map_err(io::Error::other)?;
        let status = reply.status().as_u16();
        let text = reply.text().await.map_err(io::Error::other)?;
        Ok((status, serde_json::from_str(&text).unwrap_or_default()))
    }

    /// Adds a user with the role `member` in a project of the same name; only an administrator may.
    pub(crate) async fn add_user(&self, name: &str) -> io::Result<()> {
        let url = |path: &str| format!("{}{path}", self.service.identity);
        let body = json!({ "project": { "name": name, "domain_id": "default" } });
        let project = self.send_to("POST", &url("/projects"), Some(&body)).await?.1;
        let body = json!({ "user": { "name": name, "password": name, "domain_id": "default" } });
        let user = self.send_to("POST", &url("/users"), Some(&body)).await?.1;
        let roles = self.send_to("GET", &url("/roles?name=member"), None).await?.1;
        let id = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
        let path = format!(
            "/projects/{}/users/{}/roles/{}",
            id(&project["project"]),
            id(&user["user"]),
            id(&roles["roles"][0])
        );
        match self.send_to("PUT", &url(&path), None).await?.0 {
            200..300 => Ok(()),
            status => Err(io::Error::other(format!("no role for {name}: {status}"))),
        }
    }
}
