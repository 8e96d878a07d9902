//! Turns to write: a project has few transactions of requests under way at the same time.
//!
//! Those who wait for a place to write get it in the order of arrival. As a project's own requests wait for each other first,
//! the projects take turns: a request of one waits for few requests of each other one, however many these have sent.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of all projects that have something to write.
#[derive(Debug)]
pub(crate) struct Turns {
    /// How many transactions a project has at the same time.
    at_once: usize,
    projects: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>>,
}

/// The right to write on behalf of a project, until this is dropped.
#[must_use = "the turn ends when this is dropped"]
pub(crate) struct Turn<'t> {
    // The permit is returned before the project may be forgotten.
    _permit: Option<OwnedSemaphorePermit>,
    _request: WritingRequest<'t>,
}

/// A request that writes or waits for its turn.
struct WritingRequest<'t> {
    turns: &'t Turns,
    project: Arc<str>,
    permits: Arc<Semaphore>,
}

impl Turns {
    pub(crate) fn new(at_once: usize) -> Turns {
        Turns { at_once, projects: Mutex::default() }
    }

    /// Waits for the turn of a request of a project.
    pub(crate) async fn of(&self, project: &str) -> Turn<'_> {
        let request = self.register(project.into());
        // The semaphore is never closed.
        let permit = request.permits.clone().acquire_owned().await.ok();
        Turn { _permit: permit, _request: request }
    }

    fn register(&self, project: Arc<str>) -> WritingRequest<'_> {
        let mut projects = self.projects.lock();
        let new = || Arc::new(Semaphore::new(self.at_once));
        let permits = projects.entry(project.clone()).or_insert_with(new).clone();
        WritingRequest { turns: self, project, permits }
    }
}

impl Drop for WritingRequest<'_> {
    fn drop(&mut self) {
        let mut projects = self.turns.projects.lock();
        // The map has one, and this another.
        if Arc::strong_count(&self.permits) == 2 {
            projects.remove(&self.project);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_project_waits_for_itself_and_not_for_others() {
        let turns = Turns::new(1);
        let first = turns.of("one").await;
        assert!(turns.of("one").now_or_never().is_none());
        let mut second = Box::pin(turns.of("one"));
        assert!((&mut second).now_or_never().is_none());
        assert!(turns.of("other").now_or_never().is_some());
        drop(first);
        drop((&mut second).now_or_never().expect("the turn of the second"));
        drop(second);
        assert!(turns.projects.lock().is_empty());
    }
}
