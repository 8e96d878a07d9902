//! heat-config-notify: reports the result of a deployment by the transport that its inputs select.

use super::plan::{self, input};
use crate::collect::queue_request;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::identity::Login;
use crate::options::Args;
use crate::sign;
use serde_json::{Value, json};
use std::io::Read;

/// The maximal size of a signal; longer ones are shortened.
const MAX_SIGNAL_BYTES: usize = 950_000;

/// The transport of a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Transport {
    Address { verb: &'static str, url: String },
    Queue { credentials: Credentials, queue: String },
    Resource { credentials: Credentials, stack: String, resource: String },
    NoSignal,
}

/// The credentials of the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Credentials {
    auth_url: String,
    user: String,
    password: String,
    project: String,
    region: Option<String>,
}

impl Credentials {
    fn login(&self) -> Login<'_> {
        Login {
            auth_url: &self.auth_url,
            user: &self.user,
            password: &self.password,
            project: &self.project,
            region: self.region.as_deref(),
        }
    }
}

/// Runs the tool; the signal is on standard input.
pub(crate) fn main(host: &Host, args: &Args) -> i32 {
    let Some(path) = args.rest.first() else {
        host.error("a file with the deployment is required");
        return 1;
    };
    let path = host.path(path);
    let read = files::text(&path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(deployment) = read else {
        host.error(format!("{} does not contain a deployment", path.display()));
        return 1;
    };
    let mut text = String::new();
    // Unreadable input is treated as empty.
    _ = std::io::stdin().read_to_string(&mut text);
    let signal = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    match send(host, &deployment, signal) {
        Ok(Delivery::Accepted) => 0,
        Ok(Delivery::Rejected(why)) => {
            host.error(why);
            1
        }
        Err(error) => {
            host.error(error.to_string());
            1
        }
    }
}

/// The outcome of a signal.
pub(crate) enum Delivery {
    /// The signal was accepted, or none is wanted.
    Accepted,
    /// The signal was rejected for good.
    Rejected(String),
}

/// Sends a signal with retries, because a stack waits for it.
pub(crate) fn send(host: &Host, deployment: &Value, signal: Value) -> Result<Delivery> {
    let signal = plan::shortened(signal, MAX_SIGNAL_BYTES);
    let http = Http::new(host);
    let request = match transport(deployment)? {
        Transport::NoSignal => return Ok(Delivery::Accepted),
        Transport::Address { verb, url } => Request::new(verb, url)
            .with("Content-Type", "application/json")
            .with_body(signal.to_string()),
        Transport::Queue { credentials, queue } => {
            let session = with_retries(host, || credentials.login().log_in(&http))?;
            let base = session.endpoint("messaging")?;
            let url = format!("{base}/v2/queues/{}/messages", sign::percent_encode(&queue));
            let body = json!({ "messages": [{ "body": signal, "ttl": 600 }] });
            queue_request("POST", url, &session, &credentials.project).with_body(body.to_string())
        }
        Transport::Resource { credentials, stack, resource } => {
            let session = with_retries(host, || credentials.login().log_in(&http))?;
            let base = session.endpoint("orchestration")?;
            let stack: Vec<String> = stack.split('/').map(sign::percent_encode).collect();
            let resource = sign::percent_encode(&resource);
            let url = format!("{base}/stacks/{}/resources/{resource}/signal", stack.join("/"));
            Request::new("POST", url)
                .with("X-Auth-Token", session.token.clone())
                .with("Content-Type", "application/json")
                .with("Accept", "application/json")
                .with_body(signal.to_string())
        }
    };
    let request = request.with_timeout(60);
    let reply = http.send_with_retries(host, &request);
    let reply =
        reply.map_err(|failed| GuestError::new(format!("cannot send the signal: {failed}")))?;
    if reply.is_good() {
        return Ok(Delivery::Accepted);
    }
    let (status, message) = (reply.status, reply.text());
    let message: String = message.chars().take(300).collect();
    let why = format!("the signal was rejected with status {status}: {message}");
    match status {
        // A rejected login may succeed later.
        401 | 408 | 429 | 500.. => Err(GuestError::new(why)),
        _ => Ok(Delivery::Rejected(why)),
    }
}

/// Retries a failing operation until the attempts are used up.
fn with_retries<T>(host: &Host, attempt: impl Fn() -> Result<T>) -> Result<T> {
    let retry_policy = host.retry_policy();
    let mut number = 1;
    loop {
        match attempt() {
            Err(error) if number < retry_policy.attempts => {
                host.warn(error.to_string());
                std::thread::sleep(retry_policy.delay(number));
                number += 1;
            }
            ended => return ended,
        }
    }
}

/// Returns the transport that the inputs of a deployment select.
fn transport(deployment: &Value) -> Result<Transport> {
    let wanted = |name: &str| input(deployment, name).filter(|it| !it.is_empty());
    if let Some(url) = wanted("deploy_signal_id") {
        let verb = match wanted("deploy_signal_verb").as_deref() {
            Some("PUT") => "PUT",
            _ => "POST",
        };
        return Ok(Transport::Address { verb, url });
    }
    let Some(auth_url) = wanted("deploy_auth_url") else { return Ok(Transport::NoSignal) };
    let needed = |name: &str| {
        wanted(name).ok_or_else(|| GuestError::new(format!("the deployment has no input {name}")))
    };
    let credentials = Credentials {
        auth_url,
        user: needed("deploy_user_id")?,
        password: needed("deploy_password")?,
        project: needed("deploy_project_id")?,
        region: wanted("deploy_region_name"),
    };
    Ok(match wanted("deploy_queue_id") {
        Some(queue) => Transport::Queue { credentials, queue },
        None => Transport::Resource {
            credentials,
            stack: needed("deploy_stack_id")?,
            resource: needed("deploy_resource_name")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(inputs: &[(&str, &str)]) -> Value {
        let inputs = inputs.iter().map(|(name, value)| json!({"name": name, "value": value}));
        json!({ "inputs": inputs.collect::<Vec<_>>() })
    }

    #[test]
    fn inputs_choose_the_way() {
        let url = [("deploy_signal_id", "http://x"), ("deploy_signal_verb", "PUT")];
        let address = Transport::Address { verb: "PUT", url: "http://x".into() };
        assert_eq!(transport(&deployment(&url)), Ok(address));
        assert_eq!(transport(&deployment(&[("deploy_action", "CREATE")])), Ok(Transport::NoSignal));
        let mut credentials = vec![
            ("deploy_auth_url", "http://k"),
            ("deploy_user_id", "u"),
            ("deploy_password", "p"),
            ("deploy_project_id", "t"),
            ("deploy_stack_id", "a/b"),
            ("deploy_resource_name", "r"),
        ];
        assert!(matches!(transport(&deployment(&credentials)), Ok(Transport::Resource { .. })));
        credentials.push(("deploy_queue_id", "q"));
        assert!(matches!(transport(&deployment(&credentials)), Ok(Transport::Queue { .. })));
        assert!(transport(&deployment(&credentials[..2])).is_err());
    }
}
