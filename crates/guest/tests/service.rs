//! A service with scripted answers that records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A received request.
#[derive(Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The service; it ends after its last answer.
pub(crate) struct Service {
    pub(crate) url: String,
    pub(crate) requests: Receiver<ReceivedRequest>,
}

impl Service {
    /// Answers one request after another: status and body.
    pub(crate) fn answering(answers: &[(u16, &str)]) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let answers: Vec<(u16, String)> =
            answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let (send, requests) = channel();
        std::thread::spawn(move || {
            for (status, body) in answers {
                let Ok((stream, _)) = listener.accept() else { return };
                let Some(request) = read(&stream) else { return };
                let answer = format!(
                    "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                _ = (&stream).write_all(answer.as_bytes());
                if send.send(request).is_err() {
                    return;
                }
            }
        });
        Service { url, requests }
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(ReceivedRequest { line: line.trim_end().to_owned(), headers, body })
}
