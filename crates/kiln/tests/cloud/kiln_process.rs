//! A running Kiln and its cloud, asked over HTTP: `kiln dev`, or `kiln server` with a real OpenStack.

use super::given::PUBLIC_KEY;
use super::guests;
use crate::openstack::{Real, served};
use crate::test_directory::TestDirectory;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running Kiln. It ends with this.
pub(crate) struct KilnProcess {
    pub(crate) process: Child,
    pub(crate) identity: String,
    pub(crate) orchestration: String,
    cloudformation: String,
    cloudwatch: String,
    /// The URL of the simulated cloud.
    cloud: String,
    /// The real cloud, if it is one.
    pub(crate) real: Option<Real>,
    client: reqwest::Client,
    /// Whether guests run inside the servers while a stack is waited for.
    is_inhabited: bool,
    demo: Token,
    admin: Token,
    pub(crate) directory: TestDirectory,
}

/// The token of a user, with its project and catalogue.
#[derive(Clone, Default)]
pub(crate) struct Token {
    text: String,
    project: String,
    /// The endpoints of services, by type.
    endpoints: BTreeMap<String, String>,
}

/// The user of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    Demo,
    Admin,
}

/// The response to a request.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Json,
}

/// Everything there is in the cloud: the ids in each collection.
pub(crate) type Objects = BTreeMap<String, BTreeSet<String>>;

impl Drop for KilnProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl KilnProcess {
    /// A cloud with some more arguments for `kiln dev`.
    pub(crate) async fn start(arguments: &[&str]) -> KilnProcess {
        let kiln = KilnProcess::open(TestDirectory::with(&[]), arguments).await;
        kiln.furnish().await;
        kiln
    }

    /// A cloud that is in a folder already, or an empty one.
    pub(crate) async fn open(directory: TestDirectory, arguments: &[&str]) -> KilnProcess {
        let (process, lines) = launch(&directory, &[&["--free-ports"], arguments].concat());
        let url = |name: &str| lines.get(name).cloned().unwrap_or_else(|| panic!("no {name}"));
        let orchestration = url("orchestration").replace("/PROJECT_ID", "");
        let client = kiln_cloud::client_builder().build().expect("a client");
        let mut kiln = KilnProcess {
            process,
            identity: url("identity"),
            orchestration,
            cloudformation: url("cloudformation"),
            cloudwatch: url("cloudwatch"),
            cloud: url("cloud"),
            real: None,
            client,
            is_inhabited: true,
            demo: Token::default(),
            admin: Token::default(),
            directory,
        };
        kiln.demo = kiln.login("demo", "demo").await;
        kiln.admin = kiln.login("admin", "admin").await;
        kiln
    }

    /// A cloud without guests inside its servers: the test plays them.
    pub(crate) async fn empty(arguments: &[&str]) -> KilnProcess {
        let mut kiln = KilnProcess::start(arguments).await;
        kiln.is_inhabited = false;
        kiln
    }

    /// Kills it, with no chance to tidy up, and starts it again where it was.
    pub(crate) fn kill(&mut self, arguments: &[&str]) {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it is gone");
        let port = |url: &str| {
            let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
            host.and_then(|host| host.rsplit(':').next()).expect("a port").to_owned()
        };
        let ports = [
            ("--identity-port", port(&self.identity)),
            ("--api-port", port(&self.orchestration)),
            ("--cfn-port", port(&self.cloudformation)),
            ("--cloudwatch-port", port(&self.cloudwatch)),
            ("--cloud-port", port(&self.cloud)),
        ];
        let ports = ports.iter().flat_map(|(name, port)| [*name, port.as_str()]);
        let all: Vec<&str> = ports.chain(arguments.iter().copied()).collect();
        self.process = launch(&self.directory, &all).0;
        // The old connections are closed.
        self.client = kiln_cloud::client_builder().build().expect("a client");
    }

    /// A server with a simulated cloud in another process, by the URLs of its identity service and of its services.
    /// The directory has the configuration. There are no guests inside the servers.
    pub(crate) async fn on_simulated_cloud(
        directory: TestDirectory,
        [identity, cloud]: [String; 2],
    ) -> KilnProcess {
        let (process, [api, cloudformation]) = served(directory.path(), &[]);
        let mut kiln = KilnProcess {
            process,
            identity,
            orchestration: format!("{api}/v1"),
            cloudformation: format!("{cloudformation}/v1"),
            cloudwatch: String::new(),
            cloud,
            real: None,
            is_inhabited: false,
            client: kiln_cloud::client_builder().build().expect("a client"),
            demo: Token::default(),
            admin: Token::default(),
            directory,
        };
        kiln.demo = kiln.login("demo", "demo").await;
        kiln.admin = kiln.login("admin", "admin").await;
        kiln
    }

