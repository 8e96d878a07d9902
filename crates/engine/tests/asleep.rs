//! An engine that sleeps longer than its lease, with calls that wait inside it.

use crate::runtime::{LEASE, Near, Site, plan, run};
use kiln_cloud::{Call, CallError, Credential, Reply, Transport, pass_fence};
use kiln_engine::{Action, Engine, Status, now};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A cloud with a queue in front of it: a call is sent when it is its turn, if its fence is still open then.
struct Queue {
    cloud: Arc<Near>,
    turns: Semaphore,
    waiting: AtomicUsize,
    sent: AtomicUsize,
}

#[async_trait::async_trait]
impl Transport for Queue {
    async fn send(&self, by: &Credential, call: Call) -> Result<Reply, CallError> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = self.turns.acquire().await.unwrap();
        let passed = pass_fence(&call.request).await;
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        passed?;
        self.sent.fetch_add(1, Ordering::SeqCst);
        drop(turn);
        self.cloud.send(by, call).await
    }
}

/// An engine on a thread of its own, which can be stopped as a machine is.
struct Machine {
    engine: Engine,
    tasks: tokio::runtime::Handle,
}

impl Machine {
    fn start(site: &Site, transport: Arc<dyn Transport>) -> Machine {
        let (tell, told) = mpsc::channel();
        let start = site.starter(transport, Duration::from_millis(20));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let tasks = tokio::runtime::Handle::current();
                tell.send(Machine { engine: start(), tasks }).unwrap();
                std::future::pending::<()>().await;
            });
        });
        told.recv().unwrap()
    }

    /// Nothing happens in the machine until the sender is dropped.
    fn suspend(&self) -> mpsc::Sender<()> {
        let (wake, woken) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        self.tasks.spawn(async move {
            tell.send(()).unwrap();
            _ = woken.recv();
        });
        told.recv().unwrap();
        wake
    }
}

async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_engine_that_slept_makes_no_call_for_what_another_engine_owns_now() {
    run(async {
        let mut site = Site::new();
        let queue = Arc::new(Queue {
            cloud: site.cloud.clone(),
            turns: Semaphore::new(0),
            waiting: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
        });
        let sleeper = Machine::start(&site, queue.clone());
        let id = site.create(&sleeper.engine, "s", &plan(20)).await;
        until(|| queue.waiting.load(Ordering::SeqCst) > 5).await;

        let suspended = sleeper.suspend();
        let other = site.engine();
        site.until(id, Action::Create, Status::Complete).await;
        assert_eq!(site.things(), 24);

        queue.turns.add_permits(100);
        drop(suspended);
        until(|| queue.waiting.load(Ordering::SeqCst) == 0).await;
        until(|| sleeper.engine.status(id).is_none()).await;
        assert_eq!(queue.sent.load(Ordering::SeqCst), 0, "calls of an engine that lost its lease");
        assert_eq!(site.things(), 24, "the first engine made objects again");
        other.stop().await;
    });
}

#[test]
fn calls_wait_while_the_database_is_out_of_reach_and_go_on_when_it_is_back() {
    run(async {
        let mut site = Site::new();
        let queue = Arc::new(Queue {
            cloud: site.cloud.clone(),
            turns: Semaphore::new(0),
            waiting: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
        });
        let machine = Machine::start(&site, queue.clone());
        let id = site.create(&machine.engine, "s", &plan(20)).await;
        until(|| queue.waiting.load(Ordering::SeqCst) > 5).await;

        site.store.set_failing(true);
        let end = now() + LEASE;
        until(|| now() > end).await;
        queue.turns.add_permits(100);
        // The calls in the queue had their turn, and wait for the lease.
        until(|| queue.turns.available_permits() < 100).await;
        assert_eq!(queue.sent.load(Ordering::SeqCst), 0, "a call without a lease");

        site.store.set_failing(false);
        site.until(id, Action::Create, Status::Complete).await;
        assert_eq!(site.things(), 24);
        machine.engine.stop().await;
    });
}
