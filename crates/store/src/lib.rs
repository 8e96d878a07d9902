//! The store of Kiln: trees of stacks in SQLite, PostgreSQL or MariaDB, encrypted at rest.
//!
//! One portable code base: every statement is written once, with `?` for its values, and `dialect`
//! knows the few words in which the three differ. The engine's trait [`Store`](kiln_engine::store::Store)
//! says what is promised; `docs/store.md` says how it is kept.
#![forbid(unsafe_code)]

mod alarms;
mod cipher;
mod commit;
mod database;
mod dialect;
mod fault;
mod housekeeping;
mod keys;
mod lean;
mod leases;
mod list;
mod metrics;
mod migrate;
mod objects;
mod read;
mod records;
mod rotate;
mod sql;
mod store;
mod table;

pub use database::{OpenError, SqlStore};
pub use keys::KeyError;
