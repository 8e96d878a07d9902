//! A session with a cloud: logs in, finds the endpoint and sends requests.
//!
//! An expired token is replaced once. Secrets are never logged, and the token is only sent
//! to the endpoint.

use super::answer::{ApiAnswer, Received, judged, lost, told_status, without_secrets};
use super::auth_method::AuthMethod;
use super::connection::{Connection, Verbosity};
use super::error::{ClientError, ClientErrorKind, Result};
use super::secret::Secret;
use super::settings::{ConnectionSettings, EndpointChoice, SessionSettings};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

/// The maximum size of a response.
const MAX_ANSWER: usize = 256 << 20;
/// The media type of event streams.
const STREAM: &str = "text/event-stream";
/// The maximum number of redirects.
const MAX_HOPS: usize = 5;

/// A session with the orchestration service of a cloud.
pub(crate) struct HeatSession {
    pub(super) http: Client,
    pub(super) settings: SessionSettings,
    /// The endpoint, without a slash at its end.
    endpoint: String,
    pub(super) headers: RefCell<HeaderMap>,
    /// The description of the token by the identity service.
    pub(super) token: RefCell<Value>,
    verbosity: Verbosity,
    log: Option<RefCell<File>>,
    took: RefCell<Vec<(String, Duration)>>,
}

/// A request below the endpoint.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest {
    /// The HTTP method.
    pub(crate) method: Method,
    /// The percent-encoded path, with a leading slash.
    pub(crate) path: String,
    /// The query.
    pub(crate) query: Vec<(String, String)>,
    /// The body, as JSON.
    pub(crate) body: Option<String>,
}

impl HeatSession {
    /// Logs in and finds the endpoint.
    pub(crate) async fn open(
        settings: SessionSettings,
        connection: &Connection,
    ) -> Result<HeatSession> {
        let http = client(&settings.transport)?;
        let log = connection.log_file.as_deref().map(|path| {
            let file = File::options().append(true).create(true).open(path);
            file.map(RefCell::new).map_err(|error| {
                ClientError::new(format!("cannot write to {}: {error}", path.display()))
                    .next("Choose another file with --log-file.")
            })
        });
        let session = HeatSession {
            http,
            settings,
            endpoint: String::new(),
            headers: RefCell::default(),
            token: RefCell::default(),
            verbosity: connection.verbosity(),
            log: log.transpose()?,
            took: RefCell::default(),
        };
        let endpoint = session.log_in().await?;
        Ok(HeatSession { endpoint: endpoint.trim_end_matches('/').to_owned(), ..session })
    }

    /// Sends a request and follows redirects with the same method and body.
    pub(crate) async fn send(&self, request: &ApiRequest) -> Result<ApiAnswer> {
        let mut url = format!("{}{}", self.endpoint, request.path);
        let mut query = request.query.as_slice();
        for _ in 0..MAX_HOPS {
            let answer = self.ask(request, &url, query).await?;
            if !matches!(answer.status.as_u16(), 301 | 302 | 303 | 305 | 307 | 308) {
                return Ok(answer);
            }
            let location = answer.location.as_deref().ok_or_else(no_location)?;
            url = self.inside(location)?;
            // The redirect URL contains the query.
            query = &[];
        }
        Err(ClientError::new("Too many redirects.")
            .next("Ask the operator: the redirects of the service form a loop."))
    }

    /// Sends a request without following redirects.
    pub(crate) async fn send_once(&self, request: &ApiRequest) -> Result<ApiAnswer> {
        let url = format!("{}{}", self.endpoint, request.path);
        self.ask(request, &url, &request.query).await
    }

    /// Opens an event stream below the endpoint, after the last event that was seen; `None` if the
    /// service does not support streams.
    pub(crate) async fn stream(
        &self,
        path: &str,
        query: &[(String, String)],
        last: Option<&str>,
    ) -> Option<Response> {
        let url = format!("{}{path}", self.endpoint);
        let mut headers = self.headers.borrow().clone();
        headers.insert("accept", HeaderValue::from_static(STREAM));
        if let Some(Ok(last)) = last.map(HeaderValue::from_str) {
            headers.insert("last-event-id", last);
        }
        let request = self.http.get(&url).query(query).headers(headers);
        let response = self.timed(&Method::GET, &url, request).await.ok()?;
        let kind = response.headers().get("content-type");
        let is_stream = kind.is_some_and(|kind| kind == STREAM) && response.status().is_success();
        is_stream.then_some(response)
    }

