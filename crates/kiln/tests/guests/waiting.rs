//! Guests that wait for a change while the service goes.

use crate::cloud::kiln_process::{KilnProcess, Who};
use std::process::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PATH: &str = "/software_deployments/metadata/nobody";

async fn connected(kiln: &KilnProcess, path: &str, headers: &str) -> TcpStream {
    let (host, request) = kiln.written(path, headers);
    let mut stream = TcpStream::connect(host).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request");
    stream
}

/// An answer, to the end of the connection.
async fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("an answer");
    text
}

#[tokio::test]
async fn a_service_that_leaves_sends_those_away_who_wait() {
    let mut kiln = KilnProcess::empty(&[]).await;
    let first = answer(connected(&kiln, PATH, "Connection: close\r\n").await).await;
    let tag = first.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
    let known = format!("If-None-Match: {tag}\r\n");
    let waiting = connected(&kiln, &format!("{PATH}?wait=60"), &known).await;
    // Connections are taken in their order: once this is answered, the other one is there.
    kiln.ask(Who::Demo, "GET", "/stacks", None).await;
    let id = kiln.process.id().to_string();
    assert!(Command::new("kill").arg(id).status().expect("kill").success());
    let said = answer(waiting).await;
    assert!(said.starts_with("HTTP/1.1 503"), "{said}");
    assert!(kiln.process.wait().expect("an end").success());
}
