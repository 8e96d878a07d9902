//! The tools of heat-cfntools.

use crate::server::Server;
use crate::service::Service;
use serde_json::{Value, json};

#[test]
fn a_server_becomes_what_its_metadata_says() {
    let server = Server::new();
    let note = server.path("/note").display().to_string();
    let metadata = json!({"AWS::CloudFormation::Init": {
        "configSets": {"default": ["base", {"ConfigSet": "app"}], "app": ["site"]},
        "base": {"files": {"/etc/app.json": {"content": {"debug": true}, "mode": "000640", "owner": "nobody-here"}}},
        "site": {"commands": {
            "20_list": {"command": ["/bin/sh", "-c", "echo $GREETING >> \"$0\"", note], "env": {"GREETING": "hi"}},
            "10_text": {"command": format!("echo first >> {note}"), "cwd": server.root},
            "30_left": {"command": format!("echo no >> {note}"), "test": "false"},
            "40_lost": {"command": format!("echo no >> {note}"), "cwd": "/nowhere"},
            "50_bad": {"command": "exit 5", "ignoreErrors": "true"}}}}});
    server.put("/var/lib/heat-cfntools/cfn-init-data", &metadata.to_string(), 0o600);
    server.good("cfn-init", &["-s", "web", "-r", "server"]);
    assert_eq!(server.read("/etc/app.json"), "{\n    \"debug\": true\n}");
    assert_eq!(server.mode("/etc/app.json"), 0o640);
    assert_eq!(server.read("/note"), "first\nhi\n");
    assert_eq!(server.json("/var/cache/heat-cfntools/last_metadata_server"), metadata);
    server.good("cfn-init", &["-c", "app"]);
    assert_eq!(server.run("cfn-init", &["-c", "nothing"]).status, 1);
    let failing = json!({"AWS::CloudFormation::Init": {"config": {"commands": {"a": {"command": "exit 5"}}}}});
    let server = Server::new();
    server.put("/var/lib/heat-cfntools/cfn-init-data", &failing.to_string(), 0o600);
    assert_eq!(server.run("cfn-init", &[]).status, 1);
}

fn described(metadata: &Value) -> String {
    let detail = json!({"Metadata": metadata.to_string()});
    let result = json!({"DescribeStackResourceResult": {"StackResourceDetail": detail}});
    json!({"DescribeStackResourceResponse": result}).to_string()
}

#[test]
fn metadata_is_asked_for_with_a_signature() {
    let server = Server::new();
    let service =
        Service::answering(&[(200, &described(&json!({"a": {"b.c": [1]}}))), (403, "no")]);
    server.put(
        "/var/lib/heat-cfntools/cfn-metadata-server",
        &format!("{}/v1/", service.url),
        0o600,
    );
    server.put("/etc/keys", "AWSAccessKeyId = AK\nAWSSecretKey = SK\n", 0o600);
    let arguments =
        ["-s", "web", "-r", "server", "--credential-file", "/etc/keys", "-k", "a.'b.c'"];
    assert_eq!(server.good("cfn-get-metadata", &arguments).out, "[1]\n");
    let requests = service.requests.recv().unwrap();
    assert_eq!(
        requests.line,
        "GET /v1/?Action=DescribeStackResource&ContentType=JSON&LogicalResourceId=server&StackName=web\
         &Version=2010-05-15 HTTP/1.1"
    );
    let signed = requests.header("authorization").unwrap();
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=AK/"), "{signed}");
    // The cached metadata is printed while the service fails.
    assert_eq!(server.good("cfn-get-metadata", &arguments).out, "[1]\n");
}

