//! Wake-ups between processes through the database, where it can carry them.

use crate::test_store::TestDatabase;
use kiln_engine::{StackId, Wakeup, WakeupChannel};
use kiln_store::SqlStore;
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

/// The channel of a process that a database connects with others.
fn process(database: &TestDatabase) -> WakeupChannel {
    let (wakeups, carried) = WakeupChannel::with_carrier();
    tokio::spawn(SqlStore::carry_wakeups(database.url.clone(), carried));
    wakeups
}

fn work(id: u128) -> Wakeup {
    Wakeup::Work(StackId(Uuid::from_u128(id)))
}

pub(crate) async fn processes_wake_each_other(database: TestDatabase) {
    if !SqlStore::carries_wakeups(&database.url) {
        return;
    }
    let (one, two) = (process(&database), process(&database));
    let (mut first, mut second) = (one.listen(), two.listen());
    // A listener that has just connected may have missed wake-ups.
    assert_eq!((first.recv().await, second.recv().await), (Wakeup::Anything, Wakeup::Anything));
    one.send(work(1));
    assert_eq!(second.recv().await, work(1));
    assert_eq!(first.recv().await, work(1), "the process itself, at once");
    two.send(work(2));
    assert_eq!(first.recv().await, work(2), "and its own message does not come back to it");

    // The database ends all connections but this one.
    let mut admin = PgConnection::connect(&database.url).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    admin.execute(end).await.unwrap();
    assert_eq!(first.recv().await, Wakeup::Anything);
    while second.recv().await != Wakeup::Anything {}
    one.send(work(3));
    while second.recv().await != work(3) {}
}
