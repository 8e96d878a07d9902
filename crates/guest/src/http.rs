//! HTTP requests with limits on time and size, and with retries.

mod far;
mod redirect;

use crate::host::{Host, RetryPolicy};
use std::fmt;
use std::fs::File;
use std::io::{self, Seek};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Body, http};

/// The maximal size of a response that is kept in memory.
const MAX_BODY_BYTES: u64 = 32 << 20;

/// The maximal number of redirects of one request.
const MAX_REDIRECTS: usize = 10;

/// The certificate bundles of the distributions.
const CERTIFICATE_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The HTTP client.
pub(crate) struct Http {
    plain: Agent,
    /// The agent for the metadata service, which no proxy can reach.
    near: Agent,
    encrypted: OnceLock<Agent>,
    /// The same for redirects to another host, which must not lead to this server or its metadata service.
    far_plain: OnceLock<Agent>,
    far_encrypted: OnceLock<Agent>,
    authorities: Option<String>,
    /// Whether the file with the authorities was named in the configuration: then no others are trusted.
    is_chosen: bool,
    is_insecure: bool,
    retry_policy: RetryPolicy,
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

/// A response with any status.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The reason why there is no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestError {
    pub(crate) kind: FailureKind,
    message: String,
}

/// The cause of a failure, in the order of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    NoHost,
    Refused,
    Timeout,
    TooLarge,
    Other,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Request {
    /// Returns a request without a body.
    pub(crate) fn new(method: &'static str, url: impl Into<String>) -> Request {
        let (headers, body) = (Vec::new(), Vec::new());
        Request { method, url: url.into(), headers, body, timeout: Duration::from_secs(10) }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets the body.
    pub(crate) fn with_body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self
    }

    /// Sets the time limit in seconds.
    pub(crate) fn with_timeout(mut self, seconds: u64) -> Request {
        self.timeout = Duration::from_secs(seconds);
        self
    }
}

impl Reply {
    /// Returns the status and the headers of a response.
    fn of(response: &http::Response<Body>) -> Reply {
        let headers = response.headers().iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let (status, headers) = (response.status().as_u16(), headers.collect());
        Reply { status, headers, body: Vec::new() }
    }

    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        all.next().map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Reports whether the status is a success.
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn may_be_better_later(&self) -> bool {
        matches!(self.status, 429 | 500 | 502 | 503 | 504)
    }
}

impl Http {
    /// Returns a client that trusts the certificates of the system.
    pub(crate) fn new(host: &Host) -> Http {
        let configured = host.variable("SSL_CERT_FILE").map(str::to_owned);
        let known = CERTIFICATE_BUNDLES.iter().map(|path| (*path).to_owned());
        let authorities =
            configured.into_iter().chain(known).find(|path| std::path::Path::new(path).exists());
        Http {
            plain: agent(None, ureq::Proxy::try_from_env(), false),
            near: agent(None, None, false),
            encrypted: OnceLock::new(),
            far_plain: OnceLock::new(),
            far_encrypted: OnceLock::new(),
            authorities,
            is_chosen: false,
            is_insecure: false,
            retry_policy: host.retry_policy(),
        }
    }

    /// Trusts only the certificates in a file, if one is given. If it cannot be read, no encrypted request is made.
    pub(crate) fn trusting(mut self, file: Option<&str>) -> Http {
        if let Some(file) = file.filter(|it| !it.is_empty()) {
            self.authorities = Some(file.to_owned());
            self.is_chosen = true;
        }
        self
    }

    /// Skips TLS verification, if wanted.
    pub(crate) fn insecure(mut self, is_insecure: bool) -> Http {
        self.is_insecure = is_insecure;
        self
    }

    /// Sends a request once.
    pub(crate) fn send(&self, request: &Request) -> Result<Reply, RequestError> {
        let (url, mut response) = self.follow(request)?;
        let body = response.body_mut().with_config().limit(MAX_BODY_BYTES).read_to_vec();
        let body = body.map_err(|error| request_error(without_query(&url), &error))?;
        Ok(Reply { body, ..Reply::of(&response) })
    }

    /// Downloads to a file with retries. The response has no body in memory.
    pub(crate) fn download(
        &self,
        host: &Host,
        request: &Request,
        file: &mut File,
        max_bytes: u64,
    ) -> Result<Reply, RequestError> {
        self.retry(host, request, || {
            let (url, mut response) = self.follow(request)?;
            let wrong = |error: io::Error| request_error(without_query(&url), &error.into());
            file.set_len(0).and_then(|()| file.rewind()).map_err(wrong)?;
            // The limit of the reader is an error, so a shorter file is never taken for the whole one.
            let mut body = response.body_mut().with_config().limit(max_bytes).reader();
            io::copy(&mut body, file).map_err(wrong)?;
            Ok(Reply::of(&response))
        })
    }

    /// Sends a request and those that redirects lead to, all within its time limit. Returns the last URL.
    fn follow(&self, request: &Request) -> Result<(String, http::Response<Body>), RequestError> {
        let (mut request, mut is_far) = (request.clone(), false);
        let started = Instant::now();
        for _ in 0..=MAX_REDIRECTS {
            let left = request.timeout.saturating_sub(started.elapsed());
            let response = self.send_one(&request, left, is_far)?;
            let location = response.headers().get("location").filter(|_| {
                request.method == "GET"
                    && matches!(response.status().as_u16(), 301..=303 | 307 | 308)
            });
            let Some(location) = location else { return Ok((request.url, response)) };
            let location = String::from_utf8_lossy(location.as_bytes());
            let target = redirect::target(&request, &location).map_err(|why| {
                let message = format!("{}: {why}", without_query(&request.url));
                RequestError { kind: FailureKind::Other, message }
            })?;
            is_far |= !redirect::is_same_host(&request.url, &target);
            request.url = target;
        }
        let message = format!("{}: too many redirects", without_query(&request.url));
        Err(RequestError { kind: FailureKind::Other, message })
    }

