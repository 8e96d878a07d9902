//! Processes hear each other through the database, where it can do that.

use crate::test_store::TestDatabase;
use kiln_engine::{Bell, Ring, StackId};
use kiln_store::SqlStore;
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

/// The bell of a process on a database.
fn process(database: &TestDatabase) -> Bell {
    let (bell, carried) = Bell::with_carrier();
    tokio::spawn(SqlStore::carry_bell(database.url.clone(), carried));
    bell
}

fn work(id: u128) -> Ring {
    Ring::Work(StackId(Uuid::from_u128(id)))
}

pub(crate) async fn processes_hear_each_other(database: TestDatabase) {
    if !SqlStore::carries_bells(&database.url) {
        return;
    }
    let (one, two) = (process(&database), process(&database));
    let (mut first, mut second) = (one.listen(), two.listen());
    // Whoever begins to listen may have missed something.
    assert_eq!((first.heard().await, second.heard().await), (Ring::Anything, Ring::Anything));
    one.ring(work(1));
    assert_eq!(second.heard().await, work(1));
    assert_eq!(first.heard().await, work(1), "the process itself, at once");
    two.ring(work(2));
    assert_eq!(first.heard().await, work(2), "and its own message does not come back to it");

    // The database ends all connections but this one.
    let mut admin = PgConnection::connect(&database.url).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    admin.execute(end).await.unwrap();
    assert_eq!(first.heard().await, Ring::Anything);
    while second.heard().await != Ring::Anything {}
    one.ring(work(3));
    while second.heard().await != work(3) {}
}
