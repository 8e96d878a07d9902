//! A running `kiln dev`, asked over HTTP.

use crate::place::Place;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running `kiln dev`. It ends with this.
pub(crate) struct World {
    process: Child,
    identity: String,
    orchestration: String,
    cloudformation: String,
    cloud: String,
    client: reqwest::Client,
    demo: Token,
    admin: Token,
    place: Place,
}

#[derive(Clone, Default)]
struct Token {
    text: String,
    project: String,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    Demo,
    Admin,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Json,
}

/// Everything there is in the cloud: the ids in each collection.
pub(crate) type Objects = BTreeMap<String, BTreeSet<String>>;

impl Drop for World {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl World {
    /// A cloud with some more arguments for `kiln dev`.
    pub(crate) async fn start(arguments: &[&str]) -> World {
        let place = Place::with(&[]);
        let (process, lines) = launch(&place, &[&["--free-ports"], arguments].concat());
        let url = |name: &str| lines.get(name).cloned().unwrap_or_else(|| panic!("no {name}"));
        let orchestration = url("orchestration").replace("/PROJECT_ID", "");
        let client = kiln_cloud::client_builder().build().expect("a client");
        let mut world = World {
            process,
            identity: url("identity"),
            orchestration,
            cloudformation: url("cloudformation"),
            cloud: url("cloud"),
            client,
            demo: Token::default(),
            admin: Token::default(),
            place,
        };
        world.demo = world.login("demo").await;
        world.admin = world.login("admin").await;
        for who in [Who::Demo, Who::Admin] {
            // The cloud makes each project's default group when it is first looked for.
            world.cloud(who, "GET", "/network/v2.0/security-groups", None).await;
            // Accounts of the object store stay once they are written to.
            let account = format!("/object-store/v1/AUTH_{}", world.token(who).project);
            world.cloud(who, "POST", &account, None).await;
        }
        let node = json!({ "name": "node-1", "driver": "fake-hardware" });
        world.cloud(Who::Admin, "POST", "/baremetal/v1/nodes", Some(node)).await;
        world
    }

    /// Kills it, with no chance to tidy up, and starts it again where it was.
    pub(crate) fn kill(&mut self, arguments: &[&str]) {
        self.process.kill().expect("it is killed");
        self.process.wait().expect("it is gone");
        let port = |url: &str| {
            let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
            host.and_then(|host| host.rsplit(':').next()).expect("a port").to_owned()
        };
        let ports = [&self.identity, &self.orchestration, &self.cloudformation, &self.cloud];
        let ports: Vec<String> = ports.iter().map(|url| port(url)).collect();
        let names = ["--identity-port", "--api-port", "--cfn-port", "--cloud-port"];
        let ports = names.iter().zip(&ports).flat_map(|(name, port)| [*name, port.as_str()]);
        let all: Vec<&str> = ports.chain(arguments.iter().copied()).collect();
        self.process = launch(&self.place, &all).0;
        // Nothing of the old connections is of use.
        self.client = kiln_cloud::client_builder().build().expect("a client");
    }

    async fn login(&self, name: &str) -> Token {
        let domain = json!({ "id": "default" });
        let body = json!({ "auth": {
            "identity": { "methods": ["password"], "password": {
                "user": { "name": name, "password": name, "domain": domain },
            } },
            "scope": { "project": { "name": name, "domain": domain } },
        } });
        let url = format!("{}/auth/tokens", self.identity);
        let response = self.client.post(url).json(&body).send().await.expect("a login");
        let text = response.headers()["x-subject-token"].to_str().expect("text").to_owned();
        let body: Json = response.json().await.expect("a body");
        let project = body["token"]["project"]["id"].as_str().expect("a project").to_owned();
        Token { text, project }
    }

    fn token(&self, who: Who) -> &Token {
        match who {
            Who::Demo => &self.demo,
            Who::Admin => &self.admin,
        }
    }

    async fn send(&self, who: Who, method: &str, url: String, body: Option<Json>) -> Reply {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, url);
        request = request.header("X-Auth-Token", &self.token(who).text);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let text = response.text().await.expect("a text");
        Reply { status, body: serde_json::from_str(&text).unwrap_or(Json::String(text)) }
    }

    /// What asks anybody anything.
    pub(crate) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Where the services of the cloud are: their prefixes stand behind it.
    pub(crate) fn services(&self) -> &str {
        &self.cloud
    }

