//! Shared polling: one list call instead of a call for each of many objects that are not ready yet.
//!
//! A call may name a list of objects like its own that are not ready yet ([`Call::among`]). When several of them are
//! waited for at the same time, one that the list shows is answered from it. An object that the list does not show is
//! ready, failed or gone, or the list was too long: it is read by itself. So the list is believed only as to "not yet",
//! and only for a moment.

use super::OpenStack;
use super::key::CallKey;
use crate::bounded::BoundedMap;
use crate::limits::Lane;
use crate::{Call, CallError, CallPath, Credential, Marker, Reply};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Up to this many objects are read one by one.
const MAX_SINGLE_POLLS: usize = 4;

/// How long a list is believed: less than the pause between two reads of an object.
const MAX_LIST_AGE: Duration = Duration::from_millis(100);

/// An object that was not read for this long is not waited for any more: every poll is more frequent.
const FORGET_AFTER: Duration = Duration::from_secs(10);

/// How many polls are kept; the oldest are dropped.
pub(super) const MAX_POLLS: usize = 1000;

/// The shared polls by credential and list.
pub(super) type Polls = Mutex<BoundedMap<CallKey, Arc<SharedPoll>>>;

/// The objects of one list that are waited for.
#[derive(Default)]
pub(super) struct SharedPoll {
    /// The objects by path, with the time when they were last read.
    waited_for: Mutex<HashMap<CallPath, Instant>>,
    /// The last reply of the list and its time. It is locked during the call, so that concurrent callers make one.
    list: tokio::sync::Mutex<Option<(Instant, Result<Reply, CallError>)>>,
}

impl OpenStack {
    /// Reads an object, from the list if enough others of it are waited for.
    pub(super) async fn shared_poll(
        &self,
        credential: &Credential,
        call: &Call,
        among: &Marker,
    ) -> Result<Reply, CallError> {
        let poll = self.poll_of(credential, among);
        if poll.is_crowded(&call.request.path)
            && let Ok(list) = self.poll_list(credential, &poll, among).await
            && let Some(object) = among.found(&list).first()
        {
            return Ok(among.reply(object));
        }
        self.call(credential, call, Lane::Single).await
    }

    fn poll_of(&self, credential: &Credential, among: &Marker) -> Arc<SharedPoll> {
        let key = CallKey::new(credential, &among.list.request);
        self.polls.lock().get_or_insert_with(&key, Arc::default)
    }

    async fn poll_list(
        &self,
        credential: &Credential,
        poll: &SharedPoll,
        among: &Marker,
    ) -> Result<Reply, CallError> {
        let mut list = poll.list.lock().await;
        if let Some((started, reply)) = list.as_ref()
            && started.elapsed() < MAX_LIST_AGE
        {
            return reply.clone();
        }
        poll.forget_old();
        let reply = self.call(credential, &among.list, Lane::Shared).await;
        *list = Some((Instant::now(), reply.clone()));
        reply
    }
}

impl SharedPoll {
    /// Whether more objects are waited for than are read one by one, with this one.
    fn is_crowded(&self, path: &CallPath) -> bool {
        let mut waited_for = self.waited_for.lock();
        waited_for.insert(path.clone(), Instant::now());
        waited_for.len() > MAX_SINGLE_POLLS
    }

    fn forget_old(&self) {
        self.waited_for.lock().retain(|_, last| last.elapsed() < FORGET_AFTER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_read_one_by_one() {
        let poll = SharedPoll::default();
        let mut crowded =
            (0..6).map(|n| poll.is_crowded(&CallPath::from("/servers").id(n.to_string())));
        assert!(crowded.by_ref().take(MAX_SINGLE_POLLS).all(|it| !it));
        assert!(crowded.all(|it| it));
        assert!(poll.is_crowded(&"/servers/0".into()));
    }
}
