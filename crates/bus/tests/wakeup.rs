//! Wake-ups between processes through a broker, also after its restart.

use crate::broker::Broker;
use kiln_bus::{Address, BusConfig, carry_wakeups};
use kiln_engine::{StackId, Wakeup, WakeupChannel};
use std::time::Duration;
use uuid::Uuid;

/// The channel of a process that a broker connects with others.
#[allow(clippy::disallowed_methods, reason = "the task ends with the test")]
fn process(broker: &Broker) -> WakeupChannel {
    let config = BusConfig {
        address: Address::parse(&broker.url()).unwrap(),
        pause: Duration::from_millis(50),
        ..BusConfig::default()
    };
    let (wakeups, carried) = WakeupChannel::with_carrier();
    tokio::spawn(carry_wakeups(config, carried));
    wakeups
}

fn work(id: u128) -> Wakeup {
    Wakeup::Work(StackId(Uuid::from_u128(id)))
}

#[tokio::test]
async fn processes_wake_each_other_also_after_a_restart_of_the_broker() {
    let mut broker = Broker::start(None);
    let (one, two) = (process(&broker), process(&broker));
    let (mut first, mut second) = (one.listen(), two.listen());
    // A listener that has just connected may have missed wake-ups.
    assert_eq!((first.recv().await, second.recv().await), (Wakeup::Anything, Wakeup::Anything));
    one.send(work(1));
    assert_eq!(second.recv().await, work(1));
    assert_eq!(first.recv().await, work(1), "the process itself, at once");
    two.send(work(2));
    assert_eq!(first.recv().await, work(2), "and its own message does not come back to it");

    broker.stop();
    one.send(work(3));
    broker.start_again();
    while first.recv().await != Wakeup::Anything {}
    while second.recv().await != Wakeup::Anything {}
    one.send(work(4));
    while second.recv().await != work(4) {}
}
