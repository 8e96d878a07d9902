//! A machine that sleeps longer than its leases, as virtual machines and laptops do, with calls that wait in its engine.

use crate::kills::{NETWORKS, Story};
use crate::networks::Door;
use kiln_engine::Action;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;

/// How many calls an engine has under way at once, at most.
const CALLS_AT_ONCE: u64 = 100;

/// A server that is killed at the end.
struct Server(Child);

impl Server {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it gets the signal");
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("threads").block_on(async {
        let mut story = Story::new("asleep").await;
        story.create().await;
        let door = Door::held();
        let sleeper = Server(story.spawn(&story.networks.start_door(door.clone()), &[]));
        // Each of these was sent, and further ones wait in the engine for their turn.
        door.wait_for_changing(CALLS_AT_ONCE);
        sleeper.signal(Signal::STOP);

        let _other = Server(story.spawn(&story.address, &[]));
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
