//! An API and an engine in processes of their own, on one PostgreSQL: who asks sees what was accepted, at once.

use crate::attacks::servers::Postgres;
use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
parameters: {v: {type: string}}
resources: {r: {type: OS::Heat::Value, properties: {value: {get_param: v}}}}
outputs: {o: {value: {get_attr: [r, value]}}}
";

fn config(database: &str) -> String {
    format!(
        "[database]\nconnection = {database}\n[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
         [paste_deploy]\nflavor = noauth\n"
    )
}

struct Client {
    http: reqwest::Client,
    stacks: String,
}

impl Client {
    async fn send(&self, method: reqwest::Method, path: &str, body: Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.stacks)).json(&body);
        let reply = request.send().await.expect("an answer");
        let status = reply.status().as_u16();
        (status, reply.json().await.unwrap_or_default())
    }

    async fn show(&self, path: &str) -> Value {
        let (status, mut body) = self.send(reqwest::Method::GET, path, Value::Null).await;
        assert_eq!(status, 200, "{body}");
        body["stack"].take()
    }

    async fn until(&self, path: &str, state: &str) {
        while self.show(path).await["stack_status"] != state {
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn who_asks_sees_what_was_accepted() {
    let postgres = Postgres::start();
    let config = config(&postgres.database("kiln"));
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let start = |role| {
        let arguments = ["server", "--config", "kiln.conf", "--role", role];
        Served::of(directory.command(&arguments).spawn().expect("the program starts"))
    };
    let mut api = start("api");
    let address = api.address();
    let mut engine = start("engine");
    engine.wait_for("The engine runs");
    let http = kiln_cloud::client_builder().build().expect("a client");
    let client = Client { http, stacks: format!("{address}/v1/p/stacks") };
    let path = wait(async {
        let body = |v: usize| json!({ "stack_name": "s", "template": TEMPLATE, "parameters": { "v": v.to_string() } });
        let (status, created) = client.send(reqwest::Method::POST, "", body(0)).await;
        assert_eq!(status, 201, "{created}");
        let path = format!("/s/{}", created["stack"]["id"].as_str().expect("an id"));
        client.until(&path, "CREATE_COMPLETE").await;
        let mut took = Duration::ZERO;
        for v in 1..=30 {
            let began = Instant::now();
            let (status, refused) = client.send(reqwest::Method::PUT, &path, body(v)).await;
            assert_eq!(status, 202, "{refused}");
            let stack = client.show(&path).await;
            let state = stack["stack_status"].as_str().expect("a state").to_owned();
            assert!(state.starts_with("UPDATE_"), "{v}: {state} is that of an earlier action");
            assert_eq!(stack["parameters"]["v"], v.to_string(), "{state}");
            if state == "UPDATE_COMPLETE" {
                assert_eq!(stack["outputs"][0]["output_value"], v.to_string());
            }
            client.until(&path, "UPDATE_COMPLETE").await;
            took += began.elapsed();
            let stack = client.show(&path).await;
            assert_eq!(stack["outputs"][0]["output_value"], v.to_string());
        }
        println!("an update takes {:?}, processes apart", took / 30);
        path
    });
    // Without its database the service says so soon, and when to try again.
    drop(postgres);
    wait(async {
        let request = client.http.get(format!("{}{path}", client.stacks));
        let reply = request.send().await.expect("an answer");
        assert_eq!(reply.status(), 503);
        assert_eq!(reply.headers()["retry-after"], "5");
    });
}