    /// Fetches a document from any URL; sends the user's token only if `as_user` is set.
    pub(crate) async fn fetch(&self, url: &str, as_user: bool) -> Result<Vec<u8>> {
        let mut request = self.http.get(url);
        if as_user && let Some(token) = self.headers.borrow().get("x-auth-token") {
            request = request.header("x-auth-token", token);
        }
        let response = self.timed(&Method::GET, url, request).await?;
        let status = response.status();
        if !status.is_success() {
            let problem = ClientError::new(format!("HTTP Error {}", told_status(status)));
            return Err(problem.of(ClientErrorKind::Refused(status.as_u16())));
        }
        bytes(response).await
    }

    /// The id of a project given by name or id; a name that the identity service does not know or does
    /// not show to this user is taken for an id.
    pub(crate) async fn project_id(&self, named: &str, domain: Option<&str>) -> String {
        let domain = match domain {
            Some(domain) => self.identity_id("domains", domain, None).await,
            None => None,
        };
        self.identity_id("projects", named, domain.as_deref())
            .await
            .unwrap_or_else(|| named.to_owned())
    }

    /// The id of an object of the identity service, given by name or id.
    async fn identity_id(&self, kind: &str, named: &str, domain: Option<&str>) -> Option<String> {
        let AuthMethod::Login(login) = &self.settings.auth_method else { return None };
        let url = &login.url;
        let ask = async |path: &str, query: &[(&str, &str)]| {
            let request = self.http.get(format!("{url}/{kind}{path}")).query(query);
            let request = request.headers(self.headers.borrow().clone());
            let response =
                self.timed(&Method::GET, &format!("{url}/{kind}{path}"), request).await.ok()?;
            let found = response.status().is_success().then_some(response)?;
            serde_json::from_slice::<Value>(&bytes(found).await.ok()?).ok()
        };
        let singular = kind.trim_end_matches('s');
        let is_id = named.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if is_id && let Some(found) = ask(&format!("/{named}"), &[]).await {
            return found[singular]["id"].as_str().map(str::to_owned);
        }
        let mut query = vec![("name", named)];
        query.extend(domain.map(|domain| ("domain_id", domain)));
        let found = ask("", &query).await?;
        found[kind][0]["id"].as_str().map(str::to_owned)
    }

    /// The endpoint of another service of the cloud.
    pub(crate) fn service(&self, kind: &str) -> Result<String> {
        let choice = EndpointChoice { service: kind.to_owned(), ..self.settings.choice.clone() };
        endpoint_of(&self.token.borrow(), &choice)
    }

