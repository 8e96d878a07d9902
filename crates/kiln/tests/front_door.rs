//! Clients that hold connections open do not keep others out.

use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a test waits for something that should come in a second or two.
const LIMIT: Duration = Duration::from_secs(25);

const HEALTH: &str = "GET /healthcheck HTTP/1.1\r\nhost: x\r\n\r\n";

/// A request that is in progress until its last byte is sent.
const UNFINISHED: &str =
    "POST /v1/admin/validate HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{";

fn config(options: &str) -> String {
    format!(
        "[heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n[paste_deploy]\nflavor = noauth\n\
         [kiln]\nroles = api\n{options}\n"
    )
}

fn connect(api: &str) -> TcpStream {
    let address = api.split_once("://").expect("an address").1;
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    stream
}

fn send(api: &str, text: &str) -> TcpStream {
    let mut stream = connect(api);
    stream.write_all(text.as_bytes()).expect("it is sent");
    stream
}

/// The status line of the next answer; empty if the connection is closed instead.
fn status(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    let mut filled = 0;
    while filled < bytes.len() {
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("no answer: {error}"),
        }
    }
    String::from_utf8_lossy(&bytes[..filled]).into_owned()
}

/// Reads until the server closes the connection.
fn wait_until_closed(stream: &mut TcpStream, what: &str) {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{what} is still open: {error}"),
    }
}

