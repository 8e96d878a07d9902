//! A cloud of one thread: it answers over HTTP what a test wants it to, and notes what it was asked.

use crate::test_directory::{Run, TestDirectory};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body; null if there is none, and text if it is no JSON.
    pub(crate) body: Value,
}

impl Asked {
    /// The method and the path, with the query if there is one.
    pub(crate) fn line(&self) -> String {
        match &*self.query {
            "" => format!("{} {}", self.method, self.path),
            query => format!("{} {}?{query}", self.method, self.path),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }
}

/// An answer; without one the connection is closed.
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Answer {
    /// The same with a body that is no JSON.
    pub(crate) fn with_body(self, body: &str) -> Answer {
        Answer { body: body.to_owned(), ..self }
    }
}

pub(crate) fn ok(body: Value) -> Option<Answer> {
    told(200, body)
}

pub(crate) fn told(status: u16, body: Value) -> Option<Answer> {
    Some(Answer { status, headers: Vec::new(), body: body.to_string() })
}

pub(crate) fn nothing(status: u16) -> Option<Answer> {
    Some(Answer { status, headers: Vec::new(), body: String::new() })
}

/// Points elsewhere.
pub(crate) fn found(location: &str) -> Option<Answer> {
    let headers = vec![("location", location.to_owned())];
    Some(Answer { status: 302, headers, body: r#"{"code": "302 Found"}"#.into() })
}

/// A refusal as the service words it.
pub(crate) fn refused(status: u16, kind: &str, message: &str) -> Option<Answer> {
    let error = json!({"type": kind, "message": message, "traceback": null});
    let body = json!({"code": status, "title": "Refused", "explanation": "x", "error": error});
    with(told(status, body), "x-openstack-request-id", "req-1")
}

/// An answer with a header more.
pub(crate) fn with(told: Option<Answer>, name: &'static str, value: &str) -> Option<Answer> {
    told.map(|mut told| {
        told.headers.push((name, value.to_owned()));
        told
    })
}

/// A cloud that runs as long as the test.
pub(crate) struct Fake {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// A cloud that answers as this function does.
    pub(crate) fn new(answer: impl Fn(&Asked) -> Option<Answer> + Send + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (asked, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (notes, over) = (asked.clone(), is_over.clone());
        let serve = move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                // A client that goes away in the middle is no failure of the cloud.
                _ = stream.and_then(|stream| serve(stream, &answer, &notes));
            }
        };
        Fake { port, asked, is_over, thread: Some(std::thread::spawn(serve)) }
    }

    /// An orchestration service: paths begin after the project.
    pub(crate) fn heat(answer: impl Fn(&Asked) -> Option<Answer> + Send + 'static) -> Fake {
        Fake::new(move |asked| match asked.path.strip_prefix("/v1/p") {
            Some(path) => answer(&Asked { path: path.to_owned(), ..asked.clone() }),
            None => refused(404, "NotFound", "not this path"),
        })
    }

    /// The URL of a path of the cloud.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Everything asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("notes").clone()
    }

    /// The requests so far, a line each, without the project.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked.line().replacen("/v1/p", "", 1)).collect()
    }

    /// Runs the program on this service without logging in.
    pub(crate) fn run(&self, directory: &TestDirectory, arguments: &[&str]) -> Run {
        let endpoint = self.url("/v1/p");
        run(directory, arguments, &[("OS_AUTH_TYPE", "none"), ("OS_ENDPOINT", &endpoint)])
    }

    /// Runs the program under its classic name on this service without logging in.
    pub(crate) fn run_classic(&self, directory: &TestDirectory, arguments: &[&str]) -> Run {
        use std::os::unix::process::CommandExt;
        let mut command = directory.command(arguments);
        command.arg0("/usr/bin/heat");
        command.env("OS_AUTH_TYPE", "none").env("OS_ENDPOINT", self.url("/v1/p"));
        Run::from(command.output().expect("an end"))
    }
}

/// Runs the program with variables.
pub(crate) fn run(
    directory: &TestDirectory,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Run {
    let mut command = directory.command(arguments);
    command.stdin(std::process::Stdio::null());
    Run::from(command.envs(variables.iter().copied()).output().expect("an end"))
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread up, which then sees that it is over.
        _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn serve(
    stream: TcpStream,
    answer: &dyn Fn(&Asked) -> Option<Answer>,
    notes: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(&stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
    let text = || match body.is_empty() {
        true => Value::Null,
        false => String::from_utf8_lossy(&body).into(),
    };
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
    let asked = Asked { method, path, query, headers, body };
    let told = answer(&asked);
    notes.lock().expect("notes").push(asked);
    let Some(Answer { status, headers, body }) = told else { return Ok(()) };
    let mut out = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    out += &format!("content-length: {}\r\n", body.len());
    if headers.iter().all(|(name, _)| *name != "content-type") {
        out += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        out += &format!("{name}: {value}\r\n");
    }
    (&stream).write_all(format!("{out}\r\n{body}").as_bytes())
}
