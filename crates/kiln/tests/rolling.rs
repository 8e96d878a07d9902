//! A server is replaced while it works, and no client notices.

use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

fn config(port: &str) -> String {
    format!(
        "[heat_api]\nbind_host = 127.0.0.1\nbind_port = {port}\n[paste_deploy]\nflavor = noauth\n"
    )
}

/// Clients that ask again and again: over one connection each, and over a new one each time.
struct Crowd {
    is_over: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Crowd {
    fn gather(url: &str) -> Crowd {
        let (is_over, answers, failures) = <(Arc<AtomicBool>, Arc<AtomicUsize>, _)>::default();
        let failures: Arc<Mutex<Vec<String>>> = failures;
        let client = |number: usize| {
            let (is_over, answers, failures) = (is_over.clone(), answers.clone(), failures.clone());
            let url = url.to_owned();
            move || {
                wait(async {
                    let client = kiln_cloud::client_builder().pool_max_idle_per_host(number % 2);
                    let client = client.timeout(Duration::from_secs(30)).build().expect("a client");
                    while !is_over.load(Ordering::SeqCst) {
                        match client.get(&url).send().await {
                            Ok(reply) if reply.status() == 200 => {
                                _ = reply.bytes().await;
                                answers.fetch_add(1, Ordering::SeqCst);
                            }
                            other => failures.lock().expect("notes").push(format!("{other:?}")),
                        }
                    }
                });
            }
        };
        let threads = (0..4).map(|number| std::thread::spawn(client(number))).collect();
        Crowd { is_over, answers, failures, threads }
    }

    /// Waits for this many more answers, or a failure.
    fn go_on(&self, count: usize) {
        let until = self.answers.load(Ordering::SeqCst) + count;
        while self.answers.load(Ordering::SeqCst) < until
            && self.failures.lock().expect("notes").is_empty()
        {
            std::thread::yield_now();
        }
    }

    fn failures(self) -> Vec<String> {
        self.is_over.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().expect("a client"));
        self.failures.lock().expect("notes").clone()
    }
}

async fn state(api: &str, stack: &str) -> String {
    let client = kiln_cloud::client_builder().build().expect("a client");
    let reply = client.get(format!("{api}/v1/admin/stacks/{stack}")).send().await;
    let shown: Value = reply.expect("an answer").json().await.expect("a stack");
    shown["stack"]["stack_status"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_server_is_replaced_without_a_failed_request_and_its_stacks_go_on() {
    let directory = TestDirectory::with(&[("kiln.conf", &config("0"))]);
    let mut old = Served::start(&directory, "kiln.conf");
    let api = old.address();
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {
            "slow": {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 4}},
            "last": {"type": "OS::Heat::TestResource", "depends_on": "slow"},
        },
    });
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let stack = json!({"stack_name": "kept", "template": template, "timeout_mins": 1});
        let made = client.post(format!("{api}/v1/admin/stacks")).json(&stack).send().await;
        assert_eq!(made.expect("an answer").status(), 201);
    });
    let crowd = Crowd::gather(&format!("{api}/v1/admin/stacks"));
    crowd.go_on(50);
    let port = api.rsplit(':').next().expect("a port");
    directory.put("next.conf", config(port).as_bytes());
    let mut new = Served::start(&directory, "next.conf");
    assert_eq!(new.address(), api, "the port is shared");
    crowd.go_on(50);
    assert_eq!(wait(state(&api, "kept")), "CREATE_IN_PROGRESS");
    assert!(old.stop());
    crowd.go_on(50);
    assert_eq!(crowd.failures(), [""; 0]);
    // A lease would hold for much longer than a request may take.
    wait(async {
        while state(&api, "kept").await == "CREATE_IN_PROGRESS" {}
        assert_eq!(state(&api, "kept").await, "CREATE_COMPLETE");
    });
    assert!(new.stop());
}

