//! Services that are down, and projects that call a service too often.
//!
//! While a service is down, every call that is made to it costs the service something and gains nothing. So after a few
//! failures in a row, one call at a time is sent to it, with growing pauses between them; all others wait, or are not
//! sent. The first call that succeeds lets all of them go on. In the same way, a project that a service asked to wait
//! sends nothing to it until then.

use crate::{CallError, Reply, Service, metrics};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// After this many failures in a row a service is down.
const FAILURES: u32 = 5;

/// The pause between two probes: it doubles up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The longest pause that a service can ask for.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(120);

/// What may be closed: a service in a region, for all projects or for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gate {
    service: Service,
    region: Option<Arc<str>>,
    /// The project that has to wait; `None` if the service is down for all.
    project: Option<Arc<str>>,
}

/// A gate through which calls failed.
#[derive(Debug, Default)]
struct Trouble {
    failures: u32,
    /// Whether the gate is closed, and since when.
    closed: Option<Closed>,
}

#[derive(Debug)]
struct Closed {
    since: Instant,
    /// What the service answered.
    why: String,
    next_probe: Instant,
    pause: Duration,
    is_probed: bool,
}

/// The services that are down, and the projects that have to wait. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Outages {
    troubles: Arc<Mutex<HashMap<Gate, Trouble>>>,
    /// Changes when a gate was opened, or a probe has ended.
    changes: Arc<watch::Sender<()>>,
}

/// A call that may be sent. What becomes of it tells whether the service is down.
#[derive(Debug)]
pub(crate) struct Passage {
    outages: Outages,
    service: Gate,
    project: Gate,
    /// Whether it is the probe of the service, and of the project.
    probes: [bool; 2],
}

/// What the reply to a call says about its service.
enum Sign {
    Works,
    Down(String),
    TooManyCalls(String),
    /// Nothing: the call was not sent for a reason of ours.
    None,
}

impl Default for Outages {
    fn default() -> Outages {
        Outages { troubles: Arc::default(), changes: Arc::new(watch::Sender::new(())) }
    }
}

impl Outages {
    /// Waits while the service is down, or the project has to wait, until the caller has no more patience.
    pub(crate) async fn wait_until_open(
        &self,
        gates: &[Gate; 2],
        until: Instant,
    ) -> Result<(), CallError> {
        let mut changes = self.changes.subscribe();
        loop {
            let now = Instant::now();
            let Some((why, next_probe)) = self.obstacle(gates, now) else { return Ok(()) };
            if now >= until {
                return Err(CallError::Down(why));
            }
            let next = next_probe.map_or(until, |it| it.min(until));
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep_until(next) => {}
            }
        }
    }

    /// Why a call cannot be sent now, and when the next probe is due unless there is one already.
    fn obstacle(&self, gates: &[Gate; 2], now: Instant) -> Option<(String, Option<Instant>)> {
        let troubles = self.troubles.lock();
        let closed = gates.iter().filter_map(|gate| troubles.get(gate)?.closed.as_ref());
        let mut closed = closed.filter(|it| !it.may_be_probed(now));
        closed.next().map(|it| (it.why.clone(), (!it.is_probed).then_some(it.next_probe)))
    }

    /// Lets a call pass, as the probe if the service is down; `None` if it has to wait.
    pub(crate) fn pass(&self, gates: &[Gate; 2], now: Instant) -> Option<Passage> {
        let mut troubles = self.troubles.lock();
        let closed = |gate| troubles.get(gate).and_then(|it: &Trouble| it.closed.as_ref());
        let probes = gates.each_ref().map(|gate| closed(gate).is_some());
        if gates.iter().filter_map(closed).any(|it| !it.may_be_probed(now)) {
            return None;
        }
        for gate in gates {
            if let Some(closed) = troubles.get_mut(gate).and_then(|it| it.closed.as_mut()) {
                closed.is_probed = true;
            }
        }
        let [service, project] = gates.clone();
        Some(Passage { outages: self.clone(), service, project, probes })
    }

    /// A call failed, and the service asked for a pause.
    fn failed(&self, gate: &Gate, is_probe: bool, (why, asked): (String, Duration), now: Instant) {
        let mut troubles = self.troubles.lock();
        let trouble = troubles.entry(gate.clone()).or_default();
        trouble.failures = trouble.failures.saturating_add(1);
        let asked = asked.min(LONGEST_ASKED_PAUSE);
        match &mut trouble.closed {
            Some(closed) => {
                // What was sent before says nothing new, except for how long to wait.
                if is_probe {
                    closed.pause = (closed.pause * 2).min(LONGEST_PAUSE);
                    closed.is_probed = false;
                    closed.why = why;
                }
                let pause = if is_probe { closed.pause.max(asked) } else { asked };
                closed.next_probe = closed.next_probe.max(now + pause);
            }
            None if trouble.failures < gate.failures_allowed() => return,
            closed @ None => {
                gate.log_closed(&why);
                let next_probe = now + FIRST_PAUSE.max(asked);
                let (since, pause) = (now, FIRST_PAUSE);
                *closed = Some(Closed { since, why, next_probe, pause, is_probed: false });
            }
        }
        drop(troubles);
        self.changes.send_replace(());
    }

    /// A call succeeded. What was sent before a project had to wait does not let it go on.
    fn succeeded(&self, gate: &Gate, is_probe: bool) {
        let mut troubles = self.troubles.lock();
        let is_closed = troubles.get(gate).is_some_and(|it| it.closed.is_some());
        if is_closed && gate.project.is_some() && !is_probe {
            return;
        }
        let Some(Trouble { closed: Some(closed), .. }) = troubles.remove(gate) else { return };
        drop(troubles);
        gate.log_open(closed.since.elapsed());
        self.changes.send_replace(());
    }

    /// A probe ended without a result: the next caller makes another.
    fn cancelled(&self, gate: &Gate) {
        if let Some(closed) = self.troubles.lock().get_mut(gate).and_then(|it| it.closed.as_mut()) {
            closed.is_probed = false;
        }
        self.changes.send_replace(());
    }
}