#[test]
fn connections_without_a_request_are_closed() {
    let text = config("header_timeout = 1\nidle_timeout = 1");
    let directory = TestDirectory::with(&[("kiln.conf", &text)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut answered = send(&api, HEALTH);
    assert_eq!(status(&mut answered), "HTTP/1.1 200");
    let mut silent = connect(&api);
    let mut half = send(&api, "GET /healthcheck HTTP/1.1\r\nhost: x\r\nx-half");
    let mut second = send(&api, HEALTH);
    assert_eq!(status(&mut second), "HTTP/1.1 200");
    second.write_all(b"GET /health").expect("it is sent");
    let mut busy = send(&api, UNFINISHED);
    for (stream, what) in [
        (&mut answered, "a connection that is idle after an answer"),
        (&mut silent, "a connection that says nothing"),
        (&mut half, "a connection with half a request"),
        (&mut second, "a connection with half of a second request"),
    ] {
        wait_until_closed(stream, what);
    }
    // A request in progress is none of these.
    busy.write_all(b"}").expect("it is sent");
    assert_eq!(status(&mut busy), "HTTP/1.1 400");
    assert!(served.stop());
}

#[test]
fn a_client_that_trickles_its_request_is_closed() {
    let directory = TestDirectory::with(&[("kiln.conf", &config("header_timeout = 1"))]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut stream = send(&api, "GET /healthcheck HTTP/1.1\r\nhost: x\r\nx-long: ");
    stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a limit");
    let started = Instant::now();
    // Every byte that arrives is a sign of life, but the limit is one of the whole head.
    while stream.write_all(b"x").is_ok() {
        let is_open = stream.read(&mut [0]).is_err_and(|error| {
            [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::TimedOut].contains(&error.kind())
        });
        if !is_open {
            break;
        }
        assert!(started.elapsed() < LIMIT, "the connection is still open");
    }
    assert!(served.stop());
}

#[test]
fn connections_with_tls_are_closed_as_well() {
    let certificate = include_str!("tls/cert.pem");
    let text = config("header_timeout = 1")
        .replace("bind_port = 0\n", "bind_port = 0\ncert_file = cert.pem\nkey_file = key.pem\n");
    let directory = TestDirectory::with(&[
        ("kiln.conf", &text),
        ("cert.pem", certificate),
        ("key.pem", include_str!("tls/key.pem")),
    ]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut trusted = rustls::RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM");
    trusted.add(certificate).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(trusted)
        .with_no_client_auth();
    wait(async {
        for said in ["", "GET /healthcheck HTTP/1.1\r\nx-half"] {
            let address = api.split_once("://").expect("an address").1;
            let tcp = tokio::net::TcpStream::connect(address).await.expect("a connection");
            let name = ServerName::try_from("127.0.0.1").expect("a name");
            let connector = tokio_rustls::TlsConnector::from(Arc::new(config.clone()));
            let mut stream = connector.connect(name, tcp).await.expect("a handshake");
            stream.write_all(said.as_bytes()).await.expect("it is sent");
            stream.flush().await.expect("it is sent");
            let mut rest = Vec::new();
            let closed = tokio::time::timeout(LIMIT, stream.read_to_end(&mut rest)).await;
            // The end may come without a farewell of TLS.
            assert!(closed.is_ok(), "the connection that said {said:?} is still open");
        }
    });
    assert!(served.stop());
}

#[test]
fn idle_connections_make_room_for_newcomers() {
    let directory = TestDirectory::with(&[(
        "kiln.conf",
        &config("max_connections = 8\nmax_connections_per_address = 0"),
    )]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut busy: Vec<TcpStream> = (0..4).map(|_| send(&api, UNFINISHED)).collect();
    let silent: Vec<TcpStream> = (0..12).map(|_| connect(&api)).collect();
    assert_eq!(status(&mut send(&api, HEALTH)), "HTTP/1.1 200");
    drop(silent);
    for stream in &mut busy {
        stream.write_all(b"}").expect("it is sent");
        assert_eq!(status(stream), "HTTP/1.1 400", "those inside go on");
    }
    assert!(served.stop());
}

#[test]
fn newcomers_wait_while_all_connections_are_busy() {
    let directory = TestDirectory::with(&[(
        "kiln.conf",
        &config("max_connections = 4\nmax_connections_per_address = 0"),
    )]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut busy: Vec<TcpStream> = (0..4).map(|_| send(&api, UNFINISHED)).collect();
    let mut newcomers: Vec<TcpStream> = (0..3).map(|_| send(&api, HEALTH)).collect();
    newcomers[0].set_read_timeout(Some(Duration::from_secs(2))).expect("a limit");
    assert!(newcomers[0].read(&mut [0]).is_err(), "a newcomer was answered though all were busy");
    newcomers[0].set_read_timeout(Some(LIMIT)).expect("a limit");
    for stream in &mut busy {
        stream.write_all(b"}").expect("it is sent");
        assert_eq!(status(stream), "HTTP/1.1 400", "those inside go on");
    }
    drop(busy);
    for stream in &mut newcomers {
        assert_eq!(status(stream), "HTTP/1.1 200", "those who waited are served");
    }
    assert!(served.stop());
}

#[test]
fn one_address_does_not_take_all_connections() {
    let text = config("max_connections = 8\nmax_connections_per_address = 2");
    let directory = TestDirectory::with(&[("kiln.conf", &text)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut busy: Vec<TcpStream> = (0..2).map(|_| send(&api, UNFINISHED)).collect();
    assert_eq!(status(&mut connect(&api)), "", "the third is closed");
    for stream in &mut busy {
        stream.write_all(b"}").expect("it is sent");
        assert_eq!(status(stream), "HTTP/1.1 400");
    }
    assert!(served.stop());
}

#[test]
fn a_client_that_does_not_read_is_closed() {
    let directory = TestDirectory::with(&[("kiln.conf", &config("write_timeout = 1"))]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let mut stream = connect(&api);
    let request = "GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100);
    stream.set_write_timeout(Some(LIMIT)).expect("a limit");
    let started = Instant::now();
    // The answers are read by nobody, so that the server cannot send more at some point.
    loop {
        match stream.write_all(request.as_bytes()) {
            Ok(()) => assert!(started.elapsed() < LIMIT, "the connection is still open"),
            Err(error) => {
                let closed = [std::io::ErrorKind::BrokenPipe, std::io::ErrorKind::ConnectionReset];
                assert!(closed.contains(&error.kind()), "the connection is still open: {error}");
                break;
            }
        }
    }
    assert!(served.stop());
}

/// A client without a token has its answer before it has sent its body, and the server does not keep the body.
#[test]
fn nobody_unknown_is_waited_for() {
    let text = config("max_connections_per_address = 0").replace(
        "flavor = noauth\n",
        "flavor = keystone\n[keystone_authtoken]\nauth_url = http://127.0.0.1:9\n",
    );
    let directory = TestDirectory::with(&[("kiln.conf", &text)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    let head = "POST /v1/p/stacks HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
    let started = Instant::now();
    let mut open: Vec<TcpStream> = (0..100).map(|_| send(&api, head)).collect();
    for stream in &mut open {
        assert_eq!(status(stream), "HTTP/1.1 401");
    }
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    // A client that sends its body all the same still reads the answer.
    let mut whole = send(&api, &format!("{head}{}", "x".repeat(1_000_000)));
    assert_eq!(status(&mut whole), "HTTP/1.1 401");
    wait_until_closed(&mut whole, "a connection with a body that nobody read");
    // A short body does not cost the connection.
    let head = "POST /v1/p/stacks HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n";
    let mut short = send(&api, head);
    short.write_all(format!("{{}}{HEALTH}").as_bytes()).expect("it is sent");
    let mut text = String::new();
    while !text.contains("HTTP/1.1 200") {
        let next = status(&mut short);
        assert_ne!(next, "", "the connection is closed after {text}");
        text.push_str(&next);
    }
    assert!(text.starts_with("HTTP/1.1 401"), "{text}");
    assert!(served.stop());
}

/// The processor time of a process so far.
fn processor_time(id: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
    let fields: Vec<&str> = text.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|it| it.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

/// The lines of a log as they come.
fn lines(log: std::process::ChildStderr) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(log).lines().map_while(Result::ok);
        lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    receive
}

/// All files of a process are taken by silent clients: with and without TLS, others are still answered, and
/// the loops that accept do not spin.
#[test]
fn a_server_without_free_files_still_answers() {
    let options =
        "max_connections = 100000\nmax_connections_per_address = 0\nheader_timeout = 3600";
    let tls = "bind_port = 0\ncert_file = cert.pem\nkey_file = key.pem\n";
    for text in [config(options), config(options).replace("bind_port = 0\n", tls)] {
        let directory = TestDirectory::with(&[
            ("kiln.conf", &text),
            ("cert.pem", include_str!("tls/cert.pem")),
            ("key.pem", include_str!("tls/key.pem")),
        ]);
        let program = env!("CARGO_BIN_EXE_kiln");
        let mut process = Command::new("sh")
            .args(["-c", &format!("ulimit -n 100 && exec '{program}' server --config kiln.conf")])
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let log = lines(process.stderr.take().expect("a log"));
        let mut served = Served::of(process);
        let api = served.address();
        let silent: Vec<TcpStream> = (0..150).map(|_| connect(&api)).collect();
        let said = "cannot accept connections";
        while !log.recv_timeout(LIMIT).expect("the log says it").contains(said) {}
        let (started, before) = (Instant::now(), processor_time(served.id()));
        let is_plain = api.starts_with("http://");
        if is_plain {
            assert_eq!(status(&mut send(&api, HEALTH)), "HTTP/1.1 200");
        } else {
            // The first handshakes run out of time.
            let mut first = silent.first().expect("a connection").try_clone().expect("a handle");
            wait_until_closed(&mut first, "a connection without a handshake");
        }
        let (spent, passed) = (processor_time(served.id()) - before, started.elapsed());
        assert!(spent < Duration::from_millis(200) + passed / 10, "{spent:?} of {passed:?}");
        drop(silent);
        assert!(served.stop());
        assert_eq!(log.iter().filter(|line| line.contains(said)).count(), 0, "it is said again");
    }
}
