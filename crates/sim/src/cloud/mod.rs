//! The rest of a simulated OpenStack: every service below its own prefix, on one listener.
//!
//! A service is a row of `services`, what it keeps is data (`schema`), and most requests are answered by what all
//! collections have in common (`rest`, `query`, `check`). What is special is code in the service's own folder. The state
//! is one `CloudState` behind one lock; what takes time is noted and carried out when somebody looks. It follows the
//! documentation of OpenStack, not our client.
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

/// What the cloud is told when it is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ids, addresses and faults are drawn from this.
    pub seed: u64,
    /// How long every call takes.
    pub latency: Duration,
    /// How long things take until they are ready.
    pub build_time: Duration,
    /// What goes wrong.
    pub faults: Faults,
    /// The name of the region.
    pub region: String,
    /// Where the state is kept; in memory only if there is none.
    pub file: Option<PathBuf>,
    /// What every project may have of everything, whatever the real services allow; `-1` is any number.
    pub quota: Option<i64>,
    /// Tells the time.
    pub clock: Clock,
}

impl Options {
    /// A cloud that answers at once, makes everything at once, and has no faults.
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

/// The cloud. It is cheap to clone, and all clones are the same cloud.
#[derive(Clone)]
pub struct Cloud(Arc<Inner>);

struct Inner {
    state: Mutex<CloudState>,
    identity: Arc<Identity>,
    options: Options,
    /// How many changes are on disk, and whether somebody is about to write.
    written: Mutex<(u64, bool)>,
}

impl fmt::Debug for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cloud").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Cloud {
    /// Opens the cloud with the state in its file, or with what a new cloud has.
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

    /// All services as one part of a web server.
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    /// What the identity service's catalogue has to say: type, name and address of each service, if the router is
    /// served at this address.
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

    /// Writes the state to its file, if it has one and there is something new. Call it when nothing is served any more.
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