impl Closed {
    fn may_be_probed(&self, now: Instant) -> bool {
        !self.is_probed && now >= self.next_probe
    }
}

impl Passage {
    /// Learns from the reply whether the service is down.
    pub(crate) fn observe(mut self, reply: &Result<Reply, CallError>, now: Instant) {
        let asked = match reply {
            Err(CallError::Refused(reply)) => asked_pause(reply).unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let outages = self.outages.clone();
        let [of_service, of_project] = std::mem::take(&mut self.probes);
        match Sign::of(reply) {
            Sign::Works => {
                outages.succeeded(&self.service, of_service);
                outages.succeeded(&self.project, of_project);
            }
            Sign::Down(why) => {
                outages.failed(&self.service, of_service, (why, asked), now);
                self.probes = [false, of_project];
            }
            Sign::TooManyCalls(why) => {
                outages.succeeded(&self.service, of_service);
                outages.failed(&self.project, of_project, (why, asked), now);
            }
            Sign::None => self.probes = [of_service, of_project],
        }
    }
}

/// A call that was dropped leaves its probe to others.
impl Drop for Passage {
    fn drop(&mut self) {
        let gates = [&self.service, &self.project];
        for (gate, _) in gates.iter().zip(self.probes).filter(|(_, is_probe)| *is_probe) {
            self.outages.cancelled(gate);
        }
    }
}

impl Sign {
    fn of(reply: &Result<Reply, CallError>) -> Sign {
        match reply {
            Ok(_) => Sign::Works,
            Err(CallError::Refused(reply)) => match reply.status {
                502..=504 => Sign::Down(format!("HTTP {}", reply.status)),
                429 => Sign::TooManyCalls("HTTP 429".into()),
                // For a quota, services that answer like this ask for no pause.
                413 if asked_pause(reply).is_some_and(|it| !it.is_zero()) => {
                    Sign::TooManyCalls("HTTP 413".into())
                }
                _ => Sign::Works,
            },
            Err(CallError::NotSent(why) | CallError::Lost(why)) => Sign::Down(why.clone()),
            Err(CallError::Impossible(_) | CallError::Down(_) | CallError::Fenced) => Sign::None,
        }
    }
}

impl Gate {
    /// The gates that calls of a project to a service have to pass.
    pub(crate) fn both(
        service: Service,
        region: Option<&Arc<str>>,
        project: &Arc<str>,
    ) -> [Gate; 2] {
        let gate = |project| Gate { service, region: region.cloned(), project };
        [gate(None), gate(Some(project.clone()))]
    }

    /// How many failures in a row close the gate. A service that says that a project has to wait is believed at once.
    fn failures_allowed(&self) -> u32 {
        if self.project.is_some() { 1 } else { FAILURES }
    }

    fn log_closed(&self, why: &str) {
        let service = self.service.catalogue_type();
        match &self.project {
            None => {
                metrics::set_down(self.service, true);
                tracing::warn!(
                    service,
                    region = self.region.as_deref(),
                    error = why,
                    "a service is down: calls to it wait, and one at a time is tried"
                );
            }
            Some(project) => tracing::info!(service, %project, error = why,
                "a service asks a project to wait: calls of the project wait"),
        }
    }

