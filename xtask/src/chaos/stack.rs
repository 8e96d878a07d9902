//! A stack of the workload, and what the API must show of it.

use super::api::{Client, Outcome};
use super::experiment::Experiment;
use super::random::Random;
use super::templates::Kind;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an action may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(180);
/// When no engine begins, a change is answered after two seconds; until then the former state is shown.
const ANSWERED_BY_ENGINE: Duration = Duration::from_millis(1900);

/// A stack with one user.
pub(super) struct Stack {
    pub(super) experiment: Arc<Experiment>,
    pub(super) client: Arc<Client>,
    pub(super) random: Random,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) id: String,
    /// The last value that was asked for, and the values that the stack may have: that one, and those of requests without a
    /// reply.
    v: u64,
    allowed: BTreeSet<String>,
    count: u64,
    /// The last action; `None` after a request that may still be carried out.
    action: Option<&'static str>,
    /// Whether the last update was one that fails.
    fails: bool,
    began: Instant,
    /// How many members a scaling group has, at least and at most.
    pub(super) size: (u64, u64),
    /// The signals of a wait condition.
    pub(super) signalled: Option<Map<String, Value>>,
}

/// A stack as it is shown.
pub(super) struct Shown {
    pub(super) status: String,
    reason: String,
    v: String,
    outputs: Map<String, Value>,
}

impl Shown {
    pub(super) fn is_under_way(&self) -> bool {
        self.status.ends_with("_IN_PROGRESS")
    }

    fn is_complete(&self) -> bool {
        self.status.ends_with("_COMPLETE")
    }
}

impl Stack {
    pub(super) fn new(
        experiment: Arc<Experiment>,
        client: Arc<Client>,
        random: Random,
        kind: Kind,
        name: String,
    ) -> Stack {
        Stack {
            experiment,
            client,
            random,
            kind,
            name,
            id: String::new(),
            v: 0,
            allowed: ["0".to_owned()].into(),
            count: 2,
            action: Some("CREATE"),
            fails: false,
            began: Instant::now(),
            size: (1, 1),
            signalled: None,
        }
    }

    pub(super) fn path(&self) -> String {
        format!("/stacks/{}/{}", self.name, self.id)
    }

    /// Notes what must not happen, with the lines of the logs about this stack.
    pub(super) fn violated(&self, kind: &'static str, what: &str) {
        let lines = match self.id.as_str() {
            "" => Vec::new(),
            id => self.experiment.site.log_lines(id, 12),
        };
        self.experiment.ledger.violated(
            kind,
            format!("{} ({}): {what}", self.name, self.id),
            lines,
        );
    }

    pub(super) fn refused(&self, request: &str, status: u16, reply: &str) {
        // After a request without a reply, the same again may find that it was carried out.
        if self.action.is_some() && status != 409 {
            self.violated("refused", &format!("{request}: {status} {reply}"));
        }
        self.experiment.ledger.count("requests refused");
    }

