//! Processes that hear each other by a broker, also after its restart.

use crate::broker::Broker;
use kiln_bus::{Address, BusConfig, carry_bell};
use kiln_engine::{Bell, Ring, StackId};
use std::time::Duration;
use uuid::Uuid;

/// The bell of a process at a broker.
#[allow(clippy::disallowed_methods, reason = "the task ends with the test")]
fn process(broker: &Broker) -> Bell {
    let config = BusConfig {
        address: Address::parse(&broker.url()).unwrap(),
        pause: Duration::from_millis(50),
        ..BusConfig::default()
    };
    let (bell, carried) = Bell::with_carrier();
    tokio::spawn(carry_bell(config, carried));
    bell
}

fn work(id: u128) -> Ring {
    Ring::Work(StackId(Uuid::from_u128(id)))
}

#[tokio::test]
async fn processes_hear_each_other_also_after_a_restart_of_the_broker() {
    let mut broker = Broker::start(None);
    let (one, two) = (process(&broker), process(&broker));
    let (mut first, mut second) = (one.listen(), two.listen());
    // Whoever begins to listen may have missed something.
    assert_eq!((first.heard().await, second.heard().await), (Ring::Anything, Ring::Anything));
    one.ring(work(1));
    assert_eq!(second.heard().await, work(1));
    assert_eq!(first.heard().await, work(1), "the process itself, at once");
    two.ring(work(2));
    assert_eq!(first.heard().await, work(2), "and its own message does not come back to it");

    broker.stop();
    one.ring(work(3));
    broker.start_again();
    while first.heard().await != Ring::Anything {}
    while second.heard().await != Ring::Anything {}
    one.ring(work(4));
    while second.heard().await != work(4) {}
}
