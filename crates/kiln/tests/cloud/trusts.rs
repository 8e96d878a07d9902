//! The trusts of stacks in the simulated identity service are counted exactly, whichever user acts and whichever process
//! dies.

use crate::test_directory::TestDirectory;
use kiln_cloud::{
    Auth, Credential, Login, OpenStack, PendingDelegation, Service, Settings, Transport, UserToken,
    get,
};
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{self, Clock, Identity, Seed, project_id, user_id};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// How often the program is killed.
const KILLS: usize = 12;

/// A simulated cloud in this process, and perhaps a server in another.
pub(super) struct Site {
    directory: TestDirectory,
    identity_url: String,
    login: Login,
    pub(super) client: reqwest::Client,
    pub(super) admin: String,
    server: Option<Child>,
    api: String,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Site {
    pub(super) async fn new(delegated_trusts: bool) -> Site {
        let bind = || tokio::net::TcpListener::bind("127.0.0.1:0");
        let (front, back) = (bind().await.expect("a port"), bind().await.expect("a port"));
        let url = |socket: &tokio::net::TcpListener| {
            format!("http://{}", socket.local_addr().expect("an address"))
        };
        let (identity_url, cloud_url) = (url(&front), url(&back));
        let clock = Clock::new(|| kiln_engine::now().micros());
        let seed = Seed::new(&identity_url).services(Cloud::catalogue(&cloud_url));
        let settings = identity::IdentityOptions {
            delegated_trusts,
            ..identity::IdentityOptions::new(seed, clock.clone())
        };
        let identity = Arc::new(Identity::open(None, settings).expect("an identity service"));
        let cloud = Cloud::open(Options::new(clock), identity.clone()).expect("a cloud");
        let own = identity.service_login();
        let login = Login {
            user: kiln_cloud::EntityRef::Id(own.user_id.clone()),
            password: own.password.as_str().into(),
        };
        tokio::spawn(axum::serve(back, cloud.router()).into_future());
        tokio::spawn(axum::serve(front, identity::router(identity)).into_future());
        let client = kiln_cloud::client_builder().build().expect("a client");
        let (directory, server) = (TestDirectory::with(&[]), None);
        let (admin, api) = Default::default();
        let mut site = Site { directory, identity_url, login, client, admin, server, api };
        site.admin = site.log_in_by_name("admin", "admin").await;
        site
    }

    fn transport(&self) -> OpenStack {
        let trustee = Some(self.login.clone());
        let settings = Settings { trustee, ..Settings::new(&self.identity_url) };
        OpenStack::new(settings).expect("a transport")
    }

    // --- identity ---

    /// Logs in; gives the token.
    async fn log_in(&self, identity: Json, project: Option<&str>) -> String {
        let mut auth = json!({ "auth": { "identity": identity } });
        if let Some(project) = project {
            auth["auth"]["scope"] = json!({ "project": { "id": project_id(project) } });
        }
        let url = format!("{}/v3/auth/tokens", self.identity_url);
        let reply = self.client.post(url).json(&auth).send().await.expect("a reply");
        let token = reply.headers().get("x-subject-token").cloned();
        let Some(token) = token else { panic!("{}", reply.text().await.expect("a text")) };
        token.to_str().expect("text").to_owned()
    }

    pub(super) async fn log_in_by_name(&self, name: &str, project: &str) -> String {
        let user = json!({ "name": name, "password": name, "domain": { "id": "default" } });
        let identity = json!({ "methods": ["password"], "password": { "user": user } });
        self.log_in(identity, Some(project)).await
    }

    pub(super) async fn ask(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Json>,
    ) -> Json {
        let url = format!("{}/v3{path}", self.identity_url);
        let request = self.client.request(method.parse().expect("a method"), url);
        let mut request = request.header("X-Auth-Token", token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let text = request.send().await.expect("a reply").text().await.expect("a text");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Whose trusts there are.
    async fn trustors(&self) -> Vec<String> {
        let reply = self.ask(&self.admin, "GET", "/OS-TRUST/trusts", None).await;
        let trusts = reply["trusts"].as_array().expect("trusts").clone();
        let user = |trust: Json| trust["trustor_user_id"].as_str().unwrap_or_default().to_owned();
        trusts.into_iter().map(user).collect()
    }

    /// Waits until there are trusts of these users, and no others.
    async fn until_trusted_by(&self, users: &[&str]) {
        let mut users: Vec<String> = users.iter().map(|it| (*it).to_owned()).collect();
        users.sort();
        loop {
            let mut trustors = self.trustors().await;
            trustors.sort();
            if trustors == users {
                return;
            }
        }
    }

    // --- the server ---

    fn start(&mut self) {
        self.start_with("");
    }

    /// Starts the server with some more configuration.
    pub(super) fn start_with(&mut self, more: &str) {
        let config = format!(
            "{more}[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
             [keystone_authtoken]\nauth_url = {}\nusername = heat\nproject_name = service\npassword = {}\n",
            self.identity_url,
            self.login.password.expose()
        );
        self.directory.put("kiln.conf", config.as_bytes());
        let mut server = Command::new(env!("CARGO_BIN_EXE_kiln"))
            .args(["server", "--config", "kiln.conf", "--quiet", "1", "--lease", "2"])
            .current_dir(self.directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(server.stdout.take().expect("its output")).lines();
        let mut words = lines
            .map_while(Result::ok)
            .flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let address = words.find(|word| word.contains("://")).expect("an address");
        self.api = format!("{}/v1/{}", address.trim_end_matches('.'), project_id("demo"));
        self.server = Some(server);
    }

    /// Kills the server, with no chance to tidy up.
    fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            _ = server.kill();
            _ = server.wait();
        }
    }

    pub(super) fn request(&self, token: &str, method: &str, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}{path}", self.api);
        let request = self.client.request(method.parse().expect("a method"), url);
        request.header("X-Auth-Token", token)
    }

    fn creation(&self, token: &str, stack: &str) -> reqwest::RequestBuilder {
        let template =
            "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::RandomString}}\n";
        let body = json!({ "stack_name": stack, "template": template });
        self.request(token, "POST", "/stacks").json(&body)
    }

    /// A stack as it is shown; null if it is not there.
    pub(super) async fn stack(&self, token: &str, stack: &str) -> Json {
        let reply = self.request(token, "GET", &format!("/stacks/{stack}")).send().await;
        let reply = reply.expect("a reply");
        let body: Json = reply.json().await.expect("a body");
        body["stack"].clone()
    }

    /// Waits until a stack is in a state.
    pub(super) async fn until(&self, token: &str, stack: &str, wanted: &str) {
        while self.stack(token, stack).await["stack_status"] != wanted {}
    }

    /// The names of all stacks with their ids.
    async fn stacks(&self, token: &str) -> Vec<String> {
        let reply = self.request(token, "GET", "/stacks").send().await.expect("a reply");
        let body: Json = reply.json().await.expect("a body");
        let all = body["stacks"].as_array().cloned().unwrap_or_default();
        let text = |it: &Json, name: &str| it[name].as_str().unwrap_or_default().to_owned();
        all.iter().map(|it| format!("{}/{}", text(it, "stack_name"), text(it, "id"))).collect()
    }
}

fn visitor(token: &str) -> UserToken {
    UserToken {
        token: token.into(),
        user: user_id("demo").into(),
        project: project_id("demo").into(),
        roles: vec!["member".into()],
        ..UserToken::default()
    }
}

fn promise(mark: u128) -> PendingDelegation {
    let (user, project) = (user_id("demo").into(), project_id("demo").into());
    PendingDelegation { mark, secret: "a secret that nobody guesses".into(), user, project }
}

async fn can_be_used(transport: &OpenStack, credential: &Credential) -> bool {
    transport.send(credential, get(Service::Network, "/networks")).await.is_ok()
}

#[tokio::test]
async fn a_trust_is_found_by_its_mark_and_given_back() {
    let site = Site::new(true).await;
    let transport = site.transport();
    let token = site.log_in_by_name("demo", "demo").await;
    let lent = transport.delegate(&visitor(&token), &promise(4711)).await.expect("a trust");
    let other = transport.delegate(&visitor(&token), &promise(4712)).await.expect("a trust");
    assert!(matches!(lent.auth, Auth::Trust(_)));
    // Another process that knows only the pending delegation finds the same.
    let later = site.transport();
    assert_eq!(
        later.find_delegations(&promise(4711)).await.expect("a list"),
        std::slice::from_ref(&lent)
    );
    assert_eq!(later.find_delegations(&promise(1)).await.expect("a list"), []);
    assert!(can_be_used(&later, &lent).await && later.accepts(&lent).await);
    later.revoke(&lent).await.expect("it is taken back");
    assert!(!site.transport().accepts(&lent).await);
    assert!(site.transport().accepts(&other).await);
    site.until_trusted_by(&[&user_id("demo")]).await;
    later.revoke(&lent).await.expect("once is enough");
}

#[tokio::test]
async fn where_no_trust_can_be_made_an_application_credential_is() {
    let site = Site::new(false).await;
    let password = site.log_in_by_name("demo", "demo").await;
    let path = format!("/users/{}/application_credentials", user_id("demo"));
    let own = json!({ "application_credential": { "name": "own", "unrestricted": true } });
    let own = site.ask(&password, "POST", &path, Some(own)).await["application_credential"].clone();
    let auth = json!({ "id": own["id"], "secret": own["secret"] });
    let identity = json!({ "methods": ["application_credential"], "application_credential": auth });
    let token = site.log_in(identity, None).await;
    let names = || async {
        let reply = site.ask(&password, "GET", &path, None).await;
        let all = reply["application_credentials"].as_array().expect("credentials").clone();
        all.iter().map(|it| it["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let transport = site.transport();
    let lent = transport.delegate(&visitor(&token), &promise(7)).await.expect("a credential");
    assert!(matches!(lent.auth, Auth::ApplicationCredential { .. }));
    assert_eq!(site.trustors().await, Vec::<String>::new());
    assert_eq!(names().await.len(), 2);
    let later = site.transport();
    assert_eq!(
        later.find_delegations(&promise(7)).await.expect("a list"),
        std::slice::from_ref(&lent)
    );
    assert!(can_be_used(&later, &lent).await);
    later.revoke(&lent).await.expect("it is taken back");
    assert_eq!(names().await, ["own"]);
    assert_eq!(later.find_delegations(&promise(7)).await.expect("a list"), []);
}

#[tokio::test]
async fn whoever_changes_a_stack_lends_and_whoever_deletes_it_does_not() {
    let mut site = Site::new(true).await;
    site.start();
    let admin = site.admin.clone();
    let user = json!({ "user": { "name": "other", "password": "other", "domain_id": "default" } });
    let user = site.ask(&admin, "POST", "/users", Some(user)).await["user"].clone();
    let other_id = user["id"].as_str().expect("a user").to_owned();
    let roles = site.ask(&admin, "GET", "/roles?name=member", None).await;
    let role = roles["roles"][0]["id"].as_str().expect("a role").to_owned();
    let grant = format!("/projects/{}/users/{other_id}/roles/{role}", project_id("demo"));
    site.ask(&admin, "PUT", &grant, None).await;
    let demo = site.log_in_by_name("demo", "demo").await;
    let other = site.log_in_by_name("other", "demo").await;
    for stack in ["kept", "changed"] {
        let reply = site.creation(&demo, stack).send().await.expect("a reply");
        assert_eq!(reply.status(), 201, "{}", reply.text().await.unwrap_or_default());
        site.until(&demo, stack, "CREATE_COMPLETE").await;
    }
    site.until_trusted_by(&[&user_id("demo"), &user_id("demo")]).await;
    let [kept, changed] = ["kept", "changed"].map(|name| format!("/stacks/{name}"));
    let path =
        |stack: &Json, name: &str| format!("{name}/{}", stack["id"].as_str().unwrap_or_default());
    let kept = path(&site.stack(&demo, "kept").await, &kept);
    let changed = path(&site.stack(&demo, "changed").await, &changed);
    // The delegation of the other user replaces the former one.
    let reply = site.request(&other, "PATCH", &changed).json(&json!({})).send().await;
    assert_eq!(reply.expect("a reply").status(), 202);
    site.until_trusted_by(&[&user_id("demo"), &other_id]).await;
    // A delete is done with what the stack has.
    let reply = site.request(&other, "DELETE", &kept).send().await.expect("a reply");
    assert_eq!(reply.status(), 204);
    site.until_trusted_by(&[&other_id]).await;
    let reply = site.request(&demo, "DELETE", &changed).send().await.expect("a reply");
    assert_eq!(reply.status(), 204);
    site.until_trusted_by(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_trust_is_given_back_however_often_the_program_is_killed() {
    let mut site = Site::new(true).await;
    let demo = site.log_in_by_name("demo", "demo").await;
    site.start();
    for kill in 0..KILLS {
        let before = site.trustors().await.len();
        // It dies as soon as the trust is there, whether or not the stack is.
        let creation = tokio::spawn(site.creation(&demo, &format!("s{kill}")).send());
        while site.trustors().await.len() == before && !creation.is_finished() {}
        site.kill();
        _ = creation.await;
        site.start();
        // And as soon as a stack is gone, whether or not its trust is.
        if let Some(stack) = site.stacks(&demo).await.first() {
            let path = format!("/stacks/{stack}");
            let reply = site.request(&demo, "DELETE", &path).send().await;
            assert_eq!(reply.expect("a reply").status(), 204);
            while site.stacks(&demo).await.contains(stack) {}
            site.kill();
            site.start();
        }
    }
    for stack in site.stacks(&demo).await {
        let reply = site.request(&demo, "DELETE", &format!("/stacks/{stack}")).send().await;
        assert_eq!(reply.expect("a reply").status(), 204);
    }
    site.until_trusted_by(&[]).await;
}
