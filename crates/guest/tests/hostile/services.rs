//! Services that were taken over, and men in the middle.

use crate::server::{Run, Server};
use crate::service::{Service, answer};
use serde_json::json;
use std::io::Write;

/// Collects metadata at a URL.
fn collect(server: &Server, url: &str) -> Run {
    server.run(
        "os-collect-config",
        &["--print", "--request-metadata-url", url, "--request-timeout", "2", "request"],
    )
}

fn assert_unavailable(run: &Run) {
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.out, "{}\n", "{run:?}");
    assert!(run.err.contains("Source [request] Unavailable."), "{run:?}");
}

#[test]
fn answers_have_a_maximal_size() {
    let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(40 << 20));
    let service = Service::answering(&[(200, &huge)]);
    assert_unavailable(&collect(&Server::new(), &service.url));
    let service = Service::writing(|mut stream| {
        let head = "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        _ = stream.write_all(head.as_bytes());
        while stream.write_all(chunk.as_bytes()).is_ok() {}
        false
    });
    assert_unavailable(&collect(&Server::new(), &service.url));
    let service = Service::writing(|mut stream| {
        _ = stream.write_all(b"HTTP/1.1 200 x\r\n");
        while stream.write_all(b"X-Header: value\r\n").is_ok() {}
        false
    });
    assert_unavailable(&collect(&Server::new(), &service.url));
}

#[test]
fn answers_have_a_time_limit() {
    for head in ["HTTP/1.1 200 x\r\nContent-Length: 1000000\r\n\r\n", "HTTP/1.1 200 x\r\n"] {
        let service = Service::writing(move |mut stream| {
            _ = stream.write_all(head.as_bytes());
            // A byte now and then does not extend the time.
            let (_never, rare) = std::sync::mpsc::channel::<()>();
            while stream.write_all(b"a").is_ok() {
                _ = rare.recv_timeout(std::time::Duration::from_millis(50));
            }
            false
        });
        assert_unavailable(&collect(&Server::new(), &service.url));
    }
}

