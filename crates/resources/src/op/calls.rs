//! Calls, and the rules for failed ones: which are repeated, when, and how often.
//!
//! A rejected call had no effect. A lost call, or one that the service failed on, may have had one: its object is
//! searched for by its mark before the call is repeated.

use super::error::is_quota;
use super::run::{Answer, Demand, Note};
use super::{Backoff, FailureClass, Op, OpError, Progress, Step, micros, wrong_answer};
use crate::behaviour::OperationKind;
use kiln_cloud::{Call, CallError, Method, Reply};
use std::time::Duration;

/// How often a call is repeated that did not reach its service, or met a busy one.
const TRIES: u32 = 5;

/// How often a call is repeated that the service failed on: it may fail every time.
const TRIES_OF_BROKEN: u32 = 3;

/// From this repetition on users are told that the resource waits.
const REPORTED_TRY: u32 = 3;

/// The pauses between two reads of an object.
const POLLING: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));

/// The longest pause that a service can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// How long a call waits for a service that is known to be down: less than a lost call may take to show.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause after that.
const PAUSE_OF_HELD: Duration = Duration::from_millis(500);

/// The possible effect of a call without a successful reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It had no effect.
    Nothing,
    /// The service failed on it, and may have carried it out before.
    Unknown,
    /// It may have taken effect, or may still do so.
    Lost,
}

impl Fate {
    fn of(error: &CallError) -> Fate {
        match error {
            CallError::NotSent(_)
            | CallError::Impossible(_)
            | CallError::Down(_)
            | CallError::Fenced => Fate::Nothing,
            CallError::Lost(_) => Fate::Lost,
            CallError::Refused(reply) => match reply.status {
                // A gateway did not wait for the reply, or did not understand it.
                502 | 504 => Fate::Lost,
                501 | 503 => Fate::Nothing,
                500.. => Fate::Unknown,
                _ => Fate::Nothing,
            },
        }
    }
}

/// How a call that ended like this may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// So many times.
    Tries(u32),
    /// As long as outages are waited for: the service is down or busy, and nothing is wrong with the call.
    Outage,
}

impl Patience {
    fn with(error: &CallError) -> Patience {
        match error {
            CallError::NotSent(_) | CallError::Lost(_) | CallError::Down(_) => Patience::Outage,
            CallError::Impossible(_) | CallError::Fenced => Patience::Tries(0),
            CallError::Refused(reply) if is_busy(reply) => Patience::Outage,
            CallError::Refused(reply) if matches!(reply.status, 502 | 504) => Patience::Outage,
            CallError::Refused(reply) if reply.status == 500 => Patience::Tries(TRIES_OF_BROKEN),
            CallError::Refused(_) => Patience::Tries(0),
        }
    }
}

/// The repetitions of a call so far.
#[derive(Default)]
struct Repetitions {
    tries: u32,
    /// When the call first failed, in microseconds since 1970.
    since: Option<i64>,
    /// Whether users were told that the resource waits.
    is_reported: bool,
}

impl Repetitions {
    /// Whether a call that ended like this now may be made once more.
    fn allow(&mut self, error: &CallError, now: i64, ride_out: Duration) -> bool {
        let since = *self.since.get_or_insert(now);
        match Patience::with(error) {
            Patience::Tries(most) => self.tries < most,
            Patience::Outage => {
                self.tries < TRIES && !matches!(error, CallError::Down(_))
                    || now.saturating_sub(since) < micros(ride_out)
            }
        }
    }

    /// The pause before the next attempt. A call that was not sent has waited already.
    fn next_pause(&mut self, error: &CallError) -> Duration {
        if let CallError::Down(_) = error {
            return PAUSE_OF_HELD;
        }
        self.tries += 1;
        pause_after(self.tries, error)
    }

    /// The call for the next attempt: once users were told, it waits for a service that is down.
    fn attempt(&self, call: &Call) -> Call {
        match self.is_reported {
            false => call.clone(),
            true => call.clone().patience(PATIENCE),
        }
    }
}