#[test]
fn hooks_run_when_metadata_changed() {
    let server = Server::new();
    let note = server.path("/note").display().to_string();
    let me = server.run("kiln-guest", &["--version"]);
    assert_eq!(me.status, 0);
    server.put("/etc/passwd", &format!("me:x:{}:0::/:/bin/sh\n", own_number()), 0o644);
    assert_eq!(server.run("cfn-hup", &[]).status, 1, "there are no settings");
    server.put(
        "/etc/cfn/cfn-hup.conf",
        "[main]\nstack=web\ncredential-file=/etc/cfn/keys\n",
        0o600,
    );
    server.put("/etc/cfn/keys", "", 0o600);
    let hook = format!(
        "[changed]\ntriggers=post.update\npath=Resources.server.Metadata\nrunas=me\naction=echo changed >> {note}\n"
    );
    server.put("/etc/cfn/hooks.d/one.conf", &hook, 0o600);
    server.put("/var/lib/heat-cfntools/cfn-init-data", r#"{"a": 1}"#, 0o600);
    server.good("cfn-hup", &[]);
    server.good("cfn-hup", &["-f"]);
    assert_eq!(server.read("/note"), "changed\n");
}

fn own_number() -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").unwrap().uid()
}

#[test]
fn signals_say_who_and_how() {
    let server = Server::new();
    let service = Service::answering(&[(200, ""), (500, "broken"), (400, "refused")]);
    server.put("/var/lib/heat-cfntools/nova_meta.json", r#"{"uuid": "server-1"}"#, 0o600);
    let url = format!("{}/v1/waitcondition/x?Signature=y", service.url);
    server.good("cfn-signal", &["-e", "0", "-r", "done", &url]);
    let requests = service.requests.recv().unwrap();
    assert_eq!(requests.line, "PUT /v1/waitcondition/x?Signature=y HTTP/1.1");
    assert_eq!(requests.header("content-type"), Some(""));
    assert_eq!(
        serde_json::from_str::<Value>(&requests.body).unwrap(),
        json!({"Status": "SUCCESS", "Reason": "done", "UniqueId": "server-1",
            "Data": "Application has completed configuration."})
    );
    let run = server.run("cfn-signal", &[&url]);
    assert_eq!(run.status, 22, "a refusal is none the less one: {run:?}");
    assert!(!run.err.contains("Signature"), "what is secret is not told: {}", run.err);
    assert_eq!(server.run("cfn-signal", &[&url]).status, 22);
    assert_eq!(server.run("cfn-signal", &["http://127.0.0.1:1/"]).status, 7);
}

#[test]
fn a_signal_is_sent_again_while_the_service_is_in_trouble() {
    let server = Server::new().with("KILN_GUEST_PATIENCE", "3,1");
    let service = Service::answering(&[(503, ""), (502, ""), (200, "")]);
    server.good("cfn-signal", &["-i", "me", &service.url]);
    assert_eq!(service.requests.iter().count(), 3);
}

#[test]
fn figures_are_reported_with_the_key_of_the_server() {
    let server = Server::new();
    let run = server.good("cfn-push-stats", &["--watch", "alarm", "--mem-util", "--heartbeat"]);
    assert!(run.err.contains("metrics are not reported: no access key"), "{}", run.err);
    server.put("/etc/cfn/cfn-credentials", "AWSAccessKeyId=id\nAWSSecretKey=secret\n", 0o600);
    let run = server.good("cfn-push-stats", &["--watch", "alarm", "--heartbeat"]);
    assert!(run.err.contains("metrics are not reported: the URL of"), "{}", run.err);
    let service = Service::answering(&[(200, "{}"), (403, "no")]);
    server.put("/var/lib/heat-cfntools/cfn-watch-server", &format!("{}/v1/", service.url), 0o600);
    server.put("/var/lib/heat-cfntools/nova_meta.json", r#"{"uuid": "server-1"}"#, 0o600);
    server.good("cfn-push-stats", &["--watch", "alarm", "--heartbeat", "--disk-space-util"]);
    let requests = service.requests.recv().unwrap();
    let signed = requests.header("authorization").unwrap_or_default();
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=id/"), "{signed}");
    for part in [
        "GET /v1/?Action=PutMetricData&ContentType=JSON&",
        "MetricData.member.1.Dimensions.member.1.Value=server-1&",
        "MetricData.member.1.Dimensions.member.2.Value=alarm&",
        "MetricData.member.1.MetricName=DiskSpaceUtilization&",
        "MetricData.member.2.MetricName=Heartbeat&",
        "Namespace=system%2Flinux",
    ] {
        assert!(requests.line.contains(part), "{part}: {}", requests.line);
    }
    assert_eq!(server.run("cfn-push-stats", &["--heartbeat"]).status, 1);
}

/// Builds a line of HAProxy's statistics with some columns.
fn haproxy_line(columns: &[(usize, &str)]) -> String {
    let mut all = vec![""; 62];
    columns.iter().for_each(|(at, text)| all[*at] = text);
    all.join(",") + "\n"
}

#[test]
fn figures_of_haproxy_are_read_from_its_socket() {
    use std::io::{Read, Write};
    let server = Server::new();
    server.put("/etc/cfn/cfn-credentials", "AWSAccessKeyId=id\nAWSSecretKey=secret\n", 0o600);
    let service = Service::answering(&[(200, "{}"), (200, "{}")]);
    server.put("/var/lib/heat-cfntools/cfn-watch-server", &format!("{}/v1/", service.url), 0o600);
    server.put("/var/lib/heat-cfntools/nova_meta.json", r#"{"uuid": "server-1"}"#, 0o600);
    let run = server.run("cfn-push-stats", &["--haproxy"]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("cannot read the statistics of HAProxy"), "{}", run.err);

    std::fs::create_dir_all(server.path("/tmp")).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(server.path("/tmp/.haproxy-stats"));
    let listener = listener.expect("a socket");
    let list = [
        "# pxname,svname,qcur,qmax\n".to_owned(),
        haproxy_line(&[(1, "FRONTEND"), (17, "OPEN"), (32, "0"), (42, "3"), (43, "1"), (48, "99")]),
        haproxy_line(&[(1, "server1"), (17, "UP"), (32, "2"), (38, "250"), (40, "90")]),
        haproxy_line(&[(1, "server2"), (17, "DOWN"), (32, "2"), (38, "10")]),
        haproxy_line(&[(1, "BACKEND"), (17, "UP"), (32, "1"), (40, "90"), (41, "2")]),
        "\n".to_owned(),
    ]
    .concat();
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().expect("a question");
            let mut question = [0; 10];
            stream.read_exact(&mut question).expect("a question");
            assert_eq!(&question, b"show stat\n");
            stream.write_all(list.as_bytes()).expect("an answer");
        }
    });
    server.good("cfn-push-stats", &["--watch", "alarm", "--haproxy", "--heartbeat"]);
    let requests = service.requests.recv().unwrap().line;
    for part in ["Namespace=AWS%2FELB", "Dimensions.member.2.Value=alarm&"] {
        assert!(requests.contains(part), "{part}: {requests}");
    }
    let figures = [
        ("RequestCount", "99", "Counter"),
        ("HTTPCode_ELB_4XX", "3", "Counter"),
        ("HTTPCode_ELB_5XX", "1", "Counter"),
        ("HTTPCode_Backend_2XX", "90", "Counter"),
        ("HTTPCode_Backend_3XX", "2", "Counter"),
        ("HTTPCode_Backend_4XX", "0", "Counter"),
        ("HTTPCode_Backend_5XX", "0", "Counter"),
        ("Latency", "0.25", "Seconds"),
        ("HealthyHostCount", "1", "Counter"),
        ("UnHealthyHostCount", "1", "Counter"),
    ];
    for (number, (name, value, unit)) in (1..).zip(figures) {
        for (part, text) in [("MetricName", name), ("Value", value), ("Unit", unit)] {
            let part = format!("&MetricData.member.{number}.{part}={text}&");
            assert!(requests.contains(&part), "{part}: {requests}");
        }
    }
    assert!(!requests.contains("Heartbeat"), "nothing else is told, as ever");
    server.good("cfn-push-stats", &["--haproxy-latency"]);
    let requests = service.requests.recv().unwrap().line;
    assert!(requests.contains("MetricData.member.1.MetricName=Latency&"), "{requests}");
    assert!(!requests.contains("MetricData.member.2."), "{requests}");
    answering.join().unwrap();
}
