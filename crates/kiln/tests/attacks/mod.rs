//! Attacks on `kiln server` from end to end: the program, a simulated cloud, and each of the databases.
//!
//! There is one test for each database, not one for each attack: the database and the server are started once. A
//! failure names its attack.

mod databases;
mod deployments;
mod quotas;
#[allow(dead_code, reason = "directories are kept until their servers have ended")]
#[path = "../../../store/tests/servers.rs"]
pub(crate) mod servers;
mod signatures;
mod sizes;
mod streams;
pub(crate) mod target;

use crate::cloud::{credentials, hidden, signals};
use databases::Database;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use servers::{Mariadb, Postgres};
use std::panic::AssertUnwindSafe;
pub(crate) use target::Target;

/// An attack: it panics if it succeeds.
type Attack = for<'t> fn(&'t Target) -> LocalBoxFuture<'t, ()>;

/// Every attack by its name, in the order in which they run.
const ATTACKS: &[(&str, Attack)] = &[
    ("hidden values", |it| hidden::a_hidden_value_is_shown_nowhere(it).boxed_local()),
    ("foreign deployments", |it| deployments::foreign_ones_reach_no_server(&it.kiln).boxed_local()),
    ("adopted users", |it| credentials::adopted_data_reach_no_users(&it.kiln).boxed_local()),
    ("ids as paths", |it| credentials::a_physical_id_is_no_path(&it.kiln).boxed_local()),
    ("guests", |it| signals::a_guest_signals_what_it_was_created_for(&it.kiln).boxed_local()),
    ("readers", |it| credentials::a_reader_sees_no_credentials(&it.kiln).boxed_local()),
    ("groups of groups", |it| sizes::groups_of_groups_are_refused(&it.kiln).boxed_local()),
    ("large values", |it| sizes::large_values_are_not_kept(it).boxed_local()),
    ("many signals", |it| sizes::signals_are_limited(&it.kiln).boxed_local()),
    ("many streams", |it| streams::a_project_has_a_limit(&it.kiln).boxed_local()),
    ("streams without a right", |it| streams::they_end_with_the_right(&it.kiln).boxed_local()),
    ("old signatures", |it| signatures::old_ones_change_nothing(&it.kiln).boxed_local()),
    ("creations at once", |it| quotas::they_hold_at_once(&it.kiln).boxed_local()),
];

#[test]
fn sqlite() {
    attack(Database::sqlite());
}

#[test]
fn postgres() {
    attack(Database::postgres(Postgres::start()));
}

#[test]
fn mariadb() {
    attack(Database::mariadb(Mariadb::start()));
}

/// Runs the attacks one after the other and names all that succeed.
fn attack(database: Database) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads");
    let target = runtime.block_on(Target::start(database));
    let mut succeeded = Vec::new();
    for (name, attack) in ATTACKS {
        let began = std::time::Instant::now();
        if runtime.block_on(AssertUnwindSafe(attack(&target)).catch_unwind()).is_err() {
            succeeded.push(*name);
        }
        println!("{name}: {:?}", began.elapsed());
    }
    assert!(succeeded.is_empty(), "attacks that succeed: {}", succeeded.join(", "));
}
