//! heat-config: deployments run once and are reported.

use crate::server::Server;
use crate::service::Service;
use serde_json::{Value, json};

const LIST: &str = "/var/run/heat-config/heat-config";
const DEPLOYED: &str = "/var/lib/heat-config/deployed";

fn script(id: &str, url: &str, text: &str) -> Value {
    json!({"id": id, "name": id, "group": "script", "config": text, "options": {}, "outputs": [],
        "inputs": [{"name": "deploy_signal_id", "type": "String", "value": url},
            {"name": "deploy_signal_verb", "type": "String", "value": "POST"}]})
}

fn received_signal(service: &Service) -> Value {
    serde_json::from_str(&service.requests.recv().expect("a signal").body).expect("JSON")
}

#[test]
fn a_script_has_inputs_and_outputs() {
    let server = Server::new();
    let service = Service::answering(&[(200, ""), (200, ""), (200, "")]);
    let mut one = script(
        "d1",
        &service.url,
        "#!/bin/sh\necho hi $who $n $m\necho warn >&2\nprintf %s-done $who > $heat_outputs_path.result\nexit 3\n",
    );
    one["outputs"] = json!([{"name": "result"}, {"name": "absent"}, {"name": "../x"}]);
    one["inputs"].as_array_mut().unwrap().extend([
        json!({"name": "who", "type": "String", "value": 5}),
        json!({"name": "n", "type": "Number", "value": 5}),
        json!({"name": "m", "type": "Json", "value": {"a": [1]}}),
    ]);
    let mut missing = script("d2", &service.url, "");
    missing["group"] = "no/such hook!".into();
    let mut component = script("d3", &service.url, "");
    component["group"] = "component".into();
    component["config"] = json!({"configs": [{"actions": ["CREATE"], "tool": "script", "config": "echo no"},
        {"actions": ["UPDATE"], "tool": "script", "config": "echo part"}]});
    component["inputs"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "deploy_action", "value": "UPDATE"}));
    server.put(LIST, &json!([one, missing, component]).to_string(), 0o644);
    server.good("55-heat-config", &[]);
    assert_eq!(
        received_signal(&service),
        json!({"result": "5-done", "deploy_stdout": "hi 5 5 {\"a\": [1]}\n", "deploy_stderr": "warn\n",
            "deploy_status_code": 3})
    );
    let refused = received_signal(&service);
    assert_eq!(
        refused["deploy_stderr"], "no hook for group no/such hook!\n",
        "nobody is left waiting"
    );
    assert_eq!(
        received_signal(&service)["deploy_stdout"],
        "part\n",
        "a text without a first line is for the shell"
    );
    assert_eq!(server.mode(LIST), 0o600);
    assert_eq!(
        server.names(DEPLOYED),
        [
            ".lock",
            "d1.json",
            "d1.notify.json",
            "d2.json",
            "d2.notify.json",
            "d3.json",
            "d3.notify.json"
        ]
    );
    assert_eq!(server.mode(&format!("{DEPLOYED}/d1.json")), 0o600);
    // The service is gone, so another request would fail.
    server.good("heat-config", &[]);
}

#[test]
fn what_could_not_be_told_is_told_later() {
    let server = Server::new();
    let service = Service::answering(&[(503, ""), (200, "")]);
    let note = server.path("/note").display().to_string();
    let one = script("d1", &service.url, &format!("#!/bin/sh\necho ran >> {note}\n"));
    server.put(LIST, &json!([one]).to_string(), 0o600);
    assert_eq!(server.run("heat-config", &[]).status, 1);
    assert!(server.path(&format!("{DEPLOYED}/d1.pending")).exists());
    server.good("heat-config", &[]);
    assert_eq!(received_signal(&service), received_signal(&service));
    assert_eq!(server.read("/note"), "ran\n", "it ran once");
    assert!(!server.path(&format!("{DEPLOYED}/d1.pending")).exists());
}

#[test]
fn what_is_refused_is_not_sent_for_ever() {
    let server = Server::new();
    let service = Service::answering(&[(404, "gone")]);
    let one = script("d1", &service.url, "#!/bin/sh\n");
    server.put(LIST, &json!([one]).to_string(), 0o600);
    let run = server.good("heat-config", &[]);
    assert!(run.err.contains("rejected with status 404: gone"), "{}", run.err);
    server.good("heat-config", &[]);
}

