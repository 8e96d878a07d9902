//! The people of the workload: each has one stack at a time, changes it, and compares what is shown with what was accepted.

use super::api::{Client, Outcome};
use super::experiment::Experiment;
use super::random::Random;
use super::stack::Stack;
use super::templates::{KINDS, Kind, SIGNALS};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Works until the time is over, and returns the stack that is left, if there is one.
pub(super) async fn work(
    experiment: Arc<Experiment>,
    number: usize,
) -> Result<Option<Stack>, String> {
    let mut random = Random::new(experiment.options.seed, number);
    let client =
        Client::new(experiment.site.apis(), &experiment.demo).map_err(|error| error.to_string())?;
    let client = Arc::new(client);
    for life in 0.. {
        if experiment.is_over.load(Ordering::SeqCst) {
            break;
        }
        let kind = random.pick(&KINDS).copied().unwrap_or(Kind::Networks);
        let name = format!("p{number}-{life}-{}", format!("{kind:?}").to_lowercase());
        let random = Random::new(random.between(0, u64::MAX), 1);
        let stack = Stack::new(experiment.clone(), client.clone(), random, kind, name);
        if let Some(stack) = live(stack).await {
            return Ok(Some(stack));
        }
    }
    Ok(None)
}

/// The life of a stack; what is left of it if the time is over.
async fn live(mut stack: Stack) -> Option<Stack> {
    if !stack.create().await {
        return stack.delete().await;
    }
    let deletes_early = stack.random.percent(8);
    if deletes_early {
        return stack.delete().await;
    }
    if !begin_well(&mut stack).await {
        return stack.delete().await;
    }
    for _ in 0..stack.random.between(1, 6) {
        if stack.experiment.is_over.load(Ordering::SeqCst) {
            return Some(stack);
        }
        if !change(&mut stack).await {
            break;
        }
    }
    // Some are left until the end, so that there is something in the books.
    if stack.experiment.is_over.load(Ordering::SeqCst) { Some(stack) } else { stack.delete().await }
}

/// Waits for the creation, and does what it waits for.
async fn begin_well(stack: &mut Stack) -> bool {
    match stack.kind {
        Kind::Waiting => stack.signal_wait_condition().await,
        Kind::Deployment => stack.signal_deployment().await,
        _ => {}
    }
    stack.rest().await
}

/// Changes a stack in one of many ways; whether it is well afterwards.
async fn change(stack: &mut Stack) -> bool {
    if stack.kind == Kind::Scaling && stack.random.percent(60) {
        return stack.scale().await;
    }
    match stack.random.between(0, 100) {
        0..45 => stack.update(false).await && stack.rest().await,
        45..60 => {
            // The second one comes while the first is under way.
            stack.update(false).await && stack.update(false).await && stack.rest().await
        }
        60..72 => stack.update(true).await && stack.rest().await,
        72..86 => {
            stack.act("suspend", "SUSPEND").await
                && stack.rest().await
                && stack.act("resume", "RESUME").await
                && stack.rest().await
        }
        86..94 => stack.act("check", "CHECK").await && stack.rest().await,
        _ => {
            tokio::time::sleep(Duration::from_millis(500)).await;
            true
        }
    }
}

impl Stack {
    /// Sends every signal of a wait condition, some of them twice, and expects each of them once.
    async fn signal_wait_condition(&mut self) {
        if !self.wait_for_resource("handle").await {
            return;
        }
        for id in 0..SIGNALS {
            for _ in 0..=u32::from(self.random.percent(30)) {
                let signal = json!({ "id": id.to_string(), "data": id.to_string(), "status": "SUCCESS", "reason": "" });
                self.signal("handle", &signal).await;
            }
        }
        let data: serde_json::Map<String, Value> =
            (0..SIGNALS).map(|id| (id.to_string(), Value::from(id.to_string()))).collect();
        self.signalled = Some(data);
    }

    async fn signal_deployment(&mut self) {
        // The server is there before the deployment waits for it.
        if self.wait_for_resource("deployment").await {
            let signal = json!({ "deploy_status_code": 0, "deploy_stdout": "done" });
            self.signal("deployment", &signal).await;
        }
    }

    /// Sends a signal until it is known to be accepted. It may be sent more than once.
    async fn signal(&mut self, resource: &str, body: &Value) {
        let path = format!("{}/resources/{resource}/signal", self.path());
        loop {
            match self.client.send(&mut self.random, "POST", &path, Some(body)).await {
                Outcome::Answered(200..300, _) => {
                    return self.experiment.ledger.count("signals accepted");
                }
                Outcome::Answered(status, reply) => {
                    // The deployment heard of an earlier one whose reply was lost.
                    let reply = reply.to_string();
                    return self.refused("signal", status, &reply);
                }
                Outcome::Unknown => {
                    self.experiment.ledger.count("requests without a reply");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    /// Waits until a resource is under way or complete.
    async fn wait_for_resource(&mut self, resource: &str) -> bool {
        let path = format!("{}/resources/{resource}", self.path());
        loop {
            let (status, body) = self.client.read(&mut self.random, &path).await;
            let state = body["resource"]["resource_status"].as_str().unwrap_or_default();
            let is_ready = match resource {
                "handle" => state == "CREATE_COMPLETE",
                _ => state.starts_with("CREATE_"),
            };
            if status == 200 && is_ready {
                return true;
            }
            if self.show().await.is_none_or(|shown| !shown.is_under_way()) {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    }

    /// Waits until a scaling group has done what earlier signals asked for: until then it declines further ones, as in
    /// Heat. The state of the resource does not tell that, but the state of its nested stack does.
    async fn wait_for_group(&mut self) -> bool {
        let path = format!("{}/resources/group", self.path());
        loop {
            let (status, body) = self.client.read(&mut self.random, &path).await;
            let resource = &body["resource"];
            let is_busy = |state: &Value| state.as_str().unwrap_or("").ends_with("_IN_PROGRESS");
            if status != 200 {
                return false;
            }
            if let Some(nested) = nested_stack(resource) {
                let (status, body) = self.client.read(&mut self.random, &nested).await;
                let state = &body["stack"]["stack_status"];
                if status == 200 && !is_busy(state) && !is_busy(&resource["resource_status"]) {
                    return true;
                }
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Has a group grow by one, and waits until it has.
    async fn scale(&mut self) -> bool {
        // A group that is being scaled declines signals, as in Heat.
        if !self.wait_for_group().await {
            return false;
        }
        let path = format!("{}/resources/policy/signal", self.path());
        match self.client.send(&mut self.random, "POST", &path, None).await {
            Outcome::Answered(200..300, _) => {
                self.experiment.ledger.count("signals accepted");
                self.size.0 += 1;
                self.size.1 += 1;
            }
            Outcome::Answered(status, body) => self.refused("signal", status, &body.to_string()),
            Outcome::Unknown => {
                self.experiment.ledger.count("requests without a reply");
                self.size.1 += 1;
            }
        }
        self.wait_for_size().await
    }
}

/// The path of a resource's nested stack.
fn nested_stack(resource: &Value) -> Option<String> {
    let links = resource["links"].as_array()?;
    let nested = links.iter().find(|link| link["rel"] == "nested")?;
    let (_, path) = nested["href"].as_str()?.split_once("/stacks/")?;
    Some(format!("/stacks/{path}"))
}
