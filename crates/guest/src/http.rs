//! Requests over HTTP: bounded in time and size, and asked again where that may help.

use crate::host::{Host, Patience};
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};
use ureq::{Agent, http};

/// So much of an answer is read.
const LONGEST: u64 = 32 << 20;

/// Where distributions keep the certificates that they trust.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What sends requests.
pub(crate) struct Http {
    plain: Agent,
    /// For the compute service, which is beside us: no proxy knows the way.
    near: Agent,
    encrypted: OnceLock<Agent>,
    authorities: Option<String>,
    is_insecure: bool,
    patience: Patience,
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) timeout: Duration,
}

/// An answer, whatever it says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: Kind,
    said: String,
}

/// What kept an answer from coming, in the order of how far it got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    NoHost,
    Refused,
    Timeout,
    Other,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl Request {
    /// A request without a body.
    pub(crate) fn new(method: &'static str, url: impl Into<String>) -> Request {
        let (headers, body) = (Vec::new(), Vec::new());
        Request { method, url: url.into(), headers, body, timeout: Duration::from_secs(10) }
    }

    /// The same with a header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.headers.push((name, value.into()));
        self
    }

    /// The same with a body.
    pub(crate) fn carrying(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self
    }

    /// The same, given so many seconds.
    pub(crate) fn within(mut self, seconds: u64) -> Request {
        self.timeout = Duration::from_secs(seconds);
        self
    }
}

impl Reply {
    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        all.next().map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether what was asked for was done.
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn may_be_better_later(&self) -> bool {
        matches!(self.status, 429 | 500 | 502 | 503 | 504)
    }
}

impl Http {
    /// What sends requests, with the certificates that the system trusts.
    pub(crate) fn new(host: &Host) -> Http {
        let told = host.variable("SSL_CERT_FILE").map(str::to_owned);
        let known = BUNDLES.iter().map(|path| (*path).to_owned());
        let authorities =
            told.into_iter().chain(known).find(|path| std::path::Path::new(path).exists());
        Http {
            plain: agent(None, ureq::Proxy::try_from_env()),
            near: agent(None, None),
            encrypted: OnceLock::new(),
            authorities,
            is_insecure: false,
            patience: host.patience(),
        }
    }

    /// The same that trusts the certificates in a file alone.
    pub(crate) fn trusting(mut self, file: Option<&str>) -> Http {
        if let Some(file) = file.filter(|it| !it.is_empty()) {
            self.authorities = Some(file.to_owned());
        }
        self
    }

    /// The same that believes everybody, if wanted.
    pub(crate) fn insecure(mut self, is_insecure: bool) -> Http {
        self.is_insecure = is_insecure;
        self
    }

    /// Sends a request once.
    pub(crate) fn send(&self, request: &Request) -> Result<Reply, Failed> {
        let wrong = |said: String| Failed { kind: Kind::Other, said };
        let mut built = http::Request::builder().method(request.method).uri(&request.url);
        for (name, value) in &request.headers {
            built = built.header(*name, value);
        }
        let url = shown(&request.url);
        let agent = match request.url.starts_with("https:") {
            true => {
                self.encrypted.get_or_init(|| agent(Some(self.tls()), ureq::Proxy::try_from_env()))
            }
            false if request.url.starts_with("http://169.254.") => &self.near,
            false => &self.plain,
        };
        let answered = if request.body.is_empty() && matches!(request.method, "GET" | "HEAD") {
            let built = built.body(()).map_err(|error| wrong(format!("{url}: {error}")))?;
            let timeout = Some(request.timeout);
            agent.run(agent.configure_request(built).timeout_global(timeout).build())
        } else {
            let built = built.body(request.body.as_slice());
            let built = built.map_err(|error| wrong(format!("{url}: {error}")))?;
            let timeout = Some(request.timeout);
            agent.run(agent.configure_request(built).timeout_global(timeout).build())
        };
        let mut response = answered.map_err(|error| failed(url, &error))?;
        let body = response.body_mut().with_config().limit(LONGEST).read_to_vec();
        let headers = response.headers().iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Reply {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: body.map_err(|error| failed(url, &error))?,
        })
    }

    /// Sends a request again and again until it is answered by somebody who is not in trouble, or the patience ends.
    pub(crate) fn send_patiently(&self, host: &Host, request: &Request) -> Result<Reply, Failed> {
        let mut attempt = 1;
        loop {
            let answered = self.send(request);
            let trouble = match &answered {
                Ok(reply) if !reply.may_be_better_later() => return answered,
                Ok(reply) => format!("{}: answered with {}", shown(&request.url), reply.status),
                Err(failed) => failed.to_string(),
            };
            if attempt >= self.patience.tries {
                return answered;
            }
            let pause = self.patience.pause(attempt);
            host.warn(format!("{trouble}; tried again in {} s", pause.as_secs_f32()));
            std::thread::sleep(pause);
            attempt += 1;
        }
    }

    fn tls(&self) -> TlsConfig {
        let read = self.authorities.as_ref().and_then(|path| std::fs::read(path).ok());
        let found: Vec<Certificate<'static>> = read
            .iter()
            .flat_map(|bytes| ureq::tls::parse_pem(bytes))
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        let roots =
            if found.is_empty() { RootCerts::WebPki } else { RootCerts::new_with_certs(&found) };
        TlsConfig::builder().root_certs(roots).disable_verification(self.is_insecure).build()
    }
}

fn agent(tls: Option<TlsConfig>, proxy: Option<ureq::Proxy>) -> Agent {
    let builder = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(10)))
        .user_agent("kiln-guest")
        .proxy(proxy);
    match tls {
        Some(tls) => builder.tls_config(tls).build().into(),
        None => builder.build().into(),
    }
}

/// An address without what is secret in it: signatures stand behind the question mark.
fn shown(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn failed(url: &str, error: &ureq::Error) -> Failed {
    let kind = match error {
        ureq::Error::HostNotFound => Kind::NoHost,
        // The system has no kind of its own for that.
        ureq::Error::Io(error) if error.to_string().contains("lookup address") => Kind::NoHost,
        ureq::Error::ConnectionFailed => Kind::Refused,
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Kind::Refused
        }
        ureq::Error::Timeout(_) => Kind::Timeout,
        _ => Kind::Other,
    };
    Failed { kind, said: format!("{url}: {error}") }
}
