//! Calls, and what becomes of those that go wrong: which are made again, when, and how often.
//!
//! What a service refuses has not happened. What it lost, or broke down over, may have: that is looked for, by
//! its mark, before it is asked for again.

use super::error::is_quota;
use super::run::{Answer, Demand, Note};
use super::{Op, OpError, Progress, Step, wrong_answer};
use crate::behaviour::OperationKind;
use kiln_cloud::{Call, CallError, Method, Reply};
use std::time::Duration;

/// How often a call is made again that did not reach its service, or met a busy one.
const TRIES: u32 = 5;

/// How often a call is made again that a service broke down over: it may well do so every time.
const TRIES_OF_BROKEN: u32 = 3;

/// The shortest and the longest pause between two looks at an object.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// A service that asks for more patience than this does not get it.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// What may have come of a call without a good reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing.
    Nothing,
    /// The service broke down over it, and may have done it before.
    Unknown,
    /// It may have happened, or may happen yet.
    Lost,
}

impl Fate {
    fn of(error: &CallError) -> Fate {
        match error {
            CallError::NotSent(_) | CallError::Impossible(_) => Fate::Nothing,
            CallError::Lost(_) => Fate::Lost,
            CallError::Refused(reply) => match reply.status {
                // Somebody in between did not wait for the answer, or did not understand it.
                502 | 504 => Fate::Lost,
                501 | 503 => Fate::Nothing,
                500.. => Fate::Unknown,
                _ => Fate::Nothing,
            },
        }
    }
}

/// How often a call may be made again that ended like this.
fn most_tries(error: &CallError) -> u32 {
    match error {
        CallError::NotSent(_) | CallError::Lost(_) => TRIES,
        CallError::Impossible(_) => 0,
        CallError::Refused(reply) if is_busy(reply) => TRIES,
        CallError::Refused(reply) if matches!(reply.status, 500 | 502 | 504) => TRIES_OF_BROKEN,
        CallError::Refused(_) => 0,
    }
}

/// The service is there and asks for patience.
fn is_busy(reply: &Reply) -> bool {
    // Some say "too much" when they mean "too much at once", and tell when there is room again.
    matches!(reply.status, 429 | 503) || reply.status == 413 && asked_pause(reply).is_some()
}

/// Whether a refusal is one of those that pass by themselves. Too much of something does not.
fn is_to_pass(error: &CallError, busy: &[u16]) -> bool {
    match error {
        CallError::Refused(reply) => {
            busy.contains(&reply.status) && !reply.error_text().is_some_and(|said| is_quota(&said))
        }
        _ => false,
    }
}