#[test]
fn an_interrupted_one_is_told_of_and_not_run_again() {
    let server = Server::new();
    let service = Service::answering(&[(200, ""), (200, "")]);
    let note = server.path("/note").display().to_string();
    let one = script("d1", &service.url, &format!("#!/bin/sh\necho ran >> {note}\n"));
    let mut two = script("d2", &service.url, &format!("#!/bin/sh\necho again >> {note}\n"));
    two["options"] = json!({"rerun_on_crash": true});
    for id in ["d1", "d2"] {
        server.put(&format!("{DEPLOYED}/{id}.json"), "{}", 0o600);
        server.put(&format!("{DEPLOYED}/{id}.pending"), "running\n", 0o600);
    }
    server.put(LIST, &json!([one, two]).to_string(), 0o600);
    server.good("heat-config", &[]);
    assert_eq!(received_signal(&service)["deploy_stderr"], "The deployment was interrupted.\n");
    assert_eq!(received_signal(&service)["deploy_status_code"], 0);
    assert_eq!(server.read("/note"), "again\n");
}

#[test]
fn a_hook_of_the_image_wins() {
    let server = Server::new();
    let service = Service::answering(&[(200, "")]);
    let hook = "#!/bin/sh\nread line\necho \"{\\\"deploy_stdout\\\": \\\"theirs\\\"}\"\n";
    server.put("/var/lib/heat-config/hooks/script", hook, 0o755);
    let one = script("d1", &service.url, "echo ours");
    server.put(LIST, &json!([one]).to_string(), 0o600);
    server.good("heat-config", &[]);
    assert_eq!(received_signal(&service), json!({"deploy_stdout": "theirs"}));
}

#[test]
fn noisy_scripts_are_reported_within_bounds() {
    let server = Server::new();
    let service = Service::answering(&[(200, ""), (200, "")]);
    let text = "#!/bin/sh\nhead -c 5000000 /dev/zero\nprintf '\\377\\0end'\n";
    let mut slow =
        script("d2", &service.url, "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 600; done\n");
    slow["options"] = json!({"timeout": 1});
    server.put(LIST, &json!([script("d1", &service.url, text), slow]).to_string(), 0o600);
    server.good("heat-config", &[]);
    let requests = service.requests.recv().expect("a signal");
    assert!(requests.body.len() <= 950_000);
    let reported: Value = serde_json::from_str(&requests.body).expect("JSON");
    assert!(reported["deploy_stdout"].as_str().expect("a text").ends_with("\u{fffd}\0end"));
    let reported = received_signal(&service);
    assert_eq!(reported["deploy_status_code"], 124);
    assert!(
        reported["deploy_stderr"].as_str().expect("a text").contains("stopped after 1 seconds")
    );
}

#[test]
fn hooks_are_programs_too() {
    let server = Server::new();
    let file =
        json!({"id": "f", "group": "json-file", "config": {"/etc/app.json": {"b": 1, "a": [2]}}});
    let run = server.run_with("kiln-guest", &["heat-config-hook", "json-file"], &file.to_string());
    assert_eq!(
        run.out, r#"{"deploy_stdout":"","deploy_stderr":"","deploy_status_code":0}"#,
        "{run:?}"
    );
    assert_eq!(server.read("/etc/app.json"), "{\n    \"a\": [\n        2\n    ],\n    \"b\": 1\n}");
    let run = server.run_with(
        "/x/hooks/script",
        &[],
        &json!({"id": "s", "config": "echo $0"}).to_string(),
    );
    let reported: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(
        reported["deploy_stdout"],
        format!("{}\n", server.path("/var/lib/heat-config/heat-config-script/s").display())
    );
    assert_eq!(server.run("heat-config-hook", &["nonsense"]).status, 2);
    let init = json!({"id": "c", "group": "cfn-init",
        "config": {"config": {"files": {"/etc/motd": {"content": "hello"}}}}});
    let run = server.run_with("heat-config-hook", &["cfn-init"], &init.to_string());
    assert!(run.out.contains("\"deploy_status_code\":0"), "{run:?}");
    assert_eq!(server.read("/etc/motd"), "hello");
}