/// Whether the service is reachable and asks the client to wait.
fn is_busy(reply: &Reply) -> bool {
    // Some services answer 413 for a rate limit, and say when to try again; for a quota, too, which no pause changes.
    let is_quota = || reply.error_text().is_some_and(|said| is_quota(&said));
    matches!(reply.status, 429 | 503)
        || reply.status == 413 && asked_pause(reply).is_some() && !is_quota()
}

/// Whether a rejection is temporary. A quota is not.
fn is_to_pass(error: &CallError, busy: &[u16]) -> bool {
    match error {
        CallError::Refused(reply) => {
            busy.contains(&reply.status) && !reply.error_text().is_some_and(|said| is_quota(&said))
        }
        _ => false,
    }
}

/// The pause that a service asks for.
fn asked_pause(reply: &Reply) -> Option<Duration> {
    let seconds = reply.header("retry-after")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// How long to wait before a call is repeated: twice as long each time, and at least as long as the service asks.
fn pause_after(tries: u32, error: &CallError) -> Duration {
    let usual = Duration::from_secs(1 << tries.min(5));
    match error {
        CallError::Refused(reply) => {
            asked_pause(reply).unwrap_or_default().min(LONGEST_PAUSE).max(usual)
        }
        _ => usual,
    }
}

/// The error of an operation whose call failed.
fn stop(call: &Call, error: &CallError) -> OpError {
    match error {
        CallError::Refused(reply) => OpError::refused(call, reply),
        error => OpError::unreached(call, error),
    }
}

impl Op {
    /// Makes a call that changes something, once: after an interruption, returns the recorded reply.
    pub async fn call(&mut self, step: &str, call: Call) -> Result<Reply, OpError> {
        self.call_until_accepted(step, call, &[]).await
    }

    /// Like [`Op::call`], but repeats the call while the service answers with one of these statuses, which
    /// mean that it is busy with the object.
    pub async fn call_until_accepted(
        &mut self,
        step: &str,
        call: Call,
        busy: &[u16],
    ) -> Result<Reply, OpError> {
        match self.context.journal.step(step) {
            Some(Step::Replied(reply)) => return Ok(reply.clone()),
            Some(Step::Begun) => {
                if let Some(reply) = self.find_lost(step, &call, Fate::Lost).await? {
                    return Ok(reply);
                }
            }
            _ => {}
        }
        call.request.path.checked()?;
        self.remember_others(&call).await?;
        let mut backoff = POLLING;
        let mut repetitions = Repetitions::default();
        loop {
            let demand = Demand::Call { step: step.into(), call: repetitions.attempt(&call) };
            let Answer::Reply(answer) = self.demand(demand).await else {
                return Err(wrong_answer());
            };
            let error = match answer {
                Ok(reply) => {
                    if !self.doubts {
                        self.forget_others();
                    }
                    self.end_waiting(&repetitions);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let fate = Fate::of(&error);
            if fate == Fate::Nothing {
                // What is refused now may be what an earlier attempt did, which came late.
                let is_creation =
                    call.request.method == Method::Post && !call.recovery.is_repeatable;
                if is_creation
                    && self.may_be_done(step)
                    && let Some(reply) = self.find_lost(step, &call, fate).await?
                {
                    return Ok(reply);
                }
                self.refused(step);
            } else if self.may_look(fate, &call)
                && let Some(reply) = self.find_lost(step, &call, fate).await?
            {
                return Ok(reply);
            }
            if is_to_pass(&error, busy) {
                self.pause(backoff.next_pause()).await?;
                continue;
            }
            let is_safe = fate != Fate::Unknown || self.may_look(fate, &call);
            if !self.may_repeat(&mut repetitions, &error) || !is_safe {
                if !self.doubts {
                    self.forget_others();
                }
                return Err(stop(&call, &error));
            }
            self.wait_out(&mut repetitions, &call, &error).await?;
        }
    }

    /// Whether a call that failed may be made once more.
    fn may_repeat(&self, repetitions: &mut Repetitions, error: &CallError) -> bool {
        let now = self.lock().now;
        repetitions.allow(error, now, self.context.ride_out)
    }

    /// Waits before a call is repeated, and says so if it is not the first time.
    async fn wait_out(
        &mut self,
        repetitions: &mut Repetitions,
        call: &Call,
        error: &CallError,
    ) -> Result<(), OpError> {
        let pause = repetitions.next_pause(error);
        let (service, tries) = (call.request.service.catalogue_type(), repetitions.tries);
        let minutes = self.context.ride_out.as_secs().div_ceil(60);
        let next = match error {
            CallError::Down(_) => "it is called again as soon as it accepts calls".to_owned(),
            _ => format!("tried {tries} times, next in {} s", pause.as_secs()),
        };
        if tries >= REPORTED_TRY || matches!(error, CallError::Down(_)) {
            let text = format!(
                "Waiting for the {service} service ({error}): {next}, for {minutes} min in all."
            );
            repetitions.is_reported = true;
            self.note(Note::Waiting(Some(text.into())));
        }
        self.pause(pause).await
    }

    /// The service has answered: the resource does not wait any more.
    fn end_waiting(&mut self, repetitions: &Repetitions) {
        if repetitions.is_reported {
            self.note(Note::Waiting(None));
        }
    }

    /// Records a rejected step: it had no effect, unless an earlier attempt was lost.
    fn refused(&mut self, step: &str) {
        if !self.may_be_done(step) {
            self.context.journal.set(step, Step::Refused);
            self.note(Note::Step(step.into(), Step::Refused));
        }
    }

    /// Whether the effect of a call can be found out, or repeating the call does no harm.
    fn may_look(&self, fate: Fate, call: &Call) -> bool {
        let is_repeatable = call.request.method != Method::Post || call.recovery.is_repeatable;
        fate == Fate::Lost
            || is_repeatable
            || call.recovery.marker.is_some()
            || self.own_marker().is_some()
    }

    /// Makes a call that changes nothing.
    pub async fn read(&mut self, call: Call) -> Result<Reply, OpError> {
        call.request.path.checked()?;
        let mut repetitions = Repetitions::default();
        loop {
            let Answer::Reply(answer) = self.demand(Demand::Read(repetitions.attempt(&call))).await
            else {
                return Err(wrong_answer());
            };
            let error = match answer {
                Ok(reply) => {
                    self.end_waiting(&repetitions);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            if !self.may_repeat(&mut repetitions, &error) {
                return Err(stop(&call, &error));
            }
            self.wait_out(&mut repetitions, &call, &error).await?;
        }
    }

    /// Like [`Op::call`], but repeats the call while the service answers with a conflict.
    pub async fn call_retrying_conflicts(
        &mut self,
        step: &str,
        call: Call,
    ) -> Result<Reply, OpError> {
        self.call_until_accepted(step, call, &[409]).await
    }

    /// Like [`Op::call`], to a service that rejects what is done already: if an earlier attempt, or an operation that
    /// failed half-way, may have done it, that counts as success, without a reply.
    pub async fn add(&mut self, step: &str, call: Call) -> Result<Option<Reply>, OpError> {
        match self.call(step, call).await {
            Err(stop)
                if stop.is_already_done()
                    && (self.may_be_done(step) || self.context().is_half_done) =>
            {
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// Whether an earlier attempt of a step may have taken effect.
    pub fn may_be_done(&self, step: &str) -> bool {
        self.repeated.iter().any(|repeated| &**repeated == step)
    }

    /// Deletes something; that it does not exist counts as success.
    pub async fn remove(&mut self, step: &str, call: Call) -> Result<(), OpError> {
        match self.call(step, call).await {
            Err(stop) if stop.is_not_found() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Refines the error of an operation that did not find something: its object may have been deleted by others.
    pub(super) async fn judged(&mut self, operation: OperationKind, stop: OpError) -> OpError {
        match operation {
            OperationKind::Check if stop.is_not_found() => {
                stop.advise("bring it back, or update the stack, which makes another")
            }
            // There is no object to change.
            OperationKind::Update if stop.is_not_found() && self.is_gone().await => {
                OpError::Replace
            }
            _ => stop,
        }
    }

    /// Whether the object certainly does not exist.
    async fn is_gone(&mut self) -> bool {
        let (Some(marker), Some(id)) = (self.own_marker(), self.id().cloned()) else {
            return false;
        };
        let path = marker.removal(&id).request.path;
        let mut look = marker.list;
        look.request.path = path;
        look.request.query.clear();
        matches!(self.read(look).await, Err(stop) if stop.is_not_found())
    }

    /// Reads with growing pauses until the reply shows that the object is ready.
    pub async fn until(
        &mut self,
        call: Call,
        mut progress: impl FnMut(&Reply) -> Progress,
    ) -> Result<Reply, OpError> {
        let progress = |reply: &Reply| match reply.status {
            404 => None,
            _ => Some(progress(reply)),
        };
        self.poll(call, progress).await
    }

    /// Like [`Op::until`], but `progress` also gets the reply with status 404 of an object that does not exist.
    pub async fn until_answered(
        &mut self,
        call: Call,
        mut progress: impl FnMut(&Reply) -> Progress,
    ) -> Result<Reply, OpError> {
        self.poll(call, |reply| Some(progress(reply))).await
    }

    async fn poll(
        &mut self,
        call: Call,
        mut progress: impl FnMut(&Reply) -> Option<Progress>,
    ) -> Result<Reply, OpError> {
        let mut backoff = POLLING;
        loop {
            let reply = match self.read(call.clone()).await {
                Err(stop) if stop.is_not_found() => {
                    let reply = Reply::new(404, serde_json::Value::Null);
                    if progress(&reply).is_none() {
                        return Err(stop);
                    }
                    reply
                }
                reply => reply?,
            };
            match progress(&reply) {
                Some(Progress::Ready) => return Ok(reply),
                Some(Progress::Failed(why)) => {
                    return Err(OpError::broken(why).shown(&call, &reply));
                }
                Some(Progress::Unknown(why)) => {
                    return Err(OpError::failed(FailureClass::ResourceUnknownStatus, why)
                        .shown(&call, &reply));
                }
                Some(Progress::NotYet) | None => self.pause(backoff.next_pause()).await?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_service_that_asks_for_patience_gets_as_much_as_is_bearable() {
        let busy = |after: &str| {
            let mut reply = Reply::new(429, Value::Null);
            reply.headers.insert("retry-after".into(), after.into());
            CallError::Refused(reply)
        };
        assert_eq!(pause_after(1, &busy("7")), Duration::from_secs(7));
        assert_eq!(pause_after(4, &busy("7")), Duration::from_secs(16));
        assert_eq!(pause_after(1, &busy("86400")), LONGEST_PAUSE);
        assert_eq!(pause_after(1, &busy("Fri, 31 Dec 1999 23:59:59 GMT")), Duration::from_secs(2));
    }

    #[test]
    fn a_quota_is_no_reason_to_wait() {
        let reply = |text: &str| {
            let body = serde_json::json!({ "overLimit": { "code": 413, "message": text } });
            let mut reply = Reply::new(413, body);
            reply.headers.insert("retry-after".into(), "0".into());
            reply
        };
        assert!(is_busy(&reply("This request was rate-limited.")));
        let quota = "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota.";
        assert!(!is_busy(&reply(quota)));
    }

    #[test]
    fn only_what_was_refused_or_not_sent_is_certain() {
        let fate = |status| Fate::of(&CallError::Refused(Reply::new(status, Value::Null)));
        for status in [400, 403, 404, 409, 413, 429, 501, 503] {
            assert_eq!(fate(status), Fate::Nothing, "{status}");
        }
        assert_eq!([500, 502, 504].map(fate), [Fate::Unknown, Fate::Lost, Fate::Lost]);
        assert_eq!(Fate::of(&CallError::NotSent(String::new())), Fate::Nothing);
    }
}