/// How long a service asks to be left alone.
fn asked_pause(reply: &Reply) -> Option<Duration> {
    let seconds = reply.header("retry-after")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// How long to wait before a call is made again, which is twice as long each time, and as long as the service asks.
fn pause_after(tries: u32, error: &CallError) -> Duration {
    let usual = Duration::from_secs(1 << tries.min(5));
    match error {
        CallError::Refused(reply) => {
            asked_pause(reply).unwrap_or_default().min(LONGEST_PAUSE).max(usual)
        }
        _ => usual,
    }
}

/// What an operation ends with when its call did.
fn stop(call: &Call, error: &CallError) -> OpError {
    match error {
        CallError::Refused(reply) => OpError::refused(call, reply),
        error => OpError::unreached(call, error),
    }
}

impl Op {
    /// Makes a call that changes something, once: if it was made before an interruption, gives the
    /// reply it had.
    pub async fn call(&mut self, step: &str, call: Call) -> Result<Reply, OpError> {
        self.call_until_accepted(step, call, &[]).await
    }

    /// Like [`Op::call`], to a service that answers like this as long as it is not done with something else:
    /// the call is made again until it is taken.
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
        let (mut pause, longest) = PAUSES;
        let mut tries = 0;
        loop {
            let demand = Demand::Call { step: step.into(), call: call.clone() };
            let Answer::Reply(answer) = self.demand(demand).await else {
                return Err(wrong_answer());
            };
            let error = match answer {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let fate = Fate::of(&error);
            if fate == Fate::Nothing {
                self.refused(step);
            } else if self.may_look(fate, &call)
                && let Some(reply) = self.find_lost(step, &call, fate).await?
            {
                return Ok(reply);
            }
            if is_to_pass(&error, busy) {
                self.pause(pause).await?;
                pause = (pause * 3 / 2).min(longest);
                continue;
            }
            let is_safe = fate != Fate::Unknown || self.may_look(fate, &call);
            if tries >= most_tries(&error) || !is_safe {
                return Err(stop(&call, &error));
            }
            tries += 1;
            self.pause(pause_after(tries, &error)).await?;
        }
    }

    /// A refusal is an answer: nothing came of the step, unless an earlier try of it was lost.
    fn refused(&mut self, step: &str) {
        if !self.may_be_done(step) {
            self.context.journal.set(step, Step::Refused);
            self.note(Note::Step(step.into(), Step::Refused));
        }
    }

    /// Whether it can be found out what came of a call, or making it again does no harm.
    fn may_look(&self, fate: Fate, call: &Call) -> bool {
        let is_repeatable = call.request.method != Method::Post || call.recovery.is_repeatable;
        fate == Fate::Lost
            || is_repeatable
            || call.recovery.marker.is_some()
            || self.own_marker().is_some()
    }

    /// Makes a call that changes nothing.
    pub async fn read(&mut self, call: Call) -> Result<Reply, OpError> {
        let mut tries = 0;
        loop {
            let Answer::Reply(answer) = self.demand(Demand::Read(call.clone())).await else {
                return Err(wrong_answer());
            };
            let error = match answer {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if tries >= most_tries(&error) {
                return Err(stop(&call, &error));
            }
            tries += 1;
            self.pause(pause_after(tries, &error)).await?;
        }
    }

    /// Like [`Op::call`], to a service that answers with a conflict as long as it is not done with
    /// something else: the call is made again until it is taken.
    pub async fn call_retrying_conflicts(
        &mut self,
        step: &str,
        call: Call,
    ) -> Result<Reply, OpError> {
        self.call_until_accepted(step, call, &[409]).await
    }

    /// Like [`Op::call`], to a service that refuses what is done already: if an earlier try may have done it,
    /// that is as good, and there is no reply.
    pub async fn add(&mut self, step: &str, call: Call) -> Result<Option<Reply>, OpError> {
        match self.call(step, call).await {
            Err(stop) if stop.is_already_done() && self.may_be_done(step) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Whether an earlier try of a step may have had its effect.
    pub fn may_be_done(&self, step: &str) -> bool {
        self.repeated.iter().any(|repeated| &**repeated == step)
    }

    /// Removes something; that it was gone already is as good.
    pub async fn remove(&mut self, step: &str, call: Call) -> Result<(), OpError> {
        match self.call(step, call).await {
            Err(stop) if stop.is_not_found() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Why an operation really ended that did not find something: its object may have been removed behind our back.
    pub(super) async fn judged(&mut self, operation: OperationKind, stop: OpError) -> OpError {
        match operation {
            OperationKind::Check if stop.is_not_found() => {
                stop.advise("bring it back, or update the stack, which makes another")
            }
            // Nothing is left that could be changed.
            OperationKind::Update if stop.is_not_found() && self.is_gone().await => {
                OpError::Replace
            }
            _ => stop,
        }
    }

    /// Whether the object is certainly not there.
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

    /// Reads until the reply says that the object is ready, with growing pauses.
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

    /// Like [`Op::until`], but that the object is not there is for `progress` to judge: the reply's
    /// status is 404 then.
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
        let (mut pause, longest) = PAUSES;
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
                    return Err(OpError::failed("ResourceUnknownStatus", why).shown(&call, &reply));
                }
                Some(Progress::NotYet) | None => self.pause(pause).await?,
            }
            pause = (pause * 3 / 2).min(longest);
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
    fn only_what_was_refused_or_not_sent_is_certain() {
        let fate = |status| Fate::of(&CallError::Refused(Reply::new(status, Value::Null)));
        for status in [400, 403, 404, 409, 413, 429, 501, 503] {
            assert_eq!(fate(status), Fate::Nothing, "{status}");
        }
        assert_eq!([500, 502, 504].map(fate), [Fate::Unknown, Fate::Lost, Fate::Lost]);
        assert_eq!(Fate::of(&CallError::NotSent(String::new())), Fate::Nothing);
    }
}