    /// Where the orchestration API is: projects stand behind it.
    pub(crate) fn orchestration(&self) -> &str {
        &self.orchestration
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

    /// Puts a key of this name into the projects of both users.
    pub(crate) async fn make_key(&self, name: &str) {
        let key =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0OBbFSjY5Nc9Xp2yXoKPXNqkPd2hnPBVxL5BDPHGhV kiln";
        let body = json!({ "keypair": { "name": name, "public_key": key } });
        for who in [Who::Demo, Who::Admin] {
            let path = "/compute/v2.1/os-keypairs";
            let reply = self.cloud(who, "POST", path, Some(body.clone())).await;
            assert!(reply.status < 300, "{}", reply.body);
        }
    }

    /// The id of an object of the cloud, by its name.
    pub(crate) async fn find(&self, path: &str, many: &str, name: &str) -> String {
        let reply = self.cloud(Who::Demo, "GET", path, None).await;
        let all = reply.body[many].as_array().cloned().unwrap_or_default();
        let found = all.iter().find(|object| object["name"] == name);
        found.and_then(|object| object["id"].as_str()).unwrap_or(name).to_owned()
    }

    /// Waits until a stack has come to rest, and gives its status and why; `None` if it is gone.
    pub(crate) async fn rest(&self, who: Who, name: &str) -> Option<(String, String)> {
        let stack = self.stack(who, name).await?;
        let text = |stack: &Json, name: &str| stack[name].as_str().unwrap_or_default().to_owned();
        let path = format!("{}/{}", text(&stack, "stack_name"), text(&stack, "id"));
        // The stream of a stack's events ends when nothing is under way in it any more.
        let token = self.token(who);
        let url = format!("{}/{}/stacks/{path}/events", self.orchestration, token.project);
        let request = self.client.get(url).header("X-Auth-Token", &token.text);
        let stream = request.header("Accept", "text/event-stream").send().await;
        stream.expect("a stream").bytes().await.expect("the end of the stream");
        let stack = self.stack(who, &path).await?;
        Some((text(&stack, "stack_status"), text(&stack, "stack_status_reason")))
    }

    /// A stack, by its name, or by its name and its id.
    async fn stack(&self, who: Who, name: &str) -> Option<Json> {
        let reply = self.ask(who, "GET", &format!("/stacks/{name}"), None).await;
        (reply.status != 404).then(|| reply.body["stack"].clone())
    }

    /// Everything there is in the cloud and in its identity service.
    pub(crate) async fn objects(&self) -> Objects {
        let reply = self.cloud(Who::Admin, "GET", "/sim/objects", None).await;
        let mut objects = Objects::new();
        for (name, collection) in reply.body["objects"].as_object().expect("objects") {
            let keys = collection["projects"].as_object().into_iter().flatten();
            let keys = keys.flat_map(|(_, keys)| keys.as_array().cloned().unwrap_or_default());
            let keys = keys.filter_map(|key| key.as_str().map(str::to_owned));
            objects.insert(name.clone(), keys.collect());
        }
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
        objects.retain(|_, ids| !ids.is_empty());
        objects
    }

    /// What is there more or less than before, when it has settled: rights are given back a moment after a
    /// stack is gone.
    pub(crate) async fn changed_since(&self, before: &Objects) -> Vec<String> {
        const LOOKS: usize = 200;
        let mut found = Vec::new();
        for _ in 0..LOOKS {
            found = difference(before, &self.objects().await);
            if found.is_empty() {
                break;
            }
        }
        found
    }

    /// How many calls changed something in the cloud since it began.
    pub(crate) async fn changes(&self) -> u64 {
        let reply = self.cloud(Who::Admin, "GET", "/sim/calls", None).await;
        let calls = reply.body["calls"].as_object().expect("calls");
        let is_change = |name: &str| !name.contains("GET ") && !name.contains("HEAD ");
        let calls = calls.iter().filter(|(name, _)| is_change(name) && !name.contains("/sim"));
        calls.filter_map(|(_, count)| count.as_u64()).sum()
    }
}

/// Starts the program, and gives the addresses that it tells.
fn launch(place: &Place, arguments: &[&str]) -> (Child, BTreeMap<String, String>) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .arg("dev")
        .args(arguments)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("kiln starts");
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

/// What one of two clouds has more than the other.
fn difference(before: &Objects, after: &Objects) -> Vec<String> {
    let none = BTreeSet::new();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (before, after) = (before.get(name).unwrap_or(&none), after.get(name).unwrap_or(&none));
        found.extend(after.difference(before).map(|id| format!("left: {name} {id}")));
        found.extend(before.difference(after).map(|id| format!("lost: {name} {id}")));
    }
    found
}