    /// Sends a HEAD or POST request to another service, and returns the response headers.
    pub(crate) async fn ask_service(
        &self,
        method: Method,
        url: &str,
        header: Option<(&'static str, &Secret)>,
    ) -> Result<HeaderMap> {
        let mut request =
            self.http.request(method.clone(), url).headers(self.headers.borrow().clone());
        if let Some((name, value)) = header {
            request = request.header(name, value.expose());
        }
        let response = self.timed(&method, url, request.header("content-length", "0")).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response.headers().clone());
        }
        let text = format!("ERROR: {} refuses: {}", without_secrets(url), told_status(status));
        Err(ClientError::new(text).of(ClientErrorKind::Refused(status.as_u16())))
    }

    /// The requests so far, with their durations.
    pub(crate) fn took(&self) -> Vec<(String, Duration)> {
        self.took.borrow().clone()
    }

    async fn ask(
        &self,
        request: &ApiRequest,
        url: &str,
        query: &[(String, String)],
    ) -> Result<ApiAnswer> {
        let answer = self.ask_once(request, url, query).await?;
        if answer.status != StatusCode::UNAUTHORIZED
            || matches!(self.settings.auth_method, AuthMethod::Direct { .. })
        {
            return judged(answer, self.verbosity);
        }
        self.log_in().await?;
        judged(self.ask_once(request, url, query).await?, self.verbosity)
    }

    async fn ask_once(
        &self,
        request: &ApiRequest,
        url: &str,
        query: &[(String, String)],
    ) -> Result<Received> {
        let mut builder = self.http.request(request.method.clone(), url).query(query);
        builder = builder.headers(self.headers.borrow().clone());
        if let Some(body) = &request.body {
            builder = builder.header("content-type", "application/json").body(body.clone());
        }
        let response = self.timed(&request.method, url, builder).await?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (location, id) = (header("location"), header("x-openstack-request-id"));
        let status = response.status();
        let bytes = bytes(response).await?;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned();
        Ok(Received { status, body, location, id, text })
    }

    /// Sends a request, logs it and measures its duration.
    pub(super) async fn timed(
        &self,
        method: &Method,
        url: &str,
        request: reqwest::RequestBuilder,
    ) -> Result<Response> {
        let shown = without_secrets(url);
        if self.verbosity == Verbosity::Debug {
            self.log(&format!("DEBUG REQ: {}", as_curl(method, &shown, &request)));
        }
        let start = Instant::now();
        let response = request.send().await.map_err(|error| lost(&error, &shown));
        let took = start.elapsed();
        self.took.borrow_mut().push((format!("{method} {shown}"), took));
        let Ok(answer) = &response else { return response };
        let (status, took) = (answer.status(), took.as_secs_f64());
        let id = answer.headers().get("x-openstack-request-id");
        let id = id.and_then(|id| id.to_str().ok()).unwrap_or("-");
        let status = status.as_u16();
        match self.verbosity {
            Verbosity::Debug => {
                self.log(&format!("DEBUG RESP: [{status}] {id} after {took:.3} s"));
            }
            _ => self.log(&format!("INFO {method} {shown}: {status} after {took:.3} s")),
        }
        response
    }

    /// Logs a line to standard error and to the log file, as far as they are wanted.
    fn log(&self, line: &str) {
        if self.verbosity.is_loud() {
            self.say(line);
        }
        if let Some(file) = &self.log {
            // A log file that cannot be written is not a reason to fail.
            _ = writeln!(file.borrow_mut(), "{line}");
        }
    }

    /// Prints a message to standard error.
    pub(super) fn say(&self, line: &str) {
        // There is nowhere to report a failure to.
        _ = writeln!(std::io::stderr(), "{line}");
    }

    pub(super) fn headers_with(&self, proof: &[(&'static str, Secret)]) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("application/json"));
        let region = self.settings.choice.region.as_deref();
        if let Some(Ok(region)) = region.map(HeaderValue::from_str) {
            headers.insert("x-region-name", region);
        }
        for (name, secret) in proof {
            let mut value = HeaderValue::from_str(secret.expose())
                .map_err(|_| ClientError::new("The token or password contains characters that are not allowed in HTTP headers."))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    /// The path of a redirect, relative to the endpoint: services behind a proxy may
    /// not know their public URL, and the token must not be sent to another host.
    fn inside(&self, location: &str) -> Result<String> {
        if let Some(stack) = below_stacks(location) {
            return Ok(format!("{}/stacks/{stack}", self.endpoint));
        }
        if location.starts_with(&format!("{}/", self.endpoint)) {
            return Ok(location.to_owned());
        }
        let text = format!(
            "The service redirects to {}, which is not below its endpoint.",
            without_secrets(location)
        );
        Err(ClientError::new(text).next("Check the orchestration endpoint in the catalogue."))
    }
}

/// The headers that contain no secrets.
const HARMLESS: [&str; 5] =
    ["accept", "content-length", "content-type", "user-agent", "x-region-name"];

/// A request as a curl command line. Bodies and queries may contain secrets and are left out; of
/// headers with secrets, only a hash is shown.
fn as_curl(method: &Method, url: &str, request: &reqwest::RequestBuilder) -> String {
    let mut line = format!("curl -g -i -X {method} {url}");
    let built = request.try_clone().and_then(|request| request.build().ok());
    let Some(built) = built else { return line };
    for (name, value) in built.headers() {
        let shown = match HARMLESS.contains(&name.as_str()) {
            true => String::from_utf8_lossy(value.as_bytes()).into_owned(),
            false => fingerprint(value.as_bytes()),
        };
        line.push_str(&format!(" -H \"{name}: {shown}\""));
    }
    let body = built.body().and_then(|body| body.as_bytes()).map(<[u8]>::len);
    if let Some(length) = body.filter(|length| *length > 0) {
        line.push_str(&format!(" -d '({length} bytes)'"));
    }
    line
}

/// A hash of a secret: it can be compared but does not reveal the secret.
fn fingerprint(secret: &[u8]) -> String {
    use sha2::Digest;
    format!("{{SHA256}}{}", hex::encode(sha2::Sha256::digest(secret)))
}

/// The part of a URL after `/stacks/`: a name, an id, and possibly more.
pub(crate) fn below_stacks(location: &str) -> Option<&str> {
    location.split_once("/stacks/").map(|(_, below)| below)
}

/// The problem of a redirect without a location.
pub(crate) fn no_location() -> ClientError {
    ClientError::new("Location not returned with redirect")
}

/// The endpoint of a service in a token's catalogue.
pub(super) fn endpoint_of(token: &Value, choice: &EndpointChoice) -> Result<String> {
    let EndpointChoice { service, interface, region } = choice;
    let services = token["catalog"].as_array().into_iter().flatten();
    let of_type = services.filter(|it| it["type"].as_str() == Some(service));
    let endpoints: Vec<&Value> =
        of_type.filter_map(|it| it["endpoints"].as_array()).flatten().collect();
    let is_meant = |endpoint: &&&Value| {
        let here = endpoint["region_id"].as_str().or_else(|| endpoint["region"].as_str());
        endpoint["interface"].as_str() == Some(interface)
            && region.as_deref().is_none_or(|region| here == Some(region))
    };
    if let Some(url) = endpoints.iter().find(is_meant).and_then(|endpoint| endpoint["url"].as_str())
    {
        return Ok(url.to_owned());
    }
    let place = region.as_deref().map(|region| format!(" in region {region}")).unwrap_or_default();
    let problem = ClientError::new(format!(
        "The catalogue has no {interface} endpoint for {service}{place}."
    ));
    Err(match (token["project"].is_object(), endpoints.is_empty()) {
        (false, _) => {
            problem.next("The token has no project scope: set OS_PROJECT_NAME or OS_PROJECT_ID.")
        }
        (true, true) => problem
            .next("The cloud has no such service; set OS_ENDPOINT if it is not in the catalogue."),
        (true, false) => problem.next(
            "Check OS_REGION_NAME and OS_INTERFACE; the catalogue has the service for others.",
        ),
    })
}

fn client(transport: &ConnectionSettings) -> Result<Client> {
    let ConnectionSettings { cacert, cert, key, insecure, timeout } = transport;
    let mut builder = kiln_cloud::client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(15))
        .timeout(*timeout)
        .user_agent(concat!("kiln/", env!("CARGO_PKG_VERSION")))
        .tls_danger_accept_invalid_certs(*insecure);
    let read = |file: &str| {
        std::fs::read(file)
            .map_err(|error| ClientError::new(format!("cannot read {file}: {error}")))
    };
    let unusable = |error: reqwest::Error, file: &str| {
        ClientError::new(format!("cannot use {file}: {error}")).next("It must be in PEM format.")
    };
    if let Some(file) = cacert {
        let all = reqwest::Certificate::from_pem_bundle(&read(file)?)
            .map_err(|error| unusable(error, file))?;
        builder = all.into_iter().fold(builder, reqwest::ClientBuilder::add_root_certificate);
    }
    if let Some(file) = cert {
        let mut pem = read(file)?;
        if let Some(key) = key {
            pem.push(b'\n');
            pem.extend(read(key)?);
        }
        builder = builder
            .identity(reqwest::Identity::from_pem(&pem).map_err(|error| unusable(error, file))?);
    }
    builder
        .build()
        .map_err(|error| ClientError::new(format!("cannot create an HTTP client: {error}")))
}

pub(super) async fn bytes(mut response: Response) -> Result<Vec<u8>> {
    let url = without_secrets(response.url().as_str());
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error, &url))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_ANSWER {
            return Err(ClientError::new(format!("The response of {url} is too large.")));
        }
    }
    Ok(bytes)
}
