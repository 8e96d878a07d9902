//! Calls over HTTP.

use crate::limits::{CallLimits, Lane};
use crate::request_id::{REQUEST_ID_HEADER, current_request_id, new_request_id};
use crate::{
    ActingFor, Call, CallError, Credential, HttpRequest, Method, Reply, Service, Transport, metrics,
};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Makes calls over HTTP to fixed endpoints, without authentication.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
    endpoints: BTreeMap<Service, String>,
    limits: CallLimits,
}

/// The builder of every HTTP client of the workspace. TLS is by rustls with ring.
pub fn client_builder() -> reqwest::ClientBuilder {
    // A second installation fails, and changes nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder();
    if *HAS_AUTHORITIES { builder } else { builder.tls_certs_only([]) }
}

/// Whether the system has certificates of authorities. A container may have none: no client could be built there, although
/// services without TLS, or with an authority that is configured, need none.
static HAS_AUTHORITIES: LazyLock<bool> =
    LazyLock::new(|| reqwest::Client::builder().build().is_ok());

/// A call without a reply after this long is lost.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Longer replies are not read.
const MAX_REPLY_BYTES: usize = 64 << 20;

impl Http {
    /// A transport to these endpoints; a service without one cannot be called.
    pub fn new(endpoints: BTreeMap<Service, String>, max_calls: usize) -> Result<Http, CallError> {
        let client = client_builder()
            .timeout(CALL_TIMEOUT)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        Ok(Http { client, endpoints, limits: CallLimits::new(max_calls) })
    }
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, credential: &Credential, call: Call) -> Result<Reply, CallError> {
        let service = call.request.service;
        let Some(endpoint) = self.endpoints.get(&service) else {
            let service = service.catalogue_type();
            return Err(CallError::Impossible(format!("no endpoint of {service} is known")));
        };
        let request = build(&self.client, endpoint, &call.request)?;
        let (limits, project) = (&self.limits, &credential.project);
        let admission = limits.admit(&call.request, Lane::Single, project, call.patience).await?;
        let made_for = call.made_for();
        let exchange = Exchange { service, is_text: call.request.is_text, made_for };
        let reply = exchange.run(request).await;
        admission.end(&reply);
        reply
    }
}

/// Builds the HTTP request of a call.
pub(crate) fn build(
    client: &reqwest::Client,
    endpoint: &str,
    call: &HttpRequest,
) -> Result<reqwest::RequestBuilder, CallError> {
    let method = match call.method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
        Method::Head => reqwest::Method::HEAD,
    };
    let url = format!("{}{}", endpoint.trim_end_matches('/'), call.path.checked()?);
    let mut request = client.request(method, url).query(&call.query);
    let is_typed = call.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    Ok(match &call.body {
        Some(Value::String(text)) if is_typed => request.body(text.clone()),
        Some(body) if is_typed => request.body(body.to_string()),
        Some(body) => request.json(body),
        None => request,
    })
}

/// One request to a service and its reply, logged and counted.
pub(crate) struct Exchange<'a> {
    /// The service.
    pub(crate) service: Service,
    /// Whether the reply is a text, even if it looks like JSON.
    pub(crate) is_text: bool,
    /// The stack and the resource that the call is made for.
    pub(crate) made_for: Option<&'a ActingFor>,
}

/// Sends a request to the identity service and reads the reply.
pub(crate) async fn exchange(request: reqwest::RequestBuilder) -> Result<Reply, CallError> {
    Exchange { service: Service::Identity, is_text: false, made_for: None }.run(request).await
}

impl Exchange<'_> {
    /// Sends a request, with a global request id, and reads the reply.
    pub(crate) async fn run(self, request: reqwest::RequestBuilder) -> Result<Reply, CallError> {
        let id = current_request_id().unwrap_or_else(|| new_request_id().into());
        let (client, request) = request.header(REQUEST_ID_HEADER, &*id).build_split();
        // An invalid request is not sent.
        let request = request.map_err(|error| CallError::Impossible(describe(&error)))?;
        let method = method_of(&request);
        let path = self.mask(request.url().path());
        let started = Instant::now();
        let reply = self.receive(client, request).await.map_err(|error| self.mask_error(error));
        let took = started.elapsed();
        metrics::count_call(self.service, method, &reply, took);
        self.log(method, &path, &id, &reply, took);
        reply
    }

    /// A text without what the caller hides.
    fn mask(&self, text: &str) -> String {
        self.made_for.map_or_else(|| text.to_owned(), |it| it.mask(text))
    }

    /// An error without what the caller hides. The text of a service is for the caller itself.
    fn mask_error(&self, error: CallError) -> CallError {
        match error {
            CallError::Refused(reply) => CallError::Refused(reply),
            CallError::NotSent(why) => CallError::NotSent(self.mask(&why)),
            CallError::Impossible(why) => CallError::Impossible(self.mask(&why)),
            CallError::Lost(why) => CallError::Lost(self.mask(&why)),
            CallError::Down(why) => CallError::Down(why),
            CallError::Fenced => CallError::Fenced,
        }
    }

    /// Logs a call, without its query, headers and body, which may hold secrets.
    fn log(
        &self,
        method: Method,
        path: &str,
        global_request_id: &str,
        reply: &Result<Reply, CallError>,
        took: Duration,
    ) {
        let service = self.service.catalogue_type();
        let stack = self.made_for.and_then(|it| it.stack_id.as_deref());
        let resource = self.made_for.and_then(|it| it.resource.as_deref());
        let millis = took.as_millis() as u64;
        match reply {
            Ok(reply) | Err(CallError::Refused(reply)) => {
                let (status, service_request_id) = (reply.status, reply.request_id());
                if status >= 500 {
                    tracing::warn!(
                        service, %method, path, status, millis, service_request_id, global_request_id, stack, resource,
                        "a service failed"
                    );
                } else {
                    tracing::debug!(
                        service, %method, path, status, millis, service_request_id, global_request_id, stack, resource,
                        "call"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(
                    service, %method, path, millis, global_request_id, stack, resource, %error,
                    "a call got no reply"
                );
            }
        }
    }

    async fn receive(
        &self,
        client: reqwest::Client,
        request: reqwest::Request,
    ) -> Result<Reply, CallError> {
        let sent = client.execute(request).await;
        let mut response = sent.map_err(|error| {
            let why = describe(&error);
            if error.is_connect() { CallError::NotSent(why) } else { CallError::Lost(why) }
        })?;
        let status = response.status().as_u16();
        let headers = headers_of(&response);
        let mut bytes = Vec::new();
        let lost = |error| CallError::Lost(describe(&error));
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_REPLY_BYTES {
                return Err(CallError::Lost("the reply is too long to be read".into()));
            }
        }
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = if self.is_text && status < 400 {
            text()
        } else if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).unwrap_or_else(|_| text())
        };
        let reply = Reply { status, body, headers };
        match status {
            400.. => Err(CallError::Refused(reply)),
            _ if is_garbled(&reply) => {
                let text = reply.error_text().unwrap_or_default();
                let text: String = text.chars().take(100).collect();
                Err(CallError::Lost(format!("the reply is not JSON: \"{text}\"")))
            }
            _ => Ok(reply),
        }
    }
}