#[test]
fn deep_and_odd_documents_are_refused() {
    let levels = 1_000_000;
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    let maps = "{\"a\":".repeat(levels);
    for body in [&*deep, &*maps, "[]", "\"text\"", "null", "", "{\"a\": 1e999999}", "\u{0}"] {
        let service = Service::answering(&[(200, body)]);
        let start: String = body.chars().take(20).collect();
        let run = collect(&Server::new(), &service.url);
        assert_eq!((run.status, &*run.out), (0, "{}\n"), "{start}: {run:?}");
    }
    let metadata = json!({"Metadata": deep});
    let body = json!({"DescribeStackResourceResponse": {"DescribeStackResourceResult": {"StackResourceDetail": metadata}}});
    let server = Server::new();
    let service = Service::answering(&[(200, &body.to_string())]);
    server.put("/var/lib/heat-cfntools/cfn-metadata-server", &service.url, 0o600);
    let keys = ["-s", "web", "-r", "server", "--access-key", "a", "--secret-key", "b"];
    let run = server.run("cfn-get-metadata", &keys);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn headers_with_odd_bytes_are_harmless() {
    let server = Server::new();
    let etag = answer(
        200,
        "ETag: \"\u{ff}\u{80}\"\r\nX-Kiln-Wait: 99999999999999999999\r\n",
        b"{\"a\": 1}",
    );
    let service = Service::scripted(vec![etag]);
    assert_eq!(collect(&server, &service.url).out, "{\n \"request\": {\n  \"a\": 1\n }\n}\n");
    let service = Service::scripted(vec![b"HTTP/1.1 200 x\r\nX: a\0b\x1b[2J\r\n\r\n".to_vec()]);
    let run = collect(&server, &service.url);
    assert!(!run.err.contains('\u{1b}') && !run.err.contains("panicked"), "{run:?}");
    let service = Service::scripted(vec![b"HTTP/1.1 999 x\r\n\r\n".to_vec()]);
    collect(&server, &service.url);
}

/// Returns a service that redirects every request.
fn redirecting(location: &str) -> Service {
    let answer = answer(302, &format!("Location: {location}\r\n"), b"");
    Service::writing(move |mut stream| stream.write_all(&answer).is_ok())
}

#[test]
fn redirects_to_files_and_loops_are_not_followed() {
    for location in
        ["file:///etc/passwd", "/again", "ftp://127.0.0.1/x", "http://", "\u{7f}", "data:,x"]
    {
        let service = redirecting(location);
        assert_unavailable(&collect(&Server::new(), &service.url));
    }
    // Without credentials, a redirect is followed.
    let good = Service::answering(&[(200, "{\"a\": 1}")]);
    let service = redirecting(&format!("{}/there", good.url));
    assert!(collect(&Server::new(), &service.url).out.contains("\"a\": 1"));
    assert_eq!(good.requests.recv().unwrap().line, "GET /there HTTP/1.1");
}

#[test]
fn a_redirect_to_a_name_of_this_server_is_not_followed() {
    let near = Service::answering(&[(200, "{\"a\": 1}")]);
    // A number is resolved like a name, here to 127.0.0.1.
    let port = near.url.rsplit(':').next().unwrap();
    let service = redirecting(&format!("http://2130706433:{port}/there"));
    let run = collect(&Server::new(), &service.url);
    assert_unavailable(&run);
    assert!(near.requests.try_recv().is_err(), "the host is not asked");
}

#[test]
fn an_unreadable_authority_file_is_an_error() {
    let server = Server::new();
    std::fs::write(server.path("empty.pem"), "").unwrap();
    for file in ["/there/is/no/such/file.pem", server.path("empty.pem").to_str().unwrap()] {
        let config = format!(
            "[cfn]\nmetadata_url = https://127.0.0.1:1/\nheat_metadata_hint = \nca_certificate = {file}\n\
             [request]\nmetadata_url = https://127.0.0.1:1/x\n"
        );
        std::fs::write(server.path("os-collect-config.conf"), config).unwrap();
        let path = server.path("os-collect-config.conf");
        let arguments = ["--print", "--debug", "--config-file", path.to_str().unwrap(), "request"];
        let run = server.run("os-collect-config", &arguments);
        assert!(run.err.contains(file) && run.err.contains("certificates"), "{run:?}");
    }
}

#[test]
fn a_redirect_does_not_get_the_token() {
    let thief = Service::answering(&[(200, "{\"metadata\": {\"a\": 1}}")]);
    let heat = redirecting(&thief.url);
    let endpoint = json!({"interface": "public", "url": heat.url});
    let token = json!({"token": {"catalog": [{"type": "orchestration", "endpoints": [endpoint]}]}});
    let body = token.to_string();
    let identity =
        Service::scripted(vec![answer(201, "X-Subject-Token: secret\r\n", body.as_bytes())]);
    let server = Server::new();
    let mut arguments = vec!["--print"];
    let options = [
        ("--heat-auth-url", &*identity.url),
        ("--heat-user-id", "u"),
        ("--heat-password", "p"),
        ("--heat-project-id", "p"),
        ("--heat-stack-id", "a/b"),
        ("--heat-resource-name", "r"),
    ];
    arguments.extend(options.iter().flat_map(|(name, value)| [*name, *value]));
    arguments.push("heat");
    let run = server.run("os-collect-config", &arguments);
    assert_eq!(run.out, "{}\n", "{run:?}");
    assert_eq!(heat.requests.recv().unwrap().header("x-auth-token"), Some("secret"));
    assert!(thief.requests.try_recv().is_err(), "the other host is not asked");
    // A password is not sent to another address, either.
    let identity = redirecting(&thief.url);
    let mut arguments = arguments.clone();
    arguments[2] = &identity.url;
    server.run("os-collect-config", &arguments);
    assert!(thief.requests.try_recv().is_err(), "the other host is not asked");
}

#[test]
fn a_signal_is_not_redirected() {
    let thief = Service::answering(&[(200, "")]);
    let service = redirecting(&thief.url);
    assert_eq!(Server::new().run("cfn-signal", &["-i", "me", &service.url]).status, 22);
    assert!(thief.requests.try_recv().is_err(), "the other host is not asked");
}

#[test]
fn a_tree_of_metadata_ends() {
    let listing = answer(200, "", b"a/\nb/\n../\n");
    let service = Service::writing(move |mut stream| stream.write_all(&listing).is_ok());
    let server = Server::new();
    let run =
        server.run("os-collect-config", &["--print", "--ec2-metadata-url", &service.url, "ec2"]);
    assert_eq!((run.status, &*run.out), (0, "{}\n"), "{run:?}");
}

#[test]
fn messages_of_services_cannot_forge_lines_of_the_log() {
    let server = Server::new();
    let service = Service::answering(&[(
        400,
        "no\n[2026-01-01 00:00:00] (cfn-signal) [INFO] good\u{1b}[2J\r",
    )]);
    let run = server.run("cfn-signal", &["-i", "me", &service.url]);
    assert_eq!(run.status, 22);
    assert!(!run.err.contains('\u{1b}') && !run.err.contains('\r'), "{:?}", run.err);
    assert!(!run.err.lines().skip(1).any(|line| line.starts_with('[')), "{}", run.err);
}
