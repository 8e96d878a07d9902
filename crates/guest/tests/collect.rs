//! os-collect-config: the cache, the conditions for running the command, and rejected files.

use crate::server::Server;
use serde_json::json;

fn collecting() -> Server {
    let server = Server::new();
    server.put("/var/lib/os-collect-config/local-data/a", r#"{"y":2}"#, 0o600);
    server.put("/var/lib/os-collect-config/local-data/b.json", r#"{"x":1}"#, 0o600);
    server
}

#[test]
fn the_command_runs_when_something_changed() {
    let server = collecting();
    let note = server.path("/note");
    let command = format!("echo $OS_CONFIG_FILES >> {}", note.display());
    let once = ["--one-time", "--command", &command, "local"];
    server.good("os-collect-config", &once);
    let cache = server.path("/var/lib/os-collect-config");
    let (a, b) = (cache.join("a.json"), cache.join("b.json.json"));
    assert_eq!(server.read("/note"), format!("{}:{}\n", a.display(), b.display()));
    assert_eq!(
        server.names("/var/lib/os-collect-config"),
        [
            "a.json",
            "a.json.last",
            "a.json.orig",
            "b.json.json",
            "b.json.json.last",
            "b.json.json.orig",
            "local-data",
            "os_config_files.json"
        ]
    );
    assert_eq!(server.mode("/var/lib/os-collect-config/a.json.last"), 0o600);
    assert_eq!(server.mode("/var/lib/os-collect-config"), 0o700);
    assert_eq!(
        server.names("/var/run/os-collect-config"),
        ["a.json", "a.json.orig", "b.json.json", "b.json.json.orig", "os_config_files.json"]
    );
    server.good("os-collect-config", &once);
    assert_eq!(server.read("/note").lines().count(), 1, "nothing changed");

    server.put("/var/lib/os-collect-config/local-data/b.json", r#"{"x":2}"#, 0o600);
    let failing = ["--one-time", "--command", "exit 7", "local"];
    assert_eq!(server.run("os-collect-config", &failing).status, 7);
    assert_eq!(server.json("/var/lib/os-collect-config/b.json.json"), json!({"x": 2}));
    assert_eq!(server.json("/var/lib/os-collect-config/b.json.json.last"), json!({"x": 1}));
    server.good("os-collect-config", &once);
    assert_eq!(server.read("/note").lines().count(), 2, "it is tried again");
}

#[test]
fn what_there_is_can_be_printed() {
    let server = collecting();
    let run = server.good("os-collect-config", &["--print", "local"]);
    assert_eq!(run.out, "{\n \"a\": {\n  \"y\": 2\n },\n \"b.json\": {\n  \"x\": 1\n }\n}\n");
    assert_eq!(server.names("/var/lib/os-collect-config"), ["local-data"]);
    let run = server.good("os-collect-config", &["--print-cachedir"]);
    assert!(run.out.ends_with("/var/lib/os-collect-config\n"), "{}", run.out);
    assert_eq!(server.run("os-collect-config", &["nonsense"]).status, 1);
}

#[test]
fn what_others_may_have_written_is_refused() {
    let server = collecting();
    server.put("/var/lib/os-collect-config/local-data/c", "{}", 0o666);
    let run = server.good("os-collect-config", &["--print", "local"]);
    assert_eq!(run.out, "{}\n");
    assert!(run.err.contains("Source [local] Unavailable."), "{}", run.err);
}

#[test]
fn deployments_that_are_metadata_cannot_leave_the_cache() {
    let server = Server::new();
    let metadata = json!({"deployments": [
        {"name": "../../evil", "group": "os-apply-config", "config": {"a": 1}},
        {"name": "good", "config": {"b": 2}},
    ]});
    let service = crate::service::Service::answering(&[(200, &metadata.to_string())]);
    let arguments = ["--one-time", "-c", "true", "--request-metadata-url", &service.url, "request"];
    let run = server.good("os-collect-config", &arguments);
    assert!(run.err.contains("is not a valid file name"), "{}", run.err);
    assert!(!server.path("/var/lib/evil.json").exists());
    assert_eq!(server.json("/var/lib/os-collect-config/good.json"), json!({"b": 2}));
}

#[test]
fn metadata_of_a_resource_comes_as_json() {
    let described = |metadata: &str| {
        let detail = json!({"StackResourceDetail": {"Metadata": metadata}});
        json!({"DescribeStackResourceResponse": {"DescribeStackResourceResult": detail}})
    };
    let server = Server::new();
    let answers = [(200, &*described(r#"{"a": 1}"#).to_string()), (200, "\"no such stack\"")];
    let service = crate::service::Service::answering(&answers);
    let arguments = [
        "--print",
        "--cfn-metadata-url",
        &service.url,
        "--cfn-stack-name=web",
        "--cfn-path=server.Metadata",
        "--cfn-access-key-id=id",
        "--cfn-secret-access-key=secret",
        "cfn",
    ];
    let run = server.good("os-collect-config", &arguments);
    assert_eq!(run.out, "{\n \"cfn\": {\n  \"a\": 1\n }\n}\n");
    let request = service.requests.recv().expect("a request").line;
    assert!(request.contains("ContentType=JSON"), "{request}");
    // Heat reports some errors as a bare text with status 200.
    let run = server.run("os-collect-config", &arguments);
    assert!(run.err.contains("Source [cfn] Unavailable."), "{}", run.err);
}
