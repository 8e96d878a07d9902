//! The identity service: enough of Keystone's API, version 3, for OpenStack's clients and for Kiln itself.
//!
//! `records` in tables (`table`) make up the `state`, a `token` is validated against it, `policy` authorizes the caller, and
//! one file under `api` per group of routes handles the requests. `http` is the HTTP layer and `journal` the persistence.
//! The clock and the URLs in the catalogue are passed in.
//!
//! ```
//! use kiln_sim::identity::{Clock, Identity, Seed, IdentityOptions};
//!
//! let seed = Seed::new("http://127.0.0.1:5000")
//!     .service("orchestration", "heat", "http://127.0.0.1:8004/v1/%(project_id)s");
//! let identity = Identity::open(None, IdentityOptions::new(seed, Clock::new(|| 1_800_000_000_000_000)))?;
//! let token = identity.login("demo", "demo")?;
//! assert_eq!(token.roles, ["heat_stack_owner", "member", "reader"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api;
mod error;
mod http;
mod in_process;
mod journal;
mod policy;
mod records;
mod request;
mod routes;
mod secret;
mod seed;
mod state;
mod table;
mod time;
mod token;
mod validation;

use std::path::Path;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use self::error::ApiError;
use self::journal::Journal;
use self::state::{ChangeSelection, State};
use self::time::Moment;

pub use self::http::router;
pub use self::in_process::{LoginError, ServiceLogin, Token};
pub use self::journal::OpenError;
pub use self::seed::{Seed, project_id, user_id};
pub use self::time::Clock;

/// The options of the identity service.
#[derive(Clone, Debug)]
pub struct IdentityOptions {
    /// The seed data.
    pub seed: Seed,
    /// The clock.
    pub clock: Clock,
    /// The lifetime of a token.
    pub token_lifetime: Duration,
    /// Whether tokens from EC2 keys and from unrestricted application credentials may create trusts. Keystone
    /// accepted this before release 30 and rejects it since; without it, such a login cannot have stacks that outlive
    /// its token.
    pub delegated_trusts: bool,
}

impl IdentityOptions {
    /// Returns options with tokens that last a day and may create trusts.
    pub fn new(seed: Seed, clock: Clock) -> IdentityOptions {
        IdentityOptions {
            seed,
            clock,
            token_lifetime: Duration::from_hours(24),
            delegated_trusts: true,
        }
    }
}

/// The identity service.
#[derive(Debug)]
pub struct Identity {
    state: RwLock<State>,
    journal: Option<Mutex<Journal>>,
    clock: Clock,
    /// The beginning of links if the request does not name its host.
    public_url: String,
    /// The key that signs tokens.
    signing: Vec<u8>,
    /// The lifetime of a token in seconds.
    lifetime: u64,
    delegated_trusts: bool,
    service: ServiceLogin,
    domain_admin: ServiceLogin,
}

impl Identity {
    /// Opens the service with the state in the file, or in memory only. Seed data that the state lacks is added; the
    /// catalogue is replaced by that of the seed.
    pub fn open(path: Option<&Path>, options: IdentityOptions) -> Result<Identity, OpenError> {
        let (mut journal, mut state) = match path {
            Some(path) => Journal::open(path).map(|(journal, state)| (Some(journal), state))?,
            None => (None, State::default()),
        };
        let system = |error: String| OpenError::System(error);
        let seeded =
            seed::seed_state(&mut state, &options.seed).map_err(|e| system(e.to_string()))?;
        if let (Some(journal), Some(path)) = (&mut journal, path) {
            journal
                .write(&mut state)
                .map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        }
        Ok(Identity {
            state: RwLock::new(state),
            journal: journal.map(Mutex::new),
            clock: options.clock,
            public_url: options.seed.public_url.trim_end_matches('/').to_owned(),
            signing: seeded.signing,
            lifetime: options.token_lifetime.as_secs(),
            delegated_trusts: options.delegated_trusts,
            service: seeded.service,
            domain_admin: seeded.domain_admin,
        })
    }

    fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Reads the state.
    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read())
    }

    /// Changes the state and appends the changes to the journal. The function must validate before it changes
    /// anything: after an error the state must be unchanged.
    fn update<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut state = self.state.write();
        let done = change(&mut state)?;
        match &self.journal {
            Some(journal) => {
                let mut journal = journal.lock();
                let failed =
                    |error| ApiError::internal(format!("its state cannot be written: {error}"));
                journal.write(&mut state).map_err(failed)?;
            }
            None => drop(state.take(ChangeSelection::Nothing)),
        }
        Ok(done)
    }
}