    /// Creates the stack; whether it is there.
    pub(super) async fn create(&mut self) -> bool {
        let mut body = self.kind.body(0, self.count, false);
        body["stack_name"] = Value::from(self.name.as_str());
        self.began = Instant::now();
        loop {
            match self.client.send(&mut self.random, "POST", "/stacks", Some(&body)).await {
                Outcome::Answered(201, reply) => {
                    self.id = reply["stack"]["id"].as_str().unwrap_or_default().to_owned();
                    break;
                }
                Outcome::Answered(409, _) => {
                    // The one whose reply was lost.
                    let (_, shown) =
                        self.client.read(&mut self.random, &format!("/stacks/{}", self.name)).await;
                    self.id = shown["stack"]["id"].as_str().unwrap_or_default().to_owned();
                    break;
                }
                Outcome::Answered(status, reply) => {
                    self.refused("create", status, &reply.to_string());
                    return false;
                }
                Outcome::Unknown => {
                    self.experiment.ledger.count("requests without a reply");
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
            }
        }
        self.experiment.ledger.count("creates accepted");
        if self.show().await.is_none() {
            self.violated("lost", "it was accepted, and is not there");
            return false;
        }
        true
    }

    /// Updates the stack to the next value, or to one with which it is rolled back.
    pub(super) async fn update(&mut self, fails: bool) -> bool {
        self.v += 1;
        if matches!(self.kind, Kind::Group | Kind::Nested) {
            self.count = self.random.between(1, 5);
        }
        let before = (self.allowed.clone(), self.action);
        let body = self.kind.body(self.v, self.count, fails);
        let is_accepted = self.request("update", "PUT", &self.path(), Some(&body), "UPDATE").await;
        self.fails = fails;
        if is_accepted {
            self.experiment.ledger.count(if fails {
                "updates that fail accepted"
            } else {
                "updates accepted"
            });
            let is_sure = self.action.is_some();
            if !fails && is_sure && before.1.is_some() {
                self.allowed.clear();
            }
            // One that fails is rolled back to a value that the stack had.
            if !fails {
                self.allowed.insert(self.v.to_string());
            }
        }
        is_accepted
    }

    /// Asks for an action.
    pub(super) async fn act(&mut self, name: &str, action: &'static str) -> bool {
        let mut body = Map::new();
        body.insert(name.to_owned(), Value::Null);
        self.fails = false;
        let path = format!("{}/actions", self.path());
        let is_accepted = self.request(name, "POST", &path, Some(&Value::from(body)), action).await;
        if is_accepted {
            self.experiment.ledger.count(match action {
                "SUSPEND" => "suspends accepted",
                "RESUME" => "resumes accepted",
                _ => "checks accepted",
            });
        }
        is_accepted
    }

    /// Sends a request for an action until it is answered, and compares what is shown next.
    async fn request(
        &mut self,
        name: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
        action: &'static str,
    ) -> bool {
        let mut is_sure = true;
        loop {
            self.began = Instant::now();
            match self.client.send(&mut self.random, method, path, body).await {
                Outcome::Answered(200..300, _) => break,
                Outcome::Answered(status, reply) => {
                    if is_sure {
                        self.refused(name, status, &reply.to_string());
                    }
                    return !is_sure;
                }
                Outcome::Unknown => {
                    self.experiment.ledger.count("requests without a reply");
                    is_sure = false;
                    self.action = None;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
        if is_sure && self.action.is_some() {
            self.action = Some(action);
            if self.began.elapsed() < ANSWERED_BY_ENGINE {
                self.read_own_write(name, action).await;
            } else {
                self.experiment.ledger.count("changes answered before an engine began");
            }
        }
        true
    }

    /// What was just accepted is shown, whichever process is asked.
    async fn read_own_write(&mut self, name: &str, action: &str) {
        let Some(shown) = self.show().await else {
            return self.violated("lost", "it is not there after a change");
        };
        let is_shown = shown.status.starts_with(action) || shown.status.starts_with("ROLLBACK_");
        if !is_shown {
            let what = format!("after {name} was accepted, {} is shown", shown.status);
            self.violated("old state shown", &what);
        }
        self.experiment.ledger.count("own writes read");
    }

    /// The stack as it is shown now; `None` if it is gone. One answer must be of one moment.
    pub(super) async fn show(&mut self) -> Option<Shown> {
        let path = if self.id.is_empty() { format!("/stacks/{}", self.name) } else { self.path() };
        let (status, body) = self.client.read(&mut self.random, &path).await;
        if status == 404 {
            return None;
        }
        let stack = &body["stack"];
        let text = |name: &str| stack[name].as_str().unwrap_or_default().to_owned();
        let outputs = stack["outputs"].as_array().into_iter().flatten();
        let outputs = outputs.filter_map(|it| {
            Some((it["output_key"].as_str()?.to_owned(), it["output_value"].clone()))
        });
        let v = stack["parameters"]["v"].as_str().unwrap_or_default().to_owned();
        let shown = Shown {
            status: text("stack_status"),
            reason: text("stack_status_reason"),
            v,
            outputs: outputs.collect(),
        };
        if status != 200 {
            self.violated("refused", &format!("show: {status} {body}"));
        }
        let is_changed = ["CREATE_COMPLETE", "UPDATE_COMPLETE"].contains(&shown.status.as_str());
        let probe = shown.outputs.get("probe").and_then(Value::as_str).unwrap_or_default();
        if is_changed && probe != shown.v {
            let what =
                format!("{} with the parameter {} and the output {probe}", shown.status, shown.v);
            self.violated("torn read", &what);
        }
        Some(shown)
    }

    /// The same once more when everything is well, as requests without a reply may have been carried out since.
    pub(super) async fn rest_again(&mut self) -> bool {
        self.began = Instant::now();
        self.rest().await
    }

    /// Waits until nothing is under way, and compares the stack with what it must be; whether it is well.
    pub(super) async fn rest(&mut self) -> bool {
        let shown = loop {
            let Some(shown) = self.show().await else {
                self.violated("lost", "it is gone");
                return false;
            };
            if !shown.is_under_way() && !self.is_former(&shown) {
                break shown;
            }
            if self.began.elapsed() > STUCK {
                let kind = if shown.is_under_way() { "stuck" } else { "lost change" };
                let Shown { status, reason, v, .. } = &shown;
                let expected = (&self.action, &self.allowed);
                let what =
                    format!("{status} with v = {v} for {STUCK:?}, expected {expected:?}: {reason}");
                self.violated(kind, &what);
                return false;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        let (name, status) = (self.name.clone(), shown.status.clone());
        self.experiment.ledger.took(self.began.elapsed(), || format!("{name} {status}"));
        self.experiment.ledger.count("actions that ended");
        if !shown.is_complete() {
            if self.experiment.ledger.was_well_since(self.began) {
                self.violated(
                    "failed in a good cloud",
                    &format!("{}: {}", shown.status, shown.reason),
                );
            } else {
                self.experiment.ledger.count("actions that failed in a bad cloud");
            }
            return false;
        }
        self.compare(&shown);
        true
    }

    /// Whether this is the state before the last action, which no engine has begun with.
    fn is_former(&self, shown: &Shown) -> bool {
        let is_value = self.allowed.contains(&shown.v);
        // One that fails has a former value in the end, so that only the state tells.
        let is_action = match self.action {
            None => true,
            Some(_) if self.fails => shown.status == "ROLLBACK_COMPLETE",
            Some(action) => shown.status.starts_with(action),
        };
        shown.is_complete() && !(is_value && is_action)
    }

    fn compare(&self, shown: &Shown) {
        if let (Some(expected), Some(data)) = (&self.signalled, shown.outputs.get("data")) {
            let data: Option<Map<String, Value>> =
                data.as_str().and_then(|text| serde_json::from_str(text).ok());
            if data.as_ref() != Some(expected) {
                self.violated("signals", &format!("the wait condition has {data:?}"));
            }
        }
    }

    /// Waits until a scaling group has the size that its signals make.
    pub(super) async fn wait_for_size(&mut self) -> bool {
        self.began = Instant::now();
        loop {
            let Some(shown) = self.show().await else { return false };
            let size = shown.outputs.get("size").and_then(Value::as_u64).unwrap_or(0);
            if size > self.size.1 {
                self.violated("signals", &format!("{size} members, expected {:?}", self.size));
                return false;
            }
            // A signal whose reply was lost is not repeated, and may still be on its way.
            if size >= self.size.0 && !shown.is_under_way() {
                self.experiment.ledger.count("groups that grew");
                return true;
            }
            if self.began.elapsed() > STUCK {
                self.violated(
                    "signals",
                    &format!("{size} members after {STUCK:?}, expected {:?}", self.size),
                );
                return false;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Deletes the stack. What is left if that fails is not the next one's trouble.
    pub(super) async fn delete(mut self) -> Option<Stack> {
        if self.id.is_empty() {
            return None;
        }
        for attempt in 1.. {
            self.began = Instant::now();
            self.ask_to_delete().await;
            match self.wait_until_gone().await {
                None => break,
                Some(why) if self.experiment.ledger.was_well_since(self.began) => {
                    let kind = if attempt == 1 { "failed in a good cloud" } else { "undeletable" };
                    self.violated(kind, &why);
                    if attempt == 3 {
                        return None;
                    }
                }
                Some(_) => self.experiment.ledger.count("actions that failed in a bad cloud"),
            }
        }
        self.experiment.ledger.count("stacks deleted");
        None
    }

    async fn ask_to_delete(&mut self) {
        let path = self.path();
        loop {
            match self.client.send(&mut self.random, "DELETE", &path, None).await {
                Outcome::Answered(204 | 404, _) => return,
                Outcome::Answered(status, reply) => {
                    return self.refused("delete", status, &reply.to_string());
                }
                Outcome::Unknown => {
                    self.experiment.ledger.count("requests without a reply");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    /// Waits until the stack is gone, or says why it is not.
    async fn wait_until_gone(&mut self) -> Option<String> {
        loop {
            let shown = self.show().await?;
            match shown.status.as_str() {
                "DELETE_COMPLETE" => {
                    let (name, time) = (self.name.clone(), self.began.elapsed());
                    self.experiment.ledger.took(time, || format!("{name} DELETE_COMPLETE"));
                    return None;
                }
                "DELETE_FAILED" => return Some(shown.reason),
                _ if self.began.elapsed() > STUCK => {
                    self.violated(
                        "stuck",
                        &format!("{} for {STUCK:?}: {}", shown.status, shown.reason),
                    );
                    return Some(shown.status);
                }
                _ => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }
}
