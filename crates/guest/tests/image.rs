//! The results of `install`, and the tools from the first boot on.

use crate::server::Server;
use crate::service::Service;
use serde_json::{Value, json};

#[test]
fn an_image_has_links_templates_and_units() {
    let server = Server::installed();
    for path in [
        "/usr/bin/cfn-init",
        "/usr/bin/os-collect-config",
        "/usr/libexec/os-refresh-config/configure.d/55-heat-config",
        "/usr/libexec/os-refresh-config/configure.d/20-os-apply-config",
        "/usr/lib/systemd/system/kiln-guest.service",
    ] {
        assert!(server.path(path).is_file(), "{path} leads nowhere");
    }
    server.good("kiln-guest", &["install", "--hooks"]);
    assert!(server.path("/usr/libexec/heat-config/hooks/script").is_file());
    let run = server.good("cfn-create-aws-symlinks", &[]);
    assert_eq!(run.out.lines().count(), 6, "{}", run.out);
    assert!(server.path("/opt/aws/bin/cfn-signal").is_file());
    assert_eq!(server.good("cfn-create-aws-symlinks", &[]).out, "", "what is there stays");
}

/// Builds user data as a server gets it.
fn user_data(init: &Value, script: &str) -> String {
    format!(
        "Content-Type: multipart/mixed; boundary=\"===b===\"\nMIME-Version: 1.0\n\n--===b===\n\
         Content-Type: text/cloud-boothook; charset=\"us-ascii\"\n\n#!/bin/sh\nexit 1\n--===b===\n\
         Content-Type: text/plain; charset=\"us-ascii\"\nContent-Disposition: attachment; filename=\"\"\n\n{script}\n\
         --===b===\nContent-Type: text/x-cfninitdata; charset=\"us-ascii\"\n\
         Content-Disposition: attachment; filename=\"cfn-init-data\"\n\n{init}\n--===b===--\n"
    )
}

fn metadata(service: &Service, more: Value) -> Value {
    let mut all = json!({"os-collect-config": {"collectors": ["request", "local"],
        "request": {"metadata_url": service.url}, "cfn": null}});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn deployment(url: &str) -> Value {
    json!({"id": "d1", "name": "one", "group": "script", "config": "#!/bin/sh\necho done\n",
        "inputs": [{"name": "deploy_signal_id", "type": "String", "value": url}], "outputs": []})
}

#[test]
fn from_user_data_to_a_signal_by_the_old_names() {
    let server = Server::installed();
    let received_signal = Service::answering(&[(200, "")]);
    // The address of the metadata is needed before its content.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let note = server.path("/note").display().to_string();
    let init = json!({"os-collect-config": {"collectors": ["request"], "command": "os-refresh-config",
        "request": {"metadata_url": format!("http://{address}/")}}, "deployments": [deployment(&received_signal.url)]});
    server.put(
        "/user-data",
        &user_data(&init, &format!("#!/bin/sh\necho booted >> {note}\n")),
        0o600,
    );
    let file = server.path("/user-data").display().to_string();
    server.good("kiln-guest", &["boot", "--user-data", &file]);
    assert_eq!(server.read("/note"), "booted\n");
    assert_eq!(server.json("/var/lib/heat-cfntools/cfn-init-data"), init);
    assert_eq!(server.mode("/var/lib/heat-cfntools"), 0o700);
    server.good("os-collect-config", &["--one-time"]);
    let reported: Value =
        serde_json::from_str(&received_signal.requests.recv().unwrap().body).unwrap();
    assert_eq!(reported["deploy_stdout"], "done\n");
    let settings = server.read("/etc/os-collect-config.conf");
    assert!(
        settings.contains(&format!("[request]\nmetadata_url = http://{address}/\n")),
        "{settings}"
    );
    assert!(
        settings.starts_with("[DEFAULT]\ncommand = os-refresh-config\ncollectors = request\n"),
        "{settings}"
    );
    assert_eq!(server.mode("/etc/os-collect-config.conf"), 0o600);
}

#[test]
fn the_agent_does_all_of_it_alone() {
    let server = Server::new();
    let received_signal = Service::answering(&[(200, "")]);
    let body = json!({"deployments": [deployment(&received_signal.url)]}).to_string();
    let reported = Service::answering(&[(200, &body), (200, &body)]);
    let init = metadata(&reported, json!({}));
    server.put("/var/lib/heat-cfntools/cfn-init-data", &init.to_string(), 0o600);
    server.good("kiln-guest", &["agent", "--one-time"]);
    let signal: Value =
        serde_json::from_str(&received_signal.requests.recv().unwrap().body).unwrap();
    assert_eq!(signal["deploy_status_code"], 0);
    // Everything was reported before, so there is nothing to do.
    server.good("kiln-guest", &["agent", "--one-time"]);
}