    /// A server that was started with a real cloud.
    pub(crate) async fn with(
        process: Child,
        [api, cloudformation]: [String; 2],
        real: Real,
        directory: TestDirectory,
    ) -> KilnProcess {
        let (identity, passwords) =
            (real.identity(), [real.password("demo"), real.password("admin")]);
        let mut kiln = KilnProcess {
            process,
            identity,
            orchestration: format!("{api}/v1"),
            cloudformation: format!("{cloudformation}/v1"),
            cloudwatch: String::new(),
            cloud: String::new(),
            real: Some(real),
            is_inhabited: false,
            client: kiln_cloud::client_builder().build().expect("a client"),
            demo: Token::default(),
            admin: Token::default(),
            directory,
        };
        kiln.demo = kiln.login("demo", &passwords[0]).await;
        kiln.admin = kiln.login("admin", &passwords[1]).await;
        kiln
    }

    async fn login(&self, name: &str, password: &str) -> Token {
        let domain = json!({ "id": "default" });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "name": name, "password": password, "domain": domain },
            } },
            "scope": { "project": { "name": name, "domain": domain } },
        } });
        let url = format!("{}/auth/tokens", self.identity);
        let response = self.client.post(url).json(&body).send().await.expect("a login");
        let text = response.headers()["x-subject-token"].to_str().expect("text").to_owned();
        let body: Json = response.json().await.expect("a body");
        let project = body["token"]["project"]["id"].as_str().expect("a project").to_owned();
        let mut endpoints = BTreeMap::new();
        for service in body["token"]["catalog"].as_array().into_iter().flatten() {
            let all = service["endpoints"].as_array().into_iter().flatten();
            let public =
                all.filter(|it| it["interface"] == "public").find_map(|it| it["url"].as_str());
            if let (Some(kind), Some(url)) = (service["type"].as_str(), public) {
                endpoints.insert(kind.to_owned(), url.trim_end_matches('/').to_owned());
            }
        }
        Token { text, project, endpoints }
    }

    /// The id of the project of a user.
    pub(crate) fn project(&self, who: Who) -> &str {
        &self.token(who).project
    }

    fn token(&self, who: Who) -> &Token {
        match who {
            Who::Demo => &self.demo,
            Who::Admin => &self.admin,
        }
    }

    /// Asks for a URL.
    pub(crate) async fn send(
        &self,
        who: Who,
        method: &str,
        url: String,
        body: Option<Json>,
    ) -> Reply {
        let mut request = self.request(who, method, url);
        if let Some(body) = body {
            request = request.json(&body);
        }
        answer(request).await
    }

    pub(crate) fn request(&self, who: Who, method: &str, url: String) -> reqwest::RequestBuilder {
        let request = self.client.request(method.parse().expect("a method"), url);
        request.header("X-Auth-Token", &self.token(who).text)
    }

    /// The URL of the CloudWatch API.
    pub(crate) fn cloudwatch(&self) -> &str {
        &self.cloudwatch
    }

    /// The HTTP client.
    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// The URL of the cloud, before the prefixes of its services.
    pub(crate) fn services(&self) -> &str {
        &self.cloud
    }

    /// The URL of the orchestration API, before the project.
    pub(crate) fn orchestration(&self) -> &str {
        &self.orchestration
    }

    /// The URL of the CloudFormation API.
    pub(crate) fn cloudformation(&self) -> &str {
        &self.cloudformation
    }

    /// A request to the orchestration API, as it goes over the wire; the path stands behind the project.
    pub(crate) fn written(&self, path: &str, headers: &str) -> (String, String) {
        let rest = self.orchestration.trim_start_matches("http://");
        let (host, version) = rest.split_once('/').expect("a version");
        let (token, project) = (&self.demo.text, &self.demo.project);
        let request = format!(
            "GET /{version}/{project}{path} HTTP/1.1\r\nHost: {host}\r\nX-Auth-Token: {token}\r\n{headers}\r\n"
        );
        (host.to_owned(), request)
    }

    /// Asks the orchestration API; the path stands behind the project.
    pub(crate) async fn ask(
        &self,
        who: Who,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Reply {
        let url = format!("{}/{}{path}", self.orchestration, self.token(who).project);
        self.send(who, method, url, body).await
    }

    /// Asks the cloud; the path has the service's prefix.
    pub(crate) async fn cloud(
        &self,
        who: Who,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Reply {
        self.send(who, method, format!("{}{path}", self.cloud), body).await
    }

    /// Asks a service of a real cloud; the path stands behind its endpoint in the catalogue.
    pub(crate) async fn service(&self, who: Who, method: &str, kind: &str, path: &str) -> Reply {
        let endpoint = self.token(who).endpoints.get(kind);
        let endpoint = endpoint.unwrap_or_else(|| panic!("there is no service {kind}"));
        let request = self.request(who, method, format!("{endpoint}{path}"));
        // Attachments of volumes are not listed to those who ask for less.
        answer(request.header("OpenStack-API-Version", "volume 3.27")).await
    }

    /// The user data of a server, as the compute service would hand it over.
    pub(crate) async fn user_data(&self, server: &str) -> Vec<u8> {
        use base64::Engine as _;
        let url = format!("{}/compute/v2.1/servers/{server}", self.cloud);
        let request = self.request(Who::Admin, "GET", url);
        let shown = answer(request.header("X-OpenStack-Nova-API-Version", "2.79")).await.body;
        let text = shown["server"]["OS-EXT-SRV-ATTR:user_data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(text).expect("Base64")
    }

    /// Asks the identity service; the path stands behind the version.
    pub(crate) async fn identity(
        &self,
        who: Who,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Reply {
        self.send(who, method, format!("{}{path}", self.identity), body).await
    }

    /// Has things go wrong in the cloud from now on.
    pub(crate) async fn set_faults(&self, rules: Json) {
        let reply = self.cloud(Who::Admin, "POST", "/sim/faults", Some(rules)).await;
        assert_eq!(reply.status, 204, "{}", reply.body);
    }

    /// Changes an object behind everybody's back; without fields it is gone.
    pub(crate) async fn meddle(&self, collection: &str, id: &str, fields: Json) {
        let body = json!({ "collection": collection, "id": id, "fields": fields });
        let reply = self.cloud(Who::Admin, "POST", "/sim/break", Some(body)).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
    }

    /// Puts into the cloud what templates take for granted.
    async fn furnish(&self) {
        let key = json!({ "keypair": { "name": "key", "public_key": PUBLIC_KEY } });
        for who in [Who::Demo, Who::Admin] {
            // The cloud makes each project's default group when it is first looked for.
            self.cloud(who, "GET", "/network/v2.0/security-groups", None).await;
            self.put(who, "/compute/v2.1/os-keypairs", &key).await;
            // Accounts of the object store stay once they are written to.
            let account = format!("/object-store/v1/AUTH_{}", self.token(who).project);
            self.cloud(who, "POST", &account, None).await;
        }
        let node = json!({ "name": "node-1", "driver": "fake-hardware" });
        self.put(Who::Admin, "/baremetal/v1/nodes", &node).await;
        let group = json!({ "security_group": { "name": "sg-1" } });
        self.put(Who::Demo, "/network/v2.0/security-groups", &group).await;
        // The network that a project without one gets stays with it.
        let project = &self.admin.project;
        let topology = format!("/network/v2.0/auto-allocated-topology/{project}");
        self.cloud(Who::Admin, "GET", &topology, None).await;
        self.furnish_server().await;
    }

    /// A server, and a pool of a load balancer beside it.
    async fn furnish_server(&self) {
        let image = self.find("/image/v2/images?limit=1000", "images", "cirros").await;
        let network = self.find("/network/v2.0/networks", "networks", "private").await;
        let subnet = self.find("/network/v2.0/subnets", "subnets", "private-subnet").await;
        let networks = json!([{ "uuid": network }]);
        let server =
            json!({ "name": "server", "imageRef": image, "flavorRef": "1", "networks": networks });
        self.put(Who::Demo, "/compute/v2.1/servers", &json!({ "server": server })).await;
        let balancer = json!({ "loadbalancer": { "name": "balancer", "vip_subnet_id": subnet } });
        let path = "/load-balancer/v2/lbaas/loadbalancers";
        let balancer = self.put(Who::Demo, path, &balancer).await;
        let pool = json!({ "pool": {
            "name": "pool", "loadbalancer_id": balancer["loadbalancer"]["id"],
            "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN",
        } });
        self.put(Who::Demo, "/load-balancer/v2/lbaas/pools", &pool).await;
    }

    /// The id of an object of the cloud, by its name.
    async fn find(&self, path: &str, many: &str, name: &str) -> String {
        let reply = self.cloud(Who::Demo, "GET", path, None).await;
        let mut all = reply.body[many].as_array().into_iter().flatten();
        let found = all.find(|object| object["name"] == name).expect("an object");
        found["id"].as_str().expect("an id").to_owned()
    }

    /// Puts an object into the cloud.
    async fn put(&self, who: Who, path: &str, body: &Json) -> Json {
        let reply = self.cloud(who, "POST", path, Some(body.clone())).await;
        assert!(reply.status < 300, "{path}: {}", reply.body);
        reply.body
    }

    /// Waits until a stack has come to rest, and gives its status and why; `None` if it is gone.
    pub(crate) async fn rest(&self, who: Who, name: &str) -> Option<(String, String)> {
        let stack = self.stack(who, name).await?;
        let text = |stack: &Json, name: &str| stack[name].as_str().unwrap_or_default().to_owned();
        let path = format!("{}/{}", text(&stack, "stack_name"), text(&stack, "id"));
        // The stream of a stack's events ends when nothing is under way in it any more.
        let mut stream = self.stream(who, &format!("/stacks/{path}"), 9).await;
        let mut received = Vec::new();
        while let Some(chunk) = stream.chunk().await.expect("the next events") {
            received.extend_from_slice(&chunk);
            for event in whole_events(&mut received) {
                if self.is_inhabited {
                    guests::hear(self, who, &event).await;
                }
            }
        }
        let stack = self.stack(who, &path).await?;
        Some((text(&stack, "stack_status"), text(&stack, "stack_status_reason")))
    }

    /// The events of a stack, from the first one on, as they happen.
    async fn stream(&self, who: Who, path: &str, depth: usize) -> reqwest::Response {
        let token = self.token(who);
        let url = format!("{}/{}{path}/events", self.orchestration, token.project);
        let request = self.client.get(format!("{url}?nested_depth={depth}"));
        let request = request.header("X-Auth-Token", &token.text);
        request.header("Accept", "text/event-stream").send().await.expect("a stream")
    }

    /// Waits until a stack has had so many events, and tells how many; `None` if it has come to rest before.
    pub(crate) async fn events_until(&self, who: Who, path: &str, count: usize) -> Option<usize> {
        let mut stream = self.stream(who, path, 0).await;
        let mut text = String::new();
        while let Some(chunk) = stream.chunk().await.expect("events") {
            text.push_str(&String::from_utf8_lossy(&chunk));
            let seen = text.matches("event: event\n").count();
            if seen >= count {
                return Some(seen);
            }
        }
        None
    }

    /// A stack, by its name, or by its name and its id.
    pub(crate) async fn stack(&self, who: Who, name: &str) -> Option<Json> {
        let reply = self.ask(who, "GET", &format!("/stacks/{name}"), None).await;
        (reply.status != 404).then(|| reply.body["stack"].clone())
    }

    /// Everything there is in the cloud and in its identity service.
    pub(crate) async fn objects(&self) -> Objects {
        let mut objects = match &self.real {
            Some(_) => self.books().await,
            None => self.simulated_objects().await,
        };
        self.add_identity(&mut objects).await;
        objects.retain(|_, ids| !ids.is_empty());
        objects
    }

    async fn simulated_objects(&self) -> Objects {
        let reply = self.cloud(Who::Admin, "GET", "/sim/objects", None).await;
        let mut objects = Objects::new();
        for (name, collection) in reply.body["objects"].as_object().expect("objects") {
            let keys = collection["projects"].as_object().into_iter().flatten();
            let keys = keys.flat_map(|(_, keys)| keys.as_array().cloned().unwrap_or_default());
            let keys = keys.filter_map(|key| key.as_str().map(str::to_owned));
            objects.insert(name.clone(), keys.collect());
        }
        objects
    }

    async fn add_identity(&self, objects: &mut Objects) {
        for (who, path, many) in [
            (Who::Admin, "users", "users"),
            (Who::Admin, "projects", "projects"),
            (Who::Admin, "groups", "groups"),
            (Who::Admin, "roles", "roles"),
            (Who::Admin, "domains", "domains"),
            (Who::Admin, "services", "services"),
            (Who::Admin, "endpoints", "endpoints"),
            (Who::Admin, "regions", "regions"),
            (Who::Admin, "role_assignments", "role_assignments"),
            (Who::Admin, "credentials", "credentials"),
            (Who::Admin, "OS-TRUST/trusts", "trusts"),
        ] {
            let url = format!("{}/{path}", self.identity);
            let reply = self.send(who, "GET", url, None).await;
            let all = reply.body[many].as_array().cloned().unwrap_or_default();
            let key = |object: &Json| match object["id"].as_str() {
                Some(id) => id.to_owned(),
                None => object.to_string(),
            };
            objects.insert(format!("identity.{path}"), all.iter().map(key).collect());
        }
    }

    /// The objects that the cloud has more or less than before, after a pause: trusts are revoked a moment after
    /// a stack is gone. Objects that may stay are not counted.
    pub(crate) async fn changed_besides(
        &self,
        before: &Objects,
        kept: Option<&str>,
    ) -> Vec<String> {
        let looks = if self.real.is_some() { 20 } else { 200 };
        let mut found = Vec::new();
        for _ in 0..looks {
            found = difference(before, &self.objects().await, kept);
            if found.is_empty() {
                break;
            }
        }
        found
    }

    /// The objects that the cloud has more or less than before, after a pause.
    pub(crate) async fn changed_since(&self, before: &Objects) -> Vec<String> {
        self.changed_besides(before, None).await
    }

    /// How many calls changed something in the cloud since it began.
    pub(crate) async fn changes(&self) -> u64 {
        if self.real.is_some() {
            // A real one does not count them.
            return 0;
        }
        let reply = self.cloud(Who::Admin, "GET", "/sim/calls", None).await;
        let calls = reply.body["calls"].as_object().expect("calls");
        let is_change = |name: &str| !name.contains("GET ") && !name.contains("HEAD ");
        let calls = calls.iter().filter(|(name, _)| is_change(name) && !name.contains("/sim"));
        calls.filter_map(|(_, count)| count.as_u64()).sum()
    }
}

/// Starts the program, and gives the addresses that it tells.
fn launch(directory: &TestDirectory, arguments: &[&str]) -> (Child, BTreeMap<String, String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.arg("dev").args(arguments).current_dir(directory.path()).stdout(Stdio::piped());
    // A test that wants to read the log has put an empty one into the directory.
    if let Ok(log) = std::fs::File::options().append(true).open(directory.path().join("log")) {
        command.env("KILN_LOG", "debug,kiln_sim=off").stderr(log);
    }
    let mut process = command.spawn().expect("kiln starts");
    let out = BufReader::new(process.stdout.take().expect("its output"));
    let mut lines = BTreeMap::new();
    for line in out.lines().map_while(Result::ok) {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(url)) = (words.next(), words.next()) {
            lines.insert(name.to_owned(), url.to_owned());
        }
        if line.starts_with("Stop with") {
            break;
        }
    }
    (process, lines)
}

/// Takes the events that have arrived whole from the beginning of a stream.
fn whole_events(stream: &mut Vec<u8>) -> Vec<Json> {
    let Some(end) = stream.windows(2).rposition(|pair| pair == b"\n\n") else { return Vec::new() };
    let text = String::from_utf8(stream.drain(..end + 2).collect()).expect("a text");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

async fn answer(request: reqwest::RequestBuilder) -> Reply {
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a text");
    Reply { status, body: serde_json::from_str(&text).unwrap_or(Json::String(text)) }
}

/// The objects that only one of two clouds has.
fn difference(before: &Objects, after: &Objects, kept: Option<&str>) -> Vec<String> {
    let none = BTreeSet::new();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| kept != Some(name)) {
        let (before, after) = (before.get(name).unwrap_or(&none), after.get(name).unwrap_or(&none));
        found.extend(after.difference(before).map(|id| format!("left: {name} {id}")));
        found.extend(before.difference(after).map(|id| format!("lost: {name} {id}")));
    }
    found
}
