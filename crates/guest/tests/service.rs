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
        let answers = answers.iter().map(|(status, body)| answer(*status, "", body.as_bytes()));
        Service::scripted(answers.collect())
    }

    /// Answers one request after another with these bytes.
    pub(crate) fn scripted(answers: Vec<Vec<u8>>) -> Service {
        let mut answers = answers.into_iter();
        Service::writing(move |mut stream| {
            let Some(answer) = answers.next() else { return false };
            _ = stream.write_all(&answer);
            answers.len() > 0
        })
    }

    /// Lets a function answer each request, until it returns false.
    pub(crate) fn writing(mut answer: impl FnMut(&TcpStream) -> bool + Send + 'static) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (send, requests) = channel();
        std::thread::spawn(move || {
            loop {
                let Ok((stream, _)) = listener.accept() else { return };
                let Some(request) = read(&stream) else { return };
                let goes_on = answer(&stream);
                if send.send(request).is_err() || !goes_on {
                    return;
                }
            }
        });
        Service { url, requests }
    }
}

/// Builds a response; `headers` end with a line end each.
pub(crate) fn answer(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
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
