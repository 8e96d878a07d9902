//! Metadata with names that become paths, variables and numbers.

use crate::server::Server;
use crate::service::Service;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const LIST: &str = "/var/run/heat-config/heat-config";

fn deploy(server: &Server, deployments: &Value) -> crate::server::Run {
    server.put(LIST, &deployments.to_string(), 0o600);
    let run = server.run("heat-config", &[]);
    assert!(!run.err.contains("panicked"), "{run:?}");
    run
}

/// Returns every file and directory outside of the directories of the tools.
fn strangers(server: &Server) -> Vec<String> {
    let mut all = server.names("/");
    all.retain(|name| name != "var");
    all
}

#[test]
fn ids_and_groups_are_not_paths() {
    let server = Server::new();
    server.put("/bin/sh", "#!/bin/sh\ntouch \"$KILN_GUEST_ROOT/ran\"\n", 0o755);
    server.put("/usr/libexec/heat-config/hooks/x", "", 0o644);
    let long = "x".repeat(5000);
    for id in ["../../../ran", "/ran", "a/b", "a\u{0}b", &long] {
        let run =
            deploy(&server, &json!([{"id": id, "group": "script", "config": "#!/bin/sh\ntrue\n"}]));
        assert_eq!(run.status, 1, "{id:?}: {run:?}");
    }
    for id in ["..", ".", ""] {
        deploy(&server, &json!([{"id": id, "group": "script", "config": "#!/bin/sh\ntrue\n"}]));
        let report = server.json(&format!("/var/lib/heat-config/deployed/{id}.notify.json"));
        assert_eq!(report["deploy_status_code"], 1, "{id:?}: {report}");
    }
    for group in ["../../../../bin/sh", "/bin/sh", "..", "../hooks/x", "a\u{0}b", ""] {
        deploy(&server, &json!([{"id": "one", "group": group, "config": "x"}]));
        let report = server.json("/var/lib/heat-config/deployed/one.notify.json");
        assert_eq!(report["deploy_status_code"], 1, "{group:?}: {report}");
        fs::remove_dir_all(server.path("/var/lib/heat-config")).unwrap();
    }
    assert_eq!(strangers(&server), ["bin", "usr"]);
}

#[test]
fn names_in_deployments_are_not_paths() {
    let server = Server::new();
    let deployment = |id: &str, group: &str, name: &str, config: Value| {
        json!({"id": id, "group": group, "name": name, "config": config, "options": {"enable_hiera": true},
            "creation_time": "../../../t",
            "inputs": [{"name": "env_files", "value": [{"file_name": "../../../e", "content": "x"}], "type": "Json"}],
            "outputs": [{"name": "../../../../../../../etc/passwd"}, {"name": "a\u{0}b"}]})
    };
    let hiera = json!({"hierarchy": ["x"], "datafiles": {"../../../../d": {"a": 1}}});
    let all = [
        deployment("1", "docker-compose", "../../../../c", json!({"web": {}})),
        deployment("2", "docker-compose", "c", json!({"web": {}})),
        deployment("3", "puppet", "../../../../p", json!("x")),
        deployment("4", "hiera", "x", hiera),
        deployment("5", "script", "x", json!("#!/bin/sh\necho hi\n")),
        deployment("6", "json-file", "x", json!({"/../../j": {"a": 1}})),
    ];
    deploy(&server, &json!(all));
    let report = server.json("/var/lib/heat-config/deployed/5.notify.json");
    assert_eq!(
        report.as_object().map(|it| it.len()),
        Some(3),
        "no file became an output: {report}"
    );
    // The path of json-file lies below the root, and so does the configuration of Hiera.
    assert_eq!(strangers(&server), ["etc", "j"]);
    assert_eq!(server.names("/etc/puppet"), ["hiera.yaml", "hieradata"]);
    assert_eq!(server.names("/etc/puppet/hieradata"), [""; 0]);
}

#[test]
fn inputs_with_odd_names_do_not_stop_a_script() {
    let server = Server::new();
    let inputs = json!([{"name": "", "value": "x"}, {"name": "a=b", "value": "x"}, {"name": "a\u{0}b", "value": "x"},
        {"name": "two\nlines", "value": "x\ny"}, {"name": "zero", "value": "a\u{0}b"}, {"name": "fine", "value": "z"},
        {"name": "LD_PRELOAD", "value": "/no/such.so"}]);
    let config = "#!/bin/sh\necho \"$zero $fine\"\n";
    let run = deploy(
        &server,
        &json!([{"id": "one", "group": "script", "config": config, "inputs": inputs}]),
    );
    let report = server.json("/var/lib/heat-config/deployed/one.notify.json");
    assert_eq!(report["deploy_stdout"], "ab z\n", "{report}");
    assert!(run.err.contains("input LD_PRELOAD overrides an environment variable"), "{}", run.err);
}

