//! Leases among processes: a machine that sleeps, as virtual machines and laptops do, with calls that wait in its
//! engine; and a machine whose clock is wrong.

use crate::attacks::servers::Postgres;
use crate::kills::{LEASE, NETWORKS, Story};
use crate::networks::Door;
use kiln_engine::store::Store;
use kiln_engine::{Action, EngineId, Time};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

/// Sets the clock of the programs that load it.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// The environment of a machine whose clock is an hour ahead; `None` where the library is missing.
fn an_hour_ahead() -> Option<[(&'static str, &'static str); 3]> {
    if !Path::new(FAKETIME).exists() {
        assert!(std::env::var_os("KILN_NEEDS_CLIENTS").is_none(), "install faketime");
        println!("skipped: faketime is not installed");
        return None;
    }
    Some([("LD_PRELOAD", FAKETIME), ("FAKETIME", "+1h"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")])
}

pub(crate) fn wait(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let bounded = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    runtime.expect("threads").block_on(bounded).expect("it ends");
}

/// How many calls an engine has under way at once, at most.
const CALLS_AT_ONCE: u64 = 100;

/// A server that is killed at the end.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it gets the signal");
    }

    /// Stops the process while it does not write to the database: with SQLite, everybody else would wait for it.
    async fn stop_between_transactions(&self, store: &impl Store) {
        loop {
            self.signal(Signal::STOP);
            // This writes to no row, but it needs the lock.
            let write = store.renew(EngineId(uuid::Uuid::nil()), Time::from_micros(0));
            if let Ok(Ok(_)) = tokio::time::timeout(Duration::from_secs(1), write).await {
                return;
            }
            self.signal(Signal::CONT);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn an_engine_that_slept_changes_nothing_when_it_wakes() {
    wait(async {
        let mut story = Story::new("asleep").await;
        story.create().await;
        let door = Door::held();
        let sleeper = Server(story.spawn(&story.networks.start_door(door.clone()), &[], &[]));
        // Each of these was sent, and further ones wait in the engine for their turn.
        door.wait_for_changing(CALLS_AT_ONCE);
        sleeper.stop_between_transactions(&story.store).await;

        let _other = Server(story.spawn(&story.address, &[], &[]));
        while !story.is_at(Action::Create).await {
            tokio::task::yield_now().await;
        }
        story.compare(NETWORKS, true).await;

        // Its calls get their replies, and those that wait have their turn.
        door.open();
        sleeper.signal(Signal::CONT);
        // It stops when it has dealt with all that.
        sleeper.signal(Signal::TERM);
        let mut sleeper = sleeper;
        assert!(sleeper.0.wait().expect("it ends").success());
        assert_eq!(door.changing(), CALLS_AT_ONCE, "calls were sent after it woke");
        story.compare(NETWORKS, true).await;
    });
}

#[test]
fn an_engine_whose_clock_is_ahead_takes_no_stack_from_another() {
    let Some(ahead) = an_hour_ahead() else { return };
    let postgres = Postgres::start();
    let database = postgres.database("ahead");
    wait(async {
        let mut story = Story::on("clock-ahead", database).await;
        story.create().await;
        let (door, back_door) = (Door::held(), Arc::<Door>::default());
        let _owner = Server(story.spawn(&story.networks.start_door(door.clone()), &[], &[]));
        door.wait_for_changing(CALLS_AT_ONCE);
        let _ahead =
            Server(story.spawn(&story.networks.start_door(back_door.clone()), &[], &ahead));
        // By then the owner has renewed its lease more than once.
        let two_leases = story.store.time().await.expect("a store") + 2 * LEASE;
        while story.store.time().await.expect("a store") < two_leases {
            tokio::task::yield_now().await;
        }
        door.open();
        while !story.is_at(Action::Create).await {
            tokio::task::yield_now().await;
        }
        assert_eq!(back_door.changing(), 0, "calls of the engine whose clock is ahead");
        story.compare(NETWORKS, true).await;
    });
}

#[test]
fn what_an_engine_whose_clock_is_ahead_leaves_behind_is_taken_over_as_usual() {
    let Some(ahead) = an_hour_ahead() else { return };
    let postgres = Postgres::start();
    let database = postgres.database("dead");
    wait(async {
        let mut story = Story::on("clock-dead", database).await;
        story.create().await;
        let door = Door::held();
        let ahead = Server(story.spawn(&story.networks.start_door(door.clone()), &[], &ahead));
        door.wait_for_changing(CALLS_AT_ONCE);
        drop(ahead);
        let _other = Server(story.spawn(&story.address, &[], &[]));
        while !story.is_at(Action::Create).await {
            tokio::task::yield_now().await;
        }
        story.compare(NETWORKS, true).await;
    });
}
