//! A small network service over real HTTP, which outlives the processes that call it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The networks there are, by id, and how many calls were made.
#[derive(Default)]
pub(crate) struct Inside {
    pub(crate) networks: BTreeMap<String, Value>,
    pub(crate) calls: u64,
    made: u64,
}

/// A running service.
#[derive(Clone, Default)]
pub(crate) struct Networks {
    pub(crate) inside: Arc<(Mutex<Inside>, Condvar)>,
}

/// A door of the service: an address at which it is called.
#[derive(Default)]
pub(crate) struct Door {
    state: Mutex<DoorState>,
    changed: Condvar,
}

#[derive(Default)]
struct DoorState {
    /// How many calls came that change something.
    changing: u64,
    /// Whether replies are held back.
    is_held: bool,
}

impl Door {
    /// A door that holds its replies back: what is asked for is done, and nobody is told.
    pub(crate) fn held() -> Arc<Door> {
        let door = Door::default();
        door.state.lock().expect("no panic").is_held = true;
        Arc::new(door)
    }

    /// Lets all replies out, those that were held back included.
    pub(crate) fn open(&self) {
        self.state.lock().expect("no panic").is_held = false;
        self.changed.notify_all();
    }

    /// How many calls came that change something.
    pub(crate) fn changing(&self) -> u64 {
        self.state.lock().expect("no panic").changing
    }

    /// Waits until so many calls came that change something.
    pub(crate) fn wait_for_changing(&self, count: u64) {
        let guard = self.state.lock().expect("no panic");
        let is_short = |state: &mut DoorState| state.changing < count;
        let waited = self.changed.wait_timeout_while(guard, Duration::from_secs(30), is_short);
        assert!(!waited.expect("no panic").1.timed_out(), "fewer than {count} calls came");
    }

    fn count(&self, method: &str) {
        self.state.lock().expect("no panic").changing += u64::from(method != "GET");
        self.changed.notify_all();
    }

    fn wait_until_open(&self) {
        let guard = self.state.lock().expect("no panic");
        drop(self.changed.wait_while(guard, |state| state.is_held).expect("no panic"));
    }
}

impl Networks {
    /// Starts the service; gives its address.
    pub(crate) fn start(&self) -> String {
        self.start_door(Arc::default())
    }

    /// Starts the service at one more address.
    pub(crate) fn start_door(&self, door: Arc<Door>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let service = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (service, door) = (service.clone(), door.clone());
                std::thread::spawn(move || service.serve(stream, &door));
            }
        });
        address
    }

    /// Waits until so many calls were made.
    pub(crate) fn wait_for_calls(&self, calls: u64) {
        let (inside, changed) = &*self.inside;
        let guard = inside.lock().expect("no panic");
        let is_short = |inside: &mut Inside| inside.calls < calls;
        drop(changed.wait_timeout_while(guard, Duration::from_secs(30), is_short));
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&Inside) -> T) -> T {
        look(&self.inside.0.lock().expect("no panic"))
    }

    /// Answers the calls of one connection, one after the other.
    fn serve(&self, stream: TcpStream, door: &Door) {
        let Ok(mut out) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        while let Some((method, path, body)) = read_request(&mut reader) {
            let (status, reply) = self.act(&method, &path, &body);
            door.count(&method);
            door.wait_until_open();
            let text = if reply.is_null() { String::new() } else { reply.to_string() };
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", text.len());
            if out.write_all((head + &text).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn act(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (inside, changed) = &*self.inside;
        let mut inside = inside.lock().expect("no panic");
        inside.calls += 1;
        changed.notify_all();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let id = path.strip_prefix("/networks").unwrap_or("").trim_start_matches('/');
        match (method, id) {
            ("POST", "") => {
                inside.made += 1;
                let id = format!("net-{}", inside.made);
                let mut network = body["network"].clone();
                network["id"] = id.clone().into();
                network["status"] = "ACTIVE".into();
                inside.networks.insert(id, network.clone());
                (201, json!({ "network": network }))
            }
            ("GET", "") => {
                let name = query.strip_prefix("name=").unwrap_or_default();
                let found = inside.networks.values().filter(|network| network["name"] == name);
                (200, json!({ "networks": found.collect::<Vec<_>>() }))
            }
            ("GET", id) => match inside.networks.get(id) {
                Some(network) => (200, json!({ "network": network })),
                None => (404, json!({ "NeutronError": { "message": "it is not there" } })),
            },
            ("PUT", id) => match inside.networks.get_mut(id) {
                Some(network) => {
                    let fields = body["network"].as_object().cloned().unwrap_or_default();
                    fields.into_iter().for_each(|(name, value)| network[name] = value);
                    (200, json!({ "network": network }))
                }
                None => (404, json!({ "NeutronError": { "message": "it is not there" } })),
            },
            ("DELETE", id) => match inside.networks.remove(id) {
                Some(_) => (204, Value::Null),
                None => (404, json!({ "NeutronError": { "message": "it is not there" } })),
            },
            _ => (405, Value::Null),
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Value)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|length| *length > 0)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((method, path, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}
