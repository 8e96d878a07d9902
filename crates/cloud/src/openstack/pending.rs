//! Looking at many objects that are not ready yet: one list instead of a call for each.
//!
//! A call may say where objects like its own are listed as long as they are not ready ([`Call::among`]). When several
//! are waited for at the same time, what that list shows is answered from it. Whatever the list does not have is ready,
//! broken or gone, or the list was too long: it is asked for by itself. So the list is never taken for the truth about
//! anything but "not yet", and only for a moment.

use super::{OpenStack, lock};
use crate::budget::For;
use crate::{Call, CallError, Credential, Marker, Reply};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// So many objects are waited for one by one.
const FEW: usize = 4;

/// For so long a list tells who is not ready yet: less than the pause between two looks at an object.
const LIST_AGE: Duration = Duration::from_millis(100);

/// Nobody looks at an object less often than this and still waits for it.
const STILL_WAITING: Duration = Duration::from_secs(10);

/// More lists than this are not kept.
const MOST_LISTS: usize = 1000;

/// The lists of objects that are not ready yet, each for somebody.
pub(super) type Lists = Mutex<HashMap<(Credential, String), Arc<List>>>;

/// What is known of the objects that are waited for together.
#[derive(Default)]
pub(super) struct List {
    /// The objects, and when they were last looked at.
    waited_for: Mutex<HashMap<String, Instant>>,
    /// The list, when it was asked for, locked while somebody asks.
    shown: tokio::sync::Mutex<Option<(Instant, Result<Reply, CallError>)>>,
}

impl OpenStack {
    /// Looks at an object, together with others that are waited for.
    pub(super) async fn look(
        &self,
        by: &Credential,
        call: &Call,
        among: &Marker,
    ) -> Result<Reply, CallError> {
        let list = self.list_of(by, among);
        if list.is_crowded(&call.path)
            && let Ok(shown) = self.listed(by, &list, among).await
            && let Some(object) = among.found(&shown).first()
        {
            return Ok(among.reply(object));
        }
        self.make(by, call, For::One).await
    }

    fn list_of(&self, by: &Credential, among: &Marker) -> Arc<List> {
        let key = (by.clone(), format!("{:?} {:?}", among.list, among.list.query));
        let mut lists = lock(&self.lists);
        if lists.len() > MOST_LISTS {
            lists.clear();
        }
        lists.entry(key).or_default().clone()
    }

    async fn listed(
        &self,
        by: &Credential,
        list: &List,
        among: &Marker,
    ) -> Result<Reply, CallError> {
        let mut shown = list.shown.lock().await;
        if let Some((asked, answer)) = shown.as_ref()
            && asked.elapsed() < LIST_AGE
        {
            return answer.clone();
        }
        list.forget_old();
        let answer = self.make(by, &among.list, For::Many).await;
        *shown = Some((Instant::now(), answer.clone()));
        answer
    }
}

impl List {
    /// Whether more objects are waited for than this one and a few.
    fn is_crowded(&self, path: &str) -> bool {
        let mut waited_for = lock(&self.waited_for);
        waited_for.insert(path.to_owned(), Instant::now());
        waited_for.len() > FEW
    }

    fn forget_old(&self) {
        lock(&self.waited_for).retain(|_, last| last.elapsed() < STILL_WAITING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_looked_at_one_by_one() {
        let list = List::default();
        let mut crowded = (0..6).map(|n| list.is_crowded(&format!("/servers/{n}")));
        assert!(crowded.by_ref().take(FEW).all(|it| !it));
        assert!(crowded.all(|it| it));
        assert!(list.is_crowded("/servers/0"));
    }
}
