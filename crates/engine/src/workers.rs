//! Threads for long work without I/O: validation, previews, and parsing or printing of large documents.
//!
//! Invariants: such work never holds up a thread that serves sockets, and has a lower priority than these, unless the operator decides
//! otherwise ([`WorkPriority`]). Not more of it runs
//! at the same time than there are cores. A project has a bounded number of pieces of work that run or wait for a thread; the threads are given out in the
//! order of arrival, and a project has at most half of them, so that another one waits for few of its pieces. The trees
//! that are read for a project are limited in memory.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Span;

/// Work on fewer bytes than this takes less time than to leave a thread for it.
const LARGE: usize = 64 << 10;

/// What is added to the niceness of a thread for long work: threads that serve sockets come first.
const NICENESS: i32 = 10;

/// How much memory the trees that are read for a project may take together, in KiB. A single tree may take more.
const READ_KIB: u32 = 32 << 10;

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

/// The priority of threads for long work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkPriority {
    /// That of all other threads: for machines whose cores are busy with other processes, behind which work of a lower priority
    /// would wait.
    Usual,
    /// A lower one, so that threads that serve sockets come first.
    #[default]
    Low,
}

/// The project has as much work as it may have.
#[derive(Debug)]
pub struct TooMuchWork;

/// The threads for long work.
#[derive(Debug)]
pub struct Workers {
    threads: Semaphore,
    limits: WorkLimits,
    priority: WorkPriority,
    projects: Mutex<BTreeMap<Arc<str>, ProjectWork>>,
}

/// The work of one project.
#[derive(Debug)]
struct ProjectWork {
    /// How many pieces run or wait, and how many trees are held or waited for.
    count: usize,
    turns: Arc<Semaphore>,
    /// A permit for each KiB.
    memory: Arc<Semaphore>,
}

impl Workers {
    /// As many threads as there are cores, and at least two, so that the work of one project leaves a thread to others.
    pub fn new(limits: WorkLimits, priority: WorkPriority) -> Workers {
        let threads = available_parallelism().map_or(2, |cores| cores.get().max(2));
        Workers {
            threads: Semaphore::new(threads),
            priority,
            limits: WorkLimits { running: limits.running.min(threads / 2).max(1), ..limits },
            projects: Mutex::default(),
        }
    }

    /// Runs work for a project, when it is the project's turn and a thread is free; refuses it if the project has as much
    /// work as it may have.
    pub async fn run<T>(
        self: &Arc<Self>,
        project: &Arc<str>,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, TooMuchWork>
    where
        T: Send,
    {
        let WorkLimits { running, waiting } = self.limits;
        let (admitted, others) = self.admit(project);
        if others >= running.saturating_add(waiting) {
            return Err(TooMuchWork);
        }
        Ok(admitted.run(work).await)
    }

    /// The share of a project.
    pub fn share(self: &Arc<Self>, project: impl Into<Arc<str>>) -> WorkShare {
        WorkShare { workers: self.clone(), project: project.into() }
    }

    fn projects(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, ProjectWork>> {
        self.projects.lock()
    }

    /// Admits a piece of work of a project; returns also how many others the project has.
    fn admit(self: &Arc<Self>, project: &Arc<str>) -> (Admitted, usize) {
        let mut projects = self.projects();
        let new = || ProjectWork {
            count: 0,
            turns: Arc::new(Semaphore::new(self.limits.running)),
            memory: Arc::new(Semaphore::new(READ_KIB as usize)),
        };
        let work = projects.entry(project.clone()).or_insert_with(new);
        let others = work.count;
        work.count += 1;
        let (turns, memory) = (work.turns.clone(), work.memory.clone());
        let project = project.clone();
        (Admitted { workers: self.clone(), project, turns, memory }, others)
    }
}

/// The share that a project has of the threads and of the memory for trees.
#[derive(Clone, Debug)]
pub struct WorkShare {
    workers: Arc<Workers>,
    project: Arc<str>,
}

impl WorkShare {
    /// Does a part of a request that was accepted already, such as reading its body or printing its response, when it is
    /// the project's turn and a thread is free. Work on few bytes is done at once.
    pub async fn work_on<T: Send>(&self, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
        match bytes > LARGE {
            true => self.workers.admit(&self.project).0.run(work).await,
            false => work(),
        }
    }

    /// Waits until there is memory for a tree of so many bytes.
    pub async fn hold_memory(&self, bytes: usize) -> HeldMemory {
        let (admitted, _) = self.workers.admit(&self.project);
        let kib = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX).min(READ_KIB);
        // The semaphore is never closed.
        let permit = admitted.memory.clone().acquire_many_owned(kib).await.ok();
        HeldMemory { _permit: permit, _admitted: admitted }
    }
}

/// Memory for a tree that was read, until this is dropped.
#[derive(Debug)]
pub struct HeldMemory {
    // The permit is returned before the project may be forgotten.
    _permit: Option<OwnedSemaphorePermit>,
    _admitted: Admitted,
}

/// A piece of work that runs or waits, or a tree that is held.
#[derive(Debug)]
struct Admitted {
    workers: Arc<Workers>,
    project: Arc<str>,
    turns: Arc<Semaphore>,
    memory: Arc<Semaphore>,
}

impl Admitted {
    /// Does work when it is the project's turn and a thread is free.
    async fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        // Neither semaphore is ever closed.
        let _turn = self.turns.acquire().await;
        let _thread = self.workers.threads.acquire().await;
        beside_io(self.workers.priority, work)
    }
}