    fn send_one(
        &self,
        request: &Request,
        timeout: Duration,
        is_far: bool,
    ) -> Result<http::Response<Body>, RequestError> {
        let wrong = |message: String| RequestError { kind: FailureKind::Other, message };
        let mut built = http::Request::builder().method(request.method).uri(&request.url);
        for (name, value) in &request.headers {
            built = built.header(*name, value);
        }
        let url = without_query(&request.url);
        let agent = self.agent(&request.url, is_far).map_err(wrong)?;
        let answered = if request.body.is_empty() && matches!(request.method, "GET" | "HEAD") {
            let built = built.body(()).map_err(|error| wrong(format!("{url}: {error}")))?;
            agent.run(agent.configure_request(built).timeout_global(Some(timeout)).build())
        } else {
            let built = built.body(request.body.as_slice());
            let built = built.map_err(|error| wrong(format!("{url}: {error}")))?;
            agent.run(agent.configure_request(built).timeout_global(Some(timeout)).build())
        };
        answered.map_err(|error| request_error(url, &error))
    }

    /// The agent for a URL; the error is the reason why there is none.
    fn agent(&self, url: &str, is_far: bool) -> Result<&Agent, String> {
        let proxy = ureq::Proxy::try_from_env;
        if !url.starts_with("https:") {
            return Ok(match is_far {
                true => self.far_plain.get_or_init(|| agent(None, proxy(), true)),
                false if url.starts_with("http://169.254.") => &self.near,
                false => &self.plain,
            });
        }
        let encrypted = if is_far { &self.far_encrypted } else { &self.encrypted };
        if let Some(agent) = encrypted.get() {
            return Ok(agent);
        }
        let tls = self.tls()?;
        Ok(encrypted.get_or_init(|| agent(Some(tls), proxy(), is_far)))
    }

    /// Sends a request until it is answered without a server error, or the attempts are used up.
    pub(crate) fn send_with_retries(
        &self,
        host: &Host,
        request: &Request,
    ) -> Result<Reply, RequestError> {
        self.retry(host, request, || self.send(request))
    }

    fn retry(
        &self,
        host: &Host,
        request: &Request,
        mut send: impl FnMut() -> Result<Reply, RequestError>,
    ) -> Result<Reply, RequestError> {
        let mut attempt = 1;
        loop {
            let answered = send();
            let trouble = match &answered {
                Ok(reply) if !reply.may_be_better_later() => return answered,
                Err(RequestError { kind: FailureKind::TooLarge, .. }) => return answered,
                Ok(reply) => {
                    format!("{} returned status {}", without_query(&request.url), reply.status)
                }
                Err(request_error) => request_error.to_string(),
            };
            if attempt >= self.retry_policy.attempts {
                return answered;
            }
            let pause = self.retry_policy.delay(attempt);
            host.warn(format!("{trouble}; retrying in {} s", pause.as_secs_f32()));
            std::thread::sleep(pause);
            attempt += 1;
        }
    }

    /// The settings of encrypted connections. A bundle of the system that cannot be read is replaced by the public
    /// authorities; one that was chosen is not.
    fn tls(&self) -> Result<TlsConfig, String> {
        let read = self.authorities.as_ref().map(|path| (path, std::fs::read(path)));
        if let Some((path, Err(error))) = &read
            && self.is_chosen
        {
            return Err(format!("the certificates in {path} cannot be read: {error}"));
        }
        let bytes = read.as_ref().and_then(|(_, bytes)| bytes.as_ref().ok());
        let found: Vec<Certificate<'static>> = bytes
            .into_iter()
            .flat_map(|bytes| ureq::tls::parse_pem(bytes))
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        if let Some((path, _)) = read.filter(|_| self.is_chosen && found.is_empty()) {
            return Err(format!("there are no certificates in {path}"));
        }
        let roots =
            if found.is_empty() { RootCerts::WebPki } else { RootCerts::new_with_certs(&found) };
        Ok(TlsConfig::builder().root_certs(roots).disable_verification(self.is_insecure).build())
    }
}

fn agent(tls: Option<TlsConfig>, proxy: Option<ureq::Proxy>, is_far: bool) -> Agent {
    let builder = Agent::config_builder()
        .http_status_as_error(false)
        // Redirects are followed here, because they must not take credentials along.
        .max_redirects(0)
        .timeout_connect(Some(Duration::from_secs(10)))
        .user_agent("kiln-guest")
        .proxy(proxy);
    let config = match tls {
        Some(tls) => builder.tls_config(tls).build(),
        None => builder.build(),
    };
    match is_far {
        true => far::agent(config),
        false => config.into(),
    }
}

/// Returns a URL without its query, which may contain signatures.
fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn request_error(url: &str, error: &ureq::Error) -> RequestError {
    let kind = match error {
        ureq::Error::HostNotFound => FailureKind::NoHost,
        // The operating system has no error kind for a failed name resolution.
        ureq::Error::Io(error) if error.to_string().contains("lookup address") => {
            FailureKind::NoHost
        }
        ureq::Error::ConnectionFailed => FailureKind::Refused,
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            FailureKind::Refused
        }
        ureq::Error::Timeout(_) => FailureKind::Timeout,
        ureq::Error::BodyExceedsLimit(_) => FailureKind::TooLarge,
        _ => FailureKind::Other,
    };
    RequestError { kind, message: format!("{url}: {error}") }
}