#[test]
fn a_stream_of_events_ends_when_its_server_leaves_and_goes_on_with_the_next() {
    let directory = TestDirectory::with(&[("kiln.conf", &config("0"))]);
    let mut old = Served::start(&directory, "kiln.conf");
    let api = old.address();
    let mut old = Some(old);
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": {"slow": {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 3}}},
    });
    let stream = |after: Option<String>| {
        let api = api.clone();
        async move {
            let client = kiln_cloud::client_builder().build().expect("a client");
            let request = client.get(format!("{api}/v1/admin/stacks/kept/events"));
            let request = request.header("accept", "text/event-stream");
            let request = match after {
                Some(id) => request.header("last-event-id", id),
                None => request,
            };
            request.send().await.expect("an answer")
        }
    };
    let first = wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let stack = json!({"stack_name": "kept", "template": template});
        let made = client.post(format!("{api}/v1/admin/stacks")).json(&stack).send().await;
        assert_eq!(made.expect("an answer").status(), 201);
        let mut reply = stream(None).await;
        let mut text = Vec::new();
        let mut stopped = None;
        while let Some(chunk) = reply.chunk().await.expect("a stream with an end") {
            text.extend_from_slice(&chunk);
            let old = std::mem::take(&mut old);
            stopped =
                stopped.or_else(|| Some(tokio::task::spawn_blocking(|| old.map(Served::stop))));
        }
        let stopped = stopped.expect("an event").await.expect("a thread");
        assert_eq!(stopped, Some(true));
        String::from_utf8(text).expect("text")
    });
    assert!(first.contains("CREATE_IN_PROGRESS") && !first.contains("event: rest"), "{first}");
    let last = first.lines().filter_map(|line| line.strip_prefix("id: ")).next_back();
    let last = last.expect("an event").to_owned();
    let port = api.rsplit(':').next().expect("a port");
    directory.put("next.conf", config(port).as_bytes());
    let mut new = Served::start(&directory, "next.conf");
    assert_eq!(new.address(), api);
    let rest = wait(async { stream(Some(last.clone())).await.text().await.expect("a stream") });
    assert!(!rest.contains(&last), "{rest}");
    assert!(rest.contains("CREATE_COMPLETE") && rest.contains("event: rest"), "{rest}");
    assert!(new.stop());
}

#[test]
fn what_one_process_is_asked_another_one_does() {
    let config = config("0") + "[kiln]\nroles = api\n";
    let directory =
        TestDirectory::with(&[("api.conf", &config), ("engine.conf", "[kiln]\nroles = engine\n")]);
    let mut api = Served::start(&directory, "api.conf");
    let url = api.address();
    let mut engine = Served::start(&directory, "engine.conf");
    engine.wait_for("The engine runs.");
    let properties = json!({"action_wait_secs": {"create": 3000}});
    let slow = json!({"type": "OS::Heat::TestResource", "properties": properties});
    let template = json!({"heat_template_version": "2021-04-16", "resources": {"slow": slow}});
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let stacks = format!("{url}/v1/admin/stacks");
        let stack = json!({"stack_name": "one", "template": template});
        let made = client.post(&stacks).json(&stack).send().await.expect("an answer");
        assert_eq!(made.status(), 201);
        let at = made.headers()["location"].to_str().expect("an address").to_owned();
        let until = async |wanted: &str| {
            loop {
                let shown: Value =
                    client.get(&at).send().await.expect("it").json().await.expect("JSON");
                let state = shown["stack"]["stack_status"].as_str().unwrap_or_default().to_owned();
                let events = client.get(format!("{at}/events")).send().await.expect("it");
                let events = events.text().await.expect("events");
                // The resource is under way: the engine owns the stack.
                if state == wanted && (wanted != "CREATE_IN_PROGRESS" || events.contains("slow")) {
                    return;
                }
            }
        };
        until("CREATE_IN_PROGRESS").await;
        assert_eq!(client.delete(&at).send().await.expect("it").status(), 204);
        // Long before the resource is done, and before the lease ends.
        until("DELETE_COMPLETE").await;
    });
    assert!(api.stop() && engine.stop());
}
