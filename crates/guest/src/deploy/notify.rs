//! heat-config-notify: tells how a deployment went, in the way that its inputs ask for.

use super::plan::{self, input};
use crate::collect::queue_request;
use crate::files;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::identity::Login;
use crate::options::Given;
use crate::problem::{Problem, Result};
use crate::sign;
use serde_json::{Value, json};
use std::io::Read;

/// Longer signals are shortened.
const LONGEST: usize = 950_000;

/// How a deployment is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    Address { verb: &'static str, url: String },
    Queue { who: Who, queue: String },
    Resource { who: Who, stack: String, resource: String },
    Nobody,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Who {
    auth_url: String,
    user: String,
    password: String,
    project: String,
    region: Option<String>,
}

impl Who {
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

/// The tool: the signal is on standard input.
pub(crate) fn main(host: &Host, given: &Given) -> i32 {
    let Some(path) = given.rest.first() else {
        host.error("a file with the deployment is needed");
        return 1;
    };
    let path = host.path(path);
    let read = files::text(&path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(deployment) = read else {
        host.error(format!("{} has no deployment in it", path.display()));
        return 1;
    };
    let mut text = String::new();
    // What cannot be read says nothing.
    _ = std::io::stdin().read_to_string(&mut text);
    let signal = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    match send(host, &deployment, signal) {
        Ok(Sent::Taken) => 0,
        Ok(Sent::Refused(why)) => {
            host.error(why);
            1
        }
        Err(problem) => {
            host.error(problem.to_string());
            1
        }
    }
}

/// What became of a signal.
pub(crate) enum Sent {
    /// It was taken, or nobody wants it.
    Taken,
    /// It will not be taken later either.
    Refused(String),
}

/// Sends a signal; patiently, since a stack waits for it.
pub(crate) fn send(host: &Host, deployment: &Value, signal: Value) -> Result<Sent> {
    let signal = plan::shortened(signal, LONGEST);
    let http = Http::new(host);
    let request = match way(deployment)? {
        Way::Nobody => return Ok(Sent::Taken),
        Way::Address { verb, url } => Request::new(verb, url)
            .with("Content-Type", "application/json")
            .carrying(signal.to_string()),
        Way::Queue { who, queue } => {
            let session = patiently(host, || who.login().log_in(&http))?;
            let base = session.endpoint("messaging")?;
            let url = format!("{base}/v2/queues/{}/messages", sign::encoded(&queue));
            let body = json!({ "messages": [{ "body": signal, "ttl": 600 }] });
            queue_request("POST", url, &session, &who.project).carrying(body.to_string())
        }
        Way::Resource { who, stack, resource } => {
            let session = patiently(host, || who.login().log_in(&http))?;
            let base = session.endpoint("orchestration")?;
            let stack: Vec<String> = stack.split('/').map(sign::encoded).collect();
            let resource = sign::encoded(&resource);
            let url = format!("{base}/stacks/{}/resources/{resource}/signal", stack.join("/"));
            Request::new("POST", url)
                .with("X-Auth-Token", session.token.clone())
                .with("Content-Type", "application/json")
                .with("Accept", "application/json")
                .carrying(signal.to_string())
        }
    };
    let request = request.within(60);
    let reply = http.send_patiently(host, &request);
    let reply =
        reply.map_err(|failed| Problem::new(format!("the signal is not sent: {failed}")))?;
    if reply.is_good() {
        return Ok(Sent::Taken);
    }
    let (status, said) = (reply.status, reply.text());
    let said: String = said.chars().take(300).collect();
    let why = format!("the signal is refused with {status}: {said}");
    match status {
        // Somebody who does not know us now may know us again.
        401 | 408 | 429 | 500.. => Err(Problem::new(why)),
        _ => Ok(Sent::Refused(why)),
    }
}

/// Tries something again that failed, as long as there is patience.
fn patiently<T>(host: &Host, attempt: impl Fn() -> Result<T>) -> Result<T> {
    let patience = host.patience();
    let mut number = 1;
    loop {
        match attempt() {
            Err(problem) if number < patience.tries => {
                host.warn(problem.to_string());
                std::thread::sleep(patience.pause(number));
                number += 1;
            }
            ended => return ended,
        }
    }
}

/// The way that the inputs of a deployment ask for.
fn way(deployment: &Value) -> Result<Way> {
    let wanted = |name: &str| input(deployment, name).filter(|it| !it.is_empty());
    if let Some(url) = wanted("deploy_signal_id") {
        let verb = match wanted("deploy_signal_verb").as_deref() {
            Some("PUT") => "PUT",
            _ => "POST",
        };
        return Ok(Way::Address { verb, url });
    }
    let Some(auth_url) = wanted("deploy_auth_url") else { return Ok(Way::Nobody) };
    let needed = |name: &str| {
        wanted(name).ok_or_else(|| Problem::new(format!("the deployment has no input {name}")))
    };
    let who = Who {
        auth_url,
        user: needed("deploy_user_id")?,
        password: needed("deploy_password")?,
        project: needed("deploy_project_id")?,
        region: wanted("deploy_region_name"),
    };
    Ok(match wanted("deploy_queue_id") {
        Some(queue) => Way::Queue { who, queue },
        None => Way::Resource {
            who,
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
        let address = Way::Address { verb: "PUT", url: "http://x".into() };
        assert_eq!(way(&deployment(&url)), Ok(address));
        assert_eq!(way(&deployment(&[("deploy_action", "CREATE")])), Ok(Way::Nobody));
        let mut who = vec![
            ("deploy_auth_url", "http://k"),
            ("deploy_user_id", "u"),
            ("deploy_password", "p"),
            ("deploy_project_id", "t"),
            ("deploy_stack_id", "a/b"),
            ("deploy_resource_name", "r"),
        ];
        assert!(matches!(way(&deployment(&who)), Ok(Way::Resource { .. })));
        who.push(("deploy_queue_id", "q"));
        assert!(matches!(way(&deployment(&who)), Ok(Way::Queue { .. })));
        assert!(way(&deployment(&who[..2])).is_err());
    }
}