#[test]
fn keys_of_metadata_are_not_paths() {
    let server = Server::new();
    let names = ["../../../../up", "/absolute", "a/b", "a\u{0}b", "fine"];
    let deployments: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "group": "Heat::Ungrouped", "config": {"a": 1}}))
        .collect();
    let body = json!({ "deployments": deployments, "../x": {} }).to_string();
    let service = Service::answering(&[(200, &body)]);
    let run = server.run(
        "os-collect-config",
        &["--one-time", "--command", "true", "--request-metadata-url", &service.url, "request"],
    );
    assert_eq!(run.status, 0, "{run:?}");
    let cache = "/var/lib/os-collect-config";
    let names = server.names(cache);
    assert!(
        names.iter().all(|it| ["fine", "request", "os_config"].iter().any(|of| it.starts_with(of))),
        "{names:?}"
    );
    assert_eq!(server.mode(cache), 0o700);
    for name in names {
        assert_eq!(server.mode(&format!("{cache}/{name}")), 0o600, "{name}");
    }
    assert_eq!(server.mode("/var/run/os-collect-config"), 0o700);
    assert_eq!(strangers(&server), [""; 0]);
}

#[test]
fn files_stay_below_the_root_and_replace_links() {
    let server = Server::new();
    server.put("/victim", "untouched", 0o600);
    fs::create_dir_all(server.path("/etc")).unwrap();
    symlink(server.path("/victim"), server.path("/etc/link")).unwrap();
    let files = json!({"/../../../up": {"content": "x"}, "/etc/../../side": {"content": "x"},
        "/etc/link": {"content": "new", "mode": "000600"}});
    let metadata = json!({"AWS::CloudFormation::Init": {"config": {"files": files}}});
    server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
    server.good("cfn-init", &[]);
    assert_eq!(server.read("/victim"), "untouched");
    assert_eq!(server.read("/etc/link"), "new");
    assert_eq!(strangers(&server), ["etc", "side", "up", "victim"]);
    for odd in ["/a\u{0}b", "", "/", "/etc/"] {
        let metadata =
            json!({"AWS::CloudFormation::Init": {"config": {"files": {odd: {"content": "x"}}}}});
        let server = Server::new();
        server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
        let run = server.run("cfn-init", &[]);
        assert!(!run.err.contains("panicked") && run.status < 2, "{odd:?}: {run:?}");
    }
}

#[test]
fn numbers_that_are_too_large_are_bounded() {
    let server = Server::new();
    let most = u64::MAX;
    let config = json!({"collectors": ["request"], "polling_interval": most, "min_polling_interval": most, "splay": most,
        "request": {"metadata_url": "http://127.0.0.1:1/", "timeout": most}, "cfn": {"timeout": most}});
    let pod = json!({"id": "one", "group": "kubelet", "config": {"containers": [{"name": "a", "image": "b"}]},
        "options": {"poll_period": most, "images_timeout": 1, "timeout": most}});
    let metadata = json!({"os-collect-config": config, "deployments": [pod]});
    server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
    let run = server.run("kiln-guest", &["agent", "--one-time"]);
    assert!(!run.err.contains("panicked") && run.status < 2, "{run:?}");
    let report = server.json("/var/lib/heat-config/deployed/one.notify.json");
    assert_eq!(report["deploy_status_code"], 1, "{report}");
}

#[test]
fn sources_that_name_each_other_do_not_keep_the_agent_from_ending() {
    let server = Server::new();
    let mut turn = 0;
    let service = Service::writing(move |mut stream| {
        use std::io::Write;
        turn += 1;
        let config = json!({"os-collect-config": {"polling_interval": turn + 10}}).to_string();
        stream.write_all(&crate::service::answer(200, "", config.as_bytes())).is_ok()
    });
    let config = json!({"collectors": ["request"], "request": {"metadata_url": service.url}});
    let metadata = json!({ "os-collect-config": config });
    server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
    let run = server.run("kiln-guest", &["agent", "--one-time"]);
    assert!(run.err.contains("the metadata keeps naming other sources"), "{run:?}");
}

#[test]
fn messages_within_messages_end() {
    let server = Server::new();
    let mut text = String::new();
    for number in 0..20_000 {
        text.push_str(&format!(
            "Content-Type: multipart/mixed; boundary=\"{number}\"\n\n--{number}\n"
        ));
    }
    server.put("/data", &text, 0o600);
    let data = server.path("/data").display().to_string();
    let run = server.run("kiln-guest", &["boot", "--user-data", &data]);
    assert_eq!(run.status, 0, "{run:?}");
}