impl Drop for Admitted {
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
fn beside_io<T: Send>(priority: WorkPriority, work: impl FnOnce() -> T + Send) -> T {
    let runtime = Handle::try_current();
    match runtime {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(|| match priority {
                WorkPriority::Usual => work(),
                WorkPriority::Low => at_low_priority(&runtime, work),
            })
        }
        _ => work(),
    }
}

/// Runs work on a new thread of a lower priority, and waits for it. A thread cannot raise its priority again, so each piece of
/// work has its own.
fn at_low_priority<T: Send>(runtime: &Handle, work: impl FnOnce() -> T + Send) -> T {
    let span = Span::current();
    let log = tracing::dispatcher::get_default(Clone::clone);
    let run = || {
        if let Err(error) = rustix::process::nice(NICENESS) {
            tracing::debug!(%error, "long work has the usual priority");
        }
        let _runtime = runtime.enter();
        tracing::dispatcher::with_default(&log, || span.in_scope(work))
    };
    // A panic goes on in this thread.
    thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_project_without_work_is_forgotten() {
        let workers =
            Arc::new(Workers::new(WorkLimits { running: 1, waiting: 0 }, WorkPriority::Low));
        let project: Arc<str> = "p".into();
        assert_eq!(workers.run(&project, || 1).await.unwrap(), 1);
        assert_eq!(workers.run(&project, || 2).await.unwrap(), 2);
        drop(workers.share("p").hold_memory(3).await);
        assert!(workers.projects().is_empty());
    }

    #[tokio::test]
    async fn trees_wait_for_the_memory_of_their_project() {
        let workers = Arc::new(Workers::new(WorkLimits::default(), WorkPriority::Low));
        let (one, other) = (workers.share("one"), workers.share("other"));
        // A tree that is larger than the limit is read alone.
        let large = one.hold_memory(usize::MAX).await;
        let mut next = Box::pin(one.hold_memory(1));
        assert!(poll_once(&mut next).is_none());
        drop(other.hold_memory(usize::MAX).await);
        drop(large);
        assert!(poll_once(&mut next).is_some());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn long_work_has_a_lower_priority_unless_the_operator_decides_otherwise() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let before = niceness();
        let low = (before + NICENESS).min(19);
        for (priority, expected) in [(WorkPriority::Low, low), (WorkPriority::Usual, before)] {
            let workers = Arc::new(Workers::new(WorkLimits::default(), priority));
            let inside = workers.run(&"p".into(), niceness).await.unwrap();
            assert_eq!((inside, niceness()), (expected, before));
        }
    }

    fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
