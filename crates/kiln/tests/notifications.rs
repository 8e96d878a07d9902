//! Notifications for operators: an unmodified listener of oslo.messaging receives them from a real RabbitMQ.

#[allow(dead_code, reason = "others use more of it")]
#[path = "../../bus/tests/broker.rs"]
mod broker;

use crate::clients::clients;
use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use broker::Broker;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A program that listens.
struct Listener {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Messages of one level that arrived while the test waited for another level.
    aside: VecDeque<Value>,
}

impl Listener {
    fn start(clients: &Path, broker: &Broker) -> Listener {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/listener.py");
        let mut process = Command::new(clients.join("bin/python"))
            .arg(script)
            .arg(broker.url())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the listener starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("a line");
        assert_eq!(first, "listening");
        Listener { process, lines, aside: VecDeque::new() }
    }

    /// The next message of a level. What is sent at two levels goes through two queues, which keep no
    /// order between them.
    fn next(&mut self, priority: &str) -> Value {
        if let Some(at) = self.aside.iter().position(|it| it["priority"] == priority) {
            return self.aside.remove(at).expect("a message");
        }
        loop {
            let line = self.lines.next().expect("a message").expect("a message");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["priority"] == priority {
                return message;
            }
            self.aside.push_back(message);
        }
    }

    /// The next messages of a level, each in a line.
    fn lines<const N: usize>(&mut self, priority: &str) -> [String; N] {
        [(); N].map(|()| line(&self.next(priority)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The relevant parts of a message. Names of nested stacks end in something random.
fn line(message: &Value) -> String {
    let payload = &message["payload"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&payload["stack_name"]);
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    let event = text(&message["event"]);
    let capacity = payload.get("capacity").map(|it| format!(" {it}")).unwrap_or_default();
    format!("{name} {}{capacity}", event.trim_start_matches("orchestration."))
}

const GROUP: &str = concat!(
    r"
heat_template_version: 2021-04-16
description: a group
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties: {min_size: 1, max_size: 3, resource: {type: OS::Heat::TestResource}}
",
    include_str!("../../../tests/samples/scaling_policy.yaml"),
);

const FAILING: &str = "heat_template_version: 2021-04-16\n\
    resources: {r: {type: OS::Heat::TestResource, properties: {fail: true}}}\n";

const PLAIN: &str =
    "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::TestResource}}\n";

/// Makes a stack, and tells where it is.
fn make(api: &str, name: &str, template: &str) -> String {
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let stack = json!({"stack_name": name, "template": template, "disable_rollback": false});
        let made = client.post(format!("{api}/v1/admin/stacks")).json(&stack).send().await;
        let made = made.expect("an answer");
        assert_eq!(made.status(), 201);
        made.headers()["location"].to_str().expect("an address").to_owned()
    })
}

fn signal(stack: &str, resource: &str) {
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let url = format!("{stack}/resources/{resource}/signal");
        let told = client.post(url).send().await.expect("an answer");
        assert!(told.status().is_success(), "{}", told.status());
    });
}

/// Waits until a stack has come to a state.
fn until(stack: &str, state: &str) {
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        loop {
            let shown = client.get(stack).send().await.expect("an answer");
            let shown: Value = shown.json().await.expect("JSON");
            if shown["stack"]["stack_status"] == state {
                return;
            }
        }
    });
}

/// Logs are written by any thread, while the first one has streams of its own.
#[test]
fn the_log_has_a_line_for_each() {
    let config = "[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n[paste_deploy]\nflavor = noauth\n\
                  [oslo_messaging_notifications]\ndriver = log\n";
    let directory = TestDirectory::with(&[("kiln.conf", config)]);
    let mut served = Served::start_with(&directory, "kiln.conf", Stdio::piped());
    let log = BufReader::new(served.log().expect("its log")).lines();
    let is_notification = |line: &String| line.contains("\"message_id\"");
    let mut log = log.map(|line| line.expect("a line")).filter(is_notification);
    make(&served.address(), "web", PLAIN);
    for event in ["orchestration.stack.create.start", "orchestration.stack.create.end"] {
        let line = log.next().expect("a line");
        let at = line.find("{\"message_id\"").unwrap_or_else(|| panic!("{line}"));
        let end = line.rfind('}').expect("an end") + 1;
        let message: Value = serde_json::from_str(&line[at..end]).expect("JSON");
        assert_eq!(message["event_type"], event);
        assert_eq!(message["payload"]["stack_name"], "web");
        assert!(line.contains("INFO") && line.contains("notification"), "{line}");
    }
    assert!(served.stop());
}

#[test]
fn a_listener_hears_of_every_stack_and_the_broker_may_go() {
    let Some(clients) = clients() else { return };
    let mut broker = Broker::start(None);
    let config = format!(
        "[DEFAULT]\nhost = node-7\n[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
         [paste_deploy]\nflavor = noauth\n[oslo_messaging_notifications]\ndriver = messagingv2\n\
         driver = log\ntransport_url = {}\n",
        broker.url()
    );
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let mut listener = Listener::start(&clients, &broker);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();

    let group = make(&api, "web", GROUP);
    let first = listener.next("info");
    assert_eq!(line(&first), "web stack.create.start");
    assert_eq!(first["publisher"], "orchestration.node-7");
    let payload = &first["payload"];
    let id = group.rsplit('/').next().unwrap_or_default();
    assert_eq!(
        (&payload["stack_identity"], &payload["description"]),
        (&json!(id), &json!("a group"))
    );
    let names: Vec<&String> = payload.as_object().expect("an object").keys().collect();
    let all = [
        "tenant_id",
        "user_id",
        "user_identity",
        "username",
        "stack_identity",
        "stack_name",
        "state",
        "state_reason",
        "create_at",
        "updated_at",
        "description",
        "tags",
    ];
    assert_eq!(names, all);
    assert_eq!(first["context"]["project_id"], payload["tenant_id"]);
    assert_eq!(first["context"]["auth_token"], Value::Null);
    let created =
        ["web-group stack.create.start", "web-group stack.create.end", "web stack.create.end"];
    assert_eq!(listener.lines("info"), created);

    signal(&group, "up");
    let grown = [
        "web autoscaling.start 1",
        "web-group stack.update.start",
        "web-group stack.update.end",
        "web autoscaling.end 2",
    ];
    assert_eq!(listener.lines("info"), grown);

    make(&api, "bad", FAILING);
    let undone = ["bad stack.create.start", "bad stack.rollback.start", "bad stack.rollback.end"];
    assert_eq!(listener.lines("info"), undone);
    assert_eq!(listener.lines("error"), ["bad stack.create.error"]);

    broker.stop();
    let meanwhile = make(&api, "meanwhile", PLAIN);
    until(&meanwhile, "CREATE_COMPLETE");
    broker.start_again();
    let told = ["meanwhile stack.create.start", "meanwhile stack.create.end"];
    assert_eq!(listener.lines("info"), told);
    make(&api, "after", PLAIN);
    assert_eq!(listener.lines("info"), ["after stack.create.start", "after stack.create.end"]);
    assert!(served.stop());
}
