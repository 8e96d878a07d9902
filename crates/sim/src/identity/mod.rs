//! The identity service: enough of Keystone's API, version 3, for OpenStack's clients and for Kiln itself.
//!
//! The middle is plain: `records` in tables (`table`) make up the `state`, a `token` is examined against it, `policy` say
//! who may, and one file under `api` per group of routes does the work. `http` is the way in, `journal` the way to disk.
//! Time and the addresses in the catalogue come from whoever opens the service.
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

/// What the service is told when it is opened.
#[derive(Clone, Debug)]
pub struct IdentityOptions {
    /// What is there from the beginning.
    pub seed: Seed,
    /// Tells the time.
    pub clock: Clock,
    /// How long a token lasts.
    pub token_lifetime: Duration,
    /// Whether tokens from EC2 keys and from unrestricted application credentials may make trusts. Keystone allowed it
    /// before release 30 and refuses it since; without it, whoever logs in that way cannot have stacks that outlive
    /// their token.
    pub delegated_trusts: bool,
}

impl IdentityOptions {
    /// IdentityOptions with tokens that last a day and may make trusts.
    pub fn new(seed: Seed, clock: Clock) -> IdentityOptions {
        IdentityOptions {
            seed,
            clock,
            token_lifetime: Duration::from_hours(24),
            delegated_trusts: true,
        }
    }
}

/// The identity service. It is shared by everybody who asks.
#[derive(Debug)]
pub struct Identity {
    state: RwLock<State>,
    journal: Option<Mutex<Journal>>,
    clock: Clock,
    /// What links begin with when a request does not name its host.
    public_url: String,
    /// Signs tokens.
    signing: Vec<u8>,
    /// Seconds that a token lasts.
    lifetime: u64,
    delegated_trusts: bool,
    service: ServiceLogin,
    domain_admin: ServiceLogin,
}

impl Identity {
    /// Opens the service with the state in the file, or in memory only. What the seed names and the state lacks is
    /// added; the catalogue becomes that of the seed.
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

    /// Looks something up.
    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read())
    }

    /// Changes something and writes it down. Whoever changes decides first and acts last: after an error nothing has
    /// changed.
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