    fn log_open(&self, after: Duration) {
        let (service, seconds) = (self.service.catalogue_type(), after.as_secs());
        match &self.project {
            None => {
                metrics::set_down(self.service, false);
                tracing::info!(service, seconds, "a service is back: calls to it go on");
            }
            Some(project) => {
                tracing::info!(service, %project, seconds, "a service accepts calls of a project again");
            }
        }
    }
}

/// The pause that a service asks for.
fn asked_pause(reply: &Reply) -> Option<Duration> {
    reply.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const SECOND: Duration = Duration::from_secs(1);

    /// A service that projects call, with a clock of its own.
    struct Cloud {
        outages: Outages,
        now: Instant,
    }

    impl Cloud {
        fn new() -> Cloud {
            Cloud { outages: Outages::default(), now: Instant::now() }
        }

        fn start(&self, project: &str) -> Option<Passage> {
            let gates = Gate::both(Service::Network, None, &project.into());
            self.outages.pass(&gates, self.now)
        }

        /// Makes a call, if it may be made, and returns whether it was.
        fn call(&self, project: &str, reply: &Result<Reply, CallError>) -> bool {
            let passage = self.start(project);
            let is_made = passage.is_some();
            passage.into_iter().for_each(|it| it.observe(reply, self.now));
            is_made
        }

        fn fail(&self, calls: u32) {
            for _ in 0..calls {
                assert!(self.call("a", &refused(503, None)), "the service is not down yet");
            }
        }
    }

    fn refused(status: u16, pause: Option<&str>) -> Result<Reply, CallError> {
        let mut reply = Reply::new(status, Value::Null);
        reply.headers.extend(pause.map(|it| ("retry-after".to_owned(), it.to_owned())));
        Err(CallError::Refused(reply))
    }

    fn done() -> Result<Reply, CallError> {
        Ok(Reply::new(200, Value::Null))
    }

    #[test]
    fn a_service_that_is_down_gets_one_call_at_a_time_until_it_is_back() {
        let mut cloud = Cloud::new();
        cloud.fail(FAILURES);
        let mut probes = 0;
        for _ in 0..900 {
            cloud.now += SECOND / 10;
            let probe = cloud.start("a");
            assert!(probe.is_none() || cloud.start("b").is_none(), "one at a time");
            let Some(probe) = probe else { continue };
            probes += 1;
            probe.observe(&refused(503, None), cloud.now);
        }
        assert_eq!(probes, 11, "after 1, 2, 4, 8 and then every 10 seconds");
        cloud.now += LONGEST_PAUSE;
        assert!(cloud.call("b", &done()));
        assert!(cloud.start("a").is_some() && cloud.start("b").is_some(), "all go on");
    }

    #[test]
    fn single_failures_are_no_outage() {
        let cloud = Cloud::new();
        for _ in 0..10 {
            cloud.fail(FAILURES - 1);
            assert!(cloud.call("b", &refused(404, None)), "the service is there");
        }
    }

    #[test]
    fn a_probe_that_is_given_up_is_left_to_others() {
        let mut cloud = Cloud::new();
        cloud.fail(FAILURES);
        cloud.now += FIRST_PAUSE;
        drop(cloud.start("a").unwrap());
        assert!(cloud.start("b").is_some());
    }

    #[test]
    fn a_project_that_calls_too_often_waits_alone() {
        let mut cloud = Cloud::new();
        let earlier = cloud.start("a").unwrap();
        assert!(cloud.call("a", &refused(429, Some("7"))));
        earlier.observe(&done(), cloud.now);
        for _ in 0..6 {
            cloud.now += SECOND;
            assert!(!cloud.call("a", &done()), "the service asked it to wait");
            assert!(cloud.call("b", &done()), "others need not");
        }
        cloud.now += SECOND;
        assert!(cloud.call("a", &done()));
        assert!(cloud.call("a", &done()));
    }

    #[test]
    fn a_service_is_left_alone_for_as_long_as_it_asks_but_not_for_ever() {
        let mut cloud = Cloud::new();
        cloud.fail(FAILURES - 1);
        assert!(cloud.call("a", &refused(503, Some("86400"))));
        cloud.now += LONGEST_ASKED_PAUSE - SECOND;
        assert!(!cloud.call("a", &done()));
        cloud.now += SECOND;
        assert!(cloud.call("a", &done()));
    }

    #[tokio::test]
    async fn calls_without_patience_are_told_at_once() {
        let cloud = Cloud::new();
        cloud.fail(FAILURES);
        let gates = Gate::both(Service::Network, None, &"a".into());
        let told = cloud.outages.wait_until_open(&gates, cloud.now).await;
        assert_eq!(told, Err(CallError::Down("HTTP 503".into())));
    }

    #[tokio::test]
    async fn calls_with_patience_go_on_when_the_service_is_back() {
        let cloud = Cloud::new();
        let earlier = cloud.start("b").unwrap();
        cloud.fail(FAILURES);
        let gates = Gate::both(Service::Network, None, &"a".into());
        let waiting = cloud.outages.wait_until_open(&gates, cloud.now + 3600 * SECOND);
        let back = async { earlier.observe(&done(), cloud.now) };
        assert_eq!(tokio::join!(waiting, back).0, Ok(()));
    }
}
