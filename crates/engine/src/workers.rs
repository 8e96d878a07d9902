//! Threads for long work without I/O: validation, previews, and parsing or printing of large documents.
//!
//! Invariants: such work never holds up a thread that serves sockets. Not more of it runs at the same time than there are
//! cores. A project has a bounded number of pieces of work that run or wait for a thread; the threads are given out in the
//! order of arrival, so that a project waits for few pieces of any other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// How much work each project may have.
#[derive(Clone, Copy, Debug)]
pub struct WorkLimits {
    /// How many pieces run, or are the next to run.
    pub running: usize,
    /// How many more may wait.
    pub waiting: usize,
}

impl Default for WorkLimits {
    fn default() -> WorkLimits {
        WorkLimits { running: 4, waiting: 1000 }
    }
}

/// The project has as much work as it may have.
#[derive(Debug)]
pub struct TooMuchWork;

/// The threads for long work.
#[derive(Debug)]
pub struct Workers {
    threads: Semaphore,
    limits: WorkLimits,
    projects: Mutex<BTreeMap<Arc<str>, ProjectWork>>,
}

/// The work of one project.
#[derive(Debug)]
struct ProjectWork {
    /// How many pieces run or wait.
    count: usize,
    turns: Arc<Semaphore>,
}

impl Workers {
    /// As many threads as there are cores.
    pub fn new(limits: WorkLimits) -> Workers {
        Workers {
            threads: Semaphore::new(available_parallelism().map_or(1, usize::from)),
            limits: WorkLimits { running: limits.running.max(1), ..limits },
            projects: Mutex::default(),
        }
    }

    /// Runs work for a project, when it is the project's turn and a thread is free.
    pub async fn run<T>(
        &self,
        project: &Arc<str>,
        work: impl FnOnce() -> T,
    ) -> Result<T, TooMuchWork> {
        let admitted = self.admit(project)?;
        // Neither semaphore is ever closed.
        let _turn = admitted.turns.acquire().await;
        Ok(self.run_next(work).await)
    }

    /// Runs work that is short for its size, such as reading the body of a request, when a thread is free. Its amount is
    /// limited elsewhere.
    pub async fn run_next<T>(&self, work: impl FnOnce() -> T) -> T {
        let _thread = self.threads.acquire().await;
        beside_io(work)
    }

    fn projects(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, ProjectWork>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, project: &Arc<str>) -> Result<Admitted<'_>, TooMuchWork> {
        let WorkLimits { running, waiting } = self.limits;
        let mut projects = self.projects();
        let new = || ProjectWork { count: 0, turns: Arc::new(Semaphore::new(running)) };
        let work = projects.entry(project.clone()).or_insert_with(new);
        if work.count >= running.saturating_add(waiting) {
            return Err(TooMuchWork);
        }
        work.count += 1;
        let turns = work.turns.clone();
        Ok(Admitted { workers: self, project: project.clone(), turns })
    }
}

/// A piece of work that runs or waits.
struct Admitted<'w> {
    workers: &'w Workers,
    project: Arc<str>,
    turns: Arc<Semaphore>,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut projects = self.workers.projects();
        if let Some(work) = projects.get_mut(&self.project) {
            work.count -= 1;
            if work.count == 0 {
                projects.remove(&self.project);
            }
        }
    }
}

/// Runs work while another thread of the runtime goes on with the I/O of this one. A runtime of a single thread has no other.
fn beside_io<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_project_without_work_is_forgotten() {
        let workers = Workers::new(WorkLimits { running: 1, waiting: 0 });
        let project: Arc<str> = "p".into();
        assert_eq!(workers.run(&project, || 1).await.unwrap(), 1);
        assert_eq!(workers.run(&project, || 2).await.unwrap(), 2);
        assert!(workers.projects().is_empty());
    }
}