fn method_of(request: &reqwest::Request) -> Method {
    match request.method().as_str() {
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        "HEAD" => Method::Head,
        _ => Method::Get,
    }
}

/// The headers of a response, and the URL that was called.
fn headers_of(response: &reqwest::Response) -> BTreeMap<String, String> {
    let headers = response.headers().iter();
    let mut headers: BTreeMap<String, String> = headers
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect();
    // Some attributes are URLs, and only the transport knows the endpoints.
    let mut url = response.url().clone();
    url.set_query(None);
    headers.insert("content-location".into(), url.into());
    headers
}

/// Whether a reply is not the service's own: a page of a proxy, or JSON that is cut off. The call may have succeeded all
/// the same.
fn is_garbled(reply: &Reply) -> bool {
    let content_type = reply.header("content-type").unwrap_or_default();
    reply.body.is_string()
        && (content_type.starts_with("text/html") || content_type.starts_with("application/json"))
}

/// The error without the URL, which may hold a secret.
fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() {
        "the call timed out".to_owned()
    } else if error.is_connect() {
        "the service cannot be reached".to_owned()
    } else if error.is_builder() {
        "the request is invalid".to_owned()
    } else {
        "the connection broke".to_owned()
    };
    if let Some(source) = std::error::Error::source(error) {
        text.push_str(": ");
        text.push_str(&source.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{get, with_request_id};
    use std::io::{Read, Write};
    use std::sync::Arc;

    /// What is logged, line by line.
    #[derive(Clone, Default)]
    struct Lines(Arc<parking_lot::Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The log of a call for the resource `web`, as JSON without the time.
    async fn log_of(endpoint: String) -> Value {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true);
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        let endpoints = [(Service::Network, endpoint)].into_iter().collect();
        let http = Http::new(endpoints, 1).unwrap();
        let acting_for = ActingFor {
            stack_id: Some("3f0c".into()),
            resource: Some("web".into()),
            ..ActingFor::default()
        };
        let call = get(Service::Network, "/v2.0/ports").acting_for(acting_for);
        let _logging = tracing::subscriber::set_default(subscriber);
        let credential = Credential::default();
        let sent = with_request_id("req-1", http.send(&credential, call));
        assert!(sent.await.is_err());
        serde_json::from_slice(&lines.0.lock()).unwrap()
    }

    #[tokio::test]
    async fn a_failed_call_is_logged_with_its_stack_and_its_resource() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let service = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            _ = stream.read(&mut [0; 4096]).unwrap();
            let reply =
                "HTTP/1.1 503 Busy\r\nx-openstack-request-id: req-2\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(reply.as_bytes()).unwrap();
        });
        let refused = log_of(endpoint.clone()).await;
        service.join().unwrap();
        // The listener is closed now.
        let lost = log_of(endpoint).await;
        for (line, message) in [(&refused, "a service failed"), (&lost, "a call got no reply")] {
            assert_eq!((&line["level"], &line["message"]), (&"WARN".into(), &message.into()));
            assert_eq!((&line["stack"], &line["resource"]), (&"3f0c".into(), &"web".into()));
            assert_eq!(line["global_request_id"], "req-1");
        }
        assert_eq!(refused["service_request_id"], "req-2");
    }

    #[test]
    fn a_page_instead_of_json_is_no_reply() {
        let reply = |kind: &str, body: Value| {
            let mut reply = Reply::new(200, body);
            reply.headers.insert("content-type".into(), kind.into());
            reply
        };
        assert!(is_garbled(&reply("text/html; charset=utf-8", "<h1>It works!</h1>".into())));
        assert!(is_garbled(&reply("application/json", "{\"network\": {".into())));
        assert!(!is_garbled(&reply("application/json", serde_json::json!({ "a": 1 }))));
        assert!(!is_garbled(&reply("text/plain", "an object's content".into())));
        assert!(!is_garbled(&reply("text/html", Value::Null)));
    }
}
