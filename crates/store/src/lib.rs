//! The store of Kiln: trees of stacks in SQLite, PostgreSQL or MariaDB, encrypted at rest.
//!
//! One portable code base: every statement is written once, with `?` for its values, and `dialect`
//! knows the few words in which the three differ. The engine's trait [`Store`](kiln_engine::store::Store)
//! states the guarantees; `docs/store.md` explains how they are met.
#![forbid(unsafe_code)]

mod alarms;
mod backup;
mod cipher;
mod commit;
mod database;
mod dialect;
mod error;
mod file_mode;
mod housekeeping;
mod inspect;
mod keys;
mod leases;
mod list;
mod mask_texts;
mod metrics;
mod migrate;
mod objects;
mod overview;
mod read;
mod resource_list;
mod rotate;
mod rows;
mod seal_texts;
mod sql;
mod store;
mod table;
mod turns;
mod wakeup;

pub use backup::{BackupError, BackupMeans};
pub use database::{OpenError, SqlStore};
pub use inspect::Inspection;
pub use keys::KeyError;
pub use overview::TreeOverview;
pub use rotate::KeyUsage;
