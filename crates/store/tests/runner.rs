//! The behaviour of stores: one suite, run on the store in memory and on each database.
//!
//! There is one test for each of them, not one for each case: a database server is started once, and each
//! case gets a database of its own. A failure names its case.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]

#[allow(dead_code, reason = "other tests restart servers")]
mod servers;
mod sql;
mod stacks;
mod suite;
mod test_store;

use kiln_engine::MemoryStore;
use servers::{Galera, Mariadb, Postgres, Scratch};
use std::sync::Arc;
use test_store::{TestDatabase, TestStore};

#[test]
fn memory() {
    run(suite::CASES, |_| async {
        let store = Arc::new(MemoryStore::new());
        TestStore::new(store.clone(), store)
    });
    run(stacks::CASES, |_| async {
        let store = Arc::new(MemoryStore::new());
        TestStore::new(store.clone(), store)
    });
}

#[test]
fn sqlite() {
    let scratch = Scratch::new("sqlite");
    let database = |name: &str| {
        let folder = scratch.folder(name);
        TestDatabase {
            url: format!("sqlite://{}/kiln.db", folder.display()),
            other_url: None,
            keys: folder.join("keys"),
        }
    };
    run_on(&database);
}

/// Runs a case on a SQLite file of its own.
fn on_sqlite<F: Future<Output = ()>>(name: &str, case: impl FnOnce(TestDatabase) -> F) {
    let scratch = Scratch::new(name);
    let folder = scratch.folder(name);
    let url = format!("sqlite://{}/kiln.db", folder.display());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(case(TestDatabase { url, other_url: None, keys: folder.join("keys") }));
}

#[test]
fn sqlite_signals() {
    on_sqlite("signals", stacks::signal_a_thousand_times);
}

#[test]
fn sqlite_large_values() {
    on_sqlite("large", stacks::copy_a_large_value);
}

#[test]
fn postgres() {
    let server = Postgres::start();
    let database = |name: &str| TestDatabase {
        url: server.database(name),
        other_url: None,
        keys: server.scratch.folder(&format!("keys-{name}")).join("keys"),
    };
    run_on(&database);
}

#[test]
fn mariadb() {
    let server = Mariadb::start();
    let database = |name: &str| TestDatabase {
        url: server.database(name),
        other_url: None,
        keys: server.scratch.folder(&format!("keys-{name}")).join("keys"),
    };
    run_on(&database);
}

/// Two processes that write to two nodes of a cluster.
#[test]
fn galera() {
    let server = Galera::start();
    let database = |name: &str| {
        let [url, other, _] = server.database(name);
        let keys = server.scratch.folder(&format!("keys-{name}")).join("keys");
        TestDatabase { url, other_url: Some(other), keys }
    };
    run(suite::CASES, |name| database(name).test_store());
    run(stacks::CASES, |name| database(name).test_store());
}

fn run_on(database: &dyn Fn(&str) -> TestDatabase) {
    run(suite::CASES, |name| database(name).test_store());
    run(stacks::CASES, |name| database(name).test_store());
    run(sql::CASES, |name| std::future::ready(database(name)));
}

/// Runs cases one after the other and names all that fail.
fn run<W, F>(cases: &[(&str, suite::Case<W>)], test: impl Fn(&str) -> F)
where
    W: Send + 'static,
    F: Future<Output = W>,
{
    let mut failed = Vec::new();
    for (name, case) in cases {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let test = runtime.block_on(test(name));
        if runtime.block_on(runtime.spawn(case(test))).is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
}
