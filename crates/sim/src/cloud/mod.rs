//! All services of the simulated OpenStack but the identity service: each below its own prefix, on one listener.
//!
//! A service is a row of `services` and its collections are data (`schema`). Most requests are answered by the generic
//! code (`rest`, `query`, `check`); the exceptions are code in the service's own folder. The state is one `CloudState`
//! behind one lock; a change that takes time is recorded and carried out before the next request after it is due. The
//! simulation follows the documentation of OpenStack, not our client.
//!
//! ```
//! use std::sync::Arc;
//! use kiln_sim::cloud::{Cloud, Options};
//! use kiln_sim::identity::{Clock, Identity, IdentityOptions, Seed};
//!
//! let clock = Clock::new(|| 1_800_000_000_000_000);
//! let seed = Seed::new("http://127.0.0.1:5000").services(Cloud::catalogue("http://127.0.0.1:9000"));
//! let identity = Arc::new(Identity::open(None, IdentityOptions::new(seed, clock.clone()))?);
//! let cloud = Cloud::open(Options::new(clock), identity)?;
//! let router = cloud.router();
//! # let _ = router;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alarming;
mod baremetal;
mod check;
mod compute;
mod container;
mod container_infra;
mod control;
mod database;
mod dialect;
mod disk;
mod dns;
mod error_style;
mod faults;
mod handle;
mod http;
mod image;
mod key_manager;
mod load_balancer;
mod messaging;
mod metric;
mod microversioned;
mod network;
mod obj;
mod object_store;
mod patch;
mod query;
mod random;
mod request;
mod reservation;
mod rest;
mod schema;
mod services;
mod share;
mod state;
mod table;
mod versions;
mod volume;
mod workflow;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use parking_lot::{Mutex, MutexGuard};

use self::faults::FaultInjector;
use self::services::SERVICES;
use self::state::CloudState;
use crate::identity::{Clock, Identity};

pub use self::disk::OpenError;
pub use self::faults::{FaultKind, FaultRule, FaultWhen, Faults};

/// The options of the cloud.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed from which ids, addresses and faults are drawn.
    pub seed: u64,
    /// The delay before every answer.
    pub latency: Duration,
    /// The time until new objects are ready.
    pub build_time: Duration,
    /// The faults to inject.
    pub faults: Faults,
    /// The name of the region.
    pub region: String,
    /// The file in which the state is stored; without one, the state is in memory only.
    pub file: Option<PathBuf>,
    /// The quota of every project for everything, in place of the defaults of the services; `-1` is unlimited.
    pub quota: Option<i64>,
    /// The clock.
    pub clock: Clock,
}

impl Options {
    /// Returns the options of a cloud that answers and builds without delay and has no faults.
    pub fn new(clock: Clock) -> Options {
        Options {
            seed: 0,
            latency: Duration::ZERO,
            build_time: Duration::ZERO,
            faults: Faults::default(),
            region: "RegionOne".to_owned(),
            file: None,
            quota: None,
            clock,
        }
    }
}

/// The simulated cloud. Clones are cheap and share the same state.
#[derive(Clone)]
pub struct Cloud(Arc<Inner>);

struct Inner {
    state: Mutex<CloudState>,
    identity: Arc<Identity>,
    options: Options,
    /// The number of changes on disk, and whether a write is scheduled.
    written: Mutex<(u64, bool)>,
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Cloud {
    /// Opens the cloud with the state in its file, or with the seed data.
    pub fn open(options: Options, identity: Arc<Identity>) -> Result<Cloud, OpenError> {
        let lists = SERVICES.iter().flat_map(|service| service.collections);
        let collections = lists.flat_map(|list| list.iter().copied());
        let schema = Arc::new(schema::read(collections).map_err(OpenError::Tables)?);
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let faults = FaultInjector::new(options.faults.clone());
        let mut state = CloudState::new(schema, options.seed, micros(options.build_time), faults);
        state.default_quota = options.quota;
        state.region.clone_from(&options.region);
        let kept = options.file.as_deref().map(disk::read).transpose()?.flatten();
        state.now = options.clock.micros();
        match (kept, &options.file) {
            (Some(kept), Some(path)) => disk::restore(&mut state, kept)
                .map_err(|reason| OpenError::Corrupt { path: path.clone(), reason })?,
            _ => control::seed(&mut state),
        }
        let written = Mutex::new((state.changes, false));
        let state = Mutex::new(state);
        Ok(Cloud(Arc::new(Inner { state, identity, options, written })))
    }

    /// Returns an axum router with all services.
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    /// Returns the entries for the catalogue of the identity service (type, name and URL of each service) for a
    /// router that is served at this URL.
    pub fn catalogue(base_url: &str) -> Vec<(String, String, String)> {
        let base = base_url.trim_end_matches('/');
        let mut rows = Vec::new();
        for service in SERVICES {
            for kind in service.types {
                let url = format!("{base}/{}{}", service.prefix, service.address);
                rows.push(((*kind).to_owned(), service.name.to_owned(), url));
            }
        }
        rows
    }

    /// Writes the state to its file, if there is one. Call it when no more requests are served.
    pub fn close(&self) -> std::io::Result<()> {
        let Some(path) = &self.0.options.file else { return Ok(()) };
        let (kept, changes) = {
            let state = self.state();
            (disk::snapshot(&state), state.changes)
        };
        disk::write(path, &kept)?;
        self.0.written.lock().0 = changes;
        Ok(())
    }

    fn latency(&self) -> Duration {
        self.0.options.latency
    }

    fn state(&self) -> MutexGuard<'_, CloudState> {
        self.0.state.lock()
    }
}
